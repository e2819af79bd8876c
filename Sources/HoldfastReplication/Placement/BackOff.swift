public import HoldfastProtocol

/// How long a node waits that was removed from records because it was dead, silent or stuck, until it may be a learner
/// again: 5 s, and twice as long each time, up to 5 minutes (design, rule 14). Not for what balancing removes.
public struct BackOff: Sendable {
    public struct Settings: Hashable, Sendable {
        public var firstMs: Int64 = 5_000
        public var mostMs: Int64 = 300_000
        /// So long after its wait a node has to stay until nothing is held against it any more.
        public var quietMs: Int64 = 600_000
        /// Nodes kept; the one whose wait ends first makes place.
        public var maxNodes = 1_024

        public init() {}
    }

    private struct Wait {
        var untilMs: Int64
        var lengthMs: Int64
    }

    private let settings: Settings
    private var waits: [NodeID: Wait] = [:]

    public init(settings: Settings = Settings()) {
        self.settings = settings
    }

    public var count: Int { waits.count }

    /// The node was removed from a record. While it waits, it is still the same mishap, seen by another shard.
    public mutating func removed(_ node: NodeID, nowMs: Int64) {
        prune(nowMs: nowMs)
        var lengthMs = settings.firstMs
        if let wait = waits[node] {
            if nowMs < wait.untilMs { return }
            lengthMs = min(wait.lengthMs * 2, settings.mostMs)
        } else if waits.count >= settings.maxNodes,
            let first = waits.min(by: { ($0.value.untilMs, $0.key) < ($1.value.untilMs, $1.key) })?.key
        {
            waits[first] = nil
        }
        waits[node] = Wait(untilMs: nowMs + lengthMs, lengthMs: lengthMs)
    }

    public func isWaiting(_ node: NodeID, nowMs: Int64) -> Bool {
        waits[node].map { nowMs < $0.untilMs } ?? false
    }

    /// When the next node's wait ends.
    public func nextEndMs(nowMs: Int64) -> Int64? {
        waits.values.lazy.map(\.untilMs).filter { $0 > nowMs }.min()
    }

    private mutating func prune(nowMs: Int64) {
        waits = waits.filter { nowMs < $0.value.untilMs + settings.quietMs }
    }
}
