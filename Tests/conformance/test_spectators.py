"""rooms.md, "Rooms": spectators."""

import asyncio

import pytest

from world import kinds

NOT_FOR_SPECTATORS = [
    ("sendFrameInput", {"data": "x"}),
    ("sendCustomMessage", {"msg": "x"}),
    ("putSnapshot", {"frameId": 1, "state": b"x"}),
    ("reportFrameHash", {"frameId": 1, "hash": b"x"}),
    ("updatePlayerCustomStatus", {"status": 1}),
    ("updatePlayerCustomProperties", {"properties": "x"}),
    ("updateRoomProperties", {"name": "x"}),
    ("kickRoomPlayer", {"playerId": "somebody"}),
    ("transferRoomOwner", {"playerId": "somebody"}),
    ("dismissRoom", {}),
    ("startFrameSync", {}),
    ("stopFrameSync", {}),
]


async def test_spectating(hf):
    '''"Spectators: see events and frames, have no seat, do not count in `playerCount`"; "Their coming and going is
    told to nobody."'''
    a, b, s, t = await hf.players(4)
    room = await hf.room(a, b, maxSpectatorCount=5)
    joined = await s.do("joinRoom", {"roomId": room.id, "asSpectator": True})
    assert [p["id"] for p in joined["room"]["players"]] == [a.player, b.player]
    assert joined["room"]["spectatorCount"] == 1 and joined["room"]["maxSpectatorCount"] == 5
    joined = await t.do("joinRoom", {"roomId": room.id, "asSpectator": True})
    assert joined["room"]["spectatorCount"] == 2 and joined["room"]["ownerId"] == a.player
    room.spectators = [s, t]
    assert all(not events for events in (await room.told()).values())
    await t.do("leaveRoom")
    await s.do("disconnect")
    assert all(not events for events in (await room.told()).values())
    for _ in range(20):
        rooms = (await t.do("getRoomList", {"roomType": room.type}))["rooms"]
        if rooms and (rooms[0]["playerCount"], rooms[0]["spectatorCount"]) == (2, 0):
            break
        await asyncio.sleep(0.15)
    assert rooms[0]["playerCount"] == 2 and rooms[0]["spectatorCount"] == 0


async def test_places(hf):
    '"no free place or none allowed: 23"'
    a, s, t = await hf.players(3)
    room = await hf.room(a, maxSpectatorCount=1)
    await s.do("joinRoom", {"roomId": room.id, "asSpectator": True})
    await t.refused(23, "joinRoom", {"roomId": room.id, "asSpectator": True})
    await s.do("leaveRoom")
    await t.do("joinRoom", {"roomId": room.id, "asSpectator": True})
    other = await hf.room(s)
    await (await hf.player()).refused(23, "joinRoom", {"roomId": other.id, "asSpectator": True})


async def test_whatever_late_join_and_seats_say(hf):
    '"They join by `asSpectator` whatever `allowLateJoin` and whether seats are full"'
    a, b, s, t, x = await hf.players(5)
    room = await hf.room(a, b, maxPlayerCount=2, maxSpectatorCount=5)
    await s.do("joinRoom", {"roomId": room.id, "asSpectator": True})
    await a.do("startFrameSync")
    joined = await t.do("joinRoom", {"roomId": room.id, "asSpectator": True})
    assert joined["room"]["status"] == 1 and joined["frameSync"]["frameSyncId"] == 1
    await x.refused((23, 26), "joinRoom", {"roomId": room.id})
    await s.event("frameSyncStarted")
    await t.frame(2)
    await s.frame(2)


async def test_password_for_spectators(hf):
    '"Password, ban, one-room rule and resume as for players."'
    a, s = await hf.players(2)
    room = await hf.room(a, maxSpectatorCount=5, password="pw")
    await s.refused(31, "joinRoom", {"roomId": room.id, "asSpectator": True})
    await s.do("joinRoom", {"roomId": room.id, "asSpectator": True, "password": "pw"})
    await s.refused(21, "joinRoom", {"roomId": room.id, "password": "pw"})


async def test_password_goes_before_places(hf):
    'errors.md: "24, 32, 31, 26/25, 30, 23"'
    a, s = await hf.players(2)
    room = await hf.room(a, password="pw")
    await s.refused(31, "joinRoom", {"roomId": room.id, "asSpectator": True})
    await s.refused(23, "joinRoom", {"roomId": room.id, "asSpectator": True, "password": "pw"})


@pytest.mark.parametrize("kind", [k for k, _ in NOT_FOR_SPECTATORS])
async def test_not_for_spectators(hf, kind):
    '"inputs, messages, snapshots, hashes, custom status and properties, battle calls and owner\'s calls: 36."'
    a, s = await hf.players(2)
    room = await hf.room(a, spectators=[s])
    await s.refused(36, kind, dict(NOT_FOR_SPECTATORS)[kind])
    await a.do("startFrameSync")
    if kind == "putSnapshot":
        await asyncio.sleep(1.1)
    await s.refused(36, kind, dict(NOT_FOR_SPECTATORS)[kind])
    told = await room.told()
    assert kinds(told[a]) == kinds(told[s]) == ["frameSyncStarted"]


async def test_limits_go_before_seats(hf):
    "errors.md: 11 (form, limits) goes before 36; 36 before 28"
    a, s = await hf.players(2)
    await hf.room(a, spectators=[s])
    await s.refused(11, "sendCustomMessage", {"msg": "x" * 2049})
    await s.refused(11, "kickRoomPlayer", {"playerId": s.player})
    await s.refused(36, "sendFrameInput", {"data": "x" * 1025})


async def test_get_frames_is_allowed(hf):
    '"`getFrames` is allowed"'
    a, s = await hf.players(2)
    await hf.room(a, spectators=[s], frameRate=20)
    await s.refused(25, "getFrames", {"first": 1, "last": 1})
    await a.do("startFrameSync")
    await s.frame(3)
    reply = await s.do("getFrames", {"first": 1, "last": 3})
    assert [f["id"] for f in reply["frames"]] == [1, 2, 3]


async def test_leaving_is_never_refused(hf):
    '"`leaveRoom` is never refused to one, locked or not."'
    a, s = await hf.players(2)
    room = await hf.room(a, spectators=[s], lockedDuringFrameSync=True)
    await a.do("startFrameSync")
    await s.event("frameSyncStarted")
    await s.do("leaveRoom")
    await s.nothing()
    assert kinds((await room.told())[a]) == ["frameSyncStarted"]


async def test_kicking_a_spectator(hf):
    '"The owner may kick one: only it gets `playerKicked`."'
    a, b, s, t = await hf.players(4)
    room = await hf.room(a, b, spectators=[s, t])
    await a.do("kickRoomPlayer", {"playerId": s.player, "ban": True})
    event = await s.event("playerKicked")
    assert (event["playerId"], event["roomId"]) == (s.player, room.id)
    told = await room.told()
    assert all(not told[m] for m in (a, b, t)), told
    await s.refused(32, "joinRoom", {"roomId": room.id, "asSpectator": True})
    await s.refused(20, "leaveRoom")


async def test_a_dropped_spectator_is_told_to_nobody(hf):
    '"Their coming and going is told to nobody."'
    a, s = await hf.players(2)
    await hf.room(a, spectators=[s])
    s.drop()
    await asyncio.sleep(2.4)
    await a.nothing()
    assert (await s.resume())["resumed"]
    await a.nothing()


@pytest.mark.profile("quick")
async def test_a_spectators_window_ends(hf):
    '"resume as for players": after the window the place is free, and nobody is told'
    a, s, t = await hf.players(3)
    room = await hf.room(a, maxSpectatorCount=1, spectators=[s])
    s.drop()
    await asyncio.sleep(0.5)
    await t.refused(23, "joinRoom", {"roomId": room.id, "asSpectator": True})
    await asyncio.sleep(1.5)
    joined = await t.do("joinRoom", {"roomId": room.id, "asSpectator": True})
    assert joined["room"]["spectatorCount"] == 1
    await a.nothing()
    reply = await s.resume(expect=None)
    assert reply.kind == "error" and reply["code"] == 39


async def test_many_spectators(hf):
    '"may be thousands"; "Everyone sees the same order."'
    a, b, *crowd = await hf.players(62)
    room = await hf.room(a, b, maxSpectatorCount=100, frameRate=10)
    await asyncio.gather(*(s.do("joinRoom", {"roomId": room.id, "asSpectator": True}) for s in crowd))
    await a.do("startFrameSync")
    a.post("sendFrameInput", {"data": "x"})
    await b.do("sendCustomMessage", {"msg": "hello"})
    for s in crowd:
        await s.event("frameSyncStarted")
        await s.event("customMessageReceived")
        await s.input_frame(lambda i: i["data"] == "x")
