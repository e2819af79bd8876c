/// The events of a client, in order. Iterate it once at a time; two iterators share the events between them.
///
/// It holds `eventCapacity` events. When the reader is so far behind, nothing is lost: the client closes its link
/// before it takes the next message (`reconnecting` with `slowConsumer` is the last event), and resumes as soon as half
/// of them are read. Only `requestFailed` of one's own calls is dropped beyond twice the capacity.
///
/// It ends when the client is let go; `disconnected` does not end it, for one may connect again.
public struct ClientEvents: AsyncSequence, Sendable {
    let buffer: EventBuffer

    /// Takes events out of the client's buffer.
    public struct Iterator: AsyncIteratorProtocol {
        let buffer: EventBuffer

        /// The next event; nil when the client was let go, or the task cancelled.
        public mutating func next() async -> ClientEvent? { await buffer.next() }
    }

    /// An iterator over what is to come.
    public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer) }
}

/// The bounded buffer behind `ClientEvents`.
final class EventBuffer: Sendable {
    private struct State: Sendable {
        var items: [ClientEvent] = []
        var head = 0
        var waiters: [(id: UInt64, continuation: CheckedContinuation<ClientEvent?, Never>)] = []
        var lastWaiter: UInt64 = 0
        var cancelled: Set<UInt64> = []
        var isFinished = false
        /// Somebody waits for half of it to be read.
        var isFull = false

        var count: Int { items.count - head }
    }

    private let capacity: Int
    private let state = ClientLocked(State())
    private let onDrained: @Sendable () -> Void

    init(capacity: Int, onDrained: @escaping @Sendable () -> Void) {
        self.capacity = max(1, capacity)
        self.onDrained = onDrained
    }

    func append(_ event: ClientEvent) {
        let waiter: CheckedContinuation<ClientEvent?, Never>? = state.withLock { state in
            if state.isFinished { return nil }
            if !state.waiters.isEmpty { return state.waiters.removeFirst().continuation }
            if state.count >= 2 * capacity, case .requestFailed = event { return nil }
            state.items.append(event)
            return nil
        }
        waiter?.resume(returning: event)
    }

    /// Whether no more may be added now; then `onDrained` is called once, when half is read.
    func isFull() -> Bool {
        state.withLock { state in
            guard state.count >= capacity else { return false }
            state.isFull = true
            return true
        }
    }

    func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            let waiters = state.waiters
            state.waiters = []
            return waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
    }

    func next() async -> ClientEvent? {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        defer { state.withLock { state in _ = state.cancelled.remove(id) } }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in take(id, continuation) }
        } onCancel: {
            let waiter = state.withLock { state in
                guard let index = state.waiters.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil as CheckedContinuation<ClientEvent?, Never>?
                }
                return state.waiters.remove(at: index).continuation
            }
            waiter?.resume(returning: nil)
        }
    }

    private func take(_ id: UInt64, _ continuation: CheckedContinuation<ClientEvent?, Never>) {
        enum Step { case take(ClientEvent, isDrained: Bool), end, wait }
        let step: Step = state.withLock { state in
            if state.cancelled.contains(id) { return .end }
            if state.count > 0 {
                let event = state.items[state.head]
                state.head += 1
                if state.head == state.items.count {
                    state.items.removeAll(keepingCapacity: true)
                    state.head = 0
                } else if state.head >= 1024 {
                    state.items.removeFirst(state.head)
                    state.head = 0
                }
                let isDrained = state.isFull && state.count <= capacity / 2
                if isDrained { state.isFull = false }
                return .take(event, isDrained: isDrained)
            }
            if state.isFinished { return .end }
            state.waiters.append((id, continuation))
            return .wait
        }
        switch step {
        case .take(let event, let isDrained):
            continuation.resume(returning: event)
            if isDrained { onDrained() }
        case .end: continuation.resume(returning: nil)
        case .wait: break
        }
    }
}
