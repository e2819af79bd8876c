"""rooms.md, "Limits count bytes of UTF-8 and are checked at their exact edge: 2048 passes, 2049 is refused (11)"."""

import pytest

PAIRS = {f"k{n}": "v" for n in range(3)}
GOOD = {
    "one seat": {"maxPlayerCount": 1},
    "twenty seats": {"maxPlayerCount": 20},
    "type 32": {"type": "t" * 32},
    "type 32 in two-byte letters": {"type": "é" * 16},
    "type 32 in four-byte letters": {"type": "🛡" * 8},
    "name 64": {"name": "n" * 64},
    "name 64 in four-byte letters": {"name": "🛡" * 16},
    "no name": {"name": ""},
    "properties 2048": {"customProperties": "p" * 2048},
    "properties 2048 in three-byte letters": {"customProperties": "€" * 682 + "xx"},
    "three params": {"matchParams": PAIRS},
    "param key 32": {"matchParams": {"k" * 32: "v"}},
    "param value 64": {"matchParams": {"k": "é" * 32}},
    "rate 1": {"frameRate": 1},
    "rate 60": {"frameRate": 60},
    "spectators 100000": {"maxSpectatorCount": 100000},
    "password 64": {"password": "w" * 64},
}
BAD = {
    "no seats": ({"maxPlayerCount": 0}, "maxPlayerCount", None, None),
    "21 seats": ({"maxPlayerCount": 21}, "maxPlayerCount", 20, 21),
    "no type": ({"type": ""}, "type", None, None),
    "type 33": ({"type": "t" * 33}, "type", 32, 33),
    "type 33 by one letter": ({"type": "t" + "é" * 16}, "type", 32, 33),
    "name 65": ({"name": "n" * 65}, "name", 64, 65),
    "name 65 by two-byte letters": ({"name": "é" * 32 + "n"}, "name", 64, 65),
    "properties 2049": ({"customProperties": "p" * 2049}, "customProperties", 2048, 2049),
    "four params": ({"matchParams": {**PAIRS, "one": "more"}}, "matchParams", 3, 4),
    "param key 33": ({"matchParams": {"k" * 33: "v"}}, "matchParams", 32, 33),
    "param value 65": ({"matchParams": {"k": "é" * 32 + "x"}}, "matchParams", 64, 65),
    "rate 61": ({"frameRate": 61}, "frameRate", 60, 61),
    "spectators 100001": ({"maxSpectatorCount": 100001}, "maxSpectatorCount", 100000, 100001),
    "password 65": ({"password": "w" * 65}, "password", 64, 65),
}


@pytest.mark.parametrize("case", GOOD)
async def test_a_config_at_its_edge(hf, case):
    "holdfast.proto, RoomConfig: the limits named there pass at their edge"
    a = await hf.player()
    joined = await a.do("createRoom", {"room": hf.config(**GOOD[case])})
    room = joined["room"]
    for name, value in GOOD[case].items():
        if name == "password":
            assert room["hasPassword"] is True
        else:
            assert room[name] == value


@pytest.mark.parametrize("case", BAD)
async def test_a_config_over_its_edge(hf, case):
    'errors.md, 11: "a field over its limit …; the message names the field, its limit and what came"'
    a = await hf.player()
    config, field, limit, came = BAD[case]
    reply = await a.refused(11, "createRoom", {"room": hf.config(**config)})
    text = reply["message"]
    snake = "".join("_" + c.lower() if c.isupper() else c for c in field)
    assert field in text or snake in text, text
    if limit is not None:
        assert str(limit) in text and str(came) in text, text
    if "hidden" not in config and "password" not in config:
        await a.refused(11, "matchRoom", {"room": hf.config(**config)})
    await a.do("createRoom", {"room": hf.config()})


async def test_no_config(hf):
    "holdfast.proto, RoomConfig: max_player_count and type are required"
    a = await hf.player()
    await a.refused(11, "createRoom", {})
    await a.refused(11, "createRoom", {"room": {}})
    await a.refused(11, "createRoom", {"player": {"customStatus": 1}})
    await a.refused(11, "matchRoom", {})


async def test_player_config(hf):
    'holdfast.proto, PlayerConfig: "properties ≤ 2048 bytes"; "Custom status: any int32."'
    a, b = await hf.players(2)
    await a.refused(11, "createRoom", {"room": hf.config(), "player": {"customProperties": "p" * 2049}})
    joined = await a.do(
        "createRoom", {"room": hf.config(), "player": {"customProperties": "é" * 1024, "customStatus": -(2**31)}}
    )
    assert joined["room"]["players"] == [
        {"id": a.player, "status": 1, "customStatus": -(2**31), "customProperties": "é" * 1024}
    ]
    where = {"roomId": joined["room"]["id"]}
    await b.refused(11, "joinRoom", {**where, "player": {"customProperties": "é" * 1024 + "x"}})
    await b.do("joinRoom", {**where, "player": {"customProperties": "p" * 2048, "customStatus": 2**31 - 1}})
    entered = await a.event("playerEntered")
    assert entered["player"] == {"id": b.player, "status": 1, "customStatus": 2**31 - 1, "customProperties": "p" * 2048}


async def test_updates_at_their_edge(hf):
    '"Custom properties: opaque, at most 2048 bytes."; RoomConfig.name "at most 64 bytes"'
    a = await hf.player()
    await hf.room(a)
    await a.refused(11, "updateRoomProperties", {"name": "n" * 65})
    await a.refused(11, "updateRoomProperties", {"customProperties": "p" * 2049})
    await a.refused(11, "updatePlayerCustomProperties", {"properties": "p" * 2049})
    await a.nothing()
    await a.do("updateRoomProperties", {"name": "n" * 64, "customProperties": "p" * 2048})
    await a.do("updatePlayerCustomProperties", {"properties": '\u0000\u0001\u2028"\\' + "p" * 2039})
    changed = await a.event("roomPropertiesChanged")
    assert changed["name"] == "n" * 64 and changed["customProperties"] == "p" * 2048
    assert (await a.event("playerCustomPropertiesChanged"))["properties"].startswith('\u0000\u0001\u2028"\\pp')


@pytest.mark.parametrize("status", [0, -1, 2**31 - 1, -(2**31)])
async def test_any_status(hf, status):
    '"Custom status: any int32."'
    a = await hf.player()
    await hf.room(a)
    await a.do("updatePlayerCustomStatus", {"status": status})
    event = await a.event("playerCustomStatusChanged")
    assert (event["playerId"], event["status"]) == (a.player, status)


async def test_errors_change_nothing(hf):
    "rooms.md: limits are refused with 11; nothing of a refused call is done"
    a, b = await hf.players(2)
    room = await hf.room(a, b, name="kept", customProperties="kept")
    await a.refused(11, "updateRoomProperties", {"name": "other", "customProperties": "p" * 2049})
    c = await hf.player()
    joined = await c.do("joinRoom", {"roomId": room.id})
    assert (joined["room"]["name"], joined["room"]["customProperties"]) == ("kept", "kept")
