import HoldfastModel
import HoldfastProtocol
import Testing

@testable import HoldfastNode

@Suite struct BudgetLedgerTests {
    private func player(_ n: Int) -> PlayerKey { PlayerKey(project: "p", id: "player-\(n)") }

    @Test func aNewLinkBringsNoNewBudget() {
        let ledger = BudgetLedger(limits: Limits())
        var budgets = ledger.take(player(1))
        #expect(budgets.isFull(nowMs: 0))
        _ = spend(&budgets, nowMs: 0)
        ledger.put(budgets, of: player(1), nowMs: 0)
        #expect(!ledger.take(player(1)).isFull(nowMs: 0))
        #expect(ledger.take(player(2)).isFull(nowMs: 0), "one player's budget never costs another")
    }

    @Test func whatHasFilledUpAgainIsForgotten() {
        let ledger = BudgetLedger(limits: Limits())
        for n in 0..<100_000 {
            var budgets = ledger.take(player(n))
            _ = spend(&budgets, nowMs: Int64(n))
            ledger.put(budgets, of: player(n), nowMs: Int64(n))
        }
        // About one second's worth of players is spent at any time, and a shelf may hold some that are full again.
        #expect(ledger.count < 40_000)
    }

    /// By way of a machine, as a link does it.
    private func spend(_ budgets: inout PlayerBudgets, nowMs: Int64) -> UInt32? {
        budgets.take(for: .sendCustomMessage(SendCustomMessage(msg: "m")), nowMs: nowMs)
    }
}
