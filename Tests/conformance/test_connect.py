"""rooms.md, "Connections, runs and resume": the link, `connect`, `ping`, `disconnect`, and runs."""

import asyncio
import time

import pytest

from world import kinds


async def test_first_message_must_be_connect(hf):
    '"`connect` comes first (else 13 …)"; errors.md: "An error never closes a link, except …"'
    c = hf.client()
    await c.open()
    await c.refused(13, "createRoom", {"room": hf.config()})
    await c.refused(13, "ping", {"clientTime": 1})
    await c.connect()
    await c.nothing()


async def test_thirteen_goes_before_limits_and_unknown_bodies(hf):
    'errors.md: "When several apply, the first of these answers: 13, 16, 11 …"'
    c = hf.client()
    await c.open()
    await c.refused(13, "createRoom", {"room": {"maxPlayerCount": 99}})
    c.pending[77] = ("unknown", {})
    c.send_bytes(b'{"id":77,"somethingNew":{}}' if c.encoding == "json" else b"\x08\x4d\xa2\x3e\x00")
    assert (await c.reply(77))["code"] == 13


@pytest.mark.slow(25)
async def test_nothing_within_ten_seconds(hf):
    '"nothing within 10 s: `disconnected` 13"; errors.md: "mayReconnect is true for 1, 37, 38, false for the rest"'
    c = hf.client()
    await c.open()
    begun = time.monotonic()
    await c.goodbye(13, timeout=14)
    assert time.monotonic() - begun > 8.5


async def test_second_connect(hf):
    'errors.md: "14 alreadyConnected: second `connect` on one link"'
    c = await hf.player()
    await c.refused(14, "connect", {"token": c.token})
    await c.fence()


async def test_connected_says_who_and_how(hf):
    '''holdfast.proto, Connected: "how often this server pings", "ms since 1970", "room present when the player is in a
    room"'''
    c = hf.client()
    await c.open()
    reply = await c.connect(token=c.token, client="conformance/1.0")
    assert reply["playerId"] == c.player
    assert reply["resumed"] is False
    assert len(reply["resumeToken"]) >= 16
    assert reply["heartbeatMs"] == 5000 and reply["resumeWindowMs"] == 60000
    assert abs(reply["serverTime"] / 1000 - time.time()) < 30
    assert reply.get("room") is None and reply.get("frameSync") is None


async def test_connect_without_id_is_answered_too(hf):
    'holdfast.proto: "0 or absent: no reply at all, not even an error (except to `connect`)"'
    c = hf.client()
    await c.open()
    reply = await c.request("connect", {"token": c.token}, id=0)
    assert reply.kind == "connected" and reply.id == 0
    c = hf.client()
    await c.open()
    c.post("connect", {"token": "no.such.token"}, id=0)
    assert (await c.reply(0))["code"] == 12


async def test_client_text_limit(hf):
    'holdfast.proto, Connect.client: "at most 128 bytes"; "checked at their exact edge"'
    c = hf.client()
    await c.open()
    await c.refused(11, "connect", {"token": c.token, "client": "x" * 129})
    await c.refused(11, "connect", {"token": c.token, "client": "é" * 64 + "x"})
    reply = await c.request("connect", {"token": c.token, "client": "é" * 64})
    assert reply.kind == "connected"


@pytest.mark.parametrize("value", [0, 1, -1, 2**63 - 1, -(2**63)])
async def test_ping(hf, value):
    "holdfast.proto, Pong: client_time echoed, server_time"
    c = await hf.player()
    reply = await c.do("ping", {"clientTime": value})
    assert reply.kind == "pong" and reply["clientTime"] == value
    assert abs(reply["serverTime"] / 1000 - time.time()) < 30


async def test_no_id_no_reply(hf):
    'holdfast.proto: "0 or absent: no reply at all, not even an error (except to `connect`)"'
    c = await hf.player()
    c.post("ping", {"clientTime": 1}, id=0)
    c.post("leaveRoom", id=0)
    c.post("createRoom", {"room": {}}, id=0)
    c.post("getRoomList", {"limit": 1}, id=0)
    await c.nothing()
    assert not c.replies.get(0) and not c.strays
    c.post("createRoom", {"room": hf.config()}, id=0)
    await c.fence()
    for _ in range(20):
        reply = await c.request("createRoom", {"room": hf.config()})
        if reply.kind == "error" and reply["code"] == 21:
            return
        if reply.kind == "error" and reply["code"] == 15:
            await asyncio.sleep(0.05)
    raise AssertionError("a createRoom without id is done")


async def test_disconnect(hf):
    '"`disconnect`: `ok`, `disconnected` 0, close 1000"'
    c = await hf.player()
    reply = await c.do("disconnect")
    assert reply.kind == "ok"
    await c.goodbye(0)
    assert c.raw.close_code == 1000
    c = await hf.player()
    c.post("disconnect", id=0)
    await c.goodbye(0)
    assert not c.replies.get(0)


async def test_disconnect_ends_the_run_and_the_seat(hf):
    '"It ends with `disconnect` …"; "`disconnect` and `leaveRoom` are `playerLeft` at once"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    await b.do("disconnect")
    await b.goodbye(0)
    left = await a.event("playerLeft")
    assert left["playerId"] == b.player and left["roomOwnerId"] == a.player
    reply = await b.resume(expect=None)
    assert reply.kind == "error" and reply["code"] == 39
    reply = await b.connect()
    assert not reply["resumed"] and reply.get("room") is None


async def test_a_link_ends_without_disconnect_is_a_drop(hf):
    '"A link is dropped when its socket ends in any way without `disconnect`"; "A drop keeps the seat."'
    a, b, c, d = await hf.players(4)
    room = await hf.room(a, b, c, d)
    b.drop()
    c.drop(reset=True)
    d.leave_link()
    d.raw.close_frame(1000)
    await d.raw.until_ended()
    for client in (b, c, d):
        reply = await client.resume()
        assert reply["resumed"] and reply["room"]["id"] == room.id
    assert all(not events for events in (await room.told()).values())


async def test_another_connect_replaces_the_run(hf):
    '''"another connect of the same player begins a new run: then the older link gets `disconnected` 5 (and must not
    come back by itself), its resume token is void"'''
    a = await hf.player()
    old = a.resume_token
    b = await hf.twin(a).start()
    await a.goodbye(5)
    assert b.resume_token != old
    reply = await a.resume(expect=None)
    assert reply.kind == "error" and reply["code"] == 39
    await b.nothing()


async def test_a_fresh_connect_keeps_the_seat(hf):
    '''"The seat or spectator's place does not belong to the run: after a fresh connect `connected` has `resumed`
    false, `room`, `roomSeq` and `frameSync`, the stream goes on (`roomRestarted` true)"'''
    a, b, s = await hf.players(3)
    room = await hf.room(a, b, spectators=[s], frameRate=20)
    await a.do("startFrameSync")
    await b.frame(2)
    again = hf.twin(b)
    await again.open()
    reply = await again.connect()
    assert not reply["resumed"] and reply["roomRestarted"] and reply["roomSeq"] > 1
    assert reply["room"]["id"] == room.id and [p["id"] for p in reply["room"]["players"]] == [a.player, b.player]
    assert reply["frameSync"]["frameSyncId"] == 1
    await b.goodbye(5)
    watcher = hf.twin(s)
    await watcher.open()
    reply = await watcher.connect()
    assert not reply["resumed"] and reply["room"]["id"] == room.id and reply["roomRestarted"]
    await s.goodbye(5)
    room.players[1], room.spectators[0] = again, watcher
    told = await room.told()
    assert all(kinds(events) in ([], ["frameSyncStarted"]) for events in told.values()), told
    last = again.last_frame
    await again.frame(last + 2)
    await watcher.frame(last + 2)
    assert min(again.frames) == 1 and min(watcher.frames) == 1


@pytest.mark.profile("offline")
async def test_a_fresh_connect_of_an_offline_player(hf):
    '"and `playerOnline` is told if `playerOffline` had been"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    b.drop()
    assert (await a.event("playerOffline"))["playerId"] == b.player
    again = await hf.twin(b).start()
    online = await a.event("playerOnline")
    assert online["playerId"] == b.player and online["roomOwnerId"] == a.player
    await again.nothing()


async def test_who_does_not_want_the_seat_leaves(hf):
    '"Who does not want it calls `leaveRoom`."'
    a, b = await hf.players(2)
    await hf.room(a, b)
    again = await hf.twin(b).start()
    await again.do("leaveRoom")
    assert (await a.event("playerLeft"))["playerId"] == b.player
    await again.do("createRoom", {"room": hf.config()})


async def test_ids_belong_to_the_run(hf):
    '''ClientMessage.id: "growing within a run"; "A run begins with each `connect` that presents a token and no valid
    resume"'''
    a = await hf.player()
    a.last_id = 1000
    await a.do("createRoom", {"room": hf.config()})
    again = await hf.twin(a).start()
    await again.do("leaveRoom", id=2)
    await again.do("createRoom", {"room": hf.config()}, id=3)


async def test_replacing_ends_a_waiting_match(hf):
    '"its waiting match ends" (of the run that another connect replaced)'
    a, b, c = await hf.players(3)
    config = hf.config(maxPlayerCount=2)
    a.post("matchRoom", {"room": config, "timeoutMs": 60000})
    await a.fence()
    await asyncio.sleep(0.1)
    again = await hf.twin(a).start()
    await a.goodbye(5)
    waiting = b.post("matchRoom", {"room": config, "timeoutMs": 60000})
    await b.nothing(0.2)
    assert not b.replies.get(waiting)
    third = await c.do("matchRoom", {"room": config, "timeoutMs": 60000})
    second = await b.reply(waiting)
    assert [p["id"] for p in third["room"]["players"]] == [b.player, c.player] and second["room"]["id"] == third[
        "room"
    ]["id"]
    await again.do("createRoom", {"room": hf.config()})


@pytest.mark.profile("beat")
async def test_websocket_pings(hf):
    '"The server sends a WebSocket ping every `heartbeatMs`"'
    c = hf.client()
    await c.open()
    reply = await c.connect()
    assert reply["heartbeatMs"] == 400
    await c.until(lambda: len(c.raw.pings) >= 4, 8, "pings")
    gaps = [b - a for a, b in zip(c.raw.pings, c.raw.pings[1:])]
    assert sum(gaps) / len(gaps) > 0.25, gaps


@pytest.mark.profile("beat")
async def test_answered_pings_keep_the_link(hf):
    '"A link is dropped when … nothing came for 2 × `heartbeatMs`": a pong is something'
    c = await hf.player()
    await asyncio.sleep(1.5)
    await c.fence()


@pytest.mark.profile("beat")
async def test_pings_of_the_client_keep_the_link(hf):
    '"browsers may use `ping`"'
    c = await hf.player()
    c.raw.answer_pings = False
    for _ in range(8):
        await asyncio.sleep(0.2)
        await c.fence()


@pytest.mark.profile("beat")
async def test_a_silent_link_is_dropped(hf):
    '"A link is dropped when … nothing came for 2 × `heartbeatMs`"; "After 2 s without a resume the player is offline"'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    b.raw.answer_pings = False
    begun = time.monotonic()
    offline = await a.event("playerOffline", timeout=8)
    assert offline["playerId"] == b.player
    assert time.monotonic() - begun > 0.7
    assert not a.raw.ended
    reply = await b.resume()
    assert reply["resumed"] and reply["room"]["id"] == room.id
    assert (await a.event("playerOnline"))["playerId"] == b.player
