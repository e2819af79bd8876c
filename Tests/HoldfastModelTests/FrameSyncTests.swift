import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Frame sync": the grid on which frames are sealed.
@Suite struct FrameGridTests {
    private func machine(rate: UInt32, at nowMs: Int64 = 0) -> FrameSyncMachine {
        FrameSyncMachine(started: FrameSyncInfo(frameSyncId: 1, frameRate: rate), nowMs: nowMs, limits: Limits())
    }

    @Test(arguments: 1...60)
    func noDriftOverThirtyMinutes(rate: Int64) {
        var sync = machine(rate: UInt32(rate), at: 777)
        let count = 30 * 60 * rate
        // Every frame of the first seconds, then some seconds at a time, then every frame of the last.
        var frame: Int64 = 0
        var random = SeededRandom(seed: UInt64(rate))
        while frame < count {
            let isEvery = frame < 3 * rate || frame > count - 3 * rate
            let skipped = isEvery ? 0 : Int64(random.below(Int(20 * rate)))
            frame = min(count, frame + 1 + skipped)
            let ideal = 777 + Double(frame) * 1000 / Double(rate)
            let due = Int64(ideal.rounded())
            if skipped == 0 { #expect(sync.nextSealMs == due) }
            _ = sync.seal(nowMs: due)
        }
        #expect(sync.nextSealMs == 777 + Int64((Double(count + 1) * 1000 / Double(rate)).rounded()))
    }

    @Test(arguments: [7, 15, 60])
    func everyFrameOfThirtyMinutes(rate: Int64) {
        var sync = machine(rate: UInt32(rate))
        for _ in 1...(30 * 60 * rate) { _ = sync.seal(nowMs: sync.nextSealMs) }
        #expect(Int64(sync.sealed) == 30 * 60 * rate)
        #expect(sync.nextSealMs >= 30 * 60 * 1000)
        #expect(sync.nextSealMs <= 30 * 60 * 1000 + 1000 / rate + 1)
    }

    @Test func missedTicksAreSkippedAndIdsStayContiguous() {
        var sync = machine(rate: 10)
        #expect(sync.seal(nowMs: 100).frame.id == 1)
        #expect(sync.seal(nowMs: 1_234).frame.id == 2)
        #expect(sync.nextSealMs == 1_300)
        #expect(sync.seal(nowMs: 1_300).frame.id == 3)
        #expect(sync.nextSealMs == 1_400)
    }

    @Test func aSealThatIsLateByLessThanAnIntervalSkipsNothing() {
        var sync = machine(rate: 10)
        _ = sync.seal(nowMs: 199)
        #expect(sync.nextSealMs == 200)
        _ = sync.seal(nowMs: 200)
        #expect(sync.nextSealMs == 300)
    }

    @Test func fiveInputsByOnePlayerInAFrameAndFiveTimesKAfterAPause() {
        var sync = machine(rate: 10)
        func taken(by player: String) -> Int {
            (0..<100).reduce(0) { count, _ in
                sync.add(FrameInput(playerId: player), size: 1, limits: Limits()) ? count + 1 : count
            }
        }
        #expect(taken(by: "alice") == 5)
        #expect(taken(by: "bob") == 5)
        _ = sync.seal(nowMs: 100)
        #expect(taken(by: "alice") == 5)
        _ = sync.seal(nowMs: 500)
        #expect(taken(by: "alice") == 20)
        _ = sync.seal(nowMs: 600)
        #expect(taken(by: "alice") == 5)
    }
}

/// rooms.md, "Frame sync": starting, frames, inputs, stopping.
@Suite struct FrameSyncTests {
    @Test func aDialogue() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        let (alice, bob) = (all[0], all[1])
        #expect(bob.refusal(.start) == 22)
        alice.send(.start)
        alice.send(.input("a"))
        bob.send(.input("b"))
        world.advance(ms: 100)
        bob.send(.input("c"))
        world.advance(ms: 150)
        alice.send(.stop)
        let stream = [
            "@3 frameSyncStarted 1: alice* bob", "@4 frame 1 alice:a bob:b", "@5 frame 2 bob:c",
            "@6 frameSyncStopped 1, reason 0",
        ]
        #expect(alice.lines() == ["#3 ok"] + stream[...2] + ["#5 ok", stream[3]])
        #expect(bob.lines() == ["#3 error 22"] + stream)
    }

    @Test func startedIsTheSameForAll() {
        let world = World()
        let all = world.seated("alice", "bob")
        let carol = world.client("carol", .protobuf).connect()
        carol.send(.join(all[0].roomID))
        all[0].send(.start)
        let infos = [all[0], all[1], carol].map { client in
            client.messages.compactMap { message in
                if case .frameSyncStarted(let info)? = message.body { info } else { nil }
            }
        }
        #expect(infos[0].count == 1)
        #expect(infos[0] == infos[1] && infos[1] == infos[2])
        #expect(infos[0][0].frameSyncId == 1)
        #expect(infos[0][0].serverTime == world.wallMs)
        #expect(infos[0][0].frameRate == 15)
        #expect(infos[0][0].frameId == 0)
        #expect(infos[0][0].roomInfo?.players.map(\.id) == ["alice", "bob", "carol"])
    }

    @Test func idsCountUpAndSeedsAreDrawn() {
        let world = World()
        let alice = world.seated("alice")[0]
        var seeds: Set<Int32> = []
        for i in 1...5 {
            alice.send(.start)
            #expect(alice.refusal(.start) == 26)
            alice.send(.stop)
            #expect(alice.refusal(.stop) == 25)
            #expect(world.room(alice.roomID)?.lastFrameSyncID == UInt32(i))
        }
        for message in alice.messages {
            if case .frameSyncStarted(let info)? = message.body { seeds.insert(info.seed) }
        }
        #expect(seeds.count == 5)
    }

    @Test func aFrameCarriesTheServersStampAndTheInputsId() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 10 }[0]
        alice.send(.start)
        world.advance(ms: 30)
        let id = alice.send(.input("x"))
        alice.send(.sendFrameInput(SendFrameInput(payload: .dataBytes([0, 255]))))
        alice.send(.sendFrameInput(SendFrameInput()))
        let wall = world.wallMs
        world.advance(ms: 70)
        let inputs = alice.frames.first?.inputs ?? []
        #expect(inputs.map(\.playerId) == ["alice", "alice", "alice"])
        #expect(inputs.map(\.id) == [id, id + 1, id + 2])
        #expect(inputs.map(\.serverTime) == [wall, wall, wall])
        #expect(inputs.map(\.payload) == [.data("x"), .dataBytes([0, 255]), .data("")])
    }

    @Test func theSixthInputIsRefusedAndTheEarlierOnesStay() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        #expect(all[1].lines() == ["@3 frameSyncStarted 1: alice* bob"])
        for i in 1...7 { all[1].send(.input("\(i)")) }
        all[0].send(.input("a"))
        #expect(all[1].lines() == ["#8 error 29", "#9 error 29"])
        world.advance(ms: 100)
        #expect(all[1].lines() == ["@4 frame 1 bob:1 bob:2 bob:3 bob:4 bob:5 alice:a"])
        all[1].send(.input("8"))
        world.advance(ms: 100)
        #expect(all[1].lines() == ["@5 frame 2 bob:8"])
    }

    @Test func inputsOfAThousandAndTwentyFourBytesPass() {
        let world = World()
        let alice = world.seated("alice")[0]
        alice.send(.start)
        #expect(alice.refusal(.input(String(repeating: "é", count: 512))) == 0)
        #expect(alice.refusal(.input(String(repeating: "é", count: 512) + "x")) == 28)
        #expect(
            alice.refusal(.sendFrameInput(SendFrameInput(payload: .dataBytes(Array(repeating: 0, count: 1025))))) == 28)
        #expect(alice.refusal(.input("")) == 0)
    }

    @Test func anInputWithoutAFrameSyncOrForAnotherIsRefused() {
        let world = World()
        let alice = world.seated("alice")[0]
        #expect(alice.refusal(.input("x")) == 25)
        alice.send(.start)
        #expect(alice.refusal(.input("x", sync: 2)) == 25)
        #expect(alice.refusal(.input("x", sync: 1)) == 0)
    }

    @Test func inputsWithAnIdAreTakenOnce() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 10 }[0]
        alice.send(.start)
        let id = alice.send(.input("x"))
        alice.send(.input("y"))
        alice.forget()
        alice.send(.input("x"), id: id)
        alice.send(.input("z"), id: id - 1)
        alice.send(.input("free"), id: 0)
        world.advance(ms: 100)
        #expect(alice.lines() == ["@3 frame 1 alice:x alice:y alice:free"])
        alice.drop()
        alice.resume()
        alice.send(.input("x"), id: id)
        alice.forget()
        world.advance(ms: 100)
        #expect(alice.lines() == ["@4 frame 2"])
    }

    @Test func aRefusedInputCanBeSentAgain() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 10 }[0]
        let id = alice.send(.input("early"))
        alice.send(.start)
        alice.forget()
        alice.send(.input("late"), id: id)
        world.advance(ms: 100)
        #expect(alice.lines() == ["@3 frame 1 alice:late"])
    }

    @Test func aNewRunCountsInputsAnew() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 10 }[0]
        alice.send(.start)
        for _ in 0..<4 { alice.send(.input("x")) }
        alice.connect()
        alice.forget()
        alice.send(.input("new"))
        world.advance(ms: 100)
        #expect(alice.lines() == ["@3 frame 1 alice:x alice:x alice:x alice:x alice:new"])
    }

    @Test func inputsKeepCountingAcrossSeatsOfARun() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 10 }[0]
        alice.send(.start)
        let old = alice.send(.input("old"))
        alice.send(.leave)
        alice.send(.create(4) { $0.frameRate = 10 })
        alice.send(.start)
        alice.forget()
        alice.send(.input("again"), id: old)
        alice.send(.input("new"))
        world.advance(ms: 100)
        #expect(alice.lines() == ["@3 frame 1 alice:new"])
    }

    @Test func changesListTheSeatsChangesInOrder() {
        let world = World()
        let all = world.seated("alice", "bob") {
            $0.frameRate = 1
            $0.allowLateJoin = true
            $0.maxSpectatorCount = 1
        }
        let (alice, bob) = (all[0], all[1])
        let carol = world.client("carol").connect()
        let eve = world.client("eve").connect()
        alice.send(.start)
        carol.send(.join(alice.roomID))
        eve.send(.join(alice.roomID, spectating: true))
        alice.send(.kick("eve"))
        bob.send(.leave)
        bob.send(.join(alice.roomID))
        alice.send(.kick("carol"))
        world.advance(ms: 1_000)
        #expect(line(alice.frames[0]) == "1 +carol -bob +bob kicked carol")
        world.advance(ms: 500)
        bob.drop()
        world.advance(ms: 2_500)
        bob.resume()
        world.advance(ms: 1_000)
        #expect(alice.frames.dropFirst().map { line($0) } == ["2", "3", "4 offline bob", "5 online bob"])
    }

    @Test func stopsAfterThirtyMinutes() {
        let world = World { $0.frameSyncMs = 10_000 }
        let alice = world.seated("alice") { $0.frameRate = 2 }[0]
        alice.send(.start)
        world.advance(ms: 9_999)
        #expect(world.room(alice.roomID)?.frameSync != nil)
        world.advance(ms: 1)
        #expect(alice.lines().suffix(2) == ["@22 frame 20", "@23 frameSyncStopped 1, reason 1"])
        alice.send(.start)
        #expect(alice.lines() == ["#4 ok", "@24 frameSyncStarted 2: alice*"])
    }

    @Test func stopsTenSecondsAfterTheLastWentOffline() {
        let world = World()
        let all = world.seated("alice", "bob") {
            $0.frameRate = 1
            $0.maxSpectatorCount = 1
        }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        all[0].send(.start)
        all[0].drop()
        world.advance(ms: 1_000)
        all[1].drop()
        world.advance(ms: 2_000 + 9_999)
        #expect(!eve.lines().contains { $0.contains("Stopped") })
        world.advance(ms: 1)
        #expect(eve.lines().suffix(1) == ["@19 frameSyncStopped 1, reason 2"])
    }

    @Test func whoReturnsBeforeKeepsItRunning() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 1 }
        all[0].send(.start)
        for one in all { one.drop() }
        world.advance(ms: 11_000)
        all[1].resume()
        world.advance(ms: 20_000)
        #expect(world.room(all[1].roomID)?.frameSync != nil)
        // Only the next time that nobody is online counts.
        all[1].drop()
        world.advance(ms: 11_999)
        #expect(world.room(all[1].roomID)?.frameSync != nil)
        world.advance(ms: 1)
        #expect(world.room(all[1].roomID)?.frameSync == nil)
    }

    @Test func theLastOnlinePlayersLeavingCountsToo() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 1 }
        all[0].send(.start)
        all[1].drop()
        world.advance(ms: 3_000)
        all[0].send(.leave)
        world.advance(ms: 9_999)
        #expect(world.room(all[1].roomID)?.frameSync != nil)
        world.advance(ms: 1)
        #expect(world.room(all[1].roomID)?.frameSync == nil)
    }

    @Test func aRoomThatClosesStopsItFirst() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        all[1].send(.input("last"))
        all[1].forget()
        all[0].send(.dismiss)
        #expect(all[1].lines() == ["@4 frame 1 bob:last", "@5 frameSyncStopped 1, reason 3", "@6 roomDismissed 0"])
    }

    @Test func anAcceptedInputStandsInAFrameEvenWhenTheOwnerStops() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 1 }[0]
        alice.send(.start)
        alice.send(.input("x"))
        alice.forget()
        alice.send(.stop)
        #expect(alice.lines() == ["#5 ok", "@3 frame 1 alice:x", "@4 frameSyncStopped 1, reason 0"])
    }

    @Test func everyMemberGetsTheSameFramesInBothEncodings() {
        let world = World()
        let json = world.client("json", .json).connect()
        let proto = world.client("proto", .protobuf).connect()
        json.send(.create(4) { $0.frameRate = 20 })
        proto.send(.join(json.roomID))
        json.send(.start)
        for i in 0..<10 {
            json.send(.input("j\(i)"))
            proto.send(.input("p\(i)"))
            world.advance(ms: 50)
        }
        #expect(json.frames.count == 10)
        #expect(json.frames == proto.frames)
        #expect(json.faults == [] && proto.faults == [])
    }

    @Test func afterAPauseFramesAreNotReplayed() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 10 }[0]
        alice.send(.start)
        alice.forget()
        world.advance(ms: 100)
        world.freeze(ms: 730)
        for i in 1...20 { alice.send(.input("\(i)")) }
        world.advance(ms: 70)
        let frames = alice.frames
        #expect(frames.map(\.id) == [1, 2, 3])
        #expect(frames.map { $0.inputs.count } == [0, 0, 20])
        world.advance(ms: 100)
        #expect(alice.frames.last?.id == 4)
    }
}
