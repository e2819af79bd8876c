import HoldfastProtocol

/// A player: its run, its link, and where it sits. The one place that says in which room a player is (design, rule 12);
/// rooms and pools act on claims that are made here.
struct PlayerMachine: Sendable {
    let key: PlayerKey
    var run: Run?
    var place = Place.free
    /// The seat call that is not decided yet, and those that came while it was.
    var open: OpenCall?
    var waiting: [WaitingCall] = []
    var memory = RequestMemory()
    /// The highest id of a frame input taken in this run, while no seat knows better.
    var lastInput: UInt32 = 0
    /// The last seat that was ended by others.
    var ended: OutReport.Ended?
    /// It was told at a resume; whether it arrived, only the client's next position or word says.
    var isEndTold = false
    /// An attach that waits until the claim is decided.
    var pendingAttach: AttachTemplate?
    /// Connects that would end the run, in order, `connectsAskedAfter` at most: their gateways are
    /// asked first whether they are still wanted.
    var replacing: [AttachRequest] = []
    /// The newest attach that a room was asked to complete: should the room be lost, it is completed here.
    var attaching: RoomAttach?
    /// What led to the claim that is not decided yet, to ask again when a shard that had it was lost.
    var asked: Asked?
    /// What is open waits for the room's word whether the player sits there (design, rule 12).
    var verifying: Verifying?

    /// From a connect with a token to its end (rooms.md, "A run").
    struct Run: Sendable {
        let resumeToken: String
        var link: Link?
        var connection: ConnectionNumber
        /// The one that began the run.
        let firstConnection: ConnectionNumber
        var droppedAtMs: Int64?
        /// The player's shard has told of being offline.
        var offlineTold = false
        let name: String
        let avatar: String
    }

    /// free → claiming or matching → seated or free; seated → leaving → free or (refused) seated; seated → free.
    enum Place: Sendable, Equatable {
        case free
        /// `abandoned`: nobody wants the seat any more; it is left as soon as it is there.
        case claiming(room: String, Claim, abandoned: Bool)
        case matching(PoolKey, Claim, abandoned: Bool)
        case seated(room: String, Claim)
        case leaving(room: String, Claim)
    }

    struct OpenCall: Sendable {
        let id: UInt32
        /// The link on which it was last sent: on another, the answer waits until it is sent again.
        var link: Link
        /// How many answers that link is owed.
        var times = 1
        let isLeave: Bool
        /// Whom the room answers.
        var listener: Seating.Listener?
    }

    struct WaitingCall: Sendable {
        let link: Link
        let id: UInt32
        let call: SeatCall
    }

    struct RoomAttach: Sendable {
        let room: String
        let template: AttachTemplate
    }

    struct Asked: Sendable {
        /// `create` or `match`.
        let call: SeatCall
        let listener: Seating.Listener
        let atMs: Int64
        /// The first claim of the call: any since may still come to a seat.
        let first: Claim
        /// The pool was told to end the wait.
        var isCancelled = false
    }

    struct Verifying: Sendable {
        let call: SeatCall
        let number: UInt64
    }

    init(key: PlayerKey) { self.key = key }

    /// Whether nothing is lost when it is forgotten.
    var isIdle: Bool { run == nil && place == .free && pendingAttach == nil && replacing.isEmpty }

    var nextDeadlineMs: Int64? {
        guard let run, let dropped = run.droppedAtMs else { return nil }
        return run.offlineTold ? dropped + windowMs : dropped + graceMs
    }

    /// Of the node's limits, kept here because a deadline must not need a context.
    var windowMs: Int64 = 60_000
    var graceMs: Int64 = 2_000

    mutating func handle(_ command: PlayerCommand, _ context: inout EntryContext) {
        windowMs = Int64(context.limits.value.resumeWindowMs)
        graceMs = min(Int64(context.limits.value.offlineAfterMs), windowMs)
        switch command {
        case .attach(let request): attach(request, &context)
        case .attachConfirmed(let link): attachConfirmed(link, &context)
        case .detach(let link): detach(link, &context)
        case .disconnect(let link, let id): disconnect(link, id, &context)
        case .call(let link, let id, let call): take(link, id, call, &context)
        case .roomCall(let link, let id, let body): roomCall(link, id, body, &context)
        case .seated(let claim, let room): seated(claim, room, &context)
        case .refused(let claim, let error): refused(claim, error, &context)
        case .leaveRefused(let claim, let error): leaveRefused(claim, error, &context)
        case .out(let claim, let report): out(claim, report, &context)
        case .attachFailed(_, let template): attachFailed(template, &context)
        case .heardEnd(let link): if run?.link == link { ended = nil }
        case .joinLost(let claim, let link, let id): joinLost(claim, link, id, &context)
        case .claimLost(let claim, let room): claimLost(claim, room, &context)
        case .verified(let claim, let number, let held): verified(claim, number, held, &context)
        }
    }

    mutating func fire(_ context: inout EntryContext) {
        guard let run, let dropped = run.droppedAtMs else { return }
        if !run.offlineTold, context.nowMs >= dropped + graceMs {
            self.run?.offlineTold = true
            goOffline(&context)
        }
        if context.nowMs >= dropped + windowMs { endRun(.windowOver, &context) }
    }

    private mutating func goOffline(_ context: inout EntryContext) {
        switch place {
        case .seated(let room, let claim), .leaving(let room, let claim):
            context.send(.room(RoomKey(project: key.project, id: room), .offline(player: key.id, claim)))
        case .matching(let pool, let claim, _):
            asked?.isCancelled = true
            context.send(.pool(pool, .cancel(player: key.id, claim)))
        case .free, .claiming: break
        }
    }

    /// Ends the run, and with it every claim.
    mutating func endRun(_ cause: LeaveCause, _ context: inout EntryContext) {
        run = nil
        memory = RequestMemory()
        lastInput = 0
        open = nil
        waiting = []
        ended = nil
        pendingAttach = nil
        attaching = nil
        verifying = nil
        switch place {
        case .free, .leaving: break
        case .claiming(let room, let claim, _): place = .claiming(room: room, claim, abandoned: true)
        case .matching(let pool, let claim, _):
            place = .matching(pool, claim, abandoned: true)
            context.send(.pool(pool, .cancel(player: key.id, claim)))
        case .seated(let room, let claim): leave(room, claim, cause, &context)
        }
    }

    mutating func leave(_ room: String, _ claim: Claim, _ cause: LeaveCause, _ context: inout EntryContext) {
        place = context.limits.mutations.contains(.freedEarly) ? .free : .leaving(room: room, claim)
        context.send(.room(RoomKey(project: key.project, id: room), .leave(player: key.id, claim, cause)))
    }
}

// MARK: - How claims go on

extension PlayerMachine {
    private mutating func seated(_ claim: Claim, _ room: String, _ context: inout EntryContext) {
        let abandoned: Bool
        switch place {
        case .claiming(_, claim, let gone): abandoned = gone
        case .matching(let pool, claim, let gone):
            abandoned = gone
            context.send(.pool(pool, .heard(player: key.id, claim)))
        case .matching(let pool, let newer, false) where isOfOpenCall(claim):
            // A pool that was lost had found it; the one that was asked in its stead need not search on.
            context.send(.pool(pool, .cancel(player: key.id, newer)))
            // Should it have found a seat too, that goes back to its room.
            context.send(.pool(pool, .heard(player: key.id, newer)))
            abandoned = false
        case .seated(room, claim), .leaving(room, claim): return
        case .free, .claiming, .matching, .seated, .leaving:
            giveBack(claim, room, &context)
            return
        }
        asked = nil
        if abandoned {
            // Nobody was told of it, so it is as if it had never been.
            leave(room, claim, .disconnected, &context)
            return
        }
        place = .seated(room: room, claim)
        if run?.offlineTold == true {
            context.send(.room(RoomKey(project: key.project, id: room), .offline(player: key.id, claim)))
        }
        ended = nil
        let answered = open.flatMap { $0.listener }
        if let call = open {
            open = nil
            remember(call.id, .joined(claim), &context)
            tellSettled(call, &context)
            answerRepeats(of: call, room, claim, &context)
        }
        // The link that the seat listens with may be gone.
        if let answered, run?.link != answered.link {
            detachSeat(room, claim, answered.connection, &context)
        }
        goOn(&context)
    }

    private mutating func refused(_ claim: Claim, _ error: ErrorReply, _ context: inout EntryContext) {
        switch place {
        case .claiming(_, claim, _), .matching(_, claim, _): place = .free
        case .free, .claiming, .matching, .seated, .leaving: return
        }
        asked = nil
        finish(.error(error), &context)
        goOn(&context)
    }

    private mutating func leaveRefused(_ claim: Claim, _ error: ErrorReply, _ context: inout EntryContext) {
        guard case .leaving(let room, claim) = place else { return }
        guard run != nil else {
            // The run ended meanwhile, and that is refused to nobody.
            leave(room, claim, .disconnected, &context)
            return
        }
        place = .seated(room: room, claim)
        finish(.error(error), &context)
        goOn(&context)
    }

    private mutating func out(_ claim: Claim, _ report: OutReport, _ context: inout EntryContext) {
        switch place {
        case .seated(_, claim), .leaving(_, claim): break
        // The room's word of the seat went to the generation before this one.
        case .claiming(let room, claim, let abandoned):
            loseClaim(claim, room, abandoned: abandoned, Self.claimIsLost, &context)
            return
        case .matching(let pool, claim, let abandoned):
            context.send(.pool(pool, .heard(player: key.id, claim)))
            loseClaim(claim, "", abandoned: abandoned, Self.claimIsLost, &context)
            return
        case .free, .claiming, .matching, .seated, .leaving: return
        }
        place = .free
        attaching = nil
        if let run, report.connection >= run.firstConnection {
            memory.merge(report.memory, limit: limit(context))
            lastInput = max(lastInput, report.lastInput)
            ended = report.ended
            isEndTold = false
        }
        if let open, open.isLeave { finish(.done, &context) }
        beginVerified(&context)
        goOn(&context)
    }

    /// The present link took the request over as open, and will not hear of it unless it is sent again.
    func tellSettled(_ call: OpenCall, _ context: inout EntryContext) {
        guard call.id != 0, let link = run?.link, link != call.link else { return }
        context.deliver(link, .settled(id: call.id))
    }

    /// The room has told `roomJoined` to the link on which the call was first sent; here for those sent since.
    private func answerRepeats(
        of call: OpenCall, _ room: String, _ claim: Claim, _ context: inout EntryContext
    ) {
        guard let run, run.link == call.link else { return }
        let told = call.listener?.link == call.link ? 1 : 0
        let key = RoomKey(project: key.project, id: room)
        for _ in told..<max(told, call.times) {
            context.send(
                .room(key, .sendJoined(player: self.key.id, claim, run.connection, call.link, id: call.id)))
        }
    }

    /// The seat ended before its `roomJoined` could be told again.
    private mutating func joinLost(_ claim: Claim, _ link: Link, _ id: UInt32, _ context: inout EntryContext) {
        let body = ServerMessage.Body.failure(.notInRoom, Self.seatIsGone)
        memory.replace(.joined(claim), with: RequestMemory.outcome(body))
        if id != 0 { context.deliver(link, .reply(id: id, body, .player)) }
    }

    static let seatIsGone = "the room that this request entered has been left"

    /// Answers the open call.
    mutating func finish(_ body: ServerMessage.Body, _ context: inout EntryContext) {
        guard let call = open else { return }
        open = nil
        let kept = RequestMemory.keeps(body)
        if kept { remember(call.id, RequestMemory.outcome(body), &context) }
        tellSettled(call, &context)
        guard call.id != 0, run?.link == call.link else { return }
        for _ in 0..<call.times {
            context.deliver(call.link, .reply(id: call.id, body, kept ? .player : .nowhere))
        }
    }

    /// A claim was decided: what waited for that can go on.
    mutating func goOn(_ context: inout EntryContext) {
        if let template = pendingAttach {
            pendingAttach = nil
            settle(template, &context)
        }
        while open == nil, !waiting.isEmpty {
            let next = waiting.removeFirst()
            begin(next.link, next.id, next.call, &context)
        }
    }

    func limit(_ context: EntryContext) -> Int { context.limits.value.rememberedRequests }

    mutating func remember(_ id: UInt32, _ outcome: RequestMemory.Outcome, _ context: inout EntryContext) {
        guard run != nil, id != 0 else { return }
        memory.remember(id, outcome, limit: limit(context))
    }
}
