import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md: a request that cannot be finished within 5 s.
@Suite struct RequestTimeoutTests {
    private func place(_ room: String) -> World.Place { .shard(RoomKey(project: "acme", id: room).shard) }

    @Test func isAnswered1AndStaysOpen() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: place(all[0].roomID))
        let carol = world.client("carol").connect()
        carol.forget()
        let join = carol.send(.join(all[0].roomID))
        world.advance(ms: 4_800)
        #expect(carol.lines() == [])
        world.advance(ms: 300)
        #expect(carol.lines() == ["#\(join) error 1, again after 500"])
        #expect(carol.refusal(.create()) == 15)
        world.release()
        carol.forget()
        carol.send(.join(all[0].roomID), id: join)
        #expect(carol.lines() == ["#\(join) roomJoined at 3: alice* bob carol"])
        #expect(all[0].lines() == ["@3 playerEntered carol, owner alice"])
    }

    @Test func sentAgainItGetsItsOutcomeOnce() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: place(all[0].roomID))
        let id = all[1].send(.message("slow"))
        for _ in 0..<3 {
            world.advance(ms: 5_100)
            #expect(all[1].lines() == ["#\(id) error 1, again after 500"])
            all[1].send(.message("slow"), id: id)
        }
        world.release()
        #expect(all[1].lines() == ["#\(id) ok"])
        #expect(all[0].lines() == ["@3 message bob: slow"])
        #expect(all[1].faults == [])
    }

    @Test func aLateOutcomeIsNotToldByItself() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: place(all[0].roomID))
        let id = all[1].send(.message("slow"))
        world.advance(ms: 5_100)
        all[1].forget()
        world.release()
        #expect(all[1].lines() == [])
        #expect(all[0].lines() == ["@3 message bob: slow"])
        all[1].send(.message("slow"), id: id)
        #expect(all[1].lines() == ["#\(id) ok"])
        #expect(all[0].lines() == [])
    }

    @Test func aReadIsDoneAgain() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        world.hold(to: .shard(ShardID(ofDirectory: "acme")))
        let id = alice.send(.list())
        world.advance(ms: 5_100)
        #expect(alice.lines() == ["#\(id) error 1, again after 500"])
        alice.send(.list(), id: id)
        world.release()
        #expect(alice.lines() == ["#\(id) rooms "])
        #expect(alice.faults == [])
    }

    @Test func aWaitingMatchWaitsLonger() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        alice.send(.match(2, timeoutMs: 20_000))
        world.advance(ms: 19_900)
        #expect(alice.lines() == [])
        world.advance(ms: 100)
        #expect(alice.lines() == ["#2 error 34"])
    }

    @Test func aLateJoinThatWasAnswered1IsHeardFromWhenItIsSentAgain() {
        let world = World()
        let alice = world.seated("alice") {
            $0.frameRate = 10
            $0.allowLateJoin = true
        }[0]
        alice.send(.start)
        world.advance(ms: 300)
        let carol = world.client("carol").connect()
        carol.forget()
        world.hold(to: place(alice.roomID))
        let join = carol.send(.join(alice.roomID))
        world.advance(ms: 5_100)
        #expect(carol.lines() == ["#\(join) error 1, again after 500"])
        // Its stream begins, and that cannot come before it is told where.
        world.release()
        alice.send(.message("early"))
        world.advance(ms: 200)
        #expect(carol.lines().first?.hasPrefix("#\(join) roomJoined at 57") == true)
        #expect(carol.frames.map(\.id) == alice.frames.map(\.id))
        carol.send(.join(alice.roomID), id: join)
        #expect(carol.lines().first?.hasPrefix("#\(join) roomJoined") == true)
        world.advance(ms: 100)
        #expect(carol.frames.map(\.id) == alice.frames.map(\.id))
        #expect(carol.faults == [])
    }
}
