import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Rooms": ownership and the room's end.
@Suite struct OwnershipTests {
    @Test func theCreatorOwnsTheRoom() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        alice.send(.create { $0.frameRate = 0 })
        #expect(alice.lines() == ["#2 roomJoined at 1: alice*"])
        guard case .roomJoined(let joined)? = alice.messages.last?.body, let room = joined.room else { return }
        #expect(room.frameRate == 15 && room.status == 0 && room.createTime == world.wallMs / 1000)
        #expect((5...24).contains(room.id.count))
    }

    @Test func whenTheOwnerLeavesTheLongestSeatedOnlinePlayerOwns() {
        let world = World()
        let all = world.seated("alice", "bob", "carol", "dave")
        all[1].drop()
        world.advance(ms: 2_000)
        all[3].forget()
        all[0].send(.leave)
        #expect(all[3].lines() == ["@6 playerLeft alice, owner carol"])
        all[1].resume()
        #expect(all[3].lines() == ["@7 playerOnline bob, owner carol"], "ownership does not return by itself")
    }

    @Test func whenTheOwnerGoesOfflineTheEventNamesTheNext() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[0].drop()
        world.advance(ms: 2_000)
        #expect(all[1].lines() == ["@3 playerOffline alice, owner bob"])
        all[0].resume()
        #expect(all[1].lines() == ["@4 playerOnline alice, owner bob"])
        #expect(all[0].lines() == ["#3 resumed, on at 4: alice bob*"])
    }

    @Test func whoComesOnlineWhileNoOwnerIsOwns() {
        let world = World()
        let all = world.seated("alice", "bob", "carol")
        for one in all { one.drop() }
        world.advance(ms: 2_000)
        all[2].resume()
        #expect(all[2].lines().first == "#3 resumed, on at 7: alice- bob- carol*")
        all[0].resume()
        #expect(all[2].lines() == ["@8 playerOnline alice, owner carol"])
    }

    @Test func theOwnerHimselfComesBackAsOwnerWhenNobodyWasThere() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 2_000)
        all[0].drop()
        world.advance(ms: 2_000)
        all[0].resume()
        #expect(all[0].lines().last == "#3 resumed, on at 5: alice* bob-")
    }

    @Test func whoJoinsWhileNoOwnerIsOnlineOwns() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.maxSpectatorCount = 1 }
        for one in all { one.drop() }
        world.advance(ms: 2_000)
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        #expect(eve.lines().last == "#2 roomJoined at 4: alice- bob*-")
        let carol = world.client("carol").connect()
        carol.send(.join(all[0].roomID))
        #expect(eve.lines() == ["@5 playerEntered carol, owner carol"])
        #expect(carol.lines().last == "#2 roomJoined at 5: alice- bob- carol*")
    }

    @Test func transferIsForTheOwnerToASeatedOnlinePlayer() {
        let world = World()
        let all = world.seated("alice", "bob", "carol") { $0.maxSpectatorCount = 1 }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        all[2].drop()
        world.advance(ms: 2_000)
        all[1].forget()
        #expect(all[1].refusal(.transfer("alice")) == 22)
        for who in ["eve", "carol", "nobody", ""] { #expect(all[0].refusal(.transfer(who)) == 30, "\(who)") }
        all[0].forget()
        all[0].send(.transfer("alice"))
        #expect(all[0].lines() == ["#7 ok"])
        all[0].send(.transfer("bob"))
        #expect(all[0].lines() == ["#8 ok", "@5 roomOwnerChanged bob"])
        #expect(all[1].lines().last == "@5 roomOwnerChanged bob")
        #expect(all[0].refusal(.start) == 22)
    }

    @Test func aPlayerWhoJustDroppedStillCountsAsOnline() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 1_999)
        all[0].send(.transfer("bob"))
        world.advance(ms: 1)
        #expect(all[0].lines() == ["#3 ok", "@3 roomOwnerChanged bob", "@4 playerOffline bob, owner alice"])
    }

    @Test func theRoomIsGoneWhenItsLastPlayerHasLeft() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.maxSpectatorCount = 1 }
        let room = all[0].roomID
        let eve = world.client("eve").connect()
        eve.send(.join(room, spectating: true))
        eve.forget()
        all[0].send(.leave)
        all[1].send(.leave)
        #expect(
            eve.lines() == ["@3 playerLeft alice, owner bob", "@4 playerLeft bob, owner bob", "@5 roomDismissed 1"])
        #expect(all[0].refusal(.join(room)) == 24)
        #expect(world.rooms().isEmpty)
        #expect(eve.refusal(.create()) == 0)
    }

    @Test func dismissIsForTheOwnerAndTellsAll() {
        let world = World()
        let all = world.seated("alice", "bob")
        #expect(all[1].refusal(.dismiss) == 22)
        all[1].forget()
        all[0].send(.dismiss)
        #expect(all[0].lines() == ["#3 ok", "@3 roomDismissed 0"])
        #expect(all[1].lines() == ["@3 roomDismissed 0"])
        for one in all { #expect(one.refusal(.leave) == 20) }
    }

    @Test func roomPropertiesAreTheOwnersAndAbsentOnesStay() {
        let world = World()
        let all = world.seated("alice", "bob")
        #expect(all[1].refusal(.room(name: "x")) == 22)
        all[1].forget()
        all[0].send(.room(name: "n", properties: "p"))
        all[0].send(.room(name: "n"))
        all[0].send(.room(properties: ""))
        all[0].send(.room())
        #expect(
            all[1].lines() == [
                "@3 roomPropertiesChanged n/p", "@4 roomPropertiesChanged n/p", "@5 roomPropertiesChanged n/",
            ])
        #expect(all[0].lines().last == "#6 ok")
    }

    @Test func aRoomCanBeFullOfTwenty() {
        let world = World()
        let clients = (0..<25).map { world.client("p\($0)").connect() }
        clients[0].send(.create(20))
        for client in clients.dropFirst() { client.send(.join(clients[0].roomID), settling: false) }
        world.settle()
        #expect(clients.count(where: \.isInRoom) == 20)
        for client in clients where !client.isInRoom { #expect(client.lines().last == "#2 error 23") }
    }

    @Test(arguments: 0..<40)
    func joinsAtOnceNeverOverfill(seed: UInt64) {
        let world = World(seed: seed, shuffled: true)
        let clients = (0..<8).map { world.client("p\($0)").connect() }
        clients[0].send(.create(4))
        for client in clients.dropFirst() {
            client.send(.join(clients[0].roomID), settling: false)
            world.deliverOne()
        }
        world.settle()
        #expect(clients.count(where: \.isInRoom) == 4, "seed \(seed)")
        #expect(clients.flatMap { $0.lines() }.count { $0.hasSuffix("error 23") } == 4, "seed \(seed)")
    }

    @Test(arguments: 0..<40)
    func aJoinComesBeforeAStartOrAfterIt(seed: UInt64) {
        let world = World(seed: seed, shuffled: true)
        let all = world.seated("alice", "bob")
        let carol = world.client("carol").connect()
        carol.forget()
        carol.send(.join(all[0].roomID), settling: false)
        all[0].send(.start, settling: false)
        world.settle()
        let started = all[1].messages.compactMap {
            if case .frameSyncStarted(let info)? = $0.body { info } else { nil }
        }
        let isIn = started.first?.roomInfo?.players.contains { $0.id == "carol" } == true
        let expected =
            isIn
            ? ["#2 roomJoined at 3: alice* bob carol", "@4 frameSyncStarted 1: alice* bob carol"] : ["#2 error 26"]
        #expect(carol.lines() == expected, "seed \(seed)")
    }
}

/// rooms.md, "Rooms": kick, ban, lock, spectators.
@Suite struct SeatTests {
    @Test func aKickIsAtOnceAndCanBeUndone() {
        let world = World()
        let all = world.seated("alice", "bob", "carol")
        for one in all { one.forget() }
        #expect(all[1].refusal(.kick("alice")) == 22)
        #expect(all[0].refusal(.kick("alice")) == 11)
        #expect(all[0].refusal(.kick("nobody")) == 30)
        for one in all { one.forget() }
        all[0].send(.kick("bob"))
        #expect(all[0].lines() == ["#5 ok", "@4 playerKicked bob, owner alice"])
        #expect(all[1].lines() == ["@4 playerKicked bob, owner alice"])
        #expect(all[2].lines() == ["@4 playerKicked bob, owner alice"])
        #expect(all[1].refusal(.message("x")) == 20)
        #expect(all[1].refusal(.join(all[0].roomID)) == 0)
    }

    @Test func aBanHolds() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.maxSpectatorCount = 1 }
        all[0].send(.kick("bob", ban: true))
        #expect(all[1].refusal(.join(all[0].roomID)) == 32)
        #expect(all[1].refusal(.join(all[0].roomID, spectating: true)) == 32)
        all[1].connect()
        #expect(all[1].refusal(.join(all[0].roomID)) == 32)
    }

    @Test func theOldestOfAHundredBansGoes() {
        let world = World { $0.bansPerRoom = 3 }
        let alice = world.seated("alice")[0]
        let others = (0..<4).map { world.client("p\($0)").connect() }
        for other in others {
            other.send(.join(alice.roomID))
            alice.send(.kick(other.id, ban: true))
        }
        #expect(others[0].refusal(.join(alice.roomID)) == 0)
        for other in others.dropFirst() { #expect(other.refusal(.join(alice.roomID)) == 32) }
    }

    @Test func thePasswordIsNeededToJoin() {
        let world = World()
        let alice = world.seated("alice") {
            $0.password = "sesame"
            $0.maxSpectatorCount = 1
        }[0]
        let bob = world.client("bob").connect()
        for wrong in ["", "Sesame", "sesame "] {
            #expect(bob.refusal(.join(alice.roomID, password: wrong)) == 31)
            #expect(bob.refusal(.join(alice.roomID, spectating: true, password: wrong)) == 31)
        }
        #expect(bob.refusal(.join(alice.roomID, spectating: true, password: "sesame")) == 0)
    }

    @Test func whileLockedAndRunningNothingOfTheSeatsChanges() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.lockedDuringFrameSync = true }
        for body: ClientMessage.Body in [.status(1), .properties("p"), .room(name: "n")] {
            #expect(all[0].refusal(body) == 0)
        }
        all[0].send(.start)
        for body: ClientMessage.Body in [.leave, .status(1), .properties("p")] {
            #expect(all[1].refusal(body) == 26, "\(body)")
        }
        for body: ClientMessage.Body in [.kick("bob"), .kick("nobody"), .room(name: "n"), .room()] {
            #expect(all[0].refusal(body) == 26, "\(body)")
        }
        #expect(all[1].refusal(.kick("alice")) == 22)
        for body: ClientMessage.Body in [.message("m"), .transfer("bob")] {
            #expect(all[0].refusal(body) == 0, "\(body)")
        }
        #expect(all[1].refusal(.stop) == 0)
        #expect(all[1].refusal(.leave) == 0)
    }

    @Test func theLockRefusesNeitherDisconnectNorTheWindowsEndNorDismiss() {
        let world = World()
        let all = world.seated("alice", "bob", "carol") { $0.lockedDuringFrameSync = true }
        all[0].send(.start)
        all[1].drop()
        all[2].send(.bye)
        world.advance(ms: 60_000)
        let told = all[0].lines().filter { $0.contains("Left") || $0.contains("Offline") }
        #expect(
            told.map { String($0.drop { $0 != " " }) } == [
                " playerLeft carol, owner alice", " playerOffline bob, owner alice", " playerLeft bob, owner alice",
            ])
        #expect(all[0].refusal(.dismiss) == 0)
    }

    @Test func spectatorsComeAndGoUnseen() {
        let world = World()
        let all = world.seated("alice", in: 1) {
            $0.maxSpectatorCount = 2
            $0.lockedDuringFrameSync = true
        }
        let alice = all[0]
        let watchers = ["eve", "fay", "gus"].map { world.client($0).connect() }
        #expect(watchers[0].refusal(.join(alice.roomID)) == 23)
        #expect(watchers[0].refusal(.join(alice.roomID, spectating: true)) == 0)
        alice.send(.start)
        #expect(watchers[1].refusal(.join(alice.roomID, spectating: true)) == 0)
        #expect(watchers[2].refusal(.join(alice.roomID, spectating: true)) == 23)
        #expect(watchers[0].refusal(.leave) == 0)
        watchers[1].drop()
        world.advance(ms: 61_000)
        let told = alice.lines().filter { !$0.contains("frame") }
        #expect(told == ["#3 ok"])
        #expect(world.room(alice.roomID)?.spectators.isEmpty == true)
    }

    @Test func withoutSpectatorsPlacesNobodyWatches() {
        let world = World()
        let alice = world.seated("alice")[0]
        #expect(world.client("eve").connect().refusal(.join(alice.roomID, spectating: true)) == 23)
    }

    @Test func onlyTheKickedSpectatorHearsOfIt() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.maxSpectatorCount = 2 }
        let watchers = ["eve", "fay"].map { world.client($0).connect() }
        for one in watchers {
            one.send(.join(all[0].roomID, spectating: true))
            one.forget()
        }
        all[0].send(.kick("eve", ban: true))
        #expect(all[0].lines() == ["#3 ok"])
        #expect(watchers[0].lines() == ["@3 playerKicked eve, owner alice"])
        #expect(watchers[1].lines() == [] && all[1].lines() == [])
        #expect(watchers[0].refusal(.join(all[0].roomID, spectating: true)) == 32)
    }

    @Test func aSpectatorIsInNoOtherRoom() {
        let world = World()
        let alice = world.seated("alice") { $0.maxSpectatorCount = 2 }[0]
        let eve = world.client("eve").connect()
        eve.send(.join(alice.roomID, spectating: true))
        for body: ClientMessage.Body in [.create(), .match(), .join(alice.roomID)] { #expect(eve.refusal(body) == 21) }
        eve.drop()
        world.advance(ms: 10_000)
        eve.forget()
        eve.resume()
        #expect(eve.lines() == ["#6 resumed, on at 1: alice*"])
    }
}

/// rooms.md, "Messages".
@Suite struct MessageTests {
    @Test func typeZeroIsForEveryoneElse() {
        let world = World()
        let all = world.seated("alice", "bob", "carol") { $0.maxSpectatorCount = 1 }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        for one in all + [eve] { one.forget() }
        all[0].send(.sendCustomMessage(SendCustomMessage(msg: "hi", receivers: ["bob"])))
        #expect(all[0].lines() == ["#3 ok"])
        for one in [all[1], all[2], eve] { #expect(one.lines() == ["@4 message alice: hi"]) }
    }

    @Test func typeOneIsForTheNamed() {
        let world = World()
        let all = world.seated("alice", "bob", "carol") { $0.maxSpectatorCount = 1 }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        for one in all + [eve] { one.forget() }
        all[0].send(.message("psst", to: ["bob", "bob", "alice", "eve", "nobody"]))
        #expect(all[0].lines() == ["#3 ok"])
        #expect(all[1].lines() == ["@4 message alice: psst"])
        #expect(all[2].lines() == [] && eve.lines() == [])
        for nobody in [["alice"], ["eve"], ["x", "y"]] { #expect(all[0].refusal(.message("m", to: nobody)) == 30) }
    }

    @Test func limitsAtTheirEdges() {
        let world = World()
        let all = world.seated("alice", "bob")
        #expect(all[0].refusal(.message(String(repeating: "é", count: 1_024))) == 0)
        #expect(all[0].refusal(.message(String(repeating: "é", count: 1_024) + "x")) == 11)
        #expect(all[0].refusal(.message("")) == 11)
        #expect(all[0].refusal(.message("x", to: [])) == 11)
        #expect(all[0].refusal(.message("x", to: ["bob"] + (1..<20).map { "p\($0)" })) == 0)
        #expect(all[0].refusal(.message("x", to: ["bob"] + (1...20).map { "p\($0)" })) == 11)
        #expect(all[0].refusal(.sendCustomMessage(SendCustomMessage(msg: "x", type: 2))) == 11)
    }
}
