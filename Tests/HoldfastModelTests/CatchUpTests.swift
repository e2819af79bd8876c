import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Frame sync": getFrames, late joins, snapshots, hashes.
@Suite struct CatchUpTests {
    /// Alice alone in a running room, with some sealed frames.
    private func running(
        _ world: World, frames: Int64, _ change: (inout RoomConfig) -> Void = { _ in }
    ) -> Client {
        let alice = world.seated("alice") {
            $0.frameRate = 10
            $0.allowLateJoin = true
            $0.maxSpectatorCount = 5
            change(&$0)
        }[0]
        alice.send(.start)
        world.advance(ms: 100 * frames)
        alice.forget()
        return alice
    }

    private func answer(_ client: Client, _ body: ClientMessage.Body) -> String { line(client.ask(body) ?? .ok(Ok())) }

    // MARK: getFrames

    @Test func getFramesGivesWhatIsSealed() {
        let world = World()
        let alice = running(world, frames: 20)
        #expect(answer(alice, .frames(1, 20)) == "frames 1-20 of 1, kept 1")
        #expect(answer(alice, .frames(5, 5)) == "frames 5-5 of 1, kept 1")
        #expect(answer(alice, .frames(18, 1_000)) == "frames 18-20 of 1, kept 1")
        #expect(answer(alice, .frames(21, 22)) == "frames none of 1, kept 1")
        #expect(answer(alice, .frames(.max, .max)) == "frames none of 1, kept 1")
        #expect(answer(alice, .frames(1, 2, sync: 1)) == "frames 1-2 of 1, kept 1")
    }

    @Test func getFramesRefuses() {
        let world = World()
        let alice = world.seated("alice")[0]
        #expect(alice.refusal(.frames(1, 1)) == 25)
        alice.send(.start)
        #expect(alice.refusal(.frames(0, 1)) == 11)
        #expect(alice.refusal(.frames(2, 1)) == 11)
        #expect(alice.refusal(.frames(1, 1, sync: 2)) == 25)
        alice.send(.stop)
        #expect(alice.refusal(.frames(1, 1, sync: 1)) == 25)
    }

    @Test func atMostSixHundredFramesAReply() {
        let world = World()
        let alice = running(world, frames: 1_250)
        #expect(answer(alice, .frames(1, 600)) == "frames 1-600 of 1, kept 1")
        #expect(answer(alice, .frames(1, 601)) == "frames 1-600 of 1, kept 1, partial")
        #expect(answer(alice, .frames(601, 9_999)) == "frames 601-1200 of 1, kept 1, partial")
        #expect(answer(alice, .frames(1_201, 9_999)) == "frames 1201-1250 of 1, kept 1")
    }

    @Test func atMostSoManyBytesOfInputsAReplyAndABiggerFrameAlone() {
        let world = World { $0.frameBytesPerReply = 100 }
        let alice = running(world, frames: 0)
        for size in [40, 60, 1, 300, 10] {
            alice.send(.input(String(repeating: "x", count: size)))
            world.advance(ms: 100)
        }
        alice.forget()
        #expect(answer(alice, .frames(1, 9)) == "frames 1-2 of 1, kept 1, partial")
        #expect(answer(alice, .frames(3, 9)) == "frames 3-3 of 1, kept 1, partial")
        #expect(answer(alice, .frames(4, 9)) == "frames 4-4 of 1, kept 1, partial")
        #expect(answer(alice, .frames(5, 9)) == "frames 5-5 of 1, kept 1")
    }

    @Test func beforeTheOldestKeptIsRefused() {
        let world = World { $0.frameHistoryBytes = 200 }
        let alice = running(world, frames: 0)
        for _ in 0..<50 {
            alice.send(.input("0123456789"))
            world.advance(ms: 100)
        }
        let oldest = world.room(alice.roomID)?.history.firstKept(of: 1) ?? 0
        #expect(oldest > 40)
        guard case .error(let error)? = alice.ask(.frames(oldest - 1, 50)) else {
            Issue.record("not refused")
            return
        }
        #expect(error.code == 33)
        #expect(error.message.contains("\(oldest)"))
        #expect(answer(alice, .frames(oldest, 50)) == "frames \(oldest)-50 of 1, kept \(oldest)")
    }

    // MARK: Late joins

    @Test func aLateJoinerGetsWhatItMissedThenLiveFrames() {
        let world = World()
        let alice = running(world, frames: 3)
        let bob = world.client("bob").connect()
        bob.send(.join(alice.roomID))
        alice.send(.message("hi"))
        world.advance(ms: 100)
        #expect(
            bob.lines() == [
                "#1 connected", "#2 roomJoined at 6: alice* bob, sync 1 at frame 3", "frames 1-3 of 1, kept 1",
                "@7 message alice: hi", "@8 frame 4 +bob",
            ])
        #expect(bob.faults == [])
    }

    @Test func aSpectatorTooAndFromTheSnapshot() {
        let world = World()
        let alice = running(world, frames: 5)
        alice.send(.snapshot(3, [7]))
        let eve = world.client("eve").connect()
        eve.send(.join(alice.roomID, spectating: true))
        world.advance(ms: 100)
        #expect(
            eve.lines() == [
                "#1 connected", "#2 roomJoined at 7: alice*, sync 1 at frame 5, snapshot 3",
                "frames 4-5 of 1, kept 1", "@8 frame 6",
            ])
    }

    @Test func withoutAllowLateJoinNobodyJoinsARunningRoomButSpectators() {
        let world = World()
        let alice = running(world, frames: 1) { $0.allowLateJoin = false }
        let bob = world.client("bob").connect()
        #expect(bob.refusal(.join(alice.roomID)) == 26)
        #expect(bob.refusal(.join(alice.roomID, spectating: true)) == 0)
    }

    @Test func aLateJoinWhoseFramesAreNotKeptIsRefused() {
        let world = World { $0.frameHistoryBytes = 200 }
        let alice = running(world, frames: 0)
        for _ in 0..<50 {
            alice.send(.input("0123456789"))
            world.advance(ms: 100)
        }
        let bob = world.client("bob").connect()
        #expect(bob.refusal(.join(alice.roomID)) == 33)
        #expect(bob.refusal(.join(alice.roomID, spectating: true)) == 33)
        alice.send(.snapshot(49))
        #expect(bob.refusal(.join(alice.roomID)) == 0)
        #expect(bob.faults == [])
    }

    @Test func aLongCatchUpComesInPartsAndTheSeamHasNoGap() {
        let world = World { $0.frameBytesPerReply = 50 }
        let alice = running(world, frames: 0)
        for i in 0..<30 {
            alice.send(.input("input \(i)"))
            if i % 4 == 0 { alice.send(.message("m\(i)")) }
            world.advance(ms: 100)
        }
        let bob = world.client("bob").connect()
        bob.isSlow = true
        bob.send(.join(alice.roomID))
        for i in 0..<15 {
            alice.send(.message("later \(i)"))
            alice.send(.input("x"))
            world.advance(ms: 100)
            bob.drain()
        }
        while bob.wantsMore { bob.drain() }
        world.advance(ms: 200)
        #expect(bob.faults == [])
        #expect(bob.frames == alice.frames)
        #expect(bob.lines().filter { $0.contains("later") }.count == 15)
        #expect(!bob.lines().contains { $0.contains("message alice: m") })
    }

    @Test func framesAfterTheJoinCarryASeqAndThoseBeforeNone() {
        let world = World()
        let alice = running(world, frames: 3)
        let bob = world.client("bob").connect()
        bob.isSlow = true
        world.hold(to: .gateway(bob.gateway))
        bob.send(.join(alice.roomID))
        bob.drop()
        world.advance(ms: 300)
        world.release()
        bob.resume()
        // The join was never heard of: the stream begins with `connected`.
        #expect(bob.lines().contains { $0.hasPrefix("frames 1-6 of 1") })
        bob.drop()
        world.advance(ms: 300)
        bob.resume()
        while bob.wantsMore { bob.drain() }
        #expect(bob.lines().last == "@12 frames 7-9 of 1, kept 1")
        #expect(bob.faults == [])
    }

    // MARK: Snapshots

    @Test func theNewestSnapshotByFrameIsKept() {
        let world = World()
        let alice = running(world, frames: 9)
        func kept() -> Snapshot? { world.room(alice.roomID)?.frameSync?.snapshot }
        #expect(alice.refusal(.snapshot(4, [4])) == 0)
        #expect(alice.refusal(.snapshot(4, [5])) == 0)
        #expect(alice.refusal(.snapshot(3, [3])) == 0)
        #expect(kept() == Snapshot(frameId: 4, state: [4], playerId: "alice"))
        #expect(alice.refusal(.snapshot(10)) == 11)
        #expect(alice.refusal(.snapshot(9, Array(repeating: 0, count: 65_536))) == 0)
        #expect(alice.refusal(.snapshot(9, Array(repeating: 0, count: 65_537))) == 11)
        #expect(alice.refusal(.snapshot(1, sync: 3)) == 25)
        alice.send(.stop)
        #expect(alice.refusal(.snapshot(1)) == 25)
        alice.send(.start)
        #expect(kept() == nil)
    }

    // MARK: Hashes

    @Test func aDesyncIsToldAsSoonAsTwoDifferOnceAFrame() {
        let world = World()
        let alice = running(world, frames: 3)
        let others = ["bob", "carol"].map { world.client($0).connect() }
        for one in others { one.send(.join(alice.roomID)) }
        for one in [alice] + others { one.forget() }
        alice.send(.hash(2, [1]))
        others[0].send(.hash(2, [1]))
        #expect(alice.lines() == [])
        alice.send(.hash(2, [9]))
        #expect(alice.lines() == [])
        others[1].send(.hash(2, [2]))
        let desync = "@8 desync 2: alice=[1] bob=[1] carol=[2]"
        for one in [alice] + others { #expect(one.lines() == [desync]) }
        others[1].send(.hash(2, [3]))
        others[1].send(.hash(3, [3]))
        alice.send(.hash(3, [4]))
        #expect(alice.lines() == ["@9 desync 3: carol=[3] alice=[4]"])
    }

    @Test func hashReportsAreRefused() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 60 }[0]
        #expect(alice.refusal(.hash(1, [1])) == 25)
        alice.send(.start)
        #expect(alice.refusal(.hash(1, [1])) == 11)
        world.advance(ms: 17)
        #expect(alice.refusal(.hash(1, [1])) == 0)
        #expect(alice.refusal(.hash(1, [])) == 11)
        #expect(alice.refusal(.hash(1, Array(repeating: 1, count: 32))) == 0)
        #expect(alice.refusal(.hash(1, Array(repeating: 1, count: 33))) == 11)
        #expect(alice.refusal(.hash(1, [1], sync: 2)) == 25)
    }

    @Test func reportsForFramesOlderThanSixHundredAreIgnored() {
        let world = World()
        let alice = running(world, frames: 700)
        let bob = world.client("bob").connect()
        bob.send(.join(alice.roomID))
        for one in [alice, bob] { one.forget() }
        for (client, hash) in [(alice, 1), (bob, 2)] {
            client.send(.hash(99, [UInt8(hash)]))
            client.send(.hash(100, [UInt8(hash)]))
        }
        #expect(alice.lines() == ["@704 desync 100: alice=[1] bob=[2]"])
    }

    @Test func spectatorsMayOnlyRead() {
        let world = World()
        let alice = running(world, frames: 5)
        let eve = world.client("eve").connect()
        eve.send(.join(alice.roomID, spectating: true))
        #expect(eve.refusal(.frames(1, 2)) == 0)
        for body: ClientMessage.Body in [
            .input("x"), .hash(1, [1]), .snapshot(1), .message("m"), .status(1), .properties("p"), .room(name: "n"),
            .start, .stop, .kick("alice"), .transfer("alice"), .dismiss,
        ] { #expect(eve.refusal(body) == 36, "\(body)") }
        #expect(eve.refusal(.leave) == 0)
    }
}
