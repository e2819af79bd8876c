"""rooms.md, "Who is told": the exact audience and order for each event, also with both encodings in one room."""

import pytest

from world import kinds

pytestmark = pytest.mark.mixed


async def cast(hf, **config):
    """Owner, two players, a spectator, and somebody in another room."""
    a, b, c, s, x = await hf.players(5)
    room = await hf.room(a, b, c, spectators=[s], **config)
    await hf.room(x)
    return a, b, c, s, x, room


async def expect(room, outsider, wanted):
    told = await room.told(outsider)
    got = {member: kinds(events) for member, events in told.items()}
    assert got == {outsider: [], **wanted}, got
    return told


async def test_player_entered(hf):
    '"playerEntered, playerLeft, playerOffline, playerOnline: everyone but that player"'
    a, b, c, s, x, room = await cast(hf)
    d = await hf.player()
    await d.do("joinRoom", {"roomId": room.id})
    room.players.append(d)
    kind = ["playerEntered"]
    await expect(room, x, {a: kind, b: kind, c: kind, s: kind, d: []})


async def test_player_left(hf):
    '"playerLeft: everyone but that player"; "After the reply to `leaveRoom` nothing of the room comes."'
    a, b, c, s, x, room = await cast(hf)
    await b.do("leaveRoom")
    kind = ["playerLeft"]
    await expect(room, x, {a: kind, c: kind, s: kind})
    await b.nothing()


@pytest.mark.profile("offline")
async def test_player_offline_and_online(hf):
    '"playerOffline, playerOnline: everyone but that player"'
    a, b, c, s, x, room = await cast(hf)
    b.drop()
    await a.until(lambda: a.events, what="playerOffline")
    await b.resume()
    kind = ["playerOffline", "playerOnline"]
    await expect(room, x, {a: kind, b: [], c: kind, s: kind})


async def test_player_kicked(hf):
    '''"playerKicked: everyone, the kicked (its last of the room) and the kicker"; "A caller gets its reply before any
    event that its request caused."'''
    a, b, c, s, x, room = await cast(hf)
    await a.do("kickRoomPlayer", {"playerId": b.player})
    await b.event("playerKicked")
    kind = ["playerKicked"]
    await expect(room, x, {a: kind, c: kind, s: kind})
    await b.nothing()


async def test_owner_changed(hf):
    '"roomOwnerChanged …: everyone, the caller too"'
    a, b, c, s, x, room = await cast(hf)
    await a.do("transferRoomOwner", {"playerId": b.player})
    kind = ["roomOwnerChanged"]
    await expect(room, x, {a: kind, b: kind, c: kind, s: kind})


async def test_properties_and_status(hf):
    '"roomPropertiesChanged, playerCustom…Changed: everyone, the caller too"'
    a, b, c, s, x, room = await cast(hf)
    await a.do("updateRoomProperties", {"name": "x"})
    await b.do("updatePlayerCustomStatus", {"status": 3})
    await c.do("updatePlayerCustomProperties", {"properties": "y"})
    kind = ["roomPropertiesChanged", "playerCustomStatusChanged", "playerCustomPropertiesChanged"]
    told = await expect(room, x, {a: kind, b: kind, c: kind, s: kind})
    assert [e["playerId"] for e in told[s][1:]] == [b.player, c.player]
    assert told[s][1]["status"] == 3 and told[s][2]["properties"] == "y"


async def test_frame_sync(hf):
    '"frameSyncStarted, frame, frameSyncStopped …: everyone, the caller too"'
    a, b, c, s, x, room = await cast(hf, frameRate=30)
    await a.do("startFrameSync")
    for client in (a, b, c, s):
        await client.frame(3)
    await a.do("stopFrameSync")
    kind = ["frameSyncStarted", "frameSyncStopped"]
    await expect(room, x, {a: kind, b: kind, c: kind, s: kind})
    assert len({tuple(sorted(m.frames)) for m in (a, b, c, s)}) == 1
    assert not x.frames


async def test_desync(hf):
    '"desyncDetected: everyone, the caller too"'
    a, b, c, s, x, room = await cast(hf, frameRate=30)
    await a.do("startFrameSync")
    await a.frame(1)
    a.post("reportFrameHash", {"frameId": 1, "hash": b"one"})
    await a.fence()
    b.post("reportFrameHash", {"frameId": 1, "hash": b"two"})
    for client in (a, b, c, s):
        await client.event("frameSyncStarted")
        await client.event("desyncDetected")
    await expect(room, x, {a: [], b: [], c: [], s: []})


async def test_custom_messages(hf):
    '"customMessageReceived: type 0: everyone but the sender; type 1: the named"'
    a, b, c, s, x, room = await cast(hf)
    await b.do("sendCustomMessage", {"msg": "all"})
    await b.do("sendCustomMessage", {"msg": "named", "type": 1, "receivers": [c.player]})
    kind = "customMessageReceived"
    told = await expect(room, x, {a: [kind], b: [], c: [kind, kind], s: [kind]})
    assert [(e["playerId"], e["msg"]) for e in told[c]] == [(b.player, "all"), (b.player, "named")]


async def test_room_dismissed(hf):
    '''"roomDismissed: everyone, the caller too, as the last event"; "A room that closes while frame sync runs first
    sends `frameSyncStopped` reason 3."'''
    a, b, c, s, x, room = await cast(hf, frameRate=20)
    await a.do("startFrameSync")
    await s.frame(2)
    await a.do("dismissRoom")
    for client in (a, b, c, s):
        await client.event("frameSyncStarted")
        stopped = await client.event("frameSyncStopped")
        assert (stopped["reason"], stopped["roomId"], stopped["frameSyncId"]) == (3, room.id, 1)
        assert (await client.event("roomDismissed"))["reason"] == 0
        assert [m.kind for m in client.stream[-2:]] == ["frameSyncStopped", "roomDismissed"]
        await client.nothing(0.08)
    await x.nothing()


async def test_the_last_player_leaves_during_frame_sync(hf):
    '''"A room that closes while frame sync runs first sends `frameSyncStopped` reason 3."; "spectators get
    `roomDismissed` 1"'''
    a, s = await hf.players(2)
    await hf.room(a, spectators=[s], frameRate=20)
    await a.do("startFrameSync")
    await s.frame(2)
    await a.do("leaveRoom")
    assert (await s.event()).kind == "frameSyncStarted"
    await s.until(lambda: any(e.kind == "roomDismissed" for e in s.events), what="the end of the room")
    if s.events[0].kind == "playerLeft":
        assert (await s.event())["playerId"] == a.player
    assert (await s.event("frameSyncStopped"))["reason"] == 3
    assert (await s.event("roomDismissed"))["reason"] == 1
    await s.nothing()


async def test_one_order_for_all(hf):
    '"Each room has one ordered stream of events and frames. Everyone sees the same order."'
    a, b, c, s, x, room = await cast(hf, frameRate=60)
    await a.do("startFrameSync")
    for n in range(10):
        a.post("updatePlayerCustomStatus", {"status": n})
        b.post("updatePlayerCustomProperties", {"properties": str(n)})
        c.post("sendCustomMessage", {"msg": str(n)})
        c.post("sendFrameInput", {"data": str(n)})
        await b.frame(b.last_frame + 1 if b.last_frame else 1)
    await c.input_frame(lambda i: i["data"] == "9")
    told = await room.told(x)
    whole = [(e.seq, e.kind, str(e.body)) for e in told[s]]
    assert len(whole) == 31
    for client in (a, b):
        assert [(e.seq, e.kind, str(e.body)) for e in told[client]] == whole
    assert [(e.seq, e.kind, str(e.body)) for e in told[c]] == [w for w in whole if w[1] != "customMessageReceived"]


async def test_streams_begin_small(hf):
    '''ServerMessage.seq: "Starts at 1; no holes for a member except events addressed to others"; RoomJoined: "creating
    a room takes a position"'''
    a, b = await hf.players(2)
    joined = await a.do("createRoom", {"room": hf.config()})
    first = joined["roomSeq"]
    assert first >= 1
    await a.do("updatePlayerCustomStatus", {"status": 1})
    assert (await a.event("playerCustomStatusChanged")).seq == first + 1
    second = await b.do("joinRoom", {"roomId": joined["room"]["id"]})
    assert (await a.event("playerEntered")).seq == first + 2 and second["roomSeq"] >= first + 2
    await b.do("updatePlayerCustomStatus", {"status": 2})
    assert (await a.event()).seq == (await b.event()).seq == second["roomSeq"] + 1
