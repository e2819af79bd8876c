import HoldfastProtocol

/// The calls of those who are in the room.
extension RoomMachine {
    mutating func call(
        _ player: String, _ claim: Claim, _ link: Link, _ id: UInt32, _ body: ClientMessage.Body,
        _ context: inout EntryContext
    ) {
        if case .sendFrameInput(let input) = body,
            let seat = players.firstIndex(where: { $0.claim == claim && $0.link == link && $0.player == player })
        {
            // What comes in numbers takes the short way.
            takeInput(input, seat, id, &context)
            return
        }
        guard let member = member(player, claim) else {
            // The seat has ended; the player's shard knows, or hears of it before this.
            context.send(.player(playerKey(player), .roomCall(link, id: id, body)))
            return
        }
        guard member.link == link else {
            // A link that was taken over says nothing any more. With none, the caller was not told of this room yet, or
            // counts as dropped and does not know it: nothing is decided.
            if member.link == nil, id != 0 {
                let error = ErrorReply(.serverError, "this link is not in the room yet", retryAfterMs: 500)
                context.deliver(link, .reply(id: id, .error(error), .nowhere))
            }
            return
        }
        switch body {
        case .sendFrameInput:
            // Players' inputs went the short way.
            let refusal = ErrorReply(.notForSpectators, "spectators cannot send inputs")
            if id != 0 { context.deliver(link, .reply(id: id, .error(refusal), .nowhere)) }
        case .getFrames(let get): getFrames(get, member, id, &context)
        case .reportFrameHash(let report): takeHash(report, member, id, &context)
        default:
            if id != 0, let known = memories[player]?.outcome(of: id).flatMap(RequestMemory.reply) {
                context.deliver(link, .reply(id: id, known, .seat))
                return
            }
            execute(body, member, id, &context)
        }
    }

    private mutating func execute(
        _ body: ClientMessage.Body, _ member: RoomMember, _ id: UInt32, _ context: inout EntryContext
    ) {
        let refusal = refusal(of: body, by: member)
        if case .putSnapshot = body, let wait = charge(\.snapshotBudget, member, refusal, context) {
            answer(member, id, .error(wait), &context)
            return
        }
        if let refusal {
            answer(member, id, .error(refusal), &context)
            return
        }
        // The reply goes before any event that the call causes.
        answer(member, id, .done, &context)
        switch body {
        case .updateRoomProperties(let update): updateProperties(update, &context)
        case .updatePlayerCustomStatus(let update):
            self.update(member.player) { $0.customStatus = update.status }
            let changed = PlayerCustomStatusChanged(playerId: member.player, status: update.status)
            tell(.playerCustomStatusChanged(changed), .everyone, &context)
        case .updatePlayerCustomProperties(let update):
            self.update(member.player) { $0.customProperties = update.properties }
            let changed = PlayerCustomPropertiesChanged(playerId: member.player, properties: update.properties)
            tell(.playerCustomPropertiesChanged(changed), .everyone, &context)
        case .kickRoomPlayer(let kick): self.kick(kick, by: member, &context)
        case .transferRoomOwner(let transfer):
            guard transfer.playerId != ownerID else { return }
            ownerID = transfer.playerId
            tell(.roomOwnerChanged(RoomOwnerChanged(roomId: key.id, roomOwnerId: ownerID)), .everyone, &context)
        case .dismissRoom: close(reason: 0, &context)
        case .sendCustomMessage(let message): send(message, from: member, &context)
        case .startFrameSync: startFrameSync(&context)
        case .stopFrameSync: stopFrameSync(reason: 0, &context)
        case .putSnapshot(let put):
            frameSync?.put(Snapshot(frameId: put.frameId, state: put.state, playerId: member.player))
        default: break
        }
    }

    /// Charges for a call that only the room can charge for: what is refused with 11 costs nothing.
    /// - Returns: error 3 when the budget is used up.
    mutating func charge(
        _ budget: WritableKeyPath<RoomMember, TokenBucket>, _ member: RoomMember, _ refusal: ErrorReply?,
        _ context: EntryContext
    ) -> ErrorReply? {
        var wait = member[keyPath: budget].wait(nowMs: context.nowMs)
        if wait == nil, refusal?.code != ErrorCode.invalidRequest.rawValue {
            update(member.player) { wait = $0[keyPath: budget].take(nowMs: context.nowMs) }
        }
        return wait.map { ErrorReply(.rateLimited, "over the budget of this call", retryAfterMs: $0) }
    }

    /// Why a call is refused, in the order of errors.md; nil when it is done.
    private func refusal(of body: ClientMessage.Body, by member: RoomMember) -> ErrorReply? {
        if member.isSpectator { return ErrorReply(.notForSpectators, "spectators cannot make this call") }
        if Self.isOwnersCall(body), member.player != ownerID {
            return ErrorReply(.notOwner, "only the room's owner can do this; it is \(ownerID)")
        }
        let locked = isLocked ? ErrorReply(.frameSyncRunning, "the room is locked while frame sync runs") : nil
        switch body {
        case .updateRoomProperties, .updatePlayerCustomStatus, .updatePlayerCustomProperties: return locked
        case .kickRoomPlayer(let kick): return locked ?? (contains(kick.playerId) ? nil : notFound)
        case .transferRoomOwner(let transfer):
            let target = players.first { $0.player == transfer.playerId && $0.online }
            return target == nil ? notFound : nil
        case .sendCustomMessage(let message):
            return message.type == 1 && receivers(of: message, from: member).isEmpty
                ? ErrorReply(.playerNotFound, "sendCustomMessage.receivers: none of them is a player here") : nil
        case .startFrameSync:
            return frameSync == nil ? nil : ErrorReply(.frameSyncRunning, "frame sync runs already")
        case .stopFrameSync: return frameSync == nil ? notRunning : nil
        case .putSnapshot(let put):
            guard let sync = running(put.frameSyncId) else { return notRunning }
            return put.frameId > sync.sealed ? notSealed("putSnapshot.frameId", put.frameId, sync) : nil
        default: return nil
        }
    }

    private static func isOwnersCall(_ body: ClientMessage.Body) -> Bool {
        switch body {
        case .updateRoomProperties, .kickRoomPlayer, .transferRoomOwner, .dismissRoom, .startFrameSync,
            .stopFrameSync:
            true
        default: false
        }
    }

    private var notFound: ErrorReply {
        ErrorReply(.playerNotFound, "playerId: no such player in this room")
    }

    /// Answers a call that is remembered with the seat.
    private mutating func answer(
        _ member: RoomMember, _ id: UInt32, _ body: ServerMessage.Body, _ context: inout EntryContext
    ) {
        guard id != 0 else { return }
        let kept = RequestMemory.keeps(body)
        if kept {
            let limit = context.limits.value.rememberedRequests
            memories[member.player, default: RequestMemory()].remember(
                id, RequestMemory.outcome(body), limit: limit)
        }
        context.deliver(member.link, .reply(id: id, body, kept ? .seat : .nowhere))
    }

    private mutating func updateProperties(_ update: UpdateRoomProperties, _ context: inout EntryContext) {
        if update.name == nil, update.customProperties == nil { return }
        config.name = update.name ?? config.name
        config.customProperties = update.customProperties ?? config.customProperties
        let changed = RoomPropertiesChanged(id: key.id, name: config.name, customProperties: config.customProperties)
        tell(.roomPropertiesChanged(changed), .everyone, &context)
    }

    private mutating func kick(_ kick: KickRoomPlayer, by owner: RoomMember, _ context: inout EntryContext) {
        guard let target = member(kick.playerId) else { return }
        if kick.ban {
            bans.append(target.player)
            if bans.count > context.limits.value.bansPerRoom { bans.removeFirst() }
        }
        frameSync.modify { if !target.isSpectator { $0.note(.kicked, target.player) } }
        let kicked = ServerMessage.Body.playerKicked(
            PlayerKicked(roomId: key.id, playerId: target.player, roomOwnerId: ownerID))
        tell(kicked, target.isSpectator ? .only([target.player]) : .everyone, &context)
        let isSeen = catchUpAtTheEnd(target.player, &context)
        let ended = OutReport.Ended(roomID: key.id, seq: seq, body: kicked, unseen: !isSeen)
        guard let target = member(target.player) else { return }
        remove(target, ended: ended, &context)
    }

    // MARK: Messages

    /// The named players, each once; oneself, spectators and strangers are passed over.
    private func receivers(of message: SendCustomMessage, from member: RoomMember) -> [String] {
        players.map(\.player).filter { $0 != member.player && message.receivers.contains($0) }
    }

    private mutating func send(
        _ message: SendCustomMessage, from member: RoomMember, _ context: inout EntryContext
    ) {
        let received = CustomMessageReceived(playerId: member.player, msg: message.msg)
        let audience: Audience =
            message.type == 1 ? .only(receivers(of: message, from: member)) : .everyoneBut(member.player)
        tell(.customMessageReceived(received), audience, &context)
    }
}
