"""rooms.md, "Slow or dead readers"."""

import asyncio

import pytest

from test_framesync import started


async def flood(clients, seconds, rate):
    """Every client sends the largest inputs for some time; nobody of them looks at what comes."""
    for client in clients:
        client.may_answer_unasked = True
    for _ in range(int(seconds * rate)):
        for client in clients:
            client.post_many([("sendFrameInput", {"dataBytes": b"\x55" * 1024})] * 4)
            client.pending.clear()
        await asyncio.sleep(1 / rate)


def deaf(client):
    """Reads and throws away."""
    client.raw.discard = True
    client.checks = False


async def slow_reader(hf, watchers=()):
    slow, *noisy = await hf.players(5)
    await slow.open(receive_buffer=65536)
    await slow.connect()
    room = await hf.room(*noisy, slow, *watchers, frameRate=60)
    await noisy[0].do("startFrameSync")
    await slow.frame(2)
    return room, slow, noisy


@pytest.mark.slow(90)
async def test_a_reader_that_stops(hf):
    '''"A connection's live send queue is bounded (1 MiB). Over it: the queue is dropped, `disconnected` 37, and the
    link counts as dropped, so the client resumes."; "No reader ever delays a tick or another member."'''
    watcher = await hf.player()
    room, slow, noisy = await slow_reader(hf, [watcher])
    for client in noisy:
        deaf(client)
    before = watcher.last_frame or 0
    for seconds in (2, 3, 4, 5, 6, 7, 8):
        # Reading goes on soon after the queue has run over, before the server gives the link up.
        slow.raw.stop_reading()
        await flood(noisy, seconds, 60)
        slow.raw.go_on_reading()
        now = watcher.last_frame
        await slow.until(lambda n=now: slow.farewell or slow.raw.ended or slow.last_frame >= n, 10, "the present")
        if slow.farewell or slow.raw.ended:
            break
    assert watcher.last_frame > before + 10, "no reader delays another member"
    await slow.goodbye(37, timeout=10)
    reply = await slow.resume()
    assert reply["resumed"] and reply["room"]["id"] == room.id
    await slow.frame(reply["frameSync"]["frameId"] + 3, timeout=20)
    assert sorted(slow.frames) == list(range(1, slow.last_frame + 1)), "everything missed, once, in order"
    await watcher.frame(slow.last_frame)
    assert all(watcher.frames[n] == f for n, f in slow.frames.items() if n in watcher.frames)


@pytest.mark.slow(60)
async def test_replies_do_not_count(hf):
    '"Replies and what is read from the log (replay, catch-up) follow the socket\'s pace and do not count."'
    room, slow, noisy = await slow_reader(hf)
    for client in noisy:
        deaf(client)
    await flood(noisy, 1.5, 30)
    await slow.fence()
    last = slow.last_frame
    for client in noisy:
        client.raw.end()
    slow.raw.stop_reading()
    ids = []
    for _ in range(25):
        ids.append(slow.post("getFrames", {"first": 1, "last": last}))
        await asyncio.sleep(0.22)
    slow.raw.go_on_reading()
    for number in ids:
        reply = await slow.reply(number, timeout=20)
        assert reply.kind == "frames" or reply["code"] == 3, reply
    assert slow.farewell is None and not slow.raw.ended
    await slow.fence()


@pytest.mark.slow(60)
async def test_catch_up_follows_the_sockets_pace(hf):
    '"what is read from the log (replay, catch-up) follow the socket\'s pace and do not count"'
    room, *noisy = await started(hf, count=4, frameRate=30, allowLateJoin=True)
    for client in noisy[1:]:
        deaf(client)
    await flood(noisy, 5, 30)
    a = noisy[0]
    late = hf.client()
    await late.open(receive_buffer=4096)
    await late.connect()
    late.post("joinRoom", {"roomId": room.id})
    late.raw.stop_reading()
    await asyncio.sleep(2)
    for _ in range(40):
        late.raw.go_on_reading()
        await asyncio.sleep(0.005)
        late.raw.stop_reading()
        await asyncio.sleep(0.02)
    late.raw.go_on_reading()
    await a.fence()
    await late.frame(a.last_frame, timeout=30)
    assert sorted(late.frames) == list(range(1, late.last_frame + 1)) and late.farewell is None
    assert sum(len(i["dataBytes"]) for f in late.frames.values() for i in f["inputs"]) > 1_200_000


async def test_a_dead_reader_delays_nobody(hf):
    '"No reader ever delays a tick or another member."'
    room, a, b, c = await started(hf, count=3, frameRate=30)
    c.leave_link()
    c.raw.stop_reading()
    for _ in range(30):
        a.post("sendFrameInput", {"data": "x"})
        await b.frame((b.last_frame or 0) + 1, timeout=2)
