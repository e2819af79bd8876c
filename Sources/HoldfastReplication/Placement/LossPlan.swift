public import HoldfastProtocol

/// When a shard begins anew because nothing of it is left (design, rule 8).
public enum LossPlan {
    /// The record with which this node should replace the one given, or nil: something of the shard may live, or
    /// another node is to do it.
    ///
    /// - Parameter wanted: the nodes that should hold the shard; the first that lives does it.
    public static func fresh(
        _ record: ShardRecord, wanted: [NodeID], view: MembershipView, own: NodeID
    ) -> ShardRecord? {
        guard view.maySwap, !view.isGone(own), wanted.first(where: { !view.isGone($0) }) == own else { return nil }
        var all = record.members
        if let handover = record.handover { all.append(handover) }
        guard all.allSatisfy(view.isLost) else { return nil }
        return ShardRecord(
            generation: record.generation + 1, epoch: record.epoch + 1, primary: own, rules: record.rules)
    }
}
