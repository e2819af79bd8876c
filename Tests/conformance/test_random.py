"""Random walks: many members do at random what the rules allow, drop and resume; every message is checked by the
client, every stream by the ledger, and at the end everybody knows the same room."""

import asyncio
import random

import pytest

from world import kinds

pytestmark = pytest.mark.mixed


class Walker:
    def __init__(self, hf, client, room, generator):
        self.hf, self.client, self.room, self.generator = hf, client, room, generator

    async def step(self):
        act = self.generator.choices(
            [self.change, self.talk, self.play, self.drop, self.leave, self.own, self.look], [5, 4, 5, 2, 1, 4, 1]
        )[0]
        await act()
        self.client.raise_violations()

    async def expect(self, codes, kind, body=None):
        reply = await self.client.request(kind, body)
        if reply.kind == "error":
            assert reply["code"] in (3, *codes), f"{kind}: {reply}"
            if reply["code"] == 3:
                await asyncio.sleep(reply["retryAfterMs"] / 1000)
        return reply

    async def change(self):
        if self.generator.random() < 0.5:
            await self.expect((20, 36), "updatePlayerCustomStatus", {"status": self.generator.randrange(-5, 5)})
        else:
            text = "é" * self.generator.randrange(20)
            await self.expect((20, 36), "updatePlayerCustomProperties", {"properties": text})

    async def talk(self):
        kind = self.generator.randrange(2)
        receivers = [self.generator.choice(self.hf.clients).player for _ in range(3)]
        await self.expect((20, 30, 36), "sendCustomMessage", {"msg": "m", "type": kind, "receivers": receivers})

    async def play(self):
        for _ in range(self.generator.randrange(1, 4)):
            self.client.post("sendFrameInput", {"data": str(self.generator.random())})
        await asyncio.sleep(self.generator.random() * 0.05)

    async def drop(self):
        self.client.drop(reset=self.generator.random() < 0.5)
        await asyncio.sleep(self.generator.choice([0, 0.01, 0.1, 0.5]))
        reply = await self.client.resume()
        assert reply["resumed"]

    async def leave(self):
        if self.client.room:
            await self.expect((20,), "leaveRoom")
        spectate = self.generator.random() < 0.3
        await self.expect((21, 23, 24), "joinRoom", {"roomId": self.room, "asSpectator": spectate})

    async def own(self):
        act = self.generator.randrange(5)
        other = self.generator.choice(self.hf.clients).player
        if act == 0:
            await self.expect((20, 22, 36), "updateRoomProperties", {"name": str(self.generator.randrange(100))})
        elif act == 1:
            await self.expect((20, 22, 30, 36), "transferRoomOwner", {"playerId": other})
        elif act == 2:
            await self.expect((11, 20, 22, 30, 36), "kickRoomPlayer", {"playerId": other})
        elif act == 3:
            await self.expect((20, 22, 26, 36), "startFrameSync")
        elif self.generator.random() < 0.4:
            await self.expect((20, 22, 25, 36), "stopFrameSync")

    async def look(self):
        if self.client.sync and self.client.last_frame:
            await self.expect(
                (20, 25), "getFrames", {"first": max(1, self.client.last_frame - 5), "last": self.client.last_frame}
            )


@pytest.mark.slow(60)
@pytest.mark.profile("offline")
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_a_random_walk(hf, seed):
    'rooms.md as a whole: "Everyone sees the same order", "no gap or repeat at the seam", owners, who is told'
    keeper, *clients = await hf.players(8)
    for client in (keeper, *clients):
        client.may_answer_unasked = True
    room = await hf.room(keeper, *clients[:4], maxPlayerCount=6, maxSpectatorCount=5, allowLateJoin=True, frameRate=30)
    walkers = [Walker(hf, c, room.id, random.Random(f"{seed} {n}")) for n, c in enumerate([keeper, *clients])]

    async def walk(walker, steps):
        for _ in range(steps):
            if walker.client is keeper and walker.client.room:
                await walker.generator.choice([walker.change, walker.talk, walker.play, walker.own])()
            else:
                await walker.step()
            await asyncio.sleep(walker.generator.random() * 0.08)

    await asyncio.gather(*(walk(w, 40) for w in walkers))
    for client in (keeper, *clients):
        if client.room is None:
            client.take_events()
            reply = await client.request("joinRoom", {"roomId": room.id})
            assert reply.kind == "roomJoined" or reply["code"] in (3, 23, 24), reply
    members = [c for c in (keeper, *clients) if c.room == room.id]
    speaker = next((c for c in members if c.mirror.find(c.player)), None)
    if speaker is None:
        return
    await asyncio.sleep(1.1)
    mark = hf.name("fence")
    await speaker.do("updatePlayerCustomProperties", {"properties": mark})
    for client in members:
        await client.until(
            lambda c=client: c.mirror.find(speaker.player)["customProperties"] == mark, what="the last event"
        )
    observer = await hf.player()
    reply = await observer.request("joinRoom", {"roomId": room.id, "asSpectator": True})
    if reply.kind == "roomJoined":
        for client in members:
            wrong = client.mirror.differs(reply["room"])
            assert wrong is None, f"{client}: {wrong}; {kinds(client.events)}"
