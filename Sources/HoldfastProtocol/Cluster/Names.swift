/// One of the virtual shards in which every entity lives: 1,024 for players and rooms, and 64 of their own for match
/// pools and the room directory. An entity's shard follows from its key alone, so any node addresses it without a
/// lookup.
public struct ShardID: Hashable, Comparable, Sendable {
    public static let entityShards = 1024
    public static let matchShards = 64
    public static let count = entityShards + matchShards

    public let number: Int

    public init(number: Int) {
        self.number = number
    }

    public static func < (a: ShardID, b: ShardID) -> Bool { a.number < b.number }
}

/// Which of the virtual shards share a log and a record. In a cluster each has its own; a simulation folds them into
/// few, so that each of these sees much.
public struct ShardLayout: Hashable, Sendable {
    public static let standard = ShardLayout(entityShards: ShardID.entityShards, matchShards: ShardID.matchShards)

    public let entityShards: Int
    public let matchShards: Int

    /// - Precondition: both are 1 at least.
    public init(entityShards: Int, matchShards: Int) {
        self.entityShards = entityShards
        self.matchShards = matchShards
    }

    public var count: Int { entityShards + matchShards }

    /// All shards that have a log.
    public var homes: [ShardID] { (0..<count).map(ShardID.init(number:)) }

    /// Whether the shard holds match pools and directories, which matchmaker nodes host.
    public func isMatch(_ home: ShardID) -> Bool { home.number >= entityShards }

    /// The shard in whose log a virtual shard's entities live.
    public func home(of shard: ShardID) -> ShardID {
        if shard.number < ShardID.entityShards { return ShardID(number: shard.number % entityShards) }
        return ShardID(number: entityShards + (shard.number - ShardID.entityShards) % matchShards)
    }
}

/// One process of a cluster. The same name with another incarnation is another node: it starts empty.
public struct NodeID: Hashable, Comparable, Sendable {
    public let name: String
    /// The revision of the coordinator at which the process registered: unique in a cluster, and greater for a later
    /// process.
    public let incarnation: UInt64

    public init(name: String, incarnation: UInt64) {
        self.name = name
        self.incarnation = incarnation
    }

    public static func < (a: NodeID, b: NodeID) -> Bool {
        a.name != b.name ? a.name < b.name : a.incarnation < b.incarnation
    }
}

/// Where links end: one loop of one process.
public struct GatewayID: Hashable, Comparable, Sendable {
    /// Of the process.
    public let incarnation: UInt64
    public let loop: UInt32

    public init(incarnation: UInt64, loop: UInt32) {
        self.incarnation = incarnation
        self.loop = loop
    }

    public static func < (a: GatewayID, b: GatewayID) -> Bool {
        a.incarnation != b.incarnation ? a.incarnation < b.incarnation : a.loop < b.loop
    }
}

/// Why what a gateway has with a shard is void.
public enum LinksLoss: Hashable, Sendable {
    /// All replicas of the shard were lost, and it has begun anew.
    case generation
    /// The shard counted this gateway as lost: its players there were dropped, and its rooms tell nothing here.
    case session
    /// The shard cannot be reached from here.
    case cutOff
}
