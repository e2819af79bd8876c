internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

/// The engine that plays: all shards of the cluster in one process, spread over its loops. No other server is needed.
public final class GameEngine: NodeEngine {
    private let loops: [NodeLoop]
    private let shared: NodeShared

    private let takesClients: Bool

    private init(loops: [NodeLoop], shared: NodeShared, takesClients: Bool) {
        self.loops = loops
        self.shared = shared
        self.takesClients = takesClients
    }

    public var isReady: Bool { shared.cluster.isReady }

    public static func start(_ parts: NodeParts, metrics: inout MetricsRegistry) async throws -> GameEngine {
        let limits = parts.config.limits
        let rooms = parts.config.projects.reduce(into: [String: Int]()) { $0[$1.key] = $1.rooms }
        let sharedLimits = SharedLimits(limits, rooms: rooms)
        var replication = ReplicationSettings()
        let node: NodeInfo
        let cluster: any NodeCluster
        if let config = parts.config.cluster {
            replication.replicas = config.replicas
            let part = ClusterNode(
                config, loop: parts.loops[0], url: parts.config.url, layout: sharedLimits.layout,
                rules: replication.rules, log: parts.log, requestEnd: parts.requestEnd)
            node = try await part.join()
            cluster = part
        } else {
            // Nobody to hear from: what is left of a sweep can wait.
            replication.sweepMs = 1_000
            replication.replicas = 1
            node = NodeInfo(id: NodeID(name: "local", incarnation: 1))
            cluster = EmbeddedCoordinator(node: node, layout: sharedLimits.layout, rules: replication.rules)
        }
        let shared = NodeShared(
            node: node.id, limits: sharedLimits, tokens: TokenGate(verifier: parts.verifier),
            budgets: BudgetLedger(limits: limits), counters: EngineCounters(&metrics), log: parts.log,
            wallOffsetMs: WallClock.nowMs - EventLoop.nowMs, loopCount: parts.loops.loops.count,
            replication: replication, cluster: cluster)
        let loops = parts.loops.loops.enumerated().map { NodeLoop(index: $0, loop: $1, shared: shared) }
        for loop in loops { await loop.begin(loops) }
        await cluster.begin(loops)
        return GameEngine(loops: loops, shared: shared, takesClients: node.roles.contains(.gateway))
    }

    public func decide(_ offer: ConnectionOffer) -> ConnectionDecision {
        guard let node = loops.first(where: { $0.loop === offer.loop }) else {
            return .refuse(status: 503, code: .serverError, message: "this loop takes no clients")
        }
        guard takesClients else {
            return .refuse(status: 503, code: .serverError, message: "this node is no gateway")
        }
        guard isReady else {
            return .refuse(status: 503, code: .serverError, message: "this node does not see the cluster yet")
        }
        let limits = shared.limits.value
        guard shared.counters.links.value < limits.connectionsPerNode else {
            return .refuse(status: 503, code: .serverError, message: "the node has all the links that it may have")
        }
        switch SubprotocolChoice.choose(offer.subprotocols) {
        case .refuse:
            return .refuse(
                status: 400, code: .invalidRequest,
                message: "none of the offered subprotocols is known; use holdfast.v1.json or holdfast.v1.protobuf")
        case .accept(let encoding, let subprotocol):
            var options = WebSocketOptions()
            options.maxMessageBytes = limits.messageBytes
            return .accept(subprotocol: subprotocol, options: options) { socket in
                node.assumeIsolated { $0.accept(socket, encoding) }
            }
        }
    }

    public func drain() async {
        async let left: Void = shared.cluster.leave()
        for loop in loops {
            let gate = Gate()
            await loop.drain(gate)
            await gate.wait()
        }
        await left
    }
}
