import HoldfastProtocol

/// Shards that were lost with everything in them, and claims that must be asked after (design, rule 12).
extension PlayerMachine {
    mutating func shardLost(_ home: ShardID, _ context: inout EntryContext) {
        let layout = context.limits.layout
        func isLost(_ shard: ShardID) -> Bool { layout.home(of: shard) == home }
        func isLost(room: String) -> Bool { isLost(RoomKey(project: key.project, id: room).shard) }

        switch place {
        case .free: break
        case .claiming(let room, let claim, let abandoned):
            if isLost(room: room) {
                loseClaim(claim, room, abandoned: abandoned, Self.claimIsLost, &context)
            } else if case .create? = asked?.call, isLost(ShardID(ofDirectory: key.project)) {
                askAgain(&context)
            }
        case .matching(let pool, _, _): if isLost(ShardID(of: pool)) { askAgain(&context) }
        case .seated(let room, let claim): if isLost(room: room) { loseSeat(room, claim, &context) }
        case .leaving(let room, let claim): if isLost(room: room) { loseLeave(claim, &context) }
        }
        if let attaching, isLost(room: attaching.room) { completeAttach(&context) }
    }

    /// Makes the call again at the directory or the pool that has begun anew. The one before may have had it done: then
    /// the room knows the claim, and a seat for an older claim of the call is as good.
    private mutating func askAgain(_ context: inout EntryContext) {
        switch (place, asked?.call) {
        case (.claiming(let room, let claim, abandoned: false), .create(let config, let player)?):
            guard let asked else { return }
            let seating = seating(claim, asked.listener, player)
            context.send(.directory(project: key.project, .admit(room: room, config, [seating])))
        case (.matching(let pool, let old, abandoned: false), .match(let config, let player, let timeoutMs)?):
            guard let asked else { return }
            if asked.isCancelled {
                let error = ErrorReply(.matchCancelled, "the match was cancelled")
                loseClaim(old, "", abandoned: false, error, &context)
                return
            }
            let claim = context.index
            place = .matching(pool, claim, abandoned: false)
            let waited = max(0, context.nowMs - asked.atMs)
            let left = timeoutMs == 0 ? 0 : UInt32(max(1, Int64(timeoutMs) - waited))
            let seating = seating(claim, asked.listener, player, pool: pool)
            context.send(.pool(pool, .match(MatchTicket(seating: seating, room: config, timeoutMs: left))))
        case (.claiming(_, let claim, _), _), (.matching(_, let claim, _), _):
            loseClaim(claim, "", abandoned: true, Self.claimIsLost, &context)
        case (.free, _), (.seated, _), (.leaving, _): break
        }
    }

    /// Whether the claim was made for the call that is being matched.
    func isOfOpenCall(_ claim: Claim) -> Bool {
        guard let asked, case .matching(_, let newest, _) = place else { return false }
        return asked.first <= claim && claim < newest
    }

    /// A seat came of a claim that was given up.
    mutating func giveBack(_ claim: Claim, _ room: String, _ context: inout EntryContext) {
        Self.giveBack(key, claim, room, &context)
    }

    static func giveBack(_ player: PlayerKey, _ claim: Claim, _ room: String, _ context: inout EntryContext) {
        let key = RoomKey(project: player.project, id: room)
        context.send(.room(key, .leave(player: player.id, claim, .lost)))
    }

    mutating func claimLost(_ claim: Claim, _ room: String, _ context: inout EntryContext) {
        switch place {
        case .claiming(_, claim, let abandoned), .matching(_, claim, let abandoned):
            let cancelled = ErrorReply(.matchCancelled, "the match was cancelled")
            let error = asked?.isCancelled == true ? cancelled : Self.claimIsLost
            loseClaim(claim, room, abandoned: abandoned, error, &context)
        case .free, .claiming, .matching, .seated, .leaving: return
        }
    }

    static var claimIsLost: ErrorReply {
        ErrorReply(
            .serverError, "a part of the cluster was lost before this was done; send it again", retryAfterMs: 500)
    }

    static var seatIsLost: ServiceError {
        ServiceError(code: ErrorCode.serverError.rawValue, message: "the room was lost")
    }

    /// Nobody will decide the claim any more.
    mutating func loseClaim(
        _ claim: Claim, _ room: String, abandoned: Bool, _ error: ErrorReply, _ context: inout EntryContext
    ) {
        place = .free
        asked = nil
        if !abandoned, !room.isEmpty {
            // The room may have told of the seat before.
            ended = OutReport.Ended(roomID: room, seq: .max, body: .serviceError(Self.seatIsLost), unseen: false)
            isEndTold = false
        }
        var calls: [UInt32] = []
        if let call = open {
            open = nil
            let body = ServerMessage.Body.error(error)
            if RequestMemory.keeps(body) { remember(call.id, RequestMemory.outcome(body), &context) }
            tellSettled(call, &context)
            if call.id != 0, run?.link == call.link { calls = [call.id] }
        }
        context.deliver(run?.link, .seatLost(claim, calls: calls, error))
        goOn(&context)
    }

    private mutating func loseSeat(_ room: String, _ claim: Claim, _ context: inout EntryContext) {
        place = .free
        let error = ErrorReply(.notInRoom, Self.seatIsGone)
        let calls = memory.ids(of: .joined(claim))
        memory.replace(.joined(claim), with: .error(error))
        ended = OutReport.Ended(
            roomID: room, seq: .max, body: .serviceError(Self.seatIsLost), unseen: run?.link == nil)
        isEndTold = false
        completeAttach(&context)
        context.deliver(run?.link, .seatLost(claim, calls: calls, error))
        beginVerified(&context)
        goOn(&context)
    }

    private mutating func loseLeave(_ claim: Claim, _ context: inout EntryContext) {
        place = .free
        let error = ErrorReply(.notInRoom, Self.seatIsGone)
        context.deliver(run?.link, .seatLost(claim, calls: [], error))
        if let open, open.isLeave { finish(.done, &context) }
        goOn(&context)
    }

    /// The room that was to complete an attach is gone. Whether it did before, the gateway knows.
    private mutating func completeAttach(_ context: inout EntryContext) {
        guard let attach = attaching else { return }
        attaching = nil
        if run?.connection == attach.template.connection { settle(attach.template, &context) }
    }

    // MARK: Verifying

    mutating func attachFailed(_ template: AttachTemplate, _ context: inout EntryContext) {
        guard run?.connection == template.connection else { return }
        attaching = nil
        if case .matching(let pool, let claim, abandoned: false) = place, let asked, asked.first < claim,
            let room = template.position?.roomID, !room.isEmpty
        {
            // The client was told of a room to which the call had led before both that and the pool were lost: then its
            // call is answered, and nothing is to be searched for.
            place = .matching(pool, claim, abandoned: true)
            open = nil
            context.send(.pool(pool, .cancel(player: key.id, claim)))
            ended = OutReport.Ended(roomID: room, seq: .max, body: .serviceError(Self.seatIsLost), unseen: false)
            isEndTold = false
            pendingAttach = template
            return
        }
        settle(template, &context)
    }

    /// The room's word on the claim for which a call waits.
    mutating func verified(_ claim: Claim, _ number: UInt64, _ held: Bool, _ context: inout EntryContext) {
        guard verifying?.number == number, case .seated(_, claim) = place else { return }
        if held {
            verifying = nil
            finish(.failure(.alreadyInRoom, "you are in a room; leave it first"), &context)
        } else {
            // Without an `out` before: the seat is not there, whatever became of it.
            place = .free
            beginVerified(&context)
        }
        goOn(&context)
    }

    /// The seat that was in the way of a call has ended.
    mutating func beginVerified(_ context: inout EntryContext) {
        guard let verifying else { return }
        self.verifying = nil
        guard let call = open else { return }
        open = nil
        begin(call.link, call.id, verifying.call, &context)
        open?.times = call.times
    }
}
