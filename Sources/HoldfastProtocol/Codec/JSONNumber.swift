/// Numbers of RFC 8259 and the whole ones among them, exactly and at a cost that only grows with their length:
/// `1e999999999` is refused without being computed.
enum JSONNumber {
    enum Whole: Equatable {
        case value(negative: Bool, magnitude: UInt64)
        case notWhole
        case tooLarge
    }

    /// The index after the number that begins at `start`; nil when none begins there.
    static func end(in bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        func digit() -> Bool { index < bytes.count && isDigit(bytes[index]) }
        func letter(_ one: Unicode.Scalar, _ other: Unicode.Scalar) -> Bool {
            index < bytes.count && (bytes[index] == UInt8(ascii: one) || bytes[index] == UInt8(ascii: other))
        }
        if letter("-", "-") { index += 1 }
        guard digit() else { return nil }
        if bytes[index] == UInt8(ascii: "0") { index += 1 } else { while digit() { index += 1 } }
        if letter(".", ".") {
            index += 1
            guard digit() else { return nil }
            while digit() { index += 1 }
        }
        if letter("e", "E") {
            index += 1
            if letter("+", "-") { index += 1 }
            guard digit() else { return nil }
            while digit() { index += 1 }
        }
        return index
    }

    /// The whole number that `bytes[range]`, a number of RFC 8259, stands for.
    static func whole(in bytes: [UInt8], _ range: Range<Int>) -> Whole {
        var index = range.lowerBound
        let negative = bytes[index] == UInt8(ascii: "-")
        if negative { index += 1 }
        var magnitude: UInt64 = 0
        // Zeros after the last digit that counts: they wait until it is known whether an exponent takes them away.
        var zeros = 0
        var scale = 0
        var inFraction = false
        var overflow = false
        digits: while index < range.upperBound {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "."): inFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"): break digits
            default:
                if inFraction { scale -= 1 }
                if byte == UInt8(ascii: "0") {
                    if magnitude != 0 || overflow { zeros += 1 }
                } else {
                    overflow = overflow || !shift(&magnitude, by: zeros + 1, adding: UInt64(byte - UInt8(ascii: "0")))
                    zeros = 0
                }
            }
            index += 1
        }
        if overflow { return .tooLarge }
        if magnitude == 0 { return .value(negative: false, magnitude: 0) }
        scale += zeros + exponent(in: bytes, index..<range.upperBound)
        if scale < 0 { return .notWhole }
        guard shift(&magnitude, by: scale, adding: 0) else { return .tooLarge }
        return .value(negative: negative, magnitude: magnitude)
    }

    /// Multiplies by 10^places and adds; false when that is over 64 bits.
    private static func shift(_ magnitude: inout UInt64, by places: Int, adding digit: UInt64) -> Bool {
        if magnitude != 0 {
            if places > 19 { return false }
            for _ in 0..<places {
                let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
                if overflow { return false }
                magnitude = product
            }
        }
        let (sum, overflow) = magnitude.addingReportingOverflow(digit)
        magnitude = sum
        return !overflow
    }

    private static func exponent(in bytes: [UInt8], _ range: Range<Int>) -> Int {
        var index = range.lowerBound + 1
        guard index < range.upperBound else { return 0 }
        let negative = bytes[index] == UInt8(ascii: "-")
        if !isDigit(bytes[index]) { index += 1 }
        var value = 0
        while index < range.upperBound {
            // More than any text has digits is all the same.
            if value < 1 << 40 { value = value * 10 + Int(bytes[index] - UInt8(ascii: "0")) }
            index += 1
        }
        return negative ? -value : value
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
