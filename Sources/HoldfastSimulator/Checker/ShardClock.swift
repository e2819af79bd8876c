import HoldfastProtocol
import HoldfastReplication

/// Shard time, held against simulated time (invariant 11). A shard's lead is its time less the simulated one: a primary
/// keeps it, and a new primary goes on with what it had when the newest entry came to it.
struct ShardClock {
    /// How much a clock of a node goes wrong in a millisecond, in millionths, and what rounding takes.
    static let driftPPM: Int64 = 1_500
    static let slackMs: Int64 = 5

    /// The newest entry of the newest primary that has started. One that was replaced and does not know it yet goes on
    /// with a log that nobody will have.
    private var generation: UInt64 = 0
    private var epoch: UInt64 = 0
    private var index: UInt64 = 0
    private var timeMs: Int64 = .min
    private var wallMs: Int64 = .min
    private var leadMs: Int64 = 0
    private var seenMs: Int64 = 0
    private var maker: NodeID?
    /// What it had committed then: only that is still there when another one goes on.
    private var committed: UInt64 = 0
    /// Its last entries.
    private var recent: [(index: UInt64, timeMs: Int64, wallMs: Int64)] = []

    /// What one replica knows of time.
    struct Known {
        var leadMs: Int64
        var seenMs: Int64
    }

    /// A started primary has made entries.
    /// - Parameter known: its own, from the entry that it had before; nil: it had none.
    mutating func made(
        _ glance: ReplicaGlance, by node: NodeID, of shard: ShardID, known: Known?, nowMs: Int64
    ) -> Violation? {
        let lead = glance.timeMs - nowMs
        let what = "\(shard.short): \(node.short) gives entry \(glance.last) the time \(glance.timeMs)"
        defer {
            if (glance.generation, glance.epoch, glance.last) >= (generation, epoch, index) {
                if glance.generation != generation { recent = [] }
                generation = glance.generation
                epoch = glance.epoch
                index = glance.last
                timeMs = glance.timeMs
                wallMs = glance.wallMs
                leadMs = lead
                seenMs = nowMs
                maker = node
                committed = glance.committed
                if recent.count >= 64 { recent.removeFirst(32) }
                recent.append((index, timeMs, wallMs))
            }
        }
        guard glance.generation == generation, glance.epoch >= epoch else { return nil }
        // The newest entry of a primary that was replaced may never have got anywhere.
        if glance.last < index || maker != node && committed < index {
            let safe = recent.last { $0.index <= committed }
            if let safe, glance.timeMs < safe.timeMs || glance.wallMs < safe.wallMs {
                return Violation(11, "\(what), and entry \(safe.index), which was committed, has \(safe.timeMs)")
            }
            return nil
        }
        if glance.timeMs < timeMs { return Violation(11, "\(what), and entry \(index) has \(timeMs)") }
        if glance.wallMs < wallMs {
            return Violation(11, "\(what), wall time \(glance.wallMs), and entry \(index) has wall time \(wallMs)")
        }
        let most = leadMs + Self.allowance(nowMs - seenMs)
        if lead > most {
            return Violation(11, "\(what), \(lead - leadMs) ms more than have passed since entry \(index)")
        }
        guard let known else { return nil }
        let least = known.leadMs - Self.allowance(nowMs - known.seenMs)
        if lead < least {
            return Violation(
                11, "\(what), \(known.leadMs - lead) ms less than have passed since its entry before came to it")
        }
        return nil
    }

    static func allowance(_ elapsedMs: Int64) -> Int64 { slackMs + elapsedMs * driftPPM / 1_000_000 }
}
