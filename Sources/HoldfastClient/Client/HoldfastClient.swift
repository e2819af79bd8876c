public import HoldfastProtocol

/// A player's connection to Holdfast: calls, events, and coming back by itself.
///
///     let client = HoldfastClient(endpoints: ["wss://play.example.com/v1/connect"]) { try await myBackend.token() }
///     let events = client.events
///     try await client.connect()
///     let room = try await client.matchRoom(RoomConfig(maxPlayerCount: 2, type: "duel"), timeoutMs: 30_000)
///     for await event in events {
///         switch event {
///         case .frameSyncStarted(let info, _): random = LockstepRandom(seed: info.seed)
///         case .frame(let frame, let isCatchUp): game.advance(frame, drawing: !isCatchUp)
///         case .reconnecting: show("one moment …")
///         case .disconnected(let error): return show("\(error)")
///         default: break
///         }
///     }
///
/// Everything may be called from any thread. When a link breaks, the client comes back by itself, resumes the run and
/// sends again what was unanswered; `reconnecting` and `reconnected` tell of it. Calls made meanwhile wait. A call
/// whose outcome cannot be known any more, because the run ended, fails with `networkError`; it is never done twice.
///
/// Cancelling the task of a call does not take the call back.
public final class HoldfastClient: Sendable {
    /// How a client is set up.
    public struct Configuration: Sendable {
        /// Addresses of nodes, `wss://host/v1/connect`; tried in turn when one fails. At least one.
        public var endpoints: [String]
        /// Which of them is tried first; nil: any one.
        public var firstEndpointIndex: Int?
        /// The encoding on the wire.
        public var encoding = Encoding.protobuf
        /// Events that wait for their reader; see `ClientEvents` for what happens when it is full.
        public var eventCapacity = 8_192
        /// Times and limits.
        public var options = ClientOptions()

        /// The defaults, for these addresses.
        public init(endpoints: [String]) { self.endpoints = endpoints }

        var firstEndpoint: Int { firstEndpointIndex ?? Int(seedForSpread % UInt64(max(1, endpoints.count))) }
        fileprivate var seedForSpread: UInt64 = .random(in: 0 ... .max)
    }

    let core: ClientCore

    /// A client at rest.
    /// - Parameters:
    ///   - configuration: addresses and settings.
    ///   - transport: what carries it; `defaultTransport` for everybody but tests and load generators.
    ///   - token: gives a fresh token (a JWT, `auth.md`); asked at `connect` and when a run could not be resumed. A
    ///     `HoldfastError` with a code other than `networkError` makes the client give up, any other error is tried
    ///     again.
    public init(
        configuration: Configuration, transport: any ClientTransport = HoldfastClient.defaultTransport,
        token: @escaping @Sendable () async throws -> String
    ) {
        core = ClientCore(
            configuration: configuration, transport: transport, seed: configuration.seedForSpread, tokenProvider: token)
    }

    /// A client with the default settings.
    public convenience init(endpoints: [String], token: @escaping @Sendable () async throws -> String) {
        self.init(configuration: Configuration(endpoints: endpoints), token: token)
    }

    deinit { core.stop() }

    #if os(Linux)
        /// One libuv loop for the process.
        public static var defaultTransport: any ClientTransport { LoopTransport.shared }
    #elseif canImport(Darwin)
        /// URLSession.
        public static var defaultTransport: any ClientTransport { URLSessionTransport.shared }
    #endif

    // MARK: events and state

    /// What happens, in order, from the first time that this is read on: read it before `connect`.
    public var events: ClientEvents { ClientEvents(buffer: core.events()) }

    /// Calls this for every event, on the transport's queue: return soon. Besides `events`, or instead.
    public func setCallback(_ callback: (any OnlineBattleCallback)?) { core.setCallback(callback) }

    /// Whether the run is live on a link now.
    public var isOnline: Bool { core.read { $0.isOnline } }

    /// Who the server says that this is; empty before the first `connect`.
    public var playerId: String { core.read { $0.playerId } }

    /// The room that the player is in, with all events counted in; nil in none.
    public var room: RoomInfo? { core.read { $0.room } }

    /// The running frame sync; nil when none runs.
    public var frameSync: FrameSyncInfo? { core.read { $0.frameSync } }

    /// From a ping to its pong, in milliseconds; nil when there was none. `ping` measures it anew.
    public var roundTripMs: Int64? { core.read { $0.roundTripMs } }

    /// Closes the link and stays away until `resume`, as when the app goes to the background. The seat is held for the
    /// resume window.
    public func suspend() { core.suspend() }

    /// Comes back after `suspend`.
    public func resume() { core.unsuspend() }

    // MARK: inputs, without waiting

    /// Sends an input of text (at most 1,024 bytes of UTF-8, 5 a frame) and returns at once. The frame that shows it
    /// carries the id returned; an error comes as `requestFailed` with it. After a resume it is sent again until a
    /// frame shows it.
    @discardableResult
    public func sendFrameInput(_ text: String) -> UInt32 {
        core.call(.sendFrameInput(SendFrameInput(payload: .data(text))))
    }

    /// As `sendFrameInput(_:)`, with bytes.
    @discardableResult
    public func sendFrameInput(_ bytes: [UInt8]) -> UInt32 {
        core.call(.sendFrameInput(SendFrameInput(payload: .dataBytes(bytes))))
    }

    /// Reports the hash of the state after a frame (1…32 bytes) and returns at once. An error comes as `requestFailed`
    /// with the id returned. Without a link it is left out.
    @discardableResult
    public func reportFrameHash(frameId: UInt32, hash: [UInt8]) -> UInt32 {
        core.call(.reportFrameHash(ReportFrameHash(frameId: frameId, hash: hash)))
    }

    // MARK: how calls are made

    /// Makes a call of the protocol by its body and waits for the body of the reply. For calls without a method here.
    public func call(_ body: ClientMessage.Body) async throws(HoldfastError) -> ServerMessage.Body {
        let reply: ClientReply = await withCheckedContinuation { continuation in
            core.call(body) { continuation.resume(returning: $0) }
        }
        return try reply.get()
    }

    /// The same for callbacks, which come on the transport's queue.
    public func call(_ body: ClientMessage.Body, _ completion: @escaping @Sendable (ClientReply) -> Void) {
        let core = core
        core.call(body) { [weak core] reply in core?.outcall { completion(reply) } }
    }
}
