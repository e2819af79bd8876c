public import HoldfastProtocol
public import HoldfastReplication

/// What a cluster is like in one simulation.
public struct SimSetup: Hashable, Sendable {
    /// Nodes that are there from the beginning: slots 0 ..< nodes. Further ones may join.
    public var nodes = 3
    /// Wanted for each shard.
    public var replicas = 2
    public var layout = ShardLayout(entityShards: 4, matchShards: 1)
    /// Further slots for nodes that join.
    public var spares = 0
    /// Whether every two nodes share a host label with none.
    public var hosts: [String] = []
    public var resumeWindowMs = 10_000
    public var heartbeatMs = 2_000
    public var requestTimeoutMs = 5_000
    /// Bytes of a client's queue before it ends with 37.
    public var sendQueueBytes = 64 * 1024
    public var clients = 6
    /// Timings and limits of shards; how many replicas are wanted is above.
    public var replication = ReplicationSettings()

    public init() {}

    public var slots: Int { nodes + spares }

    public var limits: Limits {
        var limits = Limits()
        limits.resumeWindowMs = UInt32(resumeWindowMs)
        limits.heartbeatMs = UInt32(heartbeatMs)
        limits.requestTimeoutMs = UInt32(requestTimeoutMs)
        limits.sendQueueBytes = sendQueueBytes
        return limits
    }
}

extension SimSetup: CustomStringConvertible {
    public var description: String {
        "\(nodes) nodes, \(replicas) replicas, \(layout.entityShards) + \(layout.matchShards) shards, "
            + "\(clients) clients, resume window \(resumeWindowMs) ms"
    }
}

/// A cluster and all that goes wrong in it. A value: it can be printed, edited and run again.
public struct FaultPlan: Hashable, Sendable {
    public struct Scheduled: Hashable, Sendable {
        public var atMs: Int
        public var fault: Fault

        public init(atMs: Int, _ fault: Fault) {
            self.atMs = atMs
            self.fault = fault
        }
    }

    public var setup: SimSetup
    /// By time.
    public var faults: [Scheduled]
    /// All faults end here: what is paused wakes, what is cut heals, what is down starts.
    public var quietAtMs: Int
    public var endMs: Int

    public init(setup: SimSetup = SimSetup(), faults: [Scheduled] = [], quietAtMs: Int = 25_000, endMs: Int = 37_000) {
        self.setup = setup
        self.faults = faults
        self.quietAtMs = quietAtMs
        self.endMs = endMs
    }

    /// The only node that has any fault; nil: there are none, or not at one only.
    public var onlyFaulty: Int? {
        guard let first = faults.first?.fault.node else { return nil }
        return faults.allSatisfy { $0.fault.node == first } ? first : nil
    }

    /// When the first fault begins.
    public static let firstFaultMs = 3_000
}

extension FaultPlan: CustomStringConvertible {
    public var description: String {
        var lines = ["\(setup)", "faults end at \(quietAtMs) ms, all ends at \(endMs) ms"]
        for scheduled in faults { lines.append("at \(scheduled.atMs) ms: \(scheduled.fault)") }
        return lines.joined(separator: "\n")
    }
}
