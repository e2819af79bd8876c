import HoldfastProtocol
import HoldfastSimulator
import Testing

/// Clients that left a room and came back to it without hearing of either.
@Suite struct SeatAgainTests {
    @Test func anAnswerFromBeforeTheSeatDoesNotEndIt() {
        expect([]) {
            let (leave, join) = ($0.nextId(1), $0.nextId(1))
            let calls = { (talk: inout Talk) in
                talk.say(1, leave, .leaveRoom(LeaveRoom()))
                talk.say(1, join, .joinRoom(JoinRoom(roomId: "r")))
            }
            calls(&$0)
            $0.hear([0], 3, .playerLeft(PlayerLeft(roomId: "r", roomOwnerId: "a", playerId: "b")))
            let entered = PlayerEntered(roomId: "r", player: Talk.info("b"), roomOwnerId: "a")
            $0.hear([0], 4, .playerEntered(entered))
            let room = Talk.room(["a", "b"])
            let running = FrameSyncInfo(roomInfo: room, frameSyncId: 1, serverTime: 1_000, frameRate: 10)
            $0.ask(0, .startFrameSync(StartFrameSync()))
            $0.hear([0], 5, .frameSyncStarted(running))
            $0.hear([0], 6, Talk.frame(1))
            $0.cut(1)
            $0.resume(
                1, Resume(resumeToken: "run-b", roomSeq: 2, roomId: "r"),
                Connected(room: room, roomSeq: 6, roomRestarted: true, frameSync: running))
            calls(&$0)
            $0.hear(1, .frames(Frames(frames: [Frame(id: 1)], firstKept: 1, frameSyncId: 1)))
            $0.hear(1, .ok(Ok()), id: leave)
            $0.hear(1, .roomJoined(RoomJoined(room: room, roomSeq: 6, frameSync: running)), id: join)
            $0.hear([0, 1], 7, Talk.frame(2))
        }
    }
}
