import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// What a client that means no good could make grow, stay or come back.
@Suite struct LimitTests {
    @Test func aRefusedLeaveReturnsNoSeatToARunThatHasEnded() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.lockedDuringFrameSync = true }
        all[0].send(.start)
        all[0].forget()
        world.hold(to: .shard(RoomKey(project: "acme", id: all[0].roomID).shard))
        all[1].send(.leave)
        all[1].send(.bye)
        world.release()
        #expect(all[0].lines().contains { $0.contains("playerLeft bob") })
    }

    @Test func anOpenRequestIsOwedSoManyAnswersAtMost() {
        let world = World()
        let alice = world.client("alice").connect()
        let waiting = alice.send(.match(timeoutMs: 300_000))
        for _ in 0..<63 { alice.send(.match(timeoutMs: 300_000), id: waiting) }
        #expect(alice.lines() == ["#1 connected"] || !alice.lines().contains { $0.contains("error 3") })
        alice.forget()
        alice.send(.match(timeoutMs: 300_000), id: waiting)
        #expect(alice.lines().first?.hasPrefix("#\(waiting) error 3") == true)
        alice.forget()
        alice.send(.cancel)
        #expect(alice.lines().filter { $0.hasPrefix("#\(waiting) error 35") }.count == 64)
    }

    /// "Hash reports are not remembered. Inputs with an id are taken once"; reads "are simply done again".
    @Test func whatHasItsOwnRuleIsNotRememberedOutsideOfRoomsEither() {
        let world = World()
        let alice = world.client("alice").connect()
        let first = alice.send(.leave)
        for _ in 0..<70 { alice.send(.input("x")) }
        alice.forget()
        alice.send(.leave, id: first)
        #expect(alice.lines() == ["#\(first) error 20"], "its outcome was not pushed out")
    }

    @Test func aForgedResumeCostsAsAnyCallDoes() {
        let world = World { $0.linkMessagesPerSecond = 3 }
        let alice = world.client("alice")
        alice.open()
        let forged = Connect(resume: Resume(resumeToken: "61.62.63"))
        for _ in 0..<4 { alice.send(.connect(forged)) }
        #expect(alice.lines().map { $0.split(separator: " ")[2] } == ["39", "39", "39", "3,"])
    }

    /// A reader for which what comes next is not kept any more begins anew, instead of missing it in silence.
    @Test func whoReadsSlowerThanThePastIsKeptIsSentAway() {
        let world = World {
            $0.frameBytesPerReply = 64
            $0.eventHistoryMs = 1_000
        }
        let all = world.seated("alice", "bob")
        all[1].drop()
        for i in 0..<20 { all[0].send(.message("m \(i)")) }
        all[1].isSlow = true
        all[1].resume()
        world.advance(ms: 5_000)
        all[0].send(.message("late"))
        all[1].isSlow = false
        if let link = all[1].link { world.pull(link) }
        world.settle()
        #expect(all[1].lines().last == "disconnected 37, may reconnect")
        all[1].resume()
        #expect(all[1].lines().last?.contains("resumed") == true)
        #expect(all[1].faults == [])
    }
}
