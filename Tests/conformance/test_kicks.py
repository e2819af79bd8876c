"""rooms.md, "Rooms": kicks, bans, and rooms that are locked during frame sync."""

import itertools

import pytest

from world import kinds


async def test_kick(hf):
    '"Kick: owner only (22), not oneself (11), unknown id 30. Out at once."'
    a, b, c, s = await hf.players(4)
    room = await hf.room(a, b, c, spectators=[s])
    await b.refused(22, "kickRoomPlayer", {"playerId": c.player})
    await a.refused(11, "kickRoomPlayer", {"playerId": a.player})
    await a.refused(30, "kickRoomPlayer", {"playerId": "stranger"})
    await a.do("kickRoomPlayer", {"playerId": b.player})
    for client in (a, b, c, s):
        event = await client.event("playerKicked")
        assert (event["roomId"], event["playerId"], event["roomOwnerId"]) == (room.id, b.player, a.player)
    await b.refused(20, "leaveRoom")
    await a.do("sendCustomMessage", {"msg": "after"})
    await b.nothing()
    await b.do("joinRoom", {"roomId": room.id})


async def test_kicking_oneself_is_eleven_before_owner(hf):
    'errors.md: "13, 16, 11 (form, limits, kicking oneself) …" go before 22'
    a, b = await hf.players(2)
    await hf.room(a, b)
    await b.refused(11, "kickRoomPlayer", {"playerId": b.player})


async def test_an_empty_id_is_nobody(hf):
    '"unknown id 30"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    await a.refused((11, 30), "kickRoomPlayer", {"playerId": ""})
    await b.nothing()


async def test_ban(hf):
    '"With `ban` that player cannot come back to this room (32 …)"; "Password, ban … as for players"'
    a, b, c = await hf.players(3)
    room = await hf.room(a, b, c, maxSpectatorCount=5)
    await a.do("kickRoomPlayer", {"playerId": b.player, "ban": True})
    await b.event("playerKicked")
    await b.refused(32, "joinRoom", {"roomId": room.id})
    await b.refused(32, "joinRoom", {"roomId": room.id, "asSpectator": True})
    again = await hf.twin(b).start()
    await again.refused(32, "joinRoom", {"roomId": room.id})
    other = await hf.player()
    second = await hf.room(other)
    await again.do("joinRoom", {"roomId": second.id})


async def test_a_ban_holds_when_the_owner_changes(hf):
    '"that player cannot come back to this room"'
    a, b, c = await hf.players(3)
    room = await hf.room(a, b, c)
    await a.do("kickRoomPlayer", {"playerId": b.player, "ban": True})
    await a.do("leaveRoom")
    await b.refused(32, "joinRoom", {"roomId": room.id})


@pytest.mark.profile("offline")
async def test_kicking_one_who_is_offline(hf):
    '"Out at once"; "A seat that ended while dropped …"'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    b.drop()
    await a.event("playerOffline")
    await a.do("kickRoomPlayer", {"playerId": b.player, "ban": True})
    assert (await a.event("playerKicked"))["playerId"] == b.player
    reply = await b.resume()
    assert reply.get("room") is None
    assert (await b.event("playerKicked")).seq == 0
    await b.refused(32, "joinRoom", {"roomId": room.id})
    await a.nothing()


@pytest.mark.once
@pytest.mark.slow(60)
async def test_a_hundred_bans(hf):
    '"100 bans a room, the oldest goes"'
    owners = await hf.players(12)
    room = await hf.room(*owners, maxPlayerCount=20)
    victims = await hf.players(101)
    left = iter(victims)
    kicked = []
    for owner, heir in zip(owners, [*owners[1:], owners[0]]):
        for victim in itertools.islice(left, 9):
            await victim.do("joinRoom", {"roomId": room.id})
            await owner.do("kickRoomPlayer", {"playerId": victim.player, "ban": True})
            kicked.append(victim)
            if len(kicked) == 100:
                await victims[0].refused(32, "joinRoom", {"roomId": room.id})
        await owner.do("transferRoomOwner", {"playerId": heir.player})
    assert len(kicked) == 101
    await victims[1].refused(32, "joinRoom", {"roomId": room.id})
    await victims[100].refused(32, "joinRoom", {"roomId": room.id})
    await victims[0].do("joinRoom", {"roomId": room.id})


LOCKED = [
    ("leaveRoom", {}),
    ("updatePlayerCustomStatus", {"status": 1}),
    ("updatePlayerCustomProperties", {"properties": "x"}),
    ("kickRoomPlayer", {"playerId": "?"}),
    ("updateRoomProperties", {"name": "x"}),
]


async def test_locked(hf):
    '''"`lockedDuringFrameSync`: while frame sync runs, leaveRoom, kick, custom status, player and room properties are
    refused (26)."'''
    a, b, c = await hf.players(3)
    room = await hf.room(a, b, c, lockedDuringFrameSync=True)
    await a.do("updateRoomProperties", {"name": "before"})
    await a.do("startFrameSync")
    await room.told()
    for kind, body in LOCKED:
        body = {"playerId": b.player} if kind == "kickRoomPlayer" else body
        await a.refused(26, kind, body)
    for kind, body in LOCKED[:3]:
        await b.refused(26, kind, body)
    await b.refused(22, "kickRoomPlayer", {"playerId": c.player})
    await b.refused(22, "updateRoomProperties", {"name": "x"})
    assert all(not events for events in (await room.told()).values())
    await a.do("stopFrameSync")
    for kind, body in LOCKED[1:]:
        await a.do(kind, {"playerId": b.player} if kind == "kickRoomPlayer" else body)
    await c.do("leaveRoom")


async def test_locked_goes_before_unknown(hf):
    'errors.md: "26/25, 30, 23"'
    a, b = await hf.players(2)
    await hf.room(a, b, lockedDuringFrameSync=True)
    await a.do("startFrameSync")
    await a.refused(26, "kickRoomPlayer", {"playerId": "stranger"})
    await a.refused(11, "kickRoomPlayer", {"playerId": a.player})
    await a.refused(30, "transferRoomOwner", {"playerId": "stranger"})


async def test_what_locked_does_not_refuse(hf):
    '"`disconnect`, the end of the window, transfer, dismiss and messages are not."'
    a, b, c = await hf.players(3)
    room = await hf.room(a, b, c, lockedDuringFrameSync=True)
    await a.do("startFrameSync")
    await room.told()
    await b.do("sendCustomMessage", {"msg": "all"})
    assert (await a.event())["msg"] == "all"
    await a.do("sendCustomMessage", {"msg": "one", "type": 1, "receivers": [b.player]})
    await a.do("transferRoomOwner", {"playerId": c.player})
    assert (await a.event()).kind == "roomOwnerChanged"
    await b.do("disconnect")
    assert (await a.event("playerLeft"))["playerId"] == b.player
    await c.do("dismissRoom")
    assert kinds([await a.event(), await a.event()]) == ["frameSyncStopped", "roomDismissed"]


@pytest.mark.profile("quick")
async def test_the_end_of_the_window_in_a_locked_room(hf):
    '"`disconnect`, the end of the window … are not" refused'
    a, b = await hf.players(2)
    await hf.room(a, b, lockedDuringFrameSync=True)
    await a.do("startFrameSync")
    b.drop()
    seen = [await a.event() for _ in range(3)]
    assert kinds(seen) == ["frameSyncStarted", "playerOffline", "playerLeft"]
    await a.until(
        lambda: any(c == {"playerId": b.player, "kind": 1} for f in a.frames.values() for c in f["changes"]),
        what="the change in a frame",
    )


async def test_without_the_lock_everything_is_allowed(hf):
    '"Without it everything is allowed, and falls between the same two frames for all."'
    a, b, c, s = await hf.players(4)
    room = await hf.room(a, b, c, spectators=[s], frameRate=20)
    await a.do("startFrameSync")
    await a.frame(2)
    await a.do("updateRoomProperties", {"name": "x"})
    await b.do("updatePlayerCustomStatus", {"status": 1})
    await b.frame(b.last_frame + 2)
    await b.do("updatePlayerCustomProperties", {"properties": "x"})
    await a.do("kickRoomPlayer", {"playerId": c.player})
    await b.frame(b.last_frame + 2)
    await b.do("leaveRoom")
    await a.frame(a.last_frame + 2)
    told = await room.told()
    wanted = [
        "frameSyncStarted",
        "roomPropertiesChanged",
        "playerCustomStatusChanged",
        "playerCustomPropertiesChanged",
        "playerKicked",
        "playerLeft",
    ]
    assert kinds(told[a]) == wanted and kinds(told[s]) == wanted
    places = []
    for client in (a, s):
        await client.frame(a.last_frame)
        line, last = [], 0
        for message in client.stream:
            if message.kind == "frame":
                last = message["id"]
            elif message.kind in wanted:
                line.append((message.kind, last))
        places.append(line)
    assert places[0] == places[1], "each event falls between the same two frames for all"
