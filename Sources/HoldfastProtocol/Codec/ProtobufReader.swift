extension String {
    /// Nil when it is not UTF-8. Most is ASCII, which needs no more than a look at each byte; the standard library's
    /// own check takes several times as long for a short text.
    @inlinable
    init?(checking bytes: ArraySlice<UInt8>) {
        var all: UInt8 = 0
        for byte in bytes { all |= byte }
        if all < 0x80 {
            self = String(decoding: bytes, as: UTF8.self)
        } else if let text = String(validating: bytes, as: UTF8.self) {
            self = text
        } else {
            return nil
        }
    }
}

/// The Protobuf encoding, read as protobuf's own parsers do: unknown fields and known ones of another wire type are
/// skipped, the last scalar wins, a message given twice is merged, varints are cut to the width of their field.
struct ProtobufReader: FieldVisitor {
    private let bytes: [UInt8]
    private var position = 0
    /// Where the message being read ends.
    private var end: Int
    private var number = 0
    private var wire: Wire = .varint
    /// Whether somebody has read the present field; else it is skipped.
    private var taken = false
    private var level = 0

    /// The envelope's id as read so far; stands even when what follows is broken.
    private(set) var id: UInt32?
    /// The envelope's body as met so far, for the answer to a message that is broken inside it.
    private(set) var bodyName: StaticString?
    private var bodyNumber = 0

    /// Nested groups of unknown fields; the limit of protobuf's own parsers.
    private static let groupDepth = 100

    private enum Wire: UInt8 {
        case varint = 0
        case fixed64 = 1
        case delimited = 2
        case startGroup = 3
        case endGroup = 4
        case fixed32 = 5
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        end = bytes.count
    }

    /// A message that stands among other bytes.
    /// - Precondition: the range lies within them.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    mutating func readMessage<M: WireMessage>(_ message: inout M) throws(WireError) {
        level += 1
        while position < end {
            try readKey()
            if wire == .endGroup { throw WireError("a group ends at byte \(position) that never began") }
            taken = false
            try message.visit(&self)
            if !taken { try skip() }
        }
        level -= 1
    }

    // MARK: Pieces

    private mutating func readKey() throws(WireError) {
        let start = position
        let key = try readVarint()
        guard key <= UInt64(UInt32.max), key >> 3 != 0, let wire = Wire(rawValue: UInt8(key & 7)) else {
            throw WireError("byte \(start) begins no field: key \(key)")
        }
        number = Int(key >> 3)
        self.wire = wire
    }

    private mutating func readVarint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < end {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift += 7
            if shift > 63 { throw WireError("a varint of more than ten bytes ends at byte \(position)") }
        }
        throw WireError("the message ends inside a varint, at byte \(position)")
    }

    private mutating func readLength() throws(WireError) -> Int {
        let length = try readVarint()
        guard length <= UInt64(end - position) else {
            throw WireError("\(length) bytes are announced at byte \(position), \(end - position) are there")
        }
        return Int(length)
    }

    private mutating func skip(_ count: Int) throws(WireError) {
        guard count <= end - position else { throw WireError("the message ends inside a field, at byte \(position)") }
        position += count
    }

    /// Passes over the present field, groups included, without recursion.
    private mutating func skip() throws(WireError) {
        var groups: [Int] = []
        repeat {
            switch wire {
            case .varint: _ = try readVarint()
            case .fixed64: try skip(8)
            case .fixed32: try skip(4)
            case .delimited: try skip(readLength())
            case .startGroup:
                guard groups.count < Self.groupDepth else {
                    throw WireError("more than \(Self.groupDepth) nested groups at byte \(position)")
                }
                groups.append(number)
            case .endGroup:
                guard groups.popLast() == number else {
                    throw WireError("a group ends at byte \(position) that never began")
                }
            }
            if !groups.isEmpty { try readKey() }
        } while !groups.isEmpty
    }

    private mutating func readBytes() throws(WireError) -> ArraySlice<UInt8> {
        let length = try readLength()
        position += length
        return bytes[(position - length)..<position]
    }

    private mutating func readText(_ name: StaticString) throws(WireError) -> String {
        let raw = try readBytes()
        guard let text = String(checking: raw) else {
            throw WireError("expected UTF-8, got \(raw.count) bytes that are not")
        }
        return text
    }

    /// Reads a nested message into `message`; what follows it is left alone.
    private mutating func readNested<M: WireMessage>(_ message: inout M) throws(WireError) {
        let length = try readLength()
        let outer = end
        end = position + length
        try readMessage(&message)
        end = outer
        taken = true
    }

    private mutating func take(_ number: Int, _ wire: Wire) -> Bool {
        guard !taken, self.number == number, self.wire == wire else { return false }
        taken = true
        return true
    }

    private mutating func scalar(_ number: Int, _ name: StaticString) throws(WireError) -> UInt64? {
        guard take(number, .varint) else { return nil }
        do { return try readVarint() } catch { throw error.inside(name) }
    }

    private mutating func text(_ number: Int, _ name: StaticString) throws(WireError) -> String? {
        guard take(number, .delimited) else { return nil }
        do { return try readText(name) } catch { throw error.inside(name) }
    }

    // MARK: FieldVisitor

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        guard let raw = try scalar(number, name) else { return }
        value = UInt32(truncatingIfNeeded: raw)
        id = value
    }

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        if let raw = try scalar(number, name) { value = raw }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        if let raw = try scalar(number, name) { value = UInt32(truncatingIfNeeded: raw) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int32) throws(WireError) {
        if let raw = try scalar(number, name) { value = Int32(truncatingIfNeeded: raw) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        if let raw = try scalar(number, name) { value = raw }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int64) throws(WireError) {
        if let raw = try scalar(number, name) { value = Int64(bitPattern: raw) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Bool) throws(WireError) {
        if let raw = try scalar(number, name) { value = raw != 0 }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        if let text = try text(number, name) { value = text }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        guard take(number, .delimited) else { return }
        do { value = try [UInt8](readBytes()) } catch { throw error.inside(name) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String?) throws(WireError) {
        if let text = try text(number, name) { value = text }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String]) throws(WireError) {
        guard take(number, .delimited) else { return }
        do { try value.append(readText(name)) } catch { throw error.inside(name, value.count) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: String]) throws(WireError) {
        guard take(number, .delimited) else { return }
        var entry = MapEntry<String>()
        do { try readNested(&entry) } catch { throw error.inside(name) }
        value[entry.key] = entry.value
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: Int32]) throws(WireError) {
        guard take(number, .delimited) else { return }
        var entry = MapEntry<Int32>()
        do { try readNested(&entry) } catch { throw error.inside(name) }
        value[entry.key] = entry.value
    }

    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M?) throws(WireError) {
        guard take(number, .delimited) else { return }
        var message = value.take() ?? M()
        do { try readNested(&message) } catch { throw error.inside(name) }
        value = message
    }

    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout [M]) throws(WireError) {
        guard take(number, .delimited) else { return }
        var message = M()
        do { try readNested(&message) } catch { throw error.inside(name, value.count) }
        value.append(message)
    }

    mutating func oneof<O: WireOneof>(_ value: inout O?) throws(WireError) {
        if taken { return }
        if try O.read(&self, into: &value) { taken = true }
    }

    mutating func member<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M) throws(WireError) {
        do { try readNested(&value) } catch { throw error.inside(name) }
    }

    mutating func member(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        do { value = try readText(name) } catch { throw error.inside(name) }
    }

    mutating func member(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        do { value = try [UInt8](readBytes()) } catch { throw error.inside(name) }
    }

    mutating func matches(_ number: Int, _ name: StaticString) throws(WireError) -> Bool {
        guard self.number == number, wire == .delimited else { return false }
        guard level == 1 else { return true }
        // Protobuf itself lets the last body win; here two calls in one message are a fault.
        if bodyNumber != 0, bodyNumber != number {
            throw WireError(field: "\(name)", "expected one body, got another after \(bodyName ?? "it")")
        }
        bodyNumber = number
        bodyName = name
        return true
    }
}

/// One pair of a map, as Protobuf writes it.
private struct MapEntry<Value: MapValue>: WireMessage {
    var key = ""
    var value = Value()

    mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "key", &key)
        try value.show(&visitor)
    }
}

private protocol MapValue: Equatable, Sendable {
    init()
    mutating func show<V: FieldVisitor>(_ visitor: inout V) throws(WireError)
}

extension String: MapValue {
    fileprivate mutating func show<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(2, "value", &self)
    }
}

extension Int32: MapValue {
    fileprivate mutating func show<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(2, "value", &self)
    }
}
