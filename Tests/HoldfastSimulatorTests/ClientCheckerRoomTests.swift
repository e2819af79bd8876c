import HoldfastProtocol
import Testing

@testable import HoldfastSimulator

/// As `ClientCheckerTests`: of rooms, times and connections.
@Suite struct ClientCheckerRoomTests {
    // MARK: 8 and 9, rooms as told

    @Test func seats() {
        let join = ClientMessage.Body.joinRoom(JoinRoom(roomId: "r"))
        let joined = { (room: RoomInfo) in ServerMessage.Body.roomJoined(RoomJoined(room: room, roomSeq: 3)) }
        expect([]) {
            $0.connect(2, run: "run-c")
            $0.ask(2, join, joined(Talk.room(["a", "b", "c"])))
        }
        expect([8]) {
            $0.connect(2, run: "run-c")
            $0.ask(2, join, joined(Talk.room(["a", "b", "c"], max: 2)))
        }
        expect([8]) {
            $0.connect(2, run: "run-c")
            $0.ask(2, join, joined(Talk.room(["a", "b"])))
        }
        expect([8]) {
            var other = Talk.room(["a"])
            other.id = "q"
            $0.ask(0, join, joined(other))
        }
        expect([8]) {
            $0.hear([0], 3, .playerEntered(PlayerEntered(roomId: "r", player: Talk.info("b"), roomOwnerId: "a")))
        }
        expect([8]) { $0.hear([0], 3, .playerLeft(PlayerLeft(roomId: "r", roomOwnerId: "a", playerId: "c"))) }
    }

    @Test func owners() {
        expect([]) {
            $0.ask(0, .leaveRoom(LeaveRoom()))
            $0.hear([1], 3, .playerLeft(PlayerLeft(roomId: "r", roomOwnerId: "b", playerId: "a")))
        }
        expect([9]) {
            $0.ask(0, .leaveRoom(LeaveRoom()))
            $0.hear([1], 3, .playerLeft(PlayerLeft(roomId: "r", roomOwnerId: "a", playerId: "a")))
        }
        expect([9]) {
            $0.connect(2, run: "run-c")
            $0.ask(
                2, .joinRoom(JoinRoom(roomId: "r")),
                .roomJoined(RoomJoined(room: Talk.room(["a", "b", "c"], online: [false, true, true]), roomSeq: 3)))
        }
        // The longest-seated is next.
        expect([9]) {
            $0.connect(2, run: "run-c")
            $0.ask(
                2, .joinRoom(JoinRoom(roomId: "r")),
                .roomJoined(RoomJoined(room: Talk.room(["a", "b", "c"]), roomSeq: 3)))
            $0.ask(0, .leaveRoom(LeaveRoom()))
            $0.hear([2], 4, .playerLeft(PlayerLeft(roomId: "r", roomOwnerId: "c", playerId: "a")))
        }
    }

    // MARK: 11, time

    @Test func nobodyIsOfflineTooSoon() {
        let offline = ServerMessage.Body.playerOffline(PlayerOffline(roomId: "r", roomOwnerId: "a", playerId: "b"))
        expect([]) {
            $0.cut(1)
            $0.nowMs += 2_000
            $0.hear([0], 3, offline)
        }
        expect([11]) {
            $0.cut(1)
            $0.nowMs += 1_700
            $0.hear([0], 3, offline)
        }
        // Not within 2.5 s of a failover.
        let home = { (talk: Talk) in talk.checker.homes[1] }
        expect([11]) {
            $0.cut(1)
            $0.nowMs += 1_500
            $0.checker.epochStarted(home($0), nowMs: $0.nowMs)
            $0.nowMs += 1_500
            $0.hear([0], 3, offline)
        }
        expect([]) {
            $0.cut(1)
            $0.nowMs += 1_500
            $0.checker.epochStarted(home($0), nowMs: $0.nowMs)
            $0.nowMs += 2_500
            $0.hear([0], 3, offline)
        }
        // Decided before the failover, told after it.
        expect([]) {
            $0.cut(1)
            $0.nowMs += 2_100
            $0.checker.epochStarted(home($0), nowMs: $0.nowMs)
            $0.nowMs += 100
            $0.hear([0], 3, offline)
        }
    }

    @Test func aSeatIsHeldForTheWindow() {
        let left = ServerMessage.Body.playerLeft(PlayerLeft(roomId: "r", roomOwnerId: "a", playerId: "b"))
        expect([11]) {
            $0.cut(1)
            $0.nowMs += 30_000
            $0.hear([0], 3, left)
        }
        expect([]) {
            $0.cut(1)
            $0.nowMs += 60_000
            $0.hear([0], 3, left)
        }
        expect([]) {
            $0.say(1, 70, .leaveRoom(LeaveRoom()))
            $0.hear([0], 3, left)
        }
        // A lost shard lets go at once.
        expect([]) {
            $0.checker.shardLost($0.checker.homes[1], nowMs: $0.nowMs)
            $0.hear([0], 3, left)
        }
    }

    @Test func toldTimeDoesNotFall() {
        expect([11], from: .playing()) {
            for n in 1...2 { $0.say(1, UInt32(50 + n), Talk.input("i1.\(n)")) }
            $0.hear([0], 4, Talk.frame(1, [Talk.taken("i1.1", 51, by: "b", at: 1_200)]))
            $0.hear([0], 5, Talk.frame(2, [Talk.taken("i1.2", 52, by: "b", at: 1_150)]))
        }
    }

    // MARK: 12, connections

    @Test func onlyTheNewestLinkHearsTheRoom() {
        let changed = ServerMessage.Body.roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r1.1"))
        let play = { (talk: inout Talk, old: UInt64) in
            talk.ask(1, .updateRoomProperties(UpdateRoomProperties(name: "r1.1")))
            talk.connect(3, run: "run-a2", room: Talk.room(["a", "b"]), seq: old - 1)
            talk.hear(0, changed, seq: 3)
        }
        // What was on its way when the newer one began.
        expect([]) { play(&$0, 4) }
        expect([12]) { play(&$0, 3) }
    }

    @Test func whoIsConnectedIsNotToldAway() {
        let offline = ServerMessage.Body.playerOffline(PlayerOffline(roomId: "r", roomOwnerId: "a", playerId: "b"))
        expect([12]) {
            $0.nowMs += 20_000
            $0.hear([0], 3, offline)
        }
        // Its gateway may have been lost.
        expect([]) {
            $0.nowMs += 20_000
            $0.checker.disturbed(endpoint: 0, nowMs: $0.nowMs)
            $0.hear([0], 3, offline)
        }
    }

    @Test func replacedIsWhoWasReplaced() {
        let five = ServerMessage.Body.disconnected(Disconnected(code: 5))
        expect([12]) { $0.hear(0, five) }
        expect([]) {
            $0.connect(3, run: "run-a2", room: Talk.room(["a", "b"]), seq: 2)
            $0.hear(0, five)
        }
        // The old run does not come back.
        expect([12]) {
            $0.nowMs += 1
            $0.connect(3, run: "run-a2", room: Talk.room(["a", "b"]), seq: 2)
            $0.nowMs += 1
            $0.cut(0)
            $0.resume(
                0, Resume(resumeToken: "run-a", roomSeq: 2, roomId: "r"),
                Connected(room: Talk.room(["a", "b"]), roomSeq: 2))
        }
    }

    // MARK: 4, 14, 16

    @Test func onlyWhatIsLostIsToldAsLost() {
        let lost = ServerMessage.Body.serviceError(ServiceError(code: 1))
        expect([4]) { $0.hear(0, lost) }
        expect([]) {
            $0.checker.shardLost($0.checker.rooms[0].home, nowMs: $0.nowMs)
            $0.hear(0, lost)
        }
        expect([4]) { $0.hear(0, .disconnected(Disconnected(code: 1, mayReconnect: true))) }
    }

    @Test func aMatchEndsInARoomOfItsKey() {
        var talk = Talk()
        talk.connect(0, run: "run-a")
        let match = ClientMessage.Body.matchRoom(
            MatchRoom(room: RoomConfig(maxPlayerCount: 3, type: "duel"), timeoutMs: 100))
        expect([], from: talk) { $0.ask(0, match, .error(ErrorReply(code: 34))) }
        expect([14], from: talk) { $0.ask(0, match, .error(ErrorReply(code: 23))) }
        expect([], from: talk) { $0.ask(0, match, .roomJoined(RoomJoined(room: Talk.room(["a"]), roomSeq: 1))) }
        expect([14], from: talk) {
            $0.ask(0, match, .roomJoined(RoomJoined(room: Talk.room(["a"], max: 2), roomSeq: 1)))
        }
    }

    @Test func inTheEndAllAreAtTheHead() {
        let rest = { (online: Bool, calls: Int) in
            [ClientChecker.Rest(device: 0, isWanted: true, isOnline: online, openCalls: calls)]
        }
        expect([]) { $0.checker.atEnd(rest(true, 0), nowMs: $0.nowMs) }
        expect([16]) { $0.checker.atEnd(rest(false, 0), nowMs: $0.nowMs) }
        expect([16]) { $0.checker.atEnd(rest(true, 1), nowMs: $0.nowMs) }
        expect([16], from: .playing()) {
            $0.hear([0], 4, Talk.frame(1))
            $0.checker.atEnd([], nowMs: $0.nowMs + 10_000)
        }
    }
}
