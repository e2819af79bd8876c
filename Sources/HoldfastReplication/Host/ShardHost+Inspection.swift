public import HoldfastProtocol

/// One replica of a shard, for those who look from outside.
public struct ReplicaView: Hashable, Sendable {
    public enum Role: Hashable, Sendable {
        case none, learner, backup, primary
    }

    public let role: Role
    /// The adopted record; nil when this is no member.
    public let record: VersionedRecord?
    public let generation: UInt64
    public let epoch: UInt64
    public let last: UInt64
    /// Of the log up to `last`.
    public let hash: UInt64
    public let committed: UInt64
    /// A primary whose epoch has begun.
    public let isStarted: Bool
    /// It takes commands.
    public let isOpen: Bool
    public let isSwapping: Bool
    public let learner: NodeID?
    /// Shard time of the newest entry.
    public let timeMs: Int64?
    /// Milliseconds since 1970 at the newest entry, as clients are told.
    public let wallMs: Int64?
}

/// One channel end of a shard or a gateway.
public struct ChannelView<Other: Hashable & Sendable>: Hashable, Sendable {
    public let other: Other
    /// The session of a gateway's channel, the generation of the other shard.
    public let life: UInt64
    /// The newest number taken from the other side.
    public let accepted: UInt64
    /// Numbers of the oldest and newest that the other side has not taken; `last` is one less than `first` when there
    /// are none.
    public let first: UInt64
    public let last: UInt64
}

extension ShardHost {
    public func look(at shard: ShardID) -> ReplicaView? {
        guard let replica = places[shard.number].replica else { return nil }
        let role: ReplicaView.Role =
            switch replica.role {
            case .none: .none
            case .learner: .learner
            case .backup: .backup
            case .primary: .primary
            }
        return ReplicaView(
            role: role, record: replica.record, generation: replica.state?.generation ?? replica.generation,
            epoch: replica.epoch, last: replica.last, hash: replica.hash, committed: replica.committed,
            isStarted: replica.isStarted, isOpen: replica.isOpen, isSwapping: replica.isSwapping,
            learner: replica.learner, timeMs: replica.state?.timeMs, wallMs: replica.state?.wallMs)
    }

    /// Of the log up to an index; nil when that is not kept any more, or not there yet.
    public func hash(of shard: ShardID, at index: UInt64) -> UInt64? {
        places[shard.number].replica?.log.hash(at: index)
    }

    /// The state of the replica here, after its newest entry.
    public func machine(of shard: ShardID) -> Machine? { places[shard.number].replica?.state?.machine }

    /// A sum over the state of the replica here.
    public func digest(of shard: ShardID) -> UInt64? { places[shard.number].replica?.state?.digest() }

    /// Effects of entries up to this index have left the shard from here, in this generation.
    public func told(of shard: ShardID) -> (generation: UInt64, index: UInt64)? { places[shard.number].told }

    /// The shard's ends of its channels with gateways, in order.
    public func gatewayChannels(of shard: ShardID) -> [ChannelView<GatewayID>] {
        (places[shard.number].replica?.state?.gateways ?? [:]).sorted { $0.key < $1.key }.map {
            ChannelView(
                other: $0.key, life: $0.value.session, accepted: $0.value.accepted, first: $0.value.outbox.first,
                last: $0.value.outbox.last)
        }
    }

    /// The shard's ends of its channels with other shards, in order.
    public func shardChannels(of shard: ShardID) -> [ChannelView<ShardID>] {
        (places[shard.number].replica?.state?.peers ?? [:]).sorted { $0.key < $1.key }.map {
            ChannelView(
                other: $0.key, life: $0.value.generation, accepted: $0.value.accepted, first: $0.value.outbox.first,
                last: $0.value.outbox.last)
        }
    }

    /// This gateway's end of its channel with a shard, and the shard's generation as the gateway knows it.
    public func gatewayEnd(with shard: ShardID) -> (generation: UInt64, channel: ChannelView<ShardID>) {
        let end = places[shard.number].channel
        return (
            end.generation,
            ChannelView(
                other: shard, life: end.session, accepted: end.received, first: end.outbox.first,
                last: end.outbox.last)
        )
    }
}
