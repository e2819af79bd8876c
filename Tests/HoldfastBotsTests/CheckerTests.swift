import HoldfastProtocol
import Testing

@testable import holdfast

/// Each kind of wrong stream is found, and right ones are clean.
@Suite struct CheckerTests {
    @Test func aWholeRoomIsClean() {
        var scene = Scene()
        scene.play()
        #expect(scene.faults == [:])
    }

    @Test func aDropWithBatchesIsClean() {
        var scene = Scene()
        scene.start()
        scene.frame(1)
        scene.cut("b")
        scene.frame(2, to: ["a", "c"])
        scene.message(1, to: ["c"], also: [])
        scene.frame(3, to: ["a", "c"])
        scene.resume("b")
        scene.batch([2], seq: 4, to: "b")
        scene.messageEvent(1, seq: 5, to: "b")
        scene.batch([3], seq: 6, to: "b")
        scene.frame(4)
        scene.end()
        #expect(scene.faults == [:])
    }

    // MARK: frames

    @Test func aMissingFrame() {
        var scene = Scene()
        scene.start()
        scene.frame(1)
        scene.frame(2, to: ["a", "c"])
        scene.frame(3)
        #expect(scene.faults == [.frameGap: 1])
    }

    @Test func aFrameTwice() {
        var scene = Scene()
        scene.start()
        scene.frame(1)
        scene.batch([1], seq: 4, to: "b")
        #expect(scene.faults == [.frameRepeated: 1])
    }

    @Test func anotherFrameForOne() {
        var scene = Scene()
        scene.start()
        scene.frame(1, to: ["a"])
        scene.send(Frame(id: 1, changes: [SeatChange(playerId: "a", kind: 2)]), seq: 3, to: "b")
        #expect(scene.faults == [.frameDiffers: 1, .eventDiffers: 1])
    }

    @Test func streamsOfDifferentLength() {
        var scene = Scene()
        scene.start()
        scene.frame(1)
        scene.frame(2, to: ["a"])
        #expect(scene.compared() == [.frameDiffers: 1])
    }

    @Test func framesThatDifferOnlyWhereNothingElseShowsIt() {
        var scene = Scene()
        scene.start()
        // So far apart that single frames cannot be compared any more.
        for id in 1...UInt32(Scene.frameRate * 90 + 5) { scene.frame(id, to: ["a"]) }
        scene.batch([], frames: [Frame(id: 1, changes: [SeatChange(playerId: "a", kind: 1)])], seq: 3, to: "b")
        for id in 2...UInt32(Scene.frameRate * 90 + 5) { scene.frame(id, to: ["b"]) }
        #expect(scene.faults[.frameDiffers] == nil)
        #expect(scene.compared()[.frameDiffers] == 1)
    }

    @Test func aFrameBeforeTheStart() {
        var scene = Scene()
        scene.join()
        scene.send(Frame(id: 1), seq: 2, to: "a")
        #expect(scene.faults == [.frameWithoutFrameSync: 1])
    }

    @Test func framesThatAreNotKept() {
        var scene = Scene()
        scene.start()
        scene.frame(1)
        scene.batch([5], firstKept: 5, seq: 8, to: "b")
        #expect(scene.faults[.framesNotKept] == 1)
    }

    // MARK: inputs

    @Test func anInputThatNobodySent() {
        var scene = Scene()
        scene.start()
        scene.frame(1, inputs: [FrameInput(playerId: "a", payload: .dataBytes([1]), id: 9)], to: ["b"])
        #expect(scene.faults == [.inputForged: 1])
    }

    @Test func anInputOfAStranger() {
        var scene = Scene()
        scene.start()
        scene.frame(1, inputs: [FrameInput(playerId: "z", payload: .dataBytes([1]), id: 9)], to: ["b"])
        #expect(scene.faults == [.inputForged: 1])
    }

    @Test func anInputWithOtherContents() {
        var scene = Scene()
        scene.start()
        let input = scene.input(id: 20, of: "a")
        var changed = input
        changed.payload = .dataBytes([0])
        scene.frame(1, inputs: [changed], to: ["b"])
        #expect(scene.faults == [.inputForged: 1])
    }

    @Test func anInputTwice() {
        var scene = Scene()
        scene.start()
        let input = scene.input(id: 20, of: "a")
        scene.frame(1, inputs: [input])
        scene.frame(2, inputs: [input])
        #expect(scene.faults == [.inputRepeated: 1])
    }

    @Test func anInputPassedOver() {
        var scene = Scene()
        scene.start()
        _ = scene.input(id: 20, of: "a")
        scene.frame(1, inputs: [scene.input(id: 21, of: "a")])
        #expect(scene.faults == [.inputLost: 1])
    }

    @Test func anInputInNoFrame() {
        var scene = Scene()
        scene.start()
        _ = scene.input(id: 20, of: "a")
        scene.frame(1)
        scene.end()
        #expect(scene.faults == [.inputLost: 1])
    }

    @Test func aRefusedInputIsNotLost() {
        var scene = Scene()
        scene.start()
        _ = scene.input(id: 20, of: "a")
        #expect(scene.members["a"]?.refused(input: 20) == true)
        scene.frame(1)
        scene.end()
        #expect(scene.faults == [:])
    }

    // MARK: messages

    @Test func aMessageLost() {
        var scene = Scene()
        scene.start()
        scene.message(1, to: [], also: ["c"])
        scene.message(2, to: ["b"], also: ["c"])
        scene.end()
        // A message that does not come is also a position that does not.
        #expect(scene.faults == [.messageLost: 1, .eventLost: 1])
    }

    @Test func theLastMessageLost() {
        var scene = Scene()
        scene.start()
        scene.message(1, to: [], also: ["c"])
        scene.end()
        #expect(scene.faults == [.messageLost: 1, .eventLost: 1])
    }

    @Test func aMessageTwice() {
        var scene = Scene()
        scene.start()
        scene.message(1, to: ["b"], also: ["c"])
        scene.messageEvent(1, seq: 4, to: "b")
        #expect(scene.faults == [.messageRepeated: 1])
    }

    @Test func messagesInAnotherOrder() {
        var scene = Scene()
        scene.start()
        _ = scene.ledger.nextMessage(by: 0)
        _ = scene.ledger.nextMessage(by: 0)
        scene.messageEvent(2, seq: 3, to: "b")
        scene.messageEvent(1, seq: 4, to: "b")
        #expect(scene.faults == [.messageOutOfOrder: 1])
    }

    @Test func anEcho() {
        var scene = Scene()
        scene.start()
        scene.message(1, to: ["a"], also: [])
        #expect(scene.faults == [.messageEchoed: 1])
    }

    @Test func aMessageThatNobodySent() {
        var scene = Scene()
        scene.start()
        scene.messageEvent(1, seq: 3, to: "b")
        scene.send(.customMessageReceived(CustomMessageReceived(playerId: "a", msg: "hello")), seq: 4, to: "b")
        #expect(scene.faults == [.messageForged: 2])
    }

    // MARK: the stream

    @Test func aPositionThatDoesNotGrow() {
        var scene = Scene()
        scene.start()
        scene.frame(1)
        scene.send(Frame(id: 2), seq: 3, to: "a")
        #expect(scene.faults == [.seqNotGrowing: 1])
    }

    @Test func aPositionThatIsMissing() {
        var scene = Scene()
        scene.start()
        scene.send(Frame(id: 1), seq: 0, to: "a")
        #expect(scene.faults == [.seqMissing: 1])
    }

    @Test func eventsThatDiffer() {
        var scene = Scene()
        scene.start()
        scene.send(.playerOffline(PlayerOffline(playerId: "x")), seq: 3, to: "a")
        scene.send(.playerOnline(PlayerOnline(playerId: "x")), seq: 3, to: "b")
        #expect(scene.faults == [.eventDiffers: 1])
    }

    @Test func anEventForEveryoneThatDoesNotCome() {
        var scene = Scene()
        scene.start()
        scene.send(.playerOffline(PlayerOffline(playerId: "c")), seq: 3, to: "a")
        scene.seq = 3
        scene.end()
        #expect(scene.faults == [.eventLost: 1], "b lacks it; for c, of whom it tells, it was not")
    }

    @Test func ownPresenceIsForOthers() {
        var scene = Scene()
        scene.start()
        for name in ["a", "c"] { scene.send(.playerOffline(PlayerOffline(playerId: "b")), seq: 3, to: name) }
        scene.seq = 3
        scene.end()
        #expect(scene.faults == [:])
    }

    @Test func anEventInNoRoomAndAfterItsEnd() {
        var scene = Scene()
        scene.connect()
        scene.send(.playerOnline(PlayerOnline(playerId: "b")), seq: 1, to: "a")
        #expect(scene.faults == [.eventOutsideRoom: 1])
        var other = Scene()
        other.play()
        other.send(.playerOnline(PlayerOnline(playerId: "b")), seq: 100, to: "a")
        #expect(other.faults == [.eventOutsideRoom: 1])
    }

    // MARK: requests and connections

    @Test func anEventBeforeTheReply() {
        var scene = Scene()
        scene.join()
        scene.members["a"]?.sent(ClientMessage(id: 5, body: .startFrameSync(StartFrameSync())), isAgain: false)
        scene.send(.frameSyncStarted(FrameSyncInfo(frameSyncId: 1)), seq: 2, to: "a")
        #expect(scene.faults == [.eventBeforeReply: 1])
    }

    @Test func afterAResumeTheReplyMayComeLater() {
        var scene = Scene()
        scene.join()
        scene.members["a"]?.sent(ClientMessage(id: 5, body: .startFrameSync(StartFrameSync())), isAgain: false)
        scene.cut("a")
        scene.resume("a")
        scene.members["a"]?.sent(ClientMessage(id: 5, body: .startFrameSync(StartFrameSync())), isAgain: true)
        scene.send(.frameSyncStarted(FrameSyncInfo(frameSyncId: 1)), seq: 2, to: "a")
        scene.send(ServerMessage(id: 5, body: .ok(Ok())), to: "a")
        #expect(scene.faults == [:])
    }

    @Test func aReplyToNothingAndASecondOne() {
        var scene = Scene()
        scene.join()
        scene.send(ServerMessage(id: 77, body: .ok(Ok())), to: "a")
        scene.members["a"]?.sent(ClientMessage(id: 78, body: .leaveRoom(LeaveRoom())), isAgain: false)
        scene.send(ServerMessage(id: 78, body: .ok(Ok())), to: "a")
        scene.send(ServerMessage(id: 78, body: .ok(Ok())), to: "a")
        #expect(scene.faults == [.unexpectedReply: 2])
    }

    @Test func anEventBeforeConnected() {
        var scene = Scene()
        scene.start()
        scene.cut("b")
        scene.members["b"]?.linkOpened()
        scene.send(Frame(id: 1), seq: 3, to: "b")
        #expect(scene.faults == [.eventOutsideRoom: 1])
    }

    @Test func aResumeWithoutTheEvents() {
        var scene = Scene()
        scene.start()
        scene.frame(1)
        scene.cut("b")
        scene.frame(2, to: ["a", "c"])
        scene.resume("b", restarted: true)
        #expect(scene.faults == [.streamRestarted: 1])
    }

    @Test func aResumeWithoutTheRoom() {
        var scene = Scene()
        scene.start()
        scene.cut("b")
        scene.members["b"]?.linkOpened()
        scene.send(ServerMessage(id: 9, body: .connected(Connected(playerId: "b", resumed: true))), to: "b")
        #expect(scene.faults == [.roomLost: 1])
    }

    @Test func aMessageWithoutABody() {
        var scene = Scene()
        scene.join()
        scene.send(ServerMessage(id: 0, seq: 2), to: "a")
        #expect(scene.faults == [.unreadable: 1])
    }

    // MARK: late joiners

    @Test func aLateSpectatorIsClean() {
        var scene = Scene()
        scene.start()
        for id in 1...3 { scene.frame(UInt32(id)) }
        scene.message(1, to: ["b"], also: ["c"])
        let joined = scene.seq
        scene.enter("s", isSpectator: true, frameSync: FrameSyncInfo(frameSyncId: 1, frameId: 3))
        scene.batch([1, 2], seq: 0, to: "s")
        scene.frame(4, to: ["a", "b", "c"])
        scene.batch([3, 4], seq: joined + 1, to: "s")
        scene.message(2, to: ["b", "s"], also: ["c"])
        scene.end()
        #expect(scene.faults == [:])
    }

    @Test func aPositionForFramesFromBeforeTheJoin() {
        var scene = Scene()
        scene.start()
        for id in 1...3 { scene.frame(UInt32(id)) }
        scene.enter("s", isSpectator: true, frameSync: FrameSyncInfo(frameSyncId: 1, frameId: 3))
        scene.batch([1, 2], seq: 4, to: "s")
        scene.batch([3], seq: 0, to: "s")
        scene.batch([4], seq: 0, to: "s")
        #expect(scene.faults == [.seqNotGrowing: 1, .seqMissing: 1])
    }

    @Test func aSpectatorThatMissesAMessage() {
        var scene = Scene()
        scene.start()
        scene.frame(1)
        scene.enter("s", isSpectator: true, frameSync: FrameSyncInfo(frameSyncId: 1, frameId: 1))
        scene.batch([1], seq: 0, to: "s")
        scene.message(1, to: ["b"], also: ["c"])
        scene.end()
        #expect(scene.faults == [.eventLost: 1])
    }
}
