import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md: "Inputs with an id are taken once … so that a client can send again after a resume what it has not seen
/// in a frame."
@Suite struct InputTests {
    @Test(arguments: 0..<60)
    func eachInputStandsInOneFrameWhateverDrops(seed: UInt64) {
        let world = World(seed: seed, shuffled: true) { $0.inputsPerFrame = 1_000 }
        let all = world.seated("alice", "bob", "carol") { $0.frameRate = 20 }
        all[0].send(.start)
        var sent: [String: [(id: UInt32, text: String)]] = [:]
        for i in 0..<120 {
            let client = all[world.random.below(3)]
            if client.link == nil {
                client.gateway = world.random.below(World.gateways)
                client.resume(settling: false)
                // What it has not seen in a frame.
                let seen = Set(client.frames.flatMap(\.inputs).filter { $0.playerId == client.id }.map(\.id))
                for input in sent[client.id] ?? [] where !seen.contains(input.id) {
                    client.send(.input(input.text), id: input.id, settling: false)
                }
            } else if world.random.below(8) == 0 {
                client.drop(settling: false)
            } else {
                let text = "\(client.id)-\(i)"
                sent[client.id, default: []].append((client.send(.input(text), settling: false), text))
            }
            if world.random.below(3) == 0 { world.pass(ms: 25) }
            for _ in 0..<world.random.below(6) { world.deliverOne() }
        }
        for client in all {
            world.settle()
            if client.link == nil { client.resume() }
            let seen = Set(client.frames.flatMap(\.inputs).filter { $0.playerId == client.id }.map(\.id))
            for input in sent[client.id] ?? [] where !seen.contains(input.id) {
                client.send(.input(input.text), id: input.id)
            }
        }
        world.advance(ms: 200)
        let expected = Set(sent.values.joined().map(\.text))
        for client in all {
            let came = client.frames.flatMap(\.inputs).compactMap { input in
                if case .data(let text)? = input.payload { text } else { nil }
            }
            #expect(came.count == expected.count && Set(came) == expected, "seed \(seed): \(client.id)")
            #expect(client.frames == all[0].frames, "seed \(seed): \(client.id)")
            #expect(client.faults == [], "seed \(seed): \(client.id)")
        }
    }

    @Test func theOrderIsThatOfArrival() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.frameRate = 1 }
        all[0].send(.start)
        for i in 0..<4 { all[i % 2].send(.input("\(i)")) }
        world.advance(ms: 1_000)
        #expect(line(all[0].frames[0]) == "1 alice:0 bob:1 alice:2 bob:3")
    }

    @Test func anInputThatIsHeldUntilTheRoomIsKnownIsTaken() {
        let world = World()
        let alice = world.seated("alice") {
            $0.frameRate = 1
            $0.allowLateJoin = true
        }[0]
        alice.send(.start)
        let bob = world.client("bob").connect()
        bob.send(.join(alice.roomID), settling: false)
        bob.send(.input("at once"), settling: false)
        bob.send(.message("too"), settling: false)
        world.settle()
        world.advance(ms: 1_000)
        #expect(line(alice.frames[0]) == "1 bob:at once +bob")
        #expect(alice.lines().contains("@4 message bob: too"))
    }
}

@Suite struct RequestWindowTests {
    private func window(executed: [UInt32] = [], seat: [UInt32] = [], limit: Int = 4) -> RequestWindow {
        RequestWindow(player: RequestDigest(executed: executed), seat: seat, isSeatForgetful: false, limit: limit)
    }

    private func open(_ window: inout RequestWindow, _ id: UInt32) {
        window.begin(id, .init(isSeatCall: false, holdsRoomCalls: false, awaited: 1, deadlineMs: 100))
    }

    @Test func anIdIsNewThenOpenThenRemembered() {
        var window = window()
        #expect(window.standing(of: 7) == .new)
        open(&window, 7)
        #expect(window.standing(of: 7) == .open)
        let owed = window.settle(7, .seat)
        #expect(owed)
        #expect(window.standing(of: 7) == .remembered(.seat))
        window.unseat()
        #expect(window.standing(of: 7) == .remembered(.player))
    }

    @Test func whatIsNotRememberedIsNewAgain() {
        var window = window()
        open(&window, 7)
        _ = window.settle(7, .nowhere)
        #expect(window.standing(of: 7) == .new)
    }

    @Test func onlyOnceSomethingIsForgottenALowIdIs() {
        var window = window(executed: [5, 6], seat: [7, 8])
        #expect(window.standing(of: 4) == .new)
        open(&window, 9)
        _ = window.settle(9, .player)
        #expect(window.standing(of: 5) == .forgotten)
        #expect(window.standing(of: 6) == .remembered(.player))
        #expect(window.standing(of: 10) == .new)
    }

    @Test func zeroIsAlwaysNew() {
        var window = window(executed: [1, 2, 3, 4, 5])
        open(&window, 0)
        #expect(window.standing(of: 0) == .new)
        #expect(window.open.isEmpty)
    }

    @Test func eachSendIsOwedOneAnswer() {
        var window = window()
        open(&window, 7)
        window.await(7, deadlineMs: 200)
        let answers = (0..<2).map { _ in window.settle(7, .player) }
        #expect(answers == [true, true])
        #expect(window.open.isEmpty)
    }

    @Test func whatWasMadeUpForIsNotOwed() {
        var window = window()
        open(&window, 7)
        let early = window.overdue(nowMs: 99)
        #expect(early == [])
        let due = window.overdue(nowMs: 100)
        #expect(due == [7])
        let again = window.overdue(nowMs: 1_000)
        #expect(again == [])
        #expect(window.standing(of: 7) == .open)
        window.await(7, deadlineMs: 2_000)
        let answers = (0..<2).map { _ in window.settle(7, .player) }
        #expect(answers.filter { $0 }.count == 1)
    }
}
