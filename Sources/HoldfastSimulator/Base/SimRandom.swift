/// Chance from a seed: xoshiro256** (Blackman, Vigna 2018), seeded by SplitMix64 (Steele, Lea, Flood 2014). Each part
/// of a simulation draws from a stream of its own, so that one more draw here moves nothing there.
public struct SimRandom: RandomNumberGenerator, Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)

    public init(seed: UInt64, stream: UInt64 = 0) {
        var mix = seed ^ (stream &* 0xd134_2543_de82_ef95)
        func split() -> UInt64 {
            mix &+= 0x9e37_79b9_7f4a_7c15
            var z = mix
            z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
            z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
            return z ^ (z >> 31)
        }
        state = (split(), split(), split(), split())
    }

    public mutating func next() -> UInt64 {
        let scaled = state.1 &* 5
        let result = (scaled << 7 | scaled >> 57) &* 9
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = state.3 << 45 | state.3 >> 19
        return result
    }

    /// - Precondition: `bound` is above 0.
    public mutating func below(_ bound: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    public mutating func from(_ range: ClosedRange<Int>) -> Int {
        range.lowerBound + below(range.upperBound - range.lowerBound + 1)
    }

    public mutating func from(_ range: ClosedRange<Int64>) -> Int64 {
        range.lowerBound + Int64(below(Int(range.upperBound - range.lowerBound) + 1))
    }

    /// True in so many of a thousand cases.
    public mutating func chance(permille: Int) -> Bool { below(1000) < permille }

    /// - Precondition: not empty.
    public mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    public mutating func shuffle<Element>(_ elements: inout [Element]) {
        guard elements.count > 1 else { return }
        for i in stride(from: elements.count - 1, to: 0, by: -1) { elements.swapAt(i, below(i + 1)) }
    }
}
