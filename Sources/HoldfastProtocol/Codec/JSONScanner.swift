/// A value or a key of a JSON text: where it stands, and for a container how far it reaches in the list of nodes.
struct JSONNode {
    enum Kind: UInt8 { case object, array, string, escapedString, number, yes, no, null }

    var kind: Kind
    /// The bytes of the value; of a string those between its quotes.
    var start: UInt32
    var end: UInt32 = 0
    /// The index of the first node after this one and all that it contains.
    var next: UInt32 = 0

    var bytes: Range<Int> { Int(start)..<Int(end) }
    var after: Int { Int(next) }
    var isString: Bool { kind == .string || kind == .escapedString }
}

/// Reads a text strictly by RFC 8259 into a flat list of nodes, in the order of the text: a container, then what it
/// contains; in an object each key is followed by its value. No recursion; time and memory grow with the text only.
struct JSONScanner {
    let bytes: [UInt8]
    private(set) var nodes: [JSONNode] = []
    /// The first container that is nested too deeply; the text is one JSON value all the same.
    private(set) var tooDeep: Int?
    /// Why the text is not JSON; nil once it has been scanned without fault.
    private(set) var fault: WireError?
    /// Whether the fault is that the text is not UTF-8.
    private(set) var notUTF8 = false

    private var position = 0
    private var open: [Int] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        nodes.reserveCapacity(min(bytes.count / 8 + 8, 64))
    }

    mutating func scan(depth: Int) {
        if bytes.count > Int(Int32.max) {
            fault = WireError("a JSON text of \(bytes.count) bytes is more than can be read")
            return
        }
        repeat {
            if open.isEmpty ? !scanValue(depth) : !scanNext(depth) { return }
        } while !open.isEmpty
        skipSpace()
        if position < bytes.count { fail("the end of the text") }
    }

    // MARK: Structure

    /// What stands after a comma or at a container's begin or end. False once there is a fault.
    private mutating func scanNext(_ depth: Int) -> Bool {
        let container = open[open.count - 1]
        let isObject = nodes[container].kind == .object
        skipSpace()
        guard let byte = peek() else { return fail(isObject ? "',' or '}'" : "',' or ']'") }
        let isFirst = nodes.count == container + 1
        if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
            position += 1
            nodes[container].end = UInt32(position)
            nodes[container].next = UInt32(nodes.count)
            open.removeLast()
            return true
        }
        if !isFirst {
            guard byte == UInt8(ascii: ",") else { return fail(isObject ? "',' or '}'" : "',' or ']'") }
            position += 1
            skipSpace()
        }
        if isObject {
            guard peek() == UInt8(ascii: "\"") else { return fail("a key in quotes") }
            guard scanString() else { return false }
            skipSpace()
            guard peek() == UInt8(ascii: ":") else { return fail("':'") }
            position += 1
        }
        return scanValue(depth)
    }

    private mutating func scanValue(_ depth: Int) -> Bool {
        skipSpace()
        guard let byte = peek() else { return fail("a value") }
        switch byte {
        case UInt8(ascii: "{"): return enter(.object, depth)
        case UInt8(ascii: "["): return enter(.array, depth)
        case UInt8(ascii: "\""): return scanString()
        case UInt8(ascii: "t"): return scanWord("true", .yes)
        case UInt8(ascii: "f"): return scanWord("false", .no)
        case UInt8(ascii: "n"): return scanWord("null", .null)
        default:
            guard let end = JSONNumber.end(in: bytes, from: position) else { return fail("a value") }
            append(.number, position..<end)
            position = end
            return true
        }
    }

    private mutating func enter(_ kind: JSONNode.Kind, _ depth: Int) -> Bool {
        if open.count >= depth, tooDeep == nil { tooDeep = nodes.count }
        open.append(nodes.count)
        nodes.append(JSONNode(kind: kind, start: UInt32(position)))
        position += 1
        return true
    }

    private mutating func append(_ kind: JSONNode.Kind, _ range: Range<Int>) {
        nodes.append(
            JSONNode(
                kind: kind, start: UInt32(range.lowerBound), end: UInt32(range.upperBound),
                next: UInt32(nodes.count + 1)))
    }

    private mutating func scanWord(_ word: StaticString, _ kind: JSONNode.Kind) -> Bool {
        let start = position
        let length = word.utf8CodeUnitCount
        let isThere =
            bytes.count - start >= length
            && word.withUTF8Buffer { bytes[start..<(start + length)].elementsEqual($0) }
        guard isThere else { return fail("\(word)") }
        append(kind, start..<(start + length))
        position += length
        return true
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return
            }
        }
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    @discardableResult
    private mutating func fail(_ expected: String) -> Bool {
        fault = WireError("not valid JSON: expected \(expected) at byte \(position), got \(found())")
        return false
    }

    private func found() -> String {
        guard position < bytes.count else { return "the end of the text" }
        let byte = bytes[position]
        if byte > 0x20, byte < 0x7f { return "'\(Character(Unicode.Scalar(byte)))'" }
        return "byte \(byte)"
    }

    // MARK: Strings

    private mutating func scanString() -> Bool {
        position += 1
        let start = position
        var kind = JSONNode.Kind.string
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                append(kind, start..<position)
                position += 1
                return true
            case UInt8(ascii: "\\"):
                kind = .escapedString
                guard scanEscape() else { return false }
            case 0..<0x20: return fail("no control character in a string")
            case 0x20..<0x80: position += 1
            default:
                guard let length = UTF8Sequence.length(in: bytes, at: position) else {
                    notUTF8 = true
                    return fail("UTF-8")
                }
                position += length
            }
        }
        return fail("the end of a string")
    }

    private mutating func scanEscape() -> Bool {
        position += 1
        guard let letter = peek() else { return fail("an escape") }
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
            return true
        case UInt8(ascii: "u"):
            position += 1
            guard let unit = JSONText.unit(in: bytes, at: position) else { return fail("four hexadecimal digits") }
            if unit & 0xf800 != 0xd800 {
                position += 4
                return true
            }
            guard unit < 0xdc00, JSONText.isLowSurrogate(in: bytes, at: position + 4) else {
                return fail("no lone surrogate")
            }
            position += 10
            return true
        default: return fail("an escape")
        }
    }
}

/// The text of JSON strings whose escapes have been found good.
enum JSONText {
    /// The UTF-16 unit that four hexadecimal digits name.
    static func unit(in bytes: [UInt8], at start: Int) -> UInt32? {
        guard bytes.count - start >= 4 else { return nil }
        var unit: UInt32 = 0
        for byte in bytes[start..<(start + 4)] {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    static func isLowSurrogate(in bytes: [UInt8], at start: Int) -> Bool {
        guard bytes.count - start >= 6, bytes[start] == UInt8(ascii: "\\"), bytes[start + 1] == UInt8(ascii: "u"),
            let unit = unit(in: bytes, at: start + 2)
        else { return false }
        return unit & 0xfc00 == 0xdc00
    }

    /// The bytes that the string `bytes[range]` stands for.
    static func unescaped(_ bytes: [UInt8], _ range: Range<Int>) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "\\"), index + 1 < range.upperBound else {
                output.append(byte)
                index += 1
                continue
            }
            let letter = bytes[index + 1]
            index += 2
            switch letter {
            case UInt8(ascii: "b"): output.append(0x08)
            case UInt8(ascii: "f"): output.append(0x0c)
            case UInt8(ascii: "n"): output.append(0x0a)
            case UInt8(ascii: "r"): output.append(0x0d)
            case UInt8(ascii: "t"): output.append(0x09)
            case UInt8(ascii: "u"):
                var code = unit(in: bytes, at: index) ?? 0
                index += 4
                if code & 0xfc00 == 0xd800 {
                    let low = unit(in: bytes, at: index + 2) ?? 0
                    code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff)
                    index += 6
                }
                if let scalar = Unicode.Scalar(code) { output.append(contentsOf: scalar.utf8) }
            default: output.append(letter)
            }
        }
        return output
    }
}

/// Well-formed UTF-8 sequences of more than one byte (Unicode, table 3-7).
enum UTF8Sequence {
    /// The length of the sequence that starts at `index`; nil when it is not well-formed.
    static func length(in bytes: [UInt8], at index: Int) -> Int? {
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xbf
        switch bytes[index] {
        case 0xc2...0xdf: length = 2
        case 0xe0: (length, second) = (3, 0xa0...0xbf)
        case 0xed: (length, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: length = 3
        case 0xf0: (length, second) = (4, 0x90...0xbf)
        case 0xf1...0xf3: length = 4
        case 0xf4: (length, second) = (4, 0x80...0x8f)
        default: return nil
        }
        guard bytes.count - index >= length, second.contains(bytes[index + 1]) else { return nil }
        for offset in 2..<max(length, 2) where bytes[index + offset] & 0xc0 != 0x80 { return nil }
        return length
    }
}
