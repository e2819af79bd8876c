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

    // MARK: Which room

    private func room(_ owner: Client, with others: [Client] = [], _ body: ClientMessage.Body = .create()) -> String {
        owner.send(body)
        for other in others { other.send(.join(owner.roomID)) }
        return owner.roomID
    }

    private func clients(_ world: World, _ names: String...) -> [Client] { names.map { world.client($0).connect() } }

    @Test func theFullestGoesFirstThenTheOldest() {
        let world = World()
        let all = clients(world, "a", "b", "c", "d", "e", "x", "y", "z")
        let old = room(all[0])
        world.advance(ms: 5)
        let full = room(all[1], with: [all[2]])
        world.advance(ms: 5)
        let young = room(all[3])
        for (client, expected) in [(all[4], full), (all[5], full), (all[6], old), (all[7], old)] {
            client.send(.match())
            #expect(client.roomID == expected, "\(client.id)")
        }
        #expect(world.room(young)?.players.count == 1)
    }

    @Test func theKeyIsMaxTypeAndParams() {
        let world = World()
        let all = clients(world, "a", "b", "c", "d", "e", "f")
        all[0].send(.match { $0.matchParams = ["mode": "x", "level": "1"] })
        all[1].send(.match { $0.matchParams = ["level": "1", "mode": "x"] })
        #expect(all[1].roomID == all[0].roomID)
        all[2].send(.match { $0.matchParams = ["mode": "x"] })
        all[3].send(.match(3) { $0.matchParams = ["level": "1", "mode": "x"] })
        all[4].send(.match { $0.type = "other" })
        all[5].send(.match { $0.matchParams = ["mode": "x", "level": "2"] })
        #expect(Set(all.map(\.roomID)).count == 5)
    }

    @Test func theRestOfTheConfigIsIgnoredWhenThereIsARoom() {
        let world = World()
        let all = clients(world, "a", "b")
        all[0].send(.match { $0.name = "first" })
        all[1].send(
            .match {
                $0.name = "second"
                $0.frameRate = 60
            })
        #expect(all[1].roomID == all[0].roomID)
        #expect(world.room(all[0].roomID)?.config.name == "first")
    }

    @Test(arguments: ["hidden", "password", "full", "running", "offline", "banned"])
    func whatIsNeverMatched(why: String) {
        let world = World()
        let all = clients(world, "owner", "caller", "third")
        let room = room(
            all[0],
            .create(2) {
                $0.hidden = why == "hidden"
                $0.password = why == "password" ? "p" : ""
            })
        switch why {
        case "full": all[2].send(.join(room))
        case "running": all[0].send(.start)
        case "offline":
            all[0].drop()
            world.advance(ms: 2_000)
        case "banned":
            all[1].send(.join(room))
            all[0].send(.kick("caller", ban: true))
        default: break
        }
        all[1].forget()
        let id = all[1].send(.match(2))
        #expect(all[1].lines() == ["#\(id) roomJoined at 1: caller*"])
    }

    @Test func aRunningRoomThatAllowsLateJoinsIsMatched() {
        let world = World()
        let all = clients(world, "owner", "caller")
        all[0].send(.create { $0.allowLateJoin = true })
        all[0].send(.start)
        all[1].send(.match())
        #expect(all[1].roomID == all[0].roomID)
        #expect(all[1].faults == [])
    }

    @Test func hiddenAndPasswordInAMatchAreRefused() {
        let alice = World().client("alice").connect()
        #expect(alice.refusal(.match { $0.hidden = true }) == 11)
        #expect(alice.refusal(.match { $0.password = "p" }) == 11)
        #expect(alice.refusal(.match(timeoutMs: 300_001)) == 11)
        #expect(alice.refusal(.match(timeoutMs: 300_000)) == 0)
    }

    @Test func aRoomThatOpensAgainIsMatchedAgain() {
        let world = World()
        let all = clients(world, "a", "b", "c")
        let room = room(all[0], with: [all[1]], .create(2))
        all[1].send(.leave)
        all[2].send(.match(2))
        #expect(all[2].roomID == room)
        all[2].send(.leave)
        all[0].send(.start)
        all[0].send(.stop)
        all[1].send(.match(2))
        #expect(all[1].roomID == room)
    }

    // MARK: Waiting

    @Test func whenEnoughWaitARoomIsMadeAndTheLongestWaiterOwnsIt() {
        let world = World()
        let all = clients(world, "a", "b", "c")
        for one in all { one.forget() }
        for one in all.dropLast() { one.send(.match(3, timeoutMs: 60_000) { $0.name = one.id }) }
        #expect(all[0].lines() == [])
        all[2].send(.match(3, timeoutMs: 60_000) { $0.name = "c" })
        for one in all { #expect(one.lines() == ["#2 roomJoined at 1: a* b c"]) }
        #expect(world.room(all[0].roomID)?.config.name == "a")
    }

    @Test func whoWaitsTakesSeatsThatAppearLongestWaitFirst() {
        let world = World()
        let all = clients(world, "a", "b", "c", "owner")
        for one in all.dropLast() { one.send(.match(4, timeoutMs: 60_000)) }
        all[0].send(.cancel)
        all[0].send(.match(4, timeoutMs: 60_000))
        for one in all { one.forget() }
        // Two of the four seats are free.
        let friend = world.client("friend").connect()
        all[3].send(.create(4) { $0.password = "p" })
        friend.send(.join(all[3].roomID, password: "p"))
        #expect(!all[1].isInRoom)
        friend.send(.leave)
        all[3].send(.leave)
        all[3].send(.create(4))
        #expect(all[1].lines().first?.hasSuffix("owner* b") == true)
        #expect(all[2].isInRoom && all[0].isInRoom)
        #expect(world.room(all[3].roomID)?.players.map(\.player) == ["owner", "b", "c", "a"])
    }

    @Test func limitCancelAndMatchTheFirstDecides() {
        let world = World()
        let all = clients(world, "a", "b")
        for one in all { one.forget() }
        all[0].send(.match(2, timeoutMs: 500))
        world.advance(ms: 499)
        #expect(all[0].lines() == [])
        world.advance(ms: 1)
        #expect(all[0].lines() == ["#2 error 34"])
        all[0].send(.match(2, timeoutMs: 500))
        all[0].send(.cancel)
        #expect(all[0].lines() == ["#4 ok", "#3 error 35"])
        all[0].send(.cancel)
        #expect(all[0].lines() == ["#5 ok"])
        all[0].send(.match(2, timeoutMs: 500))
        all[1].send(.match(2))
        all[0].send(.cancel)
        world.advance(ms: 1_000)
        #expect(all[0].isInRoom && all[0].roomID == all[1].roomID)
        #expect(all[0].lines().count == 2)
    }

    @Test(arguments: 0..<60)
    func cancelAgainstMatchGivesOneReply(seed: UInt64) {
        let world = World(seed: seed, shuffled: true)
        let all = clients(world, "a", "b", "c")
        all[0].send(.match(2, timeoutMs: 60_000), settling: false)
        all[1].send(.match(2, timeoutMs: 60_000), settling: false)
        for _ in 0..<world.random.below(8) { world.deliverOne() }
        all[0].send(.cancel, settling: false)
        for _ in 0..<world.random.below(8) { world.deliverOne() }
        if world.random.below(2) == 0 { world.pass(ms: 60_000) }
        world.settle()
        let replies = all[0].lines().filter { $0.hasPrefix("#2 ") }
        #expect(replies.count == 1, "seed \(seed)")
        #expect(all[0].isInRoom == all[1].isInRoom, "seed \(seed)")
        #expect(all[0].owed.values.allSatisfy { $0 == 0 }, "seed \(seed)")
        if !all[0].isInRoom { #expect(["#2 error 34", "#2 error 35"].contains(replies.first), "seed \(seed)") }
        // Nobody is left behind in the pool.
        all[2].send(.match(2, timeoutMs: 100))
        if !all[2].isInRoom { world.advance(ms: 100) }
        #expect(all[2].owed.values.allSatisfy { $0 == 0 }, "seed \(seed)")
    }

    @Test func aLinkThatIsDroppedForTwoSecondsEndsTheWait() {
        let world = World()
        let all = clients(world, "a", "b")
        let id = all[0].send(.match(2, timeoutMs: 60_000))
        all[0].drop()
        world.advance(ms: 1_999)
        all[0].resume()
        all[0].send(.match(2, timeoutMs: 60_000), id: id)
        all[0].forget()
        world.advance(ms: 5_000)
        #expect(all[0].lines() == [])
        all[0].drop()
        world.advance(ms: 2_000)
        all[1].send(.match(2, timeoutMs: 100))
        world.advance(ms: 100)
        #expect(all[1].lines().last == "#2 error 34")
        all[0].resume()
        all[0].forget()
        all[0].send(.match(2, timeoutMs: 60_000), id: id)
        #expect(all[0].lines() == ["#2 error 35"])
    }

    @Test func aDisconnectEndsTheWait() {
        let world = World()
        let all = clients(world, "a", "b")
        all[0].send(.match(2, timeoutMs: 60_000))
        all[0].send(.bye)
        all[1].send(.match(2, timeoutMs: 100))
        world.advance(ms: 100)
        #expect(all[1].lines().last == "#2 error 34")
        #expect(world.pools().isEmpty)
    }

    @Test func createMatchJoinAndLeaveOneAtATime() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.send(.match(timeoutMs: 60_000))
        for body: ClientMessage.Body in [.create(), .match(), .join("x"), .leave] { #expect(alice.refusal(body) == 15) }
        #expect(alice.refusal(.cancel) == 0)
        #expect(alice.refusal(.leave) == 20)
        alice.sendSilently(.match(timeoutMs: 60_000))
        #expect(alice.refusal(.create()) == 15)
    }

    @Test func theNextSearchGoesOnWhenARoomIsTakenFirst() {
        let world = World()
        let all = clients(world, "owner", "first", "second")
        let room = room(all[0], .create(2))
        // Its pool does not know yet that the seat is taken.
        let place = World.Place.shard(RoomKey(project: "acme", id: room).shard)
        world.hold { $0.from == place }
        all[1].send(.join(room))
        all[2].send(.match(2))
        world.release()
        #expect(all[1].roomID == room)
        #expect(all[2].lines().last == "#2 roomJoined at 1: second*")
    }

    @Test func theProjectsLimitOfRooms() {
        let world = World { $0.roomsPerProject = 2 }
        let all = clients(world, "a", "b", "c", "d")
        all[0].send(.create())
        all[1].send(.match(2))
        #expect(all[2].refusal(.create()) == 19)
        #expect(all[2].refusal(.match(3)) == 19)
        #expect(all[2].refusal(.match(2)) == 0)
        all[0].send(.leave)
        #expect(all[3].refusal(.create()) == 0)
    }

    @Test func aProjectMayHaveALimitOfItsOwn() {
        let world = World(rooms: ["small": 1])
        let one = world.client("a", project: "small").connect()
        let two = world.client("b", project: "small").connect()
        let other = world.client("c").connect()
        #expect(one.refusal(.create()) == 0)
        #expect(two.refusal(.create()) == 19)
        #expect(other.refusal(.create()) == 0)
    }

    @Test func poolsAreForgottenWhenTheyAreEmpty() {
        let world = World()
        let all = clients(world, "a", "b", "c")
        for one in all { one.send(.match(2)) }
        for one in all { one.send(.leave) }
        #expect(world.pools().isEmpty)
        #expect(world.rooms().isEmpty)
    }

    @Test(arguments: 0..<60)
    func nobodyIsLostWhileRoomsComeAndGo(seed: UInt64) {
        let world = World(seed: seed, shuffled: true)
        var clients = (0..<10).map { world.client("p\($0)").connect() }
        for round in 0..<40 {
            let client = clients[world.random.below(clients.count)]
            if client.isInRoom {
                client.send(world.random.below(3) == 0 ? .start : .leave, settling: false)
            } else if client.owed.values.allSatisfy({ $0 <= 0 }) {
                client.send(.match(2, timeoutMs: world.random.below(2) == 0 ? 0 : 60_000), settling: false)
            }
            for _ in 0..<world.random.below(6) { world.deliverOne() }
            if round % 10 == 9 { clients.shuffle(using: &world.random) }
        }
        world.settle()
        world.advance(ms: 60_000)
        for client in clients {
            #expect(client.owed.values.allSatisfy { $0 == 0 }, "seed \(seed): \(client.id)")
            #expect(client.faults == [], "seed \(seed): \(client.id)")
            for message in client.messages {
                if case .error(let error)? = message.body, case .matchRoom? = client.sent[message.id] {
                    #expect(error.code == 34, "seed \(seed): \(client.id)")
                }
            }
        }
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
