#if os(Linux)
    import HoldfastClient
    import HoldfastProtocol
    import HoldfastTransport

    /// A `MiniServer` on real sockets.
    final class ServerOnLoop: HTTPHandler {
        private struct State: Sendable {
            var mini = MiniServer()
            var connection: WebSocketConnection?
            var encoding = Encoding.json
            var takenCount = 0
        }

        private let group: EventLoopGroup
        private let state = Locked(State())
        private let server = Locked<HTTPServer?>(nil)
        let port: UInt16

        init() throws {
            group = EventLoopGroup(count: 1, name: "mini")
            group.start()
            let relay = Relay()
            let server = HTTPServer(group: group, options: HTTPServerOptions(), handler: relay)
            port = try server.start()
            self.server.withLock { $0 = server }
            relay.target.withLock { $0 = self }
        }

        var url: String { "ws://127.0.0.1:\(port)/v1/connect" }

        func stop() {
            server.withLock { $0 = nil }
            group.stop()
        }

        // MARK: the test's hand

        /// Does something to the server and sends what comes of it.
        func act(_ body: @escaping @Sendable (inout MiniServer) -> Void) {
            group[0].execute {
                self.state.withLock { body(&$0.mini) }
                self.flush()
            }
        }

        /// Cuts the connection without a word.
        func cut() {
            group[0].execute {
                let connection = self.state.withLock { state in
                    state.mini.detach()
                    defer { state.connection = nil }
                    return state.connection
                }
                connection?.abort()
            }
        }

        func read<Value: Sendable>(_ body: (MiniServer) -> Value) -> Value { state.withLock { body($0.mini) } }

        // MARK: on the loop

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            let offered = exchange.offeredSubprotocols?.first ?? Encoding.json.rawValue
            _ = exchange.acceptWebSocket(subprotocol: offered) { connection in
                self.state.withLock {
                    $0.connection = connection
                    $0.encoding = Encoding(rawValue: offered) ?? .json
                }
                return Handler(owner: self)
            }
        }

        private func took(_ bytes: [UInt8], on connection: WebSocketConnection) {
            state.withLock { state in
                guard state.connection === connection,
                    let message = try? state.encoding.decode(ClientMessage.self, from: bytes)
                else { return }
                state.takenCount += 1
                state.mini.take(message)
            }
            flush()
        }

        private func flush() {
            let (connection, frames) = state.withLock { state in
                let kind: WebSocketKind = state.encoding == .json ? .text : .binary
                let frames = state.mini.outbox.map { PreparedFrame(kind, payload: state.encoding.encode($0)) }
                state.mini.outbox = []
                return (state.connection, frames)
            }
            for frame in frames { connection?.send(frame) }
        }

        private func ended(_ connection: WebSocketConnection) {
            state.withLock { state in
                guard state.connection === connection else { return }
                state.connection = nil
                state.mini.detach()
            }
        }

        private final class Relay: HTTPHandler {
            let target = Locked<ServerOnLoop?>(nil)

            func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
                target.withLock { $0 }?.handle(request, exchange)
            }
        }

        private final class Handler: WebSocketHandler {
            private let owner: ServerOnLoop

            init(owner: ServerOnLoop) { self.owner = owner }

            func received(message: UnsafeRawBufferPointer, kind: WebSocketKind, on connection: WebSocketConnection) {
                owner.took([UInt8](message), on: connection)
            }

            func faulted(_ fault: WebSocketFault, on connection: WebSocketConnection) {
                connection.close(code: fault.closeCode)
            }

            func closed(_ end: WebSocketEnd, on connection: WebSocketConnection) { owner.ended(connection) }
        }
    }
#endif
