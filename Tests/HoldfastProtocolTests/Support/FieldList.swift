import HoldfastProtocol

/// A field as the schema names it.
struct FieldFacts: Equatable, CustomStringConvertible {
    var number: Int
    /// As in JSON.
    var name: String
    /// As in the schema: `uint32`, `repeated string`, `map<string, int32>`, a message's name.
    var type: String
    var oneof: Bool

    var description: String { "\(type) \(name) = \(number)\(oneof ? " (oneof)" : "")" }
}

/// Writes down what a message's `visit` shows.
struct FieldList: FieldVisitor {
    private(set) var fields: [FieldFacts] = []
    private var alternative = -1
    private var inOneof = false

    static func of(_ type: any WireMessage.Type) throws -> [FieldFacts] {
        var list = FieldList()
        var message = type.init()
        try message.visit(&list)
        return list.fields
    }

    private init() {}

    private mutating func add(_ number: Int, _ name: StaticString, _ type: String) {
        fields.append(FieldFacts(number: number, name: "\(name)", type: type, oneof: inOneof))
    }

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        add(number, name, "uint32")
    }
    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        add(number, name, "uint64")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        add(number, name, "uint32")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int32) throws(WireError) {
        add(number, name, "int32")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        add(number, name, "uint64")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int64) throws(WireError) {
        add(number, name, "int64")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Bool) throws(WireError) {
        add(number, name, "bool")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        add(number, name, "string")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        add(number, name, "bytes")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String?) throws(WireError) {
        add(number, name, "optional string")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String]) throws(WireError) {
        add(number, name, "repeated string")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: String]) throws(WireError) {
        add(number, name, "map<string, string>")
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: Int32]) throws(WireError) {
        add(number, name, "map<string, int32>")
    }
    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M?) throws(WireError) {
        add(number, name, Schema.name(M.self))
    }
    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout [M]) throws(WireError) {
        add(number, name, "repeated " + Schema.name(M.self))
    }
    mutating func oneof<O: WireOneof>(_ value: inout O?) throws(WireError) {
        inOneof = true
        var next = 0
        repeat {
            alternative = next
            next += 1
        } while try O.read(&self, into: &value)
        inOneof = false
    }
    mutating func member<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M) throws(WireError) {
        add(number, name, Schema.name(M.self))
    }
    mutating func member(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        add(number, name, "string")
    }
    mutating func member(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        add(number, name, "bytes")
    }
    mutating func matches(_ number: Int, _ name: StaticString) throws(WireError) -> Bool {
        alternative -= 1
        return alternative == -1
    }
}
