internal import HoldfastProtocol

/// The shell around a `ClientMachine`: brings it what happens, from any thread, and carries out what it orders, in
/// order, one thread at a time and never with the lock held.
final class ClientCore: Sendable {
    typealias Completion = @Sendable (ClientReply) -> Void

    struct State: Sendable {
        var machine: ClientMachine
        var nowMs: Int64 = 0
        /// Ordered and not carried out yet.
        var effects: [ClientEffect] = []
        /// Some thread is carrying them out; it takes new ones along.
        var isPerforming = false
        var link: (id: LinkID, link: any ClientLink)?
        var completions: [UInt32: Completion] = [:]
        var callback: (any OnlineBattleCallback)?
        var events: EventBuffer?
        /// Calls out to the application that wait for their turn on the transport's queue.
        var outcalls: [@Sendable () -> Void] = []
        var tokenTask: Task<Void, Never>?
        var timer: (any ClientTimer)?
        /// The application wants no link for now.
        var isSuspended = false
        /// The reader of `events` is behind.
        var isBufferFull = false
        /// Asleep until the application has caught up.
        var isFull = false
    }

    let transport: any ClientTransport
    private let endpoints: [String]
    private let encoding: Encoding
    private let eventCapacity: Int
    private let tokenProvider: @Sendable () async throws -> String
    private let state: ClientLocked<State>

    init(
        configuration: HoldfastClient.Configuration, transport: any ClientTransport, seed: UInt64,
        tokenProvider: @escaping @Sendable () async throws -> String
    ) {
        self.transport = transport
        endpoints = configuration.endpoints
        encoding = configuration.encoding
        eventCapacity = max(1, configuration.eventCapacity)
        self.tokenProvider = tokenProvider
        var options = configuration.options
        options.endpointCount = max(1, endpoints.count)
        let machine = ClientMachine(options: options, seed: seed, firstEndpoint: configuration.firstEndpoint)
        state = ClientLocked(State(machine: machine))
    }

    // MARK: in

    func read<Value: Sendable>(_ body: (ClientMachine) -> Value) -> Value { state.withLock { body($0.machine) } }

    func handle(_ input: ClientInput) {
        step { state in state.machine.handle(input, nowMs: state.nowMs, into: &state.effects) }
    }

    @discardableResult
    func call(_ body: ClientMessage.Body, _ completion: Completion? = nil) -> UInt32 {
        var id: UInt32 = 0
        step { state in
            id = state.machine.call(body, nowMs: state.nowMs, into: &state.effects)
            if let completion { state.completions[id] = completion }
        }
        return id
    }

    func setCallback(_ callback: (any OnlineBattleCallback)?) { state.withLock { $0.callback = callback } }

    /// The buffer of events; it is made, and begins to fill, when it is asked for first.
    func events() -> EventBuffer {
        let fresh = EventBuffer(capacity: eventCapacity) { [weak self] in self?.caughtUp(isBufferDrained: true) }
        return state.withLock { state in
            let buffer = state.events ?? fresh
            state.events = buffer
            return buffer
        }
    }

    func suspend() {
        step { state in
            state.isSuspended = true
            let reason = HoldfastError.network("suspended by the application")
            state.machine.handle(.sleep(reason), nowMs: state.nowMs, into: &state.effects)
        }
    }

    func unsuspend() {
        step { state in
            state.isSuspended = false
            if !state.isFull { state.machine.handle(.wake, nowMs: state.nowMs, into: &state.effects) }
        }
    }

    /// Lets everything go: the handle of the application is gone.
    func stop() {
        handle(.stop)
        let (buffer, task) = state.withLock { state in
            state.callback = nil
            return (state.events, state.tokenTask)
        }
        task?.cancel()
        buffer?.finish()
    }

    // MARK: the reader's pace

    /// Whether the next message has to wait for the application; then the link is closed before it is taken, so that a
    /// resume brings it again.
    private func isFull() -> Bool {
        let (buffer, waiting) = state.withLock { ($0.events, $0.outcalls.count) }
        let isBufferFull = buffer?.isFull() == true
        guard isBufferFull || waiting >= eventCapacity else { return false }
        step { state in
            state.isFull = true
            if isBufferFull { state.isBufferFull = true }
            let reason = HoldfastError(code: .slowConsumer, message: "\(eventCapacity) events are not taken yet")
            state.machine.handle(.sleep(reason), nowMs: state.nowMs, into: &state.effects)
        }
        return true
    }

    private func caughtUp(isBufferDrained: Bool) {
        step { state in
            if isBufferDrained { state.isBufferFull = false }
            guard state.isFull, !state.isBufferFull, state.outcalls.count <= eventCapacity / 2 else { return }
            state.isFull = false
            if !state.isSuspended { state.machine.handle(.wake, nowMs: state.nowMs, into: &state.effects) }
        }
    }

    // MARK: links

    private func happened(_ event: LinkEvent, on id: LinkID) {
        switch event {
        case .opened: handle(.linkOpened(id))
        case .closed(let reason): handle(.linkClosed(id, reason: reason))
        case .received(let bytes):
            if isFull() { return }
            do {
                let message = try encoding.decode(ServerMessage.self, from: bytes)
                handle(.received(id, message))
            } catch {
                handle(.malformed(id, reason: error.message))
            }
        }
    }

    private func deadline() {
        if let (id, link) = state.withLock({ $0.link }), let atMs = link.lastReceivedMs() {
            handle(.linkActive(id, atMs: atMs))
        }
        handle(.deadline)
    }

    // MARK: out

    private func step(_ body: (inout State) -> Void) {
        let nowMs = transport.nowMs()
        let begins = state.withLock { state in
            state.nowMs = max(state.nowMs, nowMs)
            body(&state)
            if state.isPerforming || state.effects.isEmpty { return false }
            state.isPerforming = true
            return true
        }
        if begins { performAll() }
    }

    private func performAll() {
        while true {
            let batch = state.withLock { state in
                let batch = state.effects
                state.effects = []
                if batch.isEmpty { state.isPerforming = false }
                return batch
            }
            if batch.isEmpty { return }
            for effect in batch { perform(effect) }
        }
    }

    private func perform(_ effect: ClientEffect) {
        switch effect {
        case .fetchToken: fetchToken()
        case .openLink(let id, let endpoint):
            let link = transport.open(endpoints[endpoint], subprotocol: encoding.rawValue) { [weak self] event in
                self?.happened(event, on: id)
            }
            state.withLock { $0.link = (id, link) }
        case .closeLink(let id):
            let link = state.withLock { state in
                guard state.link?.id == id else { return nil as (any ClientLink)? }
                defer { state.link = nil }
                return state.link?.link
            }
            link?.close()
        case .send(let id, let message): send(message, on: id)
        case .deliver(let event): deliver(event)
        case .complete(let id, let reply): state.withLock({ $0.completions.removeValue(forKey: id) })?(reply)
        case .armDeadline(let atMs): arm(atMs)
        }
    }

    private func send(_ message: ClientMessage, on id: LinkID) {
        guard let (current, link) = state.withLock({ $0.link }), current == id else { return }
        let bytes = encoding.encode(message)
        let limit = Limits().messageBytes
        guard bytes.count <= limit else {
            // The server would close the link.
            let text = "a message of \(bytes.count) bytes, the limit is \(limit)"
            handle(.unsendable(id: message.id, HoldfastError(code: .invalidRequest, message: text)))
            return
        }
        link.send(bytes, isText: encoding == .json)
    }

    private func arm(_ atMs: Int64) {
        let known = state.withLock { $0.timer }
        let timer = known ?? transport.timer { [weak self] in self?.deadline() }
        if known == nil { state.withLock { $0.timer = timer } }
        timer.schedule(atMs: atMs)
    }

    private func fetchToken() {
        let task = Task { [weak self, tokenProvider] in
            do {
                let token = try await tokenProvider()
                self?.handle(.token(token))
            } catch let error as HoldfastError {
                self?.handle(.tokenFailed(error))
            } catch {
                self?.handle(.tokenFailed(.network("the token provider failed: \(error)")))
            }
        }
        state.withLock { $0.tokenTask = task }
    }

    private func deliver(_ event: ClientEvent) {
        let (buffer, callback) = state.withLock { ($0.events, $0.callback) }
        buffer?.append(event)
        if let callback { outcall { callback.take(event) } }
    }

    /// Calls the application on the transport's queue, in order: so it is never called within a call of its own.
    func outcall(_ work: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.outcalls.append(work)
            return state.outcalls.count == 1
        }
        if isFirst { transport.submit { [self] in runOutcalls() } }
    }

    private func runOutcalls() {
        let list = state.withLock { $0.outcalls }
        for work in list { work() }
        let (isMore, isWaitedFor) = state.withLock { state in
            state.outcalls.removeFirst(list.count)
            return (!state.outcalls.isEmpty, state.isFull)
        }
        if isMore { transport.submit { [self] in runOutcalls() } }
        if isWaitedFor { caughtUp(isBufferDrained: false) }
    }
}
