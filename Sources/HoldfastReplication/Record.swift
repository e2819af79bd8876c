public import HoldfastProtocol

/// Who holds a shard: one small key at the coordinator (design, rule 1). It changes only by compare-and-swap.
public struct ShardRecord: Hashable, Sendable {
    /// Grows when the shard begins anew, empty, because all its replicas were lost.
    public var generation: UInt64
    /// Grows by one with every change of the record.
    public var epoch: UInt64
    public var primary: NodeID
    /// In the order in which they were added.
    public var backups: [NodeID]
    /// The primary that hands over to `primary` and plays on until it has released the shard; it is among the backups.
    public var handover: NodeID?
    /// The version of the rules that all replicas run.
    public var rules: UInt32

    public init(
        generation: UInt64, epoch: UInt64, primary: NodeID, backups: [NodeID] = [], handover: NodeID? = nil,
        rules: UInt32
    ) {
        self.generation = generation
        self.epoch = epoch
        self.primary = primary
        self.backups = backups
        self.handover = handover
        self.rules = rules
    }

    /// The primary and the backups.
    public var members: [NodeID] { [primary] + backups }

    public func lists(_ node: NodeID) -> Bool { primary == node || backups.contains(node) }
}

/// A record as the coordinator had it.
public struct VersionedRecord: Hashable, Sendable {
    public let record: ShardRecord
    /// The coordinator's revision of the last change of the key: what a swap compares.
    public let revision: UInt64

    public init(_ record: ShardRecord, revision: UInt64) {
        self.record = record
        self.revision = revision
    }
}

/// What came of a compare-and-swap.
public enum SwapResult: Hashable, Sendable {
    /// The record now has this revision.
    case won(revision: UInt64)
    /// Somebody was first; nothing was changed. The record as it is now.
    case lost(VersionedRecord)
    /// No answer came: it may have been carried out, or still be.
    case inDoubt
}
