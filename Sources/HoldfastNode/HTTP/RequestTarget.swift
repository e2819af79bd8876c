/// The target of a request in its two parts, with percent signs decoded.
struct RequestTarget: Equatable, Sendable {
    /// Begins with a slash.
    var path: String
    /// Names and values in their order.
    var query: [Pair]

    struct Pair: Equatable, Sendable {
        var name: String
        var value: String
    }

    /// Nil for what is no path (`*`, a whole URL, an authority), a broken percent sign, invalid UTF-8 or a NUL.
    init?(_ target: String) {
        let cut = target.prefix { $0 != "#" }
        let parts = cut.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, first.hasPrefix("/"), let path = Self.decoded(first, plusIsSpace: false) else {
            return nil
        }
        self.path = path
        query = []
        guard parts.count == 2 else { return }
        for pair in parts[1].split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(halves[0], plusIsSpace: true),
                let value = Self.decoded(halves.count == 2 ? halves[1] : "", plusIsSpace: true)
            else { return nil }
            query.append(Pair(name: name, value: value))
        }
    }

    /// The first value of that name.
    subscript(name: String) -> String? { query.first { $0.name == name }?.value }

    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexValue), let low = rest.popFirst().flatMap(hexValue) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
