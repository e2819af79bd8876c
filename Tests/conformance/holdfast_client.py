"""A client that does exactly what a test tells it, and checks on its own what must hold for every message that
comes.

Checked whenever it is used: only known replies, one for each request; events only while in a room; `seq` grows;
frames are contiguous; the reply comes before the event that the request caused; nothing of a room after its
last event. Everything of a room's stream also goes to the `Ledger`, which compares it between clients.
"""

import asyncio
import collections

import messages
from messages import Violation
from rawsocket import BINARY, TEXT, RawSocket, frame_bytes
from rules import OWN, OWNERS, Rules

SUBPROTOCOL = {"json": "holdfast.v1.json", "protobuf": "holdfast.v1.protobuf"}
UNSET = object()


class Refusal(AssertionError):
    def __init__(self, client, kind, message):
        super().__init__(f"{client}: {kind} was answered {message}")
        self.code = message["code"] if message.kind == "error" else None


class Client(Rules):
    def __init__(self, player, address, *, encoding="json", token=None, ledger=None):
        self.player, self.address, self.encoding, self.token, self.ledger = player, address, encoding, token, ledger
        self.raw = None
        self.violations = []
        self.last_id = 0  # last request id used in this run
        self.resume_token = ""
        self.room = None  # the room it is in, as it was told
        self.position = 0  # largest of: seqs seen, roomSeq of roomJoined, roomSeq with roomRestarted
        self.sync = 0  # id of the running frame sync, 0: none
        self.last_frame = None  # last frame without a gap; None: not known, the next one sets it
        self.frames = {}  # frames of the running (or last) frame sync
        self.mirror = None  # the room as its events tell it
        self.ending = None  # a resume without a room: one event tells how the seat ended
        self.ends_told = 0
        self.promised = None  # (roomSeq, room) of a resume, until the events have come up to it
        self.checks = True
        self.may_answer_unasked = False
        self.events = collections.deque()  # events that a test has not taken, frames aside
        self.stream = []  # everything of rooms in order of arrival, frames too
        self._fresh()

    def __repr__(self):
        return f"{self.player}/{self.encoding}"

    def _fresh(self):
        """State that belongs to one link."""
        # After a drop with requests in flight their events come without any reply.
        self.causes = not any(
            kind in (*OWNERS.values(), *OWN.values()) for kind, _ in getattr(self, "pending", {}).values()
        )
        self.done = collections.Counter()  # requests of a kind that were answered `ok` on this link
        self.caused = collections.Counter()  # events that such requests caused
        self.owner = None
        self.replies = {}  # id → replies not taken yet
        self.pending = {}  # id → (kind, body)
        self.strays = []  # errors without id
        self.farewell = None  # `disconnected`
        self.after_farewell = 0
        self.count = 0
        self.after_leave = False

    # ---------------------------------------------------------------- the link

    async def open(self, *, subprotocols=UNSET, receive_buffer=None, path="/v1/connect", headers=()):
        self.leave_link()
        self._fresh()
        raw = await RawSocket.open(self.address, receive_buffer=receive_buffer)
        raw.on_message = lambda opcode, payload, raw=raw: self._received(raw, opcode, payload)
        self.raw = raw
        offered = [SUBPROTOCOL[self.encoding]] if subprotocols is UNSET else subprotocols
        answer = await raw.upgrade(path, offered, headers)
        if offered:
            chosen = answer.get("sec-websocket-protocol")
            assert chosen in offered, f"subprotocol {chosen!r} of {offered}"
            self.encoding = "protobuf" if chosen == SUBPROTOCOL["protobuf"] else "json"
        else:
            assert "sec-websocket-protocol" not in answer, "a subprotocol that was not offered"
        return self

    def leave_link(self):
        """Lets go of the present link without ending it; it lives on as `RawSocket` alone."""
        if self.raw is not None:
            self.raw.on_message = lambda opcode, payload: None
            if self.ledger is not None and self.room:
                self.ledger.allow_unseen_holes(self.room)

    async def connect(self, *, expect="connected", **fields):
        """Sends `connect` (by default with this client's token) on the open link and takes its reply."""
        if not fields:
            fields = {"token": self.token}
        reply = await self.request("connect", fields)
        if expect and reply.kind != expect:
            raise Refusal(self, "connect", reply)
        return reply

    async def start(self, **how):
        await self.open(**how)
        await self.connect()
        return self

    def resume_fields(self):
        return {
            "resumeToken": self.resume_token,
            "roomSeq": self.position,
            "roomId": self.room or "",
            "frameSyncId": self.sync,
            "frameId": (self.last_frame or 0) if self.sync else 0,
        }

    async def resume(self, *, token=None, expect="connected", how=None, **other):
        """A new link that resumes from what this client has seen; other fields of Resume may be given."""
        fields = {"resume": {**self.resume_fields(), **other}}
        if token is not None:
            fields["token"] = token
        await self.open(**(how or {}))
        return await self.connect(expect=expect, **fields)

    def drop(self, reset=False):
        """Ends the socket without `disconnect`."""
        self.leave_link()
        self.raw.reset() if reset else self.raw.end()

    async def until(self, condition, timeout=5.0, what="the condition"):
        try:
            await self.raw.until(lambda: condition() or self.violations, timeout, what)
        except AssertionError as error:
            raise AssertionError(
                f"{self}: {error}; events {list(self.events)}, replies {self.replies}, strays "
                f"{self.strays}, farewell {self.farewell}, ended {self.raw.ended}"
            ) from None
        self.raise_violations()

    def raise_violations(self):
        if self.violations:
            raise Violation(f"{self}: " + "; ".join(self.violations[:5]))

    # ---------------------------------------------------------------- sending

    def send_bytes(self, payload, opcode=None):
        """A whole WebSocket message of any bytes, in this link's kind of frame unless told otherwise."""
        if isinstance(payload, str):
            payload = payload.encode("utf-8")
        own = TEXT if self.encoding == "json" else BINARY
        self.raw.send(own if opcode is None else opcode, payload)

    def next_id(self):
        self.last_id += 1
        return self.last_id

    def post(self, kind, body=None, *, id=UNSET):
        """Sends without waiting; returns the id."""
        number = self.next_id() if id is UNSET else id
        self.last_id = max(self.last_id, number)
        self.pending[number] = (kind, body or {})
        self.send_bytes(messages.encode(self.encoding, {**({"id": number} if number else {}), kind: body or {}}))
        return number

    def post_many(self, bodies):
        """Several messages [(kind, body)] in one write; returns the ids."""
        out, ids = bytearray(), []
        for kind, body in bodies:
            number = self.next_id()
            self.pending[number] = (kind, body)
            payload = messages.encode(self.encoding, {"id": number, kind: body})
            out += frame_bytes(TEXT if self.encoding == "json" else BINARY, payload)
            ids.append(number)
        self.raw.write(bytes(out))
        return ids

    async def reply(self, number, timeout=5.0):
        await self.until(
            lambda: self.replies.get(number) or self.raw.ended,
            timeout,
            f"a reply to {number}, {self.pending.get(number)}",
        )
        if not self.replies.get(number):
            raise AssertionError(f"{self}: the link ended without a reply to {number}; farewell {self.farewell}")
        reply = self.replies[number].pop(0)
        if not self.replies[number]:
            del self.replies[number]
        return reply

    async def request(self, kind, body=None, *, id=UNSET, timeout=6.0):
        return await self.reply(self.post(kind, body, id=id), timeout)

    async def do(self, kind, body=None, **how):
        """A request that must succeed."""
        reply = await self.request(kind, body, **how)
        if reply.kind == "error":
            raise Refusal(self, kind, reply)
        return reply

    async def refused(self, code, kind, body=None, **how):
        """A request that must be refused with this code (or one of these)."""
        reply = await self.request(kind, body, **how)
        codes = code if isinstance(code, tuple) else (code,)
        assert reply.kind == "error", f"{self}: {kind} {str(body)[:200]} should be refused with {code}, came {reply}"
        assert reply["code"] in codes, f"{self}: {kind} {str(body)[:200]} should be {code}, came {reply}"
        return reply

    # ---------------------------------------------------------------- receiving

    async def event(self, kind=None, timeout=5.0):
        """Takes the next event (frames aside), which must be of this kind."""
        await self.until(lambda: self.events, timeout, f"an event {kind or ''}")
        event = self.events.popleft()
        assert kind is None or event.kind == kind, f"{self}: wanted {kind}, came {event}, then {list(self.events)}"
        return event

    def take_events(self):
        taken = list(self.events)
        self.events.clear()
        return taken

    async def fence(self):
        """Everything that was on its way over this link before has come when this returns."""
        reply = await self.request("ping", {"clientTime": 7})
        assert reply.kind == "pong", reply

    async def nothing(self, seconds=0.06):
        """No event comes."""
        await self.fence()
        await asyncio.sleep(seconds)
        await self.fence()
        assert not self.events, f"{self}: nothing should come, came {list(self.events)}"

    async def frame(self, number, timeout=5.0):
        """Waits for a frame of the running frame sync."""
        await self.until(lambda: number in self.frames, timeout, f"frame {number}, last is {self.last_frame}")
        return self.frames[number]

    async def input_frame(self, test, timeout=5.0):
        """Waits until a frame holds an input that passes `test`; returns (frame id, input)."""

        def find():
            return next(((n, i) for n, f in self.frames.items() for i in f["inputs"] if test(i)), None)

        await self.until(find, timeout, "an input in a frame")
        return find()

    async def goodbye(self, code, *, may_reconnect=None, timeout=5.0):
        """`disconnected` with this code, then the end of the connection."""
        await self.until(lambda: self.farewell or self.raw.ended, timeout, f"disconnected {code}")
        assert self.farewell, f"{self}: the link ended without `disconnected`"
        assert self.farewell["code"] == code, f"{self}: {self.farewell}"
        wanted = code in (1, 37, 38) if may_reconnect is None else may_reconnect
        assert self.farewell["mayReconnect"] == wanted, f"{self}: {self.farewell}"
        await self.until(lambda: self.raw.ended, timeout, "the end of the connection")
        assert not self.after_farewell, f"{self}: messages after `disconnected`"
        return self.farewell
