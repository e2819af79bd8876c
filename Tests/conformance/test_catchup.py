"""rooms.md, "Frame sync": getFrames, late joiners, resumes during frame sync, snapshots, hashes."""

import asyncio

import pytest

from test_framesync import inputs_of, started
from world import kinds


async def test_get_frames(hf):
    '"`getFrames`: … `first` 0 or above `last`: 11; frames not sealed yet are left out"; "first, last: both inclusive"'
    room, a, b = await started(hf, frameRate=60)
    a.post("sendFrameInput", {"data": "x"})
    await a.frame(20)
    await a.refused(11, "getFrames", {"first": 0, "last": 5})
    await a.refused(11, "getFrames", {"first": 6, "last": 5})
    await a.refused(11, "getFrames", {"first": 0, "last": 0})
    reply = await a.do("getFrames", {"first": 3, "last": 7})
    assert [f["id"] for f in reply["frames"]] == [3, 4, 5, 6, 7] and not reply["partial"]
    assert all(f == a.frames[f["id"]] for f in reply["frames"])
    reply = await a.do("getFrames", {"first": 4, "last": 4})
    assert [f["id"] for f in reply["frames"]] == [4]
    reply = await a.do("getFrames", {"first": 15, "last": 4_000_000})
    ids = [f["id"] for f in reply["frames"]]
    assert ids[0] == 15 and len(ids) >= 6
    reply = await a.do("getFrames", {"first": 3_000_000, "last": 4_000_000})
    assert reply.kind == "frames" and reply["frames"] == []


@pytest.mark.slow(40)
async def test_get_frames_six_hundred_at_most(hf):
    '''"at most 600 frames and 256 KiB of inputs a reply (…; `partial` says that more follow)"; hash reports "older
    than 600 frames: ignored"'''
    room, a, b = await started(hf, frameRate=60, allowLateJoin=True)
    await a.frame(1)
    await a.frame(640, timeout=25)
    reply = await a.do("getFrames", {"first": 1, "last": 640})
    assert [f["id"] for f in reply["frames"]] == list(range(1, 601)) and reply["partial"]
    reply = await a.do("getFrames", {"first": 1, "last": 600})
    assert len(reply["frames"]) == 600 and not reply["partial"]
    reply = await a.do("getFrames", {"first": 601, "last": 640})
    assert len(reply["frames"]) == 40 and not reply["partial"]
    a.post("reportFrameHash", {"frameId": 5, "hash": b"a"})
    b.post("reportFrameHash", {"frameId": 5, "hash": b"b"})
    assert all(not e for e in (await room.told()).values())
    assert not a.replies and not b.replies
    c = await hf.player()
    joined = await c.do("joinRoom", {"roomId": room.id})
    assert joined["frameSync"]["frameId"] >= 640
    await c.frame(joined["frameSync"]["frameId"] + 5)
    assert min(c.frames) == 1
    batches = [m for m in c.stream if m.kind == "frames"]
    assert all(len(m["frames"]) <= 600 for m in batches), "same bounds"


@pytest.mark.slow(30)
async def test_get_frames_of_many_inputs(hf):
    '"256 KiB of inputs a reply"'
    room, *players = await started(hf, count=4, frameRate=10)
    a = players[0]
    for turn in range(20):
        for client in players:
            client.post_many([("sendFrameInput", {"data": "x" * 1024})] * 4)
        await a.frame((a.last_frame or 0) + 1)
    await a.frame(a.last_frame + 1)
    total = a.last_frame

    def weight(frames):
        return sum(len(i["data"]) for f in frames for i in f["inputs"])

    assert weight(a.frames.values()) > 280_000
    first, seen = 1, []
    while first <= total:
        reply = await a.do("getFrames", {"first": first, "last": total})
        assert weight(reply["frames"]) <= 256 * 1024 and reply["frames"][0]["id"] == first
        seen += [f["id"] for f in reply["frames"]]
        first = seen[-1] + 1
        assert reply["partial"] == (first <= total)
    assert seen == list(range(1, total + 1))


async def test_a_late_joiner(hf):
    '"A late joiner … get what they missed as `frames` messages …, then live frames, no gap or repeat at the seam"'
    room, a, b = await started(hf, frameRate=30, allowLateJoin=True)
    for n in range(5):
        a.post("sendFrameInput", {"data": str(n)})
        await a.frame((a.last_frame or 0) + 1)
    await a.frame(a.last_frame + 2)
    c = await hf.player()
    joined = await c.do("joinRoom", {"roomId": room.id})
    info = joined["frameSync"]
    assert info["frameSyncId"] == 1 and info["frameId"] >= a.last_frame - 1 and info["frameRate"] == 30
    assert [p["id"] for p in info["roomInfo"]["players"]] == [a.player, b.player], (
        "room_info: the room at the start of this frame sync, for late joiners too"
    )
    assert [p["id"] for p in joined["room"]["players"]] == [a.player, b.player, c.player]
    await c.frame(info["frameId"] + 5)
    assert sorted(c.frames) == list(range(1, c.last_frame + 1))
    await a.frame(c.last_frame)
    assert all(c.frames[n] == a.frames[n] for n in c.frames)
    for message in c.stream:
        if message.kind == "frames":
            assert message["frameSyncId"] in (0, 1)
            if message["frames"][-1]["id"] <= info["frameId"] - 2:
                assert message.seq == 0, '"none when that is not after the `roomSeq` of the `roomJoined`"'
    a.post("sendFrameInput", {"data": "live"})
    await c.input_frame(lambda i: i["data"] == "live")


async def test_seed_of_a_late_joiner(hf):
    'RoomJoined.frame_sync "present when frame sync runs (late join, spectating)": the same one as for all'
    a, s, c = await hf.players(3)
    room = await hf.room(a, maxSpectatorCount=5, frameRate=20, allowLateJoin=True)
    await a.do("startFrameSync")
    started_event = await a.event("frameSyncStarted")
    await a.frame(3)
    for client, how in ((s, {"asSpectator": True}), (c, {})):
        joined = await client.do("joinRoom", {"roomId": room.id, **how})
        info = dict(joined["frameSync"])
        for name in ("seed", "frameSyncId", "serverTime", "frameRate", "roomInfo"):
            assert info[name] == started_event[name], name
    await s.frame(6)
    await c.frame(6)
    assert min(s.frames) == min(c.frames) == 1


async def test_a_resume_in_the_middle(hf):
    '"drop in the middle of frame sync": frames are resumed by `frameId`'
    room, a, b = await started(hf, frameRate=30)
    await b.frame(3)
    b.drop()
    have = b.last_frame
    a.post("sendFrameInput", {"data": "while away"})
    await a.do("sendCustomMessage", {"msg": "between"})
    await a.frame(a.last_frame + 10)
    reply = await b.resume()
    assert reply["resumed"] and not reply["roomRestarted"] and reply["frameSync"]["frameSyncId"] == 1
    assert reply["frameSync"]["frameId"] >= have + 5
    await b.frame(reply["frameSync"]["frameId"] + 3)
    assert sorted(b.frames) == list(range(1, b.last_frame + 1))
    assert [i["data"] for _, i in inputs_of(b)] == ["while away"]
    assert (await b.event())["msg"] == "between"
    await a.frame(b.last_frame)
    assert all(a.frames[n] == f for n, f in b.frames.items() if n in a.frames)
    line = [("event", None) if m.kind == "customMessageReceived" else ("frame", m.seq) for m in b.stream]
    assert ("event", None) in line, "events come at their place among the frames"


async def test_frames_by_frame_id_alone(hf):
    '"frames by `frameId` when `roomId` is the player\'s room and `frameSyncId` the running one"'
    room, a, b = await started(hf, frameRate=30)
    await b.frame(6)
    b.drop()
    await a.frame(a.last_frame + 3)
    b.frames = {n: f for n, f in b.frames.items() if n <= 4}
    reply = await b.resume(roomSeq=0, frameId=4)
    assert reply["roomRestarted"] and reply.get("snapshot") is None
    await b.frame(reply["frameSync"]["frameId"] + 3)
    assert sorted(b.frames) == list(range(1, b.last_frame + 1))


async def test_frames_by_room_seq_alone(hf):
    '"… else by a usable `roomSeq`"'
    room, a, b = await started(hf, frameRate=30)
    await b.frame(6)
    b.drop()
    have = b.last_frame
    await a.frame(a.last_frame + 3)
    b.frames = {}
    reply = await b.resume(frameSyncId=0, frameId=0)
    assert not reply["roomRestarted"] and reply.get("snapshot") is None
    await b.frame(reply["frameSync"]["frameId"] + 3)
    assert min(b.frames) == have + 1


async def test_frames_from_the_first(hf):
    '"… else those after `connected.snapshot`, or from 1 without one"'
    room, a, b = await started(hf, frameRate=30)
    await b.frame(6)
    b.drop()
    reply = await b.resume(roomSeq=0, frameSyncId=0, frameId=0)
    assert reply["roomRestarted"] and reply.get("snapshot") is None
    await b.frame(reply["frameSync"]["frameId"] + 3)
    assert sorted(b.frames) == list(range(1, b.last_frame + 1))


async def test_frames_after_the_snapshot(hf):
    'Connected.snapshot "newest one, when the client gave no usable frame position"'
    room, a, b = await started(hf, frameRate=30)
    await b.frame(8)
    await a.do("putSnapshot", {"frameId": 5, "state": b"state at 5"})
    b.drop()
    reply = await b.resume(roomSeq=0, frameSyncId=0, frameId=0)
    assert reply["snapshot"] == {"frameId": 5, "state": b"state at 5", "playerId": a.player}
    await b.frame(reply["frameSync"]["frameId"] + 2)
    assert min(b.frames) == 6
    b.drop()
    reply = await b.resume()
    assert reply.get("snapshot") is None


async def test_a_frame_position_of_another_sync(hf):
    '"`frameSyncId` the running one": a position of an older frame sync does not count, its end is told'
    room, a, b = await started(hf, frameRate=30)
    await b.frame(3)
    b.drop()
    await a.do("stopFrameSync")
    await a.do("startFrameSync")
    await a.until(lambda: a.sync == 2 and a.last_frame >= 4, what="frames of the second frame sync")
    reply = await b.resume()
    assert reply["frameSync"]["frameSyncId"] == 2 and not reply["roomRestarted"]
    await b.event("frameSyncStopped")
    assert (await b.event("frameSyncStarted"))["frameSyncId"] == 2
    await b.frame(reply["frameSync"]["frameId"] + 2)
    assert b.sync == 2 and min(b.frames) == 1


async def test_a_frame_sync_missed_as_a_whole(hf):
    '"all frames of the running frame sync, and for 90 s of a stopped one": what was missed comes in order'
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=30)
    b.drop()
    await a.do("startFrameSync")
    await a.frame(2)
    a.post("sendFrameInput", {"data": "x"})
    await a.input_frame(lambda i: i["data"] == "x")
    await a.do("stopFrameSync")
    await a.event("frameSyncStarted")
    await a.event("frameSyncStopped")
    reply = await b.resume()
    assert reply.get("frameSync") is None and not reply["roomRestarted"]
    assert kinds([await b.event(), await b.event()]) == ["frameSyncStarted", "frameSyncStopped"]
    assert b.frames == a.frames


@pytest.mark.slow(30)
async def test_many_drops(hf):
    '"no gap or repeat at the seam"; own inputs once'
    room, a, b, c = await started(hf, count=3, frameRate=60)
    for turn in range(10):
        number = b.post("sendFrameInput", {"data": f"{turn}"})
        await b.input_frame(lambda i, n=number: i["id"] == n)
        await b.frame(b.last_frame + turn % 3)
        b.drop(reset=bool(turn % 2))
        if turn % 3 == 0:
            await a.frame((a.last_frame or 0) + 4)
        reply = await b.resume()
        assert reply["resumed"] and not reply["roomRestarted"]
    await b.frame((a.last_frame or 0) + 5)
    assert sorted(b.frames) == list(range(1, b.last_frame + 1))
    assert [i["data"] for _, i in inputs_of(b)] == [str(n) for n in range(10)]


async def test_snapshots(hf):
    '"Snapshots (64 KiB): the newest by frame id is kept; one not newer is `ok` and dropped; not sealed yet: 11"'
    room, a, b, c, d = await started(hf, count=4, frameRate=30, allowLateJoin=True)
    await a.frame(9)
    await a.refused(11, "putSnapshot", {"frameId": 1_000_000, "state": b"x"})
    await a.refused(11, "putSnapshot", {"frameId": 5, "state": b"x" * 65537})
    state = bytes(n % 251 for n in range(65536))
    await a.do("putSnapshot", {"frameId": 7, "state": state})
    await b.do("putSnapshot", {"frameId": 6, "state": b"older"})
    await c.do("putSnapshot", {"frameId": 7, "state": b"equal"})
    e = await hf.player()
    joined = await e.do("joinRoom", {"roomId": room.id})
    assert joined["snapshot"] == {"frameId": 7, "state": state, "playerId": a.player}
    await e.frame(joined["frameSync"]["frameId"] + 2)
    assert min(e.frames) == 8, 'RoomJoined.snapshot: "frames after it follow"'
    await d.do("putSnapshot", {"frameId": 8, "state": b"newer"})
    f = await hf.player()
    joined = await f.do("joinRoom", {"roomId": room.id})
    assert joined["snapshot"] == {"frameId": 8, "state": b"newer", "playerId": d.player}
    await f.frame(9)
    assert min(f.frames) == 9
    assert all(not e.kind.startswith("snap") for e in a.events)


async def test_no_snapshot_outlives_its_frame_sync(hf):
    '"None outlives its frame sync."'
    room, a, b = await started(hf, frameRate=30, allowLateJoin=True)
    await a.frame(3)
    await a.do("putSnapshot", {"frameId": 2, "state": b"x"})
    await a.do("stopFrameSync")
    await a.do("startFrameSync")
    await a.until(lambda: a.sync == 2 and (a.last_frame or 0) >= 3, what="frames of the second frame sync")
    c = await hf.player()
    joined = await c.do("joinRoom", {"roomId": room.id})
    assert joined.get("snapshot") is None
    await c.frame(joined["frameSync"]["frameId"] + 1)
    assert min(c.frames) == 1


async def test_an_empty_snapshot_and_frame_zero(hf):
    "putSnapshot: a frame id that is sealed; an empty state is within 64 KiB"
    room, a, b = await started(hf, frameRate=30, allowLateJoin=True)
    await a.frame(2)
    await a.do("putSnapshot", {"frameId": 1, "state": b""})


async def test_hashes_that_differ(hf):
    '"As soon as two differ, everyone gets `desyncDetected` with those reported by then, once a frame."'
    room, a, b, c = await started(hf, count=3, frameRate=30)
    await a.frame(4)
    for client in (a, b):
        client.post("reportFrameHash", {"frameId": 2, "hash": b"same"})
    assert all(not e for e in (await room.told()).values())
    c.post("reportFrameHash", {"frameId": 2, "hash": b"other"})
    wanted = {a.player: b"same", b.player: b"same", c.player: b"other"}
    for client in (a, b, c):
        event = await client.event("desyncDetected")
        assert event["frameId"] == 2 and {h["playerId"]: h["hash"] for h in event["hashes"]} == wanted
    a.post("reportFrameHash", {"frameId": 3, "hash": b"1"})
    await a.fence()
    await room.told()
    b.post("reportFrameHash", {"frameId": 3, "hash": b"2"})
    event = await c.event("desyncDetected")
    assert event["frameId"] == 3 and len(event["hashes"]) == 2
    c.post("reportFrameHash", {"frameId": 3, "hash": b"3"})
    told = await room.told()
    assert kinds(told[a]) == kinds(told[b]) == ["desyncDetected"] and not told[c], "once a frame"
    assert not a.replies and not b.replies and not c.replies, "no reply on success"


async def test_the_first_report_counts(hf):
    '"a player\'s first for a frame counts"'
    room, a, b = await started(hf, frameRate=30)
    await a.frame(3)
    a.post("reportFrameHash", {"frameId": 1, "hash": b"one"})
    a.post("reportFrameHash", {"frameId": 1, "hash": b"two"})
    await a.fence()
    await room.told()
    b.post("reportFrameHash", {"frameId": 1, "hash": b"one"})
    assert all(not e for e in (await room.told()).values())


async def test_hash_limits(hf):
    '"a frame not sealed yet: 11"; ReportFrameHash.hash "1...32 bytes"'
    room, a, b = await started(hf, frameRate=30)
    await a.frame(2)
    await a.refused(11, "reportFrameHash", {"frameId": 1, "hash": b""})
    await a.refused(11, "reportFrameHash", {"frameId": 1, "hash": b"x" * 33})
    await a.refused(11, "reportFrameHash", {"frameId": 1_000_000, "hash": b"x"})
    a.post("reportFrameHash", {"frameId": 1, "hash": b"x" * 32})
    b.post("reportFrameHash", {"frameId": 1, "hash": b"y" * 32})
    assert (await a.event("desyncDetected"))["frameId"] == 1
    assert not a.replies


async def test_a_join_among_frames(hf):
    '"events come at their place among them": who joins late sees later events after the right frames'
    room, a, b = await started(hf, frameRate=60, allowLateJoin=True)
    await a.frame(30)
    joiners = [hf.client() for _ in range(3)]
    await asyncio.gather(*(j.start() for j in joiners))
    a.post_many([("sendCustomMessage", {"msg": str(n)}) for n in range(5)])
    await asyncio.gather(*(j.do("joinRoom", {"roomId": room.id}) for j in joiners))
    a.post_many([("sendCustomMessage", {"msg": str(n)}) for n in range(5, 10)])
    last = a.last_frame + 10
    for client in (b, *joiners):
        await client.frame(last)
        await client.until(lambda: any(e.get("msg") == "9" for e in client.events), what="the last message")

    def order(client):
        out, frame = {}, 0
        for m in client.stream:
            if m.kind == "frame":
                frame = m["id"]
            elif m.kind == "frames":
                frame = m["frames"][-1]["id"]
            elif m.kind == "customMessageReceived":
                out[m["msg"]] = frame
        return out

    whole = order(b)
    for client in joiners:
        assert all(whole[msg] == frame for msg, frame in order(client).items()), (order(client), whole)
