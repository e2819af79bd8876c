"""What a test gets: unique players, rooms with members, and who was told what."""

import asyncio
import itertools
import os

import tokens
from holdfast_client import Client
from ledger import Ledger

_count = itertools.count(1)
_worker = os.environ.get("PYTEST_XDIST_WORKER", "gw")


class World:
    def __init__(self, servers, profile, encoding):
        self.servers, self.profile, self.encoding = servers, profile, encoding
        self.ledger = Ledger()
        self.clients = []
        self.raws = []

    @property
    def server(self):
        return self.servers[self.profile]

    def name(self, prefix="p"):
        return f"{prefix}-{_worker}-{next(_count)}"

    def client(self, name=None, *, encoding=None, token=None, **claims):
        """A client that has not opened a link yet. In a mixed world every second one speaks Protobuf."""
        name = name or self.name()
        if encoding is None:
            encoding = self.encoding
            if encoding == "mixed":
                encoding = ("json", "protobuf")[len(self.clients) % 2]
        client = Client(
            name,
            self.server.address,
            encoding=encoding,
            token=token or tokens.token(name, **claims),
            ledger=self.ledger,
        )
        self.clients.append(client)
        return client

    async def player(self, name=None, **how):
        return await self.client(name, **how).start()

    async def players(self, count, **how):
        clients = [self.client(**how) for _ in range(count)]
        await asyncio.gather(*(client.start() for client in clients))
        return clients

    def twin(self, client, **how):
        """Another link of the same player."""
        return self.client(client.player, encoding=client.encoding, token=client.token, **how)

    def config(self, **config):
        return {"maxPlayerCount": 8, "type": self.name("t"), **config}

    async def room(self, owner, *players, spectators=(), **config):
        """A room with these members in this order; what joining told is taken away."""
        if spectators:
            config.setdefault("maxSpectatorCount", 10)
        joined = await owner.do("createRoom", {"room": self.config(**config)})
        room = Room(self, joined, owner, players, spectators)
        for member in players:
            await member.do("joinRoom", {"roomId": room.id, "password": config.get("password", "")})
        for member in spectators:
            await member.do(
                "joinRoom", {"roomId": room.id, "asSpectator": True, "password": config.get("password", "")}
            )
        await room.told()
        return room

    async def finish(self):
        problems = []
        for client in self.clients:
            client.settle()
            problems += [f"{client}: {v}" for v in client.violations]
            if client.raw is not None:
                problems += [f"{client}: {p}" for p in client.raw.problems]
        problems += self.ledger.check()
        for client in self.clients:
            if client.raw is not None and not client.raw.ended:
                if client.room and client.checks and not client.raw.problems:
                    client.post("disconnect", id=0)
                client.raw.end()
        for raw in self.raws:
            raw.reset()
        await asyncio.sleep(0)
        assert not problems, "\n".join(problems[:10])
        assert self.server.alive(), f"the server died\n{self.server.tail()}"


class Room:
    def __init__(self, world, joined, owner, players, spectators):
        self.world, self.joined = world, joined
        self.id, self.type = joined["room"]["id"], joined["room"]["type"]
        self.players, self.spectators = [owner, *players], list(spectators)

    @property
    def members(self):
        return self.players + self.spectators

    async def told(self, *outside):
        """The events (frames aside) that each member has been told by now; a message through the room's own order
        is the fence, a ping for members `outside` of it."""
        inside = [m for m in self.members if m.room == self.id and not m.raw.ended and m not in outside]
        players = [p for p in self.players if p in inside]
        out = {}
        if players:
            first = players[0]
            await self._fence(first, [m for m in inside if m is not first], out)
            if len(players) > 1:
                await self._fence(players[1], [first], out, receivers=[first.player])
        for member in [*inside, *outside]:
            if member not in out:
                await member.fence()
                await asyncio.sleep(0.02)
                out[member] = member.take_events()
        return out

    async def _fence(self, sender, members, out, receivers=()):
        if not members:
            return
        mark = self.world.name("fence")
        await sender.do("sendCustomMessage", {"msg": mark, "type": 1 if receivers else 0, "receivers": list(receivers)})

        def there(member):
            return any(e.kind == "customMessageReceived" and e["msg"] == mark for e in member.events)

        for member in members:
            await member.until(lambda: there(member), what=f"the fence {mark}")
            got = out.setdefault(member, [])
            while True:
                event = member.events.popleft()
                if event.kind == "customMessageReceived" and event["msg"] == mark:
                    break
                got.append(event)


def kinds(events):
    return [event.kind for event in events]
