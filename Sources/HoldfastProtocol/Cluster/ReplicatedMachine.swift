/// A deterministic machine behind a shard's log: equal entries in equal order make equal states and equal effects,
/// whichever process applies them.
public protocol ReplicatedMachine: Sendable {
    associatedtype Command: ReplicatedCommand
    /// What goes to the links at a gateway.
    associatedtype Item: StateCodable
    /// What is set equally at all replicas, and is not part of the state.
    associatedtype Configuration: Sendable

    /// An empty shard.
    init(configuration: Configuration)
    /// A shard as another replica wrote it down.
    init(from reader: inout StateReader, configuration: Configuration) throws(StateError)
    func encode(into writer: inout StateWriter)
    /// Equal for equal states; cheap enough to be taken every few hundred entries, so that what is only appended to
    /// (a room's history) may stand in it by a sum that was kept along the way.
    func digest(into hash: inout StableHash)

    /// Fires all deadlines up to the entry's time, in order, and then does what the step says.
    mutating func apply(
        _ step: MachineStep<Command>, at place: EntryPlace, into effects: inout [MachineEffect<Command, Item>])

    /// When it must be given an entry at the latest, in shard time.
    mutating func nextDeadlineMs() -> Int64?
}

/// What a shard can be told by other shards and by gateways.
public protocol ReplicatedCommand: StateCodable {
    /// Where the entity lives to which it is addressed.
    var shard: ShardID { get }
    /// Whether applying it may draw random values; the others are given none.
    var drawsRandomness: Bool { get }
    /// Whether nobody waits for it: it travels to the backups with the next entry that somebody waits for.
    var isPatient: Bool { get }
}

public enum MachineStep<Command: Sendable>: Sendable {
    case command(Command)
    /// Nothing but to let deadlines fire.
    case tick
    /// Another primary goes on from here: presence deadlines (offline, resume) hold off for a while (design, rule 13).
    case epochStart
    /// All that lived in this shard (a home of the layout) is gone: its claims, seats and rooms here end.
    case shardLost(ShardID)
    /// The links of this gateway are gone: their players are dropped.
    case gatewayLost(GatewayID)
}

/// Time, place and randomness of a log entry.
public struct EntryPlace: Sendable {
    /// Grows by one with each entry, from 1.
    public let index: UInt64
    /// Shard time in milliseconds; never falls.
    public let timeMs: Int64
    /// Milliseconds since 1970, as clients are told; never falls.
    public let wallMs: Int64
    /// 128 bits; all zero when the command draws none.
    public let random: (UInt64, UInt64)

    public init(index: UInt64, timeMs: Int64, wallMs: Int64, random: (UInt64, UInt64)) {
        self.index = index
        self.timeMs = timeMs
        self.wallMs = wallMs
        self.random = random
    }
}

/// What leaves a machine by an entry, when that is committed.
public enum MachineEffect<Command: Sendable, Item: Sendable>: Sendable {
    /// For the shard that the command names.
    case command(Command)
    /// For links at this gateway.
    case deliver(GatewayID, Item)
}
