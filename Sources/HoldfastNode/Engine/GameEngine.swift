internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

/// The engine that plays: all shards of the cluster in one process, spread over its loops. No other server is needed.
public final class GameEngine: NodeEngine {
    private let loops: [NodeLoop]
    private let shared: NodeShared

    private init(loops: [NodeLoop], shared: NodeShared) {
        self.loops = loops
        self.shared = shared
    }

    public static func start(_ parts: NodeParts, metrics: inout MetricsRegistry) async throws -> GameEngine {
        let limits = parts.config.limits
        let rooms = parts.config.projects.reduce(into: [String: Int]()) { $0[$1.key] = $1.rooms }
        let sharedLimits = SharedLimits(limits, rooms: rooms)
        let node = NodeInfo(id: NodeID(name: "local", incarnation: 1))
        var replication = ReplicationSettings()
        // Nobody to hear from: what is left of a sweep can wait.
        replication.sweepMs = 1_000
        replication.replicas = 1
        let shared = NodeShared(
            node: node.id, limits: sharedLimits, tokens: TokenGate(verifier: parts.verifier),
            budgets: BudgetLedger(limits: limits), counters: EngineCounters(&metrics), log: parts.log,
            wallOffsetMs: WallClock.nowMs - EventLoop.nowMs, loopCount: parts.loops.loops.count,
            replication: replication,
            coordinator: EmbeddedCoordinator(node: node, layout: sharedLimits.layout, rules: replication.rules))
        let loops = parts.loops.loops.enumerated().map { NodeLoop(index: $0, loop: $1, shared: shared) }
        for loop in loops { await loop.begin(loops) }
        return GameEngine(loops: loops, shared: shared)
    }

    public func decide(_ offer: ConnectionOffer) -> ConnectionDecision {
        guard let node = loops.first(where: { $0.loop === offer.loop }) else {
            return .refuse(status: 503, code: .serverError, message: "this loop takes no clients")
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
        for loop in loops {
            let gate = Gate()
            await loop.drain(gate)
            await gate.wait()
        }
    }
}
