"""rooms.md, "Connections, runs and resume": drops, offline and online, what a resume brings."""

import asyncio
import time

import pytest

import tokens
from world import kinds


def messages_of(client):
    return [e["msg"] for e in client.events if e.kind == "customMessageReceived"]


async def say(client, *texts, **how):
    for text in texts:
        await client.do("sendCustomMessage", {"msg": text, **how})


async def test_a_resume_brings_what_was_missed_in_order_once_then_live(hf):
    '"After a resume: `connected` first, then what was missed, in order, once, then live."'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    await say(a, "before")
    await b.event("customMessageReceived")
    token = b.resume_token
    b.drop()
    await say(a, "1", "2")
    await a.do("updatePlayerCustomStatus", {"status": 5})
    await say(a, "3")
    reply = await b.resume()
    assert reply["resumed"] and not reply["roomRestarted"] and reply["resumeToken"] == token
    assert reply["room"]["id"] == room.id
    assert reply["room"]["players"][0]["customStatus"] == 5, "`room` is its state at `room_seq`, missed events counted"
    await say(a, "4")
    got = [await b.event() for _ in range(5)]
    assert [e.get("msg", e.kind) for e in got] == ["1", "2", "playerCustomStatusChanged", "3", "4"]
    assert [e.seq for e in got if e.seq <= reply["roomSeq"]] == [e.seq for e in got[:4]]
    await b.nothing()


async def test_nobody_is_told_within_two_seconds(hf):
    '"Within the 2 s nobody is told anything, and a dropped player counts as online."'
    a, b, s = await hf.players(3)
    room = await hf.room(a, b, spectators=[s])
    b.drop()
    await asyncio.sleep(0.3)
    late = await hf.player()
    joined = await late.do("joinRoom", {"roomId": room.id})
    assert [(p["id"], p["status"]) for p in joined["room"]["players"]][:2] == [(a.player, 1), (b.player, 1)]
    reply = await b.resume()
    assert reply["resumed"]
    assert kinds([await a.event()]) == ["playerEntered"]
    assert kinds([await b.event()]) == ["playerEntered"]
    await a.nothing()
    await s.event("playerEntered")
    await s.nothing()


async def test_offline_after_two_seconds(hf):
    '"After 2 s without a resume the player is offline (`playerOffline`); a resume makes it `playerOnline`"'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    begun = time.monotonic()
    b.drop()
    offline = await a.event("playerOffline")
    assert time.monotonic() - begun > 1.8
    assert (offline["playerId"], offline["roomId"], offline["roomOwnerId"]) == (b.player, room.id, a.player)
    late = await hf.player()
    joined = await late.do("joinRoom", {"roomId": room.id})
    assert [(p["id"], p["status"]) for p in joined["room"]["players"]] == [
        (a.player, 1),
        (b.player, 0),
        (late.player, 1),
    ]
    await a.event("playerEntered")
    reply = await b.resume()
    assert reply["resumed"]
    assert [p["status"] for p in reply["room"]["players"]] == [1, 1, 1]
    online = await a.event("playerOnline")
    assert (online["playerId"], online["roomId"], online["roomOwnerId"]) == (b.player, room.id, a.player)
    await late.event("playerOnline")
    await b.event("playerEntered")
    await b.nothing()


@pytest.mark.profile("quick")
async def test_the_window_ends(hf):
    '"when the window ends it is `playerLeft`"; "without a token: 39, the link stays open for another `connect`"'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    begun = time.monotonic()
    b.drop()
    assert (await a.event("playerOffline"))["playerId"] == b.player
    left = await a.event("playerLeft")
    assert time.monotonic() - begun > 1.4
    assert (left["playerId"], left["roomId"], left["roomOwnerId"]) == (b.player, room.id, a.player)
    reply = await b.resume(expect=None)
    assert reply.kind == "error" and reply["code"] == 39
    reply = await b.connect()
    assert reply["resumed"] is False and reply.get("room") is None
    await b.do("joinRoom", {"roomId": room.id})
    assert (await a.event("playerEntered"))["player"]["id"] == b.player


@pytest.mark.profile("quick")
async def test_a_resume_within_the_window_stops_its_clock(hf):
    '"A run … goes on through resumes": the window counts from the last drop'
    a, b = await hf.players(2)
    await hf.room(a, b)
    for _ in range(3):
        b.drop()
        await a.event("playerOffline")
        await asyncio.sleep(0.3)
        assert (await b.resume())["resumed"]
        await a.event("playerOnline")
    await asyncio.sleep(1.0)
    await a.nothing()


async def test_an_unknown_resume_token(hf):
    '''"a dead resume … without a token: 39, the link stays open for another `connect`, and nothing changes for the
    seat's real holder"'''
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    x = hf.client()
    await x.open()
    for wrong in ("", "x", "0" * 64, a.resume_token[:-1] + ("A" if a.resume_token[-1] != "A" else "B")):
        if wrong:
            await x.refused(39, "connect", {"resume": {"resumeToken": wrong, "roomSeq": 1, "roomId": room.id}})
    await x.connect()
    assert all(not events for events in (await room.told()).values())


async def test_a_dead_resume_falls_back_to_the_token(hf):
    '"With token and resume both given, a dead resume falls back to the token (`resumed` false)"'
    a = await hf.player()
    await a.do("disconnect")
    await a.goodbye(0)
    reply = await a.resume(token=a.token)
    assert reply["resumed"] is False


async def test_a_live_resume_goes_first(hf):
    '''"A live resume goes first: of a token beside it only the player is compared (another: 12), even when it has
    expired."'''
    a, b = await hf.players(2)
    await hf.room(a, b)
    b.drop()
    reply = await b.resume(token=b.token)
    assert reply["resumed"]
    b.drop()
    now = int(time.time())
    reply = await b.resume(token=tokens.token(b.player, iat=now - 7200, exp=now - 3600))
    assert reply["resumed"]
    b.drop()
    reply = await b.resume(token=tokens.token(hf.name()), expect=None)
    assert reply.kind == "error" and reply["code"] == 12
    await b.goodbye(12)
    reply = await b.resume()
    assert reply["resumed"]
    await a.nothing()


async def test_a_standing_link_is_closed_in_silence(hf):
    '"a link that still stands is closed in silence, and its late end changes nothing"'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    old = b.raw
    got = []
    b.leave_link()
    old.on_message = lambda opcode, payload: got.append(payload)
    reply = await b.resume()
    assert reply["resumed"]
    await old.until_ended()
    assert not got, f"nothing is said on the old link, came {got}"
    await asyncio.sleep(2.3)
    assert all(not events for events in (await room.told()).values())


async def test_a_half_open_old_link(hf):
    '"connect with resume works …; a link that still stands is closed in silence, and its late end changes nothing"'
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    old = b.raw
    b.leave_link()
    old.stop_reading()
    await say(a, "1", "2")
    assert (await b.resume())["resumed"]
    await say(a, "3")
    assert [(await b.event())["msg"] for _ in range(3)] == ["1", "2", "3"]
    old.reset()
    await asyncio.sleep(2.3)
    assert all(not events for events in (await room.told()).values())


async def test_resume_twice_in_a_row(hf):
    '"The resume token stays the same for the whole run."'
    a, b = await hf.players(2)
    await hf.room(a, b)
    token = b.resume_token
    for n in range(4):
        b.drop(reset=bool(n % 2))
        await say(a, f"m{n}")
        reply = await b.resume()
        assert reply["resumed"] and reply["resumeToken"] == token
    assert [(await b.event())["msg"] for _ in range(4)] == ["m0", "m1", "m2", "m3"]
    await b.nothing()


async def test_resume_at_once_without_reading(hf):
    """twice in a row: the second resume goes out before the first is answered (links are not ordered among each other,
    so an earlier one may come later and take over once more)"""
    a, b = await hf.players(2)
    await hf.room(a, b)
    await say(a, "1")
    await b.event()
    b.drop()
    await say(a, "2")
    for _ in range(3):
        await b.open()
        b.post("connect", {"resume": b.resume_fields()})
    for _ in range(4):
        await b.open()
        number = b.post("connect", {"resume": b.resume_fields()})
        await b.until(lambda n=number: b.replies.get(n) or b.raw.ended, what="connected, or the end of the link")
        await asyncio.sleep(0.1)
        if b.replies.get(number) and not b.raw.ended:
            break
    assert b.replies[number][0]["resumed"]
    assert (await b.event())["msg"] == "2"
    await b.nothing()


async def test_the_other_encoding_resumes_too(hf):
    '"`connect` with `resume` works on any gateway"; proto: "The subprotocol picks one for the whole connection"'
    a, b = await hf.players(2)
    await hf.room(a, b)
    b.drop()
    await say(a, "x")
    b.encoding = "protobuf" if b.encoding == "json" else "json"
    assert (await b.resume())["resumed"]
    assert (await b.event())["msg"] == "x"


async def test_messages_to_one_who_was_away(hf):
    '"Everyone = players (offline ones at their resume)"; "An event addressed to some leaves a hole for the rest."'
    a, b, c = await hf.players(3)
    await hf.room(a, b, c)
    b.drop()
    await say(a, "for b", type=1, receivers=[b.player])
    await say(a, "for c", type=1, receivers=[c.player])
    await say(a, "for all")
    await say(c, "c to b", type=1, receivers=[b.player])
    assert (await b.resume())["resumed"]
    assert [(await b.event())["msg"] for _ in range(3)] == ["for b", "for all", "c to b"]
    await b.nothing()


@pytest.mark.profile("offline")
async def test_not_told_of_its_own_absence(hf):
    '"playerOffline, playerOnline: everyone but that player"; others\' absence is told at the resume'
    a, b, c = await hf.players(3)
    await hf.room(a, b, c)
    b.drop()
    await a.event("playerOffline")
    await c.event("playerOffline")
    c.drop()
    await a.event("playerOffline")
    reply = await b.resume()
    assert [(p["id"], p["status"]) for p in reply["room"]["players"]] == [(a.player, 1), (b.player, 1), (c.player, 0)]
    assert (await b.event("playerOffline"))["playerId"] == c.player
    await a.event("playerOnline")
    assert (await c.resume())["resumed"]
    assert (await c.event("playerOnline"))["playerId"] == b.player
    assert (await b.event("playerOnline"))["playerId"] == c.player
    await a.event("playerOnline")
    for client in (a, b, c):
        await client.nothing()


async def kicked(owner, b):
    await owner.do("kickRoomPlayer", {"playerId": b.player})
    return "playerKicked"


async def dismissed(owner, b):
    await owner.do("dismissRoom")
    return "roomDismissed"


@pytest.mark.parametrize("how", [kicked, dismissed])
async def test_a_seat_that_ended_while_dropped(hf, how):
    '''"A seat that ended while dropped: `connected` (`resumed` true) has no `room`, and then comes the one event that
    ended it (`playerKicked`, `roomDismissed` or `serviceError`, without `seq`)."'''
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    b.drop()
    await say(a, "unseen")
    kind = await how(a, b)
    reply = await b.resume()
    assert reply["resumed"] and reply.get("room") is None and reply.get("frameSync") is None
    event = await b.event(kind)
    assert event.seq == 0 and event["roomId"] == room.id
    await b.nothing()
    b.drop()
    reply = await b.resume()
    assert reply["resumed"] and reply.get("room") is None
    await b.nothing()
    await b.do("createRoom", {"room": hf.config()})


async def test_a_spectators_place_that_ended_while_dropped(hf):
    '"spectators get `roomDismissed` 1"; "Password, ban, one-room rule and resume as for players"'
    a, s = await hf.players(2)
    await hf.room(a, spectators=[s])
    s.drop()
    await a.do("leaveRoom")
    reply = await s.resume()
    assert reply["resumed"] and reply.get("room") is None
    event = await s.event("roomDismissed")
    assert event["reason"] == 1 and event.seq == 0
    await s.nothing()


async def test_a_spectator_resumes(hf):
    '"Spectators: … Password, ban, one-room rule and resume as for players."'
    a, b, s = await hf.players(3)
    room = await hf.room(a, b, spectators=[s])
    s.drop()
    await say(a, "1")
    await say(b, "2")
    reply = await s.resume()
    assert reply["resumed"] and reply["room"]["id"] == room.id and reply["room"]["spectatorCount"] == 1
    assert [(await s.event())["msg"] for _ in range(2)] == ["1", "2"]


@pytest.mark.parametrize("which", ["another room", "no room", "zero", "before the entry"])
async def test_a_position_of_no_use(hf, which):
    '''"Events are resumed by `roomSeq` (which counts in `roomId`; another room than the player's, 0, or a position
    from before the player's own entry: `roomRestarted`)"'''
    a, b = await hf.players(2)
    room = await hf.room(a)
    await a.do("updatePlayerCustomStatus", {"status": 1})
    await a.event("playerCustomStatusChanged")
    await b.do("joinRoom", {"roomId": room.id})
    await a.event("playerEntered")
    entry = b.position
    await say(a, "seen")
    await b.event()
    b.drop()
    await say(a, "missed")
    other = {
        "another room": {"roomId": "elsewhere"},
        "no room": {"roomId": ""},
        "zero": {"roomSeq": 0},
        "before the entry": {"roomSeq": 1},
    }[which]
    assert entry > 2
    reply = await b.resume(**other)
    assert reply["resumed"] and reply["roomRestarted"] and reply["room"]["id"] == room.id
    await say(a, "live")
    event = await b.event("customMessageReceived")
    assert event["msg"] == "live" and event.seq > reply["roomSeq"]
    await b.nothing()


@pytest.mark.profile("short")
async def test_events_no_longer_kept(hf):
    '''Connected.room_restarted "true: they are not kept …; the next event comes after `room_seq`"; "Kept per room: 90
    s of events"'''
    a, b = await hf.players(2)
    await hf.room(a, b)
    b.drop()
    await say(a, "1", "2")
    await asyncio.sleep(1.2)
    await a.do("updatePlayerCustomStatus", {"status": 9})
    reply = await b.resume()
    assert reply["resumed"] and reply["roomRestarted"]
    assert reply["room"]["players"][0]["customStatus"] == 9
    await say(a, "live")
    assert (await b.event())["msg"] == "live"


async def test_resume_with_nothing_missed(hf):
    "the position is the stream's end: nothing follows, `roomRestarted` false"
    a, b = await hf.players(2)
    room = await hf.room(a, b)
    await room.told()
    b.position = max(b.position, a.position)
    b.drop()
    reply = await b.resume()
    assert reply["resumed"] and not reply["roomRestarted"]
    await b.nothing()


async def test_resume_outside_of_any_room(hf):
    '"A run … goes on through resumes", also of one who is in no room'
    a = await hf.player()
    a.drop()
    reply = await a.resume()
    assert reply["resumed"] and reply.get("room") is None
    await a.do("createRoom", {"room": hf.config()})
    a.drop()
    reply = await a.resume()
    assert reply["resumed"] and reply["room"]["ownerId"] == a.player


async def test_resume_after_leaving_the_room_it_counts_in(hf):
    '"another room than the player\'s … `roomRestarted`": a client that did not see its own move to another room'
    a, b = await hf.players(2)
    first = await hf.room(a)
    before = a.resume_fields()
    await a.do("leaveRoom")
    second = await hf.room(a, b)
    a.drop()
    await say(b, "x")
    reply = await a.resume(**before)
    assert first.id != second.id and reply["room"]["id"] == second.id and reply["roomRestarted"]
    await say(b, "y")
    assert (await a.event())["msg"] == "y"
