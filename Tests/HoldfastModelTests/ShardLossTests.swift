import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "If all replicas of a room die at once"; design, rule 12.
@Suite struct ShardLossTests {
    private func place(room: String) -> World.Place { .shard(RoomKey(project: "acme", id: room).shard) }
    private func place(_ client: Client) -> World.Place { .shard(client.key.shard) }
    private let directory = ShardID(ofDirectory: "acme")
    private func pool(_ max: UInt32) -> ShardID {
        ShardID(of: PoolKey(project: "acme", type: "duel", maxPlayerCount: max, params: [:]))
    }

    // MARK: A room

    @Test func itsMembersAreToldAndMayCreateAgain() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.maxSpectatorCount = 1 }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        eve.forget()
        world.lose(room: all[0].roomID)
        world.settle()
        for one in all + [eve] {
            #expect(one.lines() == ["serviceError 1"])
            #expect(one.refusal(.message("x")) == 20)
            #expect(one.refusal(.create()) == 0)
            #expect(one.faults == [])
        }
    }

    @Test func callsToItAreAnswered() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: place(room: all[0].roomID))
        let message = all[1].send(.message("x"))
        let status = all[1].send(.status(1))
        world.lose(room: all[0].roomID)
        world.release()
        #expect(all[1].lines() == ["#\(message) error 1", "#\(status) error 1", "serviceError 1"])
        #expect(all[1].refusal(.message("x"), id: message) == 20, "there is no room to do it in")
    }

    @Test func aJoinOnItsWayMayBeSentAgain() {
        let world = World()
        let alice = world.seated("alice")[0]
        let carol = world.client("carol").connect()
        carol.forget()
        world.hold(to: place(room: alice.roomID))
        let room = alice.roomID
        let join = carol.send(.join(room))
        world.lose(room: room)
        world.release()
        #expect(carol.lines() == ["#\(join) error 1, again after 500"])
        #expect(carol.refusal(.join(room), id: join) == 24)
        #expect(carol.refusal(.create()) == 0)
    }

    /// The room told the client of its seat, and the player's shard never heard of it.
    @Test func aJoinThatWasToldIsNotAnsweredTwice() {
        let world = World()
        let alice = world.seated("alice")[0]
        let carol = world.client("carol").connect()
        carol.forget()
        world.hold(from: place(room: alice.roomID), to: place(carol))
        let join = carol.send(.join(alice.roomID))
        world.lose(room: alice.roomID)
        world.release()
        #expect(carol.lines() == ["#\(join) roomJoined at 2: alice* carol", "serviceError 1"])
        #expect(carol.faults == [])
        #expect(carol.refusal(.create()) == 0)
    }

    /// The player's shard heard of the seat, and the client never did.
    @Test func aJoinThatWasNeverToldIsAnswered() {
        let world = World()
        let alice = world.seated("alice")[0]
        let carol = world.client("carol").connect()
        carol.forget()
        world.hold(from: place(room: alice.roomID), to: .gateway(carol.gateway))
        let room = alice.roomID
        let join = carol.send(.join(room))
        world.lose(room: room, withItsWords: true)
        world.release()
        #expect(carol.lines() == ["#\(join) error 20"])
        #expect(carol.refusal(.join(room), id: join) == 20, "it was done once")
        #expect(carol.refusal(.create()) == 0)
    }

    @Test func aWordThatComesAfterTheEndIsPassedOver() {
        let world = World()
        let alice = world.seated("alice")[0]
        let carol = world.client("carol").connect()
        carol.forget()
        world.hold(from: place(room: alice.roomID), to: .gateway(carol.gateway))
        let room = alice.roomID
        let join = carol.send(.join(room))
        alice.send(.message("x"))
        world.lose(room: room)
        world.settle()
        #expect(carol.lines() == ["#\(join) error 20"])
        world.release()
        #expect(carol.lines() == [])
        #expect(carol.refusal(.create()) == 0)
        #expect(carol.faults == [])
    }

    @Test func aLeaveOnItsWayIsDone() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: place(room: all[0].roomID))
        let message = all[1].send(.message("x"))
        let leave = all[1].send(.leave)
        world.lose(room: all[0].roomID)
        world.release()
        #expect(all[1].lines() == ["#\(message) error 1", "#\(leave) ok"])
        #expect(all[1].refusal(.create()) == 0)
    }

    @Test func whoWasDroppedIsToldAtTheResume() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.lose(room: all[0].roomID)
        world.settle()
        all[1].resume()
        #expect(all[1].lines() == ["#3 resumed", "serviceError 1"])
        all[1].drop()
        all[1].resume()
        #expect(all[1].lines() == ["#4 resumed"], "it was heard")
    }

    @Test func whoDidNotHearItIsToldAtTheResume() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: .gateway(all[1].gateway))
        world.lose(room: all[0].roomID)
        world.settle()
        all[1].drop()
        world.release()
        all[1].resume()
        #expect(all[1].lines() == ["#3 resumed", "serviceError 1"])
    }

    @Test(arguments: [false, true])
    func aConnectOnItsWayIsAnswered(resumes: Bool) {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.hold(to: place(room: all[0].roomID))
        if resumes { all[1].resume() } else { all[1].connect() }
        world.lose(room: all[0].roomID)
        world.release()
        #expect(all[1].lines() == (resumes ? ["#3 resumed", "serviceError 1"] : ["#1 connected"]))
        #expect(all[1].refusal(.create()) == 0)
        #expect(all[1].faults == [])
    }

    @Test func itIsListedAndMatchedNoMore() {
        let world = World()
        let all = world.seated("alice", in: 2)
        world.lose(room: all[0].roomID)
        world.settle()
        let bob = world.client("bob").connect()
        bob.forget()
        bob.send(.list())
        bob.send(.match(2))
        #expect(bob.lines() == ["#2 rooms ", "#3 roomJoined at 1: bob*"])
    }

    @Test func aMatchThatWasPlacedInItMayBeSentAgain() {
        let world = World()
        let all = world.seated("alice", in: 2)
        let bob = world.client("bob").connect()
        bob.forget()
        world.hold(to: place(room: all[0].roomID))
        let match = bob.send(.match(2))
        world.lose(room: all[0].roomID)
        world.release()
        #expect(bob.lines() == ["#\(match) error 1, again after 500"])
        bob.send(.match(2), id: match)
        #expect(bob.lines() == ["#\(match) roomJoined at 1: bob*"])
    }

    /// The pool had heard of the seat, and the player's shard had not.
    @Test(arguments: [false, true])
    func norIsAMatchThatWasToldOfAnsweredTwice(isToldFirst: Bool) {
        let world = World()
        let all = world.seated("alice", in: 2)
        let bob = world.client("bob").connect()
        bob.forget()
        world.hold { way in
            way.from == self.place(room: all[0].roomID)
                && (way.to == self.place(bob) || !isToldFirst && way.to == .gateway(bob.gateway))
        }
        let match = bob.send(.match(2, timeoutMs: 60_000))
        world.lose(room: all[0].roomID, withItsWords: true)
        world.release()
        let told = ["#\(match) roomJoined at 2: alice* bob", "serviceError 1"]
        #expect(bob.lines() == (isToldFirst ? told : ["#\(match) error 1, again after 500"]))
        #expect(bob.faults == [])
        #expect(bob.refusal(.create()) == 0)
    }

    // MARK: A player's shard

    @Test func thePlayerHasLeftAndItsRunIsOver() {
        let world = World()
        let all = world.seated("alice", "bob", "carol")
        world.lose(all[0].key.shard)
        world.settle()
        #expect(all[0].lines() == ["disconnected 1, may reconnect"])
        #expect(all[1].lines() == ["@4 playerLeft alice, owner bob"])
        all[0].resume()
        #expect(all[0].lines() == ["#3 error 39"])
        all[0].connect()
        #expect(all[0].lines() == ["#1 connected"])
        #expect(all[0].refusal(.join(all[1].roomID)) == 0)
    }

    @Test func theLastPlayersRoomIsGone() {
        let world = World()
        let alice = world.seated("alice") { $0.maxSpectatorCount = 2 }[0]
        let eve = world.client("eve").connect()
        eve.send(.join(alice.roomID, spectating: true))
        eve.forget()
        world.lose(alice.key.shard)
        world.settle()
        #expect(eve.lines() == ["@2 playerLeft alice, owner alice", "@3 roomDismissed 1"])
        #expect(world.rooms().isEmpty)
    }

    @Test func aSpectatorThereIsGoneUnseen() {
        let world = World()
        let alice = world.seated("alice") { $0.maxSpectatorCount = 1 }[0]
        let eve = world.client("eve").connect()
        eve.send(.join(alice.roomID, spectating: true))
        world.lose(eve.key.shard)
        world.settle()
        #expect(alice.lines() == [])
        #expect(world.room(alice.roomID)?.spectators.isEmpty == true)
    }

    /// Which other shards may still name.
    @Test func claimsAndConnectionsOfTheNewOneAreOthers() throws {
        let world = World()
        let alice = world.client("alice").connect()
        alice.send(.create())
        let old = try #require(world.room(alice.roomID)?.players.first)
        world.lose(alice.key.shard)
        world.settle()
        alice.connect()
        alice.send(.create())
        let new = try #require(world.room(alice.roomID)?.players.first)
        // By more than its entries make.
        #expect(new.claim > old.claim + (1 << 19) && new.connection > old.connection + (1 << 19))
    }

    /// A pool, which knew of the new generation, placed a caller in a room that did not.
    @Test func aSeatOfTheNewOneThatEndsWithTheOldOnesIsTold() {
        let world = World()
        let all = world.seated("alice", in: 3)
        let bob = world.client("bob").connect()
        world.hold(from: place(bob), to: place(room: all[0].roomID))
        world.lose(bob.key.shard)
        world.settle()
        bob.connect()
        bob.forget()
        let match = bob.send(.match(3))
        #expect(bob.lines() == ["#\(match) roomJoined at 2: alice* bob"])
        world.release()
        #expect(bob.lines() == ["serviceError 1"])
        #expect(all[0].lines() == ["@2 playerEntered bob, owner alice", "@3 playerLeft bob, owner alice"])
        #expect(bob.refusal(.create()) == 0)
        #expect(world.pools().allSatisfy { $0.unheard.isEmpty })
        #expect(bob.faults == [])
    }

    /// The room is made for a claim that nobody knows any more.
    @Test func aSeatThatNobodyClaimsIsGivenBack() {
        let world = World()
        let alice = world.client("alice").connect()
        world.hold(to: .shard(directory))
        alice.send(.create())
        world.lose(alice.key.shard)
        world.release()
        #expect(world.rooms().isEmpty)
        #expect(world.directory() == nil)
    }

    @Test func aWaitingCallerThereWaitsNoMore() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.send(.match(2, timeoutMs: 60_000))
        world.lose(alice.key.shard)
        world.settle()
        let bob = world.client("bob").connect()
        bob.forget()
        bob.send(.match(2, timeoutMs: 1_000))
        #expect(bob.lines() == [])
        world.advance(ms: 1_000)
        #expect(bob.lines() == ["#2 error 34"])
    }

    // MARK: A pool

    @Test func whoWaitedInItWaitsOn() {
        let world = World()
        let alice = world.client("alice").connect()
        let bob = world.client("bob").connect()
        alice.send(.match(2, timeoutMs: 20_000))
        alice.forget()
        world.advance(ms: 15_000)
        world.lose(pool(2))
        world.settle()
        #expect(alice.lines() == [])
        bob.send(.match(2, timeoutMs: 20_000))
        #expect(alice.lines() == ["#2 roomJoined at 1: alice* bob"])
    }

    @Test func theTimeThatWasWaitedCounts() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.send(.match(2, timeoutMs: 20_000))
        alice.forget()
        world.advance(ms: 15_000)
        world.lose(pool(2))
        world.advance(ms: 4_900)
        #expect(alice.lines() == [])
        world.advance(ms: 100)
        #expect(alice.lines() == ["#2 error 34"])
    }

    @Test func aCancelThatWasLostWithItCounts() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.send(.match(2, timeoutMs: 20_000))
        alice.forget()
        world.hold(to: .shard(pool(2)))
        alice.send(.cancel)
        world.lose(pool(2))
        world.release()
        #expect(alice.lines() == ["#3 ok", "#2 error 35"])
        #expect(alice.refusal(.create()) == 0)
    }

    @Test func openRoomsAreMatchedIntoAsBefore() {
        let world = World()
        let alice = world.seated("alice", in: 2)[0]
        world.lose(pool(2))
        world.settle()
        let bob = world.client("bob").connect()
        bob.send(.match(2))
        #expect(bob.lines().last == "#2 roomJoined at 2: alice* bob")
        #expect(alice.lines() == ["@2 playerEntered bob, owner alice"])
    }

    /// The pool found a room and was lost; the player's shard hears of the seat after it asked the new pool.
    @Test func aSeatThatItHadFoundIsTaken() {
        let world = World()
        let alice = world.seated("alice", in: 2)[0]
        let bob = world.client("bob").connect()
        bob.forget()
        world.hold { $0.to == self.place(bob) && $0.from == self.place(room: alice.roomID) }
        bob.send(.match(2, timeoutMs: 60_000))
        world.lose(pool(2))
        world.settle()
        world.release()
        #expect(bob.lines() == ["#2 roomJoined at 2: alice* bob"])
        #expect(world.pools().allSatisfy { $0.queue.isEmpty && $0.placing.isEmpty })
        #expect(bob.refusal(.create()) == 21)
        #expect(bob.faults == [])
    }

    /// As before, but the new pool found another room first: the client hears what became of it by a resume.
    @Test func ofTwoSeatsOneIsGivenBack() {
        let world = World()
        let alice = world.seated("alice", in: 2)[0]
        let bob = world.client("bob").connect()
        let carol = world.client("carol").connect()
        bob.forget()
        world.hold { $0.to == self.place(bob) && $0.from == self.place(room: alice.roomID) }
        let match = bob.send(.match(2, timeoutMs: 60_000))
        world.lose(pool(2))
        world.settle()
        carol.send(.match(2, timeoutMs: 60_000))
        world.release()
        #expect(
            bob.lines() == [
                "#\(match) roomJoined at 2: alice* bob", "serviceError 1", "disconnected 1, may reconnect",
            ])
        #expect(bob.faults == [])
        #expect(alice.lines() == ["@2 playerEntered bob, owner alice", "@3 playerLeft bob, owner alice"])
        bob.resume()
        #expect(bob.isInRoom)
        #expect(world.room(bob.roomID)?.players.map(\.player).sorted() == ["bob", "carol"])
    }

    /// The pool found a room, which told the client, and both were lost before the player's shard heard of it.
    @Test func aSeatThatIsLostWithThePoolIsToldByAResume() {
        let world = World()
        let alice = world.seated("alice", in: 2)[0]
        let bob = world.client("bob").connect()
        bob.forget()
        world.hold { $0.to == self.place(bob) && $0.from == self.place(room: alice.roomID) }
        let match = bob.send(.match(2, timeoutMs: 60_000))
        world.lose(pool(2))
        world.settle()
        world.lose(room: alice.roomID, withItsWords: true)
        world.release()
        #expect(bob.lines() == ["#\(match) roomJoined at 2: alice* bob"])
        world.advance(ms: 5_200)
        #expect(bob.lines() == ["disconnected 1, may reconnect"])
        bob.resume()
        #expect(bob.lines() == ["#3 resumed", "serviceError 1"])
        let carol = world.client("carol").connect()
        carol.send(.match(2, timeoutMs: 60_000))
        #expect(!carol.isInRoom, "nobody waits")
        #expect(bob.refusal(.create()) == 0)
    }

    // MARK: A directory

    @Test func aCreateThatItHadNotPassedOnIsDone() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        world.hold(to: .shard(directory))
        alice.send(.create())
        world.lose(directory)
        world.release()
        #expect(alice.lines() == ["#2 roomJoined at 1: alice*"])
        #expect(world.rooms().count == 1)
    }

    @Test func aCreateThatItHadPassedOnIsDoneOnce() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        world.hold {
            $0.to == self.place(alice) && $0.from != .gateway(alice.gateway) && $0.from != .shard(self.directory)
        }
        alice.send(.create())
        world.lose(directory)
        world.settle()
        world.release()
        #expect(alice.lines() == ["#2 roomJoined at 1: alice*"])
        #expect(world.rooms().map(\.players.count) == [1])
        #expect(alice.refusal(.create()) == 21)
        #expect(alice.faults == [])
    }

    @Test func aRoomOnOrderIsOrderedAgain() {
        let world = World()
        let alice = world.client("alice").connect()
        let bob = world.client("bob").connect()
        alice.send(.match(2, timeoutMs: 60_000))
        world.hold(to: .shard(directory))
        bob.send(.match(2, timeoutMs: 60_000))
        world.lose(directory)
        alice.forget()
        world.release()
        #expect(alice.lines() == ["#2 roomJoined at 1: alice* bob"])
        #expect(world.pools().allSatisfy { $0.ordered.isEmpty })
    }

    @Test func theNewOneListsAndCountsTheRoomsThatAre() {
        let world = World(rooms: ["acme": 2])
        let all = world.seated("alice") { $0.name = "castle" }
        let hidden = world.client("bob").connect()
        hidden.send(.create(4) { $0.hidden = true })
        world.lose(directory)
        world.settle()
        let carol = world.client("carol").connect()
        carol.forget()
        carol.send(.list())
        #expect(carol.lines() == ["#2 rooms castle"])
        #expect(carol.refusal(.create()) == 19)
        all[0].send(.leave)
        #expect(carol.refusal(.create()) == 0)
    }

    // MARK: Folded into few

    @Test func allOfAHomeIsLost() {
        let layout = ShardLayout(entityShards: 1, matchShards: 1)
        let world = World(layout: layout)
        let all = world.seated("alice", "bob", in: 3)
        world.lose(layout.home(of: all[0].key.shard))
        world.settle()
        for one in all { #expect(one.lines() == ["disconnected 1, may reconnect"]) }
        all[0].connect()
        all[0].forget()
        all[0].send(.list())
        all[0].send(.match(3))
        #expect(all[0].lines() == ["#2 rooms ", "#3 roomJoined at 1: alice*"])
    }
}
