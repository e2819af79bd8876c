import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// What a shard does about a gateway that is gone, and a gateway about a shard.
@Suite struct GatewayLossTests {
    private func place(_ client: Client) -> World.Place { .shard(client.key.shard) }
    private func shard(_ room: String) -> ShardID { RoomKey(project: "acme", id: room).shard }

    @Test func itsPlayersAreDropped() {
        let world = World()
        let all = world.seated("alice", "bob", "carol")
        world.lose(gateway: all[1].gateway)
        world.settle()
        #expect(all[1].closeCode == 1006)
        #expect(world.room(all[0].roomID)?.players.map { $0.link == nil } == [false, true, false])
        all[0].send(.message("missed"))
        all[0].forget()
        world.advance(ms: 1_999)
        #expect(all[0].lines() == [])
        world.advance(ms: 1)
        #expect(all[0].lines() == ["@5 playerOffline bob, owner alice"])
        all[1].resume()
        #expect(
            all[1].lines()
                == [
                    "#3 resumed, on at 6: alice* bob carol", "@4 message alice: missed",
                    "@5 playerOffline bob, owner alice",
                ].filter { !$0.contains("playerOffline") })
    }

    @Test func spectatorsThereStopReading() {
        let world = World()
        let alice = world.seated("alice") { $0.maxSpectatorCount = 2 }[0]
        let watchers = ["eve", "fay"].map { world.client($0).connect() }
        for one in watchers { one.send(.join(alice.roomID, spectating: true)) }
        world.lose(gateway: watchers[0].gateway)
        world.settle()
        let spectators = world.room(alice.roomID)?.spectators
        #expect(spectators?["eve"]?.reading == RoomMember.Reading.nothing)
        #expect(spectators?["fay"]?.reading == .live)
        watchers[1].forget()
        alice.send(.message("x"))
        #expect(watchers[1].lines() == ["@2 message alice: x"])
    }

    /// A process with the same name and number of loops is another gateway.
    @Test func linksOfTheOneThatFollowsStay() {
        let world = World()
        let alice = world.seated("alice")[0]
        let old = world.losses.gateway(alice.gateway)
        world.lose(gateway: alice.gateway)
        alice.resume()
        alice.forget()
        world.log(.gatewayLost(old), in: shard(alice.roomID))
        world.log(.gatewayLost(old), in: alice.key.shard)
        world.settle()
        alice.send(.message("x"))
        world.advance(ms: 10_000)
        #expect(alice.lines() == ["#4 ok"])
    }

    @Test func whatItWasAskedAboutAConnectIsNotWaitedFor() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.drop()
        world.hold(from: place(alice), to: .gateway(alice.gateway))
        alice.connect()
        #expect(world.player("alice")?.replacing.count == 1)
        world.lose(gateway: alice.gateway)
        world.release()
        #expect(world.player("alice")?.replacing.count == 0)
        world.advance(ms: 60_000)
        #expect(world.player("alice") == nil)
    }

    // MARK: At the gateway

    @Test func aRoomThatCountedItAsLostEndsTheLinksOfItsMembers() {
        let world = World()
        let all = world.seated("alice", "bob")
        let gateway = world.losses.gateway(all[1].gateway)
        world.log(.gatewayLost(gateway), in: shard(all[0].roomID))
        world.lose(shard(all[0].roomID), .session, at: gateway)
        world.settle()
        #expect(all[1].lines() == ["disconnected 38, may reconnect"])
        #expect(all[1].closeCode == 1012)
        all[1].resume()
        #expect(all[1].lines() == ["#3 resumed, on at 2: alice* bob"])
        all[0].send(.message("x"))
        #expect(all[1].lines() == ["@3 message alice: x"])
    }

    /// A match waits as long as its caller said, and no longer when it has been answered once.
    @Test func aRepeatedMatchIsAnsweredInTime() {
        let world = World()
        let all = ["alice", "bob"].map { world.client($0).connect() }
        for one in all { one.send(.match(2, timeoutMs: 60_000), id: 2) }
        #expect(all[0].isInRoom)
        all[0].forget()
        world.hold(to: .shard(shard(all[0].roomID)))
        all[0].send(.match(2, timeoutMs: 60_000), id: 2)
        world.advance(ms: 5_000)
        #expect(all[0].lines().contains { $0.hasPrefix("#2") })
    }

    /// The room of a match may be anywhere, and what it said of the seat is void.
    @Test func whoWaitsForASeatMayHaveOneThere() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        alice.send(.match(2, timeoutMs: 60_000), id: 2)
        world.lose(world.client("nobody").key.shard, .session, at: world.losses.gateway(alice.gateway))
        world.settle()
        #expect(alice.lines() == ["disconnected 38, may reconnect"])
        world.client("bob").connect().send(.match(2, timeoutMs: 60_000))
        alice.resume()
        alice.send(.match(2, timeoutMs: 60_000), id: 2)
        #expect(alice.isInRoom)
        #expect(alice.faults == [])
    }

    @Test(arguments: [LinksLoss.session, .cutOff])
    func thePlayersShardEndsTheLink(why: LinksLoss) {
        let world = World()
        let all = world.seated("alice", "bob")
        world.lose(all[1].key.shard, why, at: world.losses.gateway(all[1].gateway))
        world.settle()
        #expect(all[1].lines() == ["disconnected 38, may reconnect"])
        #expect(all[0].lines() == [])
        #expect(world.room(all[0].roomID)?.players[1].link == nil, "the run is dropped")
        all[1].resume()
        #expect(all[1].lines() == ["#3 resumed, on at 2: alice* bob"])
    }

    @Test func aRoomThatCannotBeReachedEndsTheLink() {
        let world = World()
        let all = world.seated("alice", "bob")
        let carol = world.client("carol").connect()
        carol.forget()
        for gateway in 0..<World.gateways {
            world.lose(shard(all[0].roomID), .cutOff, at: world.losses.gateway(gateway))
        }
        world.settle()
        for one in all { #expect(one.lines() == ["disconnected 38, may reconnect"]) }
        #expect(carol.lines() == [])
    }

    @Test func aConnectOnItsWayEndsTheLink() {
        let world = World()
        let alice = world.client("alice")
        world.hold(to: place(alice))
        alice.connect()
        world.lose(alice.key.shard, .cutOff, at: world.losses.gateway(alice.gateway))
        #expect(alice.lines() == ["disconnected 38, may reconnect"])
        world.release()
        world.advance(ms: 60_000)
        #expect(world.counts().players == 0)
    }

    @Test func othersAreNotConcerned() {
        let world = World()
        let all = world.seated("alice", "bob")
        let other = world.client("nobody").key.shard
        for gateway in 0..<World.gateways {
            for why in [LinksLoss.generation, .session, .cutOff] {
                world.lose(other, why, at: world.losses.gateway(gateway))
            }
            world.lose(shard(all[0].roomID), .generation, at: world.losses.gateway(gateway))
        }
        #expect(all[0].lines() == [] && all[1].lines() == [])
    }

    /// Nobody tells how the seat ended: then a resume tells where the player sits.
    @Test func aSeatInDoubtEndsTheLink() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.lose(shard(all[0].roomID), .generation, at: world.losses.gateway(all[1].gateway))
        world.advance(ms: 4_900)
        #expect(all[1].lines() == [])
        world.advance(ms: 300)
        #expect(all[1].lines() == ["disconnected 1, may reconnect"])
    }

    // MARK: A connect that is not answered

    @Test func aConnectThatIsNotAnsweredInTimeEndsTheLink() {
        let world = World()
        let alice = world.client("alice")
        world.hold(to: place(alice))
        alice.connect()
        world.advance(ms: 4_900)
        #expect(alice.lines() == [])
        world.advance(ms: 200)
        #expect(alice.lines() == ["disconnected 38, may reconnect"])
        #expect(alice.closeCode == 1012)
        world.release()
        #expect(world.player("alice")?.run?.link == nil)
        world.advance(ms: 60_000)
        #expect(world.counts().players == 0)
    }

    @Test func aResumeThatIsNotAnsweredInTimeLeavesTheSeat() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.hold(to: place(all[1]))
        all[1].resume()
        world.advance(ms: 5_100)
        #expect(all[1].lines() == ["disconnected 38, may reconnect"])
        world.release()
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice", "@4 playerOnline bob, owner alice"])
        all[1].resume()
        #expect(all[1].lines() == ["#4 resumed, on at 4: alice* bob"])
    }
}
