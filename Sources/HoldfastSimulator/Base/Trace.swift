/// The story of a run: always as one number, equal for equal runs, and as lines when somebody wants to read it.
public struct Trace {
    public private(set) var hash: UInt64 = 0x9e37_79b9_7f4a_7c15
    public private(set) var steps: UInt64 = 0
    /// Takes each line; without it none is made.
    private let write: ((String) -> Void)?

    public init(write: ((String) -> Void)? = nil) {
        self.write = write
    }

    public var isWritten: Bool { write != nil }

    @inline(__always)
    public mutating func mix(_ value: UInt64) {
        var z = (hash ^ value) &* 0xff51_afd7_ed55_8ccd
        z ^= z >> 32
        hash = z &* 0xc4ce_b9fe_1a85_ec53 ^ (z >> 29)
    }

    @inline(__always)
    public mutating func mix(_ value: Int) { mix(UInt64(bitPattern: Int64(value))) }

    public mutating func mix(_ text: String) {
        var sum: UInt64 = UInt64(text.utf8.count)
        for byte in text.utf8 { sum = (sum &* 0x100_0000_01b3) ^ UInt64(byte) }
        mix(sum)
    }

    mutating func beginStep(timeUs: Int64, kind: Int) {
        steps += 1
        mix(UInt64(bitPattern: timeUs) << 6 ^ UInt64(kind))
    }

    /// A line, made only when lines are wanted.
    @inline(__always)
    public func line(_ timeUs: Int64, _ text: @autoclosure () -> String) {
        guard let write else { return }
        write("\(Self.stamp(timeUs)) \(text())")
    }

    /// Seconds with six digits.
    static func stamp(_ timeUs: Int64) -> String {
        let fraction = String(timeUs % 1_000_000)
        return "\(timeUs / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
