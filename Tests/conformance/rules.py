"""The rules that hold for every message that a client gets, checked as it comes."""

import time

import messages
from messages import Violation
from mirror import Mirror
from rawsocket import BINARY, TEXT

STREAM = {
    "playerEntered",
    "playerLeft",
    "playerOffline",
    "playerOnline",
    "playerKicked",
    "roomOwnerChanged",
    "roomPropertiesChanged",
    "playerCustomStatusChanged",
    "playerCustomPropertiesChanged",
    "roomDismissed",
    "customMessageReceived",
    "frameSyncStarted",
    "frame",
    "frameSyncStopped",
    "frames",
    "desyncDetected",
}
FRAMES = ("frame", "frames")
# Events that only an own request can have caused, so that its reply must have come before: of an owner, of any player.
OWNERS = {
    "frameSyncStarted": "startFrameSync",
    "roomOwnerChanged": "transferRoomOwner",
    "playerKicked": "kickRoomPlayer",
    "roomDismissed": "dismissRoom",
    "roomPropertiesChanged": "updateRoomProperties",
    "frameSyncStopped": "stopFrameSync",
}
OWN = {
    "playerCustomStatusChanged": "updatePlayerCustomStatus",
    "playerCustomPropertiesChanged": "updatePlayerCustomProperties",
}
SILENT = {"sendFrameInput", "reportFrameHash"}


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


class Rules:
    """The receiving half of `Client`."""

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
            return  # the same request again: the stream goes on where it is
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
            # Read twice when a link breaks between `connected` and the event; test_resume.py asks for once.
            untold = message["resumed"] and (before or self.ending or self.ends_told)
            self.ending = {"playerKicked", "roomDismissed"} if untold else None
            return
        self.ending = None
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
            self.ends_told += 1
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
