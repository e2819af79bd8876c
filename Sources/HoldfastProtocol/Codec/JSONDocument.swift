/// The text of a key, to be compared with the names of fields.
struct JSONKey {
    private let bytes: [UInt8]
    private let range: Range<Int>
    private let first: UInt8

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        self.range = range
        first = range.isEmpty ? 0 : bytes[range.lowerBound]
    }

    /// Whether this is the field's lowerCamelCase name, or the name that stands in the schema.
    @inline(__always)
    func names(_ name: StaticString) -> Bool {
        name.withUTF8Buffer { name in name.first == first && name.count <= range.count && isSame(name) }
    }

    private func isSame(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        var index = range.lowerBound
        for letter in name {
            guard index < range.upperBound else { return false }
            if bytes[index] == letter {
                index += 1
                continue
            }
            // `roomId` is `room_id` in the schema.
            guard letter & 0xe0 == 0x40, bytes[index] == UInt8(ascii: "_"), index + 1 < range.upperBound,
                bytes[index + 1] == letter | 0x20
            else { return false }
            index += 2
        }
        return index == range.upperBound
    }
}

/// A scanned JSON text and what its nodes say as values of the schema.
struct JSONDocument {
    let bytes: [UInt8]
    let nodes: [JSONNode]

    /// - Throws: why the bytes are no JSON text that may be read.
    init(scanning bytes: [UInt8], depth: Int) throws(WireError) {
        var scanner = JSONScanner(bytes)
        scanner.scan(depth: depth)
        if let fault = scanner.fault { throw fault }
        self.init(bytes: bytes, nodes: scanner.nodes)
        try check(tooDeep: scanner.tooDeep, depth: depth)
    }

    init(bytes: [UInt8], nodes: [JSONNode]) {
        self.bytes = bytes
        self.nodes = nodes
    }

    /// What is refused in a text that is JSON: too many levels, and a key twice.
    func check(tooDeep: Int?, depth: Int) throws(WireError) {
        if let tooDeep { throw error(tooDeep, expected: "at most \(depth) levels, got more") }
        if let key = repeatedKey() { throw error(key, expected: "each key once, got this one again") }
    }

    /// The id of a message's envelope when it can be told: 0 for an absent one, nil for one that is given twice or is
    /// no uint32.
    func envelopeId() -> UInt32? {
        guard nodes[0].kind == .object else { return nil }
        var id: UInt32 = 0
        var count = 0
        var key = 1
        while key < nodes[0].after {
            if self.key(key).names("id") {
                count += 1
                guard count == 1 else { return nil }
                if nodes[key + 1].kind != .null {
                    guard let value = try? integer(key + 1, "a uint32", UInt32.self) else { return nil }
                    id = value
                }
            }
            key = nodes[key + 1].after
        }
        return id
    }

    // MARK: Keys

    /// A key's text.
    func key(_ node: Int) -> JSONKey {
        let key = nodes[node]
        if key.kind == .string { return JSONKey(bytes, key.bytes) }
        let plain = JSONText.unescaped(bytes, key.bytes)
        return JSONKey(plain, plain.indices)
    }

    /// The first key that stands twice in one object, in known objects and others alike.
    func repeatedKey() -> Int? {
        for (index, node) in nodes.enumerated() where node.kind == .object {
            if let repeated = repeatedKey(in: index) { return repeated }
        }
        return nil
    }

    private func repeatedKey(in object: Int) -> Int? {
        let end = nodes[object].after
        var key = object + 1
        var count = 0
        // Few keys are compared with each other; many go through a table, so that a huge object costs no more than its
        // length.
        while key < end, count < 8 {
            var other = object + 1
            while other < key {
                if sameKey(other, key) { return key }
                other = nodes[other + 1].after
            }
            count += 1
            key = nodes[key + 1].after
        }
        return key < end ? repeatedKeyOfMany(in: object) : nil
    }

    private func repeatedKeyOfMany(in object: Int) -> Int? {
        var table: [Int: Int] = [:]
        var key = object + 1
        while key < nodes[object].after {
            if let other = table.updateValue(key, forKey: hash(key)), sameKey(other, key) { return key }
            key = nodes[key + 1].after
        }
        return nil
    }

    private func plain(_ node: Int) -> ArraySlice<UInt8> {
        let node = nodes[node]
        return node.kind == .escapedString ? JSONText.unescaped(bytes, node.bytes)[...] : bytes[node.bytes]
    }

    private func sameKey(_ one: Int, _ other: Int) -> Bool {
        let (left, right) = (nodes[one], nodes[other])
        if left.kind == .string, right.kind == .string, left.bytes.count != right.bytes.count { return false }
        return plain(one).elementsEqual(plain(other))
    }

    private func hash(_ node: Int) -> Int {
        var hasher = Hasher()
        hasher.combine(plain(node))
        return hasher.finalize()
    }

    // MARK: Values

    func integer<I: FixedWidthInteger>(_ node: Int, _ name: StaticString, _ type: I.Type) throws(WireError) -> I {
        switch whole(node) {
        case .value(let negative, let magnitude):
            let value = negative ? I(exactly: -Int128(magnitude)) : I(exactly: magnitude)
            if let value { return value }
        case .notWhole, .tooLarge, nil: break
        }
        throw error(node, "\(name) (a whole number from \(I.min) to \(I.max))")
    }

    private func whole(_ node: Int) -> JSONNumber.Whole? {
        let token = nodes[node]
        switch token.kind {
        case .number: return JSONNumber.whole(in: bytes, token.bytes)
        case .string, .escapedString:
            let digits = Array(plain(node))
            guard JSONNumber.end(in: digits, from: 0) == digits.count else { return nil }
            return JSONNumber.whole(in: digits, digits.indices)
        default: return nil
        }
    }

    func bool(_ node: Int) throws(WireError) -> Bool {
        switch nodes[node].kind {
        case .yes: return true
        case .no: return false
        default: throw error(node, "true or false")
        }
    }

    func text(_ node: Int) throws(WireError) -> String {
        guard nodes[node].isString else { throw error(node, "a string") }
        return String(decoding: plain(node), as: UTF8.self)
    }

    func blob(_ node: Int) throws(WireError) -> [UInt8] {
        guard nodes[node].isString, let data = Base64.decode(plain(node)) else { throw error(node, "bytes in base64") }
        return data
    }

    // MARK: Errors

    func error(_ node: Int, _ expected: String) -> WireError {
        error(node, expected: "\(expected), got \(describe(node))")
    }

    func error(_ node: Int, expected: String) -> WireError {
        WireError(field: path(to: node), "expected \(expected)")
    }

    private func describe(_ node: Int) -> String {
        let token = nodes[node]
        switch token.kind {
        case .object: return "an object"
        case .array: return "an array"
        case .null: return "null"
        case .yes: return "true"
        case .no: return "false"
        case .number: return "the number \(excerpt(node))"
        case .string, .escapedString: return "the string \"\(excerpt(node))\""
        }
    }

    /// At most 40 bytes of what came: an answer must not grow with the fault.
    private func excerpt(_ node: Int) -> String {
        let text = bytes[nodes[node].bytes]
        return String(decoding: text.prefix(40), as: UTF8.self) + (text.count > 40 ? "…" : "")
    }

    /// Where a node stands, found from the root; only done for a fault.
    private func path(to target: Int) -> String {
        var path = ""
        var node = 0
        for _ in 0..<32 where node < target {
            let isObject = nodes[node].kind == .object
            var child = node + 1
            var index = 0
            while child < nodes[node].after {
                let value = isObject ? child + 1 : child
                if target < nodes[value].after {
                    if isObject {
                        path += (path.isEmpty ? "" : ".") + excerpt(child)
                    } else {
                        path += "[\(index)]"
                    }
                    node = target == child ? target : value
                    break
                }
                child = nodes[value].after
                index += 1
            }
        }
        return path
    }
}
