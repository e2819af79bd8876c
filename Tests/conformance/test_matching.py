"""rooms.md, "Matching and the list": matchRoom, waiting, cancelMatch."""

import asyncio
import time

import pytest


def ids(message):
    return [p["id"] for p in message["room"]["players"]]


async def waiting(client, config, timeout=60000, **other):
    """A caller that waits; the sleep lets its wait reach the pool before another's."""
    number = client.post("matchRoom", {"room": config, "timeoutMs": timeout, **other})
    await client.fence()
    await asyncio.sleep(0.03)
    assert not client.replies.get(number), client.replies
    return number


async def test_none_is_open(hf):
    '"If there is none, it creates one with the config; the caller owns it."'
    a = await hf.player()
    config = hf.config(maxPlayerCount=3, name="mine", customProperties="cp", matchParams={"a": "1"}, frameRate=30)
    joined = await a.do("matchRoom", {"room": config, "player": {"customStatus": 4}})
    room = joined["room"]
    assert room["ownerId"] == a.player and ids(joined) == [a.player] and room["players"][0]["customStatus"] == 4
    assert (room["name"], room["customProperties"], room["frameRate"]) == ("mine", "cp", 30)
    assert room["matchParams"] == {"a": "1"} and not room["hidden"] and not room["hasPassword"]


async def test_one_is_open(hf):
    '''"joins an open room whose `maxPlayerCount`, `type` and whole `matchParams` are equal"; "The rest of the config
    is ignored then."'''
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=3, name="a", matchParams={"x": "1", "y": "2"})
    first = await a.do("createRoom", {"room": config})
    other = {
        **config,
        "name": "b",
        "customProperties": "b",
        "frameRate": 60,
        "allowLateJoin": True,
        "lockedDuringFrameSync": True,
        "maxSpectatorCount": 9,
    }
    joined = await b.do("matchRoom", {"room": other, "player": {"customProperties": "me"}})
    assert joined["room"]["id"] == first["room"]["id"] and joined["room"]["name"] == "a"
    assert joined["room"]["frameRate"] == 15 and joined["room"]["ownerId"] == a.player
    entered = await a.event("playerEntered")
    assert entered["player"]["id"] == b.player and entered["player"]["customProperties"] == "me"


@pytest.mark.parametrize(
    "change",
    [
        {"maxPlayerCount": 4},
        {"type": "another"},
        {"matchParams": {"x": "1"}},
        {"matchParams": {"x": "1", "y": "3"}},
        {"matchParams": {"x": "1", "y": "2", "z": ""}},
        {"matchParams": {}},
        {"matchParams": {"x": "2", "y": "1"}},
    ],
)
async def test_another_key(hf, change):
    '"whose `maxPlayerCount`, `type` and whole `matchParams` are equal"'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=3, matchParams={"x": "1", "y": "2"})
    first = await a.do("createRoom", {"room": config})
    change = {**change, "type": hf.name("t")} if "type" in change else change
    joined = await b.do("matchRoom", {"room": {**config, **change}})
    assert joined["room"]["id"] != first["room"]["id"] and ids(joined) == [b.player]


async def test_keys_do_not_run_together(hf):
    '"whole `matchParams` are equal": no other pair of keys and values looks the same'
    pairs = [
        {"a": "b=c"},
        {"a=b": "c"},
        {"a": "b", "c": ""},
        {"a": "b,c"},
        {"a": "b&c="},
        {"a": "b\u0000c"},
        {"": "ab"},
    ]
    kind = hf.name("t")
    rooms = set()
    for params in pairs[:-1]:
        client = await hf.player()
        joined = await client.do("matchRoom", {"room": {"maxPlayerCount": 5, "type": kind, "matchParams": params}})
        rooms.add(joined["room"]["id"])
    assert len(rooms) == len(pairs) - 1


async def test_the_fullest_first_then_the_oldest(hf):
    '"The fullest goes first, then the oldest."'
    config = hf.config(maxPlayerCount=4)
    owners = await hf.players(3)
    rooms = []
    for owner in owners:
        rooms.append((await owner.do("createRoom", {"room": config}))["room"]["id"])
        await asyncio.sleep(0.02)
    guest, *callers = await hf.players(7)
    await guest.do("joinRoom", {"roomId": rooms[1]})
    await asyncio.sleep(0.05)
    places = []
    for caller in callers:
        places.append((await caller.do("matchRoom", {"room": config}))["room"]["id"])
        await asyncio.sleep(0.02)
    assert places == [rooms[1], rooms[1], rooms[0], rooms[0], rooms[0], rooms[2]]


async def test_rooms_that_are_not_matched(hf):
    '"a free seat, not hidden, no password, somebody online, no frame sync (unless `allowLateJoin`), caller not banned"'
    config = hf.config(maxPlayerCount=2)
    full, full2, hidden, secret, running, banned, b, x = await hf.players(8)
    await hf.room(full, full2, **config)
    await hf.room(hidden, **config, hidden=True)
    await hf.room(secret, **config, password="pw")
    await hf.room(running, **config)
    await running.do("startFrameSync")
    await hf.room(banned, x, **config)
    await banned.do("kickRoomPlayer", {"playerId": x.player, "ban": True})
    await x.event("playerKicked")
    joined = await x.do("matchRoom", {"room": config})
    assert ids(joined) == [x.player], "a new room"
    await x.do("leaveRoom")
    joined = await b.do("matchRoom", {"room": config})
    assert ids(joined) == [banned.player, b.player]


async def test_a_running_room_that_allows_late_join(hf):
    '"no frame sync (unless `allowLateJoin`)"'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=2)
    await hf.room(a, **config, allowLateJoin=True, frameRate=30)
    await a.do("startFrameSync")
    await a.frame(2)
    joined = await b.do("matchRoom", {"room": config})
    assert ids(joined) == [a.player, b.player] and joined["frameSync"]["frameSyncId"] == 1
    await b.frame(joined["frameSync"]["frameId"] + 2)
    assert min(b.frames) == 1


@pytest.mark.profile("offline")
async def test_a_room_with_nobody_online(hf):
    '"somebody online"'
    a, s, b = await hf.players(3)
    config = hf.config(maxPlayerCount=3)
    await hf.room(a, spectators=[s], **config)
    a.drop()
    await s.event("playerOffline")
    await asyncio.sleep(0.05)
    joined = await b.do("matchRoom", {"room": config})
    assert ids(joined) == [b.player]


async def test_hidden_or_password(hf):
    '"`hidden` or `password` in a match: 11."'
    a = await hf.player()
    await a.refused(11, "matchRoom", {"room": hf.config(hidden=True)})
    await a.refused(11, "matchRoom", {"room": hf.config(password="x")})
    await a.refused(11, "matchRoom", {"room": hf.config(password="x"), "timeoutMs": 1000})


async def test_the_longest_wait(hf):
    'MatchRoom: "`timeoutMs` (up to 300,000)"'
    a = await hf.player()
    await a.refused(11, "matchRoom", {"room": hf.config(), "timeoutMs": 300_001})
    number = await waiting(a, hf.config(), 300_000)
    await a.do("cancelMatch")
    assert (await a.reply(number))["code"] == 35


@pytest.mark.parametrize("count,seats", [(7, 3), (20, 4), (5, 5), (11, 2)])
async def test_many_at_once(hf, count, seats):
    '"N callers of one key end in ⌈N / maxPlayerCount⌉ rooms when nobody leaves; none is overfilled."'
    players = await hf.players(count)
    config = hf.config(maxPlayerCount=seats)
    joined = await asyncio.gather(*(p.do("matchRoom", {"room": config}) for p in players))
    rooms = {}
    for player, reply in zip(players, joined):
        rooms.setdefault(reply["room"]["id"], []).append(player.player)
        assert len(reply["room"]["players"]) <= seats
    assert len(rooms) == -(-count // seats), rooms
    assert all(len(r) <= seats for r in rooms.values())


@pytest.mark.parametrize("count,seats", [(6, 3), (8, 2), (10, 5)])
async def test_many_waiting_at_once(hf, count, seats):
    '''"when `maxPlayerCount` wait, a room is made with the longest waiter's config …; all stand in each reply's
    `room`, with no `playerEntered` among them"'''
    players = await hf.players(count)
    config = hf.config(maxPlayerCount=seats)
    joined = await asyncio.gather(*(p.do("matchRoom", {"room": config, "timeoutMs": 20000}) for p in players))
    assert len({j["room"]["id"] for j in joined}) == count // seats
    for player, reply in zip(players, joined):
        assert player.player in ids(reply) and len(ids(reply)) == seats
    for player in players:
        await player.nothing(0.02)


async def test_waiting_together(hf):
    "\"a room is made with the longest waiter's config, who owns it; all stand in each reply's `room`\""
    a, b, c = await hf.players(3)
    config = hf.config(maxPlayerCount=3)
    one = await waiting(a, {**config, "name": "of a", "frameRate": 40}, player={"customStatus": 1})
    two = await waiting(b, {**config, "name": "of b"}, player={"customStatus": 2})
    third = await c.do(
        "matchRoom", {"room": {**config, "name": "of c"}, "timeoutMs": 5000, "player": {"customStatus": 3}}
    )
    for reply in (await a.reply(one), await b.reply(two), third):
        room = reply["room"]
        assert (room["name"], room["frameRate"], room["ownerId"]) == ("of a", 40, a.player)
        assert sorted((p["id"], p["customStatus"], p["status"]) for p in room["players"]) == sorted(
            [(a.player, 1, 1), (b.player, 2, 1), (c.player, 3, 1)]
        )
    for client in (a, b, c):
        await client.nothing()
    await b.do("sendCustomMessage", {"msg": "x"})
    assert (await a.event())["msg"] == (await c.event())["msg"] == "x"


async def test_one_seat_never_waits(hf):
    '"when `maxPlayerCount` wait, a room is made": with one seat at once'
    a = await hf.player()
    joined = await a.do("matchRoom", {"room": hf.config(maxPlayerCount=1), "timeoutMs": 20000}, timeout=3)
    assert ids(joined) == [a.player]


async def test_an_open_room_goes_before_waiting(hf):
    '"with no open room, the caller waits": with one it joins at once'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=4)
    await a.do("createRoom", {"room": config})
    joined = await b.do("matchRoom", {"room": config, "timeoutMs": 20000})
    assert ids(joined) == [a.player, b.player]


async def test_a_room_that_appears(hf):
    '"Waiting callers take, longest wait first, seats in any open room of their key that appears"'
    a, b, c, owner = await hf.players(4)
    config = hf.config(maxPlayerCount=4)
    one, two = await waiting(a, config), await waiting(b, config)
    joined = await owner.do("createRoom", {"room": config})
    first, second = await a.reply(one), await b.reply(two)
    assert first["room"]["id"] == second["room"]["id"] == joined["room"]["id"]
    assert [(await owner.event("playerEntered"))["player"]["id"] for _ in range(2)] == [a.player, b.player]
    assert ids(await c.do("matchRoom", {"room": config})) == [owner.player, a.player, b.player, c.player]


async def test_a_seat_that_becomes_free(hf):
    '"seats in any open room of their key that appears": a full room where one leaves is open again'
    a, b, c, d = await hf.players(4)
    config = hf.config(maxPlayerCount=2)
    await hf.room(a, b, **config)
    one = await waiting(c, config)
    await b.do("leaveRoom")
    reply = await c.reply(one)
    assert ids(reply) == [a.player, c.player]
    assert [(await a.event()).kind for _ in range(2)] == ["playerLeft", "playerEntered"]


async def test_the_longest_wait_goes_first(hf):
    '"longest wait first"'
    a, b, c, owner = await hf.players(4)
    config = hf.config(maxPlayerCount=5)
    one, two, three = [await waiting(client, config) for client in (a, b, c)]
    await owner.do("createRoom", {"room": {**config, "hidden": True}})
    await a.nothing()
    assert not any(client.replies for client in (a, b, c)), "a hidden room is not matched"
    await owner.do("leaveRoom")
    joined = await owner.do("createRoom", {"room": config})
    for client, number in ((a, one), (b, two), (c, three)):
        assert (await client.reply(number))["room"]["id"] == joined["room"]["id"]
    entered = [(await owner.event("playerEntered"))["player"]["id"] for _ in range(3)]
    assert entered == [a.player, b.player, c.player]


async def test_a_room_that_stops_running(hf):
    '"seats in any open room of their key that appears": one whose frame sync stops is open again'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=3)
    await hf.room(a, **config)
    await a.do("startFrameSync")
    await asyncio.sleep(0.05)
    number = await waiting(b, config)
    await a.do("stopFrameSync")
    assert ids(await b.reply(number)) == [a.player, b.player]


async def test_who_is_banned_waits_on(hf):
    '"caller not banned"; "Waiting callers take, longest wait first, seats in any open room"'
    a, banned, c = await hf.players(3)
    config = hf.config(maxPlayerCount=3)
    await hf.room(a, banned, **config)
    await a.do("kickRoomPlayer", {"playerId": banned.player, "ban": True})
    await banned.event("playerKicked")
    await a.event("playerKicked")
    await asyncio.sleep(0.05)
    one = await waiting(banned, config)
    await banned.nothing(0.2)
    assert not banned.replies.get(one)
    assert ids(await c.do("matchRoom", {"room": config, "timeoutMs": 5000})) == [a.player, c.player]
    await banned.nothing(0.1)
    assert not banned.replies.get(one)
    await banned.do("cancelMatch")
    assert (await banned.reply(one))["code"] == 35


@pytest.mark.profile("offline")
async def test_a_room_whose_owner_comes_back(hf):
    '"somebody online": a room is open again when one comes online'
    a, s, b = await hf.players(3)
    config = hf.config(maxPlayerCount=3)
    await hf.room(a, spectators=[s], **config)
    a.drop()
    await s.event("playerOffline")
    await asyncio.sleep(0.05)
    number = await waiting(b, config)
    await a.resume()
    assert ids(await b.reply(number)) == [a.player, b.player]


async def test_the_time_limit(hf):
    '"The time limit: 34."'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=2)
    begun = time.monotonic()
    await a.refused(34, "matchRoom", {"room": config, "timeoutMs": 400})
    assert time.monotonic() - begun > 0.35
    number = await waiting(b, config)
    assert not b.replies.get(number), "who gave up is not matched"
    await a.do("createRoom", {"room": hf.config()})


async def test_cancel(hf):
    '"`cancelMatch` (always `ok`): 35."'
    a, b = await hf.players(2)
    await a.do("cancelMatch")
    config = hf.config(maxPlayerCount=2)
    number = await waiting(a, config)
    await a.do("cancelMatch")
    reply = await a.reply(number)
    assert reply.kind == "error" and reply["code"] == 35
    await a.do("cancelMatch")
    other = await waiting(b, config)
    assert not b.replies.get(other)
    joined = await a.do("matchRoom", {"room": config, "timeoutMs": 5000})
    assert (await b.reply(other))["room"]["id"] == joined["room"]["id"]
    await a.do("cancelMatch")
    await a.do("leaveRoom")


async def test_one_at_a_time(hf):
    """ "createRoom, matchRoom, joinRoom, leaveRoom: while one is unanswered, another gets 15."; errors.md: 11 goes
    before 15, 15 before 20/21"""
    a, b = await hf.players(2)
    room = await hf.room(b)
    number = await waiting(a, hf.config(maxPlayerCount=2))
    await a.refused(15, "createRoom", {"room": hf.config()})
    await a.refused(15, "matchRoom", {"room": hf.config()})
    await a.refused(15, "joinRoom", {"roomId": room.id})
    await a.refused(15, "leaveRoom")
    await a.refused(11, "createRoom", {"room": {}})
    await a.refused(20, "sendCustomMessage", {"msg": "x"})
    await a.do("getRoomList", {})
    await a.do("cancelMatch")
    assert (await a.reply(number))["code"] == 35
    await a.do("joinRoom", {"roomId": room.id})


async def test_disconnect_ends_the_wait(hf):
    '"A run … ends with `disconnect`": nobody waits without a run'
    a, b = await hf.players(2)
    config = hf.config(maxPlayerCount=2)
    await waiting(a, config)
    await a.do("disconnect")
    number = await waiting(b, config)
    await b.nothing(0.1)
    assert not b.replies.get(number)


async def test_refusals_never_answer_a_match(hf):
    '''"When a found room fills, starts or closes first, the search goes on: 23, 24, 26, 31, 32 never answer
    `matchRoom`."'''
    config = hf.config(maxPlayerCount=2)
    callers = await hf.players(24)

    async def come_and_go(client, turn):
        for _ in range(3):
            reply = await client.request("matchRoom", {"room": config, "timeoutMs": 0 if turn % 2 else 3000})
            assert reply.kind == "roomJoined" or reply["code"] == 34, reply
            if reply.kind == "roomJoined":
                if turn % 3 == 0 and client.room and reply["room"]["ownerId"] == client.player:
                    await client.request("startFrameSync")
                await client.request("leaveRoom")

    await asyncio.gather(*(come_and_go(client, turn) for turn, client in enumerate(callers)))
