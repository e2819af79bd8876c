"""A room's state as one client can know it from its events alone, compared with what the server says it is."""

import copy

FIELDS = (
    "id",
    "name",
    "type",
    "customProperties",
    "maxPlayerCount",
    "frameRate",
    "matchParams",
    "hidden",
    "hasPassword",
    "allowLateJoin",
    "lockedDuringFrameSync",
    "maxSpectatorCount",
    "createTime",
)


class Mirror:
    def __init__(self, room):
        self.room = copy.deepcopy(room)

    @property
    def players(self):
        return self.room["players"]

    def find(self, player):
        return next((p for p in self.players if p["id"] == player), None)

    def differs(self, room, *, owner=True, status=True, without=()):
        """Where `room` is not what the events have told, or None. `without`: players whose status is not compared."""
        mine, theirs = self.room, room
        for name in FIELDS + (("ownerId",) if owner else ()) + (("status",) if status else ()):
            if mine[name] != theirs[name]:
                return f"{name} is {theirs[name]!r}, the events told {mine[name]!r}"

        def seats(players):
            return [{**p, "status": 1} if p["id"] in without else p for p in players]

        if seats(mine["players"]) != seats(theirs["players"]):
            return f"players are {theirs['players']}, the events told {mine['players']}"
        return None

    def apply(self, message, me, settled):
        """Carries out an event; returns what is wrong with it, or None.

        `settled`: no events are being caught up with, so that this client knows who is online.
        """
        kind, body = message.kind, message.body
        wrong = None
        before = self.room["ownerId"]
        if kind == "playerEntered":
            if self.find(body["player"]["id"]):
                wrong = "entered twice"
            self.players.append(copy.deepcopy(body["player"]))
            wrong = wrong or self._taken_up(body["roomOwnerId"], before, body["player"]["id"])
        elif kind in ("playerLeft", "playerKicked"):
            player = self.find(body["playerId"])
            if player:
                self.players.remove(player)
            elif body["playerId"] != me:
                wrong = "who was not there is gone"
            wrong = wrong or self._handed_on(body["roomOwnerId"], before, body["playerId"])
        elif kind == "playerOffline":
            player = self.find(body["playerId"])
            if player is None or player["status"] != 1:
                wrong = "who was not there, or offline already, went offline"
            else:
                player["status"] = 0
            wrong = wrong or self._handed_on(body["roomOwnerId"], before, body["playerId"])
        elif kind == "playerOnline":
            player = self.find(body["playerId"])
            if player is None or player["status"] != 0:
                wrong = "who was not there, or not offline, came online"
            wrong = wrong or self._taken_up(body["roomOwnerId"], before, body["playerId"])
            if player:
                player["status"] = 1
        elif kind == "roomOwnerChanged":
            player = self.find(body["roomOwnerId"])
            if player is None or player["status"] != 1 and player["id"] != me:
                wrong = "to one who is not seated and online"
        elif kind == "roomPropertiesChanged":
            self.room["name"], self.room["customProperties"] = body["name"], body["customProperties"]
        elif kind in ("playerCustomStatusChanged", "playerCustomPropertiesChanged"):
            player = self.find(body["playerId"])
            if player is None:
                return "of one who is not seated"
            if "status" in body:
                player["customStatus"] = body["status"]
            else:
                player["customProperties"] = body["properties"]
        elif kind == "frameSyncStarted":
            self.room["status"] = 1
            wrong = self.differs(body["roomInfo"], status=False, owner=settled, without=() if settled else (me,))
        elif kind == "frameSyncStopped":
            self.room["status"] = 0
        if "roomOwnerId" in body:
            self.room["ownerId"] = body["roomOwnerId"]
        return wrong if settled or kind == "frameSyncStarted" else None

    def _handed_on(self, owner, before, gone):
        """Somebody went: was it the owner, the longest-seated online player follows; else nothing changes."""
        online = [p["id"] for p in self.players if p["status"] == 1 and p["id"] != gone]
        if gone != before:
            return None if owner == before else f"the owner {before} is still there, and {owner} is told"
        if online and owner != online[0]:
            return f"the longest-seated online player is {online[0]}, and {owner} is told to be the owner"
        return None

    def _taken_up(self, owner, before, came):
        """Somebody came: with no owner online it becomes owner; else nothing changes."""
        old = self.find(before)
        wanted = before if old and old["status"] == 1 else came
        return None if owner == wanted else f"{wanted} should be the owner, and {owner} is told"
