"""rooms.md, "Rooms": creating, joining, leaving, owners, dismissing."""

import asyncio
import time

import pytest

import tokens
from world import kinds

IN_A_ROOM = [
    ("leaveRoom", {}),
    ("updateRoomProperties", {"name": "x"}),
    ("updatePlayerCustomStatus", {"status": 1}),
    ("updatePlayerCustomProperties", {"properties": "x"}),
    ("kickRoomPlayer", {"playerId": "somebody"}),
    ("transferRoomOwner", {"playerId": "somebody"}),
    ("dismissRoom", {}),
    ("sendCustomMessage", {"msg": "x"}),
    ("startFrameSync", {}),
    ("stopFrameSync", {}),
    ("sendFrameInput", {"data": "x"}),
    ("getFrames", {"first": 1, "last": 1}),
    ("reportFrameHash", {"frameId": 1, "hash": b"x"}),
    ("putSnapshot", {"frameId": 1, "state": b"x"}),
]


async def test_a_new_room(hf):
    '"The creator owns the room."; holdfast.proto, RoomInfo, RoomJoined'
    a = await hf.player()
    config = hf.config(maxPlayerCount=5, name="Hall", customProperties="{}", matchParams={"level": "3"})
    joined = await a.do("createRoom", {"room": config, "player": {"customStatus": 7, "customProperties": "me"}})
    room = joined["room"]
    assert joined["roomSeq"] >= 1
    assert joined.get("frameSync") is None and joined.get("snapshot") is None and joined.get("battle") is None
    assert 0 < len(room["id"]) <= 32 and room["ownerId"] == a.player and room["status"] == 0
    assert room["players"] == [{"id": a.player, "status": 1, "customStatus": 7, "customProperties": "me"}]
    assert (room["name"], room["type"], room["customProperties"]) == ("Hall", config["type"], "{}")
    assert room["maxPlayerCount"] == 5 and room["matchParams"] == {"level": "3"}
    assert abs(room["createTime"] - time.time()) < 30, "seconds since 1970"
    assert room["frameRate"] == 15, "0 = the server's default (15)"
    assert (room["spectatorCount"], room["maxSpectatorCount"]) == (0, 0)
    assert not (room["allowLateJoin"] or room["hasPassword"] or room["hidden"] or room["lockedDuringFrameSync"])
    await a.nothing()


async def test_flags_of_a_room(hf):
    "holdfast.proto, RoomInfo: what the config said; the password is not told"
    a = await hf.player()
    joined = await a.do(
        "createRoom",
        {
            "room": hf.config(
                allowLateJoin=True,
                lockedDuringFrameSync=True,
                hidden=True,
                password="secret word",
                maxSpectatorCount=3,
                frameRate=30,
            )
        },
    )
    room = joined["room"]
    assert room["allowLateJoin"] and room["lockedDuringFrameSync"] and room["hidden"] and room["hasPassword"]
    assert room["maxSpectatorCount"] == 3 and room["frameRate"] == 30
    assert b"secret word" not in joined.raw


async def test_joining(hf):
    'RoomInfo: "players stand in seat order"; RoomJoined: "the stream goes on after it"'
    a, b, c = await hf.players(3)
    room = await hf.room(a, b)
    joined = await c.do("joinRoom", {"roomId": room.id, "player": {"customStatus": -4}})
    assert [p["id"] for p in joined["room"]["players"]] == [a.player, b.player, c.player]
    assert joined["room"]["ownerId"] == a.player
    entered = await a.event("playerEntered")
    assert entered["roomId"] == room.id and entered["roomOwnerId"] == a.player
    assert entered["player"] == {"id": c.player, "status": 1, "customStatus": -4, "customProperties": ""}
    assert entered.seq <= joined["roomSeq"]
    await b.event("playerEntered")
    await c.nothing()


async def test_room_ids(hf):
    '"A room id is short, cannot be guessed or enumerated"'
    players = await hf.players(12)
    ids = [(await p.do("createRoom", {"room": hf.config()}))["room"]["id"] for p in players]
    assert len(set(ids)) == 12 and all(8 <= len(i) <= 32 and i.isprintable() for i in ids)
    for one, two in zip(ids, ids[1:]):
        assert sum(x != y for x, y in zip(one, two)) >= 4, (one, two)


@pytest.mark.parametrize("kind", [k for k, _ in IN_A_ROOM])
async def test_not_in_a_room(hf, kind):
    'errors.md: "20 notInRoom"; also "A player is in one room at most"'
    a = await hf.player()
    await a.refused(20, kind, dict(IN_A_ROOM)[kind])


async def test_in_one_room_at_most(hf):
    '"A player is in one room at most, as player or spectator"; errors.md 21'
    a, b, s = await hf.players(3)
    room = await hf.room(a, spectators=[s])
    other = await hf.room(b)
    for client in (a, s):
        await client.refused(21, "createRoom", {"room": hf.config()})
        await client.refused(21, "matchRoom", {"room": hf.config()})
        await client.refused(21, "joinRoom", {"roomId": other.id})
        await client.refused(21, "joinRoom", {"roomId": room.id})
        await client.refused(21, "joinRoom", {"roomId": room.id, "asSpectator": True})
        await client.refused(21, "joinRoom", {"roomId": "unknown-room"})
    await b.nothing()


async def test_refused_joins(hf):
    "errors.md: 24 roomNotFound, 23 roomFull, 31 wrongPassword"
    a, b, c, x = await hf.players(4)
    await x.refused(24, "joinRoom", {"roomId": "unknown-room"})
    await x.refused(24, "joinRoom", {"roomId": "unknown-room", "asSpectator": True})
    room = await hf.room(a, b, maxPlayerCount=2)
    await x.refused(23, "joinRoom", {"roomId": room.id})
    locked = await hf.room(c, password="pass", maxPlayerCount=2)
    await x.refused(31, "joinRoom", {"roomId": locked.id})
    await x.refused(31, "joinRoom", {"roomId": locked.id, "password": "pas"})
    await x.refused(31, "joinRoom", {"roomId": locked.id, "password": "Pass"})
    await x.do("joinRoom", {"roomId": locked.id, "password": "pass"})
    assert (await c.event("playerEntered"))["player"]["id"] == x.player


async def test_a_password_where_none_is_needed(hf):
    'RoomConfig.password: "needed to join" only where there is one'
    a, b = await hf.players(2)
    room = await hf.room(a)
    await b.do("joinRoom", {"roomId": room.id, "password": "anything"})


async def test_the_order_of_refused_joins(hf):
    'errors.md: "… then 24, 32, 31, 26/25, 30, 23 …"'
    a, b, c, d = await hf.players(4)
    room = await hf.room(a, b, c, password="pw", maxPlayerCount=3)
    await a.do("kickRoomPlayer", {"playerId": c.player, "ban": True})
    await c.event("playerKicked")
    await c.refused(32, "joinRoom", {"roomId": room.id, "password": "wrong"})
    await d.do("joinRoom", {"roomId": room.id, "password": "pw"})
    x = await hf.player()
    await x.refused(31, "joinRoom", {"roomId": room.id, "password": "wrong"})
    await c.refused(32, "joinRoom", {"roomId": room.id, "password": "pw"})
    await a.do("startFrameSync")
    await x.refused(31, "joinRoom", {"roomId": room.id, "password": "wrong"})
    await x.refused(26, "joinRoom", {"roomId": room.id, "password": "pw"})
    await c.refused(32, "joinRoom", {"roomId": room.id, "password": "pw"})


async def test_leaving(hf):
    '''"`disconnect` and `leaveRoom` are `playerLeft` at once"; "After the reply to `leaveRoom` nothing of the room
    comes."'''
    a, b, c = await hf.players(3)
    room = await hf.room(a, b, c)
    await b.do("leaveRoom")
    for client in (a, c):
        left = await client.event("playerLeft")
        assert (left["roomId"], left["playerId"], left["roomOwnerId"]) == (room.id, b.player, a.player)
    await a.do("sendCustomMessage", {"msg": "after"})
    await c.event("customMessageReceived")
    await b.nothing()
    await b.refused(20, "leaveRoom")
    await b.do("joinRoom", {"roomId": room.id})


async def test_the_last_one_closes_the_room(hf):
    '"The room is gone at once when its last player has left: … join answers 24, spectators get `roomDismissed` 1."'
    a, s, t = await hf.players(3)
    room = await hf.room(a, spectators=[s, t])
    await a.do("leaveRoom")
    for client in (s, t):
        await client.until(
            lambda c=client: any(e.kind == "roomDismissed" for e in c.events), what="the end of the room"
        )
        *before, event = client.take_events()
        assert kinds(before) in ([], ["playerLeft"])
        assert event.kind == "roomDismissed" and event["reason"] == 1 and event["roomId"] == room.id
    await s.refused(24, "joinRoom", {"roomId": room.id})
    await a.refused(24, "joinRoom", {"roomId": room.id})
    await t.refused(20, "leaveRoom")
    await s.do("createRoom", {"room": hf.config()})


@pytest.mark.profile("quick")
async def test_the_end_of_the_last_window_closes_the_room(hf):
    '"when the window ends it is `playerLeft`"; "The room is gone at once when its last player has left"'
    a, s = await hf.players(2)
    room = await hf.room(a, spectators=[s])
    a.drop()
    got = []
    while not got or got[-1].kind != "roomDismissed":
        got.append(await s.event())
    assert got[0].kind == "playerOffline" and got[-1]["reason"] == 1
    assert all(e.kind in ("playerOffline", "playerLeft", "roomDismissed") for e in got), got
    await s.refused(24, "joinRoom", {"roomId": room.id})


async def test_dismissing(hf):
    '"`dismissRoom`: owner only; everyone is out after `roomDismissed` 0."'
    a, b, s = await hf.players(3)
    room = await hf.room(a, b, spectators=[s])
    await b.refused(22, "dismissRoom")
    await a.do("dismissRoom")
    for client in (a, b, s):
        event = await client.event("roomDismissed")
        assert event["roomId"] == room.id and event["reason"] == 0
        await client.refused(20, "leaveRoom")
        await client.refused(24, "joinRoom", {"roomId": room.id})
    await b.do("createRoom", {"room": hf.config()})


async def test_the_owner_leaves(hf):
    '''"When the owner leaves … the longest-seated online player becomes owner, and the very event that tells of it …
    carries the new `roomOwnerId`."'''
    a, b, c = await hf.players(3)
    await hf.room(a, b, c)
    await a.do("leaveRoom")
    assert (await b.event("playerLeft"))["roomOwnerId"] == b.player
    assert (await c.event("playerLeft"))["roomOwnerId"] == b.player
    await b.nothing()
    await b.do("updateRoomProperties", {"name": "mine"})
    await c.refused(22, "updateRoomProperties", {"name": "not mine"})
    await b.do("disconnect")
    assert [e.kind for e in [await c.event(), await c.event()]] == ["roomPropertiesChanged", "playerLeft"]
    await c.do("updateRoomProperties", {"name": "now mine"})


@pytest.mark.profile("offline")
async def test_the_owner_goes_offline(hf):
    '''"goes offline, the longest-seated online player becomes owner, and the very event … `playerOffline` … carries";
    "Ownership does not return by itself."'''
    a, b, c, d = await hf.players(4)
    room = await hf.room(a, b, c, d)
    b.drop()
    assert (await c.event("playerOffline"))["roomOwnerId"] == a.player
    a.drop()
    offline = await c.event("playerOffline")
    assert (offline["playerId"], offline["roomOwnerId"]) == (a.player, c.player), "b sits longer but is offline"
    reply = await a.resume()
    assert reply["room"]["ownerId"] == c.player
    assert (await c.event("playerOnline"))["roomOwnerId"] == c.player
    await a.refused(22, "updateRoomProperties", {"name": "x"})
    reply = await b.resume()
    assert reply["room"]["ownerId"] == c.player
    await c.event("playerOnline")
    await c.do("leaveRoom")
    told = await room.told(c)
    left = told[d][-1]
    assert left.kind == "playerLeft" and left["roomOwnerId"] == a.player, "the longest-seated online one"


@pytest.mark.profile("offline")
async def test_who_comes_online_while_no_owner_is(hf):
    '''"Who comes online, or joins as a player, while no owner is online becomes owner; `playerOnline` /
    `playerEntered` carries it."'''
    a, b, s = await hf.players(3)
    await hf.room(a, b, spectators=[s])
    b.drop()
    await s.event("playerOffline")
    a.drop()
    await s.event("playerOffline")
    reply = await b.resume()
    assert reply["room"]["ownerId"] == b.player
    online = await s.event("playerOnline")
    assert (online["playerId"], online["roomOwnerId"]) == (b.player, b.player)
    await a.resume()
    assert (await s.event("playerOnline"))["roomOwnerId"] == b.player
    await b.event("playerOffline")
    await b.event("playerOnline")
    await b.do("updateRoomProperties", {"name": "mine"})


@pytest.mark.profile("offline")
async def test_who_joins_while_no_owner_is_online(hf):
    '"Who … joins as a player, while no owner is online becomes owner; … `playerEntered` carries it."'
    a, s, c = await hf.players(3)
    room = await hf.room(a, spectators=[s])
    a.drop()
    await s.event("playerOffline")
    joined = await c.do("joinRoom", {"roomId": room.id})
    assert joined["room"]["ownerId"] == c.player
    assert [(p["id"], p["status"]) for p in joined["room"]["players"]] == [(a.player, 0), (c.player, 1)]
    entered = await s.event("playerEntered")
    assert (entered["player"]["id"], entered["roomOwnerId"]) == (c.player, c.player)
    reply = await a.resume()
    assert reply["room"]["ownerId"] == c.player


async def test_transfer(hf):
    '''"`roomOwnerChanged` is for `transferRoomOwner`: owner only (22), to a seated, online player (30); to oneself:
    `ok`, no event."'''
    a, b, c, s = await hf.players(4)
    room = await hf.room(a, b, c, spectators=[s])
    await b.refused(22, "transferRoomOwner", {"playerId": b.player})
    await a.refused(30, "transferRoomOwner", {"playerId": "stranger"})
    await a.refused(30, "transferRoomOwner", {"playerId": s.player})
    await a.do("transferRoomOwner", {"playerId": a.player})
    assert all(not events for events in (await room.told()).values())
    await a.do("transferRoomOwner", {"playerId": c.player})
    for client in (a, b, c, s):
        event = await client.event("roomOwnerChanged")
        assert (event["roomId"], event["roomOwnerId"]) == (room.id, c.player)
    await a.refused(22, "transferRoomOwner", {"playerId": a.player})
    await c.do("leaveRoom")
    assert (await b.event("playerLeft"))["roomOwnerId"] == a.player, "longest-seated"


@pytest.mark.profile("offline")
async def test_transfer_to_one_who_is_offline(hf):
    '"to a seated, online player (30)"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    b.drop()
    await a.event("playerOffline")
    await a.refused(30, "transferRoomOwner", {"playerId": b.player})
    await a.nothing()


async def test_transfer_to_one_just_dropped(hf):
    '"a dropped player counts as online" within the 2 s'
    a, b = await hf.players(2)
    await hf.room(a, b)
    b.drop()
    await a.do("transferRoomOwner", {"playerId": b.player})
    assert (await a.event("roomOwnerChanged"))["roomOwnerId"] == b.player
    reply = await b.resume()
    assert reply["room"]["ownerId"] == b.player
    assert (await b.event("roomOwnerChanged"))["roomOwnerId"] == b.player


async def test_room_properties(hf):
    '''"`updateRoomProperties`: owner only. An absent field stays; the event carries both values, also equal ones.
    Neither field: `ok`, no event."'''
    a, b = await hf.players(2)
    room = await hf.room(a, b, name="n0", customProperties="p0")
    await b.refused(22, "updateRoomProperties", {"name": "x"})

    async def changed(update, name, properties):
        await a.do("updateRoomProperties", update)
        for client in (a, b):
            event = await client.event("roomPropertiesChanged")
            assert (event["id"], event["name"], event["customProperties"]) == (room.id, name, properties)

    await changed({"name": "n1"}, "n1", "p0")
    await changed({"customProperties": "p1"}, "n1", "p1")
    await changed({"name": "n1", "customProperties": "p1"}, "n1", "p1")
    await changed({"name": ""}, "", "p1")
    await changed({"name": "n2", "customProperties": ""}, "n2", "")
    await a.do("updateRoomProperties", {})
    assert all(not events for events in (await room.told()).values())


async def test_what_a_joiner_sees_is_the_present(hf):
    "RoomJoined: room at `room_seq`; what was changed before stands in it"
    a, b, c = await hf.players(3)
    room = await hf.room(a, b)
    await a.do("updateRoomProperties", {"name": "renamed", "customProperties": "changed"})
    await b.do("updatePlayerCustomStatus", {"status": 3})
    await b.do("updatePlayerCustomProperties", {"properties": "mine"})
    await a.do("transferRoomOwner", {"playerId": b.player})
    joined = await c.do("joinRoom", {"roomId": room.id})
    seen = joined["room"]
    assert (seen["name"], seen["customProperties"], seen["ownerId"]) == ("renamed", "changed", b.player)
    assert seen["players"][1] == {"id": b.player, "status": 1, "customStatus": 3, "customProperties": "mine"}
    await c.nothing()


async def test_projects_are_apart(hf):
    'auth.md: "rooms … of one are invisible and unreachable for another, even with a known id"'
    a = await hf.player()
    room = await hf.room(a)

    x = hf.client(hf.name(), secret=tokens.OTHER_SECRET, project=tokens.OTHER_PROJECT)
    await x.start()
    await x.refused(24, "joinRoom", {"roomId": room.id})
    assert (await x.do("getRoomList", {"roomType": room.type}))["rooms"] == []
    joined = await x.do("matchRoom", {"room": {"maxPlayerCount": 8, "type": room.type}})
    assert joined["room"]["id"] != room.id
    namesake = hf.client(a.player, secret=tokens.OTHER_SECRET, project=tokens.OTHER_PROJECT)
    await namesake.start()
    await asyncio.sleep(0.05)
    assert not a.raw.ended, "the same player id in another project is another player"
    await a.nothing()
    assert kinds(a.events) == []
