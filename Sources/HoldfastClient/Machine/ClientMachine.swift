public import HoldfastProtocol

/// All that a client decides, as a value: connecting and coming back, request ids and sending again, positions in the
/// room's stream, frames without a gap, inputs taken once, the heartbeat. No clock, socket or randomness in it: whoever
/// drives it brings inputs with the time and carries out the effects, in order.
///
/// Request ids grow over the machine's whole life, also from one run to the next: so a late answer, or an own input in
/// an old frame, can never be taken for another.
public struct ClientMachine: Sendable {
    /// Where the connection stands; every case says what may come next.
    enum Phase: Equatable, Sendable {
        /// Nothing is wanted. Next: `awaitingToken` by `connect`.
        case idle
        /// The token provider is asked, no link. Next: `opening`, `backingOff`, `asleep`, `idle`.
        case awaitingToken
        /// Next: `handshaking`, `backingOff`, `asleep`, `idle`.
        case opening(LinkID, untilMs: Int64)
        /// `connect` is sent. Next: `online`, `awaitingTokenOnLink` (39), `backingOff`, `asleep`, `idle`.
        case handshaking(LinkID, id: UInt32, untilMs: Int64)
        /// The resume is dead; the link stays open for `connect` with a token. Next: `handshaking`, `awaitingToken`
        /// (the link ended), `asleep`, `idle`.
        case awaitingTokenOnLink(LinkID)
        /// Next: `closing`, `backingOff`, `opening` (38), `asleep`, `idle`.
        case online(LinkID)
        /// `disconnect` is sent. Next: `idle`.
        case closing(LinkID, id: UInt32, untilMs: Int64)
        /// Next: `opening`, `awaitingToken`, `asleep`, `idle`.
        case backingOff(untilMs: Int64)
        /// Next: `opening`, `awaitingToken`, `idle`.
        case asleep

        var link: LinkID? {
            switch self {
            case .opening(let link, _), .handshaking(let link, _, _), .awaitingTokenOnLink(let link), .online(let link),
                .closing(let link, _, _):
                link
            case .idle, .awaitingToken, .backingOff, .asleep: nil
            }
        }
    }

    /// The settings.
    public let options: ClientOptions
    /// Who the server says that this is; empty before the first `connected`.
    public internal(set) var playerId = ""
    /// From the last ping to its pong, in milliseconds; nil before the first.
    public internal(set) var roundTripMs: Int64?
    /// Messages passed over because they did not fit: late, repeated, of no room. For metrics and tests.
    public internal(set) var unexpectedMessages = 0

    var phase = Phase.idle
    var effects: [ClientEffect] = []
    var random: SplitMix
    var lastId: UInt32 = 0
    var lastLink: UInt32 = 0

    var endpoint = 0
    var attempt = 0
    var drainsInARow = 0
    var connectCall: UInt32?
    var token: String?
    var isTokenAsked = false
    var resumeToken = ""
    /// `connected` was told and its end was not.
    var isTold = false
    /// `reconnecting` was told.
    var isAway = false
    var giveUpAtMs: Int64?
    var connectedAtMs: Int64 = 0
    var heartbeatMs: Int64
    var lastReceivedMs: Int64 = 0
    /// A ping of our own is out and nothing came since.
    var isProbed = false
    var pingId: UInt32?
    var pingSentMs: Int64 = 0
    var armedAtMs: Int64?

    var calls: [PendingCall] = []
    /// Not after the first thing due in `calls`.
    var callsDueMs: Int64?

    var mirror: RoomMirror?
    /// The room that the player was in last, for events that come after its end.
    var leftRoomId = ""
    var frames: FrameStream?
    var heal: FrameHeal?
    /// Stream messages that wait for the hole before them to be filled.
    var held: [ServerMessage] = []
    /// The frame at which a hole could not be filled: the next time there, it is skipped.
    var unhealedAt: UInt32?

    var inputs = InputQueue()

    /// A machine at rest. `seed` makes its jitter; give each client another. `firstEndpoint` spreads clients over the
    /// addresses.
    public init(options: ClientOptions = ClientOptions(), seed: UInt64, firstEndpoint: Int = 0) {
        self.options = options
        self.random = SplitMix(seed: seed)
        self.endpoint = firstEndpoint % max(1, options.endpointCount)
        self.heartbeatMs = options.heartbeatMs
    }

    // MARK: what it knows

    /// Whether a link stands and the run is live on it.
    public var isOnline: Bool {
        if case .online = phase { true } else { false }
    }

    /// Whether nothing is wanted: before `connect` and after the end.
    public var isIdle: Bool { phase == .idle }

    /// The player's room, with every event told so far counted in (after a resume also those still to be told); nil in
    /// none.
    public var room: RoomInfo? { mirror?.info }

    /// The running frame sync; nil when none runs.
    public var frameSync: FrameSyncInfo? { frames?.info }

    /// The last frame delivered of the running frame sync; 0 before its first.
    public var lastFrameId: UInt32 { frames?.last ?? 0 }

    /// Calls without an answer.
    public var pendingCallCount: Int { calls.count }

    /// Frame inputs not seen in a frame yet.
    public var pendingInputCount: Int { inputs.items.count }

    // MARK: driving it

    /// Takes an input at this time (a clock of milliseconds that never falls) and appends what is to be done.
    public mutating func handle(_ input: ClientInput, nowMs: Int64, into buffer: inout [ClientEffect]) {
        swap(&effects, &buffer)
        defer { swap(&effects, &buffer) }
        switch input {
        case .token(let token): tokenCame(token, nowMs: nowMs)
        case .tokenFailed(let error): tokenFailed(error, nowMs: nowMs)
        case .linkOpened(let link): linkOpened(link, nowMs: nowMs)
        case .linkClosed(let link, let reason): linkClosed(link, reason: reason, nowMs: nowMs)
        case .received(let link, let message): received(message, on: link, nowMs: nowMs)
        case .linkActive(let link, let atMs): if phase.link == link, atMs > lastReceivedMs { sign(nowMs: atMs) }
        case .malformed(let link, let reason):
            guard phase.link == link else { break }
            drop(.network("unreadable message: \(reason)"), nowMs: nowMs, rotates: false)
        case .unsendable(let id, let error): refuse(id, error)
        case .sleep(let reason): sleep(reason)
        case .wake: if phase == .asleep { beginAttempt(nowMs: nowMs) }
        case .stop: if phase != .idle { end(.network("stopped")) }
        case .deadline: timePassed(nowMs: nowMs)
        }
        arm()
    }

    /// As `handle(_:nowMs:into:)`, with a list of its own.
    public mutating func handle(_ input: ClientInput, nowMs: Int64) -> [ClientEffect] {
        var list: [ClientEffect] = []
        handle(input, nowMs: nowMs, into: &list)
        return list
    }

    /// Makes a call; its outcome comes as `complete` with the id returned. `connect` (whose fields are the machine's
    /// own) and `disconnect` too. Frame inputs and hash reports complete at once, their errors come as `requestFailed`.
    ///
    /// A call while the link is broken waits for the resume. Errors of its own: `notConnected` before `connect` and
    /// after the end, `rateLimited` with `pendingCalls` calls open, `networkError` when its outcome cannot be known any
    /// more.
    public mutating func call(_ body: ClientMessage.Body, nowMs: Int64, into buffer: inout [ClientEffect]) -> UInt32 {
        swap(&effects, &buffer)
        defer { swap(&effects, &buffer) }
        let id = takeId()
        switch body {
        case .connect: connect(id, nowMs: nowMs)
        case .disconnect: disconnect(id, nowMs: nowMs)
        case .sendFrameInput(let input):
            effects.append(.complete(id, .success(.ok(Ok()))))
            sendInput(input, id: id, nowMs: nowMs)
        case .reportFrameHash(let report):
            effects.append(.complete(id, .success(.ok(Ok()))))
            reportHash(report, id: id)
        default: request(body, id: id, nowMs: nowMs)
        }
        arm()
        return id
    }

    /// When `deadline` is wanted next; nil: nothing is due. For drivers that keep their own agenda; the others follow
    /// `armDeadline`.
    public var nextDeadlineMs: Int64? {
        var next = Int64.max
        switch phase {
        case .opening(_, let untilMs), .handshaking(_, _, let untilMs), .closing(_, _, let untilMs),
            .backingOff(let untilMs):
            next = untilMs
        case .online:
            next = silenceDueMs
            if let heldUntilMs = inputs.heldUntilMs { next = min(next, heldUntilMs) }
        case .idle, .awaitingToken, .awaitingTokenOnLink, .asleep: break
        }
        if let giveUpAtMs { next = min(next, giveUpAtMs) }
        if let callsDueMs { next = min(next, callsDueMs) }
        return next == .max ? nil : next
    }

    // MARK: for the other files

    mutating func takeId() -> UInt32 {
        lastId &+= 1
        if lastId == 0 { lastId = 1 }
        return lastId
    }

    mutating func deliver(_ event: ClientEvent) { effects.append(.deliver(event)) }

    /// Arms the deadline only when it is earlier than the armed one: most messages only move it out, and then the early
    /// one finds nothing due and arms anew.
    private mutating func arm() {
        guard let next = nextDeadlineMs else { return }
        if let armedAtMs, armedAtMs <= next { return }
        armedAtMs = next
        effects.append(.armDeadline(atMs: next))
    }
}

extension HoldfastError {
    static func network(_ message: String) -> HoldfastError { HoldfastError(code: .networkError, message: message) }
}
