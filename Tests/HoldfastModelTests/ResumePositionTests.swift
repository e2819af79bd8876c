import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "After a resume: connected first, then what was missed, in order, once, then live."
@Suite struct ResumePositionTests {
    enum EventPosition: CaseIterable {
        case here, future, beforeEntry, zero, otherRoom
        var isUsable: Bool { self == .here }
    }

    enum FramePosition: CaseIterable {
        case here, fromTheStart, future, otherSync, none
        var isUsable: Bool { self == .here || self == .fromTheStart }
    }

    /// Bob has been away since seq 6 and frame 2 (of 5).
    private func away(_ world: World, snapshot: Bool) -> (alice: Client, bob: Client, position: Resume) {
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        world.advance(ms: 200)
        all[0].send(.message("heard"))
        all[1].drop()
        let position = all[1].position
        all[0].send(.message("missed"))
        world.advance(ms: 300)
        if snapshot { all[0].send(.snapshot(4)) }
        all[1].forget()
        return (all[0], all[1], position)
    }

    private func resume(_ position: Resume, _ event: EventPosition, _ frame: FramePosition) -> Resume {
        var resume = position
        switch event {
        case .here: break
        case .future: resume.roomSeq = 1_000
        case .beforeEntry: resume.roomSeq = 1
        case .zero: resume.roomSeq = 0
        case .otherRoom: resume.roomId = "elsewhere"
        }
        switch frame {
        case .here: break
        case .fromTheStart: resume.frameId = 0
        case .future: resume.frameId = 1_000
        case .otherSync: resume.frameSyncId = 7
        case .none: (resume.frameSyncId, resume.frameId) = (0, 0)
        }
        return resume
    }

    @Test(arguments: EventPosition.allCases, FramePosition.allCases)
    func everyCombination(event: EventPosition, frame: FramePosition) {
        for snapshot in [false, true] { check(event, frame, snapshot: snapshot) }
    }

    private func check(_ event: EventPosition, _ frame: FramePosition, snapshot: Bool) {
        let world = World()
        let (alice, bob, position) = away(world, snapshot: snapshot)
        #expect(position.roomSeq == 6 && position.frameId == 2)
        bob.resume(from: resume(position, event, frame))
        let isFrameUsable = frame.isUsable && event != .otherRoom
        let firstFrame =
            switch (isFrameUsable, event.isUsable, frame) {
            case (true, _, .fromTheStart): 1
            case (true, _, _): 3
            case (false, true, _): 3
            case (false, false, _): snapshot ? 5 : 1
            }
        let lines = bob.lines()
        let withSnapshot = snapshot && !isFrameUsable && !event.isUsable ? ", snapshot 4" : ""
        let how = event.isUsable ? "on" : "restarted"
        #expect(lines[0] == "#3 resumed, \(how) at 10: alice* bob, sync 1 at frame 5\(withSnapshot)")
        if event.isUsable {
            // The missed message comes at its place among the frames.
            let before = firstFrame == 1 ? ["@5 frames 1-2 of 1, kept 1"] : []
            #expect(Array(lines.dropFirst()) == before + ["@7 message alice: missed", "@10 frames 3-5 of 1, kept 1"])
        } else {
            #expect(Array(lines.dropFirst()) == ["frames \(firstFrame)-5 of 1, kept 1"])
        }
        alice.send(.message("live"))
        world.advance(ms: 100)
        #expect(bob.lines() == ["@11 message alice: live", "@12 frame 6"])
    }

    @Test func positionsAtTheEdges() {
        let world = World()
        let all = world.seated("alice", "bob")
        func how(_ seq: UInt64) -> String {
            all[1].drop()
            var resume = all[1].position
            resume.roomId = all[0].roomID
            resume.roomSeq = seq
            all[1].forget()
            all[1].resume(from: resume)
            return all[1].lines().first.map { $0.contains("restarted") ? "restarted" : "on" } ?? ""
        }
        // Bob's roomJoined stood at 2.
        #expect(how(2) == "on")
        #expect(how(1) == "restarted")
        #expect(how(3) == "restarted")
        #expect(how(0) == "restarted")
        #expect(how(.max) == "restarted")
    }

    @Test func eventsAreKeptForNinetySeconds() {
        let world = World { $0.resumeWindowMs = 200_000 }
        let all = world.seated("alice", "bob")
        all[1].drop()
        all[0].send(.message("kept"))
        let position = all[1].position
        world.advance(ms: 90_000)
        all[1].resume(from: position)
        #expect(all[1].lines().contains("@3 message alice: kept"))
        all[1].drop()
        world.advance(ms: 2_001)
        all[1].resume(from: position)
        #expect(all[1].lines().first?.contains("restarted") == true)
    }

    @Test func eventsAreKeptUpToASize() {
        let world = World { $0.eventHistoryBytes = 1_000 }
        let all = world.seated("alice", "bob")
        all[1].drop()
        all[1].forget()
        let position = all[1].position
        for i in 0..<3 { all[0].send(.message("\(i)" + String(repeating: "x", count: 200))) }
        all[1].resume(from: position)
        #expect(all[1].lines().count == 4)
        all[1].drop()
        for i in 0..<3 { all[0].send(.message("\(i)" + String(repeating: "x", count: 200))) }
        all[1].resume(from: position)
        #expect(all[1].lines() == ["#4 resumed, restarted at 8: alice* bob"])
    }

    @Test func whatIsMissedComesOnceAlsoAfterTwoDropsInARow() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        for i in 0..<5 {
            all[0].send(.message("a\(i)"))
            world.advance(ms: 150)
            all[1].drop()
            world.advance(ms: 150)
            all[0].send(.message("b\(i)"))
            all[1].resume()
            if i % 2 == 0 {
                all[1].drop()
                all[1].resume()
            }
        }
        world.advance(ms: 100)
        #expect(all[1].faults == [])
        #expect(all[1].frames == all[0].frames)
        let heard = all[1].messages.map { line($0) }.filter { $0.contains("message") }
        #expect(heard.count == 10 && Set(heard).count == 10)
    }

    @Test func framesKeepTheirPositionsWhenARepeatedReplyDidNotCome() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        let room = RoomKey(project: "acme", id: all[0].roomID).shard
        all[0].send(.start)
        world.advance(ms: 200)
        // The room takes the link for gone, and is asked on it to tell of the seat again.
        world.log(.gatewayLost(world.losses.gateway(all[1].gateway)), in: room)
        world.advance(ms: 300)
        world.hold(from: .shard(room), to: .gateway(all[1].gateway))
        all[1].send(.join(all[0].roomID), id: 2)
        all[1].halfOpen()
        world.release()
        all[1].resume()
        #expect(all[1].frames == all[0].frames)
        #expect(all[1].position.roomSeq == all[0].position.roomSeq)
        #expect(all[1].faults == [])
    }

    @Test func addressedEventsAreReplayedOnlyToTheirAddressees() {
        let world = World()
        let all = world.seated("alice", "bob", "carol")
        for one in all.dropFirst() { one.drop() }
        all[0].send(.message("to bob", to: ["bob"]))
        all[0].send(.message("to all"))
        for one in all.dropFirst() { one.resume() }
        #expect(all[1].lines().dropFirst() == ["@4 message alice: to bob", "@5 message alice: to all"])
        #expect(all[2].lines().dropFirst() == ["@5 message alice: to all"])
    }

    @Test func aFrameSyncThatStoppedMeanwhileIsReadToItsEnd() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        world.advance(ms: 200)
        all[1].drop()
        all[1].forget()
        world.advance(ms: 200)
        all[0].send(.stop)
        all[0].send(.start)
        world.advance(ms: 100)
        all[1].resume()
        #expect(
            all[1].lines() == [
                "#3 resumed, on at 10: alice* bob, sync 2 at frame 1", "@7 frames 3-4 of 1, kept 1",
                "@8 frameSyncStopped 1, reason 0", "@9 frameSyncStarted 2: alice* bob", "@10 frames 1-1 of 2, kept 1",
            ])
    }

    @Test func framesOfAStoppedFrameSyncAreKeptForNinetySeconds() {
        let world = World { $0.resumeWindowMs = 300_000 }
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        world.advance(ms: 200)
        all[0].send(.stop)
        all[0].send(.start)
        all[0].send(.stop)
        all[0].send(.start)
        world.advance(ms: 89_999)
        #expect(world.room(all[0].roomID)?.history.firstKept(of: 1) == 1)
        world.advance(ms: 1)
        #expect(world.room(all[0].roomID)?.history.firstKept(of: 1) == nil)
        #expect(world.room(all[0].roomID)?.history.firstKept(of: 3) == 1)
    }

    @Test func ifFramesAreNoLongerKeptTheFirstOnesSayWhereTheyBegin() {
        let world = World { $0.frameHistoryBytes = 200 }
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        world.advance(ms: 100)
        all[1].drop()
        all[1].forget()
        for _ in 0..<30 {
            all[0].send(.input("0123456789"))
            world.advance(ms: 50)
        }
        let oldest = world.room(all[0].roomID)?.history.firstKept(of: 1) ?? 0
        #expect(oldest > 2)
        all[1].resume()
        #expect(all[1].lines().contains { $0.contains("frames \(oldest)-16 of 1, kept \(oldest)") })
        #expect(all[1].faults == [])
    }

    @Test func aResumeReadsAtThePaceOfItsSocket() {
        let world = World { $0.frameBytesPerReply = 64 }
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        all[1].drop()
        for i in 0..<20 {
            all[0].send(.input("input \(i)"))
            all[0].send(.message("m \(i)"))
            world.advance(ms: 100)
        }
        all[1].isSlow = true
        all[1].forget()
        all[1].resume()
        let first = all[1].lines().count
        world.advance(ms: 1_000)
        #expect(all[1].lines() == [], "nothing comes live before the past has been read")
        var parts = 0
        while all[1].wantsMore {
            all[1].drain()
            parts += 1
        }
        #expect(first < 8 && parts > 5)
        #expect(all[1].faults == [])
        #expect(all[1].frames == all[0].frames)
    }

    @Test func aDropInTheMiddleOfCatchingUpLosesNothing() {
        let world = World { $0.frameBytesPerReply = 64 }
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        all[1].drop()
        for i in 0..<20 {
            all[0].send(.message("m \(i)"))
            all[0].send(.input("input \(i)"))
            world.advance(ms: 100)
        }
        all[1].isSlow = true
        for _ in 0..<6 {
            all[1].resume()
            all[1].drain()
            all[1].drop()
        }
        all[1].isSlow = false
        all[1].resume()
        #expect(all[1].faults == [])
        #expect(all[1].frames == all[0].frames)
        let heard = all[1].messages.map { line($0) }.filter { $0.contains("message") }
        #expect(heard.count == 20 && Set(heard).count == 20)
    }

    @Test func aFrameSyncThatStopsInTheMiddleOfCatchingUpIsReadToItsEnd() {
        let world = World { $0.frameBytesPerReply = 64 }
        let alice = world.seated("alice") {
            $0.frameRate = 10
            $0.allowLateJoin = true
        }[0]
        alice.send(.start)
        for _ in 0..<20 {
            alice.send(.input("0123456789"))
            world.advance(ms: 100)
        }
        let bob = world.client("bob").connect()
        bob.isSlow = true
        bob.send(.join(alice.roomID))
        let got = bob.position.frameId
        #expect(got > 0 && got < 20)
        bob.drop()
        alice.send(.stop)
        bob.isSlow = false
        bob.resume()
        #expect(bob.frames.map(\.id) == Array(1...20))
    }

    @Test func alsoWhenNotOneFrameHadCome() {
        let world = World()
        let alice = world.seated("alice") {
            $0.frameRate = 10
            $0.allowLateJoin = true
        }[0]
        alice.send(.start)
        world.advance(ms: 300)
        let bob = world.client("bob").connect()
        bob.send(.join(alice.roomID))
        var position = bob.position
        position.frameId = 0
        bob.drop()
        alice.send(.stop)
        bob.forget()
        bob.resume(from: position)
        #expect(bob.lines().contains { $0.contains("frames 1-3 of 1") })
    }

    /// What is read of the past follows the socket's pace, so a room that ends does not put all of it into the queue.
    @Test func aKickFarFromTheHeadIsToldAtTheResume() {
        let world = World { $0.frameBytesPerReply = 64 }
        let all = world.seated("alice", "bob")
        all[1].drop()
        for i in 0..<20 { all[0].send(.message("m \(i)")) }
        all[1].isSlow = true
        all[1].resume()
        all[0].send(.kick("bob"))
        #expect(all[1].lines().last == "disconnected 37, may reconnect")
        all[1].forget()
        all[1].resume()
        #expect(all[1].lines().last == "playerKicked bob, owner alice")
        #expect(all[1].faults == [])
        #expect(!all[1].isInRoom)
    }
}
