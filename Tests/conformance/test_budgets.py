"""rooms.md, "Budgets": "Token buckets that hold one second's worth and start full, for each player"."""

import asyncio
import time


def split(replies):
    done = [r for r in replies if r.kind != "error"]
    over = [r for r in replies if r.kind == "error"]
    return done, over


async def burst(client, bodies):
    """All in one write; returns the replies and how long it took until the last came."""
    begun = time.monotonic()
    ids = client.post_many(bodies)
    replies = [await client.reply(n) for n in ids]
    return replies, time.monotonic() - begun


def check_over(over, rate):
    for reply in over:
        assert reply["code"] == 3, reply
        assert 1 <= reply["retryAfterMs"] <= 1000 / rate + 1, f"the exact time until one more is there: {reply}"


async def test_fifteen_a_second_shared(hf):
    '''"15/s shared by custom message, custom status, player and room properties"; "Over it: 3 with the exact
    `retryAfterMs`, and nothing happened."'''
    a, b = await hf.players(2)
    await hf.room(a, b)
    await asyncio.sleep(0.3)
    kinds = [
        ("sendCustomMessage", {"msg": "x"}),
        ("updatePlayerCustomStatus", {"status": 1}),
        ("updatePlayerCustomProperties", {"properties": "x"}),
        ("updateRoomProperties", {"name": "x"}),
    ]
    replies, took = await burst(a, kinds * 8)
    done, over = split(replies)
    assert 15 <= len(done) <= 16 + took * 15, f"{len(done)} in {took} s"
    assert all(r.kind == "ok" for r in replies[:15])
    check_over(over, 15)
    await asyncio.sleep(over[-1]["retryAfterMs"] / 1000 + 0.02)
    await a.do("sendCustomMessage", {"msg": "last"})
    got = []
    while not got or got[-1].get("msg") != "last":
        got.append(await b.event())
    assert len(got) == len(done) + 1, "what was refused did not happen"


async def test_it_fills_up_again(hf):
    '"hold one second\'s worth"'
    a = await hf.player()
    await hf.room(a)
    await asyncio.sleep(1.1)
    bodies = [("updatePlayerCustomStatus", {"status": n}) for n in range(25)]
    for _ in range(2):
        replies, took = await burst(a, bodies)
        done, over = split(replies)
        assert 15 <= len(done) <= 16 + took * 15
        await asyncio.sleep(1.05)


async def test_ten_a_second(hf):
    '"10/s for create, match, join, leave, list, transfer, kick, dismiss, start, stop"'
    a = await hf.player()
    config = hf.config()
    bodies = [
        ("createRoom", {"room": config}),
        ("transferRoomOwner", {"playerId": a.player}),
        ("startFrameSync", {}),
        ("stopFrameSync", {}),
        ("kickRoomPlayer", {"playerId": "nobody"}),
        ("getRoomList", {"roomType": "x"}),
        ("leaveRoom", {}),
        ("joinRoom", {"roomId": "nowhere"}),
    ]
    for kind, body in bodies:
        await a.request(kind, body)
    begun = time.monotonic()
    replies, took = await burst(a, [("getRoomList", {"roomType": "x"})] * 14)
    done, over = split(replies)
    assert 2 <= len(done) <= 6 + 10 * (took + 0.5), (len(done), time.monotonic() - begun)
    assert over
    check_over(over, 10)


async def test_budgets_are_apart(hf):
    '"15/s shared by …; 10/s for …; getFrames 5/s": one being empty does not touch another'
    a = await hf.player()
    await hf.room(a, frameRate=30)
    await a.do("startFrameSync")
    await a.frame(2)
    replies, _ = await burst(a, [("getRoomList", {"roomType": "x"})] * 14)
    assert split(replies)[1]
    replies, _ = await burst(a, [("updatePlayerCustomStatus", {"status": 1})] * 15)
    assert not split(replies)[1]
    replies, took = await burst(a, [("getFrames", {"first": 1, "last": 1})] * 9)
    done, over = split(replies)
    assert 5 <= len(done) <= 6 + took * 5
    check_over(over, 5)
    await a.do("cancelMatch")
    await a.do("putSnapshot", {"frameId": 1, "state": b"x"})


async def test_one_snapshot_a_second(hf):
    '"putSnapshot 1/s"'
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=30)
    await a.do("startFrameSync")
    await a.frame(5)
    await a.do("putSnapshot", {"frameId": 1, "state": b"x"})
    reply = await a.refused(3, "putSnapshot", {"frameId": 2, "state": b"x"})
    assert 1 <= reply["retryAfterMs"] <= 1001
    await b.do("putSnapshot", {"frameId": 3, "state": b"x"})
    await asyncio.sleep(reply["retryAfterMs"] / 1000 + 0.02)
    await a.do("putSnapshot", {"frameId": 4, "state": b"x"})


async def test_hash_reports(hf):
    '"hash reports twice the frame rate"'
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=5)
    await a.do("startFrameSync")
    await a.frame(1)
    begun = time.monotonic()
    ids = a.post_many([("reportFrameHash", {"frameId": 1, "hash": b"x"})] * 20)
    await a.until(lambda: a.replies.get(ids[-1]), what="the last one's refusal")
    await a.fence()
    took = time.monotonic() - begun
    over = [a.replies[n][0] for n in ids if a.replies.get(n)]
    assert 20 - 11 - took * 10 <= len(over) <= 10
    assert not any(a.replies.get(n) for n in ids[:10])
    check_over(over, 10)


async def test_refused_calls_cost_too(hf):
    '"any other call costs one, done or refused"; errors.md: 3 goes before 20'
    a = await hf.player()
    replies, took = await burst(a, [("sendCustomMessage", {"msg": "x"})] * 25)
    codes = [r["code"] for r in replies]
    assert codes[:15] == [20] * 15 and set(codes) == {20, 3} and codes.count(20) <= 16 + took * 15


async def test_eleven_goes_before_three(hf):
    'errors.md: "13, 16, 11 (form, limits …), 12, 15, 3, …"'
    a = await hf.player()
    await hf.room(a)
    replies, _ = await burst(
        a,
        [("updatePlayerCustomStatus", {"status": 1})] * 30
        + [("updatePlayerCustomProperties", {"properties": "x" * 2049}), ("sendCustomMessage", {"msg": ""})],
    )
    assert replies[29]["code"] == 3 and replies[30]["code"] == 11 and replies[31]["code"] == 11


async def test_what_costs_nothing(hf):
    '"11, 13, 15, 16 and repeats of a remembered or open id cost nothing"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    await asyncio.sleep(0.3)
    number = a.post("sendCustomMessage", {"msg": "once"})
    await a.reply(number)
    await asyncio.sleep(0.1)
    a.may_answer_unasked = True
    for _ in range(40):
        a.post("sendCustomMessage", {"msg": "once"}, id=number)
    replies, _ = await burst(a, [("sendCustomMessage", {"msg": ""})] * 40)
    assert all(r["code"] == 11 for r in replies)
    replies, _ = await burst(a, [("sendCustomMessage", {"msg": "x"})] * 15)
    assert all(r.kind == "ok" for r in replies)
    assert all(r.kind == "ok" for r in a.replies[number])


async def test_no_eleven_costs(hf):
    '"11 … cost nothing", whatever the reason: an offset that the server did not make, a frame not sealed yet'
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=30)
    await a.do("startFrameSync")
    await a.frame(3)
    for _ in range(15):
        await b.refused(11, "getRoomList", {"roomType": "x", "offset": "no offset"})
    for _ in range(4):
        await b.refused(11, "putSnapshot", {"frameId": 1_000_000, "state": b"x"})
    for _ in range(15):
        await b.refused(11, "reportFrameHash", {"frameId": 1_000_000, "hash": b"x"})
    await b.do("putSnapshot", {"frameId": 1, "state": b"x"})
    replies, _ = await burst(b, [("getFrames", {"first": 2, "last": 1})] * 10)
    assert {r["code"] for r in replies} == {11}
    await b.do("getFrames", {"first": 1, "last": 2})


async def test_fifteen_costs_nothing(hf):
    '"11, 13, 15, 16 … cost nothing"'
    a = await hf.player()
    waiting = a.post("matchRoom", {"room": hf.config(maxPlayerCount=2), "timeoutMs": 60000})
    await a.fence()
    replies, _ = await burst(a, [("createRoom", {"room": hf.config()})] * 30)
    assert all(r["code"] == 15 for r in replies)
    await a.do("cancelMatch")
    await a.reply(waiting)
    replies, _ = await burst(a, [("getRoomList", {"roomType": "x"})] * 9)
    assert all(r.kind == "roomList" for r in replies)


async def test_one_never_costs_another(hf):
    '"One player\'s budget never costs another."'
    a, b = await hf.players(2)
    await hf.room(a, b)
    await asyncio.sleep(0.3)
    replies, _ = await burst(a, [("sendCustomMessage", {"msg": "x"})] * 40)
    assert split(replies)[1]
    replies, _ = await burst(b, [("sendCustomMessage", {"msg": "y"})] * 15)
    assert not split(replies)[1]


async def test_a_resume_does_not_fill_it(hf):
    '"Token buckets … for each player": not for each link'
    a = await hf.player()
    await hf.room(a)
    await burst(a, [("updatePlayerCustomStatus", {"status": 1})] * 40)
    a.drop()
    begun = time.monotonic()
    await a.resume()
    replies, _ = await burst(a, [("updatePlayerCustomStatus", {"status": 1})] * 15)
    done, over = split(replies)
    assert over and len(done) <= 2 + 15 * (time.monotonic() - begun)


async def test_five_hundred_messages_a_link(hf):
    '"500 messages/s a link in all"; errors.md: "An error never closes a link, except …"'
    a, b = await hf.players(2)
    replies, took = await burst(a, [("ping", {"clientTime": n}) for n in range(900)])
    done, over = split(replies)
    assert 499 <= len(done) <= 502 + took * 500
    assert over and all(r["code"] == 3 and r["retryAfterMs"] >= 1 for r in over)
    await b.fence()
    await asyncio.sleep(0.2)
    await a.fence()


async def test_inputs_are_bounded_by_frames_not_by_a_budget(hf):
    '"At most 5 by one player in a frame": 60 frames a second let 300 inputs pass'
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=60)
    await a.do("startFrameSync")
    await a.frame(1)
    sent = 0
    for _ in range(30):
        a.post_many([("sendFrameInput", {"data": "x"})] * 2)
        sent += 2
        await a.frame(a.last_frame + 1)
    await a.frame(a.last_frame + 2)
    assert sum(len(f["inputs"]) for f in a.frames.values()) == sent and not a.replies
