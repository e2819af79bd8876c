import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Each run remembers …": what is sent again is answered again and not done again.
@Suite struct RequestMemoryTests {
    @Test func whatTheSeatForgotIsNotDoneAgainAfterAResume() {
        let world = World()
        let all = world.seated("alice", "bob")
        let (alice, bob) = (all[0], all[1])
        bob.connect()
        let first = bob.send(.message("first"))
        for _ in 0..<64 { bob.send(.status(1)) }
        bob.drop()
        bob.resume()
        alice.forget()
        #expect(bob.refusal(.message("first"), id: first) == 11)
        #expect(alice.lines() == [])
    }

    @Test func leavingKeepsTheNewestOutcomes() {
        let world = World()
        let all = world.seated("alice", "bob")
        let (alice, bob) = (all[0], all[1])
        for _ in 0..<64 { bob.send(.status(1)) }
        let join = bob.send(.join(alice.roomID))
        #expect(bob.lines().last == "#\(join) error 21")
        bob.send(.leave)
        bob.forget()
        bob.send(.join(alice.roomID), id: join)
        #expect(bob.lines() == ["#\(join) error 21"])
        #expect(!bob.isInRoom)
    }

    @Test func theEventThatEndedASeatIsToldUntilItHasCome() {
        let world = World()
        let all = world.seated("alice", "bob")
        let (alice, bob) = (all[0], all[1])
        bob.drop()
        alice.send(.kick("bob"))
        let position = bob.position
        bob.resume(from: position)
        #expect(bob.lines() == ["#3 resumed", "playerKicked bob, owner alice"])
        // That answer was lost on its way.
        bob.drop()
        bob.resume(from: position)
        #expect(bob.lines() == ["#4 resumed", "playerKicked bob, owner alice"])
    }
}
