/// A message of `holdfast.proto`. Its one `visit` describes every field once; the Protobuf and JSON writers and
/// readers are visitors of that description, so the encodings cannot drift apart.
public protocol WireMessage: Equatable, Sendable {
    init()
    /// Shows every field to the visitor, in the order of field numbers.
    /// - Throws: what a reading visitor found wrong; writers never throw.
    mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError)
}

/// The alternatives of a `oneof`.
public protocol WireOneof: Equatable, Sendable {
    /// Shows the alternative that is present.
    func write<V: FieldVisitor>(_ visitor: inout V) throws(WireError)
    /// Reads the alternative that the visitor's present field names; false when it names none of them. A message that
    /// is already `present` as the same alternative goes on being read, as Protobuf merges.
    static func read<V: FieldVisitor>(_ visitor: inout V, into present: inout Self?) throws(WireError) -> Bool
}

/// One encoding in one direction. `field` shows a plain field (proto3: absent means default), `envelope` one that
/// JSON leaves out at 0, `member` an alternative of a `oneof` (written even at its default).
public protocol FieldVisitor {
    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError)
    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError)

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int32) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int64) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Bool) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String?) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String]) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: String]) throws(WireError)
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: Int32]) throws(WireError)
    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M?) throws(WireError)
    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout [M]) throws(WireError)

    mutating func oneof<O: WireOneof>(_ value: inout O?) throws(WireError)
    mutating func member<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M) throws(WireError)
    mutating func member(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError)
    mutating func member(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError)
    /// Whether a reader's present field is this one; always false for a writer.
    mutating func matches(_ number: Int, _ name: StaticString) throws(WireError) -> Bool
}

/// Why bytes are not a message: what stands in the error 11 that answers them.
public struct WireError: Error, Equatable, Sendable {
    /// The path of the field, as `createRoom.room.maxPlayerCount` or `frames.frames[2].id`; empty when it is the whole
    /// message.
    public private(set) var field: String
    /// What was expected and what came.
    public let detail: String

    /// For a developer to read: names the field, what was expected and what came.
    public var message: String { field.isEmpty ? detail : "\(field): \(detail)" }

    public init(_ message: String) {
        field = ""
        detail = message
    }

    public init(field: String, _ detail: String) {
        self.field = field
        self.detail = detail
    }

    /// The same fault, seen from the message one level up.
    func inside(_ name: StaticString, _ index: Int? = nil) -> WireError {
        var outer = self
        let own = index.map { "\(name)[\($0)]" } ?? "\(name)"
        outer.field = field.isEmpty ? own : "\(own).\(field)"
        return outer
    }
}

/// Gives a message without fields a size: the thread sanitizer of Swift 6.3 crashes where a generic function takes an
/// `inout` value of size 0.
struct Occupied: Equatable, Sendable {
    private var byte: UInt8 = 0
}
