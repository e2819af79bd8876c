import HoldfastProtocol
import Testing

@testable import HoldfastSimulator

/// Every check: a dialogue that breaks it is caught, and the one beside it that does not is let pass.
@Suite struct ClientCheckerTests {
    // MARK: 5, streams

    @Test func positionsGrow() {
        let status = { (n: Int) in
            ServerMessage.Body.playerCustomStatusChanged(
                PlayerCustomStatusChanged(playerId: "b", status: Talk.status(n, of: 1)))
        }
        let play = { (talk: inout Talk, second: UInt64) in
            for n in 1...2 { talk.ask(1, .updatePlayerCustomStatus(.init(status: Talk.status(n, of: 1)))) }
            talk.hear([0, 1], 3, status(1))
            talk.hear([0], second, status(2))
        }
        expect([]) { play(&$0, 4) }
        expect([5]) { play(&$0, 3) }
        expect([5]) { play(&$0, 2) }
    }

    @Test func holesAreOnlyOfWhatIsForOthers() {
        expect([]) {
            $0.ask(1, Talk.say("m1.1"))
            $0.ask(1, Talk.say("m1.2", to: ["a"]))
            $0.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.1")))
            $0.hear([0], 3, Talk.message("m1.1", from: "b"))
            $0.hear([0], 4, Talk.message("m1.2", from: "b"))
            $0.hear([0, 1], 5, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.1")))
        }
        // Missed, and known as for everyone already.
        expect([5]) {
            for n in 1...2 { $0.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.\(n)"))) }
            $0.hear([0], 3, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.1")))
            $0.hear([0, 1], 4, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.2")))
        }
        // Missed, and known only later.
        expect([5]) {
            for n in 1...2 { $0.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.\(n)"))) }
            $0.hear([1], 4, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.2")))
            $0.hear([0], 3, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.1")))
        }
        // A spectator is passed over, also when the message names it.
        let named = { (talk: inout Talk, asSpectator: Bool) in
            talk.connect(2, run: "run-c")
            let join = RoomJoined(room: Talk.room(asSpectator ? ["a", "b"] : ["a", "b", "c"]), roomSeq: 3)
            talk.ask(2, .joinRoom(JoinRoom(roomId: "r", asSpectator: asSpectator)), .roomJoined(join))
            talk.ask(1, Talk.say("m1.1", to: ["a", "c"]))
            talk.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.1")))
        }
        let renamed = ServerMessage.Body.roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.1"))
        for isTold in [false, true] {
            for asSpectator in [false, true] {
                // The hole is known as one for c before the message is seen, or after.
                expect(isTold == asSpectator ? [5] : []) {
                    named(&$0, asSpectator)
                    if isTold { $0.hear([2], 4, Talk.message("m1.1", from: "b")) }
                    $0.hear([2], 5, renamed)
                    $0.hear([0], 4, Talk.message("m1.1", from: "b"))
                }
                expect(isTold == asSpectator ? [5] : []) {
                    named(&$0, asSpectator)
                    $0.hear([0], 4, Talk.message("m1.1", from: "b"))
                    if isTold { $0.hear([2], 4, Talk.message("m1.1", from: "b")) }
                    $0.hear([2], 5, renamed)
                }
            }
        }
        // A missed frame.
        expect([5], from: .playing()) {
            $0.hear([0], 4, Talk.frame(1))
            $0.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.1")))
            $0.hear([1], 5, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.1")))
        }
    }

    @Test func everyoneGetsTheSame() {
        expect([5], from: .playing()) {
            $0.hear([0], 4, Talk.frame(1))
            $0.hear(1, .frame(Frame(id: 1, changes: [SeatChange(playerId: "c", kind: 0)])), seq: 4)
        }
        expect([5, 9]) {
            $0.ask(0, .transferRoomOwner(TransferRoomOwner(playerId: "b")))
            $0.hear([0], 3, .roomOwnerChanged(RoomOwnerChanged(roomId: "r", roomOwnerId: "b")))
            $0.hear([1], 3, .roomOwnerChanged(RoomOwnerChanged(roomId: "r", roomOwnerId: "c")))
        }
        // One position, two things.
        expect([5, 5], from: .playing()) {
            $0.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.1")))
            $0.hear([0], 4, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.1")))
            $0.hear([0], 5, Talk.frame(1))
            $0.hear([1], 4, Talk.frame(1))
        }
    }

    @Test func toldIsOnlyWhatIsForOne() {
        expect([5]) {
            $0.ask(1, Talk.say("m1.1"))
            $0.hear([1], 3, Talk.message("m1.1", from: "b"))
        }
        expect([5]) {
            $0.ask(0, Talk.say("m0.1", to: ["c"]))
            $0.hear([1], 3, Talk.message("m0.1", from: "a"))
        }
    }

    @Test func framesHaveNoGap() {
        expect([], from: .playing()) {
            $0.hear([0, 1], 4, Talk.frame(1))
            $0.hear([0, 1], 5, Talk.frame(2))
            $0.hear(0, .frames(Frames(frames: [Frame(id: 3), Frame(id: 4)], firstKept: 1, frameSyncId: 1)), seq: 7)
            $0.hear([1], 6, Talk.frame(3))
            $0.hear([1], 7, Talk.frame(4))
        }
        expect([5], from: .playing()) {
            $0.hear([0], 4, Talk.frame(1))
            $0.hear([0], 5, Talk.frame(3))
        }
        expect([5], from: .playing()) { $0.hear([0], 4, Talk.frame(2)) }
        // Told where what is kept begins.
        expect([], from: .playing()) {
            $0.hear(0, .frames(Frames(frames: [Frame(id: 3)], firstKept: 3, frameSyncId: 1)), seq: 6)
        }
        expect([5]) { $0.hear([0], 3, Talk.frame(1)) }
        // After the stop.
        expect([5], from: .playing()) {
            $0.ask(0, .stopFrameSync(StopFrameSync()))
            $0.hear([0], 4, .frameSyncStopped(FrameSyncStopped(roomId: "r", frameSyncId: 1)))
            $0.hear([0], 5, Talk.frame(1))
        }
    }

    @Test func eventsLieBetweenTheSameFrames() {
        let changed = ServerMessage.Body.roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.1"))
        expect([], from: .playing()) {
            $0.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.1")))
            $0.hear([0], 4, Talk.frame(1))
            $0.hear([0], 5, changed)
            $0.hear([0], 6, Talk.frame(2))
            $0.hear(1, .frames(Frames(frames: [Frame(id: 1)], firstKept: 1, frameSyncId: 1)), seq: 4)
            $0.hear([1], 5, changed)
            $0.hear([1], 6, Talk.frame(2))
        }
        // And so the frame before it was not there when it should have been.
        expect([5, 5], from: .playing()) {
            $0.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.1")))
            $0.hear([0], 5, changed)
            $0.hear(0, .frames(Frames(frames: [Frame(id: 1), Frame(id: 2)], firstKept: 1, frameSyncId: 1)), seq: 6)
            $0.hear(1, .frames(Frames(frames: [Frame(id: 1)], firstKept: 1, frameSyncId: 1)), seq: 4)
            $0.hear([1], 5, changed)
            $0.hear([1], 6, Talk.frame(2))
        }
    }

    @Test func nothingOfARoomComesOutsideIt() {
        expect([5]) {
            $0.ask(1, .leaveRoom(LeaveRoom()))
            $0.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.1")))
            $0.hear([1], 3, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.1")))
        }
        expect([5]) {
            $0.open(2)
            $0.say(2, 1, .connect(Connect(token: "sim/c")))
            $0.hear(2, .ok(Ok()))
        }
    }

    @Test func aResumeGoesOnWhereTheClientIs() {
        let at = { (seq: UInt64) in Resume(resumeToken: "run-b", roomSeq: seq, roomId: "r") }
        let state = Connected(room: Talk.room(["a", "b"]), roomSeq: 4)
        let play = { (talk: inout Talk, first: UInt64) in
            for n in 1...2 { talk.ask(0, .updateRoomProperties(UpdateRoomProperties(name: "r0.\(n)"))) }
            for n in 1...2 {
                talk.hear([0], UInt64(n + 2), .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: "r0.\(n)")))
            }
            talk.cut(1)
            talk.resume(1, at(2), state)
            for seq in first...4 {
                let name = "r0.\(seq - 2)"
                talk.hear([1], seq, .roomPropertiesChanged(RoomPropertiesChanged(id: "r", name: name)))
            }
        }
        expect([]) { play(&$0, 3) }
        expect([5]) { play(&$0, 4) }
        // What was told is taken back.
        expect([1]) {
            $0.cut(1)
            $0.resume(1, at(2), Connected(room: Talk.room(["a", "b"]), roomSeq: 1))
        }
        expect([1]) {
            $0.cut(1)
            $0.resume(1, at(2), Connected(room: Talk.room(["b", "a"], owner: "b"), roomSeq: 2))
        }
    }

    @Test func howASeatEndedIsTold() {
        let gone = { (talk: inout Talk) in
            talk.cut(1)
            talk.nowMs += 500
            talk.resume(1, Resume(resumeToken: "run-b", roomSeq: 2, roomId: "r"), Connected())
        }
        expect([]) {
            gone(&$0)
            $0.hear(1, .playerKicked(PlayerKicked(roomId: "r", playerId: "b", roomOwnerId: "a")))
        }
        expect([5]) {
            gone(&$0)
            $0.checker.atEnd([], nowMs: $0.nowMs)
        }
    }

    // MARK: 6, requests

    @Test func eachSendingIsAnsweredOnce() {
        expect([6]) {
            $0.say(0, 50, Talk.say("m0.1"))
            $0.hear(0, .ok(Ok()), id: 50)
            $0.hear(0, .ok(Ok()), id: 50)
        }
        expect([]) {
            $0.say(0, 50, Talk.say("m0.1"))
            $0.say(0, 50, Talk.say("m0.1"))
            $0.hear(0, .ok(Ok()), id: 50)
            $0.hear(0, .ok(Ok()), id: 50)
        }
        // 1 leaves it open.
        expect([]) {
            $0.say(0, 50, Talk.say("m0.1"))
            $0.hear(0, .error(ErrorReply(code: 1, retryAfterMs: 500)), id: 50)
            $0.say(0, 50, Talk.say("m0.1"))
            $0.hear(0, .ok(Ok()), id: 50)
        }
        expect([6]) { $0.hear(0, .ok(Ok()), id: 77) }
        expect([6]) {
            $0.say(0, 50, Talk.say("m0.1"))
            $0.checker.atEnd([], nowMs: $0.nowMs + 1)
        }
    }

    @Test func aRequestHasOneOutcome() {
        let twice = { (talk: inout Talk, first: ServerMessage.Body, second: ServerMessage.Body) in
            talk.say(0, 50, Talk.say("m0.1"))
            talk.hear(0, first, id: 50)
            talk.say(0, 50, Talk.say("m0.1"))
            talk.hear(0, second, id: 50)
        }
        let ok = ServerMessage.Body.ok(Ok())
        expect([]) { twice(&$0, .error(ErrorReply(code: 3)), ok) }
        expect([6]) { twice(&$0, ok, .error(ErrorReply(code: 15))) }
        expect([6]) { twice(&$0, ok, .error(ErrorReply(code: 30))) }
        expect([6]) { twice(&$0, .error(ErrorReply(code: 30)), ok) }
        expect([6]) { $0.ask(0, Talk.say("m0.1"), .roomList(RoomList())) }
    }

    @Test func nothingIsDoneTwiceOrThoughRefused() {
        expect([6]) {
            $0.ask(0, Talk.say("m0.1"))
            $0.hear([1], 3, Talk.message("m0.1", from: "a"))
            $0.hear([1], 4, Talk.message("m0.1", from: "a"))
        }
        expect([6]) {
            $0.ask(0, Talk.say("m0.1"), .error(ErrorReply(code: 3, retryAfterMs: 10)))
            $0.hear([1], 3, Talk.message("m0.1", from: "a"))
        }
        expect([6]) {
            $0.say(0, 50, Talk.say("m0.1"))
            $0.hear([1], 3, Talk.message("m0.1", from: "a"))
            $0.hear(0, .error(ErrorReply(code: 30)), id: 50)
        }
        // Once refused, then done.
        expect([]) {
            $0.say(0, 50, Talk.say("m0.1"))
            $0.say(0, 50, Talk.say("m0.1"))
            $0.hear(0, .error(ErrorReply(code: 3, retryAfterMs: 10)), id: 50)
            $0.hear([1], 3, Talk.message("m0.1", from: "a"))
            $0.hear(0, .ok(Ok()), id: 50)
        }
        // Done, and then not even looked at.
        expect([]) {
            $0.say(0, 50, Talk.say("m0.1"))
            $0.hear(0, .ok(Ok()), id: 50)
            $0.hear([1], 3, Talk.message("m0.1", from: "a"))
            $0.say(0, 50, Talk.say("m0.1"))
            $0.hear(0, .error(ErrorReply(code: 3, retryAfterMs: 10)), id: 50)
        }
        expect([6]) { $0.hear([1], 3, Talk.message("m0.9", from: "a")) }
    }

    @Test func theReplyComesFirst() {
        let changed = ServerMessage.Body.playerCustomStatusChanged(
            PlayerCustomStatusChanged(playerId: "a", status: Talk.status(1, of: 0)))
        let ask = ClientMessage.Body.updatePlayerCustomStatus(.init(status: Talk.status(1, of: 0)))
        expect([6]) {
            $0.say(0, 50, ask)
            $0.hear([0], 3, changed)
            $0.hear(0, .ok(Ok()), id: 50)
        }
        expect([]) {
            $0.say(0, 50, ask)
            $0.hear([1], 3, changed)
            $0.hear(0, .ok(Ok()), id: 50)
            $0.hear([0], 3, changed)
        }
        // The reply was lost with a link.
        expect([]) {
            $0.say(0, 50, ask)
            $0.cut(0)
            $0.resume(
                0, Resume(resumeToken: "run-a", roomSeq: 2, roomId: "r"),
                Connected(room: Talk.room(["a", "b"]), roomSeq: 3))
            $0.say(0, 50, ask)
            $0.hear([0], 3, changed)
            $0.hear(0, .ok(Ok()), id: 50)
        }
    }

    @Test func whatWasDoneIsToldInTheEnd() {
        expect([1]) {
            $0.nowMs += 10
            $0.ask(0, Talk.say("m0.1"))
            $0.checker.atEnd([], nowMs: $0.nowMs + 10_000)
        }
        expect([]) {
            $0.nowMs += 10
            $0.ask(0, Talk.say("m0.1"))
            $0.hear([1], 3, Talk.message("m0.1", from: "a"))
            $0.checker.atEnd([], nowMs: $0.nowMs + 10_000)
        }
        // The answer that is remembered is of another room than the one in which it is heard.
        expect([]) {
            let alone = RoomInfo(
                id: "q", type: "duel", ownerId: "a", maxPlayerCount: 3, players: [Talk.info("a")])
            $0.ask(0, .leaveRoom(LeaveRoom()))
            $0.hear([1], 3, .playerLeft(PlayerLeft(roomId: "r", roomOwnerId: "b", playerId: "a")))
            $0.ask(
                0, .createRoom(CreateRoom(room: RoomConfig(maxPlayerCount: 3, type: "duel"))),
                .roomJoined(RoomJoined(room: alone, roomSeq: 1)))
            $0.nowMs += 10
            $0.say(0, 200, Talk.say("m0.1"))
            $0.say(0, 201, .leaveRoom(LeaveRoom()))
            $0.cut(0)
            $0.nowMs += 10
            $0.resume(0, Resume(resumeToken: "run-a", roomSeq: 1, roomId: "q"), Connected())
            $0.ask(
                0, .joinRoom(JoinRoom(roomId: "r")),
                .roomJoined(RoomJoined(room: Talk.room(["b", "a"]), roomSeq: 4)))
            let entered = PlayerEntered(roomId: "r", player: Talk.info("a"), roomOwnerId: "b")
            $0.hear([1], 4, .playerEntered(entered))
            $0.say(0, 200, Talk.say("m0.1"))
            $0.hear(0, .ok(Ok()), id: 200)
            $0.checker.atEnd([], nowMs: $0.nowMs + 10_000)
        }
    }

    @Test func aResumeIsHeldOpen() {
        let refused = { (talk: inout Talk, afterMs: Int64) in
            talk.cut(1)
            talk.nowMs += afterMs
            talk.open(1)
            talk.say(1, 60, .connect(Connect(resume: Resume(resumeToken: "run-b"))))
            talk.hear(1, .error(ErrorReply(code: 39)), id: 60)
        }
        expect([6]) { refused(&$0, 50_000) }
        expect([]) { refused(&$0, 60_100) }
        expect([]) {
            let id = $0.nextId(1)
            $0.say(1, id, .disconnect(Disconnect()))
            refused(&$0, 100)
        }
    }

    // MARK: 7, inputs

    @Test func inputsStandInOneFrameInTheirOrder() {
        let three = { (talk: inout Talk) in
            for n in 1...3 { talk.say(1, UInt32(50 + n), Talk.input("i1.\(n)")) }
        }
        let taken = { (n: Int) in Talk.taken("i1.\(n)", UInt32(50 + n), by: "b") }
        expect([], from: .playing()) {
            three(&$0)
            $0.hear([0, 1], 4, Talk.frame(1, [taken(1), taken(2)]))
            $0.hear([0, 1], 5, Talk.frame(2, [taken(3)]))
        }
        // Twice.
        expect([7], from: .playing()) {
            three(&$0)
            $0.hear([0, 1], 4, Talk.frame(1, [taken(1)]))
            $0.hear([0, 1], 5, Talk.frame(2, [taken(1)]))
        }
        // In another order.
        expect([7], from: .playing()) {
            three(&$0)
            $0.hear([0], 4, Talk.frame(1, [taken(2), taken(1)]))
        }
        // Passed over.
        expect([7], from: .playing()) {
            three(&$0)
            $0.hear([1], 4, Talk.frame(1, [taken(1), taken(3)]))
        }
        // Never sent, or by another.
        expect([7], from: .playing()) { $0.hear([1], 4, Talk.frame(1, [taken(1)])) }
        expect([7], from: .playing()) {
            three(&$0)
            $0.hear([0], 4, Talk.frame(1, [Talk.taken("i1.1", 51, by: "a")]))
        }
        // Never told of.
        expect([7, 7, 7], from: .playing()) {
            three(&$0)
            $0.checker.atEnd([], nowMs: $0.nowMs + 10_000)
        }
    }

    @Test func refusedInputsStandInNone() {
        expect([7], from: .playing()) {
            $0.say(1, 51, Talk.input("i1.1"))
            $0.hear(1, .error(ErrorReply(code: 29)), id: 51)
            $0.hear([0], 4, Talk.frame(1, [Talk.taken("i1.1", 51, by: "b")]))
        }
        expect([7], from: .playing()) {
            $0.say(1, 51, Talk.input("i1.1"))
            $0.hear([0], 4, Talk.frame(1, [Talk.taken("i1.1", 51, by: "b")]))
            $0.hear(1, .error(ErrorReply(code: 29)), id: 51)
        }
        // Sent twice, refused once.
        expect([], from: .playing()) {
            $0.say(1, 51, Talk.input("i1.1"))
            $0.say(1, 51, Talk.input("i1.1"))
            $0.hear(1, .error(ErrorReply(code: 29)), id: 51)
            $0.hear([0, 1], 4, Talk.frame(1, [Talk.taken("i1.1", 51, by: "b")]))
        }
    }
}
