/// The JSON mapping, read off the nodes of a scanned text, one key at a time.
struct JSONReader: FieldVisitor {
    let document: JSONDocument
    /// The nodes of the present key and its value.
    private var key = 0
    private var value = 0
    /// The present key without escapes.
    private var keyName: JSONKey
    /// Whether somebody has read the present key.
    private var taken = false
    /// The fields met in the present object: a field has two names, and may stand under one of them only.
    private var seen: UInt128 = 0
    private var level = 0
    /// Only looks for the envelope's id and body and reads no body.
    private let probing: Bool

    /// The first known body that was met, also when it is broken.
    private(set) var bodyName: StaticString?

    init(_ document: JSONDocument, probing: Bool = false) {
        self.document = document
        keyName = JSONKey(document.bytes, 0..<0)
        self.probing = probing
    }

    mutating func readRoot<M: WireMessage>(_ message: inout M) throws(WireError) {
        try readObject(&message, at: 0)
    }

    private mutating func readObject<M: WireMessage>(_ message: inout M, at node: Int) throws(WireError) {
        guard document.nodes[node].kind == .object else { throw document.error(node, "an object") }
        let outer = (key, value, seen)
        seen = 0
        level += 1
        let end = document.nodes[node].after
        var next = node + 1
        while next < end {
            key = next
            value = next + 1
            keyName = document.key(key)
            next = document.nodes[value].after
            taken = false
            do { try message.visit(&self) } catch { if !probing { throw error } }
        }
        level -= 1
        (key, value, seen) = outer
        taken = true
    }

    /// Whether the present key is this field's and has a value; `null` is none.
    private mutating func take(_ number: Int, _ name: StaticString) throws(WireError) -> Bool {
        guard !taken, keyName.names(name) else { return false }
        taken = true
        let bit: UInt128 = 1 << UInt128(number)
        guard seen & bit == 0 else { throw document.error(key, expected: "each key once, got \(name) again") }
        seen |= bit
        return document.nodes[value].kind != .null
    }

    private mutating func elements(_ kind: JSONNode.Kind) throws(WireError) -> Range<Int> {
        let node = document.nodes[value]
        guard node.kind == kind else {
            throw document.error(value, kind == .array ? "an array" : "an object")
        }
        return (value + 1)..<node.after
    }

    // MARK: FieldVisitor

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        guard try take(number, name) else { return }
        value = try document.integer(self.value, "a uint32", UInt32.self)
    }

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        try field(number, name, &value)
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        if try take(number, name) { value = try document.integer(self.value, "a uint32", UInt32.self) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int32) throws(WireError) {
        if try take(number, name) { value = try document.integer(self.value, "an int32", Int32.self) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        if try take(number, name) { value = try document.integer(self.value, "a uint64", UInt64.self) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int64) throws(WireError) {
        if try take(number, name) { value = try document.integer(self.value, "an int64", Int64.self) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Bool) throws(WireError) {
        if try take(number, name) { value = try document.bool(self.value) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        if try take(number, name) { value = try document.text(self.value) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        if try take(number, name) { value = try document.blob(self.value) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String?) throws(WireError) {
        if try take(number, name) { value = try document.text(self.value) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String]) throws(WireError) {
        guard try take(number, name) else { return }
        for node in try elements(.array) { try value.append(document.text(node)) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: String]) throws(WireError) {
        guard try take(number, name) else { return }
        let range = try elements(.object)
        for node in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            let entry = try document.text(node + 1)
            try insert(entry, node, into: &value)
        }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: Int32]) throws(WireError) {
        guard try take(number, name) else { return }
        let range = try elements(.object)
        for node in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            let entry = try document.integer(node + 1, "an int32", Int32.self)
            try insert(entry, node, into: &value)
        }
    }

    /// Keys that differ in bytes only, not in characters, are one key to a dictionary: refused, not lost.
    private func insert<T>(_ entry: T, _ node: Int, into map: inout [String: T]) throws(WireError) {
        guard map.updateValue(entry, forKey: try document.text(node)) == nil else {
            throw document.error(node, expected: "each key once, got this one again")
        }
    }

    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M?) throws(WireError) {
        guard try take(number, name) else { return }
        var message = M()
        try readObject(&message, at: self.value)
        value = message
    }

    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout [M]) throws(WireError) {
        guard try take(number, name) else { return }
        let range = try elements(.array)
        var node = range.lowerBound
        while node < range.upperBound {
            var message = M()
            try readObject(&message, at: node)
            value.append(message)
            node = document.nodes[node].after
        }
    }

    mutating func oneof<O: WireOneof>(_ value: inout O?) throws(WireError) {
        if taken { return }
        var present: O?
        guard try O.read(&self, into: &present) else { return }
        guard value == nil else { throw document.error(key, expected: "one of the alternatives, got a second one") }
        value = present
    }

    mutating func member<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M) throws(WireError) {
        if level == 1, bodyName == nil { bodyName = name }
        if !probing { try readObject(&value, at: self.value) }
    }

    mutating func member(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        value = try document.text(self.value)
    }

    mutating func member(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        value = try document.blob(self.value)
    }

    mutating func matches(_ number: Int, _ name: StaticString) throws(WireError) -> Bool { try take(number, name) }
}
