/// A JSON value as it was written: members in order, whole numbers exact.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// A number written without fraction and exponent that fits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Equatable, Sendable {
        var name: String
        var value: JSONValue
    }

    /// The member `name` of an object; nil when there is none, when it is null, or when this is no object.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self, let found = members.first(where: { $0.name == name }) else {
            return nil
        }
        return found.value == .null ? nil : found.value
    }
}

/// Why text is not JSON. `offset` is the byte at which it became clear.
struct JSONError: Error, Equatable, Sendable {
    var reason: String
    var offset: Int
}

/// A small JSON reader (RFC 8259) for texts that must not be ambiguous: a name twice in one object, a lone surrogate,
/// invalid UTF-8 and bytes after the value are errors, which Foundation's reader lets pass.
struct StrictJSON {
    private let bytes: [UInt8]
    private var at = 0
    private let maxDepth: Int

    /// Reads the one value that `bytes` hold. Objects and arrays may stand in each other `maxDepth` deep.
    static func parse(_ bytes: [UInt8], maxDepth: Int = 16) throws(JSONError) -> JSONValue {
        var reader = StrictJSON(bytes: bytes, maxDepth: maxDepth)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.at == bytes.count else { throw reader.error("there is more after the value") }
        return value
    }

    private init(bytes: [UInt8], maxDepth: Int) {
        self.bytes = bytes
        self.maxDepth = maxDepth
    }

    private func error(_ reason: String) -> JSONError { JSONError(reason: reason, offset: at) }

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { at += 1 }
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard let ascii = byte.asciiValue, next == ascii else { return false }
        at += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        guard let byte = next else { throw error("it ends too early") }
        switch Character(Unicode.Scalar(byte)) {
        case "{": return try object(depth: depth + 1)
        case "[": return try array(depth: depth + 1)
        case "\"": return .string(try string())
        case "t": return try word("true", .bool(true))
        case "f": return try word("false", .bool(false))
        case "n": return try word("null", .null)
        case "-", "0"..."9": return try number()
        default: throw error("a value was expected")
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let end = at + word.utf8.count
        guard end <= bytes.count, bytes[at..<end].elementsEqual(word.utf8) else { throw error("a value was expected") }
        at = end
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= maxDepth else { throw error("it is nested too deep") }
        at += 1
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        skipSpace()
        if take("}") { return .object(members) }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("a name was expected") }
            let name = try string()
            guard names.insert(name).inserted else { throw error("a name stands twice in one object") }
            skipSpace()
            guard take(":") else { throw error("':' was expected") }
            members.append(JSONValue.Member(name: name, value: try value(depth: depth)))
            skipSpace()
            if take("}") { return .object(members) }
            guard take(",") else { throw error("',' or '}' was expected") }
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= maxDepth else { throw error("it is nested too deep") }
        at += 1
        var elements: [JSONValue] = []
        skipSpace()
        if take("]") { return .array(elements) }
        while true {
            elements.append(try value(depth: depth))
            skipSpace()
            if take("]") { return .array(elements) }
            guard take(",") else { throw error("',' or ']' was expected") }
        }
    }

    private mutating func digits() -> Int {
        let start = at
        while let byte = next, (0x30...0x39).contains(byte) { at += 1 }
        return at - start
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = at
        var whole = true
        _ = take("-")
        let first = next
        let count = digits()
        guard count > 0, !(first == 0x30 && count > 1) else { throw error("this is no number") }
        if take(".") {
            whole = false
            guard digits() > 0 else { throw error("this is no number") }
        }
        if take("e") || take("E") {
            whole = false
            if !take("-") { _ = take("+") }
            guard digits() > 0 else { throw error("this is no number") }
        }
        let text = String(decoding: bytes[start..<at], as: UTF8.self)
        if whole, let integer = Int64(text) { return .integer(integer) }
        guard let double = Double(text), double.isFinite else { throw error("this number is out of range") }
        return .number(double)
    }

    private mutating func string() throws(JSONError) -> String {
        at += 1
        var content: [UInt8] = []
        while true {
            guard let byte = next else { throw error("it ends too early") }
            at += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: content, as: UTF8.self) else { throw error("invalid UTF-8") }
                return string
            case UInt8(ascii: "\\"):
                content.append(contentsOf: try escape().utf8)
            case 0..<0x20:
                throw error("a control character stands in a string")
            default:
                content.append(byte)
            }
        }
    }

    private mutating func escape() throws(JSONError) -> String {
        guard let byte = next else { throw error("it ends too early") }
        at += 1
        switch Character(Unicode.Scalar(byte)) {
        case "\"": return "\""
        case "\\": return "\\"
        case "/": return "/"
        case "b": return "\u{8}"
        case "f": return "\u{C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": return String(Character(try unicodeScalar()))
        default: throw error("an unknown escape")
        }
    }

    private mutating func unicodeScalar() throws(JSONError) -> Unicode.Scalar {
        let high = try hexQuad()
        if let scalar = Unicode.Scalar(high) { return scalar }
        guard high < 0xDC00, take("\\"), take("u") else { throw error("a lone surrogate") }
        let low = try hexQuad()
        guard (0xDC00...0xDFFF).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        else { throw error("a lone surrogate") }
        return scalar
    }

    private mutating func hexQuad() throws(JSONError) -> UInt32 {
        guard at + 4 <= bytes.count else { throw error("it ends too early") }
        var value: UInt32 = 0
        for byte in bytes[at..<at + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("four hex digits expected")
            }
            value = value << 4 | UInt32(digit)
        }
        at += 4
        return value
    }
}
