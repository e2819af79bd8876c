#if os(Linux)
    public import HoldfastTransport

    /// The lock of the SDK's shells.
    final class ClientLocked<Value: Sendable>: Sendable {
        private let locked: Locked<Value>

        init(_ value: Value) { locked = Locked(value) }

        func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R { try locked.withLock(body) }
    }

    /// Carries clients on one libuv loop.
    public final class LoopTransport: ClientTransport {
        /// What everybody uses who does not bring another: one loop for the process, never stopped.
        public static let shared: LoopTransport = {
            let loop = EventLoop(name: "holdfast-client")
            loop.start()
            return LoopTransport(loop: loop)
        }()

        private let loop: EventLoop
        private let tls: TLSContext?

        /// A transport on a loop that runs.
        /// - Parameter tls: for `wss:`; nil: the system's authorities.
        public init(loop: EventLoop, tls: TLSContext? = nil) {
            self.loop = loop
            self.tls = tls
        }

        /// The loop's clock.
        public func nowMs() -> Int64 { loop.nowMs }

        /// See the protocol.
        public func open(
            _ url: String, subprotocol: String, onEvent: @escaping @Sendable (LinkEvent) -> Void
        ) -> any ClientLink {
            var options = WebSocketClientOptions()
            options.subprotocols = [subprotocol]
            options.tls = tls
            // Batches of frames and snapshots are far above what a client may send.
            options.webSocket.maxMessageBytes = 16 * 1024 * 1024
            let link = LoopLink(loop: loop, onEvent: onEvent)
            link.open(url, options)
            return link
        }

        /// See the protocol.
        public func timer(_ fire: @escaping @Sendable () -> Void) -> any ClientTimer {
            LoopClientTimer(loop: loop, fire)
        }

        /// See the protocol.
        public func submit(_ work: @escaping @Sendable () -> Void) { loop.execute(work) }
    }

    private actor LoopClientTimer: ClientTimer {
        private let loop: EventLoop
        private let timer: LoopTimer
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(loop: EventLoop, _ fire: @escaping @Sendable () -> Void) {
            self.loop = loop
            timer = LoopTimer(loop: loop, fire)
        }

        nonisolated func schedule(atMs deadlineMs: Int64) {
            if loop.isCurrent {
                assumeIsolated { $0.timer.schedule(atMs: deadlineMs) }
            } else {
                loop.execute { [weak self] in self?.assumeIsolated { $0.timer.schedule(atMs: deadlineMs) } }
            }
        }
    }

    /// A link pinned to the loop. What is to be done comes from any thread through one outbox, so that it keeps its
    /// order.
    private actor LoopLink: ClientLink, WebSocketHandler {
        private enum Order: Sendable {
            case send([UInt8], isText: Bool)
            case close
        }

        private let loop: EventLoop
        private let outbox = Locked<[Order]>([])
        private var onEvent: (@Sendable (LinkEvent) -> Void)?
        private var attempt: WebSocketAttempt?
        private var connection: WebSocketConnection?
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

        init(loop: EventLoop, onEvent: @escaping @Sendable (LinkEvent) -> Void) {
            self.loop = loop
            self.onEvent = onEvent
        }

        nonisolated func open(_ url: String, _ options: WebSocketClientOptions) {
            loop.execute { self.assumeIsolated { $0.start(url, options) } }
        }

        private func start(_ url: String, _ options: WebSocketClientOptions) {
            guard onEvent != nil else { return }
            attempt = WebSocketClient.connect(
                to: url, on: loop, options: options,
                opened: { connection in
                    self.assumeIsolated { $0.opened(connection) }
                    return self
                }, failed: { error in self.assumeIsolated { $0.ended("\(error)") } })
        }

        private func opened(_ connection: WebSocketConnection) {
            attempt = nil
            guard let onEvent else {
                connection.abort()
                return
            }
            self.connection = connection
            onEvent(.opened)
        }

        private func ended(_ reason: String) {
            attempt = nil
            connection = nil
            let told = onEvent
            onEvent = nil
            told?(.closed(reason: reason))
        }

        // MARK: orders

        nonisolated func send(_ bytes: [UInt8], isText: Bool) { put(.send(bytes, isText: isText)) }

        nonisolated func close() { put(.close) }

        private nonisolated func put(_ order: Order) {
            let isFirst = outbox.withLock { orders in
                orders.append(order)
                return orders.count == 1
            }
            if loop.isCurrent {
                assumeIsolated { $0.flush() }
            } else if isFirst {
                loop.execute { self.assumeIsolated { $0.flush() } }
            }
        }

        private func flush() {
            let orders = outbox.withLock { orders in
                let taken = orders
                orders.removeAll(keepingCapacity: true)
                return taken
            }
            for order in orders {
                switch order {
                case .send(let bytes, let isText):
                    connection?.send(PreparedFrame(isText ? .text : .binary, payload: bytes))
                case .close:
                    onEvent = nil
                    attempt?.cancel()
                    attempt = nil
                    connection?.close(code: 1000)
                    connection = nil
                }
            }
        }

        nonisolated func lastReceivedMs() -> Int64? { assumeIsolated { $0.connection?.lastReceivedMs } }

        // MARK: events

        nonisolated func received(
            message: UnsafeRawBufferPointer, kind: WebSocketKind, on connection: WebSocketConnection
        ) {
            let bytes = [UInt8](message)
            assumeIsolated { $0.onEvent?(.received(bytes)) }
        }

        nonisolated func faulted(_ fault: WebSocketFault, on connection: WebSocketConnection) {
            connection.close(code: fault.closeCode)
            assumeIsolated { $0.ended("\(fault)") }
        }

        nonisolated func closed(_ end: WebSocketEnd, on connection: WebSocketConnection) {
            assumeIsolated { $0.ended("\(end)") }
        }
    }
#endif
