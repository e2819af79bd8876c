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

    /// Bytes of a version, or of an alternative, that this program does not know.
    public static func unknown(_ kind: UInt8, of type: String) -> StateError {
        StateError("\(type): no kind \(kind) is known")
    }
}

/// FNV-1a, 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/): equal in every process and version, unlike Swift's
/// own hashes.
public struct StableHash: Sendable {
    @usableFromInline var state: UInt64 = 0xcbf2_9ce4_8422_2325

    @inlinable
    public init() {}

    /// Goes on from where another one was.
    @inlinable
    public init(value: UInt64) { state = value }

    @inlinable
    public var value: UInt64 { state }

    @inlinable
    public mutating func mix(_ byte: UInt8) {
        state = (state ^ UInt64(byte)) &* Self.prime
    }

    @inlinable
    public mutating func mix(_ bytes: some Sequence<UInt8>) {
        var state = state
        for byte in bytes { state = (state ^ UInt64(byte)) &* Self.prime }
        self.state = state
    }

    @inlinable
    public mutating func mix(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { mix(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    /// Eight bytes at a time, for long contents of which only equality counts: several times as fast, and another value
    /// than the one of `mix`.
    @inlinable
    public mutating func mix(long bytes: [UInt8]) {
        var state = state ^ UInt64(bytes.count)
        var position = 0
        while position + 8 <= bytes.count {
            var word: UInt64 = 0
            for i in 0..<8 { word |= UInt64(bytes[position + i]) << UInt64(8 * i) }
            state = Self.stir(state, word)
            position += 8
        }
        var rest: UInt64 = 0
        while position < bytes.count {
            rest = rest << 8 | UInt64(bytes[position])
            position += 1
        }
        self.state = Self.stir(state, rest)
    }

    /// One number, as `mix(long:)` takes eight bytes.
    @inlinable
    public mutating func mix(whole number: UInt64) { state = Self.stir(state, number) }

    @usableFromInline static var prime: UInt64 { 0x100_0000_01b3 }

    /// FNV's step for a word. Its product carries upwards only, so the high bits are folded down each time.
    @inlinable
    @inline(__always)
    static func stir(_ state: UInt64, _ word: UInt64) -> UInt64 {
        let product = (state ^ word) &* 0x9e37_79b9_7f4a_7c15
        return product ^ (product >> 32)
    }
}

// MARK: - What codes itself

extension UInt64: StateCodable {
    @inlinable
    public func encode(into writer: inout StateWriter) { writer.put(self) }
    @inlinable
    public init(from reader: inout StateReader) throws(StateError) { self = try reader.number() }
}

extension UInt32: StateCodable {
    @inlinable
    public func encode(into writer: inout StateWriter) { writer.put(self) }
    @inlinable
    public init(from reader: inout StateReader) throws(StateError) { self = try reader.uint32() }
}

extension Int64: StateCodable {
    @inlinable
    public func encode(into writer: inout StateWriter) { writer.put(self) }
    @inlinable
    public init(from reader: inout StateReader) throws(StateError) { self = try reader.int64() }
}

extension String: StateCodable {
    @inlinable
    public func encode(into writer: inout StateWriter) { writer.put(self) }
    @inlinable
    public init(from reader: inout StateReader) throws(StateError) { self = try reader.text() }
}

extension Encoding: StateCodable {
    @inlinable
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .json: writer.put(kind: 0)
        case .protobuf: writer.put(kind: 1)
        }
    }

    @inlinable
    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .json
        case 1: self = .protobuf
        default: throw .unknown(kind, of: "Encoding")
        }
    }
}

extension ShardID: StateCodable {
    public func encode(into writer: inout StateWriter) { writer.put(number) }

    public init(from reader: inout StateReader) throws(StateError) {
        let number = try reader.int()
        guard number < Self.count else { throw StateError("no shard \(number)") }
        self.init(number: number)
    }
}

extension NodeID: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(name)
        writer.put(incarnation)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let name = try reader.text()
        self.init(name: name, incarnation: try reader.number())
    }
}

extension GatewayID: StateCodable {
    @inlinable
    public func encode(into writer: inout StateWriter) {
        writer.put(incarnation)
        writer.put(loop)
    }

    @inlinable
    public init(from reader: inout StateReader) throws(StateError) {
        let incarnation = try reader.number()
        self.init(incarnation: incarnation, loop: try reader.uint32())
    }
}
