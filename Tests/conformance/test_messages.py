"""rooms.md, "Messages"."""

import pytest

from world import kinds


@pytest.mark.parametrize("text", ["x", "é" * 1024, "x" * 2048, "🛡" * 512, "\u0000", 'a\u2028b"\\/\b\f\n\r\t', "\uffff"])
async def test_sizes_that_pass(hf, text):
    '"`sendCustomMessage`: 1…2048 bytes (11)"; "Limits count bytes of UTF-8"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    await a.do("sendCustomMessage", {"msg": text})
    event = await b.event("customMessageReceived")
    assert event["playerId"] == a.player and event["msg"] == text
    await a.nothing()


@pytest.mark.parametrize("text", ["", "x" * 2049, "é" * 1024 + "x", "🛡" * 512 + "x"])
async def test_sizes_that_do_not(hf, text):
    '"1…2048 bytes (11)"; "2048 passes, 2049 is refused (11)"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    reply = await a.refused(11, "sendCustomMessage", {"msg": text})
    if text:
        assert "msg" in reply["message"] and "2048" in reply["message"] and "2049" in reply["message"]
    await b.nothing()


async def test_to_everyone_else(hf):
    '"Type 0: everyone else; `receivers` are ignored."'
    a, b, c, s = await hf.players(4)
    await hf.room(a, b, c, spectators=[s])
    for n, receivers in enumerate(([], [b.player], ["stranger"], [f"r{i}" for i in range(25)])):
        await a.do("sendCustomMessage", {"msg": str(n), "type": 0, "receivers": receivers})
        for client in (b, c, s):
            assert (await client.event("customMessageReceived"))["msg"] == str(n)
    await a.nothing()


async def test_to_the_named(hf):
    '"Type 1: the named players; … repeated ids count once; oneself, spectators and strangers are passed over"'
    a, b, c, d, s = await hf.players(5)
    room = await hf.room(a, b, c, d, spectators=[s])
    receivers = [b.player, c.player, b.player, a.player, s.player, "stranger", c.player]
    await a.do("sendCustomMessage", {"msg": "hello", "type": 1, "receivers": receivers})
    told = await room.told()
    assert {m: kinds(e) for m, e in told.items()} == {
        a: [],
        b: ["customMessageReceived"],
        c: ["customMessageReceived"],
        d: [],
        s: [],
    }
    assert told[b][0]["msg"] == "hello" and told[b][0]["playerId"] == a.player


async def test_nobody_left(hf):
    '"nobody left: 30"'
    a, b, s = await hf.players(3)
    room = await hf.room(a, b, spectators=[s])
    await a.refused(30, "sendCustomMessage", {"msg": "x", "type": 1, "receivers": [a.player]})
    await a.refused(30, "sendCustomMessage", {"msg": "x", "type": 1, "receivers": [s.player]})
    await a.refused(30, "sendCustomMessage", {"msg": "x", "type": 1, "receivers": ["stranger", a.player, s.player]})
    assert all(not events for events in (await room.told()).values())


async def test_how_many_receivers(hf):
    '"none or over 20 ids: 11"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    twenty = [b.player] + [f"stranger-{n}" for n in range(19)]
    await a.refused(11, "sendCustomMessage", {"msg": "x", "type": 1, "receivers": []})
    await a.refused(11, "sendCustomMessage", {"msg": "x", "type": 1})
    await a.refused(11, "sendCustomMessage", {"msg": "x", "type": 1, "receivers": twenty + ["one more"]})
    await b.nothing()
    await a.do("sendCustomMessage", {"msg": "x", "type": 1, "receivers": twenty})
    assert (await b.event())["msg"] == "x"


@pytest.mark.parametrize("kind", [2, 3, 4_294_967_295])
async def test_another_type(hf, kind):
    '"Another type: 11."'
    a, b = await hf.players(2)
    await hf.room(a, b)
    await a.refused(11, "sendCustomMessage", {"msg": "x", "type": kind, "receivers": [b.player]})
    await b.nothing()


@pytest.mark.parametrize("locked", [False, True])
async def test_during_frame_sync(hf, locked):
    '"Allowed during frame sync, locked or not."'
    a, b = await hf.players(2)
    await hf.room(a, b, lockedDuringFrameSync=locked)
    await a.do("startFrameSync")
    await b.event("frameSyncStarted")
    await b.do("sendCustomMessage", {"msg": "x"})
    await a.do("sendCustomMessage", {"msg": "y", "type": 1, "receivers": [b.player]})
    assert (await b.event())["msg"] == "y"
    await a.event("frameSyncStarted")
    assert (await a.event())["msg"] == "x"


async def test_full_rooms_talk(hf):
    '20 seats: "everyone else", each once and in order'
    players = await hf.players(20)
    room = await hf.room(*players[:1], maxPlayerCount=20)
    for client in players[1:]:
        await client.do("joinRoom", {"roomId": room.id})
    room.players = players
    await room.told()
    for n, client in enumerate(players):
        await client.do("sendCustomMessage", {"msg": str(n)})
    told = await room.told()
    for n, client in enumerate(players):
        assert [e["msg"] for e in told[client]] == [str(m) for m in range(20) if m != n]


async def test_order_of_one_sender(hf):
    '"Each room has one ordered stream"; replies before own events'
    a, b, c = await hf.players(3)
    await hf.room(a, b, c)
    ids = a.post_many([("sendCustomMessage", {"msg": str(n)}) for n in range(10)])
    for number in ids:
        assert (await a.reply(number)).kind == "ok"
    for client in (b, c):
        assert [(await client.event())["msg"] for _ in range(10)] == [str(n) for n in range(10)]
