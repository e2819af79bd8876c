/// Answers requests. Called on the loop of the connection; an answer may come at once or later.
public protocol HTTPHandler: AnyObject, Sendable {
    /// One complete request. The handler calls `respond` or `acceptWebSocket` of the exchange, once; an exchange that
    /// is let go without an answer is answered 500.
    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
}

/// One request's right to an answer.
///
/// `@unchecked Sendable`: its mutable state is touched only on its loop; `respond` goes there by itself.
public final class HTTPExchange: @unchecked Sendable {
    /// The loop of the connection.
    public let loop: EventLoop
    /// Set when the client asks for a WebSocket (and asks rightly; else it was answered already): the subprotocols that
    /// it offers, in its order, perhaps none.
    public let offeredSubprotocols: [String]?
    private let key: String?
    private let request: HTTPRequest
    private let connection: HTTPConnection
    private var isAnswered = false

    init(connection: HTTPConnection, request: HTTPRequest, key: String?, subprotocols: [String]?) {
        loop = connection.loop
        self.connection = connection
        self.request = request
        self.key = key
        offeredSubprotocols = subprotocols
    }

    deinit {
        guard !isAnswered else { return }
        let connection = self.connection
        let request = self.request
        connection.loop.execute { connection.respond(HTTPResponse(500), to: request) }
    }

    /// Whether the client asks for a WebSocket.
    public var isWebSocket: Bool { offeredSubprotocols != nil }

    /// Answers. Any thread. Only the first answer counts. To a WebSocket request this is the refusal.
    public func respond(_ response: HTTPResponse) {
        guard loop.isCurrent else {
            loop.execute { self.respond(response) }
            return
        }
        guard !isAnswered else { return }
        isAnswered = true
        connection.respond(response, to: request)
    }

    /// Makes the connection a WebSocket. Only on the loop.
    /// - Parameters:
    ///   - subprotocol: one of the offered ones, or nil.
    ///   - makeHandler: makes the owner of the new connection, on the loop, before anything is delivered.
    /// - Returns: the connection; nil when the client is gone meanwhile, asked for no WebSocket, or is answered
    ///   already.
    @discardableResult
    public func acceptWebSocket(
        subprotocol: String?, options: WebSocketOptions = WebSocketOptions(),
        _ makeHandler: (WebSocketConnection) -> any WebSocketHandler
    ) -> WebSocketConnection? {
        loop.preconditionCurrent()
        guard !isAnswered, let key else { return nil }
        isAnswered = true
        var headers = HTTPHeaders([
            ("upgrade", "websocket"), ("connection", "Upgrade"),
            ("sec-websocket-accept", WebSocketHandshake.accept(key)),
        ])
        if let subprotocol { headers.add("sec-websocket-protocol", subprotocol) }
        return connection.upgrade(HTTPResponse(101, headers: headers), subprotocol, options, makeHandler)
    }
}
