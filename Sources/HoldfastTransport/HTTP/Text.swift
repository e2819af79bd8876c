import CHTTPParser

enum Text {
    /// Without blanks and tabs around it.
    static func trimmed(_ text: Substring) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        var rest = text.drop(while: isBlank)
        while let last = rest.last, isBlank(last) { rest.removeLast() }
        return String(rest)
    }

    /// Nil for a broken escape or what is not UTF-8.
    static func percentDecoded(_ text: Substring, plusIsBlank: Bool) -> String? {
        var bytes: [UInt8] = []
        var source = text.utf8.makeIterator()
        while let byte = source.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = source.next().flatMap(hexValue), let low = source.next().flatMap(hexValue) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Nothing in it can begin another header line.
    static func headerSafe(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 < 32 || $0 == 127 }) else { return text }
        let bytes = text.utf8.map { $0 < 32 || $0 == 127 ? UInt8(ascii: " ") : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }
}

enum HTTPStatus {
    static func reason(_ status: Int) -> String {
        guard (100..<600).contains(status) else { return "Status" }
        guard let text = http_status_str(http_status(rawValue: UInt32(status))) else { return "Status" }
        return String(cString: text)
    }
}
