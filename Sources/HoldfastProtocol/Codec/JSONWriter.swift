/// The canonical JSON mapping, appended to one array. Scalars, lists and maps are written at their default too.
struct JSONWriter: FieldVisitor {
    var bytes: [UInt8] = []
    /// Whether the next field or element follows another.
    private var comma = false

    // MARK: Pieces

    mutating func object<M: WireMessage>(_ message: inout M) throws(WireError) {
        bytes.append(UInt8(ascii: "{"))
        comma = false
        try message.visit(&self)
        bytes.append(UInt8(ascii: "}"))
        comma = true
    }

    private mutating func separate() {
        if comma { bytes.append(UInt8(ascii: ",")) }
        comma = true
    }

    private mutating func name(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func literal(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    private mutating func digits(_ value: UInt64) {
        if value < 10 {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value))
            return
        }
        var length = 0
        var rest = value
        while rest > 0 {
            length += 1
            rest /= 10
        }
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "0"), count: length))
        rest = value
        var index = bytes.count - 1
        while rest > 0 {
            bytes[index] += UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
            index -= 1
        }
    }

    private mutating func digits(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        digits(value.magnitude)
    }

    private mutating func quote() { bytes.append(UInt8(ascii: "\"")) }

    private mutating func text(_ value: String) {
        quote()
        let start = bytes.count
        bytes.append(contentsOf: value.utf8)
        var index = start
        while index < bytes.count {
            if Self.needsEscape(bytes[index]) {
                // Rare, so it is done anew from here on rather than looked for beforehand.
                let rest = Array(bytes[index...])
                bytes.removeLast(rest.count)
                for byte in rest { escaped(byte) }
                break
            }
            index += 1
        }
        quote()
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): literal("\\\"")
        case UInt8(ascii: "\\"): literal("\\\\")
        case 0x08: literal("\\b")
        case 0x09: literal("\\t")
        case 0x0a: literal("\\n")
        case 0x0c: literal("\\f")
        case 0x0d: literal("\\r")
        case 0..<0x20:
            literal("\\u00")
            bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            let low = byte & 0x0f
            bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + (low - 10))
        default: bytes.append(byte)
        }
    }

    private mutating func blob(_ value: [UInt8]) {
        quote()
        Base64.append(value, to: &bytes)
        quote()
    }

    // MARK: FieldVisitor

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        if value != 0 { try field(number, name, &value) }
    }

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        if value != 0 { try field(number, name, &value) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        self.name(name)
        digits(UInt64(value))
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int32) throws(WireError) {
        self.name(name)
        digits(Int64(value))
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        self.name(name)
        quote()
        digits(value)
        quote()
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int64) throws(WireError) {
        self.name(name)
        quote()
        digits(value)
        quote()
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Bool) throws(WireError) {
        self.name(name)
        literal(value ? "true" : "false")
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        self.name(name)
        text(value)
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        self.name(name)
        blob(value)
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String?) throws(WireError) {
        guard let value else { return }
        self.name(name)
        text(value)
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String]) throws(WireError) {
        self.name(name)
        bytes.append(UInt8(ascii: "["))
        comma = false
        for element in value {
            separate()
            text(element)
        }
        bytes.append(UInt8(ascii: "]"))
        comma = true
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: String]) throws(WireError) {
        self.name(name)
        bytes.append(UInt8(ascii: "{"))
        comma = false
        for (key, element) in value.sortedByUTF8() {
            separate()
            text(key)
            bytes.append(UInt8(ascii: ":"))
            text(element)
        }
        bytes.append(UInt8(ascii: "}"))
        comma = true
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: Int32]) throws(WireError) {
        self.name(name)
        bytes.append(UInt8(ascii: "{"))
        comma = false
        for (key, element) in value.sortedByUTF8() {
            separate()
            text(key)
            bytes.append(UInt8(ascii: ":"))
            digits(Int64(element))
        }
        bytes.append(UInt8(ascii: "}"))
        comma = true
    }

    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M?) throws(WireError) {
        guard var message = value else { return }
        try member(number, name, &message)
    }

    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout [M]) throws(WireError) {
        self.name(name)
        bytes.append(UInt8(ascii: "["))
        comma = false
        for var message in value {
            separate()
            try object(&message)
        }
        bytes.append(UInt8(ascii: "]"))
        comma = true
    }

    mutating func oneof<O: WireOneof>(_ value: inout O?) throws(WireError) {
        if let value { try value.write(&self) }
    }

    mutating func member<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M) throws(WireError) {
        self.name(name)
        try object(&value)
    }

    mutating func member(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        try field(number, name, &value)
    }

    mutating func member(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        try field(number, name, &value)
    }

    mutating func matches(_ number: Int, _ name: StaticString) throws(WireError) -> Bool { false }
}
