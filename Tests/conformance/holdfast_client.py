"""A client that does exactly what a test tells it, and checks on its own what must hold for every message that comes.

Checked whenever it is used: only known replies, one for each request; events only while in a room; `seq` grows; frames are
contiguous; the reply comes before the event that the request caused; nothing of a room after its last event. Everything of a
room's stream also goes to the `Ledger`, which compares it between clients.
"""

import asyncio
import collections
import time

import messages
from messages import Violation
from mirror import Mirror
from rawsocket import BINARY, TEXT, RawSocket, frame_bytes

STREAM = {
    "playerEntered", "playerLeft", "playerOffline", "playerOnline", "playerKicked", "roomOwnerChanged",
    "roomPropertiesChanged", "playerCustomStatusChanged", "playerCustomPropertiesChanged", "roomDismissed",
    "customMessageReceived", "frameSyncStarted", "frame", "frameSyncStopped", "frames", "desyncDetected",
}
FRAMES = ("frame", "frames")
SUBPROTOCOL = {"json": "holdfast.v1.json", "protobuf": "holdfast.v1.protobuf"}
# Events that only an own request can have caused, so that its reply must have come before: of an owner, of any player.
OWNERS = {
    "frameSyncStarted": "startFrameSync", "roomOwnerChanged": "transferRoomOwner", "playerKicked": "kickRoomPlayer",
    "roomDismissed": "dismissRoom", "roomPropertiesChanged": "updateRoomProperties", "frameSyncStopped": "stopFrameSync",
}
OWN = {
    "playerCustomStatusChanged": "updatePlayerCustomStatus",
    "playerCustomPropertiesChanged": "updatePlayerCustomProperties",
}
SILENT = {"sendFrameInput", "reportFrameHash"}
UNSET = object()


class Refusal(AssertionError):
    def __init__(self, client, kind, message):
        super().__init__(f"{client}: {kind} was answered {message}")
        self.code = message["code"] if message.kind == "error" else None


class Message:
    """A decoded ServerMessage: `kind`, `id`, `seq`, and the body's fields by `message["name"]`."""

    def __init__(self, proto, raw, at):
        body = proto.WhichOneof("body")
        self.kind = proto.DESCRIPTOR.fields_by_name[body].json_name if body else None
        self.id, self.seq, self.raw, self.at = proto.id, proto.seq, raw, at
        whole = messages.to_dict(proto)
        self.body = whole[self.kind] if self.kind else {}

    def __getitem__(self, name):
        return self.body[name]

    def get(self, name, default=None):
        return self.body.get(name, default)

    def __repr__(self):
        text = str(self.body)
        return f"<{self.kind} id={self.id} seq={self.seq} {text if len(text) < 400 else text[:400] + '…'}>"


class Client:
    def __init__(self, player, address, *, encoding="json", token=None, ledger=None):
        self.player, self.address, self.encoding, self.token, self.ledger = player, address, encoding, token, ledger
        self.raw = None
        self.violations = []
        self.last_id = 0            # last request id used in this run
        self.resume_token = ""
        self.room = None            # the room it is in, as it was told
        self.position = 0           # largest of: seqs seen, roomSeq of roomJoined, roomSeq with roomRestarted
        self.sync = 0               # id of the running frame sync, 0: none
        self.last_frame = None      # last frame without a gap; None: not known, the next one sets it
        self.frames = {}            # frames of the running (or last) frame sync
        self.mirror = None          # the room as its events tell it
        self.promised = None        # (roomSeq, room) of a resume, until the events have come up to it
        self.checks = True
        self.may_answer_unasked = False
        self.events = collections.deque()   # events that a test has not taken, frames aside
        self.stream = []                    # everything of rooms in order of arrival, frames too
        self._fresh()

    def __repr__(self):
        return f"{self.player}/{self.encoding}"

    def _fresh(self):
        """State that belongs to one link."""
        # After a drop with requests in flight their events come without any reply.
        self.causes = not any(kind in (*OWNERS.values(), *OWN.values()) for kind, _ in getattr(self, "pending", {}).values())
        self.done = collections.Counter()   # requests of a kind that were answered `ok` on this link
        self.caused = collections.Counter() # events that such requests caused
        self.owner = None
        self.replies = {}                   # id → replies not taken yet
        self.pending = {}                   # id → (kind, body)
        self.strays = []                    # errors without id
        self.farewell = None                # `disconnected`
        self.after_farewell = 0
        self.count = 0
        self.after_leave = False
        self.ending = None                  # a resume without a room: one event tells how the seat ended

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
        return {"resumeToken": self.resume_token, "roomSeq": self.position, "roomId": self.room or "",
                "frameSyncId": self.sync, "frameId": (self.last_frame or 0) if self.sync else 0}

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
            raise AssertionError(f"{self}: {error}; events {list(self.events)}, replies {self.replies}, strays "
                                 f"{self.strays}, farewell {self.farewell}, ended {self.raw.ended}") from None
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
        await self.until(lambda: self.replies.get(number) or self.raw.ended, timeout, f"a reply to {number}, "
                         f"{self.pending.get(number)}")
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

    # ---------------------------------------------------------------- rules for every message

    def _wrong(self, text):
        if self.checks:
            self.violations.append(text)

    def _received(self, raw, opcode, payload):
        if raw is not self.raw:
            return
        wanted = TEXT if self.encoding == "json" else BINARY
        if opcode != wanted:
            return self._wrong(f"a frame of the other kind: {opcode}")
        try:
            message = Message(messages.decode(self.encoding, payload), payload, time.monotonic())
            self._take(message)
        except Violation as violation:
            self._wrong(str(violation))

    def _take(self, message):
        self.count += 1
        if self.farewell is not None:
            self.after_farewell += 1
        if message.kind is None:
            return self._wrong("a message without a body")
        if message.kind == "disconnected":
            self.farewell = message
        elif message.id or message.kind in ("connected", "pong", "ok", "roomJoined", "roomList"):
            self._reply(message)
        elif message.kind == "error":
            self.strays.append(message)
            self.replies.setdefault(0, []).append(message)
        elif message.kind in STREAM:
            self._event(message)
        elif message.kind == "serviceError":
            self.room = None
            self.events.append(message)
        else:
            self._wrong(f"unexpected {message}")

    def _reply(self, message):
        kind, body = self.pending.pop(message.id, (None, None))
        if kind is None and not self.may_answer_unasked:
            return self._wrong(f"a reply that nobody waits for: {message}")
        if message.seq:
            self._wrong(f"a reply with seq: {message}")
        if kind in SILENT and message.kind != "error":
            self._wrong(f"{kind} has no reply on success: {message}")
        self.replies.setdefault(message.id, []).append(message)
        if message.kind == "connected":
            self._connected(message, body)
        elif message.kind == "roomJoined":
            self._joined(message)
        elif message.kind == "frames":
            self._check_batch(message, message["frames"])
        elif kind == "leaveRoom" and message.kind == "ok":
            self.room, self.sync = None, 0
        elif message.kind == "ok":
            self.done[kind] += 1

    def _joined(self, message):
        room = message["room"]
        self.owner = room["ownerId"]
        if message["roomSeq"] < 1:
            self._wrong(f"roomSeq is at least 1: {message}")
        if self.room == room["id"]:
            return                      # the same request again: the stream goes on where it is
        self.room, self.position = room["id"], message["roomSeq"]
        self.mirror, self.promised = Mirror(room), None
        if self.ledger is not None:
            self.ledger.enters(self, self.room, self.position)
        self._begin_sync(message.get("frameSync"), message.get("snapshot"))

    def _begin_sync(self, info, snapshot):
        self.frames = {}
        self.sync = info["frameSyncId"] if info else 0
        self.last_frame = (snapshot["frameId"] if snapshot else 0) if info else None

    def _connected(self, message, asked):
        resume = (asked or {}).get("resume") or {}
        self.resume_token = message["resumeToken"]
        if message["playerId"] != self.player:
            self._wrong(f"another player's id: {message}")
        if not message["resumed"]:
            self.last_id = message.id
        room, info = message.get("room"), message.get("frameSync")
        before = self.room
        self.room = room["id"] if room else None
        self.owner = room["ownerId"] if room and message["roomRestarted"] else None
        if room is None:
            self.sync, self.last_frame = 0, None
            self.ending = {"playerKicked", "roomDismissed"} if message["resumed"] and before else None
            return
        if not message["resumed"] and not message["roomRestarted"]:
            self._wrong("a fresh connect begins the stream anew (roomRestarted true)")
        if message["roomRestarted"] or self.mirror is None:
            self.mirror, self.promised = Mirror(room), None
        else:
            self.promised = (message["roomSeq"], room)
        usable = info and resume.get("roomId") == room["id"] and resume.get("frameSyncId") == info["frameSyncId"]
        if message["roomRestarted"]:
            self.position = message["roomSeq"]
            if self.ledger is not None:
                self.ledger.enters(self, self.room, self.position)
            if usable and message["resumed"]:
                self.sync, self.last_frame = info["frameSyncId"], resume.get("frameId", 0)
            elif usable:
                self.sync, self.last_frame = info["frameSyncId"], None
            else:
                self._begin_sync(info, message.get("snapshot"))
        else:
            self.position = resume.get("roomSeq", 0)
            if self.ledger is not None:
                self.ledger.resumes(self, self.room, self.position)
            if usable:
                self.sync, self.last_frame = info["frameSyncId"], resume.get("frameId", 0)
            elif self.sync == 0 or before != self.room:
                self.last_frame = None

    def _event(self, message):
        if self.ending and message.kind in self.ending and message.seq == 0:
            self.ending = None
            self.events.append(message)
            return
        if self.room is None:
            return self._wrong(f"an event while in no room: {message}")
        self._check_seq(message)
        self._check_cause(message)
        if self.ledger is not None and message.seq:
            self.ledger.saw(self, self.room, message)
        self.stream.append(message)
        if message.kind == "frame":
            self._check_frames([message.body], message)
        elif message.kind == "frames":
            self._check_batch(message, message["frames"])
            self._batch(message)
            if self.ledger is not None and message["frames"]:
                self.ledger.batch(self, self.room, message)
        else:
            self._apply(message)
            self.events.append(message)

    def _check_seq(self, message):
        if message.seq == 0:
            if message.kind != "frames":
                self._wrong(f"an event of a stream without seq: {message}")
        elif message.seq <= self.position:
            self._wrong(f"seq {message.seq} after {self.position}: {message}")
        else:
            self.position = message.seq

    def _check_cause(self, message):
        """A caller gets its reply before any event that its request caused."""
        kind, body = message.kind, message.body
        request = OWN.get(kind) if body.get("playerId") == self.player else None
        if request is None and self.owner == self.player and body.get("reason", 0) == 0:
            request = OWNERS.get(kind)
        self.owner = body.get("roomOwnerId") or self.owner
        if request is None or not self.causes:
            return
        self.caused[request] += 1
        if self.caused[request] > self.done[request]:
            self._wrong(f"{message} came before the reply to {request}")

    def _apply(self, message):
        kind, body = message.kind, message.body
        if kind in ("playerEntered", "playerLeft", "playerOffline", "playerOnline"):
            who = body["player"]["id"] if kind == "playerEntered" else body["playerId"]
            if who == self.player:
                self._wrong(f"told of itself: {message}")
        if body.get("roomId", self.room) != self.room:
            self._wrong(f"an event of another room: {message}")
        self._keep_promise(message.seq - 1)
        if self.mirror is not None:
            wrong = self.mirror.apply(message, self.player, self.promised is None)
            if wrong:
                self._wrong(f"{wrong}: {message}")
        if kind == "frameSyncStarted":
            if self.sync:
                self._wrong(f"a frame sync started while {self.sync} runs: {message}")
            self.sync, self.last_frame, self.frames = body["frameSyncId"], body["frameId"], {}
            if body["frameId"] != 0:
                self._wrong(f"frameSyncStarted comes before frame 1: {message}")
        elif kind == "frameSyncStopped":
            if self.sync and body["frameSyncId"] != self.sync:
                self._wrong(f"another frame sync stopped: {message}")
            self.sync = 0
        elif kind == "roomDismissed" or kind == "playerKicked" and body["playerId"] == self.player:
            self.room, self.sync = None, 0

    def _keep_promise(self, position):
        """After a resume: once the missed events have come, they have led to the room that `connected` told."""
        if self.promised is None or position < self.promised[0]:
            return
        room, self.promised = self.promised[1], None
        if self.mirror is not None:
            wrong = self.mirror.differs(room, owner=False)
            if wrong:
                self._wrong(f"after the resume {wrong}")
        self.mirror = Mirror(room)

    def settle(self):
        """At the end of a test: everything that was promised has come."""
        if self.room and self.raw is not None and not self.raw.ended:
            self._keep_promise(self.position)

    def _check_batch(self, message, frames):
        ids = [frame["id"] for frame in frames]
        weight = sum(len(i.get("dataBytes") or i.get("data", "").encode()) for f in frames for i in f["inputs"])
        if len(frames) > 600 or len(frames) > 1 and weight > 256 * 1024:
            self._wrong(f"{len(frames)} frames with {weight} bytes of inputs in one message")
        if ids and ids != list(range(ids[0], ids[0] + len(ids))):
            self._wrong(f"frames with a gap: {ids}")
        if self.ledger is not None:
            for frame in frames:
                self.ledger.frame(self, self.room, message["frameSyncId"] or self.sync, frame)

    def _batch(self, message):
        frames = message["frames"]
        if not frames:
            return
        if message["frameSyncId"] and self.sync and message["frameSyncId"] != self.sync:
            self.sync, self.last_frame, self.frames = message["frameSyncId"], None, {}
        first = frames[0]["id"]
        if self.last_frame is not None and first > self.last_frame + 1 and message["firstKept"] == first:
            self.last_frame = first - 1
        self._check_frames(frames, message)

    def _check_frames(self, frames, message):
        if message.kind == "frame" and not self.sync:
            return self._wrong(f"a frame while no frame sync runs: {message}")
        for frame in frames:
            if self.last_frame is not None and frame["id"] != self.last_frame + 1:
                return self._wrong(f"frame {frame['id']} after {self.last_frame} ({message.kind})")
            self.last_frame = frame["id"]
            self.frames[frame["id"]] = frame
            if message.kind == "frame" and self.ledger is not None:
                self.ledger.frame(self, self.room, self.sync, frame, message.seq)
