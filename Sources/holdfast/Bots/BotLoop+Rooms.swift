internal import HoldfastClient
internal import HoldfastProtocol
internal import HoldfastTransport

/// What bots do in their rooms.
extension BotLoop {
    // MARK: coming in

    func start(_ bot: Bot) {
        bot.stage = .connecting
        call(bot, .connect(Connect())) { [self] reply in
            expect(reply, "connect", bot)
            if case .failure = reply { bot.stage = .gone }
        }
    }

    private func expect(_ reply: ClientReply, _ what: String, _ bot: Bot) {
        if case .failure(let error) = reply { report.faults.add(.callFailed, bot.name, "\(what): \(error)") }
    }

    private func config() -> RoomConfig {
        RoomConfig(
            maxPlayerCount: UInt32(plan.players), type: "bots", name: plan.run,
            matchParams: ["bots": "\(plan.run)-\(index)"], frameRate: UInt32(plan.frameRate),
            allowLateJoin: true, hidden: !plan.isMatched, maxSpectatorCount: UInt32(plan.spectators))
    }

    /// Asks for its room, if that can be now.
    private func seekRoom(_ bot: Bot) {
        guard bot.stage == .connected, bot.role != .idle else { return }
        let body: ClientMessage.Body
        switch (bot.role, groupRoom(bot)) {
        case (.idle, _), (.seeker, _): return
        case (.spectator, let room?):
            // They come one by one, while frames are sealed.
            guard room.stage == .playing, numbers.chance(0.1) else { return }
            body = .joinRoom(JoinRoom(roomId: room.ledger.roomId, asSpectator: true))
        case (.spectator, nil): return
        case (.player, _) where plan.isMatched: body = .matchRoom(MatchRoom(room: config()))
        case (.player, let room?): body = .joinRoom(JoinRoom(roomId: room.ledger.roomId))
        case (.player, nil):
            guard bot.number % plan.members == 0 else { return }
            body = .createRoom(CreateRoom(room: config()))
        }
        bot.stage = .entering
        call(bot, body) { [self] in expect($0, "entering a room", bot) }
    }

    private func groupRoom(_ bot: Bot) -> BotRoom? {
        if plan.isMatched { return bot.group < rooms.count ? rooms[bot.group] : nil }
        return groupRooms[bot.group].map { rooms[$0] }
    }

    /// The bot's room is known, before anything else of it is looked at.
    func enter(_ bot: Bot, _ roomId: String) {
        guard bot.room == nil else { return }
        let place: Int
        if let known = rooms.firstIndex(where: { $0.ledger.roomId == roomId }) {
            place = known
        } else {
            let perSecond = plan.frameRate + Int(Double(plan.players) * plan.messagesPerSecond) + 4
            let ledger = RoomLedger(
                roomId: roomId, frameRate: plan.frameRate, eventsPerSecond: perSecond,
                messageBytes: plan.messageBytes)
            place = rooms.count
            rooms.append(BotRoom(ledger: ledger))
        }
        bot.room = place
        bot.stage = .inRoom
        let room = rooms[place]
        bot.ledger = room.ledger
        room.members.append(bot.index)
        if bot.role == .player {
            bot.sender = room.ledger.add(sender: bot.name, number: bot.number)
            room.players += 1
            if !plan.isMatched { groupRooms[bot.group] = place }
        }
        bot.checker.disturbedUs = loop.nowMicroseconds
    }

    // MARK: what the machine tells

    func take(_ event: ClientEvent, _ bot: Bot) {
        switch event {
        case .connected:
            if bot.stage == .connecting { bot.stage = .connected } else { lostRun(bot) }
        case .reconnected: resumed(bot)
        case .reconnecting: break
        case .disconnected(let error):
            if bot.stage != .leaving {
                report.faults.add(.disconnected, bot.name, "for good: \(error)")
            }
            bot.stage = .gone
        case .requestFailed(let id, let error): failed(request: id, error, bot)
        case .serviceError(let error): report.faults.add(.roomLost, bot.name, "\(error.code): \(error.message)")
        case .frame(let frame, let isCatchUp):
            passed(to: loop.nowMicroseconds, bot)
            delivered(frame, isCatchUp: isCatchUp, bot)
        case .framesSkipped(let first, let last, _):
            report.faults.add(.framesNotKept, bot.name, "\(first) to \(last) are skipped")
            bot.deliveredFrame = last
        case .frameSyncStarted(_, let snapshot): bot.deliveredFrame = snapshot?.frameId ?? 0
        case .frameSyncStopped(let stop):
            if phase != .settle { report.faults.add(.roomLost, bot.name, "frame sync stopped, reason \(stop.reason)") }
        case .roomDismissed, .roomLeft, .playerKicked:
            if phase != .settle, bot.role != .seeker {
                report.faults.add(.roomLost, bot.name, "out of the room")
            }
        case .desyncDetected(let desync): report.faults.add(.frameDiffers, bot.name, "desync at \(desync.frameId)")
        case .roomJoined, .playerEntered, .playerLeft, .playerOffline, .playerOnline, .roomOwnerChanged,
            .roomPropertiesChanged, .playerCustomStatusChanged, .playerCustomPropertiesChanged,
            .customMessageReceived, .other:
            break
        }
    }

    private func lostRun(_ bot: Bot) {
        report.faults.add(.runLost, bot.name, "a new run began")
        bot.cutUs = 0
    }

    private func resumed(_ bot: Bot) {
        report.resumes += 1
        if bot.cutUs != 0, report.isMeasuring { report.resumeUs.add(loop.nowMicroseconds - bot.cutUs) }
        bot.cutUs = 0
    }

    private func failed(request id: UInt32, _ error: HoldfastError, _ bot: Bot) {
        guard bot.checker.refused(input: id) else {
            report.faults.add(.callFailed, bot.name, "request \(id): \(error)")
            return
        }
        switch error.code {
        case .tooManyFrameInputs, .rateLimited: report.inputsRefused += 1
        default: report.faults.add(.inputLost, bot.name, "input \(id): \(error)")
        }
    }

    private func delivered(_ frame: Frame, isCatchUp: Bool, _ bot: Bot) {
        if frame.id != bot.deliveredFrame + 1 {
            report.faults.add(.clientWrong, bot.name, "delivers frame \(frame.id) after \(bot.deliveredFrame)")
        }
        bot.deliveredFrame = frame.id
        guard !isCatchUp, phase != .settle, bot.role == .player else { return }
        // Frames that come in a heap after a stall are answered as one: a player's hands are no faster then.
        let nowMs = loop.nowMs
        guard nowMs - bot.lastLiveMs >= plan.frameIntervalMs / 2, bot.inputMs.count < 8 else { return }
        bot.lastLiveMs = nowMs
        bot.inputCredit += plan.inputsPerFrame
        while bot.inputCredit >= 1 {
            bot.inputCredit -= 1
            bot.inputMs.append(nowMs + numbers.below(plan.frameIntervalMs))
        }
        reschedule(bot)
    }

    // MARK: sending

    func sendInputs(_ bot: Bot, _ nowMs: Int64) {
        let count = bot.inputMs.count { $0 <= nowMs }
        guard count > 0 else { return }
        bot.inputMs.removeAll { $0 <= nowMs }
        guard phase != .settle, bot.machine.frameSync != nil else { return }
        for _ in 0..<count {
            bot.inputs &+= 1
            let content = Content.input(of: bot.number, number: bot.inputs, bytes: plan.inputBytes)
            call(bot, .sendFrameInput(SendFrameInput(payload: .dataBytes(content))))
        }
    }

    func sendMessage(_ bot: Bot, _ nowMs: Int64) {
        // What was missed meanwhile is not made up for: it would be a burst.
        bot.messageMs = max(bot.messageMs + Int64(1000 / plan.messagesPerSecond), nowMs)
        guard phase != .settle else {
            bot.messageMs = .max
            return
        }
        guard bot.machine.isOnline, let ledger = bot.ledger else { return }
        let number = ledger.nextMessage(by: bot.sender)
        report.messagesSent += 1
        let text = Content.message(
            of: bot.number, number: number, sentUs: loop.nowMicroseconds, bytes: plan.messageBytes)
        let body = ClientMessage.Body.sendCustomMessage(SendCustomMessage(msg: text))
        if plan.isUnanswered {
            put(ClientMessage(body: body), bot)
            return
        }
        call(bot, body) { [self] in answered(message: number, $0, bot) }
    }

    private func answered(message number: UInt32, _ reply: ClientReply, _ bot: Bot) {
        guard case .failure(let error) = reply else { return }
        bot.ledger?.refused(message: number, by: bot.sender)
        if error.code == .rateLimited {
            report.messagesRefused += 1
        } else {
            report.faults.add(.callFailed, bot.name, "message \(number): \(error)")
        }
    }

    // MARK: stages

    func tickRooms(_ nowMs: Int64) {
        for bot in bots where bot.stage == .connected {
            if bot.role == .seeker { seekMatch(bot) } else { seekRoom(bot) }
        }
        for room in rooms { tick(room, nowMs) }
        if phase == .settle { settle(nowMs) }
    }

    private func tick(_ room: BotRoom, _ nowMs: Int64) {
        let members = room.members.map { bots[$0] }
        switch room.stage {
        case .gathering:
            guard room.players == plan.players else { return }
            guard plan.frameRate > 0 else {
                play(room, nowMs)
                return
            }
            guard let owner = members.first(where: \.isOwner) else { return }
            room.stage = .starting
            ask(.startFrameSync(StartFrameSync()), owner, room)
        case .starting:
            if members.allSatisfy({ $0.machine.frameSync != nil }) { play(room, nowMs) }
        case .playing:
            guard phase == .settle, members.allSatisfy(isQuiet) else { return }
            go(room, to: plan.frameRate > 0 ? .stopping : .dismissing)
        case .stopping:
            if members.allSatisfy({ $0.machine.frameSync == nil }) { go(room, to: .dismissing) }
        case .dismissing:
            if members.allSatisfy({ $0.machine.room == nil }) { finish(room) }
        case .ended: break
        }
        guard !room.isCalling, let owner = members.first(where: { $0.isOwner && $0.machine.isOnline }) else { return }
        switch room.stage {
        case .stopping: ask(.stopFrameSync(StopFrameSync()), owner, room)
        case .dismissing: ask(.dismissRoom(DismissRoom()), owner, room)
        case .gathering, .starting, .playing, .ended: break
        }
    }

    private func go(_ room: BotRoom, to stage: BotRoom.Stage) {
        room.stage = stage
        room.isCalling = false
    }

    private func isQuiet(_ bot: Bot) -> Bool {
        bot.machine.isOnline && bot.machine.pendingCallCount == 0 && bot.machine.pendingInputCount == 0
    }

    private func ask(_ body: ClientMessage.Body, _ owner: Bot, _ room: BotRoom) {
        room.isCalling = true
        call(owner, body) { [self] reply in
            // What was done shows in an event; what was refused may be for another owner.
            guard case .failure(let error) = reply else { return }
            room.isCalling = false
            if error.code != .notOwner {
                report.faults.add(.callFailed, owner.name, "in stage \(room.stage): \(error)")
            }
        }
    }

    private func play(_ room: BotRoom, _ nowMs: Int64) {
        go(room, to: .playing)
        guard plan.messagesPerSecond > 0 else { return }
        for index in room.members where bots[index].role == .player {
            bots[index].messageMs = nowMs + numbers.below(Int64(1000 / plan.messagesPerSecond))
            reschedule(bots[index])
        }
    }

    private func finish(_ room: BotRoom) {
        room.stage = .ended
        let members = room.members.map { bots[$0] }
        for bot in members { bot.checker.finish(ledger: room.ledger, report: &report) }
        MemberChecker.compare(members.map(\.checker), roomId: room.ledger.roomId, report: &report)
    }

    private func settle(_ nowMs: Int64) {
        let isLate = nowMs >= settleUntilMs
        for bot in bots {
            switch bot.stage {
            case .waiting: bot.stage = .gone
            case .inRoom where bot.room.map({ rooms[$0].stage == .ended }) == true: leave(bot)
            case .connected: leave(bot)
            case .connecting, .entering, .inRoom, .leaving, .gone: break
            }
        }
        if isLate || bots.allSatisfy({ $0.stage == .gone }) { ended(isLate: isLate) }
    }

    private func leave(_ bot: Bot) {
        bot.stage = .leaving
        if bot.machine.unexpectedMessages > 0 {
            report.faults.add(.clientWrong, bot.name, "passed over \(bot.machine.unexpectedMessages) messages")
        }
        call(bot, .disconnect(Disconnect())) { [self] in expect($0, "disconnect", bot) }
    }

    private func ended(isLate: Bool) {
        guard !isEnded else { return }
        isEnded = true
        if isLate {
            for bot in bots where bot.stage != .gone {
                let room = bot.room.map { rooms[$0] }
                report.faults.add(
                    .stuck, bot.name,
                    "\(bot.stage), online \(bot.machine.isOnline), calls \(bot.machine.pendingCallCount), inputs "
                        + "\(bot.machine.pendingInputCount), room \(room.map { "\($0.stage)" } ?? "none")")
            }
        }
        if plan.isMatched, rooms.count != groupRooms.count {
            report.faults.add(.matchSpread, "loop \(index)", "\(rooms.count) rooms instead of \(groupRooms.count)")
        }
    }
}
