/// Counts of whole numbers in buckets that grow with the number: exact up to 63, then within 1/32 of it. Fixed size.
struct Histogram: Sendable {
    private static let subBuckets = 32
    private var counts: [UInt32]
    private(set) var count: UInt64 = 0
    private(set) var largest: Int64 = 0

    init() { counts = Array(repeating: 0, count: Self.index(of: .max) + 1) }

    private static func index(of value: UInt64) -> Int {
        guard value >= UInt64(2 * subBuckets) else { return Int(value) }
        let shift = 63 - value.leadingZeroBitCount - 5
        return shift * subBuckets + Int(value >> UInt64(shift))
    }

    /// The largest number that counts in a bucket.
    private static func top(of index: Int) -> UInt64 {
        guard index >= 2 * subBuckets else { return UInt64(index) }
        let shift = index / subBuckets - 1
        let base = UInt64(index - shift * subBuckets)
        return (base << UInt64(shift)) + (1 << UInt64(shift)) - 1
    }

    mutating func add(_ value: Int64) {
        let value = max(0, value)
        counts[Self.index(of: UInt64(value))] &+= 1
        count += 1
        largest = max(largest, value)
    }

    mutating func merge(_ other: Histogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        count += other.count
        largest = max(largest, other.largest)
    }

    /// What this part of the numbers (0...1) does not exceed; 0 when there are none.
    func quantile(_ part: Double) -> Int64 {
        guard count > 0 else { return 0 }
        let rank = UInt64((part * Double(count)).rounded(.up))
        var seen: UInt64 = 0
        for (index, number) in counts.enumerated() where number > 0 {
            seen += UInt64(number)
            if seen >= rank { return min(largest, Int64(clamping: Self.top(of: index))) }
        }
        return largest
    }
}
