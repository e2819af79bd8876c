public import HoldfastProtocol

/// Checks tokens; what it answers is a fact about the token and the time.
public protocol TokenChecking: Sendable {
    /// The battle token's player, or what is wrong with it, for a developer to read.
    func check(_ token: String, nowS: Int64) -> Result<VerifiedToken, WireError>
    /// Whose it says that it is, unchecked; nil when it cannot be read.
    func claimedPlayer(of token: String) -> PlayerKey?
}

public struct VerifiedToken: Sendable {
    public let player: PlayerKey
    public let name: String
    public let avatar: String

    public init(player: PlayerKey, name: String, avatar: String) {
        self.player = player
        self.name = name
        self.avatar = avatar
    }
}

/// One client's link at a gateway: what it may say now, and where that goes. It keeps no game state; what a run needs
/// beyond a link is with the player's shard and the seat.
public struct ConnectionMachine: Sendable {
    public enum Output: Sendable {
        case send(ServerMessage)
        /// A message that is put together of stored frames.
        case sendFrames(id: UInt32, StoredFrames)
        case route(ShardCommand)
        /// What was sent goes first.
        case close(webSocketCode: UInt16)
    }

    /// fresh → attaching → attached or fresh; every one → closed.
    enum Phase: Sendable {
        /// No `connect` yet, or it was refused with 39.
        case fresh(deadlineMs: Int64)
        case attaching(Attaching)
        case attached(Session)
        case closed
    }

    struct Attaching: Sendable {
        let id: UInt32
        /// Whose shard was asked.
        let player: PlayerKey
        /// To fall back to when the resume is dead.
        let token: String?
        let deadlineMs: Int64
    }

    /// A call to the room that the player is in.
    struct RoomCall: Sendable {
        let id: UInt32
        let body: ClientMessage.Body
    }

    struct Session: Sendable {
        var window: RequestWindow
        /// Calls to the room that wait until it is known which room.
        var held: [RoomCall] = []
        /// Answers to `leaveRoom` that came before the room's last word.
        var left: [UInt32] = []
        /// The client was told how its seat had ended, and has not gone on yet.
        var isEndUnheard = false

        /// Whether the answer to `leaveRoom` has to wait: nothing of the room may come after it.
        mutating func holdLeft(_ id: UInt32) -> Bool {
            guard window.open[id]?.isLeave == true else { return false }
            left.append(id)
            return true
        }

        mutating func takeLeft() -> [UInt32] {
            defer { left = [] }
            return left
        }

        mutating func hearEnd() -> Bool {
            defer { isEndUnheard = false }
            return isEndUnheard
        }
    }

    /// What a step may look at beside the machine's own state.
    public struct Surroundings {
        public let nowMs: Int64
        public let wallMs: Int64
        public let tokens: any TokenChecking
        public let node: String

        public init(nowMs: Int64, wallMs: Int64, tokens: any TokenChecking, node: String) {
            self.nowMs = nowMs
            self.wallMs = wallMs
            self.tokens = tokens
            self.node = node
        }
    }

    public let link: Link
    let limits: SharedLimits
    var phase: Phase
    /// The player whose link this is, once it is connected.
    public private(set) var player: PlayerKey?
    /// The player's place, as far as it was told here.
    public internal(set) var seat: SeatView? {
        didSet {
            isSeatInDoubt = false
            doubtEndsMs = nil
        }
    }
    /// The newest claims that have ended, of which nothing more counts.
    public private(set) var endedClaims: [Claim] = []
    /// The seat's room is lost, and the player's shard has not said so yet.
    var isSeatInDoubt = false
    private var doubtEndsMs: Int64?
    private var linkBudget: TokenBucket
    private var malformed = 0
    /// Requests of an earlier link that were decided before `attached` came.
    private var settledEarly: [UInt32] = []
    /// Messages that came while it is not known whether the connect succeeds, or in a burst of more than may be open.
    private var early: [DecodedClientMessage] = []

    public init(link: Link, limits: SharedLimits, nowMs: Int64) {
        self.link = link
        self.limits = limits
        phase = .fresh(deadlineMs: nowMs + Int64(limits.value.connectTimeoutMs))
        linkBudget = TokenBucket(perSecond: limits.value.linkMessagesPerSecond)
    }

    /// Whose budgets this link is charged to; known a little before the link is that player's.
    public var charged: PlayerKey? {
        if case .attaching(let attaching) = phase { attaching.player } else { player }
    }

    // MARK: From the client

    /// - Parameter budgets: the player's; a link without one brings any.
    public mutating func receive(
        _ decoded: DecodedClientMessage, budgets: inout PlayerBudgets, _ around: Surroundings
    ) -> [Output] {
        var out: [Output] = []
        switch phase {
        case .closed: return []
        case .fresh: take(decoded, &budgets, around, &out)
        case .attaching, .attached:
            if let player, withSession({ $0.hearEnd() }) ?? false {
                out.append(.route(.player(player, .heardEnd(link))))
            }
            if case .attached = phase, decoded.passesOthers(isStalled: isStalled) {
                take(decoded, &budgets, around, &out)
            } else if isStalled {
                // To wait behind requests that nobody answers would be to wait in silence.
                refuseForNow(decoded, &out)
            } else if early.isEmpty, !isFull {
                take(decoded, &budgets, around, &out)
            } else if early.count < limits.value.openRequests {
                early.append(decoded)
            } else {
                refuseForNow(decoded, &out)
            }
        }
        return out
    }

    private mutating func refuseForNow(_ decoded: DecodedClientMessage, _ out: inout [Output]) {
        if case .failure(let error) = decoded.message {
            refuseMalformed(decoded, error, &out)
            return
        }
        guard decoded.id != 0 else { return }
        out.append(.error(decoded.id, .rateLimited, "too many open requests", retryAfterMs: 100))
    }

    /// Whether all that may be open is, and none of it will be answered soon.
    private var isStalled: Bool {
        guard isFull, case .attached(let session) = phase else { return false }
        return session.window.isStalled
    }

    /// Whether messages have to wait: for the connect, or for one of the open requests.
    private var isFull: Bool {
        switch phase {
        case .attaching: true
        case .attached(let session): session.window.open.count >= limits.value.openRequests
        case .fresh, .closed: false
        }
    }

    private mutating func take(
        _ decoded: DecodedClientMessage, _ budgets: inout PlayerBudgets, _ around: Surroundings,
        _ out: inout [Output]
    ) {
        switch decoded.message {
        case .failure(let error): refuseMalformed(decoded, error, &out)
        case .success(let message):
            malformed = 0
            switch phase {
            case .fresh(let deadlineMs):
                guard case .connect(let connect)? = message.body else {
                    reply(message.id, .notConnected, "connect has to come first", &out)
                    return
                }
                if let wait = takeFromLink(nowMs: around.nowMs) {
                    let why = "over this link's messages a second"
                    out.append(.error(message.id, .rateLimited, why, retryAfterMs: wait))
                    return
                }
                self.connect(connect, message.id, deadlineMs: deadlineMs, around, &out)
            case .attached: call(message, &budgets, around, &out)
            case .attaching, .closed: break
            }
        }
    }

    private mutating func refuseMalformed(
        _ decoded: DecodedClientMessage, _ error: WireError, _ out: inout [Output]
    ) {
        malformed += 1
        var code = ErrorCode.invalidRequest
        if case .fresh = phase, !decoded.isConnect { code = .notConnected }
        let last = malformed >= limits.value.malformedInARow || decoded.isNotUTF8
        // An id that was read and is 0 asks for no answer; a message without a readable one gets an error without.
        if !(decoded.idWasRead && decoded.id == 0) || last {
            out.append(.error(decoded.id, code, error.message))
        }
        if last { end(.invalidRequest, error.message, webSocketCode: decoded.isNotUTF8 ? 1007 : 1008, &out) }
    }

    // MARK: Connecting

    private mutating func connect(
        _ connect: Connect, _ id: UInt32, deadlineMs: Int64, _ around: Surroundings, _ out: inout [Output]
    ) {
        if let violation = RequestRules.violation(of: .connect(connect), limits: limits.value) {
            out.append(.error(id, violation.code, violation.message))
            return
        }
        let token = connect.token.isEmpty ? nil : connect.token
        if let resume = connect.resume, !resume.resumeToken.isEmpty {
            if let player = ResumeToken.player(of: resume.resumeToken) {
                let position = StreamPosition(
                    roomID: resume.roomId, roomSeq: resume.roomSeq, frameSyncID: resume.frameSyncId,
                    frameID: resume.frameId)
                let nobody = PlayerKey(project: "", id: "")
                let tokenPlayer = token.map { around.tokens.claimedPlayer(of: $0) ?? nobody }
                phase = .attaching(
                    Attaching(id: id, player: player, token: token, deadlineMs: attachDeadlineMs(around)))
                let credential = AttachRequest.Credential.resume(
                    token: resume.resumeToken, position: position, tokenPlayer: tokenPlayer)
                out.append(.route(.player(player, .attach(.init(link: link, id: id, credential: credential)))))
                return
            }
            if token == nil {
                out.append(.error(id, .resumeExpired, "connect.resume.resumeToken is unknown; connect with a token"))
                return
            }
        }
        guard let token else {
            refuseToken(id, "connect.token is missing", &out)
            return
        }
        attach(with: token, id, around, &out)
    }

    private mutating func attach(with token: String, _ id: UInt32, _ around: Surroundings, _ out: inout [Output]) {
        switch around.tokens.check(token, nowS: around.wallMs / 1000) {
        case .failure(let error): refuseToken(id, error.message, &out)
        case .success(let verified):
            phase = .attaching(
                Attaching(id: id, player: verified.player, token: nil, deadlineMs: attachDeadlineMs(around)))
            let credential = AttachRequest.Credential.token(name: verified.name, avatar: verified.avatar)
            out.append(
                .route(.player(verified.player, .attach(.init(link: link, id: id, credential: credential)))))
        }
    }

    private func attachDeadlineMs(_ around: Surroundings) -> Int64 {
        around.nowMs + Int64(limits.value.requestTimeoutMs)
    }

    private mutating func refuseToken(_ id: UInt32, _ message: String, _ out: inout [Output]) {
        out.append(.error(id, .invalidAuthorization, message))
        end(.invalidAuthorization, message, webSocketCode: 1008, &out)
    }

    // MARK: From the shards

    public mutating func deliver(
        _ delivery: Delivery, budgets: inout PlayerBudgets, _ around: Surroundings
    ) -> [Output] {
        var out: [Output] = []
        switch delivery {
        case .attached(let id, let attachment):
            attached(id, attachment, around, &out)
        case .attachRefused(let id, let why):
            attachRefused(id, why, around, &out)
        case .reply(let id, let body, let place):
            if case .ok = body, seat != nil, withSession({ $0.holdLeft(id) }) ?? false { break }
            settle(id, body, place, &out)
        case .settled(let id):
            if case .attaching = phase { settledEarly.append(id) }
            withSession { $0.window.take(id) }
        case .joined(let id, let joined, let seat): self.joined(id, joined, seat, &out)
        case .frames(let id, let frames):
            let owed = withSession { $0.window.settle(id, .nowhere) } ?? false
            if owed { out.append(.sendFrames(id: id, frames)) }
        case .seatLost(let claim, let calls, let error): seatLost(claim, calls, error, &out)
        case .unseated(let claim):
            note(ended: claim)
            if seat?.claim == claim {
                seat = nil
                withSession { $0.window.unseat() }
            }
            for id in withSession({ $0.takeLeft() }) ?? [] { settle(id, .ok(Ok()), .player, &out) }
        case .lagging: out += end(.slowConsumer, "this link reads too slowly to catch up")
        case .disconnected(let id):
            if id != 0 { out.append(.send(ServerMessage(id: id, body: .ok(Ok())))) }
            end(.success, "", webSocketCode: 1000, &out)
        case .replaced:
            end(.replaced, "another connection of the same player took over", webSocketCode: 1008, &out)
        case .confirmAttach(let id):
            if case .attaching(let attaching) = phase, attaching.id == id {
                out.append(.route(.player(attaching.player, .attachConfirmed(link))))
            }
        case .takenOver:
            phase = .closed
            out.append(.close(webSocketCode: 1000))
        case .replay: break  // goes to the socket as it is
        }
        takeEarly(&budgets, around, &out)
        return out
    }

    private mutating func joined(_ id: UInt32, _ joined: RoomJoined, _ seat: SeatView, _ out: inout [Output]) {
        let isFirst = self.seat?.claim != seat.claim
        if isFirst, endedClaims.contains(seat.claim) { return }
        if isFirst, case .remembered? = withSession({ $0.window.standing(of: id) }) {
            // The request led to another seat before, which was lost: what a client would make of two answers is
            // anyone's guess, while a resume tells it where it sits.
            out += end(.serverError, "a request led to two rooms, one of which was lost")
            return
        }
        if case .attached = phase { self.seat = seat }
        // Its stream follows, so the first is told even when 1 was said in its stead before.
        settle(id, .roomJoined(joined), .player, isDue: isFirst, &out)
    }

    private mutating func attached(
        _ id: UInt32, _ attachment: Attachment, _ around: Surroundings, _ out: inout [Output]
    ) {
        guard case .attaching(let attaching) = phase else { return }
        let window = RequestWindow(
            player: attachment.requests, seat: attachment.seatRequests,
            isSeatForgetful: attachment.isSeatForgetful, limit: limits.value.rememberedRequests)
        phase = .attached(Session(window: window))
        for id in settledEarly { withSession { $0.window.take(id) } }
        settledEarly = []
        player = attaching.player
        seat = attachment.seat
        let connected = Connected(
            playerId: attaching.player.id, resumeToken: attachment.resumeToken, resumed: attachment.resumed,
            serverTime: around.wallMs, heartbeatMs: limits.value.heartbeatMs,
            resumeWindowMs: limits.value.resumeWindowMs, room: attachment.room, node: around.node,
            roomSeq: attachment.roomSeq, roomRestarted: attachment.roomRestarted, frameSync: attachment.frameSync,
            snapshot: attachment.snapshot)
        out.append(.send(ServerMessage(id: id, body: .connected(connected))))
        if let ended = attachment.ended {
            out.append(.send(ServerMessage(body: ended)))
            withSession { $0.isEndUnheard = true }
        }
    }

    private mutating func attachRefused(
        _ id: UInt32, _ why: AttachRefusal, _ around: Surroundings, _ out: inout [Output]
    ) {
        guard case .attaching(let attaching) = phase else { return }
        switch why {
        case .otherPlayer:
            refuseToken(id, "connect.token is another player's than connect.resume", &out)
        case .resumeDead:
            if let token = attaching.token {
                attach(with: token, id, around, &out)
            } else {
                phase = .fresh(deadlineMs: around.nowMs + Int64(limits.value.connectTimeoutMs))
                out.append(
                    .error(id, .resumeExpired, "connect.resume.resumeToken is unknown or its window is over"))
            }
        }
    }

    private mutating func takeEarly(
        _ budgets: inout PlayerBudgets, _ around: Surroundings, _ out: inout [Output]
    ) {
        if case .closed = phase { early = [] }
        while !early.isEmpty, !isFull { take(early.removeFirst(), &budgets, around, &out) }
    }

    // MARK: Ending

    /// The socket ended. The machine says nothing more after this.
    public mutating func socketEnded() -> [Output] {
        defer { phase = .closed }
        switch phase {
        case .attaching, .attached: return detached()
        case .fresh, .closed: return []
        }
    }

    /// Says why, and closes; the run goes on.
    public mutating func end(_ code: ErrorCode, _ message: String) -> [Output] {
        var out: [Output] = []
        if case .closed = phase { return out }
        out += detached()
        end(code, message, webSocketCode: code == .draining ? 1012 : 1008, &out)
        return out
    }

    /// The client broke a rule after which nothing it says can be understood.
    public mutating func broken(_ message: String, webSocketCode: UInt16) -> [Output] {
        if case .closed = phase { return [.close(webSocketCode: webSocketCode)] }
        var out: [Output] = [.error(0, .invalidRequest, message)]
        end(.invalidRequest, message, webSocketCode: webSocketCode, &out)
        return out
    }

    private func detached() -> [Output] {
        switch phase {
        case .attaching(let attaching): [.route(.player(attaching.player, .detach(link)))]
        case .attached: player.map { [.route(.player($0, .detach(link)))] } ?? []
        case .fresh, .closed: []
        }
    }

    private mutating func end(
        _ code: ErrorCode, _ message: String, webSocketCode: UInt16, _ out: inout [Output]
    ) {
        if case .closed = phase { return }
        switch code {
        case .invalidRequest, .invalidAuthorization: out += detached()
        default: break
        }
        phase = .closed
        early = []
        let last = Disconnected(code: code.rawValue, message: message, mayReconnect: code.mayReconnect)
        out.append(.send(ServerMessage(body: .disconnected(last))))
        out.append(.close(webSocketCode: webSocketCode))
    }

    // MARK: Time

    /// To be called now and then: a few times in the shortest of the limits.
    public mutating func tick(nowMs: Int64) -> [Output] {
        var out: [Output] = []
        if isSeatInDoubt, isDoubtOver(nowMs: nowMs) {
            return end(.serverError, "the room was lost, and nothing was heard of what became of the seat")
        }
        switch phase {
        case .fresh(let deadlineMs):
            if deadlineMs <= nowMs {
                end(.notConnected, "no connect came in time", webSocketCode: 1008, &out)
            }
        case .attached(let session) where session.window.open.isEmpty: break
        case .attached(var session):
            let late = session.window.overdue(nowMs: nowMs)
            guard !late.isEmpty else { return out }
            phase = .attached(session)
            for id in late {
                out.append(.error(id, .serverError, "not done within its time; send it again", retryAfterMs: 500))
            }
            // What waits behind them must not wait in silence.
            let waiting = early
            early = []
            for decoded in waiting { refuseForNow(decoded, &out) }
        case .attaching(let attaching):
            if attaching.deadlineMs <= nowMs { out += end(.draining, "the player's shard did not answer in time") }
        case .closed: break
        }
        return out
    }

    /// The end of the seat is to be heard from the player's shard; this is for when that knows of no such seat.
    private mutating func isDoubtOver(nowMs: Int64) -> Bool {
        let end = doubtEndsMs ?? nowMs + Int64(limits.value.requestTimeoutMs)
        doubtEndsMs = end
        return end <= nowMs
    }

    // MARK: Claims that ended

    mutating func note(ended claim: Claim) {
        if endedClaims.contains(claim) { return }
        if endedClaims.count == 8 { endedClaims.removeFirst() }
        endedClaims.append(claim)
    }

    // MARK: Helpers

    /// Whether the link may say one more thing in this second; nil when it may.
    mutating func takeFromLink(nowMs: Int64) -> UInt32? { linkBudget.take(nowMs: nowMs) }

    /// - Returns: nil when no session is there.
    @discardableResult
    mutating func withSession<Result>(_ change: (inout Session) -> Result) -> Result? {
        guard case .attached(var session) = phase else { return nil }
        phase = .closed
        defer { phase = .attached(session) }
        return change(&session)
    }

    func reply(_ id: UInt32, _ code: ErrorCode, _ message: String, _ out: inout [Output]) {
        if id != 0 { out.append(.error(id, code, message)) }
    }
}

extension ConnectionMachine.Output {
    static func error(_ id: UInt32, _ code: ErrorCode, _ message: String, retryAfterMs: UInt32 = 0) -> Self {
        .send(ServerMessage(id: id, body: .error(ErrorReply(code, message, retryAfterMs: retryAfterMs))))
    }
}
