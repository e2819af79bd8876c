internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

/// What all loops of a node share: facts that do not change, and what guards itself.
struct NodeShared: Sendable {
    let node: NodeID
    let limits: SharedLimits
    let tokens: TokenGate
    let budgets: BudgetLedger
    let counters: EngineCounters
    let log: Log
    /// Wall time is the loops' clock plus this.
    let wallOffsetMs: Int64
    let loopCount: Int
    let replication: ReplicationSettings
    let cluster: any NodeCluster

    var wallMs: Int64 { EventLoop.nowMs + wallOffsetMs }
}

/// What the engine counts for `/metrics`.
struct EngineCounters: Sendable {
    let links: Gauge
    let players: Gauge
    let rooms: Gauge
    let primaries: Gauge
    let backups: Gauge
    let learners: Gauge
    let sole: Gauge
    let uncommitted: Gauge
    let received: Counter
    let sent: Counter
    let entries: Counter
    let slowConsumers: Counter
    let silent: Counter

    init(_ metrics: inout MetricsRegistry) {
        links = metrics.gauge("holdfast_links", "Open client links.")
        players = metrics.gauge("holdfast_players", "Players with a run or a seat.")
        rooms = metrics.gauge("holdfast_rooms", "Rooms.")
        let shards = "Shards of which a replica is here, by its role."
        primaries = metrics.gauge("holdfast_shards", shards, [("role", "primary")])
        backups = metrics.gauge("holdfast_shards", shards, [("role", "backup")])
        learners = metrics.gauge("holdfast_shards", shards, [("role", "learner")])
        sole = metrics.gauge("holdfast_shards_sole", "Shards that have no replica but the one here.")
        uncommitted = metrics.gauge("holdfast_entries_uncommitted", "Entries that backups have not acknowledged.")
        received = metrics.counter("holdfast_messages_received_total", "Messages from clients.")
        sent = metrics.counter("holdfast_messages_sent_total", "Messages to clients.")
        entries = metrics.counter("holdfast_log_entries_total", "Entries of the shards' logs.")
        slowConsumers = metrics.counter("holdfast_slow_consumers_total", "Links ended with 37.")
        silent = metrics.counter("holdfast_silent_links_total", "Links dropped because nothing came.")
    }
}
