public import HoldfastProtocol

/// What a shard's primary does next about its record, so that it comes to be as wanted.
public enum TransferStep: Hashable, Sendable {
    case nothing
    /// A swap without this backup. `isForCause`: it is gone, and waits (`BackOff`) until it may come again.
    case drop(NodeID, isForCause: Bool)
    /// This node as a learner, and when it has caught up, a swap with it.
    case add(NodeID)
    case handOver(to: NodeID)
}

public enum TransferPlan {
    /// - Parameters:
    ///   - record: the current one, whose primary asks.
    ///   - wanted: the nodes that should hold the shard, the primary first; of `Placement.wanted` of living nodes.
    ///   - standIns: who else may hold it, in order, while a wanted one may not be added (`Placement.standIns`); asked
    ///     for only then.
    ///   - mayAdd: whether a node may be a learner now (it does not wait, and has told of no lack of room).
    public static func next(
        _ record: ShardRecord, wanted: [NodeID], standIns: @autoclosure () -> [NodeID] = [], view: MembershipView,
        mayAdd: (NodeID) -> Bool = { _ in true }
    ) -> TransferStep {
        // What becomes of a hand-over under way is the replicas' affair.
        guard view.maySwap, record.handover == nil else { return .nothing }
        if let gone = record.backups.first(where: { view.isGone($0) }) { return .drop(gone, isForCause: true) }
        let able = wanted.filter { !view.isGone($0) }
        guard !able.isEmpty else { return .nothing }
        let members = record.members
        if isDraining(record.primary, view), !able.contains(record.primary),
            let next = able.first(where: members.contains)
        {
            // Whoever leaves does not wait for others' transfers: it stays as a backup until they are done.
            return .handOver(to: next)
        }
        if let step = addition(members, able: able, standIns: standIns(), view: view, mayAdd: mayAdd) { return step }
        if members.count > able.count, let extra = record.backups.last(where: { !able.contains($0) }) {
            return .drop(extra, isForCause: false)
        }
        if let first = able.first, first != record.primary, members.contains(first) { return .handOver(to: first) }
        return .nothing
    }

    private static func addition(
        _ members: [NodeID], able: [NodeID], standIns: @autoclosure () -> [NodeID], view: MembershipView,
        mayAdd: (NodeID) -> Bool
    ) -> TransferStep? {
        // One more than wanted at most: who is to go stays until the other has come.
        guard members.count <= able.count else { return nil }
        if let missing = able.first(where: { !members.contains($0) && mayAdd($0) }) { return .add(missing) }
        guard members.count < able.count else { return nil }
        let other = standIns().first {
            !members.contains($0) && !view.isGone($0) && !isDraining($0, view) && mayAdd($0)
        }
        return other.map { .add($0) }
    }

    private static func isDraining(_ node: NodeID, _ view: MembershipView) -> Bool {
        view.nodes.first { $0.id == node }?.isDraining ?? false
    }
}
