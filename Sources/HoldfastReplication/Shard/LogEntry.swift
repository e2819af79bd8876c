public import HoldfastProtocol

/// One place in a shard's log.
public struct LogEntry<Command: ReplicatedCommand>: Sendable {
    /// Grows by one with each entry, from 1.
    public let index: UInt64
    /// Shard time; never falls.
    public let timeMs: Int64
    /// All zero when the body draws none.
    public let random: (UInt64, UInt64)
    /// What receivers have taken out of this shard's outboxes since the entry before.
    public let receipts: [ChannelReceipt]
    public let body: EntryBody<Command>

    public init(
        index: UInt64, timeMs: Int64, random: (UInt64, UInt64), receipts: [ChannelReceipt], body: EntryBody<Command>
    ) {
        self.index = index
        self.timeMs = timeMs
        self.random = random
        self.receipts = receipts
        self.body = body
    }
}

public enum EntryBody<Command: ReplicatedCommand>: Sendable {
    /// The first entry of a primary. The first of all sets the shard's wall time by `wallMs` (since 1970).
    case epochStart(epoch: UInt64, wallMs: Int64)
    /// Nothing but to let deadlines fire.
    case tick
    /// The next command of a channel.
    case command(ChannelSource, number: UInt64, Command)
    /// The next command of a channel, which must not be done: primaries died of it.
    case emptied(ChannelSource, number: UInt64)
    /// Another shard has begun anew, with this generation.
    case shardLost(ShardID, generation: UInt64)
    /// A gateway is lost for this shard; if it comes back, with this session or a later one.
    case gatewayLost(GatewayID, session: UInt64)
    /// The gateway's process will never come back.
    case gatewayGone(GatewayID)
}

/// Up to where a receiver has taken what a channel brought it.
public enum ChannelReceipt: Hashable, Sendable {
    case gateway(GatewayID, session: UInt64, through: UInt64)
    case shard(ShardID, generation: UInt64, through: UInt64)
}

// MARK: - Encoding

extension LogEntry: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(index)
        writer.put(timeMs)
        let isRandom = random != (0, 0)
        writer.put(isRandom)
        if isRandom {
            writer.put(fixed: random.0)
            writer.put(fixed: random.1)
        }
        writer.put(receipts)
        writer.put(body)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        index = try reader.counter()
        timeMs = try reader.time()
        random = try reader.bool() ? (try reader.fixed(), try reader.fixed()) : (0, 0)
        receipts = try reader.values()
        body = try reader.value()
    }
}

extension EntryBody: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .epochStart(let epoch, let wallMs):
            writer.put(0 as UInt8)
            writer.put(epoch)
            writer.put(wallMs)
        case .tick: writer.put(1 as UInt8)
        case .command(let source, let number, let command):
            writer.put(2 as UInt8)
            writer.put(source)
            writer.put(number)
            writer.put(command)
        case .emptied(let source, let number):
            writer.put(3 as UInt8)
            writer.put(source)
            writer.put(number)
        case .shardLost(let shard, let generation):
            writer.put(4 as UInt8)
            writer.put(shard)
            writer.put(generation)
        case .gatewayLost(let gateway, let session):
            writer.put(5 as UInt8)
            writer.put(gateway)
            writer.put(session)
        case .gatewayGone(let gateway):
            writer.put(6 as UInt8)
            writer.put(gateway)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        switch try reader.byte() {
        case 0: self = .epochStart(epoch: try reader.counter(), wallMs: try reader.time())
        case 1: self = .tick
        case 2: self = .command(try reader.value(), number: try reader.counter(), try reader.value())
        case 3: self = .emptied(try reader.value(), number: try reader.counter())
        case 4: self = .shardLost(try reader.value(), generation: try reader.counter())
        case 5: self = .gatewayLost(try reader.value(), session: try reader.counter())
        case 6: self = .gatewayGone(try reader.value())
        case let kind: throw StateError("no kind of entry: \(kind)")
        }
    }
}

extension ChannelReceipt: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .gateway(let gateway, let session, let through):
            writer.put(0 as UInt8)
            writer.put(gateway)
            writer.put(session)
            writer.put(through)
        case .shard(let shard, let generation, let through):
            writer.put(1 as UInt8)
            writer.put(shard)
            writer.put(generation)
            writer.put(through)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        switch try reader.byte() {
        case 0:
            self = .gateway(try reader.value(), session: try reader.counter(), through: try reader.counter())
        case 1: self = .shard(try reader.value(), generation: try reader.counter(), through: try reader.counter())
        case let kind: throw StateError("no kind of receipt: \(kind)")
        }
    }
}

extension ChannelSource: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .gateway(let gateway, let session):
            writer.put(0 as UInt8)
            writer.put(gateway)
            writer.put(session)
        case .shard(let shard, let generation):
            writer.put(1 as UInt8)
            writer.put(shard)
            writer.put(generation)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        switch try reader.byte() {
        case 0: self = .gateway(try reader.value(), session: try reader.counter())
        case 1: self = .shard(try reader.value(), generation: try reader.counter())
        case let kind: throw StateError("no kind of source: \(kind)")
        }
    }
}
