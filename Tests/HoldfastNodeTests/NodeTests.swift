import Foundation
import HoldfastProtocol
import HoldfastTransport
import Testing

@testable import HoldfastNode

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A node with real sockets and an engine that sends back what it gets.
@Suite(.timeLimit(.minutes(1))) struct NodeTests {
    /// Sends back what comes.
    final class Echo: WebSocketHandler {
        func received(message: UnsafeRawBufferPointer, kind: WebSocketKind, on connection: WebSocketConnection) {
            connection.send(PreparedFrame(kind, payload: message))
        }
        func faulted(_ fault: WebSocketFault, on connection: WebSocketConnection) {
            connection.close(code: fault.closeCode)
        }
        func closed(_ end: WebSocketEnd, on connection: WebSocketConnection) {}
    }

    final class EchoEngine: NodeEngine {
        var isReady: Bool { true }
        let drained = Gate()
        let mayEnd = Gate()
        static let last = Locked<EchoEngine?>(nil)

        static func start(_ parts: NodeParts, metrics: inout MetricsRegistry) async throws -> EchoEngine {
            metrics.gauge("test_engine", "There.").set(1)
            let engine = EchoEngine()
            last.withLock { $0 = engine }
            return engine
        }

        func decide(_ offer: ConnectionOffer) -> ConnectionDecision {
            switch SubprotocolChoice.choose(offer.subprotocols) {
            case .accept(_, let subprotocol):
                .accept(subprotocol: subprotocol, options: WebSocketOptions()) { _ in Echo() }
            case .refuse: .refuse(status: 400, code: .invalidRequest, message: "none of these subprotocols is known")
            }
        }

        func drain() async {
            drained.open()
            await mayEnd.wait()
        }
    }

    /// A client that notes what happens to it.
    final class Client: WebSocketHandler, Sendable {
        enum Event: Equatable, Sendable {
            case opened(String?)
            case text(String)
            case closed
            case failed
        }

        let events: AsyncStream<Event>
        private let out: AsyncStream<Event>.Continuation

        init() { (events, out) = AsyncStream.makeStream() }

        func connect(_ url: String, on loop: EventLoop, subprotocols: [String]) {
            loop.execute { [self] in
                var options = WebSocketClientOptions()
                options.subprotocols = subprotocols
                _ = WebSocketClient.connect(
                    to: url, on: loop, options: options,
                    opened: { connection in
                        self.out.yield(.opened(connection.subprotocol))
                        connection.send(PreparedFrame(text: "hello"))
                        return self
                    }, failed: { _ in self.out.yield(.failed) })
            }
        }

        func received(message: UnsafeRawBufferPointer, kind: WebSocketKind, on connection: WebSocketConnection) {
            out.yield(.text(String(decoding: message, as: UTF8.self)))
        }
        func faulted(_ fault: WebSocketFault, on connection: WebSocketConnection) {}
        func closed(_ end: WebSocketEnd, on connection: WebSocketConnection) { out.yield(.closed) }
    }

    static func config(dev: Bool = true) throws -> ServerConfig {
        var flags = ServeFlags()
        flags.dev = dev
        flags.port = 0
        return try ServerConfig.resolve(
            file: dev ? nil : Array(#"{"projects":[{"key":"a","secret":"s"}]}"#.utf8), flags: flags)
    }

    static let quiet = Log(least: .error)

    func get(_ url: String) async throws -> (status: Int, body: String) {
        guard let url = URL(string: url) else { return (0, "") }
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(from: url)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    @Test func itServesAndEnds() async throws {
        let node = try await Node.start(config: Self.config(), log: Self.quiet, engine: EchoEngine.self)
        let engine = try #require(EchoEngine.last.withLock { $0 })
        async let running: Void = node.run()

        #expect(try await get(node.url + "/healthz").body == "ok\n")
        #expect(try await get(node.url + "/readyz").status == 200)
        let metrics = try await get(node.url + "/metrics").body
        #expect(metrics.contains("\ntest_engine 1\n") && metrics.contains("process_resident_memory_bytes "))
        #expect(try await get(node.url + "/nothing").status == 404)
        #expect(try await get(node.url + "/v1/connect").status == 426)
        #expect(try await get(node.url + "/dev/token?player=ada").body.contains("\"token\""))

        let loops = EventLoopGroup(count: 1, name: "client")
        loops.start()
        let url = node.url.replacing("http://", with: "ws://") + "/v1/connect"
        let client = Client()
        client.connect(url, on: loops[0], subprotocols: ["nothing", Encoding.protobuf.rawValue])
        var events = client.events.makeAsyncIterator()
        #expect(await events.next() == .opened(Encoding.protobuf.rawValue))
        #expect(await events.next() == .text("hello"))

        let stranger = Client()
        stranger.connect(url, on: loops[0], subprotocols: ["nothing"])
        var refused = stranger.events.makeAsyncIterator()
        #expect(await refused.next() == .failed)

        node.end()
        await engine.drained.wait()
        let late = Client()
        late.connect(url, on: loops[0], subprotocols: [])
        var lateEvents = late.events.makeAsyncIterator()
        #expect(await lateEvents.next() == .failed, "nothing new while it drains")
        engine.mayEnd.open()
        await running
        #expect(await events.next() == .closed)
        loops.stop()
    }

    @Test func withoutDevNothingIsHandedOut() async throws {
        let node = try await Node.start(config: Self.config(dev: false), log: Self.quiet, engine: ClosedEngine.self)
        async let running: Void = node.run()
        #expect(try await get(node.url + "/dev/token?player=ada").status == 404)
        #expect(try await get(node.url + "/demo/").status == 404)
        node.end()
        await running
    }

    @Test func whatCannotStartSaysWhy() async throws {
        let first = try await Node.start(config: Self.config(), log: Self.quiet, engine: ClosedEngine.self)
        async let running: Void = first.run()
        var taken = try Self.config()
        taken.port = UInt16(first.url.split(separator: ":").last.flatMap { Int($0) } ?? 0)
        await #expect(throws: StartError.self) {
            try await Node.start(config: taken, log: Self.quiet, engine: ClosedEngine.self)
        }
        var badTLS = try Self.config()
        badTLS.tls = ServerConfig.TLS(certificate: "/nowhere.pem", key: "/nowhere.key")
        await #expect(throws: StartError.self) {
            try await Node.start(config: badTLS, log: Self.quiet, engine: ClosedEngine.self)
        }
        first.end()
        await running
    }

    @Test(arguments: [
        ([], SubprotocolChoice.accept(.json, subprotocol: nil)),
        (["holdfast.v1.json"], .accept(.json, subprotocol: "holdfast.v1.json")),
        (["x", "holdfast.v1.protobuf", "holdfast.v1.json"], .accept(.protobuf, subprotocol: "holdfast.v1.protobuf")),
        (["x"], .refuse), (["holdfast.v2.json"], .refuse), (["HOLDFAST.V1.JSON"], .refuse),
    ])
    func subprotocols(offered: [String], choice: SubprotocolChoice) {
        #expect(SubprotocolChoice.choose(offered) == choice)
    }
}
