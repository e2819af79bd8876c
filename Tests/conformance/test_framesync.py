"""rooms.md, "Frame sync": starting, frames, inputs, stopping."""

import asyncio
import time

import pytest

from world import kinds


async def started(hf, count=2, spectators=(), **config):
    players = await hf.players(count)
    room = await hf.room(*players, spectators=spectators, **{"frameRate": 20, **config})
    await players[0].do("startFrameSync")
    for client in players:
        await client.event("frameSyncStarted")
    return (room, *players)


def inputs_of(client):
    return [(n, i) for n in sorted(client.frames) for i in client.frames[n]["inputs"]]


async def test_who_may_start_and_stop(hf):
    '"Owner starts and stops (22). Second start: 26. Stop without start: 25."'
    a, b = await hf.players(2)
    await hf.room(a, b)
    await b.refused(22, "startFrameSync")
    await b.refused(22, "stopFrameSync")
    await a.refused(25, "stopFrameSync")
    await a.do("startFrameSync")
    await a.refused(26, "startFrameSync")
    await b.refused(22, "startFrameSync")
    await b.refused(22, "stopFrameSync")
    await a.do("stopFrameSync")
    await a.refused(25, "stopFrameSync")
    assert kinds([await b.event(), await b.event()]) == ["frameSyncStarted", "frameSyncStopped"]
    await b.nothing()


async def test_frame_sync_started(hf):
    '''"`frameSyncStarted`: for all the same `roomInfo`, `frameSyncId` (+1 with each start in the room, from 1), `seed`
    (drawn at random), `serverTime`; before frame 1."'''
    a, b = await hf.players(2)
    room = await hf.room(a, b, customProperties="map 3")
    seeds = []
    for turn in (1, 2, 3):
        await a.do("startFrameSync")
        one, two = await a.event("frameSyncStarted"), await b.event("frameSyncStarted")
        assert one.body == two.body and one.seq == two.seq
        info = one["roomInfo"]
        assert info["id"] == room.id and [p["id"] for p in info["players"]] == [a.player, b.player]
        assert info["customProperties"] == "map 3"
        assert one["frameSyncId"] == turn and one["frameId"] == 0 and one["frameRate"] == 15
        assert abs(one["serverTime"] / 1000 - time.time()) < 30
        seeds.append(one["seed"])
        await b.frame(1)
        await a.do("stopFrameSync")
        await a.event("frameSyncStopped")
        await b.event("frameSyncStopped")
    assert len(set(seeds)) > 1


async def test_starts_in_other_rooms_do_not_count(hf):
    '"`frameSyncId` (+1 with each start in the room, from 1)"'
    for _ in range(2):
        a = await hf.player()
        await hf.room(a)
        await a.do("startFrameSync")
        assert (await a.event("frameSyncStarted"))["frameSyncId"] == 1


async def test_frames_at_the_rate(hf):
    '"A frame is sealed every 1/`frameRate` s … on absolute deadlines"; Frame.id "from 1, +1 each, empty ones included"'
    room, a, b = await started(hf, frameRate=30)
    await a.frame(1)
    begun = time.monotonic()
    await a.frame(61, timeout=10)
    took = time.monotonic() - begun
    assert sorted(a.frames)[:61] == list(range(1, 62))
    assert 1.8 < took < 3.0, f"60 frames at 30 a second took {took} s"
    assert all(f["inputs"] == [] and f["changes"] == [] for n, f in a.frames.items() if n > 1)


async def test_the_default_rate(hf):
    '"(default rate 15)"'
    room, a = await started(hf, count=1, frameRate=0)
    await a.frame(1)
    begun = time.monotonic()
    await a.frame(16)
    assert 0.8 < time.monotonic() - begun < 1.8


async def test_inputs(hf):
    '''"Inputs stand in the order of arrival, with the server's stamp of player and time"; FrameInput.id "the id that
    its sender gave it"'''
    room, a, b = await started(hf)
    now = time.time() * 1000
    first = a.post("sendFrameInput", {"data": "left"})
    second = a.post("sendFrameInput", {"data": ""})
    third = a.post("sendFrameInput", {"dataBytes": bytes(range(256))})
    fourth = a.post("sendFrameInput", {"dataBytes": b""})
    await b.input_frame(lambda i: i["id"] == fourth)
    got = [i for _, i in inputs_of(b)]
    assert [i["id"] for i in got] == [first, second, third, fourth]
    assert all(i["playerId"] == a.player and abs(i["serverTime"] - now) < 30_000 for i in got)
    times = [i["serverTime"] for i in got]
    assert times == sorted(times)
    assert got[0]["data"] == "left" and got[1]["data"] == ""
    assert got[2]["dataBytes"] == bytes(range(256)) and got[3]["dataBytes"] == b""
    assert not a.replies, "no reply on success"


async def test_inputs_of_several(hf):
    '"Every member gets the same bytes"; "never twice"'
    room, a, b, c = await started(hf, count=3, frameRate=30)
    for n in range(20):
        for client in (a, b, c):
            client.post("sendFrameInput", {"data": f"{client.player} {n}"})
        await a.frame(a.last_frame + 1 if a.last_frame else 1)
    for client in (a, b, c):
        await client.input_frame(lambda i: i["data"] == f"{c.player} 19")
        await client.input_frame(lambda i: i["data"] == f"{a.player} 19")
        await client.input_frame(lambda i: i["data"] == f"{b.player} 19")
    for client in (a, b, c):
        mine = [i["data"] for _, i in inputs_of(a) if i["playerId"] == client.player]
        assert mine == [f"{client.player} {n}" for n in range(20)]
    assert inputs_of(a) == inputs_of(b) == inputs_of(c)


async def test_input_size(hf):
    '"Over 1024 bytes: 28. Empty is allowed."'
    room, a, b = await started(hf)
    await a.refused(28, "sendFrameInput", {"data": "x" * 1025})
    await a.refused(28, "sendFrameInput", {"dataBytes": b"x" * 1025})
    await a.refused(28, "sendFrameInput", {"data": "é" * 512 + "x"})
    a.post("sendFrameInput", {"data": "é" * 512})
    last = a.post("sendFrameInput", {"dataBytes": b"\xff" * 1024})
    await b.input_frame(lambda i: i["id"] == last)
    assert len(inputs_of(b)) == 2 and not a.replies


async def test_five_a_frame(hf):
    '"At most 5 by one player in a frame …: the next gets 29, the earlier ones stay."'
    room, a, b = await started(hf, frameRate=1)
    await a.frame(1)
    ids = a.post_many([("sendFrameInput", {"data": str(n)}) for n in range(7)])
    other = b.post("sendFrameInput", {"data": "mine"})
    for number in ids[5:]:
        reply = await a.reply(number)
        assert reply.kind == "error" and reply["code"] == 29
    await a.frame(3)
    got = inputs_of(a)
    assert [i["id"] for _, i in got if i["playerId"] == a.player] == ids[:5]
    assert [i["id"] for _, i in got if i["playerId"] == b.player] == [other], "one's inputs never cost another"
    again = a.post("sendFrameInput", {"data": "next frame"})
    await a.input_frame(lambda i: i["id"] == again)


async def test_too_large_goes_before_too_many(hf):
    'errors.md: "… 28, 29, 33, 19 …"; 25 before 28'
    a = await hf.player()
    await hf.room(a, frameRate=1)
    await a.refused(25, "sendFrameInput", {"data": "x" * 1025})
    await a.do("startFrameSync")
    await a.frame(1)
    ids = a.post_many(
        [("sendFrameInput", {"data": str(n)}) for n in range(5)]
        + [("sendFrameInput", {"data": "x" * 1025}), ("sendFrameInput", {"data": "x"})]
    )
    assert (await a.reply(ids[5]))["code"] == 28
    assert (await a.reply(ids[6]))["code"] == 29


async def test_calls_name_the_frame_sync(hf):
    '"`frame_sync_id` 0 in a call: whichever runs; another than the running one: 25."'
    room, a, b = await started(hf, frameRate=30)
    await a.frame(2)
    for wrong in (2, 4_294_967_295):
        await a.refused(25, "sendFrameInput", {"data": "x", "frameSyncId": wrong})
        await a.refused(25, "getFrames", {"first": 1, "last": 1, "frameSyncId": wrong})
        await a.refused(25, "reportFrameHash", {"frameId": 1, "hash": b"x", "frameSyncId": wrong})
        await a.refused(25, "putSnapshot", {"frameId": 1, "state": b"x", "frameSyncId": wrong})
        await asyncio.sleep(1.1)
    await a.do("getFrames", {"first": 1, "last": 1, "frameSyncId": 1})
    await a.do("putSnapshot", {"frameId": 1, "state": b"x", "frameSyncId": 1})
    a.post("sendFrameInput", {"data": "good", "frameSyncId": 1})
    a.post("reportFrameHash", {"frameId": 1, "hash": b"x", "frameSyncId": 1})
    await b.input_frame(lambda i: i["data"] == "good")
    assert not a.replies


async def test_no_frame_sync(hf):
    '"`getFrames`: no frame sync: 25"; hashes, snapshots and inputs likewise'
    a = await hf.player()
    await hf.room(a)
    for _ in range(2):
        await a.refused(25, "sendFrameInput", {"data": "x"})
        await a.refused(25, "getFrames", {"first": 1, "last": 1})
        await a.refused(25, "reportFrameHash", {"frameId": 1, "hash": b"x"})
        await a.refused(25, "putSnapshot", {"frameId": 1, "state": b"x"})
        await a.do("startFrameSync")
        await a.frame(2)
        await a.do("stopFrameSync")
        await asyncio.sleep(1.0)


async def test_changes(hf):
    '''SeatChange.kind "0 entered, 1 left, 2 offline, 3 online, 4 kicked"; "`changes` lists the seats' changes since
    the frame before"'''
    room, a, b, c = await started(hf, count=3, frameRate=30, allowLateJoin=True)
    await a.frame(1)
    d = await hf.player()
    joined = await d.do("joinRoom", {"roomId": room.id})
    assert joined["frameSync"]["frameSyncId"] == 1
    await b.do("leaveRoom")
    await a.do("kickRoomPlayer", {"playerId": c.player})

    def changes(client):
        return [(x["playerId"], x["kind"]) for n in sorted(client.frames) for x in client.frames[n]["changes"]]

    await a.until(lambda: (c.player, 4) in changes(a), what="the kick in a frame")
    assert changes(a) == [(d.player, 0), (b.player, 1), (c.player, 4)]
    await d.until(lambda: (c.player, 4) in changes(d), what="the kick in a frame")
    assert changes(d) == changes(a)


@pytest.mark.profile("offline")
async def test_changes_offline_and_online(hf):
    'SeatChange.kind "2 offline, 3 online"'
    room, a, b = await started(hf, frameRate=30)
    await a.frame(1)
    b.drop()
    await a.event("playerOffline")
    await a.frame(a.last_frame + 2)
    await b.resume()
    await a.event("playerOnline")
    await a.frame(a.last_frame + 2)
    changes = [(x["playerId"], x["kind"]) for n in sorted(a.frames) for x in a.frames[n]["changes"]]
    assert changes == [(b.player, 2), (b.player, 3)]
    await b.frame(a.last_frame)
    assert b.frames == {**b.frames, **{n: f for n, f in a.frames.items() if n in b.frames}}


async def test_changes_and_events_agree(hf):
    '"falls between the same two frames for all": a seat\'s change stands in the first frame after its event'
    room, a, b, c = await started(hf, count=3, frameRate=20)
    await a.frame(2)
    await b.do("leaveRoom")
    await a.until(lambda: any(f["changes"] for f in a.frames.values()), what="a change in a frame")
    kinds_seen = [(m.kind, m["id"] if m.kind == "frame" else None) for m in a.stream]
    at = next(i for i, (k, _) in enumerate(kinds_seen) if k == "playerLeft")
    following = next(n for k, n in kinds_seen[at:] if k == "frame")
    assert a.frames[following]["changes"] == [{"playerId": b.player, "kind": 1}]


async def test_stopping(hf):
    '"`frameSyncStopped` is the last event of its frame sync; the room is idle again."; "Stop reasons: 0 owner"'
    room, a, b = await started(hf, frameRate=30)
    await b.frame(3)
    await a.do("stopFrameSync")
    for client in (a, b):
        stopped = await client.event("frameSyncStopped")
        assert (stopped["roomId"], stopped["frameSyncId"], stopped["reason"]) == (room.id, 1, 0)
    await asyncio.sleep(0.2)
    await b.fence()
    assert b.stream[-1].kind == "frameSyncStopped"
    c = await hf.player()
    joined = await c.do("joinRoom", {"roomId": room.id})
    assert joined["room"]["status"] == 0 and joined.get("frameSync") is None and joined.get("snapshot") is None
    await a.do("startFrameSync")
    for client in (a, b, c):
        if client is not c:
            await client.event("playerEntered")
        assert (await client.event("frameSyncStarted"))["frameSyncId"] == 2
        await client.frame(2)
        assert min(client.frames) == 1


@pytest.mark.profile("short")
async def test_the_time_limit(hf):
    '"Stop reasons: … 1 time limit (30 minutes)" (here: 1.2 s)'
    room, a, b = await started(hf, frameRate=20)
    begun = time.monotonic()
    for client in (a, b):
        assert (await client.event("frameSyncStopped"))["reason"] == 1
    assert time.monotonic() - begun > 0.9
    await a.refused(25, "stopFrameSync")
    await a.do("startFrameSync")
    assert (await b.event("frameSyncStarted"))["frameSyncId"] == 2


@pytest.mark.profile("quick")
async def test_nobody_online(hf):
    '"10 s after the last online player went offline, frame sync stops (reason 2), spectators or not" (here: 0.9 s)'
    s = await hf.player()
    a = await hf.player()
    await hf.room(a, spectators=[s], frameRate=20)
    await a.do("startFrameSync")
    await s.event("frameSyncStarted")
    a.drop()
    await s.event("playerOffline")
    begun = time.monotonic()
    stopped = await s.event("frameSyncStopped")
    assert stopped["reason"] == 2 and time.monotonic() - begun > 0.6
    reply = await a.resume()
    assert reply["resumed"] and reply.get("frameSync") is None
    assert (await s.event("playerOnline"))["playerId"] == a.player
    assert (await a.event("frameSyncStarted"))["frameSyncId"] == 1
    assert (await a.event("frameSyncStopped"))["reason"] == 2


@pytest.mark.profile("quick")
async def test_who_returns_before_keeps_it_running(hf):
    '"who returns before keeps it running"'
    a, s = await hf.players(2)
    await hf.room(a, spectators=[s], frameRate=20)
    await a.do("startFrameSync")
    await s.event("frameSyncStarted")
    for _ in range(2):
        a.drop()
        await s.event("playerOffline")
        await asyncio.sleep(0.2)
        assert (await a.resume())["frameSync"]["frameSyncId"] == 1
        await s.event("playerOnline")
    await asyncio.sleep(1.0)
    await s.nothing()
    assert a.sync == 1
    await a.frame(a.last_frame + 2)


async def test_a_room_that_runs_says_so(hf):
    'RoomInfo.status "0 idle, 1 frame sync runs"'
    room, a, b = await started(hf, allowLateJoin=True)
    c = await hf.player()
    joined = await c.do("joinRoom", {"roomId": room.id})
    assert joined["room"]["status"] == 1


async def test_late_join_not_allowed(hf):
    '"A running room without `allowLateJoin`: 26."; after the stop it may be joined'
    room, a, b = await started(hf)
    c = await hf.player()
    await c.refused(26, "joinRoom", {"roomId": room.id})
    await a.do("stopFrameSync")
    await c.do("joinRoom", {"roomId": room.id})


async def test_running_goes_before_full(hf):
    'errors.md: "26/25, 30, 23"'
    room, a, b = await started(hf, maxPlayerCount=2)
    c = await hf.player()
    await c.refused(26, "joinRoom", {"roomId": room.id})


async def test_several_rooms_run_apart(hf):
    '"Each room has one ordered stream": rooms of other rates beside each other'
    rooms = [await started(hf, count=1, frameRate=rate) for rate in (1, 15, 60)]
    slow, middle, fast = (r[1] for r in rooms)
    await asyncio.gather(slow.frame(2), middle.frame(15), fast.frame(60))
    assert len(fast.frames) > len(middle.frames) > len(slow.frames)
