import HoldfastProtocol

/// When a shard was open, and for how long it was not.
struct ShardService {
    struct Pause {
        let fromUs: Int64
        var toUs: Int64?
        /// Its holder died while another replica lived.
        var isKill = false
        var ms: Int64? { toUs.map { ($0 - fromUs) / 1000 } }
    }

    private(set) var isServed = false
    private(set) var pauses: [Pause] = []
    /// Seen open last, by whom.
    private(set) var lastServedUs: Int64?
    private(set) var lastHolder: NodeID?
    /// When a node that could be a replica was last kept from it, because it had been removed for a cause.
    var blockedUs: Int64 = .min / 2
    /// Of its holder.
    var generation: UInt64 = 0
    /// When its holder began its epoch, if it did not begin the generation.
    var epochStartUs: Int64 = .min / 2
    var epochHolder: NodeID?

    /// - Returns: the pause that ended.
    mutating func set(_ holder: NodeID?, isKill: Bool, nowUs: Int64) -> Pause? {
        if let holder {
            lastServedUs = nowUs
            lastHolder = holder
            guard !isServed else { return nil }
            isServed = true
            guard !pauses.isEmpty else { return nil }
            pauses[pauses.count - 1].toUs = nowUs
            return pauses[pauses.count - 1]
        }
        if isServed {
            isServed = false
            if pauses.count > 1_000 { pauses.removeFirst(500) }
            pauses.append(Pause(fromUs: nowUs, isKill: isKill))
        } else if isKill, !pauses.isEmpty {
            pauses[pauses.count - 1].isKill = true
        }
        return nil
    }
}
