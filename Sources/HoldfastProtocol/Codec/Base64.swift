/// Base64 as the JSON mapping of bytes has it: written with the standard alphabet and padding; read with the standard
/// or the URL-safe alphabet, with or without padding.
enum Base64 {
    private static let alphabet: [UInt8] = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let foreign: UInt8 = 0xff
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: foreign, count: 256)
        for (value, letter) in alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        values[Int(UInt8(ascii: "-"))] = 62
        values[Int(UInt8(ascii: "_"))] = 63
        return values
    }()

    static func append(_ data: [UInt8], to output: inout [UInt8]) {
        let alphabet = Self.alphabet
        output.reserveCapacity(output.count + (data.count + 2) / 3 * 4)
        var index = 0
        while index + 2 < data.count {
            let word = UInt32(data[index]) << 16 | UInt32(data[index + 1]) << 8 | UInt32(data[index + 2])
            output.append(alphabet[Int(word >> 18)])
            output.append(alphabet[Int(word >> 12 & 63)])
            output.append(alphabet[Int(word >> 6 & 63)])
            output.append(alphabet[Int(word & 63)])
            index += 3
        }
        guard index < data.count else { return }
        let two = index + 1 < data.count
        let word = UInt32(data[index]) << 16 | (two ? UInt32(data[index + 1]) << 8 : 0)
        output.append(alphabet[Int(word >> 18)])
        output.append(alphabet[Int(word >> 12 & 63)])
        output.append(two ? alphabet[Int(word >> 6 & 63)] : UInt8(ascii: "="))
        output.append(UInt8(ascii: "="))
    }

    /// - Returns: nil when the text is not base64.
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var end = text.endIndex
        if text.count % 4 == 0 {
            for _ in 0..<2 where end > text.startIndex && text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        }
        let letters = text[text.startIndex..<end]
        guard letters.count % 4 != 1 else { return nil }
        let values = Self.values
        var output: [UInt8] = []
        output.reserveCapacity(letters.count / 4 * 3 + 2)
        var word: UInt32 = 0
        var bits = 0
        for letter in letters {
            let value = values[Int(letter)]
            if value == foreign { return nil }
            word = word << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                output.append(UInt8(truncatingIfNeeded: word >> UInt32(bits)))
            }
        }
        return output
    }
}
