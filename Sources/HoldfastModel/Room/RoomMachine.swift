import HoldfastProtocol

/// A room: who is in it, who owns it, what it is told and tells. Its calls, its stream and its frame sync are in the
/// extensions beside this file.
struct RoomMachine: Sendable {
    let key: RoomKey
    let pool: PoolKey?
    let createdMs: Int64
    var config: RoomConfig
    /// In seat order: the longest-seated first.
    var players: [RoomMember] = []
    var spectators: [String: RoomMember] = [:]
    /// The outcomes of the members' calls here, by player. Apart from the members, which are passed around.
    var memories: [String: RequestMemory] = [:]
    var ownerID = ""
    /// Oldest first.
    var bans: [String] = []
    /// Nobody is in it any more; the shard forgets it.
    var isClosed = false

    var seq: UInt64 = 0
    var history = StreamHistory()
    /// The links that get what is told now; nil when it must be gathered anew.
    var listeners: LinkGroups?

    var frameSync: FrameSyncMachine?
    var lastFrameSyncID: UInt32 = 0
    /// Since when frame sync runs with nobody online.
    var nobodyOnlineSinceMs: Int64?
    let nobodyOnlineMs: Int64
    /// When the frames of stopped frame syncs are dropped, oldest first.
    var stoppedSyncs: [(id: UInt32, dropAtMs: Int64)] = []

    var advert: RoomAdvert?
    var listing: RoomListing?
    var listedAtMs: Int64 = .min / 2
    var listAtMs: Int64?

    init(key: RoomKey, config: RoomConfig, context: EntryContext) {
        self.key = key
        self.config = config
        if self.config.frameRate == 0 { self.config.frameRate = context.limits.value.frameRateDefault }
        createdMs = context.wallMs
        nobodyOnlineMs = Int64(context.limits.value.nobodyOnlineMs)
        // Hidden rooms and those with a password are never matched.
        pool =
            config.hidden || !config.password.isEmpty
            ? nil
            : PoolKey(
                project: key.project, type: config.type, maxPlayerCount: config.maxPlayerCount,
                params: config.matchParams)
    }

    /// What the shard must know of the room after its turn.
    enum Afterwards {
        /// The deadline is what it was.
        case unchanged
        case deadline(Int64?)
        /// Nobody is in it any more; it is to be forgotten.
        case closed
    }

    mutating func handle(_ command: RoomCommand, _ context: inout EntryContext) -> Afterwards {
        switch command {
        case .create(_, let seatings): open(seatings, &context)
        case .seat(let seating): seat(seating, &context)
        case .leave(let player, let claim, let cause): leave(player, claim, cause, &context)
        case .offline(let player, let claim): goOffline(player, claim, &context)
        case .attach(let player, let claim, let template): attach(player, claim, template, &context)
        case .detach(let player, let claim, let connection): detach(player, claim, connection)
        case .sendJoined(let player, let claim, let connection, let link, let id):
            sendJoined(player, claim, connection, link, id, &context)
        case .call(let player, let claim, let link, let id, let body):
            call(player, claim, link, id, body, &context)
        case .pull(let player, let claim, let link): pull(player, claim, link, &context)
        case .verify(let player, let claim, let number):
            let isHeld = member(player, claim) != nil
            context.send(.player(playerKey(player), .verified(claim, number: number, held: isHeld)))
        }
        guard Self.changesMore(command) else { return .unchanged }
        advertise(&context)
        return isClosed ? .closed : .deadline(nextDeadlineMs)
    }

    /// Whether a command can change what the room shows of itself, or its deadlines: not those that come in numbers.
    private static func changesMore(_ command: RoomCommand) -> Bool {
        switch command {
        case .create, .seat, .leave, .offline, .attach: true
        case .detach, .sendJoined, .pull, .verify: false
        case .call(_, _, _, _, let body):
            switch body {
            case .sendFrameInput, .sendCustomMessage, .reportFrameHash, .getFrames, .putSnapshot: false
            default: true
            }
        }
    }

    // MARK: Coming

    private mutating func open(_ seatings: [Seating], _ context: inout EntryContext) {
        // Creating a room takes a position.
        seq = 1
        for seating in seatings {
            if ownerID.isEmpty { ownerID = seating.player.id }
            players.append(member(seating, context.limits.value))
        }
        let told = RoomJoined(room: info, roomSeq: seq)
        for seating in seatings { welcome(seating, told, &context) }
    }

    private func member(_ seating: Seating, _ limits: Limits) -> RoomMember {
        RoomMember(
            player: seating.player.id, claim: seating.claim, isSpectator: seating.asSpectator,
            customStatus: seating.config.customStatus, customProperties: seating.config.customProperties,
            snapshotBudget: TokenBucket(perSecond: limits.snapshotsPerSecond),
            hashBudget: TokenBucket(perSecond: Double(config.frameRate) * limits.hashReportsPerFrame),
            lastInput: seating.lastInput)
    }

    /// Tells the player's shard first: it alone says where a player sits. The reply and the stream after it come from
    /// here, so that nothing can get between them.
    private mutating func welcome(_ seating: Seating, _ joined: RoomJoined, _ context: inout EntryContext) {
        context.send(.player(seating.player, .seated(seating.claim, room: key.id)))
        update(seating.player.id) {
            $0.joinedSeq = joined.roomSeq
            $0.baseSeq = joined.roomSeq
        }
        if let listener = seating.listener {
            beginStream(seating.player.id, listener, joined, &context)
        }
        if let pool = seating.pool {
            context.send(.pool(pool, .placed(player: seating.player.id, seating.claim, room: key.id)))
        }
    }

    private mutating func seat(_ seating: Seating, _ context: inout EntryContext) {
        if let refusal = refusal(of: seating) {
            Self.refuse(seating, key.id, refusal, &context)
            return
        }
        let new = member(seating, context.limits.value)
        if seating.asSpectator {
            spectators[new.player] = new
        } else {
            players.append(new)
            if !isOwnerOnline { ownerID = new.player }
            frameSync?.note(.entered, new.player)
            nobodyOnlineSinceMs = nil
            let entered = PlayerEntered(roomId: key.id, player: info(of: new), roomOwnerId: ownerID)
            tell(.playerEntered(entered), .everyoneBut(new.player), &context)
        }
        welcome(seating, joinedNow(), &context)
    }

    /// Why a claim cannot be granted, in the order of errors.md.
    private func refusal(of seating: Seating) -> ErrorReply? {
        if bans.contains(seating.player.id) { return ErrorReply(.bannedFromRoom, "you are banned from this room") }
        if !config.password.isEmpty, ExactText(config.password) != ExactText(seating.password) {
            return ErrorReply(.wrongPassword, "joinRoom.password is not this room's")
        }
        if seating.asSpectator {
            if spectators.count >= Int(config.maxSpectatorCount) {
                return ErrorReply(
                    .roomFull, "all \(config.maxSpectatorCount) spectators' places of the room are taken")
            }
        } else {
            if frameSync != nil, !config.allowLateJoin {
                return ErrorReply(.frameSyncRunning, "frame sync runs and the room does not allow late joins")
            }
            if players.count >= Int(config.maxPlayerCount) {
                return ErrorReply(.roomFull, "all \(config.maxPlayerCount) seats of the room are taken")
            }
        }
        if contains(seating.player.id) { return ErrorReply(.alreadyInRoom, "you are in this room") }
        return frameSync.flatMap(missingFrames)
    }

    /// Error 33 when who comes now could not get all frames that it needs.
    private func missingFrames(_ sync: FrameSyncMachine) -> ErrorReply? {
        let needed = (sync.snapshot?.frameId ?? 0) + 1
        guard needed <= sync.sealed, let kept = history.firstKept(of: sync.id), kept > needed else { return nil }
        return ErrorReply(.framesNotKept, "frame \(needed) is needed, and the oldest frame kept is \(kept)")
    }

    static func refuse(_ seating: Seating, _ room: String, _ error: ErrorReply, _ context: inout EntryContext) {
        if let pool = seating.pool {
            context.send(
                .pool(pool, .refused(player: seating.player.id, seating.claim, room: room, error)))
        } else {
            context.send(.player(seating.player, .refused(seating.claim, error)))
        }
    }

    // MARK: Going

    private mutating func leave(
        _ player: String, _ claim: Claim, _ cause: LeaveCause, _ context: inout EntryContext
    ) {
        guard let member = member(player, claim) else { return }
        if case .call = cause, isLocked, !member.isSpectator {
            let error = ErrorReply(.frameSyncRunning, "the room is locked while frame sync runs")
            context.send(.player(playerKey(player), .leaveRefused(claim, error)))
            return
        }
        if case .lost = cause {
            let error = ErrorReply(.notInRoom, PlayerMachine.seatIsGone)
            context.deliver(member.link, .seatLost(claim, calls: [], error))
        }
        remove(member, ended: nil, &context)
        if !member.isSpectator { tellLeft(player, &context) }
    }

    /// A player is out.
    mutating func tellLeft(_ player: String, _ context: inout EntryContext) {
        passOnOwnership()
        frameSync?.note(.left, player)
        let left = PlayerLeft(roomId: key.id, roomOwnerId: ownerID, playerId: player)
        tell(.playerLeft(left), .everyone, &context)
        closeIfEmpty(&context)
        watchOnline(context)
    }

    private mutating func goOffline(_ player: String, _ claim: Claim, _ context: inout EntryContext) {
        guard let member = member(player, claim), member.online else { return }
        if member.reading == .live { listeners = nil }
        update(player) {
            $0.online = false
            $0.link = nil
            $0.reading = .nothing
        }
        if member.isSpectator { return }
        passOnOwnership()
        frameSync?.note(.offline, player)
        let offline = PlayerOffline(roomId: key.id, roomOwnerId: ownerID, playerId: player)
        tell(.playerOffline(offline), .everyoneBut(player), &context)
        watchOnline(context)
    }

    /// Back from a drop, or with a new run.
    mutating func comeOnline(_ player: String, _ context: inout EntryContext) {
        guard let member = member(player), !member.online else { return }
        update(player) { $0.online = true }
        if member.isSpectator { return }
        if !isOwnerOnline(besides: player) { ownerID = player }
        frameSync?.note(.online, player)
        nobodyOnlineSinceMs = nil
        let online = PlayerOnline(roomId: key.id, roomOwnerId: ownerID, playerId: player)
        tell(.playerOnline(online), .everyoneBut(player), &context)
    }

    /// Takes a member out, and tells the player's shard with what its seat remembered.
    /// - Parameter isTold: false leaves it to the player's shard to tell the link.
    mutating func remove(
        _ member: RoomMember, ended: OutReport.Ended?, isTold: Bool = true, _ context: inout EntryContext
    ) {
        if member.isSpectator {
            spectators[member.player] = nil
        } else {
            players.removeAll { $0.player == member.player }
        }
        if member.reading == .live { listeners = nil }
        let key = playerKey(member.player)
        if let link = member.link {
            // These waited for the present of a stream that ends here.
            for id in member.rejoins { context.send(.player(key, .joinLost(member.claim, link, id: id))) }
        }
        context.send(
            .player(
                key,
                .out(
                    member.claim,
                    OutReport(
                        connection: member.connection,
                        memory: memories.removeValue(forKey: member.player) ?? RequestMemory(),
                        lastInput: member.lastInput,
                        ended: ended))))
        if isTold { context.deliver(member.link, .unseated(member.claim)) }
    }

    mutating func closeIfEmpty(_ context: inout EntryContext) {
        if players.isEmpty { close(reason: 1, &context) }
    }

    /// Everyone is out.
    mutating func close(reason: Int32, _ context: inout EntryContext) {
        stopFrameSync(reason: 3, &context)
        let dismissed = ServerMessage.Body.roomDismissed(RoomDismissed(roomId: key.id, reason: reason))
        tell(dismissed, .everyone, &context)
        let everyone = players + spectators.values.sorted { $0.player < $1.player }
        for member in everyone {
            let isSeen = catchUpAtTheEnd(member.player, &context)
            let ended = OutReport.Ended(roomID: key.id, seq: seq, body: dismissed, unseen: !isSeen)
            guard let member = self.member(member.player) else { continue }
            remove(member, ended: ended, &context)
        }
        isClosed = true
    }

    // MARK: Ownership

    var isOwnerOnline: Bool { players.contains { $0.player == ownerID && $0.online } }

    private func isOwnerOnline(besides player: String) -> Bool { ownerID != player && isOwnerOnline }

    /// When the owner is gone or offline, the longest-seated online player owns the room; with nobody online, the
    /// longest-seated, until somebody comes.
    mutating func passOnOwnership() {
        if isOwnerOnline { return }
        if let next = players.first(where: \.online) {
            ownerID = next.player
        } else if !players.contains(where: { $0.player == ownerID }), let first = players.first {
            ownerID = first.player
        }
    }

    private mutating func watchOnline(_ context: EntryContext) {
        guard frameSync != nil, nobodyOnlineSinceMs == nil, !players.contains(where: \.online) else { return }
        nobodyOnlineSinceMs = context.nowMs
    }

    // MARK: Members

    var isLocked: Bool { frameSync != nil && config.lockedDuringFrameSync }

    func playerKey(_ player: String) -> PlayerKey { PlayerKey(project: key.project, id: player) }

    func contains(_ player: String) -> Bool { member(player) != nil }

    func member(_ player: String) -> RoomMember? {
        players.first { $0.player == player } ?? spectators[player]
    }

    func member(_ player: String, _ claim: Claim) -> RoomMember? {
        member(player).flatMap { $0.claim == claim ? $0 : nil }
    }

    mutating func update(_ player: String, _ change: (inout RoomMember) -> Void) {
        if let i = players.firstIndex(where: { $0.player == player }) {
            change(&players[i])
        } else if spectators[player] != nil {
            spectators[player].modify(change)
        }
    }
}

extension Optional {
    mutating func modify(_ change: (inout Wrapped) -> Void) {
        if var value = self {
            self = nil
            change(&value)
            self = value
        }
    }
}
