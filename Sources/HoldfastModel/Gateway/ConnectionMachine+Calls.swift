import HoldfastProtocol

/// The calls of a client that is connected: refused here for what can be seen here, in the order of errors.md (16, 11,
/// 15, 3), or sent to the shard that decides.
extension ConnectionMachine {
    mutating func call(
        _ message: ClientMessage, _ budgets: inout PlayerBudgets, _ around: Surroundings, _ out: inout [Output]
    ) {
        let id = message.id
        guard let body = message.body, let kind = CallKind(body) else {
            reply(id, .notImplemented, "no body that this server knows", &out)
            return
        }
        if kind == .connect {
            if let wait = takeFromLink(nowMs: around.nowMs) {
                out.append(.error(id, .rateLimited, "over this link's messages a second", retryAfterMs: wait))
                return
            }
            // Except to `connect`, no id asks for no answer.
            out.append(.error(id, .alreadyConnected, "this link is connected"))
            return
        }
        if let violation = violation(of: body) {
            reply(id, violation.code, violation.message, &out)
            return
        }
        var isRepeat = false
        if kind.isRemembered, !CallKind.isExempt(body), let standing = withSession({ $0.window.standing(of: id) }) {
            switch standing {
            case .new: break
            case .open where withSession({ $0.window.open[id]?.awaited ?? 0 }) ?? 0 >= limits.value.openRequests:
                out.append(.error(id, .rateLimited, "this request is open and owed enough answers", retryAfterMs: 1000))
                return
            case .open, .remembered: isRepeat = true
            case .forgotten:
                reply(id, .invalidRequest, "id: the outcome of \(id) is forgotten; ids must grow", &out)
                return
            }
        }
        if !isRepeat, let refusal = refusal(of: body, kind, &budgets, around) {
            if id != 0 { out.append(.send(ServerMessage(id: id, body: .error(refusal)))) }
            return
        }
        pass(id, body, kind, isRepeat: isRepeat, around, &out)
    }

    private func violation(of body: ClientMessage.Body) -> Refusal? {
        if let violation = RequestRules.violation(of: body, limits: limits.value) { return violation }
        if case .getRoomList(let list) = body, ListOffset.read(list.offset) == nil {
            return Refusal(.invalidRequest, "getRoomList.offset: not one that this server gave")
        }
        if case .kickRoomPlayer(let kick) = body, kick.playerId == player?.id {
            return Refusal(.invalidRequest, "kickRoomPlayer.playerId: nobody can kick oneself")
        }
        return nil
    }

    /// 15, and 3 after it: what is refused with 15 costs nothing.
    private mutating func refusal(
        of body: ClientMessage.Body, _ kind: CallKind, _ budgets: inout PlayerBudgets, _ around: Surroundings
    ) -> ErrorReply? {
        guard case .attached(let session) = phase else { return nil }
        if kind == .seat, session.window.hasOpenSeatCall {
            return ErrorReply(.requestInProgress, "another create, match, join or leave is still open")
        }
        if let wait = takeFromLink(nowMs: around.nowMs) {
            return ErrorReply(.rateLimited, "over this link's messages a second", retryAfterMs: wait)
        }
        if let wait = budgets.take(for: body, nowMs: around.nowMs) {
            return ErrorReply(.rateLimited, "over the budget of this call", retryAfterMs: wait)
        }
        return nil
    }

    private mutating func pass(
        _ id: UInt32, _ body: ClientMessage.Body, _ kind: CallKind, isRepeat: Bool, _ around: Surroundings,
        _ out: inout [Output]
    ) {
        switch kind {
        case .connect: break
        case .ping(let time):
            if id != 0 {
                let pong = Pong(clientTime: time, serverTime: around.wallMs)
                out.append(.send(ServerMessage(id: id, body: .pong(pong))))
            }
        case .disconnect:
            if let player { out.append(.route(.player(player, .disconnect(link, id: id)))) }
        case .list(let list):
            begin(id, body, kind, isRepeat, around)
            if let player, id != 0 {
                out.append(.route(.directory(project: player.project, .list(link, id: id, list))))
            }
        case .seat, .cancelMatch:
            begin(id, body, kind, isRepeat, around)
            if let player, let call = SeatCall(body) {
                out.append(.route(.player(player, .call(link, id: id, call))))
            }
        case .room:
            begin(id, body, kind, isRepeat, around)
            let holds = withSession { $0.window.holdsRoomCalls } ?? false
            let call = RoomCall(id: id, body: body)
            if holds { hold(call, &out) } else { routeToRoom(call, &out) }
        }
    }

    private mutating func begin(
        _ id: UInt32, _ body: ClientMessage.Body, _ kind: CallKind, _ isRepeat: Bool, _ around: Surroundings
    ) {
        guard id != 0, kind.isAnswered, CallKind.isAnswered(body) else { return }
        let deadline = around.nowMs + Int64(limits.value.requestTimeoutMs)
        withSession { session in
            if session.window.open[id] != nil {
                session.window.await(id, deadlineMs: deadline)
                return
            }
            var waits = false
            // What was answered before waits for nobody any more.
            if !isRepeat, case .matchRoom(let match) = body { waits = match.timeoutMs > 0 }
            session.window.begin(
                id,
                .init(
                    isSeatCall: kind == .seat && !isRepeat, holdsRoomCalls: kind == .seat && !waits && !isRepeat,
                    isLeave: !isRepeat && body == .leaveRoom(LeaveRoom()), isRoomCall: kind == .room, awaited: 1,
                    deadlineMs: waits ? nil : deadline))
        }
    }

    private mutating func hold(_ call: RoomCall, _ out: inout [Output]) {
        let limit = limits.value.openRequests
        let held = withSession { session in
            guard session.held.count < limit else { return false }
            session.held.append(call)
            return true
        }
        if held == false {
            let error = ErrorReply(.rateLimited, "too many open requests", retryAfterMs: 100)
            settle(call.id, .error(error), .nowhere, &out)
        }
    }

    private func routeToRoom(_ call: RoomCall, _ out: inout [Output]) {
        guard let player else { return }
        if let seat, CallKind.isExempt(call.body) || !isRememberedByPlayer(call.id) {
            let command = RoomCommand.call(player: player.id, seat.claim, link, id: call.id, call.body)
            out.append(.route(.room(seat.room, command)))
        } else {
            out.append(.route(.player(player, .roomCall(link, id: call.id, call.body))))
        }
    }

    /// Whether the outcome is remembered with the player, from a room before this one.
    private func isRememberedByPlayer(_ id: UInt32) -> Bool {
        if case .attached(let session) = phase { session.window.place(of: id) == .player } else { false }
    }

    /// An outcome came: it is passed on if this link is owed it, and calls that waited for it go on.
    mutating func settle(
        _ id: UInt32, _ body: ServerMessage.Body, _ place: ReplyPlace, isDue: Bool = false, _ out: inout [Output]
    ) {
        let owed = withSession { $0.window.settle(id, place) } ?? false
        if owed || isDue, id != 0 { out.append(.send(ServerMessage(id: id, body: body))) }
        sendHeld(&out)
    }

    /// Calls to the room go on when it is known which.
    mutating func sendHeld(_ out: inout [Output]) {
        let due = withSession { session -> [RoomCall] in
            if session.held.isEmpty || session.window.holdsRoomCalls { return [] }
            defer { session.held = [] }
            return session.held
        }
        for call in due ?? [] { routeToRoom(call, &out) }
    }
}

extension DecodedClientMessage {
    /// Whether it is heard even while others wait for open requests.
    /// - Parameter isStalled: none of those will be answered soon; then inputs, which are not answered, go too.
    func passesOthers(isStalled: Bool) -> Bool {
        guard case .success(let message) = self.message else { return false }
        switch message.body {
        case .ping, .disconnect: return true
        case .sendFrameInput, .reportFrameHash: return isStalled
        default: return false
        }
    }
}

/// What a gateway must know of a call.
enum CallKind: Equatable {
    case connect
    case disconnect
    case ping(Int64)
    case list(GetRoomList)
    /// create, match, join, leave
    case seat
    case cancelMatch
    case room

    /// - Returns: nil for what this server does not know.
    init?(_ body: ClientMessage.Body) {
        switch body {
        case .connect: self = .connect
        case .disconnect: self = .disconnect
        case .ping(let ping): self = .ping(ping.clientTime)
        case .createRoom, .matchRoom, .joinRoom, .leaveRoom: self = .seat
        case .cancelMatch: self = .cancelMatch
        case .getRoomList(let list): self = .list(list)
        case .updateRoomProperties, .updatePlayerCustomStatus, .updatePlayerCustomProperties, .kickRoomPlayer,
            .transferRoomOwner, .dismissRoom, .sendCustomMessage, .startFrameSync, .sendFrameInput, .stopFrameSync,
            .getFrames, .reportFrameHash, .putSnapshot:
            self = .room
        case .requestBattle, .cancelBattleRequest, .acceptBattle, .rejectBattle, .exitBattle, .joinSession,
            .leaveSession, .sendSignal, .forceDisconnect:
            return nil
        }
    }

    /// Whether a repeat is recognised by its id; the room looks after inputs itself.
    var isRemembered: Bool {
        switch self {
        case .seat, .cancelMatch, .room: true
        case .connect, .disconnect, .ping, .list: false
        }
    }

    var isAnswered: Bool {
        switch self {
        case .seat, .cancelMatch, .room, .list: true
        case .connect, .disconnect, .ping: false
        }
    }

    /// Inputs and hash reports are answered only when they are refused.
    static func isAnswered(_ body: ClientMessage.Body) -> Bool {
        switch body {
        case .sendFrameInput, .reportFrameHash: false
        default: true
        }
    }

    /// Reads and what has its own rule of being taken once.
    static func isExempt(_ body: ClientMessage.Body) -> Bool {
        switch body {
        case .sendFrameInput, .reportFrameHash, .getFrames: true
        default: false
        }
    }
}

extension SeatCall {
    init?(_ body: ClientMessage.Body) {
        switch body {
        case .createRoom(let create): self = .create(create.room ?? RoomConfig(), create.player ?? PlayerConfig())
        case .matchRoom(let match):
            self = .match(match.room ?? RoomConfig(), match.player ?? PlayerConfig(), timeoutMs: match.timeoutMs)
        case .joinRoom(let join):
            self = .join(
                roomID: join.roomId, join.player ?? PlayerConfig(), asSpectator: join.asSpectator,
                password: join.password)
        case .leaveRoom: self = .leave
        case .cancelMatch: self = .cancelMatch
        default: return nil
        }
    }
}
