#if canImport(Darwin)
    public import Foundation
    internal import Synchronization

    /// The lock of the SDK's shells.
    final class ClientLocked<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>

        init(_ value: Value) { mutex = Mutex(value) }

        func withLock<R: Sendable, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
            try mutex.withLock { (value: inout sending Value) throws(E) -> R in try body(&value) }
        }
    }

    /// Carries clients on `URLSessionWebSocketTask`, for Apple's platforms.
    public final class URLSessionTransport: NSObject, ClientTransport {
        /// What everybody uses who does not bring another.
        public static let shared = URLSessionTransport()

        private let queue = DispatchQueue(label: "holdfast.client")
        private let configuration: URLSessionConfiguration
        private let start = ContinuousClock.now

        /// A transport with settings of your own (proxies, cellular access); its timeouts are the client's.
        public init(configuration: URLSessionConfiguration = .ephemeral) { self.configuration = configuration }

        /// A clock that goes on while the device sleeps.
        public func nowMs() -> Int64 {
            let passed = (ContinuousClock.now - start).components
            return passed.seconds * 1000 + passed.attoseconds / 1_000_000_000_000_000
        }

        /// See the protocol.
        public func open(
            _ url: String, subprotocol: String, onEvent: @escaping @Sendable (LinkEvent) -> Void
        ) -> any ClientLink {
            let link = URLSessionLink(queue: queue, onEvent: onEvent)
            link.open(url, subprotocol: subprotocol, configuration: configuration)
            return link
        }

        /// See the protocol.
        public func timer(_ fire: @escaping @Sendable () -> Void) -> any ClientTimer {
            DispatchClientTimer(transport: self, fire)
        }

        /// See the protocol.
        public func submit(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

        fileprivate func submit(afterMs ms: Int64, _ work: @escaping @Sendable () -> Void) {
            queue.asyncAfter(deadline: .now() + .milliseconds(Int(clamping: max(0, ms))), execute: work)
        }
    }

    private final class DispatchClientTimer: ClientTimer {
        private let transport: URLSessionTransport
        private let fire: @Sendable () -> Void
        private let generation = ClientLocked(0)

        init(transport: URLSessionTransport, _ fire: @escaping @Sendable () -> Void) {
            self.transport = transport
            self.fire = fire
        }

        func schedule(atMs deadlineMs: Int64) {
            let mine = generation.withLock { generation in
                generation += 1
                return generation
            }
            transport.submit(afterMs: deadlineMs - transport.nowMs()) { [weak self] in
                guard let self, self.generation.withLock({ $0 }) == mine else { return }
                self.fire()
            }
        }
    }

    private final class URLSessionLink: NSObject, ClientLink, URLSessionWebSocketDelegate {
        private struct State: Sendable {
            var onEvent: (@Sendable (LinkEvent) -> Void)?
            var session: URLSession?
            var task: URLSessionWebSocketTask?
        }

        private let queue: DispatchQueue
        private let state: ClientLocked<State>

        init(queue: DispatchQueue, onEvent: @escaping @Sendable (LinkEvent) -> Void) {
            self.queue = queue
            state = ClientLocked(State(onEvent: onEvent))
        }

        func open(_ text: String, subprotocol: String, configuration: URLSessionConfiguration) {
            guard let url = URL(string: text) else {
                queue.async { self.ended("not an address: \(text)") }
                return
            }
            let operations = OperationQueue()
            operations.underlyingQueue = queue
            operations.maxConcurrentOperationCount = 1
            // The session keeps its delegate until it is invalidated, in `ended` or `close`.
            let session = URLSession(configuration: configuration, delegate: self, delegateQueue: operations)
            let task = session.webSocketTask(with: url, protocols: [subprotocol])
            // Batches of frames and snapshots are far above what a client may send.
            task.maximumMessageSize = 16 * 1024 * 1024
            state.withLock {
                $0.session = session
                $0.task = task
            }
            task.resume()
        }

        func send(_ bytes: [UInt8], isText: Bool) {
            guard let task = state.withLock({ $0.task }) else { return }
            let message: URLSessionWebSocketTask.Message =
                isText ? .string(String(decoding: bytes, as: UTF8.self)) : .data(Data(bytes))
            task.send(message) { [weak self] error in
                guard let self, let error else { return }
                self.queue.async { self.ended("\(error)") }
            }
        }

        func close() {
            let state = takeState()
            state.task?.cancel(with: .normalClosure, reason: nil)
            state.session?.finishTasksAndInvalidate()
        }

        /// URLSession answers pings without showing them; the client then asks with pings of its own.
        func lastReceivedMs() -> Int64? { nil }

        private func takeState() -> State {
            state.withLock { state in
                let taken = state
                state = State()
                return taken
            }
        }

        private func ended(_ reason: String) {
            let state = takeState()
            state.task?.cancel()
            state.session?.invalidateAndCancel()
            state.onEvent?(.closed(reason: reason))
        }

        private func tell(_ event: LinkEvent) { state.withLock { $0.onEvent }?(event) }

        private func receiveNext() {
            guard let task = state.withLock({ $0.task }) else { return }
            task.receive { [weak self] result in
                guard let self else { return }
                self.queue.async { self.came(result) }
            }
        }

        private func came(_ result: Result<URLSessionWebSocketTask.Message, any Error>) {
            switch result {
            case .success(.data(let data)): tell(.received([UInt8](data)))
            case .success(.string(let text)): tell(.received(Array(text.utf8)))
            case .success: break
            case .failure(let error):
                ended("\(error)")
                return
            }
            receiveNext()
        }

        // MARK: URLSessionWebSocketDelegate

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
        ) {
            tell(.opened)
            receiveNext()
        }

        func urlSession(
            _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
            didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?
        ) {
            ended("closed with \(closeCode.rawValue)")
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            ended(error.map { "\($0)" } ?? "closed")
        }
    }
#endif
