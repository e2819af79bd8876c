"""rooms.md: what is no longer kept ("over it the oldest go"), on a server that keeps little."""

import asyncio
import re

import pytest

from test_framesync import started

pytestmark = [pytest.mark.profile("small"), pytest.mark.slow(40)]


async def long_sync(hf, **config):
    """A running frame sync of which the first frames are gone; returns also the oldest that is kept."""
    room, a, b = await started(hf, frameRate=60, **config)
    while (a.last_frame or 0) < 150:
        for client in (a, b):
            client.post_many([("sendFrameInput", {"dataBytes": b"\x11" * 1000})] * 2)
        await a.frame((a.last_frame or 0) + 2)
    reply = await a.refused(33, "getFrames", {"first": 1, "last": 5})
    numbers = [int(n) for n in re.findall(r"\d+", reply["message"])]
    assert numbers, f'errors.md 33: "the message names the oldest frame kept": {reply}'
    return room, a, b, numbers


async def test_get_frames_before_the_oldest(hf):
    '"before the oldest kept: 33"; errors.md: "the message names the oldest frame kept"'
    room, a, b, numbers = await long_sync(hf)
    reply = await a.do("getFrames", {"first": a.last_frame - 2, "last": a.last_frame})
    assert len(reply["frames"]) == 3
    assert 1 < reply["firstKept"] <= a.last_frame - 2


async def test_a_late_join_that_needs_them(hf):
    '"A late join whose needed frames are no longer kept: 33."; with a new enough snapshot it passes'
    room, a, b, numbers = await long_sync(hf, allowLateJoin=True, maxSpectatorCount=5)
    c, d = await hf.players(2)
    await c.refused(33, "joinRoom", {"roomId": room.id})
    await d.refused(33, "joinRoom", {"roomId": room.id, "asSpectator": True})
    at = a.last_frame
    await a.do("putSnapshot", {"frameId": at, "state": b"state"})
    joined = await c.do("joinRoom", {"roomId": room.id})
    assert joined["snapshot"]["frameId"] == at
    await c.frame(joined["frameSync"]["frameId"] + 3)
    assert min(c.frames) == at + 1
    assert (await a.event("playerEntered"))["player"]["id"] == c.player, "who was refused was told to nobody"


async def test_a_resume_that_needs_them(hf):
    '"If some are no longer kept, the first `frames` begins with the oldest kept (`firstKept`)."'
    room, a, b = await started(hf, frameRate=60)
    await b.frame(3)
    b.drop()
    have = b.last_frame
    while (a.last_frame or 0) < 150:
        a.post_many([("sendFrameInput", {"dataBytes": b"\x11" * 1000})] * 4)
        await a.frame((a.last_frame or 0) + 2)
    await a.refused(33, "getFrames", {"first": 1, "last": 5})
    reply = await b.resume()
    assert reply["resumed"]
    await b.frame(reply["frameSync"]["frameId"] + 3)
    batch = next(m for m in b.stream if m.kind == "frames")
    first = batch["frames"][0]["id"]
    assert batch["firstKept"] == first > have + 1
    assert all(n in b.frames for n in range(first, b.last_frame + 1))


async def test_events_over_their_bytes(hf):
    '"Kept per room: 90 s of events (8 MiB at most) …; over it the oldest go"; then `roomRestarted`'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    b.drop()
    for n in range(12):
        await a.do("sendCustomMessage", {"msg": str(n) * 1000})
    await asyncio.sleep(0)
    reply = await b.resume()
    assert reply["resumed"] and reply["roomRestarted"] and reply["room"]["id"] == room.id
    await a.do("sendCustomMessage", {"msg": "live"})
    assert (await b.event())["msg"] == "live"
    b.drop()
    await a.do("sendCustomMessage", {"msg": "short"})
    reply = await b.resume()
    assert not reply["roomRestarted"]
    assert (await b.event())["msg"] == "short"
