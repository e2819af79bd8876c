import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Budgets".
@Suite struct BudgetTests {
    private func seated(_ world: World, _ change: (inout RoomConfig) -> Void = { _ in }) -> [Client] {
        let all = world.seated("alice", "bob") { change(&$0) }
        world.advance(ms: 1_000)
        for one in all { one.forget() }
        return all
    }

    /// Sends as many as are not answered 3, and returns their number and the wait that the next one is told.
    private func spend(_ client: Client, _ body: ClientMessage.Body) -> (count: Int, wait: UInt32) {
        for count in 0..<2_000 {
            let before = client.messages.count
            let id = client.send(body)
            for message in client.messages[before...] where message.id == id {
                if case .error(let error)? = message.body, error.code == 3 { return (count, error.retryAfterMs) }
            }
        }
        return (2_000, 0)
    }

    @Test func fifteenMessagesASecondShared() {
        let world = World(budgets: true)
        let all = seated(world)
        for body: ClientMessage.Body in [.message("m"), .status(1), .properties("p"), .room(name: "n")] {
            #expect(all[0].refusal(body) == 0)
        }
        #expect(all[1].refusal(.room(name: "refused, and costs one")) == 22)
        #expect(spend(all[0], .status(1)) == (11, 67))
        #expect(spend(all[1], .message("m")) == (14, 67))
        for body: ClientMessage.Body in [.message("m"), .properties("p"), .room(name: "n")] {
            #expect(all[0].refusal(body) == 3)
        }
        world.advance(ms: 66)
        #expect(all[0].refusal(.status(1)) == 3)
        world.advance(ms: 1)
        #expect(all[0].refusal(.status(1)) == 0)
        #expect(all[0].refusal(.status(1)) == 3)
    }

    @Test func overItNothingHappens() {
        let world = World(budgets: true)
        let all = seated(world)
        _ = spend(all[0], .status(1))
        all[1].forget()
        all[0].send(.message("not told"))
        #expect(all[1].lines() == [])
    }

    @Test func tenRoomCallsASecond() {
        let world = World(budgets: true)
        let all = seated(world)
        let calls: [ClientMessage.Body] = [
            .create(), .match(), .join("x"), .list(), .transfer("bob"), .kick("x"), .start, .stop, .transfer("alice"),
        ]
        for body in calls { #expect(all[0].refusal(body) != 3, "\(body)") }
        #expect(spend(all[0], .list()) == (1, 100))
        #expect(all[0].refusal(.leave) == 3)
        #expect(all[0].refusal(.dismiss) == 3)
        #expect(all[0].refusal(.cancel) == 0)
        world.advance(ms: 99)
        #expect(all[0].refusal(.leave) == 3)
        world.advance(ms: 1)
        #expect(all[0].refusal(.leave) == 0)
    }

    @Test func readsSnapshotsAndHashes() {
        let world = World(budgets: true)
        let all = seated(world) { $0.frameRate = 10 }
        all[0].send(.start)
        world.advance(ms: 1_000)
        #expect(spend(all[0], .frames(1, 1)) == (5, 200))
        #expect(spend(all[0], .snapshot(1)) == (1, 1_000))
        #expect(spend(all[0], .hash(1, [1])) == (20, 50))
        #expect(spend(all[1], .hash(1, [1])) == (20, 50))
        world.advance(ms: 999)
        #expect(all[0].refusal(.snapshot(2)) == 3)
        world.advance(ms: 1)
        #expect(all[0].refusal(.snapshot(2)) == 0)
    }

    @Test func fiveHundredMessagesASecondALink() {
        let world = World(budgets: true)
        let all = seated(world)
        #expect(spend(all[0], .ping(Ping())) == (500, 2))
        #expect(all[0].refusal(.input("x")) == 3)
        #expect(all[1].refusal(.ping(Ping())) == 0)
    }

    @Test func elevenFifteenSixteenAndRepeatsCostNothing() {
        let world = World(budgets: true)
        let all = seated(world)
        let said = all[0].send(.message("m"))
        for _ in 0..<50 {
            #expect(all[0].refusal(.message("")) == 11)
            #expect(all[0].refusal(.kick("alice")) == 11)
            #expect(all[0].refusal(.list(offset: "x")) == 11)
            #expect(all[0].refusal(.requestBattle(RequestBattle())) == 16)
            #expect(all[0].refusal(.message("m"), id: said) == 0)
        }
        #expect(spend(all[0], .message("m")).count == 14)
        #expect(spend(all[0], .list()).count == 10)
        let carol = world.client("carol").connect()
        let match = carol.send(.match(3, timeoutMs: 60_000))
        for _ in 0..<50 {
            #expect(carol.refusal(.create()) == 15)
            carol.send(.match(3, timeoutMs: 60_000), id: match)
        }
        #expect(spend(carol, .list()).count == 9)
    }

    @Test func anElevenThatIsFoundLateCostsNothing() {
        let world = World(budgets: true)
        let all = seated(world) { $0.frameRate = 1 }
        all[0].send(.start)
        world.advance(ms: 1_000)
        for _ in 0..<5 { #expect(all[0].refusal(.snapshot(99)) == 11) }
        for _ in 0..<5 { #expect(all[0].refusal(.hash(99, [1])) == 11) }
        #expect(all[0].refusal(.snapshot(1)) == 0)
        #expect(spend(all[0], .hash(1, [1])).count == 2)
        #expect(all[0].refusal(.snapshot(99)) == 3)
    }

    @Test func aNewLinkOrRunBringsNoNewBudget() {
        let world = World(budgets: true)
        let all = seated(world)
        _ = spend(all[1], .status(1))
        all[1].drop()
        all[1].resume()
        #expect(all[1].refusal(.status(1)) == 3)
        all[1].connect()
        #expect(all[1].refusal(.status(1)) == 3)
        all[1].open()
        all[1].send(.connect(Connect(token: all[1].token)), settling: false)
        all[1].send(.status(2), id: 50, settling: false)
        world.settle()
        #expect(all[1].lines().last == "#50 error 3, again after 67")
    }

    @Test func onePlayersBudgetNeverCostsAnother() {
        let world = World(budgets: true)
        let all = seated(world)
        _ = spend(all[0], .status(1))
        _ = spend(all[0], .list())
        #expect(spend(all[1], .status(1)).count == 15)
        #expect(spend(all[1], .list()).count == 10)
    }
}
