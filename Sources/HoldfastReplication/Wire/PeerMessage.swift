public import HoldfastProtocol

/// From one replica of a shard to another. Each travels with shard, generation, epoch and sender.
public enum ReplicaMessage: Hashable, Sendable {
    /// Entries that follow each other, encoded, and up to where the log is committed. Without entries it carries only
    /// `committed`.
    case prepare(first: UInt64, hashBefore: UInt64, entries: [[UInt8]], committed: UInt64)
    /// The receiver's log ends here; cumulative. `digest`: of its state at the newest index where digests are taken.
    case ack(last: UInt64, hash: UInt64, digest: StateDigest?)
    /// A new primary gathers the logs of its members.
    case start(VersionedRecord)
    /// A member's log: where it ends, and its entries above what it knows as committed.
    case position(last: UInt64, hash: UInt64, tailFirst: UInt64, tail: [[UInt8]])
    /// The sender knows a higher epoch (or no such replica): read the record before you act.
    case refuse(VersionedRecord?)
    /// The primary would have the receiver as a backup.
    case invite(VersionedRecord)
    /// What a learner has to begin with; index 0: nothing.
    case offer(last: UInt64, hash: UInt64)
    /// A part of the state after entry `index`. Bulk.
    case snapshot(index: UInt64, hash: UInt64, part: Int, parts: Int, bytes: [UInt8])
    /// The primary that hands over by this record has told all up to here, and takes no more. The target need not read
    /// the record, which would close the shard for as long as etcd takes.
    case release(VersionedRecord, last: UInt64)
}

public struct StateDigest: Hashable, Sendable {
    public let index: UInt64
    public let value: UInt64

    public init(index: UInt64, value: UInt64) {
        self.index = index
        self.value = value
    }
}

/// Where numbered commands of a channel come from (design, rule 9).
public enum ChannelSource: Hashable, Sendable {
    /// `session` grows when a shard has counted the gateway as lost and it comes back.
    case gateway(GatewayID, session: UInt64)
    case shard(ShardID, generation: UInt64)
}

/// The first command that a channel has not had accepted, and why it was not.
public enum ChannelRefusal: Hashable, Sendable {
    /// The receiver is not this shard's primary, or not open yet; it may know a newer record.
    case notPrimary(VersionedRecord?)
    /// The shard has begun anew: all that was sent to the generation before is void.
    case generation(UInt64)
    /// The shard has counted this gateway as lost: its links there are void, and it begins again with this session.
    case session(UInt64)
}

/// What a shard has for a gateway.
public enum ChannelItem<Item: StateCodable>: StateCodable {
    case item(Item)
    /// The gateway's command with this number was passed over, because the gateway had emptied it and no primary had
    /// taken it before.
    case emptied(UInt64)

    public func encode(into writer: inout StateWriter) {
        switch self {
        case .item(let item):
            writer.put(0 as UInt8)
            writer.put(item)
        case .emptied(let number):
            writer.put(1 as UInt8)
            writer.put(number)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        switch try reader.byte() {
        case 0: self = .item(try reader.value())
        case 1: self = .emptied(try reader.counter())
        case let kind: throw StateError("no kind of item: \(kind)")
        }
    }
}

/// Everything that goes between nodes for shards and gateways.
public enum PeerMessage<Command: Sendable, Item: StateCodable>: Sendable {
    case replica(ShardID, generation: UInt64, epoch: UInt64, ReplicaMessage)
    /// Commands with the numbers `first`… ; nil: one that primaries died of, and that must not be done. `generation` is
    /// the receiver's, as the sender knows it.
    case commands(to: ShardID, generation: UInt64, from: ChannelSource, first: UInt64, [Command?])
    /// Commands up to `number` are taken and committed.
    case commandsTaken(by: ShardID, generation: UInt64, from: ChannelSource, through: UInt64)
    case commandsRefused(by: ShardID, from: ChannelSource, ChannelRefusal)
    /// What a shard has for a gateway's links, with the numbers `first`… .
    case items(from: ShardID, generation: UInt64, to: GatewayID, session: UInt64, first: UInt64, [ChannelItem<Item>])
    case itemsTaken(by: GatewayID, session: UInt64, of: ShardID, generation: UInt64, through: UInt64)
}
