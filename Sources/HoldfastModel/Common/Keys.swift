public import HoldfastProtocol

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

/// Where entities live: it follows from their keys alone.
extension ShardID {
    public init(of player: PlayerKey) { self = player.shard }

    public init(of room: RoomKey) { self = room.shard }

    init(ofPlayer id: String, project: String) {
        var hash = StableHash()
        hash.mix("player")
        hash.mix(project)
        hash.mix(id)
        self.init(number: hash.bucket(of: Self.entityShards))
    }

    init(ofRoom id: String, project: String) {
        var hash = StableHash()
        hash.mix("room")
        hash.mix(project)
        hash.mix(id)
        self.init(number: hash.bucket(of: Self.entityShards))
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
        self.init(number: Self.entityShards + hash.bucket(of: Self.matchShards))
    }

    public init(ofDirectory project: String) {
        var hash = StableHash()
        hash.mix("directory")
        hash.mix(project)
        self.init(number: Self.entityShards + hash.bucket(of: Self.matchShards))
    }
}

extension StableHash {
    /// Each part is closed by its length, so that ("ab", "c") and ("a", "bc") differ.
    mutating func mix(_ text: String) {
        mix(text.utf8)
        let count = UInt64(text.utf8.count)
        for shift in stride(from: UInt64(0), to: 32, by: 8) { mix(UInt8(truncatingIfNeeded: count >> shift)) }
    }

    /// FNV's low bits are its best; folding the halves spreads the high ones too.
    func bucket(of count: Int) -> Int {
        Int((value ^ (value >> 32)) % UInt64(count))
    }
}
