/// Reads what a `StateWriter` wrote, and refuses everything else.
public struct StateReader: Sendable {
    @usableFromInline let bytes: [UInt8]
    @usableFromInline var position: Int

    @inlinable
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = 0
    }

    @inlinable
    public var isAtEnd: Bool { position == bytes.count }

    /// - Throws: when something is left.
    @inlinable
    public func finish() throws(StateError) {
        if !isAtEnd { throw fault("bytes too many") }
    }

    @usableFromInline
    @inline(never)
    func fault(_ what: StaticString) -> StateError { StateError("\(what) at \(position) of \(bytes.count)") }

    /// - Throws: when it is not the one version that is known.
    @inlinable
    public mutating func version(_ known: UInt8, of type: StaticString) throws(StateError) {
        let found = try byte()
        if found != known { throw StateError("\(type): version \(found) is not known, \(known) is") }
    }

    // MARK: Numbers

    @inlinable
    public mutating func byte() throws(StateError) -> UInt8 {
        guard position < bytes.count else { throw fault("cut off") }
        defer { position += 1 }
        return bytes[position]
    }

    @inlinable
    public mutating func number() throws(StateError) -> UInt64 {
        guard position < bytes.count else { throw fault("cut off") }
        let first = bytes[position]
        if first < 0x80 {
            position += 1
            return UInt64(first)
        }
        return try longNumber()
    }

    @usableFromInline
    mutating func longNumber() throws(StateError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let next = try byte()
            guard shift < 63 || shift == 63 && next <= 1 else { throw fault("number too large") }
            value |= UInt64(next & 0x7f) << shift
            if next & 0x80 == 0 { return value }
            shift += 7
        }
    }

    @inlinable
    public mutating func uint32() throws(StateError) -> UInt32 {
        guard let value = UInt32(exactly: try number()) else { throw fault("over 32 bits") }
        return value
    }

    @inlinable
    public mutating func int() throws(StateError) -> Int {
        guard let value = Int(exactly: try number()) else { throw fault("over 63 bits") }
        return value
    }

    @inlinable
    public mutating func int64() throws(StateError) -> Int64 {
        let raw = try number()
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    @inlinable
    public mutating func int32() throws(StateError) -> Int32 {
        guard let value = Int32(exactly: try int64()) else { throw fault("over 32 bits") }
        return value
    }

    @inlinable
    public mutating func bool() throws(StateError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw fault("no truth value")
        }
    }

    @inlinable
    public mutating func fixed() throws(StateError) -> UInt64 {
        guard bytes.count - position >= 8 else { throw fault("cut off") }
        var value: UInt64 = 0
        for i in 0..<8 { value |= UInt64(bytes[position + i]) << UInt64(8 * i) }
        position += 8
        return value
    }

    @inlinable
    public mutating func double() throws(StateError) -> Double { Double(bitPattern: try fixed()) }

    // MARK: Numbers that are reckoned with

    /// A time in milliseconds: far enough from the ends that no sum or product that the machines make of it overflows.
    @inlinable
    public mutating func time() throws(StateError) -> Int64 {
        let value = try int64()
        guard value.magnitude <= 1 << 52 else { throw fault("no time") }
        return value
    }

    /// A number that grows by one at a time, and can go on doing so.
    @inlinable
    public mutating func counter() throws(StateError) -> UInt64 {
        let value = try number()
        guard value <= 1 << 62 else { throw fault("no counter") }
        return value
    }

    /// A number within bounds.
    @inlinable
    public mutating func int(in bounds: ClosedRange<Int>) throws(StateError) -> Int {
        guard let value = Int(exactly: try int64()), bounds.contains(value) else { throw fault("out of bounds") }
        return value
    }

    // MARK: What has a length

    /// A count of anything: never more than there are bytes left, so that no length makes much of nothing.
    @inlinable
    public mutating func count() throws(StateError) -> Int {
        let value = try number()
        guard value <= UInt64(bytes.count - position) else { throw fault("too long") }
        return Int(value)
    }

    @inlinable
    public mutating func data() throws(StateError) -> [UInt8] {
        let length = try count()
        defer { position += length }
        return Array(bytes[position..<position + length])
    }

    @inlinable
    public mutating func text() throws(StateError) -> String {
        let length = try count()
        let raw = bytes[position..<position + length]
        guard let text = String(checking: raw) else { throw fault("not UTF-8") }
        position += length
        return text
    }

    @inlinable
    public mutating func list<Element>(
        _ read: (inout StateReader) throws(StateError) -> Element
    ) throws(StateError) -> [Element] {
        let total = try count()
        var elements: [Element] = []
        // What is announced is not there yet.
        elements.reserveCapacity(min(total, 64))
        for _ in 0..<total { elements.append(try read(&self)) }
        return elements
    }

    @inlinable
    public mutating func values<Value: StateCodable>(_ type: Value.Type = Value.self) throws(StateError) -> [Value] {
        try list { (reader) throws(StateError) in try Value(from: &reader) }
    }

    /// A dictionary, whose keys must come in the order of their bytes, each once.
    @inlinable
    public mutating func sorted<Value>(
        _ read: (inout StateReader) throws(StateError) -> Value
    ) throws(StateError) -> [String: Value] {
        let total = try count()
        var entries: [String: Value] = [:]
        var last: String?
        for _ in 0..<total {
            let key = try text()
            try follow(&last, key)
            entries[key] = try read(&self)
        }
        // Texts that look alike are one key.
        guard entries.count == total else { throw fault("a key twice") }
        return entries
    }

    /// A set, whose members must come in the order of their bytes, each once.
    @inlinable
    public mutating func sortedSet() throws(StateError) -> Set<String> {
        let total = try count()
        var members: Set<String> = []
        var last: String?
        for _ in 0..<total {
            let member = try text()
            try follow(&last, member)
            members.insert(member)
        }
        guard members.count == total else { throw fault("a member twice") }
        return members
    }

    @usableFromInline
    func follow(_ last: inout String?, _ next: String) throws(StateError) {
        if let last, !last.utf8.lexicographicallyPrecedes(next.utf8) { throw fault("out of order") }
        last = next
    }

    // MARK: Values

    @inlinable
    public mutating func value<Value: StateCodable>(_ type: Value.Type = Value.self) throws(StateError) -> Value {
        try Value(from: &self)
    }

    @inlinable
    public mutating func optional<Value: StateCodable>(
        _ type: Value.Type = Value.self
    ) throws(StateError) -> Value? {
        try bool() ? try Value(from: &self) : nil
    }

    @inlinable
    public mutating func optional<Value>(
        _ read: (inout StateReader) throws(StateError) -> Value
    ) throws(StateError) -> Value? {
        try bool() ? try read(&self) : nil
    }

    // MARK: Messages of the schema

    public mutating func message<Message: WireMessage>(
        _ type: Message.Type = Message.self
    ) throws(StateError) -> Message {
        try read()
    }

    public mutating func optionalMessage<Message: WireMessage>(
        _ type: Message.Type = Message.self
    ) throws(StateError) -> Message? {
        try bool() ? try read() : nil
    }

    // A caller in another module gets code made for what travels in numbers.

    public mutating func message(_ type: ClientMessage.Type) throws(StateError) -> ClientMessage { try read() }
    public mutating func message(_ type: ServerMessage.Type) throws(StateError) -> ServerMessage { try read() }
    public mutating func message(_ type: ErrorReply.Type) throws(StateError) -> ErrorReply { try read() }
    public mutating func message(_ type: RoomConfig.Type) throws(StateError) -> RoomConfig { try read() }
    public mutating func message(_ type: PlayerConfig.Type) throws(StateError) -> PlayerConfig { try read() }

    @inline(__always)
    private mutating func read<Message: WireMessage>() throws(StateError) -> Message {
        let length = try count()
        var message = Message()
        var reader = ProtobufReader(bytes, position..<position + length)
        do {
            try reader.readMessage(&message)
        } catch {
            throw StateError(error.message)
        }
        position += length
        return message
    }
}
