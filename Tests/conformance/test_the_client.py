"""The checks that the client makes for every test can fail: each is shown a stream that breaks its rule."""

import json

import pytest

from holdfast_client import Client
from ledger import Ledger
from rawsocket import TEXT

ROOM = {
    "id": "r1",
    "name": "",
    "type": "t",
    "ownerId": "other",
    "status": 0,
    "customProperties": "",
    "maxPlayerCount": 4,
    "players": [
        {"id": "me", "status": 1, "customStatus": 0, "customProperties": ""},
        {"id": "other", "status": 1, "customStatus": 0, "customProperties": ""},
    ],
    "createTime": "1",
    "frameRate": 15,
    "spectatorCount": 0,
    "maxSpectatorCount": 0,
    "allowLateJoin": False,
    "hasPassword": False,
    "hidden": False,
    "matchParams": {},
    "lockedDuringFrameSync": False,
}


class Told:
    """A client that is told messages without any socket; it is in ROOM at position 1."""

    def __init__(self, ledger=None, player="me"):
        self.client = Client(player, None, ledger=ledger)
        self.client.raw = type("NoSocket", (), {"ended": False, "problems": []})()
        self.pend(1, "createRoom")
        self.tell({"id": 1, "roomJoined": {"room": ROOM, "roomSeq": "1"}})
        assert not self.client.violations, self.client.violations

    def pend(self, number, kind, body=None):
        self.client.pending[number] = (kind, body or {})

    def tell(self, *messages):
        for message in messages:
            text = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.client._received(self.client.raw, TEXT, text)
        return self.client.violations

    def status(self, seq, player="other", status=1):
        return {"seq": str(seq), "playerCustomStatusChanged": {"playerId": player, "status": status}}

    def sync(self, seq=2):
        info = {
            "roomInfo": {**ROOM, "status": 1},
            "frameSyncId": 1,
            "seed": 5,
            "serverTime": "1",
            "frameRate": 15,
            "frameId": 0,
        }
        return {"seq": str(seq), "frameSyncStarted": info}

    def frame(self, seq, number, inputs=()):
        return {"seq": str(seq), "frame": {"id": number, "inputs": list(inputs), "changes": []}}


@pytest.fixture(autouse=True)
def classes(servers):
    return servers


def test_what_is_right_passes():
    "a stream as it should be"
    told = Told()
    told.pend(2, "updatePlayerCustomStatus")
    assert not told.tell(
        told.sync(2), told.frame(4, 1), {"id": 2, "ok": {}}, told.status(5, "me"), told.frame(6, 2), told.status(7)
    )


BROKEN = {
    "seq goes back": lambda t: [t.status(5), t.status(4)],
    "seq twice": lambda t: [t.status(5), t.status(5)],
    "no seq": lambda t: [{"playerCustomStatusChanged": {"playerId": "other", "status": 1}}],
    "a gap of frames": lambda t: [t.sync(), t.frame(3, 1), t.frame(5, 3)],
    "a frame twice": lambda t: [t.sync(), t.frame(3, 1), t.frame(4, 1)],
    "a frame without frame sync": lambda t: [t.frame(3, 1)],
    "a frame after the stop": lambda t: [
        t.sync(),
        t.frame(3, 1),
        {"seq": "4", "frameSyncStopped": {"roomId": "r1", "frameSyncId": 1, "reason": 1}},
        t.frame(5, 2),
    ],
    "a reply nobody waits for": lambda t: [{"id": 9, "ok": {}}],
    "told of itself": lambda t: [
        {"seq": "3", "playerOffline": {"roomId": "r1", "roomOwnerId": "other", "playerId": "me"}}
    ],
    "another room's event": lambda t: [
        {"seq": "3", "playerLeft": {"roomId": "r2", "roomOwnerId": "me", "playerId": "other"}}
    ],
    "after the room's end": lambda t: [{"seq": "3", "roomDismissed": {"roomId": "r1", "reason": 2}}, t.status(4)],
    "the wrong owner": lambda t: [
        {"seq": "3", "playerLeft": {"roomId": "r1", "roomOwnerId": "other", "playerId": "other"}}
    ],
    "left twice": lambda t: [
        {"seq": str(n), "playerLeft": {"roomId": "r1", "roomOwnerId": "me", "playerId": "other"}} for n in (3, 4)
    ],
    "own event before the reply": lambda t: [t.status(3, "me")],
    "a wrong roomInfo": lambda t: [t.status(2), t.sync(3)],
    "a missing default": lambda t: [b'{"seq":"3","playerCustomStatusChanged":{"playerId":"other"}}'],
    "a wide integer as a number": lambda t: [b'{"seq":3,"playerCustomStatusChanged":{"playerId":"other","status":1}}'],
    "a key twice": lambda t: [b'{"seq":"3","seq":"3","playerCustomStatusChanged":{"playerId":"other","status":1}}'],
    "an unknown field": lambda t: [b'{"seq":"3","playerCustomStatusChanged":{"playerId":"other","status":1,"more":1}}'],
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_is_wrong_is_seen(case):
    "every broken stream is a violation"
    told = Told()
    *before, last = BROKEN[case](told)
    assert not told.tell(*before), "up to the last message nothing is wrong"
    assert told.tell(last), "the last one breaks the rule"


def test_the_ledger_compares():
    "two clients, one stream: other content, an unexplained hole"
    ledger = Ledger()
    one, two = Told(ledger), Told(ledger)
    one.tell(one.status(2), one.status(3))
    two.tell(two.status(2), two.status(3, status=2))
    assert any("another" in p for p in ledger.check())
    ledger = Ledger()
    one, two = Told(ledger), Told(ledger)
    one.tell(one.status(2), one.status(3), one.status(4))
    two.tell(two.status(2), two.status(4))
    assert any("hole at 3" in p for p in ledger.check())
    ledger = Ledger()
    one, two = Told(ledger), Told(ledger)
    one.tell(one.sync(), one.frame(3, 1))
    two.tell(two.sync(), two.frame(3, 1, [{"playerId": "x", "data": "", "serverTime": "1", "id": 1}]))
    assert ledger.check()
