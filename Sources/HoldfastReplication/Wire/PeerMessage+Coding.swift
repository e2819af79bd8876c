public import HoldfastProtocol

// What goes between nodes, as bytes. Numbers are read as counters and times: no sum that a machine makes of one of them
// overflows, whatever a peer has sent.

extension ShardRecord: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(generation)
        writer.put(epoch)
        writer.put(primary)
        writer.put(backups)
        writer.put(handover)
        writer.put(rules)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        self.init(
            generation: try reader.counter(), epoch: try reader.counter(), primary: try reader.value(),
            backups: try reader.values(), handover: try reader.optional(NodeID.self), rules: try reader.uint32())
    }
}

extension VersionedRecord: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(record)
        writer.put(revision)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        self.init(try reader.value(), revision: try reader.counter())
    }
}

extension StateDigest: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(index)
        writer.put(fixed: value)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        self.init(index: try reader.counter(), value: try reader.fixed())
    }
}

extension ReplicaMessage: StateCodable {
    /// Of a snapshot: more than any state within `ReplicationSettings.snapshotBytes` has.
    static let mostParts = 1 << 24

    public func encode(into writer: inout StateWriter) {
        switch self {
        case .prepare(let first, let hashBefore, let entries, let committed):
            writer.put(kind: 0)
            writer.put(first)
            writer.put(fixed: hashBefore)
            writer.put(list: entries) { $0.put($1) }
            writer.put(committed)
        case .ack(let last, let hash, let digest):
            writer.put(kind: 1)
            writer.put(last)
            writer.put(fixed: hash)
            writer.put(digest)
        case .start(let record):
            writer.put(kind: 2)
            writer.put(record)
        case .position(let last, let hash, let tailFirst, let tail):
            writer.put(kind: 3)
            writer.put(last)
            writer.put(fixed: hash)
            writer.put(tailFirst)
            writer.put(list: tail) { $0.put($1) }
        case .refuse(let record):
            writer.put(kind: 4)
            writer.put(record)
        case .invite(let record):
            writer.put(kind: 5)
            writer.put(record)
        case .offer(let last, let hash):
            writer.put(kind: 6)
            writer.put(last)
            writer.put(fixed: hash)
        case .snapshot(let index, let hash, let part, let parts, let bytes):
            writer.put(kind: 7)
            writer.put(index)
            writer.put(fixed: hash)
            writer.put(Int64(part))
            writer.put(Int64(parts))
            writer.put(bytes)
        case .release(let record, let last):
            writer.put(kind: 8)
            writer.put(record)
            writer.put(last)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0:
            self = .prepare(
                first: try reader.counter(), hashBefore: try reader.fixed(), entries: try Self.entries(&reader),
                committed: try reader.counter())
        case 1: self = .ack(last: try reader.counter(), hash: try reader.fixed(), digest: try reader.optional())
        case 2: self = .start(try reader.value())
        case 3:
            self = .position(
                last: try reader.counter(), hash: try reader.fixed(), tailFirst: try reader.counter(),
                tail: try Self.entries(&reader))
        case 4: self = .refuse(try reader.optional())
        case 5: self = .invite(try reader.value())
        case 6: self = .offer(last: try reader.counter(), hash: try reader.fixed())
        case 7:
            let parts = 0...Self.mostParts
            self = .snapshot(
                index: try reader.counter(), hash: try reader.fixed(), part: try reader.int(in: parts),
                parts: try reader.int(in: parts), bytes: try reader.data())
        case 8: self = .release(try reader.value(), last: try reader.counter())
        default: throw .unknown(kind, of: "ReplicaMessage")
        }
    }

    private static func entries(_ reader: inout StateReader) throws(StateError) -> [[UInt8]] {
        try reader.list { (reader) throws(StateError) in try reader.data() }
    }
}

extension ChannelRefusal: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .notPrimary(let record):
            writer.put(kind: 0)
            writer.put(record)
        case .generation(let generation):
            writer.put(kind: 1)
            writer.put(generation)
        case .session(let session):
            writer.put(kind: 2)
            writer.put(session)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .notPrimary(try reader.optional())
        case 1: self = .generation(try reader.counter())
        case 2: self = .session(try reader.counter())
        default: throw .unknown(kind, of: "ChannelRefusal")
        }
    }
}

extension PeerMessage: StateCodable where Command: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .replica(let shard, let generation, let epoch, let message):
            writer.put(kind: 0)
            writer.put(shard)
            writer.put(generation)
            writer.put(epoch)
            writer.put(message)
        case .commands(let shard, let generation, let source, let first, let commands):
            writer.put(kind: 1)
            writer.put(shard)
            writer.put(generation)
            writer.put(source)
            writer.put(first)
            writer.put(list: commands) { $0.put($1) }
        case .commandsTaken(let shard, let generation, let source, let through):
            writer.put(kind: 2)
            writer.put(shard)
            writer.put(generation)
            writer.put(source)
            writer.put(through)
        case .commandsRefused(let shard, let source, let why):
            writer.put(kind: 3)
            writer.put(shard)
            writer.put(source)
            writer.put(why)
        case .items(let shard, let generation, let gateway, let session, let first, let items):
            writer.put(kind: 4)
            writer.put(shard)
            writer.put(generation)
            writer.put(gateway)
            writer.put(session)
            writer.put(first)
            writer.put(items)
        case .itemsTaken(let gateway, let session, let shard, let generation, let through):
            writer.put(kind: 5)
            writer.put(gateway)
            writer.put(session)
            writer.put(shard)
            writer.put(generation)
            writer.put(through)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0:
            self = .replica(
                try reader.value(), generation: try reader.counter(), epoch: try reader.counter(), try reader.value())
        case 1:
            self = .commands(
                to: try reader.value(), generation: try reader.counter(), from: try reader.value(),
                first: try reader.counter(), try reader.list { (reader) throws(StateError) in try reader.optional() })
        case 2:
            self = .commandsTaken(
                by: try reader.value(), generation: try reader.counter(), from: try reader.value(),
                through: try reader.counter())
        case 3: self = .commandsRefused(by: try reader.value(), from: try reader.value(), try reader.value())
        case 4:
            self = .items(
                from: try reader.value(), generation: try reader.counter(), to: try reader.value(),
                session: try reader.counter(), first: try reader.counter(), try reader.values())
        case 5:
            self = .itemsTaken(
                by: try reader.value(), session: try reader.counter(), of: try reader.value(),
                generation: try reader.counter(), through: try reader.counter())
        default: throw .unknown(kind, of: "PeerMessage")
        }
    }
}
