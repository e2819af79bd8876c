/// Writes whole numbers as LEB128 (signed ones in zigzag), texts, bytes and lists behind their length.
public struct StateWriter: Sendable {
    @usableFromInline var storage: [UInt8]

    @inlinable
    public init() { storage = [] }

    /// - Parameter capacity: bytes for which there is room before anything has to be moved.
    @inlinable
    public init(capacity: Int) {
        storage = []
        storage.reserveCapacity(capacity)
    }

    @inlinable
    public var bytes: [UInt8] { storage }

    /// Begins anew in the same memory.
    @inlinable
    public mutating func removeAll() { storage.removeAll(keepingCapacity: true) }

    // MARK: Numbers

    @inlinable
    public mutating func put(_ value: UInt8) { storage.append(value) }

    /// Which alternative of an enum follows.
    @inlinable
    public mutating func put(kind: UInt8) { storage.append(kind) }

    /// In which form what follows is written.
    @inlinable
    public mutating func put(version: UInt8) { storage.append(version) }

    @inlinable
    public mutating func put(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            storage.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        storage.append(UInt8(truncatingIfNeeded: rest))
    }

    @inlinable
    public mutating func put(_ value: UInt32) { put(UInt64(value)) }

    /// - Precondition: not negative.
    @inlinable
    public mutating func put(_ value: Int) { put(UInt64(value)) }

    @inlinable
    public mutating func put(_ value: Int64) { put(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }

    @inlinable
    public mutating func put(_ value: Int32) { put(Int64(value)) }

    @inlinable
    public mutating func put(_ value: Bool) { storage.append(value ? 1 : 0) }

    /// Eight bytes, for numbers that are random.
    @inlinable
    public mutating func put(fixed value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { storage.append(contentsOf: $0) }
    }

    @inlinable
    public mutating func put(_ value: Double) { put(fixed: value.bitPattern) }

    // MARK: What has a length

    @inlinable
    public mutating func put(_ value: String) {
        put(value.utf8.count)
        storage.append(contentsOf: value.utf8)
    }

    @inlinable
    public mutating func put(_ value: [UInt8]) {
        put(value.count)
        storage.append(contentsOf: value)
    }

    @inlinable
    public mutating func put<Value: StateCodable>(_ values: [Value]) {
        put(values.count)
        for value in values { value.encode(into: &self) }
    }

    @inlinable
    public mutating func put<Element>(list: some Collection<Element>, _ write: (inout StateWriter, Element) -> Void) {
        put(list.count)
        for element in list { write(&self, element) }
    }

    /// A dictionary, in the order of its keys' bytes.
    @inlinable
    public mutating func put<Value>(
        sorted entries: [String: Value], _ write: (inout StateWriter, Value) -> Void
    ) {
        put(entries.count)
        for key in entries.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            guard let value = entries[key] else { continue }
            put(key)
            write(&self, value)
        }
    }

    /// A set, in the order of its members' bytes.
    @inlinable
    public mutating func put(sorted members: Set<String>) {
        put(members.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    }

    // MARK: Values

    @inlinable
    public mutating func put<Value: StateCodable>(_ value: Value) { value.encode(into: &self) }

    @inlinable
    public mutating func put<Value: StateCodable>(_ value: Value?) {
        put(value != nil)
        if let value { value.encode(into: &self) }
    }

    @inlinable
    public mutating func put<Value>(_ value: Value?, _ write: (inout StateWriter, Value) -> Void) {
        put(value != nil)
        if let value { write(&self, value) }
    }

    // MARK: Messages of the schema

    /// In Protobuf, behind its length.
    public mutating func put<Message: WireMessage>(message: Message) { write(message) }

    public mutating func put<Message: WireMessage>(message: Message?) {
        put(message != nil)
        if let message { write(message) }
    }

    // A caller in another module gets code made for what travels in numbers.

    public mutating func put(message: ClientMessage) { write(message) }
    public mutating func put(message: ServerMessage) { write(message) }
    public mutating func put(message: ErrorReply) { write(message) }
    public mutating func put(message: RoomConfig) { write(message) }
    public mutating func put(message: PlayerConfig) { write(message) }
    public mutating func put(message: RoomSummary) { write(message) }
    public mutating func put(message: FrameSyncInfo) { write(message) }
    public mutating func put(message: FrameInput) { write(message) }

    @inline(__always)
    private mutating func write<Message: WireMessage>(_ message: Message) {
        var message = message
        var writer = ProtobufWriter()
        swap(&writer.bytes, &storage)
        let start = writer.openLength()
        do {
            try message.visit(&writer)
        } catch {
            preconditionFailure("a writer has nothing to refuse: \(error.message)")
        }
        writer.close(start)
        swap(&writer.bytes, &storage)
    }
}
