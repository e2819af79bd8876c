/// A value that is kept in a shard's state or sent between the nodes of a cluster. Its bytes are a function of the
/// value alone: dictionaries are written in the order of their keys.
public protocol StateCodable: Sendable {
    func encode(into writer: inout StateWriter)
    /// - Throws: when the bytes are not such a value; never traps, whatever they are.
    init(from reader: inout StateReader) throws(StateError)
}

/// Why bytes are not a state.
public struct StateError: Error, Equatable, Sendable {
    public let message: String

    public init(_ message: String) {
        self.message = message
    }
}

/// Writes whole numbers as LEB128 (signed ones in zigzag), texts, bytes and lists behind their length.
public struct StateWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public mutating func put(_ value: UInt8) { bytes.append(value) }

    public mutating func put(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    public mutating func put(_ value: UInt32) { put(UInt64(value)) }
    /// - Precondition: not negative.
    public mutating func put(_ value: Int) { put(UInt64(value)) }
    public mutating func put(_ value: Int64) { put(UInt64(bitPattern: (value << 1) ^ (value >> 63))) }
    public mutating func put(_ value: Int32) { put(Int64(value)) }
    public mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

    /// Eight bytes, for numbers that are random.
    public mutating func put(fixed value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    public mutating func put(_ value: Double) { put(fixed: value.bitPattern) }

    public mutating func put(_ value: String) {
        put(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }

    public mutating func put(_ value: [UInt8]) {
        put(value.count)
        bytes.append(contentsOf: value)
    }

    public mutating func put<Value: StateCodable>(_ value: Value) { value.encode(into: &self) }

    public mutating func put<Value: StateCodable>(_ values: [Value]) {
        put(values.count)
        for value in values { value.encode(into: &self) }
    }

    public mutating func put<Value>(_ value: Value?, _ write: (inout StateWriter, Value) -> Void) {
        put(value != nil)
        if let value { write(&self, value) }
    }

    public mutating func put<Element>(list: some Collection<Element>, _ write: (inout StateWriter, Element) -> Void) {
        put(list.count)
        for element in list { write(&self, element) }
    }

    public mutating func put<Message: WireMessage>(message: Message) { put(Encoding.protobuf.encode(message)) }
}

/// Reads what a `StateWriter` wrote, and refuses everything else.
public struct StateReader: Sendable {
    private let bytes: [UInt8]
    private var position: Int

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
    }

    public var isAtEnd: Bool { position == bytes.count }

    /// - Throws: when something is left.
    public func finish() throws(StateError) {
        if !isAtEnd { throw StateError("\(bytes.count - position) bytes too many") }
    }

    public mutating func byte() throws(StateError) -> UInt8 {
        guard position < bytes.count else { throw StateError("cut off at \(position)") }
        defer { position += 1 }
        return bytes[position]
    }

    public mutating func number() throws(StateError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || shift == 63 && next <= 1 else { throw StateError("number too large at \(position)") }
            value |= UInt64(next & 0x7f) << shift
            if next & 0x80 == 0 { return value }
            shift += 7
        }
    }

    public mutating func uint32() throws(StateError) -> UInt32 {
        guard let value = UInt32(exactly: try number()) else { throw StateError("over 32 bits at \(position)") }
        return value
    }

    /// A count of anything: never more than there are bytes left, so that no length makes much of nothing.
    public mutating func count() throws(StateError) -> Int {
        let value = try number()
        guard value <= UInt64(bytes.count - position) else { throw StateError("too long at \(position)") }
        return Int(value)
    }

    public mutating func int() throws(StateError) -> Int {
        guard let value = Int(exactly: try number()) else { throw StateError("over 63 bits at \(position)") }
        return value
    }

    public mutating func int64() throws(StateError) -> Int64 {
        let raw = try number()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    public mutating func int32() throws(StateError) -> Int32 {
        guard let value = Int32(exactly: try int64()) else { throw StateError("over 32 bits at \(position)") }
        return value
    }

    public mutating func bool() throws(StateError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw StateError("no truth value at \(position)")
        }
    }

    public mutating func fixed() throws(StateError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { value |= UInt64(try byte()) << shift }
        return value
    }

    public mutating func double() throws(StateError) -> Double { Double(bitPattern: try fixed()) }

    public mutating func data() throws(StateError) -> [UInt8] {
        let length = try count()
        defer { position += length }
        return Array(bytes[position..<position + length])
    }

    public mutating func text() throws(StateError) -> String {
        let raw = try data()
        guard let text = String(validating: raw, as: UTF8.self) else { throw StateError("not UTF-8 at \(position)") }
        return text
    }

    public mutating func value<Value: StateCodable>(_ type: Value.Type = Value.self) throws(StateError) -> Value {
        try Value(from: &self)
    }

    public mutating func values<Value: StateCodable>(_ type: Value.Type = Value.self) throws(StateError) -> [Value] {
        try list { (reader) throws(StateError) in try Value(from: &reader) }
    }

    public mutating func optional<Value>(
        _ read: (inout StateReader) throws(StateError) -> Value
    ) throws(StateError) -> Value? {
        try bool() ? try read(&self) : nil
    }

    public mutating func list<Element>(
        _ read: (inout StateReader) throws(StateError) -> Element
    ) throws(StateError) -> [Element] {
        let total = try count()
        var elements: [Element] = []
        for _ in 0..<total { elements.append(try read(&self)) }
        return elements
    }

    public mutating func message<Message: WireMessage>(
        _ type: Message.Type = Message.self
    ) throws(StateError) -> Message {
        let raw = try data()
        do {
            return try Encoding.protobuf.decode(Message.self, from: raw)
        } catch {
            throw StateError(error.message)
        }
    }
}

/// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): equal in every process and version, unlike Swift's
/// own hashes.
public struct StableHash: Sendable {
    public private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    public init() {}

    public mutating func mix(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01b3
    }

    public mutating func mix(_ bytes: some Sequence<UInt8>) {
        var state = value
        for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
        value = state
    }

    public mutating func mix(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { mix(UInt8(truncatingIfNeeded: number >> shift)) }
    }
}
