public import HoldfastProtocol

/// The simulated clients in a world.
public final class SimCrowd: SimPlayers {
    public private(set) var clients: SimClients

    public init(seed: UInt64, plan: FaultPlan) {
        let setup = plan.setup
        var settings = SimClientSettings()
        settings.players = setup.clients
        settings.endpoints = setup.slots
        settings.resumeWindowMs = Int64(setup.resumeWindowMs)
        clients = SimClients(
            settings: settings, limits: setup.limits, layout: setup.layout,
            seed: SimRandom.first(seed: seed, stream: 5))
    }

    public func start(nowMs: Int64, into orders: inout [ClientOrder]) { clients.start(nowMs: nowMs) }
    public func linkOpened(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        clients.linkOpened(link, nowMs: nowMs, into: &orders)
    }
    public func linkClosed(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        clients.linkClosed(link, nowMs: nowMs, into: &orders)
    }
    public func received(_ message: ServerMessage, on link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        clients.received(message, on: link, nowMs: nowMs, into: &orders)
    }
    public func linkActive(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        clients.heardPing(link, nowMs: nowMs, into: &orders)
    }
    public func tick(nowMs: Int64, into orders: inout [ClientOrder]) { clients.tick(nowMs: nowMs, into: &orders) }
    public var nextDeadlineMs: Int64? { clients.nextDeadlineMs() }
    public func faultsEnded(nowMs: Int64, into orders: inout [ClientOrder]) {
        clients.beginQuiet(nowMs: nowMs, into: &orders)
    }
    public func ended(nowMs: Int64) { clients.atEnd(nowMs: nowMs) }
    public func finaleBegins(nowMs: Int64, into orders: inout [ClientOrder]) {
        clients.beginFinale(nowMs: nowMs, into: &orders)
    }
    public func finaleEnded(nowMs: Int64) { clients.atFinaleEnd(nowMs: nowMs) }
    public func shardLost(_ home: ShardID, nowMs: Int64) { clients.checker.shardLost(home, nowMs: nowMs) }
    public func epochStarted(_ home: ShardID, nowMs: Int64) { clients.checker.epochStarted(home, nowMs: nowMs) }
    public func disturbed(endpoint: Int, nowMs: Int64) { clients.checker.disturbed(endpoint: endpoint, nowMs: nowMs) }
    public var violation: Violation? { clients.checker.violations.first }
}

extension SimRandom {
    /// The first number of a stream.
    static func first(seed: UInt64, stream: UInt64) -> UInt64 {
        var random = SimRandom(seed: seed, stream: stream)
        return random.next()
    }
}
