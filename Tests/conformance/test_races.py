"""Races: whatever happens at the same moment, exactly one of the outcomes that the rules allow."""

import asyncio

import pytest

from world import kinds


@pytest.mark.parametrize("seats,callers", [(2, 12), (5, 30), (20, 30)])
async def test_the_last_seats(hf, seats, callers):
    '"`joinRoom` never overfills: of many at once exactly the free seats succeed, the rest get 23."'
    a, *others = await hf.players(callers + 1)
    room = await hf.room(a, maxPlayerCount=seats)
    replies = await asyncio.gather(*(c.request("joinRoom", {"roomId": room.id}) for c in others))
    done = [r for r in replies if r.kind == "roomJoined"]
    assert len(done) == seats - 1
    assert all(r["code"] == 23 for r in replies if r.kind == "error")
    counts = sorted(len(r["room"]["players"]) for r in done)
    assert counts == list(range(2, seats + 1))
    entered = [(await a.event("playerEntered"))["player"]["id"] for _ in range(seats - 1)]
    assert len(set(entered)) == seats - 1
    await a.nothing()


async def test_spectators_places(hf):
    '"no free place or none allowed: 23"'
    a, *others = await hf.players(16)
    room = await hf.room(a, maxSpectatorCount=4)
    replies = await asyncio.gather(*(c.request("joinRoom", {"roomId": room.id, "asSpectator": True}) for c in others))
    assert sum(r.kind == "roomJoined" for r in replies) == 4
    assert all(r["code"] == 23 for r in replies if r.kind == "error")


@pytest.mark.parametrize("late", [False, True])
async def test_start_against_joins(hf, late):
    '''"A join comes before a start (then the joiner is in `frameSyncStarted.roomInfo` and gets that event after its
    reply) or after it; never in between."'''
    for _ in range(4):
        a, *others = await hf.players(7)
        room = await hf.room(a, maxPlayerCount=20, allowLateJoin=late, frameRate=30)
        posts = [(c, c.post("joinRoom", {"roomId": room.id})) for c in others[:3]]
        start = a.post("startFrameSync")
        posts += [(c, c.post("joinRoom", {"roomId": room.id})) for c in others[3:]]
        assert (await a.reply(start)).kind == "ok"
        await a.until(lambda: any(e.kind == "frameSyncStarted" for e in a.events), what="the start")
        info = next(e for e in a.events if e.kind == "frameSyncStarted")["roomInfo"]
        there = {p["id"] for p in info["players"]}
        for client, number in posts:
            reply = await client.reply(number)
            if client.player in there:
                assert reply.kind == "roomJoined" and reply.get("frameSync") is None
                while (await client.event()).kind != "frameSyncStarted":
                    pass
                await client.frame(2)
            elif late:
                assert reply.kind == "roomJoined" and reply["frameSync"]["frameSyncId"] == 1
                await client.frame(reply["frameSync"]["frameId"] + 2)
                assert "frameSyncStarted" not in kinds(client.events)
            else:
                assert reply.kind == "error" and reply["code"] == 26, reply


async def test_one_player_two_calls(hf):
    '"createRoom, matchRoom, joinRoom, leaveRoom: while one is unanswered, another gets 15"; "in one room at most"'
    for _ in range(5):
        a, b, c = await hf.players(3)
        one, two = await hf.room(b), await hf.room(c)
        ids = a.post_many(
            [
                ("joinRoom", {"roomId": one.id}),
                ("joinRoom", {"roomId": two.id}),
                ("createRoom", {"room": hf.config()}),
                ("matchRoom", {"room": hf.config()}),
            ]
        )
        replies = [await a.reply(n) for n in ids]
        done = [r for r in replies if r.kind == "roomJoined"]
        assert len(done) == 1, replies
        assert all(r["code"] in (15, 21) for r in replies if r.kind == "error"), replies
        assert a.room == done[0]["room"]["id"]


async def test_join_and_leave_in_one_write(hf):
    '"while one is unanswered, another gets 15"'
    a, b = await hf.players(2)
    room = await hf.room(b)
    ids = a.post_many([("joinRoom", {"roomId": room.id}), ("leaveRoom", {})])
    joined, left = [await a.reply(n) for n in ids]
    assert joined.kind == "roomJoined"
    assert left.kind == "ok" or left["code"] == 15
    events = kinds((await room.told())[b])
    assert events == (["playerEntered", "playerLeft"] if left.kind == "ok" else ["playerEntered"])


async def test_kick_against_leave(hf):
    "a player leaves once: `playerLeft` or `playerKicked`, never both"
    for _ in range(5):
        a, b, c = await hf.players(3)
        room = await hf.room(a, b, c)
        leave = b.post("leaveRoom")
        kick = a.post("kickRoomPlayer", {"playerId": b.player})
        left, kicked = await b.reply(leave), await a.reply(kick)
        told = await room.told(b)
        out = kinds(told[c])
        assert len(out) == 1 and out == kinds(told[a])
        if out == ["playerKicked"]:
            assert kicked.kind == "ok" and (left.kind == "ok" or left["code"] == 20)
        else:
            assert left.kind == "ok" and kicked["code"] == 30


async def test_dismiss_against_join(hf):
    '"`dismissRoom`: … everyone is out after `roomDismissed` 0": who came before is told, who comes after gets 24'
    for _ in range(4):
        a, *others = await hf.players(6)
        room = await hf.room(a, maxPlayerCount=20)
        posts = [(c, c.post("joinRoom", {"roomId": room.id})) for c in others[:3]]
        number = a.post("dismissRoom")
        posts += [(c, c.post("joinRoom", {"roomId": room.id})) for c in others[3:]]
        assert (await a.reply(number)).kind == "ok"
        for client, join in posts:
            reply = await client.reply(join)
            if reply.kind == "roomJoined":
                while (await client.event()).kind != "roomDismissed":
                    pass
            else:
                assert reply["code"] == 24
            await client.refused(20, "leaveRoom")


async def test_the_last_leave_against_joins(hf):
    '"The room is gone at once when its last player has left": a join comes before it (and keeps the room) or gets 24'
    for _ in range(4):
        a, *others = await hf.players(4)
        room = await hf.room(a)
        leave = a.post("leaveRoom")
        replies = await asyncio.gather(*(c.request("joinRoom", {"roomId": room.id}) for c in others))
        assert (await a.reply(leave)).kind == "ok"
        done = [(c, r) for c, r in zip(others, replies) if r.kind == "roomJoined"]
        assert all(r["code"] == 24 for r in replies if r.kind == "error")
        if done:
            assert len(done) == 3
            x = await hf.player()
            joined = await x.do("joinRoom", {"roomId": room.id})
            assert a.player not in [p["id"] for p in joined["room"]["players"]]
            assert joined["room"]["ownerId"] in [c.player for c, _ in done]


async def test_two_connects_of_one_player(hf):
    '"A player has one link at a time": of many at once one stays, the others get `disconnected` 5'
    a = await hf.player()
    room = await hf.room(a)
    twins = [hf.twin(a) for _ in range(5)]
    for twin in twins:
        await twin.open()
    for twin in twins:
        twin.post("connect", {"token": twin.token})
    links = [a, *twins]
    for _ in range(60):
        if sum(link.raw.ended for link in links) == 5:
            break
        await asyncio.sleep(0.05)
    alive = [link for link in links if not link.raw.ended]
    assert len(alive) == 1
    for link in links:
        if link is not alive[0]:
            await link.goodbye(5)
    last = alive[0]
    await last.until(lambda: last.room == room.id, what="connected")
    await last.fence()
    await last.do("updatePlayerCustomStatus", {"status": 1})
    await last.event("playerCustomStatusChanged")


async def test_resumes_at_once(hf):
    '"a link that still stands is closed in silence": of many resumes at once one link stays'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    b.drop()
    links = []
    for _ in range(5):
        twin = hf.twin(b)
        twin.room, twin.position, twin.resume_token = b.room, b.position, b.resume_token
        await twin.open()
        links.append(twin)
    for link in links:
        link.post("connect", {"resume": link.resume_fields()})
    for _ in range(60):
        if sum(link.raw.ended for link in links) == 4:
            break
        await asyncio.sleep(0.05)
    alive = [link for link in links if not link.raw.ended]
    assert len(alive) == 1 and all(link.farewell is None for link in links), "closed in silence"
    await alive[0].fence()
    await a.do("sendCustomMessage", {"msg": "x"})
    assert (await alive[0].event())["msg"] == "x"
    await asyncio.sleep(2.2)
    await a.nothing()
    assert alive[0].room == room.id


async def test_cancel_against_match(hf):
    '"Match, limit and cancel: the first decides the one reply."'
    for turn in range(6):
        a, b = await hf.players(2)
        config = hf.config(maxPlayerCount=2)
        number = a.post("matchRoom", {"room": config, "timeoutMs": 5000})
        await a.fence()
        other = b.post("matchRoom", {"room": config, "timeoutMs": 5000})
        if turn % 2:
            await asyncio.sleep(0)
        cancel = a.post("cancelMatch")
        reply = await a.reply(number)
        assert (await a.reply(cancel)).kind == "ok"
        if reply.kind == "roomJoined":
            assert (await b.reply(other))["room"]["id"] == reply["room"]["id"]
        else:
            assert reply["code"] == 35
            await b.fence()
            await b.do("cancelMatch")
            assert (await b.reply(other))["code"] == 35


async def test_limit_against_match(hf):
    '"Match, limit and cancel: the first decides the one reply."'
    pairs = []
    for turn in range(6):
        a, b = await hf.players(2)
        config = hf.config(maxPlayerCount=2)
        pairs.append((a, a.post("matchRoom", {"room": config, "timeoutMs": 200}), b, config))
    await asyncio.sleep(0.19)
    sent = []
    for a, number, b, config in pairs:
        sent.append((a, number, b, b.post("matchRoom", {"room": config, "timeoutMs": 300})))
        await asyncio.sleep(0.004)
    for a, number, b, other in sent:
        one, two = await a.reply(number), await b.reply(other)
        if one.kind == "roomJoined":
            assert two.kind == "roomJoined" and two["room"]["id"] == one["room"]["id"]
        else:
            assert one["code"] == 34 and two["code"] == 34


async def test_transfer_against_leave(hf):
    '"A room has an owner who is online as long as any player is online."'
    for _ in range(4):
        a, b, c = await hf.players(3)
        room = await hf.room(a, b, c)
        leave = b.post("leaveRoom")
        transfer = a.post("transferRoomOwner", {"playerId": b.player})
        await b.reply(leave)
        reply = await a.reply(transfer)
        x = await hf.player()
        joined = await x.do("joinRoom", {"roomId": room.id})
        assert joined["room"]["ownerId"] in (a.player, c.player)
        assert reply.kind == "ok" or reply["code"] == 30


async def test_requests_in_flight_at_a_drop(hf):
    '"it is done at most once": every request sent again after a drop is done once'
    a, b = await hf.players(2)
    await hf.room(a, b)
    for turn in range(5):
        ids = a.post_many([("sendCustomMessage", {"msg": f"{turn}-{n}"}) for n in range(3)])
        a.drop(reset=turn % 2 == 1)
        await a.resume()
        a.may_answer_unasked = True
        for n, number in enumerate(ids):
            a.post("sendCustomMessage", {"msg": f"{turn}-{n}"}, id=number)
        for number in ids:
            reply = await a.reply(number)
            assert reply.kind == "ok", reply
        assert sorted([(await b.event())["msg"] for _ in range(3)]) == [f"{turn}-{n}" for n in range(3)]
        await asyncio.sleep(0.25)
    await b.nothing()


async def test_a_join_in_flight_at_a_drop(hf):
    '"A player is in one room at most"; a join that was unanswered is answered when sent again'
    for turn in range(4):
        a, b = await hf.players(2)
        room = await hf.room(b)
        number = a.post("joinRoom", {"roomId": room.id})
        a.drop(reset=turn % 2 == 1)
        await a.resume()
        a.may_answer_unasked = True
        reply = await a.request("joinRoom", {"roomId": room.id}, id=number)
        assert reply.kind == "roomJoined" and [p["id"] for p in reply["room"]["players"]] == [b.player, a.player]
        assert kinds((await room.told())[b]) == ["playerEntered"]


@pytest.mark.mixed
async def test_crowds_come_and_go(hf):
    "rooms.md as a whole: what everybody saw of each room agrees (the ledger compares it)"
    owner, *others = await hf.players(12)
    room = await hf.room(owner, maxPlayerCount=20, frameRate=30, allowLateJoin=True, maxSpectatorCount=10)
    await owner.do("startFrameSync")

    async def busy(client, turn):
        for n in range(4):
            reply = await client.request("joinRoom", {"roomId": room.id, "asSpectator": turn % 4 == 3})
            assert reply.kind == "roomJoined", reply
            await client.frame(reply["frameSync"]["frameId"] + 1)
            if turn % 4 != 3:
                client.post("sendFrameInput", {"data": f"{turn}-{n}"})
                await client.do("sendCustomMessage", {"msg": f"{turn}-{n}"})
            if turn % 4 == 1:
                client.drop()
                assert (await client.resume())["resumed"]
            await client.do("leaveRoom")
            await asyncio.sleep(0.2)

    await asyncio.gather(*(busy(client, turn) for turn, client in enumerate(others)))
    players = sum(turn % 4 != 3 for turn in range(11))
    await owner.until(lambda: sum(e.kind == "playerLeft" for e in owner.events) == players * 4, what="all leaves")
    entered = [e["player"]["id"] for e in owner.events if e.kind == "playerEntered"]
    assert len(entered) == players * 4
