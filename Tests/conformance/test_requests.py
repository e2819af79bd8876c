"""rooms.md, "Connections, runs and resume": what a run remembers of its requests, and inputs taken once."""

import asyncio

import pytest


async def again(client, number, kind, body=None):
    """The same request again, with its id."""
    client.may_answer_unasked = True
    return await client.request(kind, body, id=number)


async def test_a_request_sent_again_is_not_done_again(hf):
    '"A request sent again with a remembered id is not done again but answered again"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    number = a.post("sendCustomMessage", {"msg": "once"})
    assert (await a.reply(number)).kind == "ok"
    assert (await again(a, number, "sendCustomMessage", {"msg": "once"})).kind == "ok"
    a.drop()
    await a.resume()
    assert (await again(a, number, "sendCustomMessage", {"msg": "once"})).kind == "ok"
    assert (await b.event())["msg"] == "once"
    await b.nothing()


async def test_a_refusal_is_remembered_too(hf):
    '''"Each run remembers the outcome of its last 64 executed requests (not those answered 3, 11, 15, 16, or 1 with
    `retryAfterMs`)"'''
    a, b = await hf.players(2)
    room = await hf.room(a)
    number = a.post("kickRoomPlayer", {"playerId": b.player})
    assert (await a.reply(number))["code"] == 30
    await b.do("joinRoom", {"roomId": room.id})
    await a.event("playerEntered")
    reply = await again(a, number, "kickRoomPlayer", {"playerId": b.player})
    assert reply.kind == "error" and reply["code"] == 30
    await b.nothing()


async def test_unanswered_at_the_drop(hf):
    '"After a resume an open request is answered only when it is sent again"; done at most once'
    a, b = await hf.players(2)
    await hf.room(a, b)
    number = a.post("sendCustomMessage", {"msg": "in flight"})
    a.drop()
    await a.resume()
    reply = await again(a, number, "sendCustomMessage", {"msg": "in flight"})
    assert reply.kind == "ok"
    assert (await b.event())["msg"] == "in flight"
    await b.nothing()


async def test_a_creation_unanswered_at_the_drop(hf):
    '"(`roomJoined` built anew at the present position …)"'
    a, b = await hf.players(2)
    config = hf.config()
    number = a.post("createRoom", {"room": config})
    a.drop()
    resumed = await a.resume()
    joined = await again(a, number, "createRoom", {"room": config})
    assert joined.kind == "roomJoined" and joined["room"]["ownerId"] == a.player
    if resumed.get("room"):
        assert resumed["room"]["id"] == joined["room"]["id"]
    await b.do("joinRoom", {"roomId": joined["room"]["id"]})
    assert (await a.event("playerEntered")).seq > joined["roomSeq"]
    assert (await again(a, number, "createRoom", {"room": config}))["room"]["id"] == joined["room"]["id"]


async def test_room_joined_is_built_anew(hf):
    '"`roomJoined` built anew at the present position"'
    a, b = await hf.players(2)
    config = hf.config()
    number = a.post("createRoom", {"room": config})
    first = await a.reply(number)
    await b.do("joinRoom", {"roomId": first["room"]["id"]})
    entered = await a.event("playerEntered")
    second = await again(a, number, "createRoom", {"room": config})
    assert second.kind == "roomJoined" and second["roomSeq"] >= entered.seq
    assert [p["id"] for p in second["room"]["players"]] == [a.player, b.player]


async def test_what_was_not_done_is_not_remembered(hf):
    '"(not those answered 3, 11, 15, 16 …)": the same id may be used for a right one'
    a = await hf.player()
    config = hf.config(maxPlayerCount=2)
    number = a.next_id()
    await a.refused(11, "createRoom", {"room": {**config, "maxPlayerCount": 21}}, id=number)
    waiting = a.post("matchRoom", {"room": config, "timeoutMs": 60000})
    await a.refused(15, "createRoom", {"room": config}, id=number)
    await a.do("cancelMatch")
    assert (await a.reply(waiting))["code"] == 35
    joined = await a.do("createRoom", {"room": config}, id=number)
    assert joined.kind == "roomJoined"


async def test_over_budget_is_not_remembered(hf):
    '"(not those answered 3 …)": sent again with the same id after `retryAfterMs` it is done'
    a, b = await hf.players(2)
    await hf.room(a, b)
    bodies = [("updatePlayerCustomStatus", {"status": n}) for n in range(40)]
    ids = a.post_many(bodies)
    replies = [await a.reply(n) for n in ids]
    over = [(n, body, r) for n, body, r in zip(ids, bodies, replies) if r.kind == "error"]
    assert over and all(r["code"] == 3 for _, _, r in over)
    number, (kind, body), reply = over[-1]
    await asyncio.sleep(reply["retryAfterMs"] / 1000 + 0.3)
    a.take_events()
    await a.do(kind, body, id=number)
    assert (await a.event("playerCustomStatusChanged"))["status"] == body["status"]


async def test_sixty_four_are_remembered(hf):
    '''"Each run remembers the outcome of its last 64 executed requests"; "Once an outcome has been forgotten, an id
    below all remembered ones: 11"'''
    a, b = await hf.players(2)
    await hf.room(a, b)
    number = a.post("sendCustomMessage", {"msg": "first"})
    await a.reply(number)
    assert (await b.event())["msg"] == "first"
    ids = a.post_many([("cancelMatch", {})] * 63)
    for n in ids:
        assert (await a.reply(n)).kind == "ok"
    assert (await again(a, number, "sendCustomMessage", {"msg": "first"})).kind == "ok"
    await b.nothing()


async def test_the_sixty_fifth_is_forgotten(hf):
    '''"Once an outcome has been forgotten, an id below all remembered ones: 11 (inputs, hash reports, reads, `connect`
    aside)."'''
    a, b = await hf.players(2)
    await hf.room(a, b)
    number = a.post("sendCustomMessage", {"msg": "first"})
    await a.reply(number)
    for n in a.post_many([("cancelMatch", {})] * 70):
        assert (await a.reply(n)).kind == "ok"
    assert (await b.event())["msg"] == "first"
    reply = await again(a, number, "sendCustomMessage", {"msg": "first"})
    assert reply.kind == "error" and reply["code"] == 11
    assert (await again(a, number, "getRoomList", {"roomType": "none"})).kind == "roomList"
    await b.nothing()


async def test_reads_are_done_again(hf):
    '"`connect`, `ping` and reads are simply done again."'
    a, b = await hf.players(2)
    await hf.room(a, b)
    number = a.post("ping", {"clientTime": 1})
    assert (await a.reply(number))["clientTime"] == 1
    assert (await again(a, number, "ping", {"clientTime": 2}))["clientTime"] == 2
    kind = hf.name("t")
    number = a.post("getRoomList", {"roomType": kind})
    assert (await a.reply(number))["rooms"] == []
    c = await hf.player()
    await c.do("createRoom", {"room": hf.config(type=kind)})
    for _ in range(25):
        reply = await again(a, number, "getRoomList", {"roomType": kind})
        if reply.kind == "roomList" and len(reply["rooms"]) == 1:
            return
        await asyncio.sleep(0.12)
    raise AssertionError("a list asked for again with the same id shows the present")


async def test_ids_may_leave_gaps_and_go_back(hf):
    "nothing has been forgotten yet, so a lower id that was never used is a new request"
    a = await hf.player()
    await a.do("createRoom", {"room": hf.config()}, id=40)
    await a.do("leaveRoom", id=12)
    await a.do("createRoom", {"room": hf.config()}, id=4_294_967_295)


async def test_an_open_request_sent_again(hf):
    '"(… while the first is still open, with that one\'s reply, never 15)"'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=2)
    number = a.post("matchRoom", {"room": config, "timeoutMs": 60000})
    a.may_answer_unasked = True
    a.post("matchRoom", {"room": config, "timeoutMs": 60000}, id=number)
    await a.nothing(0.1)
    assert not a.replies.get(number)
    joined = await b.do("matchRoom", {"room": config, "timeoutMs": 60000})
    reply = await a.reply(number)
    assert reply.kind == "roomJoined" and reply["room"]["id"] == joined["room"]["id"]
    await a.fence()
    assert all(r.kind == "roomJoined" for r in a.replies.get(number, []))


async def test_an_open_match_goes_on_through_a_resume(hf):
    '"After a resume an open request is answered only when it is sent again."'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=2)
    number = a.post("matchRoom", {"room": config, "timeoutMs": 60000})
    await a.fence()
    await asyncio.sleep(0.1)
    a.drop()
    reply = await a.resume()
    assert reply["resumed"] and reply.get("room") is None
    a.post("matchRoom", {"room": config, "timeoutMs": 60000}, id=number)
    await a.nothing(0.1)
    assert not a.replies.get(number)
    joined = await b.do("matchRoom", {"room": config, "timeoutMs": 60000})
    reply = await a.reply(number)
    assert reply["room"]["id"] == joined["room"]["id"] and reply["room"]["ownerId"] == a.player


async def test_a_match_made_while_dropped(hf):
    '"A link dropped for 2 s ends the wait": within them it is matched, and the seat is there at the resume'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=2)
    number = a.post("matchRoom", {"room": config, "timeoutMs": 60000})
    await a.fence()
    await asyncio.sleep(0.1)
    a.drop()
    joined = await b.do("matchRoom", {"room": config, "timeoutMs": 60000})
    assert [p["id"] for p in joined["room"]["players"]] == [a.player, b.player]
    reply = await a.resume()
    assert reply["room"]["id"] == joined["room"]["id"]
    reply = await again(a, number, "matchRoom", {"room": config, "timeoutMs": 60000})
    assert reply.kind == "roomJoined" and reply["room"]["id"] == joined["room"]["id"]


async def test_an_open_match_is_answered_only_when_sent_again(hf):
    '"After a resume an open request is answered only when it is sent again."'
    a = await hf.player()
    number = a.post("matchRoom", {"room": hf.config(maxPlayerCount=2), "timeoutMs": 700})
    a.drop()
    await a.resume()
    await asyncio.sleep(1.0)
    await a.nothing()
    assert not a.replies.get(number) and not a.strays
    reply = await again(a, number, "matchRoom", {"room": hf.config(maxPlayerCount=2), "timeoutMs": 700})
    assert reply.kind == "error" and reply["code"] == 34


async def test_a_wait_ends_two_seconds_after_the_drop(hf):
    '"A link dropped for 2 s ends the wait (35 when asked again)."'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=2)
    number = a.post("matchRoom", {"room": config, "timeoutMs": 60000})
    await a.fence()
    a.drop()
    await asyncio.sleep(3.0)
    waiting = b.post("matchRoom", {"room": config, "timeoutMs": 60000})
    await b.nothing(0.2)
    assert not b.replies.get(waiting)
    await a.resume()
    reply = await again(a, number, "matchRoom", {"room": config, "timeoutMs": 60000})
    assert reply.kind == "error" and reply["code"] == 35


async def test_inputs_with_an_id_are_taken_once(hf):
    '''"Inputs with an id are taken once: one that is not above the player's last in this run is passed over in
    silence; frames show the id"'''
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=20)
    await a.do("startFrameSync")
    await a.frame(1)
    a.last_id = 100
    for number, data in ((110, "x"), (110, "x again"), (105, "older"), (0, "free"), (0, "free"), (111, "y")):
        a.post("sendFrameInput", {"data": data}, id=number)
    await b.input_frame(lambda i: i["data"] == "y")
    inputs = [i for n in sorted(b.frames) for i in b.frames[n]["inputs"]]
    assert [(i["id"], i["data"]) for i in inputs] == [(110, "x"), (0, "free"), (0, "free"), (111, "y")]
    assert not a.strays


async def test_inputs_are_taken_once_over_a_resume(hf):
    '"so that a client can send again after a resume what it has not seen in a frame"'
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=30)
    await a.do("startFrameSync")
    await b.frame(1)
    sent = {}
    for turn in range(4):
        for _ in range(2):
            number = b.next_id()
            sent[number] = f"{turn}-{number}"
            b.post("sendFrameInput", {"data": sent[number]}, id=number)
        b.drop(reset=bool(turn % 2))
        await b.resume()
        await b.until(lambda: b.last_frame and b.last_frame >= 2, what="frames")
        seen = {i["id"] for f in b.frames.values() for i in f["inputs"]}
        for number, data in sent.items():
            if number not in seen:
                b.post("sendFrameInput", {"data": data}, id=number)
        await b.frame(b.last_frame + 3)
    last = max(sent)
    await a.input_frame(lambda i: i["id"] == last)
    got = [(i["id"], i["data"]) for n in sorted(a.frames) for i in a.frames[n]["inputs"]]
    assert [n for n, _ in got] == sorted({n for n, _ in got}), f"each once and in order: {got}"
    assert last in dict(got) and all(sent[n] == d for n, d in got)


async def test_inputs_of_a_new_run(hf):
    '"one that is not above the player\'s last in this run": a new run counts anew'
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=20)
    await a.do("startFrameSync")
    await b.frame(1)
    b.post("sendFrameInput", {"data": "old"}, id=900)
    await a.input_frame(lambda i: i["data"] == "old")
    again = await hf.twin(b).start()
    again.post("sendFrameInput", {"data": "new"}, id=5)
    assert (await a.input_frame(lambda i: i["data"] == "new"))[1]["id"] == 5


async def test_forgotten_ids_of_inputs_and_hash_reports(hf):
    '"an id below all remembered ones: 11 (inputs, hash reports, reads, `connect` aside)"'
    a, b = await hf.players(2)
    await hf.room(a, b, frameRate=20)
    await a.do("startFrameSync")
    await b.frame(2)
    for number in b.post_many([("cancelMatch", {})] * 70):
        await b.reply(number)
    b.post("sendFrameInput", {"data": "x"}, id=2)
    b.post("reportFrameHash", {"frameId": 1, "hash": b"b"}, id=3)
    a.post("reportFrameHash", {"frameId": 1, "hash": b"a"})
    await a.event("frameSyncStarted")
    assert len((await a.event("desyncDetected"))["hashes"]) == 2
    await a.input_frame(lambda i: i["data"] == "x" and i["id"] == 2)
    assert not b.replies


@pytest.mark.once
async def test_sixty_four_open_requests_at_most(hf):
    '"and all open ones (64 at most, else 3)": whatever is open, nothing is lost or done twice'
    a = await hf.player()
    ids = a.post_many([("cancelMatch", {})] * 200)
    replies = [await a.reply(n) for n in ids]
    assert all(r.kind == "ok" or r["code"] == 3 for r in replies)
    assert sum(r.kind == "ok" for r in replies) >= 64
