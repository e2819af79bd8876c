import HoldfastProtocol

/// createRoom, matchRoom, joinRoom, leaveRoom, cancelMatch.
extension PlayerMachine {
    mutating func take(_ link: Link, _ id: UInt32, _ call: SeatCall, _ context: inout EntryContext) {
        guard run?.link == link else { return }
        if answerAgain(link, id, &context) { return }
        if case .cancelMatch = call {
            cancelMatch(link, id, &context)
            return
        }
        if case .matching = place, open?.id == 0 {
            let error = ServerMessage.Body.failure(.requestInProgress, "a matchRoom of yours is still open")
            reply(link, id, error, &context)
            return
        }
        if open != nil || pendingAttach != nil {
            guard waiting.count < context.limits.value.openRequests else {
                let error = ErrorReply(.rateLimited, "too many open requests", retryAfterMs: 1000)
                reply(link, id, .error(error), &context)
                return
            }
            waiting.append(WaitingCall(link: link, id: id, call: call))
            return
        }
        begin(link, id, call, &context)
    }

    /// Whether the request was done before, or is open: then it is not done again.
    private mutating func answerAgain(_ link: Link, _ id: UInt32, _ context: inout EntryContext) -> Bool {
        guard id != 0 else { return false }
        if open?.id == id {
            if open?.link == link {
                open?.times += 1
            } else {
                open?.link = link
                open?.times = 1
            }
            return true
        }
        if let i = waiting.firstIndex(where: { $0.id == id }) {
            waiting[i] = WaitingCall(link: link, id: id, call: waiting[i].call)
            return true
        }
        switch memory.outcome(of: id) {
        case nil: return false
        case .done?, .error?:
            if let body = memory.outcome(of: id).flatMap(RequestMemory.reply) {
                context.deliver(link, .reply(id: id, body, .player))
            }
        case .joined(let claim):
            if case .seated(let room, claim) = place, let run {
                context.send(
                    .room(
                        RoomKey(project: key.project, id: room),
                        .sendJoined(player: key.id, claim, run.connection, link, id: id)))
            } else {
                let body = ServerMessage.Body.failure(.notInRoom, Self.seatIsGone)
                context.deliver(link, .reply(id: id, body, .player))
            }
        }
        return true
    }

    mutating func begin(_ link: Link, _ id: UInt32, _ call: SeatCall, _ context: inout EntryContext) {
        switch call {
        case .cancelMatch:
            cancelMatch(link, id, &context)
            return
        case .leave:
            guard case .seated(let room, let claim) = place else {
                reply(link, id, .failure(.notInRoom, "leaveRoom: you are in no room"), &context)
                return
            }
            open = OpenCall(id: id, link: link, isLeave: true)
            leave(room, claim, .call, &context)
            return
        case .create, .match, .join: break
        }
        if case .seated(let room, let claim) = place {
            // The room may have ended the seat, and its word of that be on its way.
            open = OpenCall(id: id, link: link, isLeave: false)
            verifying = Verifying(call: call, number: context.index)
            context.send(
                .room(
                    RoomKey(project: key.project, id: room),
                    .verify(player: key.id, claim, number: context.index)))
            return
        }
        guard place == .free else {
            reply(link, id, .failure(.alreadyInRoom, "you are in a room; leave it first"), &context)
            return
        }
        guard let run else { return }
        let listener = Seating.Listener(link: link, connection: run.connection, id: id)
        open = OpenCall(id: id, link: link, isLeave: false, listener: listener)
        claim(call, listener, &context)
    }

    private mutating func claim(_ call: SeatCall, _ listener: Seating.Listener, _ context: inout EntryContext) {
        let claim = context.index
        switch call {
        case .create(let room, let player):
            let id = context.randomness.roomID()
            place = .claiming(room: id, claim, abandoned: false)
            asked = Asked(call: call, listener: listener, atMs: context.nowMs, first: claim)
            context.send(.directory(project: key.project, .admit(room: id, room, [seating(claim, listener, player)])))
        case .join(let id, let player, let spectator, let password):
            place = .claiming(room: id, claim, abandoned: false)
            let seating = seating(claim, listener, player, spectator: spectator, password: password)
            context.send(.room(RoomKey(project: key.project, id: id), .seat(seating)))
        case .match(let room, let player, let timeoutMs):
            let pool = PoolKey(
                project: key.project, type: room.type, maxPlayerCount: room.maxPlayerCount, params: room.matchParams)
            place = .matching(pool, claim, abandoned: false)
            asked = Asked(call: call, listener: listener, atMs: context.nowMs, first: claim)
            let seating = seating(claim, listener, player, pool: pool)
            context.send(.pool(pool, .match(MatchTicket(seating: seating, room: room, timeoutMs: timeoutMs))))
        case .leave, .cancelMatch: break
        }
    }

    func seating(
        _ claim: Claim, _ listener: Seating.Listener, _ config: PlayerConfig, spectator: Bool = false,
        password: String = "", pool: PoolKey? = nil
    ) -> Seating {
        Seating(
            player: key, claim: claim, listener: listener, config: config, asSpectator: spectator, password: password,
            lastInput: lastInput, pool: pool)
    }

    private mutating func cancelMatch(_ link: Link, _ id: UInt32, _ context: inout EntryContext) {
        reply(link, id, .done, &context)
        // The pool decides whether the match or this was first; its word is matchRoom's one reply.
        if case .matching(let pool, let claim, _) = place {
            asked?.isCancelled = true
            context.send(.pool(pool, .cancel(player: key.id, claim)))
        }
    }

    mutating func roomCall(_ link: Link, _ id: UInt32, _ body: ClientMessage.Body, _ context: inout EntryContext) {
        guard run?.link == link else { return }
        let isExempt = CallKind.isExempt(body)
        if !isExempt, answerAgain(link, id, &context) { return }
        if case .seated(let room, let claim) = place {
            // The gateway did not know yet.
            context.send(
                .room(
                    RoomKey(project: key.project, id: room), .call(player: key.id, claim, link, id: id, body)))
            return
        }
        let body = ServerMessage.Body.failure(.notInRoom, "you are in no room")
        if !isExempt {
            reply(link, id, body, &context)
        } else if id != 0 {
            context.deliver(link, .reply(id: id, body, .nowhere))
        }
    }

    private mutating func reply(
        _ link: Link, _ id: UInt32, _ body: ServerMessage.Body, _ context: inout EntryContext
    ) {
        let kept = RequestMemory.keeps(body)
        if kept { remember(id, RequestMemory.outcome(body), &context) }
        if id != 0 { context.deliver(link, .reply(id: id, body, kept ? .player : .nowhere)) }
    }
}
