public import HoldfastProtocol

/// How many shards a node brings up at a time: as a primary that sends to learners, and as a learner.
public struct TransferBudget: Sendable {
    /// In each direction.
    public let atOnce: Int
    private var sending: Set<ShardID> = []
    private var taking: Set<ShardID> = []

    public init(transfersAtOnce: Int = 4) {
        atOnce = transfersAtOnce
    }

    public func isSending(_ shard: ShardID) -> Bool { sending.contains(shard) }
    public var isSendingFull: Bool { sending.count >= atOnce }
    public var isTakingFull: Bool { taking.count >= atOnce }

    /// - Returns: false when the shard has to wait.
    public mutating func beginSending(_ shard: ShardID) -> Bool { Self.begin(shard, in: &sending, atOnce) }

    /// It is done, or was given up. Repeats do nothing.
    public mutating func endSending(_ shard: ShardID) { sending.remove(shard) }

    /// - Returns: false when the primary has to ask again later.
    public mutating func beginTaking(_ shard: ShardID) -> Bool { Self.begin(shard, in: &taking, atOnce) }

    /// It is done, or was given up. Repeats do nothing.
    public mutating func endTaking(_ shard: ShardID) { taking.remove(shard) }

    private static func begin(_ shard: ShardID, in shards: inout Set<ShardID>, _ limit: Int) -> Bool {
        if shards.contains(shard) { return true }
        guard shards.count < limit else { return false }
        shards.insert(shard)
        return true
    }
}
