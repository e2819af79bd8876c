"""rooms.md, "Matching and the list": getRoomList."""

import asyncio

import pytest


async def listed(client, kind, want=None, **how):
    """The list of a type, asked for again until it holds what is wanted ("It lags by at most 1 s")."""
    for _ in range(14):
        reply = await client.do("getRoomList", {"roomType": kind, **how})
        ids = [room["id"] for room in reply["rooms"]]
        if want is None or ids == want:
            return reply
        await asyncio.sleep(0.13)
    raise AssertionError(f"the list should be {want}, is {reply}")


async def rooms_of(hf, count, **config):
    kind = hf.name("t")
    owners = await hf.players(count)
    ids = []
    for owner in owners:
        joined = await owner.do("createRoom", {"room": hf.config(type=kind, **config)})
        ids.append(joined["room"]["id"])
        await asyncio.sleep(0.003)
    return kind, owners, ids


async def test_newest_first(hf):
    '"The list pages through joinable rooms of a type, newest first"'
    kind, owners, ids = await rooms_of(hf, 5)
    reply = await listed(owners[0], kind, ids[::-1])
    assert not reply["hasMore"]


async def test_a_summary(hf):
    "holdfast.proto, RoomSummary"
    a, b = await hf.players(2)
    joined = await a.do(
        "createRoom",
        {"room": hf.config(name="n", customProperties="c", maxPlayerCount=4, password="pw", maxSpectatorCount=2)},
    )
    room = joined["room"]
    await b.do("joinRoom", {"roomId": room["id"], "password": "pw"})
    await (await hf.player()).do("joinRoom", {"roomId": room["id"], "asSpectator": True, "password": "pw"})
    wanted = {
        "id": room["id"],
        "name": "n",
        "type": room["type"],
        "status": 0,
        "customProperties": "c",
        "maxPlayerCount": 4,
        "playerCount": 2,
        "createTime": room["createTime"],
        "hasPassword": True,
        "spectatorCount": 1,
    }
    for _ in range(14):
        reply = await a.do("getRoomList", {"roomType": room["type"]})
        if reply["rooms"] == [wanted]:
            return
        await asyncio.sleep(0.13)
    raise AssertionError(f"wanted {wanted}, came {reply}")


async def test_what_is_not_listed(hf):
    '"not hidden, a free seat, somebody online, not running unless late join is allowed; with a password: listed"'
    kind = hf.name("t")
    open_, full, full2, hidden, secret, running, late = await hf.players(7)
    want = [(await hf.room(open_, type=kind)).id]
    await asyncio.sleep(0.003)
    await hf.room(full, full2, type=kind, maxPlayerCount=2)
    await hf.room(hidden, type=kind, hidden=True)
    want.append((await hf.room(secret, type=kind, password="pw")).id)
    await hf.room(running, type=kind)
    await running.do("startFrameSync")
    await asyncio.sleep(0.003)
    want.append((await hf.room(late, type=kind, allowLateJoin=True)).id)
    await late.do("startFrameSync")
    for _ in range(14):
        rooms = (await secret.do("getRoomList", {"roomType": kind}))["rooms"]
        if [(r["id"], r["status"]) for r in rooms] == list(zip(want[::-1], (1, 0, 0))):
            break
        await asyncio.sleep(0.13)
    assert [(r["id"], r["status"]) for r in rooms] == list(zip(want[::-1], (1, 0, 0)))
    await running.do("stopFrameSync")
    await full2.do("leaveRoom")
    await open_.do("leaveRoom")
    for _ in range(14):
        reply = await hidden.do("getRoomList", {"roomType": kind})
        if len(reply["rooms"]) == 4:
            break
        await asyncio.sleep(0.13)
    assert len(reply["rooms"]) == 4, reply


@pytest.mark.profile("offline")
async def test_nobody_online(hf):
    '"somebody online"'
    a, b = await hf.players(2)
    room = await hf.room(a)
    await listed(b, room.type, [room.id])
    a.drop()
    await asyncio.sleep(0.3)
    await listed(b, room.type, [])
    await a.resume()
    await listed(b, room.type, [room.id])


async def test_gone_rooms(hf):
    '"The room is gone at once when its last player has left: off the list"'
    kind, owners, ids = await rooms_of(hf, 2)
    await listed(owners[0], kind, ids[::-1])
    await owners[1].do("leaveRoom")
    await listed(owners[0], kind, ids[:1])
    await owners[0].do("dismissRoom")
    await listed(owners[0], kind, [])


async def test_all_types(hf):
    'GetRoomList.room_type: "\\"\\" = all types"'
    a, b = await hf.players(2)
    joined = await a.do("createRoom", {"room": hf.config()})
    for _ in range(14):
        reply = await b.do("getRoomList", {"limit": 100})
        if joined["room"]["id"] in [r["id"] for r in reply["rooms"]]:
            break
        await asyncio.sleep(0.13)
    else:
        raise AssertionError("the newest room stands on the first page of all types")
    assert len({r["type"] for r in reply["rooms"]}) >= 1


@pytest.mark.slow(30)
async def test_limits_of_a_page(hf):
    'GetRoomList.limit: "0 → 20, at most 100"; "a limit over 100: 11"'
    kind, owners, ids = await rooms_of(hf, 105)
    x = await hf.player()
    for _ in range(14):
        reply = await x.do("getRoomList", {"roomType": kind, "limit": 100})
        if [r["id"] for r in reply["rooms"]] == ids[:4:-1]:
            break
        await asyncio.sleep(0.13)
    assert [r["id"] for r in reply["rooms"]] == ids[:4:-1] and reply["hasMore"]
    rest = await x.do("getRoomList", {"roomType": kind, "limit": 100, "offset": reply["offset"]})
    assert [r["id"] for r in rest["rooms"]] == ids[4::-1] and not rest["hasMore"]
    await asyncio.sleep(0.5)
    reply = await x.do("getRoomList", {"roomType": kind})
    assert len(reply["rooms"]) == 20 and reply["hasMore"]
    reply = await x.do("getRoomList", {"roomType": kind, "limit": 1})
    assert len(reply["rooms"]) == 1 and reply["hasMore"]
    await x.refused(11, "getRoomList", {"roomType": kind, "limit": 101})


async def test_offsets(hf):
    'GetRoomList.offset: "\\"\\" or \\"0\\" starts"; "An offset that the server did not make …: 11"'
    kind, owners, ids = await rooms_of(hf, 3)
    a = owners[0]
    await listed(a, kind, ids[::-1])
    await listed(a, kind, ids[::-1], offset="0")
    a = owners[1]
    for wrong in ("x", "1", "-1", "999999999999999999999999", "AAAA", "💥", "\u0000", "x" * 3000):
        await a.refused(11, "getRoomList", {"roomType": kind, "offset": wrong})


async def test_paging_while_rooms_come_and_go(hf):
    '"A sequence of pages ends, repeats no room and shows each that was there all along."'
    kind, owners, ids = await rooms_of(hf, 12)
    x, *more = await hf.players(7)
    for _ in range(14):
        if len((await x.do("getRoomList", {"roomType": kind}))["rooms"]) == 12:
            break
        await asyncio.sleep(0.13)
    seen, offset, turn, gone = [], "", 0, set()
    while True:
        reply = await x.do("getRoomList", {"roomType": kind, "offset": offset, "limit": 3})
        seen += [r["id"] for r in reply["rooms"]]
        if not reply["hasMore"]:
            break
        offset = reply["offset"]
        if turn < 6:
            await more[turn].do("createRoom", {"room": hf.config(type=kind)})
        if turn in (0, 1, 2):
            leaver = (11, 5, 1)[turn]
            gone.add(ids[leaver])
            await owners[leaver].do("leaveRoom")
        turn += 1
        assert turn < 12, "a sequence of pages ends"
        await asyncio.sleep(0.15)
    assert len(seen) == len(set(seen)), "repeats no room"
    stayed = [i for i in ids[::-1] if i not in gone]
    assert [i for i in seen if i in stayed] == stayed, "shows each that was there all along, newest first"


async def test_to_spectate(hf):
    '"`toSpectate`: those with a free spectator\'s place, full and running ones too."'
    kind = hf.name("t")
    free, full, full2, running, taken, none, s, hidden = await hf.players(8)
    want = [(await hf.room(free, type=kind, maxSpectatorCount=2)).id]
    await asyncio.sleep(0.003)
    want.append((await hf.room(full, full2, type=kind, maxPlayerCount=2, maxSpectatorCount=2)).id)
    await asyncio.sleep(0.003)
    want.append((await hf.room(running, type=kind, maxSpectatorCount=2)).id)
    await running.do("startFrameSync")
    await hf.room(taken, type=kind, maxSpectatorCount=1, spectators=[s])
    await hf.room(none, type=kind)
    await hf.room(hidden, type=kind, maxSpectatorCount=2, hidden=True)
    await listed(free, kind, want[::-1], toSpectate=True)
    await s.do("leaveRoom")
    for _ in range(14):
        if len((await free.do("getRoomList", {"roomType": kind, "toSpectate": True}))["rooms"]) == 4:
            return
        await asyncio.sleep(0.13)
    raise AssertionError("a place that became free is listed")


async def test_an_empty_list(hf):
    "RoomList: no rooms, no more"
    a = await hf.player()
    reply = await a.do("getRoomList", {"roomType": hf.name("nothing")})
    assert reply["rooms"] == [] and not reply["hasMore"]
