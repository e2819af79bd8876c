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

    @Test func aRepeatIsAnsweredAndNotDone() {
        let world = World()
        let all = world.seated("alice", "bob")
        let said = all[1].send(.message("once"))
        let refused = all[1].send(.kick("alice"))
        for one in all { one.forget() }
        for _ in 0..<3 {
            all[1].send(.message("once"), id: said)
            all[1].send(.kick("alice"), id: refused)
        }
        let answers = ["#\(said) ok", "#\(refused) error 22"]
        #expect(all[1].lines() == answers + answers + answers)
        #expect(all[0].lines() == [])
    }

    @Test func alsoAfterAResumeAndOnAnotherGateway() {
        let world = World()
        let all = world.seated("alice", "bob")
        let said = all[1].send(.message("once"))
        all[1].drop()
        all[1].gateway += 1
        all[1].resume()
        for one in all { one.forget() }
        all[1].send(.message("once"), id: said)
        #expect(all[1].lines() == ["#\(said) ok"])
        #expect(all[0].lines() == [])
    }

    @Test func alsoInTheNextRoom() {
        let world = World()
        let all = world.seated("alice", "bob")
        let carol = world.client("carol").connect()
        carol.send(.create())
        let said = all[1].send(.message("once"))
        all[1].send(.leave)
        all[1].send(.join(carol.roomID))
        for one in [all[1], carol] { one.forget() }
        all[1].send(.message("once"), id: said)
        #expect(all[1].lines() == ["#\(said) ok"])
        #expect(carol.lines() == [])
    }

    @Test func aNewRunKnowsNothingOfTheOldOnesIds() {
        let world = World()
        let all = world.seated("alice", "bob")
        let said = all[1].send(.message("old"))
        all[1].connect()
        all[0].forget()
        all[1].send(.message("new"), id: said)
        #expect(all[0].lines() == ["@4 message bob: new"])
    }

    @Test func roomJoinedIsBuiltAnew() {
        let world = World()
        let alice = world.client("alice").connect()
        let create = alice.send(.create())
        let bob = world.client("bob").connect()
        bob.send(.join(alice.roomID))
        alice.forget()
        alice.send(.create(), id: create)
        #expect(alice.lines() == ["#2 roomJoined at 2: alice* bob"])
        alice.drop()
        alice.resume()
        alice.send(.create(), id: create)
        #expect(alice.lines() == ["#3 resumed, on at 2: alice* bob", "#2 roomJoined at 2: alice* bob"])
        #expect(world.rooms().count == 1)
    }

    @Test func aRepeatThatWaitsForThePastIsAnsweredAlsoWhenTheClientLeaves() {
        let world = World { $0.frameBytesPerReply = 64 }
        let all = world.seated("alice", "bob")
        all[1].drop()
        for i in 0..<20 { all[0].send(.message("m \(i)")) }
        all[1].isSlow = true
        all[1].forget()
        all[1].resume()
        all[1].send(.join(all[0].roomID), id: 2)
        #expect(!all[1].lines().contains { $0.hasPrefix("#2 ") })
        let leave = all[1].send(.leave)
        #expect(all[1].lines() == ["#2 error 20", "#\(leave) ok"])
    }

    @Test func whileTheFirstIsOpenARepeatGetsItsReplyAndNever15() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        let id = alice.send(.match(2, timeoutMs: 1_000))
        alice.send(.match(2, timeoutMs: 1_000), id: id)
        #expect(alice.lines() == [])
        #expect(alice.refusal(.create()) == 15)
        alice.forget()
        world.advance(ms: 1_000)
        #expect(alice.lines() == ["#2 error 34", "#2 error 34"])
    }

    @Test func afterAResumeAnOpenRequestIsAnsweredOnlyWhenItIsSentAgain() {
        let world = World()
        let alice = world.client("alice").connect()
        let bob = world.client("bob").connect()
        let id = alice.send(.match(2, timeoutMs: 60_000))
        alice.drop()
        alice.resume()
        alice.forget()
        bob.send(.match(2, timeoutMs: 60_000))
        #expect(alice.lines() == [])
        alice.send(.match(2, timeoutMs: 60_000), id: id)
        #expect(alice.lines() == ["#2 roomJoined at 1: alice* bob"])
        bob.send(.message("hi"))
        #expect(alice.lines() == ["@2 message bob: hi"])
    }

    @Test func orSentAgainWhileItWaits() {
        let world = World()
        let alice = world.client("alice").connect()
        let id = alice.send(.match(2, timeoutMs: 60_000))
        alice.drop()
        alice.resume()
        alice.send(.match(2, timeoutMs: 60_000), id: id)
        alice.forget()
        let bob = world.client("bob").connect()
        bob.send(.match(2, timeoutMs: 60_000))
        #expect(alice.lines() == ["#2 roomJoined at 1: alice* bob"])
    }

    @Test(arguments: ["create", "join", "leave"])
    func aDropWithASeatCallInFlightLosesNothing(call: String) {
        let world = World()
        let all = world.seated("alice", "bob")
        let other = world.client("other").connect()
        other.send(.create())
        let client = call == "leave" ? all[1] : world.client("carol").connect()
        let body: ClientMessage.Body =
            switch call {
            case "create": .create()
            case "join": .join(other.roomID)
            default: .leave
            }
        client.forget()
        let id = client.send(body, settling: false)
        client.drop(settling: false)
        client.resume()
        client.send(body, id: id)
        let lines = client.lines()
        #expect(lines.count { $0.hasPrefix("#\(id) ") } == 1)
        switch call {
        case "create": #expect(lines.last == "#2 roomJoined at 1: carol*")
        case "join": #expect(lines.last == "#2 roomJoined at 2: other* carol")
        default: #expect(lines == ["#4 resumed", "#3 ok"])
        }
        #expect(client.faults == [])
        world.advance(ms: 5_000)
        #expect(client.refusal(call == "leave" ? .create() : .leave) == 0)
    }

    @Test func theLastSixtyFourAreRemembered() {
        let world = World()
        let all = world.seated("alice", "bob")
        let ids = (0..<70).map { all[1].send(.message("m\($0)")) }
        all[0].forget()
        for (i, id) in ids.enumerated() {
            let code = all[1].refusal(.message("m\(i)"), id: id)
            #expect(code == (i < 6 ? 11 : 0), "\(i)")
        }
        #expect(all[0].lines() == [])
        all[1].drop()
        all[1].resume()
        for (i, id) in ids.enumerated() {
            let code = all[1].refusal(.message("m\(i)"), id: id)
            #expect(code == (i < 6 ? 11 : 0), "\(i) after a resume")
        }
        #expect(all[0].lines() == [])
    }

    @Test func alsoAcrossSeatsOfARun() {
        let world = World()
        let alice = world.client("alice").connect()
        var ids: [UInt32] = []
        for _ in 0..<8 {
            alice.send(.create())
            for _ in 0..<10 { ids.append(alice.send(.status(1))) }
            alice.send(.leave)
        }
        // 96 requests were executed; those of the first two rooms and the third's create and first six statuses are
        // forgotten.
        for (i, id) in ids.enumerated() {
            #expect(alice.refusal(.status(1), id: id) == (i < 27 ? 11 : 0), "\(i)")
        }
    }

    @Test func whatIsForgottenDoesNotBindInputsHashesReadsAndConnect() {
        let world = World()
        let alice = world.seated("alice") { $0.frameRate = 10 }[0]
        alice.send(.start)
        for _ in 0..<70 { alice.send(.status(1)) }
        world.advance(ms: 100)
        alice.forget()
        #expect(alice.refusal(.frames(1, 1), id: 1) == 0)
        #expect(alice.refusal(.list(), id: 1) == 0)
        #expect(alice.refusal(.hash(1, [1]), id: 1) == 0)
        #expect(alice.refusal(.ping(Ping()), id: 1) == 0)
        #expect(alice.refusal(.connect(Connect()), id: 1) == 14)
        #expect(alice.refusal(.input("x"), id: 1) == 0)
        world.advance(ms: 100)
        #expect(alice.frames.last?.inputs.map(\.id) == [1])
        #expect(alice.refusal(.status(1), id: 1) == 11)
    }

    @Test func whatWasRefusedWith3And11And15And16IsDoneWhenSentAgain() {
        let world = World(budgets: true)
        let all = world.seated("alice", "bob")
        world.advance(ms: 1_000)
        all[0].forget()
        let bad = all[1].send(.message(""))
        let unknown = all[1].send(nil)
        var over: UInt32 = 0
        for _ in 0..<16 { over = all[1].send(.status(1)) }
        #expect(all[1].lines().last == "#\(over) error 3, again after 67")
        all[0].forget()
        world.advance(ms: 1_000)
        for id in [bad, unknown, over] { all[1].send(.message("now"), id: id) }
        #expect(all[0].lines().map { $0.drop { $0 != " " } } == Array(repeating: " message bob: now", count: 3))
    }

    @Test func sixtyFourMayBeOpenAndOneMoreGets3() {
        let world = World()
        let all = world.seated("alice", "bob")
        world.hold(to: .shard(RoomKey(project: "acme", id: all[0].roomID).shard))
        for _ in 0..<64 { all[1].send(.message("x")) }
        all[1].forget()
        let over = all[1].send(.message("over"))
        #expect(all[1].refusal(.ping(Ping())) == 0)
        #expect(all[1].lines().last == "#68 pong")
        // It waits as long as a burst may, and not longer.
        world.advance(ms: 5_100)
        #expect(all[1].lines().last == "#\(over) error 3, again after 100")
        #expect(all[1].refusal(.message("over again")) == 3, "those that were answered 1 are still open")
        all[1].forget()
        world.release()
        all[0].forget()
        all[1].send(.message("over"), id: over)
        #expect(all[0].lines().count == 1)
    }

    @Test func aBurstOfMoreThanMayBeOpenWaits() {
        let world = World()
        let all = world.seated("alice", "bob")
        for _ in 0..<100 { all[1].send(.message("x"), settling: false) }
        world.settle()
        #expect(all[1].lines().count { $0.hasSuffix("ok") } == 100)
        #expect(all[0].lines().count == 100)
    }

    @Test func withoutAnIdNothingIsAnsweredNorRemembered() {
        let world = World()
        let all = world.seated("alice", "bob")
        for _ in 0..<2 { all[1].sendSilently(.message("x")) }
        all[1].sendSilently(.kick("alice"))
        all[1].sendSilently(.message(""))
        all[1].sendSilently(.list())
        all[1].sendSilently(nil)
        #expect(all[1].lines() == [])
        #expect(all[0].lines() == ["@3 message bob: x", "@4 message bob: x"])
        all[1].sendSilently(.leave)
        #expect(all[0].lines() == ["@5 playerLeft bob, owner alice"])
    }
}
