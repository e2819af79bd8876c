public import HoldfastProtocol
public import HoldfastTransport

/// What an engine has to work with.
public struct NodeParts: Sendable {
    /// The checked config.
    public var config: ServerConfig
    /// Checks the tokens of the config's projects.
    public var verifier: TokenVerifier
    /// The loops; they run.
    public var loops: EventLoopGroup
    /// The node's log.
    public var log: Log
    /// Asks the process to end, as a signal does.
    public var requestEnd: @Sendable () -> Void
}

/// A client that asks for a WebSocket.
public struct ConnectionOffer: Sendable {
    /// The subprotocols that it offers, in its order; perhaps none.
    public var subprotocols: [String]
    /// Its address without port.
    public var remoteAddress: String
    /// The loop that carries the connection, and on which the decision is made.
    public var loop: EventLoop
}

/// What becomes of a client that asks for a WebSocket.
public enum ConnectionDecision {
    /// The connection is made; `handler` makes its owner, on the connection's loop, before anything is delivered.
    case accept(subprotocol: String?, options: WebSocketOptions, handler: (WebSocketConnection) -> any WebSocketHandler)
    /// An HTTP status and a JSON error with this code instead.
    case refuse(status: Int, code: ErrorCode, message: String)
}

/// Decides about clients that ask for a WebSocket.
public protocol ConnectionAcceptor: Sendable {
    /// Called on the offer's loop. Not while the node drains: those are refused with 503 before.
    func decide(_ offer: ConnectionOffer) -> ConnectionDecision
}

/// The game part of a node: shards, rooms, connections.
public protocol NodeEngine: ConnectionAcceptor {
    /// Makes the engine and readies it for clients; its metrics go into `metrics`, and none later.
    static func start(_ parts: NodeParts, metrics: inout MetricsRegistry) async throws -> Self

    /// Whether it would take clients now, or do the part of a node that takes none.
    var isReady: Bool { get }

    /// Tells every client that this node leaves (38), closes their links, moves what this node holds to others, and
    /// returns when that is done. After `Node.drainMs` the process ends, whether it has returned or not.
    func drain() async
}

/// An engine without a game: every client is refused.
struct ClosedEngine: NodeEngine {
    static func start(_ parts: NodeParts, metrics: inout MetricsRegistry) async throws -> ClosedEngine {
        ClosedEngine()
    }

    func decide(_ offer: ConnectionOffer) -> ConnectionDecision {
        .refuse(status: 503, code: .serverError, message: "this node takes no players")
    }

    var isReady: Bool { true }

    func drain() async {}
}
