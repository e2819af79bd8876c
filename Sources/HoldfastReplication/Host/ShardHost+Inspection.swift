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

/// How far effects have left a shard from one node.
public struct ToldPoint: Hashable, Sendable {
    public let generation: UInt64
    /// In which the node was the primary.
    public let epoch: UInt64
    /// Of the last entry whose effects may have left.
    public let index: UInt64
}

/// What of a replica changes from step to step, in few words.
public struct ReplicaGlance: Hashable, Sendable {
    public let role: ReplicaView.Role
    /// Of its state; 0: it has none.
    public let generation: UInt64
    public let epoch: UInt64
    public let last: UInt64
    public let hash: UInt64
    public let committed: UInt64
    public let isStarted: Bool
    /// It takes commands.
    public let isOpen: Bool
    /// Effects may leave, as far as the record is concerned.
    public let mayTell: Bool
    /// Shard time and wall time of the newest entry; both 0 before the first.
    public let timeMs: Int64
    public let wallMs: Int64
    public let told: ToldPoint?
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
    /// The gateway counts as lost, and nothing came or went since.
    public let isLost: Bool

    public init(
        other: Other, life: UInt64, accepted: UInt64, first: UInt64, last: UInt64, isLost: Bool = false
    ) {
        self.other = other
        self.life = life
        self.accepted = accepted
        self.first = first
        self.last = last
        self.isLost = isLost
    }
}

/// How much of the cluster's work a loop has, for gauges.
public struct ShardLoad: Hashable, Sendable {
    public var primaries = 0
    public var backups = 0
    public var learners = 0
    /// Shards whose only replica is here, though there should be more.
    public var sole = 0
    /// Entries of primaries here that are not committed yet.
    public var uncommitted = 0

    public init() {}
}

extension ShardHost {
    public mutating func load() -> ShardLoad {
        var load = ShardLoad()
        for place in places.indices {
            guard let glance = places[place].replica?.glance(told: nil) else { continue }
            switch glance.role {
            case .none: break
            case .learner: load.learners += 1
            case .backup: load.backups += 1
            case .primary:
                load.primaries += 1
                load.uncommitted += Int(truncatingIfNeeded: glance.last &- min(glance.last, glance.committed))
                if settings.replicas > 1, places[place].route?.record.backups.isEmpty ?? false { load.sole += 1 }
            }
        }
        return load
    }

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
    ///
    /// `mutating`, as others here, only because a replica that is looked at in place need not be copied.
    public mutating func hash(of shard: ShardID, at index: UInt64) -> UInt64? {
        places[shard.number].replica?.hash(at: index)
    }

    /// The state of the replica here, after its newest entry.
    public mutating func machine(of shard: ShardID) -> Machine? {
        places[shard.number].replica?.state?.currentMachine()
    }

    /// A sum over the state of the replica here.
    public mutating func digest(of shard: ShardID) -> UInt64? { places[shard.number].replica?.state?.currentDigest() }

    /// Effects of entries up to this index have left the shard from here, in this generation.
    public func told(of shard: ShardID) -> ToldPoint? { places[shard.number].told }

    public mutating func glance(at shard: ShardID) -> ReplicaGlance? {
        let told = places[shard.number].told
        return places[shard.number].replica?.glance(told: told)
    }

    /// All shards' replicas here, by number of the home.
    public mutating func glance(into glances: inout [ReplicaGlance?]) {
        glances.removeAll(keepingCapacity: true)
        for place in places.indices {
            let told = places[place].told
            glances.append(places[place].replica?.glance(told: told))
        }
    }

    /// Whether this node may tell at a time of its own clock, and whether it may ask for swaps.
    public func isInTouch(atMs nowMs: Int64) -> Bool { view.mayTell(atMs: nowMs) }
    public var maySwap: Bool { view.maySwap }

    /// Whether a node may not be a learner of this one's shards yet.
    public func isWaiting(_ other: NodeID, nowMs: Int64) -> Bool { backOff.isWaiting(other, nowMs: nowMs) }

    /// Where a shard should be, as this node sees it.
    public func wanted(of shard: ShardID) -> [NodeID] { wanted.isEmpty ? [] : wanted[shard.number] }

    /// The shard's ends of its channels with gateways, in order.
    public mutating func gatewayChannels(of shard: ShardID) -> [ChannelView<GatewayID>] {
        places[shard.number].replica?.state?.gatewayViews() ?? []
    }

    /// The shard's ends of its channels with other shards, in order.
    public mutating func shardChannels(of shard: ShardID) -> [ChannelView<ShardID>] {
        places[shard.number].replica?.state?.peerViews() ?? []
    }

    /// The entry to which an item belongs that a gateway has not taken; nil: there is none with this number.
    public mutating func entry(of number: UInt64, from shard: ShardID, for gateway: GatewayID) -> UInt64? {
        places[shard.number].replica?.state?.entry(of: number, for: gateway)
    }

    /// The entry to which a command belongs that another shard has not taken.
    public mutating func entry(of number: UInt64, from shard: ShardID, for other: ShardID) -> UInt64? {
        places[shard.number].replica?.state?.entry(of: number, for: other)
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

extension ShardState {
    mutating func currentMachine() -> Machine { machine }
    mutating func currentDigest() -> UInt64 { digest() }

    mutating func entry(of number: UInt64, for gateway: GatewayID) -> UInt64? {
        gateways[gateway]?.outbox[number]?.index
    }

    mutating func entry(of number: UInt64, for other: ShardID) -> UInt64? { peers[other]?.outbox[number]?.index }

    mutating func gatewayViews() -> [ChannelView<GatewayID>] {
        gateways.sorted { $0.key < $1.key }.map {
            ChannelView(
                other: $0.key, life: $0.value.session, accepted: $0.value.accepted, first: $0.value.outbox.first,
                last: $0.value.outbox.last, isLost: $0.value.isLost)
        }
    }

    mutating func peerViews() -> [ChannelView<ShardID>] {
        peers.sorted { $0.key < $1.key }.map {
            ChannelView(
                other: $0.key, life: $0.value.generation, accepted: $0.value.accepted, first: $0.value.outbox.first,
                last: $0.value.outbox.last)
        }
    }
}

extension Replica {
    mutating func currentEpoch() -> UInt64 { epoch }

    mutating func glance(told: ToldPoint?) -> ReplicaGlance {
        let kind: ReplicaView.Role =
            switch role {
            case .none: .none
            case .learner: .learner
            case .backup: .backup
            case .primary: .primary
            }
        return ReplicaGlance(
            role: kind, generation: state?.generation ?? 0, epoch: epoch, last: last, hash: hash, committed: committed,
            isStarted: isStarted, isOpen: isOpen, mayTell: mayTell, timeMs: state?.timeMs ?? 0,
            wallMs: state?.timeMs == nil ? 0 : state?.wallMs ?? 0, told: told)
    }
}

extension ShardPlace {
    mutating func noteTold(through index: UInt64) {
        let epoch = replica?.currentEpoch() ?? 0
        told = ToldPoint(generation: facts.generation ?? 0, epoch: epoch, index: index)
    }
}
