import Synchronization

/// What a server can set. Times are in ms.
public struct HTTPServerOptions: Sendable {
    /// A numeric address of this machine.
    public var host = "127.0.0.1"
    /// 0: the system picks a free one.
    public var port: UInt16 = 0
    /// Speaks TLS when set.
    public var tls: TLSContext?
    /// The request line and the header fields of one request; more is answered 431.
    public var headerBytes = 16 * 1024
    /// One request's body; more is answered 413.
    public var bodyBytes = 1024 * 1024
    /// From the connection (later: from a request's first byte) to the end of the header, TLS included; then it is
    /// closed.
    public var headerTimeoutMs: Int64 = 10_000
    /// From the end of the header to the end of the body; then 408.
    public var bodyTimeoutMs: Int64 = 30_000
    /// Between an answer and the next request, the time to take the answer included.
    public var idleTimeoutMs: Int64 = 60_000
    /// All loops together, WebSockets included; more are closed as soon as they come.
    public var maxConnections = 110_000

    /// The defaults.
    public init() {}
}

/// An HTTP/1.1 server with WebSocket upgrades: one listening socket; connections go to the loop that has the fewest.
public final class HTTPServer: Sendable {
    private let seats: [ServerSeat]
    private let options: HTTPServerOptions
    private let listener = Locked<Listener?>(nil)

    /// A server that does not listen yet. The loops must be started before `start`.
    public init(group: EventLoopGroup, options: HTTPServerOptions = HTTPServerOptions(), handler: any HTTPHandler) {
        self.options = options
        seats = group.loops.map { ServerSeat(loop: $0, options: options, handler: handler) }
    }

    /// Binds and listens. Any thread; once.
    /// - Returns: the port.
    @discardableResult
    public func start() throws(SocketError) -> UInt16 {
        let made = try Listener(host: options.host, port: options.port, seats: seats, maxCount: options.maxConnections)
        listener.withLock { $0 = made }
        made.start()
        return made.port
    }

    /// Takes no more connections; those that are open live on. Any thread.
    public func stopAccepting() {
        let made = listener.withLock { listener -> Listener? in
            defer { listener = nil }
            return listener
        }
        made?.stop()
    }

    /// Begins to close what is open: WebSockets with this code, HTTP connections after the
    /// answers that are due. Any thread.
    public func closeAll(code: UInt16 = 1001, reason: String = "") {
        stopAccepting()
        for seat in seats { seat.loop.execute { seat.closeAll(code: code, reason: reason) } }
    }

    /// Open connections, WebSockets included. Any thread.
    public var connectionCount: Int {
        seats.reduce(0) { $0 + $1.count.load(ordering: .relaxed) }
    }
}

/// A server's place on one loop: the connections that it has there.
///
/// `@unchecked Sendable`: `count` is atomic; the rest is confined to the loop.
final class ServerSeat: @unchecked Sendable {
    let loop: EventLoop
    let options: HTTPServerOptions
    let handler: any HTTPHandler
    /// Includes connections that are on their way to the loop.
    let count = Atomic<Int>(0)
    private(set) var isClosing = false
    private var http: [ObjectIdentifier: HTTPConnection] = [:]
    private var webSockets: [ObjectIdentifier: WebSocketConnection] = [:]

    init(loop: EventLoop, options: HTTPServerOptions, handler: any HTTPHandler) {
        self.loop = loop
        self.options = options
        self.handler = handler
    }

    /// A new connection, already counted.
    func take(socket: Int32, remoteAddress: String) {
        let session = options.tls?.makeSession(host: nil)
        let lacksTLS = options.tls != nil && session == nil
        guard
            let channel = SocketChannel(loop: loop, socket: socket, remoteAddress: remoteAddress, tls: session)
        else {
            count.subtract(1, ordering: .relaxed)
            return
        }
        guard !isClosing, !lacksTLS else {
            channel.abort()
            count.subtract(1, ordering: .relaxed)
            return
        }
        let connection = HTTPConnection(channel: channel, seat: self)
        http[ObjectIdentifier(connection)] = connection
        connection.start()
    }

    func forget(_ connection: HTTPConnection) {
        guard http.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        count.subtract(1, ordering: .relaxed)
    }

    func replace(_ connection: HTTPConnection, by webSocket: WebSocketConnection) {
        http[ObjectIdentifier(connection)] = nil
        webSockets[ObjectIdentifier(webSocket)] = webSocket
        webSocket.onEnd = { [weak self, weak webSocket] in
            guard let self, let webSocket else { return }
            webSockets[ObjectIdentifier(webSocket)] = nil
            count.subtract(1, ordering: .relaxed)
        }
    }

    func closeAll(code: UInt16, reason: String) {
        isClosing = true
        for connection in http.values { connection.closeWhenIdle() }
        for webSocket in webSockets.values { webSocket.close(code: code, reason: reason) }
    }
}
