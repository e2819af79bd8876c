import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Matching and the list": matching.
@Suite struct MatchingTests {
    @Test func withoutAnOpenRoomOneIsCreatedAndTheCallerOwnsIt() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        alice.send(.match())
        #expect(alice.lines() == ["#2 roomJoined at 1: alice*"])
    }

    @Test(arguments: [(2, 7), (3, 9), (4, 3), (4, 4), (4, 9), (1, 3), (20, 30)])
    func manyAtOnceEndInAsFewRoomsAsHoldThem(max: UInt32, count: Int) {
        let world = World()
        let clients = (0..<count).map { world.client("p\($0)").connect() }
        for client in clients { client.send(.match(max), settling: false) }
        world.settle()
        expectFewestRooms(world, clients, max)
    }

    @Test(arguments: 0..<150)
    func inAnyOrderOfDelivery(seed: UInt64) {
        let world = World(seed: seed, shuffled: true)
        let max = UInt32(2 + world.random.below(4))
        let clients = (0..<(1 + world.random.below(14))).map { world.client("p\($0)").connect() }
        for client in clients {
            let timeout: UInt32 = world.random.below(3) == 0 ? 60_000 : 0
            client.send(.match(max, timeoutMs: timeout), settling: false)
            for _ in 0..<world.random.below(12) { world.deliverOne() }
        }
        world.settle()
        let isWaiting = clients.allSatisfy { !$0.isInRoom }
        if isWaiting { return }
        expectFewestRooms(world, clients.filter(\.isInRoom), max, "seed \(seed)")
    }

    private func expectFewestRooms(_ world: World, _ clients: [Client], _ max: UInt32, _ note: String = "") {
        let rooms = world.rooms()
        let fewest = (clients.count + Int(max) - 1) / Int(max)
        #expect(rooms.count == fewest, "\(note): \(clients.count) callers, \(max) a room")
        for room in rooms { #expect(room.players.count <= Int(max), "\(note)") }
        for client in clients {
            #expect(client.isInRoom, "\(note): \(client.id)")
            #expect(client.faults == [], "\(note): \(client.id)")
        }
    }
}
