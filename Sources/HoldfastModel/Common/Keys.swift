/// A player of a project. Ids are unique only within their project.
public struct PlayerKey: Hashable, Sendable {
    public let project: String
    public let id: String
    /// Follows from the rest, and is asked for at each step.
    public let shard: ShardID

    public init(project: String, id: String) {
        self.project = project
        self.id = id
        shard = ShardID(ofPlayer: id, project: project)
    }

    public static func == (a: PlayerKey, b: PlayerKey) -> Bool { a.id == b.id && a.project == b.project }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A room of a project.
public struct RoomKey: Hashable, Sendable {
    public let project: String
    public let id: String
    /// Follows from the rest, and is asked for at each step.
    public let shard: ShardID

    public init(project: String, id: String) {
        self.project = project
        self.id = id
        shard = ShardID(ofRoom: id, project: project)
    }

    public static func == (a: RoomKey, b: RoomKey) -> Bool { a.id == b.id && a.project == b.project }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Callers and rooms with an equal pool key are matched with each other.
public struct PoolKey: Hashable, Sendable {
    public let project: String
    public let type: ExactText
    public let maxPlayerCount: UInt32
    /// Sorted by key, so that equal parameters are equal keys.
    public let params: [MatchParam]

    public init(project: String, type: String, maxPlayerCount: UInt32, params: [String: String]) {
        self.project = project
        self.type = ExactText(type)
        self.maxPlayerCount = maxPlayerCount
        self.params =
            params.map { MatchParam(key: ExactText($0.key), value: ExactText($0.value)) }.sorted { $0.key < $1.key }
    }
}

public struct MatchParam: Hashable, Sendable {
    public let key: ExactText
    public let value: ExactText
}

/// Text that is equal only byte by byte. Swift's own strings are equal when they look alike ("é" however it is
/// composed), which two clients that send different bytes do not expect.
public struct ExactText: Hashable, Comparable, Sendable {
    public let text: String

    public init(_ text: String) { self.text = text }

    public static func == (a: ExactText, b: ExactText) -> Bool { a.text.utf8.elementsEqual(b.text.utf8) }
    public static func < (a: ExactText, b: ExactText) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(0xff as UInt8)
    }
}

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

    init(ofPlayer id: String, project: String) {
        var hash = StableHash()
        hash.mix("player")
        hash.mix(project)
        hash.mix(id)
        number = hash.bucket(of: Self.entityShards)
    }

    init(ofRoom id: String, project: String) {
        var hash = StableHash()
        hash.mix("room")
        hash.mix(project)
        hash.mix(id)
        number = hash.bucket(of: Self.entityShards)
    }

    public init(of pool: PoolKey) {
        var hash = StableHash()
        hash.mix("pool")
        hash.mix(pool.project)
        hash.mix(pool.type.text)
        hash.mix(String(pool.maxPlayerCount))
        for param in pool.params {
            hash.mix(param.key.text)
            hash.mix(param.value.text)
        }
        number = Self.entityShards + hash.bucket(of: Self.matchShards)
    }

    public init(ofDirectory project: String) {
        var hash = StableHash()
        hash.mix("directory")
        hash.mix(project)
        number = Self.entityShards + hash.bucket(of: Self.matchShards)
    }
}

/// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): equal in every process and version, unlike Swift's
/// own hashes. Each part is closed by its length, so that ("ab", "c") and ("a", "bc") differ.
struct StableHash {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    mutating func mix(_ text: String) {
        var count: UInt64 = 0
        for byte in text.utf8 {
            mix(byte)
            count += 1
        }
        for shift in stride(from: UInt64(0), to: 32, by: 8) { mix(UInt8(truncatingIfNeeded: count >> shift)) }
    }

    private mutating func mix(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    /// FNV's low bits are its best; folding the halves spreads the high ones too.
    func bucket(of count: Int) -> Int {
        Int((state ^ (state >> 32)) % UInt64(count))
    }
}
