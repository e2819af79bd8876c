import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// What must hold when words of different shards meet, which one loop hides and several loops or nodes show.
@Suite struct RaceTests {
    private func shard(of client: Client) -> World.Place { .shard(client.key.shard) }
    private func shard(ofRoom id: String) -> World.Place { .shard(RoomKey(project: "acme", id: id).shard) }

    @Test func roomsThatWaitedForAnotherCallHaveIdsOfTheirOwn() {
        let world = World()
        var ids: Set<String> = []
        for name in ["alice", "bob"] {
            let client = world.client(name).connect()
            client.send(.create())
            client.send(.leave, id: 0, settling: false)
            client.send(.create(1), settling: false)
            world.settle()
            client.position.roomId.isEmpty ? () : ids.formUnion([client.position.roomId])
        }
        #expect(ids.count == 2)
        #expect(world.rooms().count == 2)
        for room in world.rooms() { #expect(room.players.count == 1) }
    }

    @Test func aDropWhileALockedRoomRefusesTheLeaveIsADrop() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.lockedDuringFrameSync = true }
        all[0].send(.start)
        all[0].forget()
        all[1].send(.leave, settling: false)
        all[1].drop()
        world.advance(ms: 2000)
        let told = all[0].lines().filter { $0.contains("playerOffline") }
        #expect(told.count == 1)
    }

    @Test func aDropOfALinkThatWaitsForAClaimIsADrop() {
        let world = World()
        let owner = world.client("owner").connect()
        owner.send(.create())
        let bob = world.client("bob").connect()
        owner.forget()
        world.hold(to: shard(ofRoom: owner.roomID))
        bob.send(.join(owner.roomID))
        bob.connect()
        bob.drop()
        world.release()
        world.advance(ms: 2000)
        #expect(owner.lines() == ["@2 playerEntered bob, owner owner", "@3 playerOffline bob, owner owner"])
    }

    @Test func aNewRunRemembersNothingOfTheOneBefore() {
        let world = World()
        let all = world.seated("alice", "bob")
        let (alice, bob) = (all[0], all[1])
        let said = bob.send(.message("one"))
        world.hold(to: shard(ofRoom: alice.roomID))
        bob.send(.bye)
        bob.connect()
        world.release()
        bob.send(.list())
        #expect(bob.refusal(.message("anew"), id: said) == 20)
        bob.send(.create())
        #expect(bob.lines().last == "#4 roomJoined at 1: bob*")
    }

    @Test func aDismissalBeforeTheReplyDoesNotSwallowTheReply() {
        let world = World()
        let alice = world.client("alice").connect()
        let bob = world.client("bob").connect()
        alice.send(.match(2, timeoutMs: 60_000))
        world.hold { $0.from != .gateway(bob.gateway) && $0.to == self.shard(of: bob) }
        bob.send(.match(2, timeoutMs: 60_000))
        #expect(alice.isInRoom)
        alice.send(.dismiss)
        bob.forget()
        world.release()
        #expect(bob.owed[2] == 0, "the match was never answered")
        #expect(bob.refusal(.create()) == 0)
    }

    @Test func afterATimeoutTheRepeatIsAnsweredOnce() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: shard(ofRoom: all[0].roomID))
        let id = all[1].send(.message("slow"))
        world.advance(ms: 5100)
        #expect(all[1].lines() == ["#\(id) error 1, again after 500"])
        all[1].send(.message("slow"), id: id)
        world.release()
        #expect(all[1].lines() == ["#\(id) ok"])
        #expect(all[0].lines() == ["@3 message bob: slow"])
        #expect(all[1].faults == [])
    }

    @Test func nothingOfTheRoomComesAfterTheReplyToLeaveRoom() {
        let world = World()
        let all = world.seated("alice", "bob")
        let (alice, bob) = (all[0], all[1])
        world.hold(from: shard(ofRoom: alice.roomID), to: .gateway(bob.gateway))
        alice.send(.message("hello"))
        bob.send(.leave)
        world.release()
        #expect(bob.lines().last == "#3 ok")
        #expect(bob.faults == [])
    }

    @Test func theNextRoomIsHeardAfterTheLastWordsOfTheOneBefore() {
        let world = World()
        let all = world.seated("alice", "bob")
        let (alice, bob) = (all[0], all[1])
        let carol = world.client("carol").connect()
        carol.send(.create())
        let said = bob.send(.message("once"))
        bob.forget()
        world.hold(from: shard(ofRoom: alice.roomID), to: .gateway(bob.gateway))
        alice.send(.kick("bob"))
        bob.send(.join(carol.roomID))
        carol.send(.message("welcome"))
        carol.forget()
        bob.send(.message("once"), id: said)
        #expect(bob.lines() == [])
        world.release()
        #expect(
            bob.lines() == [
                "@4 playerKicked bob, owner alice", "#4 roomJoined at 2: carol* bob", "@3 message carol: welcome",
                "#\(said) ok",
            ])
        #expect(carol.lines() == [])
        #expect(bob.faults == [])
        #expect(bob.refusal(.leave) == 0)
    }

    @Test func aSeatThatIsGoneBeforeItIsHeardOfLeavesNothingBehind() {
        let world = World()
        let all = world.seated("alice", "bob")
        let (alice, bob) = (all[0], all[1])
        let carol = world.client("carol").connect()
        carol.send(.create())
        world.hold(from: shard(ofRoom: alice.roomID), to: .gateway(bob.gateway))
        alice.send(.kick("bob"))
        bob.send(.join(carol.roomID))
        carol.send(.kick("bob"))
        world.release()
        #expect(bob.refusal(.message("x")) == 20)
        #expect(bob.refusal(.create()) == 0)
        bob.forget()
        bob.send(.message("x"))
        bob.send(.leave)
        #expect(bob.lines() == ["#6 ok", "#7 ok"])
    }

    @Test func eachLeaveRoomIsAnsweredAlsoWhenTheRoomsLastWordIsLate() {
        let world = World()
        let all = world.seated("alice", "bob")
        let (alice, bob) = (all[0], all[1])
        world.hold(from: shard(ofRoom: alice.roomID), to: .gateway(bob.gateway))
        let id = bob.send(.leave, settling: false)
        bob.send(.leave, id: id)
        #expect(bob.lines() == [])
        world.release()
        #expect(bob.lines() == ["#3 ok", "#3 ok"])
        #expect(bob.faults == [])
    }

    @Test func aResumeThatCrossesTheEndOfAMatchFindsTheRoom() {
        let world = World()
        let alice = world.client("alice").connect()
        let bob = world.client("bob").connect()
        bob.send(.match(2, timeoutMs: 60_000))
        world.hold { $0.from != .gateway(bob.gateway) && $0.to == self.shard(of: bob) }
        alice.send(.match(2, timeoutMs: 60_000))
        bob.forget()
        bob.resume()
        world.release()
        #expect(bob.lines() == ["#3 resumed, on at 1: bob* alice"])
        alice.send(.message("hi"))
        #expect(bob.lines() == ["@2 message alice: hi"])
        #expect(bob.refusal(.leave) == 0)
    }

    @Test func aSeatThatAMatchFoundOutlivesItsRun() {
        let world = World()
        let alice = world.client("alice").connect()
        let bob = world.client("bob").connect()
        bob.send(.match(2, timeoutMs: 60_000))
        world.hold { $0.from != .gateway(bob.gateway) && $0.to == self.shard(of: bob) }
        alice.send(.match(2, timeoutMs: 60_000))
        #expect(bob.isInRoom, "the room tells of the seat before the player's shard has heard of it")
        alice.forget()
        bob.connect()
        bob.forget()
        world.release()
        #expect(bob.lines() == ["#1 connected, restarted at 1: bob* alice"])
        #expect(alice.lines() == [])
        alice.send(.message("hi"))
        #expect(bob.lines() == ["@2 message alice: hi"])
        #expect(bob.refusal(.leave) == 0)
    }

    @Test func aJoinThatIsRefusedByTheDismissalIsAnswered() {
        let world = World()
        let alice = world.seated("alice")[0]
        let others = (0..<6).map { world.client("p\($0)").connect() }
        for one in others[..<3] { one.send(.join(alice.roomID), settling: false) }
        alice.send(.dismiss, settling: false)
        let room = alice.roomID
        for one in others[3...] { one.send(.join(room), settling: false) }
        world.settle()
        for one in others {
            let lines = one.lines().dropFirst()
            let isIn = lines.first?.contains("roomJoined") == true
            #expect(isIn ? lines.last?.hasSuffix("roomDismissed 0") == true : lines.map { $0 } == ["#2 error 24"])
        }
    }

    /// Its gateway was cut off from the player's shard, so the client went to another one.
    @Test(arguments: [false, true])
    func aConnectThatWasGivenUpEndsNoRunThatBeganSince(isDropped: Bool) {
        let world = World()
        let bob = world.seated("alice", "bob")[1]
        world.hold(from: .gateway(bob.gateway), to: shard(of: bob))
        bob.connect()
        bob.drop()
        bob.gateway = (bob.gateway + 1) % World.gateways
        bob.connect()
        #expect(bob.lines() == ["#1 connected, restarted at 2: alice* bob"])
        let token = bob.resumeToken
        if isDropped { bob.drop() }
        world.release()
        #expect(bob.lines() == [])
        bob.resume()
        #expect(bob.lines() == ["#2 resumed, on at 2: alice* bob"])
        #expect(bob.resumeToken == token)
    }

    @Test func aConnectThatWasGivenUpDoesNotReplaceOneThatIsAskedAfter() {
        let world = World()
        let bob = world.seated("alice", "bob")[1]
        bob.drop()
        let cut = World.Place.gateway(bob.gateway)
        world.hold(from: cut, to: shard(of: bob))
        bob.connect()
        bob.drop()
        bob.gateway = (bob.gateway + 1) % World.gateways
        let other = World.Place.gateway(bob.gateway)
        world.hold { $0.from == cut || $0.from == self.shard(of: bob) && $0.to == other }
        bob.connect()
        world.hold(from: shard(of: bob), to: other)
        world.settle()
        world.release()
        #expect(bob.lines() == ["#1 connected, restarted at 2: alice* bob"])
    }

    @Test func ofTwoConnectsThatAreWantedTheLaterStays() {
        let world = World()
        let bob = world.seated("alice", "bob")[1]
        bob.drop()
        let devices = ["bob", "bob"].map { world.client($0) }
        world.hold { $0.from == self.shard(of: bob) && $0.to != .shard(bob.key.shard) }
        for device in devices { device.connect() }
        world.release()
        #expect(devices[0].lines().last == "disconnected 5")
        #expect(devices[1].lines() == ["#1 connected, restarted at 2: alice* bob"])
    }

    @Test func connectsThatAreAskedAfterAreBounded() {
        let world = World()
        let bob = world.seated("alice", "bob")[1]
        bob.drop()
        let devices = (0..<10).map { _ in world.client("bob") }
        world.hold { $0.from == self.shard(of: bob) && $0.to != .shard(bob.key.shard) }
        for device in devices { device.connect() }
        #expect(world.player("bob")?.replacing.count == PlayerMachine.connectsAskedAfter)
        world.release()
        #expect(devices[0].lines() == ["disconnected 5"])
        #expect(devices[9].lines() == ["#1 connected, restarted at 2: alice* bob"])
    }

    /// The gateway said that the connect is wanted, was cut off, and the client gave up only then.
    @Test func aConfirmationThatComesLateEndsNoRunThatBeganSince() {
        let world = World()
        let bob = world.seated("alice", "bob")[1]
        bob.drop()
        let cut = World.Place.gateway(bob.gateway)
        world.hold(from: shard(of: bob), to: cut)
        bob.connect()
        world.hold(from: cut, to: shard(of: bob))
        world.settle()
        bob.drop()
        bob.gateway = (bob.gateway + 1) % World.gateways
        bob.connect()
        let token = bob.resumeToken
        world.release()
        #expect(bob.lines() == ["#1 connected, restarted at 2: alice* bob"])
        bob.resume()
        #expect(bob.resumeToken == token)
        #expect(bob.lines() == ["#2 resumed, on at 2: alice* bob"])
    }

    @Test(arguments: 0..<60)
    func twoDevicesOfOnePlayerInAnyOrder(seed: UInt64) {
        let world = World(seed: seed, shuffled: true)
        let devices = ["alice", "alice", "alice"].map { world.client($0) }
        for _ in 0..<20 {
            let device = devices[world.random.below(3)]
            switch world.random.below(4) {
            case 0: device.drop(settling: false)
            case 1 where device.link != nil && device.owed[1] == 0: device.send(.create(), settling: false)
            case 2 where device.link != nil && device.owed[1] == 0: device.send(.leave, settling: false)
            default: if device.link == nil { device.connect(settling: false) }
            }
            for _ in 0..<world.random.below(6) { world.deliverOne() }
        }
        world.settle()
        let attached = devices.filter { device in
            device.link.flatMap { world.connection($0)?.player } != nil
        }
        #expect(attached.count <= 1, "seed \(seed): a player has one link at a time")
        #expect(world.rooms().count <= 1, "seed \(seed)")
        for device in devices { #expect(device.faults == [], "seed \(seed)") }
    }
}
