"""What all clients of one test saw of each room's stream, compared: the same order, the same bytes, no unexplained
hole."""

HIDEABLE = {"playerEntered", "playerLeft", "playerOffline", "playerOnline", "playerKicked", "customMessageReceived"}


class Window:
    """One unbroken stretch of one client's view of a stream."""

    def __init__(self, client, start):
        self.client, self.start, self.last = client, start, start
        self.seen, self.covered = set(), []


class Ledger:
    def __init__(self):
        self.events = {}  # room → seq → (kind, body)
        self.bytes = {}  # (encoding, room, seq) → the bytes of it
        self.frames = {}  # (room, frame sync, frame id) → frame
        self.places = {}  # (room, frame sync, frame id) → seq
        self.batches = []  # (client, room, frame sync, last frame id, seq, start of the stream)
        self.windows = {}  # room → windows
        self.problems = []
        self.unseen_holes_allowed = set()

    def enters(self, client, room, position):
        self.windows.setdefault(room, []).append(Window(client, position))

    def resumes(self, client, room, position):
        self.allow_unseen_holes(room)
        if self._window(client, room) is None:
            self.enters(client, room, position)

    def allow_unseen_holes(self, room):
        """Somebody of the room was away, so what was told only to that client was seen by nobody here."""
        self.unseen_holes_allowed.add(room)

    def _window(self, client, room):
        return next((w for w in reversed(self.windows.get(room, [])) if w.client is client), None)

    def saw(self, client, room, message):
        window = self._window(client, room)
        if message.kind == "frames":
            if window is not None:
                window.covered.append((window.last, message.seq))
                window.last = message.seq
            return
        if window is not None:
            window.seen.add(message.seq)
            window.last = message.seq
        known = self.events.setdefault(room, {}).setdefault(message.seq, (message.kind, message.body))
        if known != (message.kind, message.body):
            self.problems.append(f"room {room}, seq {message.seq}: {client} saw {message}, another {known}")
        raw = self.bytes.setdefault((client.encoding, room, message.seq), message.raw)
        if message.kind == "frame" and raw != message.raw:
            self.problems.append(f"room {room}, seq {message.seq}: not the same bytes for every member")

    def batch(self, client, room, message):
        window = self._window(client, room)
        sync = message["frameSyncId"] or client.sync
        self.batches.append(
            (client, room, sync, message["frames"][-1]["id"], message.seq, window.start if window else 0)
        )

    def frame(self, client, room, sync, frame, seq=0):
        if seq:
            self.places[room, sync, frame["id"]] = seq
        known = self.frames.setdefault((room, sync, frame["id"]), frame)
        if known != frame:
            self.problems.append(f"room {room}, frame sync {sync}: {client} saw {frame}, another {known}")

    def check(self):
        for room, windows in self.windows.items():
            events = self.events.get(room, {})
            for window in windows:
                self._check_holes(room, window, events)
        for client, room, sync, last, seq, start in self.batches:
            place = self.places.get((room, sync, last))
            if place is not None and seq != (place if place > start else 0) and seq != place:
                self.problems.append(
                    f"{client}: `frames` up to {last} have seq {seq}; that frame has {place}, the stream "
                    f"began after {start}"
                )
        return self.problems

    def _check_holes(self, room, window, events):
        covered = set()
        for low, high in window.covered:
            covered.update(range(low + 1, high + 1))
        for seq in range(window.start + 1, window.last):
            if seq in window.seen or seq in covered:
                continue
            kind = events.get(seq, (None, None))[0]
            if kind is None and room in self.unseen_holes_allowed:
                continue
            if kind is None or kind not in HIDEABLE:
                self.problems.append(
                    f"room {room}: {window.client} has a hole at {seq} ({kind}), window {window.start}…{window.last}"
                )
