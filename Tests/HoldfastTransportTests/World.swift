import HoldfastTransport
import Synchronization

/// What a test sees happen on a WebSocket.
enum Seen: Equatable, Sendable {
    case text(String)
    case binary([UInt8])
    case fault(WebSocketFault)
    case drained
    case closed(WebSocketEnd)
}

/// Values that come from loops, awaited by a test in order.
final class Inbox<Value: Sendable>: Sendable {
    private let stream: AsyncStream<Value>
    private let continuation: AsyncStream<Value>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func put(_ value: Value) {
        continuation.yield(value)
    }

    func next() async -> Value? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}

/// A handler that writes down what it sees, and answers if told to.
final class Recorder: WebSocketHandler, Sendable {
    let connection: WebSocketConnection
    let seen = Inbox<Seen>()
    private let echoes: Bool
    private let closesOnFault: Bool

    init(_ connection: WebSocketConnection, echoes: Bool = false, closesOnFault: Bool = true) {
        self.connection = connection
        self.echoes = echoes
        self.closesOnFault = closesOnFault
    }

    func received(message: UnsafeRawBufferPointer, kind: WebSocketKind, on connection: WebSocketConnection) {
        let bytes = Array(message)
        seen.put(kind == .text ? .text(String(decoding: bytes, as: UTF8.self)) : .binary(bytes))
        if echoes { connection.send(PreparedFrame(kind, payload: bytes)) }
    }

    func faulted(_ fault: WebSocketFault, on connection: WebSocketConnection) {
        seen.put(.fault(fault))
        guard closesOnFault else { return }
        connection.send(PreparedFrame(text: "last words"))
        connection.close(code: fault.closeCode)
    }

    func drained(_ connection: WebSocketConnection) {
        seen.put(.drained)
    }

    func closed(_ end: WebSocketEnd, on connection: WebSocketConnection) {
        seen.put(.closed(end))
    }

    func next() async -> Seen? { await seen.next() }

    func onLoop(_ work: @escaping @Sendable (WebSocketConnection) -> Void) {
        let connection = self.connection
        connection.loop.execute { work(connection) }
    }

    func send(_ text: String) {
        onLoop { $0.send(PreparedFrame(text: text)) }
    }

    func close(_ code: UInt16, _ reason: String = "") {
        onLoop { $0.close(code: code, reason: reason) }
    }
}

/// Loops, a server on them and what it accepted.
final class World: HTTPHandler {
    let group: EventLoopGroup
    let accepted = Inbox<Recorder>()
    let requests = Inbox<HTTPRequest>()
    private let box = Locked<HTTPServer?>(nil)
    private let portBox = Atomic<Int>(0)
    private let webSocketOptions: WebSocketOptions
    private let isSecure: Bool
    /// Answers plain requests; runs on a loop.
    private let answer: @Sendable (HTTPRequest, HTTPExchange) -> Void

    init(
        loops: Int = 2, options: HTTPServerOptions = HTTPServerOptions(),
        webSocketOptions: WebSocketOptions = WebSocketOptions(),
        answer: @escaping @Sendable (HTTPRequest, HTTPExchange) -> Void = { request, exchange in
            exchange.respond(HTTPResponse(200, text: "\(request.method) \(request.path) \(request.body.count)"))
        }
    ) throws {
        group = EventLoopGroup(count: loops, name: "test")
        self.webSocketOptions = webSocketOptions
        self.answer = answer
        isSecure = options.tls != nil
        group.start()
        let server = HTTPServer(group: group, options: options, handler: self)
        portBox.store(Int(try server.start()), ordering: .relaxed)
        box.withLock { $0 = server }
    }

    var port: UInt16 { UInt16(portBox.load(ordering: .relaxed)) }

    /// Nil when stopped.
    var server: HTTPServer? { box.withLock { $0 } }

    func stop() {
        server?.stopAccepting()
        group.stop()
        // The server holds the handler, which is this.
        box.withLock { $0 = nil }
    }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        requests.put(request)
        guard exchange.isWebSocket, request.path != "/refused" else {
            answer(request, exchange)
            return
        }
        let accepted = self.accepted
        let mode = request.path
        exchange.acceptWebSocket(subprotocol: exchange.offeredSubprotocols?.first, options: webSocketOptions) {
            let recorder = Recorder($0, echoes: mode == "/echo", closesOnFault: mode != "/keep")
            accepted.put(recorder)
            return recorder
        }
    }

    func connect(
        path: String = "/echo", subprotocols: [String] = [], tls: TLSContext? = nil,
        options: WebSocketClientOptions = WebSocketClientOptions()
    ) async throws -> Recorder {
        var options = options
        options.subprotocols = subprotocols
        options.tls = tls
        let url = "\(isSecure ? "wss" : "ws")://127.0.0.1:\(port)\(path)"
        let loop = group.loops[0]
        return try await withCheckedThrowingContinuation { continuation in
            WebSocketClient.connect(
                to: url, on: loop, options: options,
                opened: { connection in
                    let recorder = Recorder(connection)
                    continuation.resume(returning: recorder)
                    return recorder
                },
                failed: { continuation.resume(throwing: $0) })
        }
    }
}
