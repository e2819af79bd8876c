/// The random numbers of a frame sync: every SDK draws the same ones from the same seed (xorshift32, `rooms.md`).
/// Draw from it only inside the simulation, at the same places in every client, else the states part.
///
///     var random = LockstepRandom(seed: info.seed)
///     let side = random.next(below: 6) + 1
public struct LockstepRandom: Equatable, Sendable {
    /// The whole state; put it into snapshots and state hashes.
    public private(set) var state: UInt32

    /// A generator from `FrameSyncInfo.seed`.
    public init(seed: Int32) {
        let bits = UInt32(bitPattern: seed)
        state = bits == 0 ? 0x9E37_79B9 : bits
    }

    /// A generator that goes on from a saved `state`; 0, which no generator reaches, counts as seed 0.
    public init(state: UInt32) { self.init(seed: Int32(bitPattern: state)) }

    /// The next number, 0…2³¹−1.
    public mutating func next() -> UInt32 {
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        return state >> 1
    }

    /// The next number as remainder, 0..<bound; 0 for a bound of 0. All SDKs take the remainder.
    public mutating func next(below bound: UInt32) -> UInt32 {
        let drawn = next()
        return bound == 0 ? 0 : drawn % bound
    }
}
