import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// Design, rule 13: nobody is told as offline or gone right after a failover or a stall.
@Suite struct PresenceTests {
    private func start(_ world: World, _ client: Client) { world.log(.epochStart, in: client.key.shard) }

    @Test func afterAFailoverWhoIsAwayHasTimeToComeBack() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 1_900)
        start(world, all[1])
        world.advance(ms: 2_499)
        #expect(all[0].lines() == [])
        world.advance(ms: 1)
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice"])
    }

    @Test func whoIsDroppedRightAfterHasAsLong() {
        let world = World()
        let all = world.seated("alice", "bob")
        start(world, all[1])
        world.advance(ms: 100)
        all[1].drop()
        world.advance(ms: 2_399)
        #expect(all[0].lines() == [])
        world.advance(ms: 1)
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice"])
    }

    @Test func deadlinesAfterThatAreWhereTheyWere() {
        let world = World()
        let all = world.seated("alice", "bob")
        start(world, all[1])
        world.advance(ms: 1_000)
        all[1].drop()
        world.advance(ms: 1_999)
        #expect(all[0].lines() == [])
        world.advance(ms: 1)
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice"])
        world.advance(ms: 57_999)
        #expect(all[0].lines() == [])
        world.advance(ms: 1)
        #expect(all[0].lines() == ["@4 playerLeft bob, owner alice"])
    }

    @Test func theEndOfTheWindowWaitsToo() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 59_000)
        all[0].forget()
        start(world, all[1])
        world.advance(ms: 2_400)
        #expect(all[0].lines() == [])
        all[1].resume()
        #expect(all[0].lines() == ["@4 playerOnline bob, owner alice"])
        all[1].drop()
        world.advance(ms: 60_000)
        #expect(all[0].lines().last == "@6 playerLeft bob, owner alice")
    }

    @Test func afterAStallTheyHaveTimeToo() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        // The deadline fires 1,001 ms late.
        world.freeze(ms: 3_001)
        world.advance(ms: 2_499)
        #expect(all[0].lines() == [])
        world.advance(ms: 1)
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice"])
    }

    @Test func aSecondIsNoStall() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.freeze(ms: 3_000)
        world.advance(ms: 0)
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice"])
    }

    @Test func aWindowThatEndedInAStallIsStillOpen() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.freeze(ms: 100_000)
        world.advance(ms: 2_000)
        all[1].resume()
        #expect(all[1].lines().first == "#3 resumed, on at 2: alice* bob")
        #expect(all[0].lines() == [])
    }

    @Test func commandsInBetweenChangeNothing() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.freeze(ms: 3_500)
        for _ in 0..<4 {
            world.advance(ms: 600)
            // Its deadlines are looked at anew by each of these.
            world.tell(.player(all[1].key, .refused(1, ErrorReply())))
        }
        #expect(all[0].lines() == [])
        world.advance(ms: 100)
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice"])
    }

    @Test func framesAndMatchesDoNotWait() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 10 }
        all[0].send(.start)
        let carol = world.client("carol").connect()
        carol.send(.match(3, timeoutMs: 2_000))
        for one in all + [carol] { one.forget() }
        world.freeze(ms: 5_000)
        for one in all { world.log(.epochStart, in: one.key.shard) }
        world.log(.epochStart, in: RoomKey(project: "acme", id: all[0].roomID).shard)
        world.advance(ms: 100)
        #expect(all[1].lines() == ["@4 frame 1", "@5 frame 2"])
        #expect(carol.lines() == ["#2 error 34"])
    }

    @Test func aWaitEndsOnlyThen() {
        let world = World()
        let all = ["alice", "bob"].map { world.client($0).connect() }
        all[0].send(.match(2, timeoutMs: 60_000))
        all[0].drop()
        world.advance(ms: 1_000)
        start(world, all[0])
        world.advance(ms: 2_000)
        all[1].send(.match(2, timeoutMs: 60_000))
        #expect(all[1].lines().last == "#2 roomJoined at 1: alice* bob")
    }
}
