internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastTransport

/// The budgets of a node's players. They outlive links, so that a new link brings no new budget; one that has filled up
/// again is forgotten, since a new one is as good.
final class BudgetLedger: Sendable {
    private struct Shelf: Sendable {
        var budgets: [PlayerKey: PlayerBudgets] = [:]
        var pruneAbove = 256
    }

    /// Several locks, so that loops rarely meet at one.
    private let shelves: [Locked<Shelf>]
    private let fresh: PlayerBudgets

    init(limits: Limits) {
        shelves = (0..<64).map { _ in Locked(Shelf()) }
        fresh = PlayerBudgets(limits)
    }

    /// Lends the player's budgets. They are of no other use meanwhile: a player has one link.
    func take(_ player: PlayerKey) -> PlayerBudgets {
        shelf(player).withLock { $0.budgets[player] } ?? fresh
    }

    /// What a link of nobody yet gets.
    var none: PlayerBudgets { fresh }

    func put(_ budgets: PlayerBudgets, of player: PlayerKey, nowMs: Int64) {
        shelf(player).withLock { shelf in
            shelf.budgets[player] = budgets
            guard shelf.budgets.count > shelf.pruneAbove else { return }
            shelf.budgets = shelf.budgets.filter { !$0.value.isFull(nowMs: nowMs) }
            shelf.pruneAbove = max(256, 2 * shelf.budgets.count)
        }
    }

    /// Players of which something is kept.
    var count: Int { shelves.reduce(0) { $0 + $1.withLock { $0.budgets.count } } }

    private func shelf(_ player: PlayerKey) -> Locked<Shelf> {
        shelves[player.hashValue & 63]
    }
}
