/// The randomness of one log entry: 128 bits drawn by the primary, so that every replica draws the same. Cheap and not
/// cryptographic in itself; what must not be guessed is drawn first, from the seed's own bits.
public struct EntryRandomness: Equatable, Sendable {
    private var a: UInt64
    private var b: UInt64

    public init(_ a: UInt64, _ b: UInt64) {
        self.a = a
        self.b = b
    }

    /// SplitMix64 (Steele, Lea, Flood 2014), fed by both halves.
    public mutating func next() -> UInt64 {
        a &+= 0x9e37_79b9_7f4a_7c15
        var z = a ^ b
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        b = (b << 7 | b >> 57) &* 0xd134_2543_de82_ef95 &+ 1
        return z ^ (z >> 31)
    }

    private static let alphabet = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)

    /// A short id of 75 random bits: 15 letters of Crockford's base 32, in lower case.
    mutating func roomID() -> String { letters(15) }

    /// A secret of 125 random bits.
    mutating func secret() -> String { letters(25) }

    private mutating func letters(_ count: Int) -> String {
        var bits = next()
        var left = 12
        var text: [UInt8] = []
        text.reserveCapacity(count)
        for _ in 0..<count {
            if left == 0 {
                bits = next()
                left = 12
            }
            text.append(Self.alphabet[Int(bits & 31)])
            bits >>= 5
            left -= 1
        }
        return String(decoding: text, as: UTF8.self)
    }
}
