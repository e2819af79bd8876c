import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// Design, rule 12: before 21 the room is asked whether the seat is still held.
@Suite struct VerifyTests {
    private func shard(_ room: String) -> World.Place { .shard(RoomKey(project: "acme", id: room).shard) }
    private func shard(_ client: Client) -> World.Place { .shard(client.key.shard) }

    @Test(arguments: [false, true])
    func whoWasToldThatItIsOutIsNotRefused(isKick: Bool) {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(from: shard(all[0].roomID), to: shard(all[1]))
        all[0].send(isKick ? .kick("bob") : .dismiss)
        all[1].forget()
        let create = all[1].send(.create())
        #expect(all[1].lines() == [])
        world.release()
        #expect(all[1].lines() == ["#\(create) roomJoined at 1: bob*"])
        #expect(all[1].faults == [])
    }

    @Test func whoSitsIsRefusedAndThatIsRemembered() {
        let world = World()
        let all = world.seated("alice", "bob")
        let create = all[1].send(.create())
        #expect(all[1].lines() == ["#\(create) error 21"])
        all[1].send(.leave)
        all[1].forget()
        #expect(all[1].refusal(.create(), id: create) == 21)
    }

    @Test func callsBehindItWait() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: shard(all[0].roomID))
        // Without an id they are not held at the gateway.
        all[1].sendSilently(.create())
        all[1].sendSilently(.leave)
        #expect(world.room(all[0].roomID)?.players.count == 2)
        world.release()
        #expect(all[1].lines() == [])
        #expect(world.room(all[0].roomID)?.players.count == 1)
        #expect(all[1].refusal(.create()) == 0)
    }

    @Test func sentAgainMeanwhileItIsAnsweredAsOften() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(from: shard(all[0].roomID), to: shard(all[1]))
        all[0].send(.kick("bob"))
        all[1].forget()
        let create = all[1].send(.create())
        all[1].send(.create(), id: create)
        world.release()
        #expect(all[1].lines() == Array(repeating: "#\(create) roomJoined at 1: bob*", count: 2))
        #expect(world.rooms().count == 2)
    }

    @Test func aRoomThatIsLostMeanwhileIsNotInTheWay() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: shard(all[0].roomID))
        let create = all[1].send(.create())
        world.lose(room: all[0].roomID)
        world.release()
        #expect(all[1].lines() == ["serviceError 1", "#\(create) roomJoined at 1: bob*"])
        #expect(all[1].faults == [])
    }

    @Test func theWordOnAnEarlierCallDoesNotCount() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(from: shard(all[0].roomID), to: shard(all[1]))
        all[1].send(.create())
        all[1].connect()
        world.hold { _ in false }
        world.settle()
        all[1].forget()
        world.hold(from: shard(all[0].roomID), to: shard(all[1]))
        all[0].send(.kick("bob"))
        all[1].send(.create())
        world.tell(.player(all[1].key, .verified(0, number: 0, held: true)))
        #expect(all[1].lines().last == "@3 playerKicked bob, owner alice")
        world.release()
        #expect(all[1].lines() == ["#2 roomJoined at 1: bob*"])
    }

    @Test func aDropMeanwhileLosesNothing() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(from: shard(all[0].roomID), to: shard(all[1]))
        all[0].send(.kick("bob"))
        let create = all[1].send(.create())
        all[1].drop(settling: false)
        world.release()
        all[1].resume()
        all[1].forget()
        all[1].send(.create(), id: create)
        #expect(all[1].lines() == ["#\(create) roomJoined at 1: bob*"])
        #expect(world.rooms().count == 2)
        #expect(all[1].faults == [])
    }
}
