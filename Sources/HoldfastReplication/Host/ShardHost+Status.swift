public import HoldfastProtocol

/// A replica at a moment, for those who look on: status pages and checkers.
public struct ReplicaStatus: Hashable, Sendable {
    public enum Role: Hashable, Sendable {
        case none, learner, backup, primary
    }

    public var role: Role
    /// Of its state; nil: it has none.
    public var generation: UInt64?
    /// In which it answers.
    public var epoch: UInt64
    /// The record that it goes by; nil: it is no member.
    public var record: VersionedRecord?
    /// A primary that leads.
    public var isStarted: Bool
    /// And takes commands.
    public var isOpen: Bool
    /// And lets effects leave, as far as the record is concerned.
    public var mayTell: Bool
    /// The index of the newest entry, and the log's hash there.
    public var last: UInt64
    public var hash: UInt64
    public var committed: UInt64
    /// Who is becoming a backup.
    public var learner: NodeID?
    /// Entries above what is committed.
    public var uncommitted: UInt64 { last - min(last, committed) }
}

extension ShardHost {
    /// The replica of a shard that is here; nil: there never was one.
    public func status(of shard: ShardID) -> ReplicaStatus? {
        // What is asked for one by one, because a copy of the replica would make its next change copy all.
        let i = shard.number
        guard let role = places[i].replica?.role else { return nil }
        let kind: ReplicaStatus.Role =
            switch role {
            case .none: .none
            case .learner: .learner
            case .backup: .backup
            case .primary: .primary
            }
        return ReplicaStatus(
            role: kind, generation: places[i].generation, epoch: places[i].replica?.epoch ?? 0,
            record: places[i].replica?.record, isStarted: places[i].isStarted, isOpen: places[i].isOpen,
            mayTell: places[i].mayTell, last: places[i].replica?.last ?? 0, hash: places[i].replica?.hash ?? 0,
            committed: places[i].committed, learner: places[i].replica?.learner)
    }

    /// What this node saw of the cluster last.
    public var membership: MembershipView { view }
}
