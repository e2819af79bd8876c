internal import HoldfastProtocol
internal import HoldfastReplication

/// The rest of the cluster, as the loops of a node need it. What changes there it posts to them.
protocol NodeCluster: Sendable {
    /// From now on the loops are told: first of what is known already.
    func begin(_ loops: [NodeLoop]) async
    /// Answered by `NodeLoop.swapEnded`, perhaps at once.
    func swap(_ shard: ShardID, from revision: UInt64, to record: ShardRecord, by loop: isolated NodeLoop)
    /// Answered by a record that is seen.
    func read(_ shard: ShardID, by loop: isolated NodeLoop)
    /// Words for other nodes; in order for each of them, and without an answer.
    func send(_ parcels: [PeerParcel], from loop: isolated NodeLoop)
    /// Whether clients may come.
    var isReady: Bool { get }
    /// Whether the process has stood still, and what it knew of others before has not been looked at since.
    func isOverdue(nowMs: Int64) -> Bool
    /// Moves this node's shards to others, and takes its leave.
    func leave() async
}

/// Words for one other node that travel together.
struct PeerParcel: Sendable {
    let to: NodeID
    /// Must not stand before anything else.
    let isBulk: Bool
    /// `PeerWord`s.
    let words: [UInt8]
}

/// What one node says to another.
typealias NodeWord = PeerWord<Host.Message>
