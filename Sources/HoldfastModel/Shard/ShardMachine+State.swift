public import HoldfastProtocol

extension ShardMachine {
    public func encode(into writer: inout StateWriter) {
        writer.put(version: 1)
        Self.put(players, PlayerKey.isOrdered, into: &writer)
        Self.put(rooms, RoomKey.isOrdered, into: &writer)
        Self.put(pools, PoolKey.isOrdered, into: &writer)
        Self.put(directories, { ExactText($0) < ExactText($1) }, into: &writer)
        writer.put(deadlines)
        writer.put(fixed: firstNumber)
        writer.put(presenceHeldUntilMs)
    }

    private static func put<Key: Hashable>(
        _ entities: [Key: some StateCodable], _ isOrdered: (Key, Key) -> Bool, into writer: inout StateWriter
    ) {
        writer.put(entities.count)
        for key in entities.keys.sorted(by: isOrdered) {
            if let entity = entities[key] { writer.put(entity) }
        }
    }

    public init(from reader: inout StateReader, configuration: SharedLimits) throws(StateError) {
        try reader.version(1, of: "ShardMachine")
        self.init(configuration: configuration)
        players = try Self.entities(PlayerMachine.self, by: { $0.key }, PlayerKey.isOrdered, from: &reader)
        rooms = try Self.entities(RoomMachine.self, by: { $0.key }, RoomKey.isOrdered, from: &reader)
        pools = try Self.entities(PoolMachine.self, by: { $0.key }, PoolKey.isOrdered, from: &reader)
        directories = try Self.entities(
            DirectoryMachine.self, by: { $0.project }, { ExactText($0) < ExactText($1) }, from: &reader)
        deadlines = try reader.value()
        firstNumber = try reader.fixed()
        presenceHeldUntilMs = try reader.int64()
        try StateError.check(presenceHeldUntilMs <= 1 << 52, "ShardMachine: presence held for ever")
    }

    private static func entities<Key: Hashable, Entity: StateCodable>(
        _ type: Entity.Type, by key: (Entity) -> Key, _ isOrdered: (Key, Key) -> Bool, from reader: inout StateReader
    ) throws(StateError) -> [Key: Entity] {
        var entities: [Key: Entity] = [:]
        var last: Key?
        let total = try reader.count()
        for _ in 0..<total {
            let entity = try reader.value(Entity.self)
            let own = key(entity)
            if let last { try StateError.check(isOrdered(last, own), "\(Entity.self): out of order") }
            last = own
            entities[own] = entity
        }
        // Texts that look alike are one key.
        try StateError.check(entities.count == total, "\(Entity.self): one twice")
        return entities
    }

    /// Entities are summed up, so that they need no order; what a room keeps of its stream stands in it by a sum.
    public func digest(into hash: inout StableHash) {
        var writer = StateWriter(capacity: 1024)
        var sum: UInt64 = 0
        func add(_ change: (inout StableHash) -> Void) {
            var own = StableHash()
            change(&own)
            sum &+= own.value
        }
        for player in players.values { add { $0.mix(player, by: &writer) } }
        for room in rooms.values { add { room.digest(into: &$0, by: &writer) } }
        for pool in pools.values { add { $0.mix(pool, by: &writer) } }
        for directory in directories.values { add { $0.mix(directory, by: &writer) } }
        for count in [players.count, rooms.count, pools.count, directories.count] { hash.mix(whole: UInt64(count)) }
        hash.mix(whole: sum)
        hash.mix(deadlines, by: &writer)
        hash.mix(whole: firstNumber)
        hash.mix(whole: UInt64(bitPattern: presenceHeldUntilMs))
    }
}

extension StableHash {
    /// - Parameter writer: memory to write in.
    fileprivate mutating func mix(_ value: some StateCodable, by writer: inout StateWriter) {
        writer.removeAll()
        writer.put(value)
        mix(long: writer.bytes)
    }
}

extension ShardMachine.Entity: StateCodable {
    func encode(into writer: inout StateWriter) {
        switch self {
        case .player(let key):
            writer.put(kind: 0)
            writer.put(key)
        case .room(let key):
            writer.put(kind: 1)
            writer.put(key)
        case .pool(let key):
            writer.put(kind: 2)
            writer.put(key)
        }
    }

    init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .player(try reader.value())
        case 1: self = .room(try reader.value())
        case 2: self = .pool(try reader.value())
        default: throw .unknown(kind, of: "ShardMachine.Entity")
        }
    }
}
