internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

/// The judge of a cluster of one: the records of all shards in this process's memory, changed by comparing and swapping
/// as anywhere else.
final class EmbeddedCoordinator: NodeCluster {
    private let view: MembershipView
    private let table: Locked<[VersionedRecord]>

    /// Every shard begins here, without a backup.
    init(node: NodeInfo, layout: ShardLayout, rules: UInt32) {
        view = MembershipView(nodes: [node])
        let first = ShardRecord(generation: 1, epoch: 1, primary: node.id, rules: rules)
        table = Locked(Array(repeating: VersionedRecord(first, revision: 1), count: layout.count))
    }

    func begin(_ loops: [NodeLoop]) async {
        let records = table.withLock { $0.enumerated().map { (ShardID(number: $0.offset), Optional($0.element)) } }
        for loop in loops {
            loop.post(.view(view))
            loop.post(.records(records))
        }
    }

    func swap(_ shard: ShardID, from revision: UInt64, to record: ShardRecord, by loop: isolated NodeLoop) {
        let result: SwapResult = table.withLock { table in
            let present = table[shard.number]
            guard present.revision == revision else { return .lost(present) }
            table[shard.number] = VersionedRecord(record, revision: revision + 1)
            return .won(revision: revision + 1)
        }
        loop.swapEnded(shard, result)
    }

    func read(_ shard: ShardID, by loop: isolated NodeLoop) {
        loop.recordSeen(shard, table.withLock { $0[shard.number] })
    }

    func send(_ parcels: [PeerParcel], from loop: isolated NodeLoop) {}
    var isReady: Bool { true }
    func isOverdue(nowMs: Int64) -> Bool { false }
    func leave() async {}
}
