import Testing

@testable import HoldfastTransport

@Suite(.timeLimit(.minutes(2))) struct ClientTests {
    @Test(arguments: [
        ("ws://a", WebSocketURLParts("a", 80, "/", false)),
        ("wss://a.b:7/c?d=e", WebSocketURLParts("a.b", 7, "/c?d=e", true)),
        ("WS://[::1]:9?x", WebSocketURLParts("::1", 9, "/?x", false)),
        ("http://a", nil), ("ws://", nil), ("ws://a:0", nil), ("ws://a:x", nil), ("ws://u@a", nil), ("ws://a/#f", nil),
        ("ws://a/b c", nil), ("ws://a\r\nX: y", nil), ("ws://[::1", nil),
    ])
    func addresses(_ text: String, _ expected: WebSocketURLParts?) {
        #expect(WebSocketURL(text).map { WebSocketURLParts($0.host, $0.port, $0.target, $0.isSecure) } == expected)
    }

    func failure(
        _ url: String, _ world: World, options: WebSocketClientOptions = WebSocketClientOptions()
    ) async -> WebSocketConnectError? {
        await withCheckedContinuation { continuation in
            WebSocketClient.connect(
                to: url, on: world.group.loops[0], options: options,
                opened: { connection in
                    continuation.resume(returning: nil)
                    return Recorder(connection)
                }, failed: { continuation.resume(returning: $0) })
        }
    }

    @Test func whatGoesWrongIsTold() async throws {
        let world = try World { _, exchange in exchange.respond(HTTPResponse(403)) }
        defer { world.stop() }
        let base = "ws://127.0.0.1:\(world.port)"
        #expect(await failure("http://x", world) == .badURL)
        #expect(await failure("\(base)/refused", world) == .refused(status: 403))
        #expect(await failure("ws://no.such.host.invalid/", world) == .unknownHost)
        #expect(await failure("wss://127.0.0.1:\(world.port)/", world) != nil)
        let silent = try SilentServer()
        var options = WebSocketClientOptions()
        options.connectTimeoutMs = 30
        #expect(await failure("ws://127.0.0.1:\(silent.port)/", world, options: options) == .timeout)
        let port = silent.port
        silent.close()
        guard case .socket = await failure("ws://127.0.0.1:\(port)/", world) else {
            Issue.record("a closed port is a socket error")
            return
        }
    }

    @Test func anAttemptCanBeCancelledAndEndsWithItsLoop() async throws {
        let world = try World()
        let silent = try SilentServer()
        defer { silent.close() }
        let ends = Inbox<WebSocketConnectError>()
        let url = "ws://127.0.0.1:\(silent.port)/"
        let attempt = WebSocketClient.connect(
            to: url, on: world.group.loops[0], opened: { Recorder($0) }, failed: { ends.put($0) })
        attempt.cancel()
        attempt.cancel()
        #expect(await ends.next() == .cancelled)
        WebSocketClient.connect(
            to: url, on: world.group.loops[0], opened: { Recorder($0) }, failed: { ends.put($0) })
        world.stop()
        #expect(await ends.next() == .cancelled)
    }

    @Test(arguments: [
        "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
        "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n",
        "nonsense\r\n\r\n", "HTTP/1.1 101\r\n: x\r\n\r\n",
        String(repeating: "x", count: 20_000),
    ])
    func badAnswers(_ text: String) async throws {
        let world = try World()
        defer { world.stop() }
        let silent = try SilentServer(answer: text)
        defer { silent.close() }
        #expect(await failure("ws://127.0.0.1:\(silent.port)/", world) == .badAnswer)
    }

    @Test func answersInAnyPieces() {
        let text = "HTTP/1.1 101 Switching\r\nA: b\r\nC:d\r\n\r\nrest"
        for size in 1...text.utf8.count {
            var head = HTTPResponseHead()
            var progress = HTTPResponseHead.Progress.needsMore
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty, progress == .needsMore {
                progress = rest.prefix(size).withUnsafeBytes { head.feed($0) }
                rest = rest.dropFirst(size)
            }
            guard case .complete(let early) = progress else {
                Issue.record("pieces of \(size)")
                continue
            }
            #expect(early + rest == Array("rest".utf8))
            #expect(head.status == 101 && head.headers["a"] == "b" && head.headers["c"] == "d")
        }
    }

    @Test func bigMessagesBothWays() async throws {
        let world = try World()
        defer { world.stop() }
        let client = try await world.connect()
        for count in [0, 1, 125, 126, 65_535, 65_536, 96 * 1024] {
            let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            client.onLoop { $0.send(PreparedFrame(.binary, payload: payload)) }
            var seen = await client.next()
            while seen == .drained { seen = await client.next() }
            #expect(seen == .binary(payload))
        }
    }

    @Test func theHandshakeOfTheStandard() {
        #expect(WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(WebSocketHandshake.isKey(WebSocketHandshake.makeKey()))
        #expect(WebSocketHandshake.base64([]) == "" && WebSocketHandshake.base64([255]) == "/w==")
        #expect(WebSocketHandshake.base64([1, 2]) == "AQI=" && WebSocketHandshake.base64([1, 2, 3]) == "AQID")
    }
}

struct WebSocketURLParts: Equatable, Sendable {
    let host: String
    let port: UInt16
    let target: String
    let isSecure: Bool

    init(_ host: String, _ port: UInt16, _ target: String, _ isSecure: Bool) {
        self.host = host
        self.port = port
        self.target = target
        self.isSecure = isSecure
    }
}
