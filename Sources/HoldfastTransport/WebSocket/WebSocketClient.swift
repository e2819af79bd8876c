/// Why a client did not get its WebSocket.
public enum WebSocketConnectError: Error, Sendable, Equatable {
    /// Not a `ws:` or `wss:` address.
    case badURL
    /// The name has no address.
    case unknownHost
    /// The system refused; an `errno` value.
    case socket(Int32)
    /// The TLS handshake failed; what OpenSSL says.
    case tls(String)
    /// The server answered with this HTTP status instead of 101.
    case refused(status: Int)
    /// The server's answer is not the handshake of RFC 6455, or names a subprotocol that was not offered.
    case badAnswer
    /// Not done within the time limit.
    case timeout
    /// The loop stops, or `cancel` was called.
    case cancelled
}

/// What a WebSocket client can set.
public struct WebSocketClientOptions: Sendable {
    /// Offered to the server, in order of preference.
    public var subprotocols: [String] = []
    /// Further header fields of the request.
    public var headers = HTTPHeaders()
    /// For the whole way to the open WebSocket: name, TCP, TLS, handshake; in ms.
    public var connectTimeoutMs: Int64 = 10_000
    /// For `wss:`; made anew for each connection when nil (`TLSTrust.system`). Share one among many connections.
    public var tls: TLSContext?
    /// Of the connection.
    public var webSocket = WebSocketOptions()

    /// The defaults.
    public init() {}
}

/// Opens WebSockets to servers.
public enum WebSocketClient {
    /// Connects. Any thread.
    /// - Parameters:
    ///   - loop: carries the connection; all callbacks come there.
    ///   - opened: makes the owner of the open connection, before anything is delivered.
    ///   - failed: instead of `opened`. Exactly one of both is called, once.
    /// - Returns: what can cancel the attempt.
    @discardableResult
    public static func connect(
        to url: String, on loop: EventLoop, options: WebSocketClientOptions = WebSocketClientOptions(),
        opened: @escaping @Sendable (WebSocketConnection) -> any WebSocketHandler,
        failed: @escaping @Sendable (WebSocketConnectError) -> Void
    ) -> WebSocketAttempt {
        let attempt = WebSocketAttempt(loop: loop, options: options, opened: opened, failed: failed)
        loop.execute { attempt.start(url) }
        return attempt
    }
}
