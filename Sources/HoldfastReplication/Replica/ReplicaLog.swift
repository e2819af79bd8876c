import HoldfastProtocol

/// The end of a shard's log: its running hash, and the newest entries as bytes.
struct ReplicaLog: Sendable {
    private struct Kept: Sendable {
        let bytes: [UInt8]
        /// Of the log up to here.
        let hash: UInt64
    }

    private(set) var last: UInt64 = 0
    /// Of everything up to `last`.
    private(set) var hash: UInt64
    /// Entries above this one are kept.
    private(set) var base: UInt64 = 0
    private var baseHash: UInt64
    private var kept: [Kept] = []
    /// Where the oldest stands in `kept`.
    private var head = 0
    private(set) var keptBytes = 0

    /// The empty log of a generation.
    init(generation: UInt64) {
        hash = Self.mix(0x9fb2_1c65_1e98_df25, generation)
        baseHash = hash
    }

    /// A log of which only the end is known.
    init(last: UInt64, hash: UInt64) {
        self.last = last
        self.hash = hash
        base = last
        baseHash = hash
    }

    /// The hash of the log up to an index; nil when that is not known (any more).
    func hash(at index: UInt64) -> UInt64? {
        if index == base { return baseHash }
        guard index > base, index <= last else { return nil }
        return kept[head + Int(index - base) - 1].hash
    }

    /// The next entry.
    mutating func append(_ bytes: [UInt8]) {
        hash = Self.next(hash, index: last + 1, bytes)
        last += 1
        keptBytes += bytes.count
        kept.append(Kept(bytes: bytes, hash: hash))
    }

    /// The next entry, of which no bytes are kept: nobody can be told about it but by a snapshot. Its hash depends on
    /// the epoch, in which there is no other primary, so that no other log seems to have the entry.
    mutating func appendAlone(epoch: UInt64) {
        hash = Self.mix(Self.mix(hash ^ 0x2545_f491_4f6c_dd1d, last + 1), epoch)
        last += 1
        base = last
        baseHash = hash
        if !kept.isEmpty {
            kept = []
            head = 0
            keptBytes = 0
        }
    }

    /// Entries from an index on, so many and so long at most, but one at least if there is one.
    /// - Returns: nil when the first is not kept.
    func entries(from first: UInt64, through last: UInt64, count: Int, bytes: Int) -> [[UInt8]]? {
        guard first > base, first <= self.last + 1 else { return nil }
        var entries: [[UInt8]] = []
        var total = 0
        var index = first
        while index <= min(last, self.last), entries.count < count {
            let next = kept[head + Int(index - base) - 1].bytes
            total += next.count
            if total > bytes, !entries.isEmpty { break }
            entries.append(next)
            index += 1
        }
        return entries
    }

    /// Forgets the oldest entries beyond a number and a sum, but none above `committed`.
    mutating func trim(committed: UInt64, count: Int, bytes: Int) {
        while base < committed, kept.count - head > count || keptBytes > bytes, head < kept.count {
            base += 1
            baseHash = kept[head].hash
            keptBytes -= kept[head].bytes.count
            head += 1
        }
        if head > 64, head * 2 > kept.count {
            kept.removeFirst(head)
            head = 0
        }
    }

    // MARK: Hashes

    /// The hash of a log with one more entry.
    static func next(_ hash: UInt64, index: UInt64, _ bytes: [UInt8]) -> UInt64 {
        var state = mix(mix(hash, index), UInt64(bytes.count))
        var word: UInt64 = 0
        var filled: UInt64 = 0
        for byte in bytes {
            word |= UInt64(byte) << filled
            filled += 8
            if filled == 64 {
                state = mix(state, word)
                word = 0
                filled = 0
            }
        }
        return filled == 0 ? state : mix(state, word)
    }

    /// The hash of a log with some more entries, the first of which has the index `first`.
    static func next(_ hash: UInt64, first: UInt64, _ entries: some Sequence<[UInt8]>) -> UInt64 {
        var state = hash
        var index = first
        for bytes in entries {
            state = next(state, index: index, bytes)
            index += 1
        }
        return state
    }

    /// For a given state one to one in the word, and for a given word in the state.
    private static func mix(_ state: UInt64, _ word: UInt64) -> UInt64 {
        var mixed = (state ^ word) &* 0x9e37_79b9_7f4a_7c15
        mixed ^= mixed >> 29
        mixed = mixed &* 0xbf58_476d_1ce4_e5b9
        return mixed ^ (mixed >> 32)
    }
}
