public import HoldfastProtocol

/// How many shards a node brings up at others at a time.
public struct TransferBudget: Sendable {
    public let atOnce: Int
    private var sending: Set<ShardID> = []

    public init(transfersAtOnce: Int = 4) {
        atOnce = transfersAtOnce
    }

    public func isSending(_ shard: ShardID) -> Bool { sending.contains(shard) }

    /// - Returns: false when the shard has to wait.
    public mutating func beginSending(_ shard: ShardID) -> Bool {
        if sending.contains(shard) { return true }
        guard sending.count < atOnce else { return false }
        sending.insert(shard)
        return true
    }

    /// It is done, or was given up. Repeats do nothing.
    public mutating func endSending(_ shard: ShardID) { sending.remove(shard) }
}
