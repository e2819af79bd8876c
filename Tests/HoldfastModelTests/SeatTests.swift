import HoldfastProtocol
import Testing

@testable import HoldfastModel

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
