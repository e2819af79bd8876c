import HoldfastProtocol

/// Frame sync: starting, sealing, stopping, and the calls that belong to it.
extension RoomMachine {
    /// The frame sync that a call means: 0 is whichever runs.
    func running(_ id: UInt32) -> FrameSyncMachine? {
        guard let frameSync, id == 0 || id == frameSync.id else { return nil }
        return frameSync
    }

    var notRunning: ErrorReply { ErrorReply(.frameSyncNotRunning, "no such frame sync runs") }

    func notSealed(_ field: String, _ frame: UInt32, _ sync: FrameSyncMachine) -> ErrorReply {
        ErrorReply(.invalidRequest, "\(field): the newest sealed frame is \(sync.sealed), got \(frame)")
    }

    mutating func startFrameSync(_ context: inout EntryContext) {
        lastFrameSyncID += 1
        var started = FrameSyncInfo(
            frameSyncId: lastFrameSyncID, seed: Int32(truncatingIfNeeded: context.randomness.next()),
            serverTime: context.wallMs, frameRate: config.frameRate)
        var room = info
        room.status = 1
        started.roomInfo = room
        frameSync = FrameSyncMachine(started: started, nowMs: context.nowMs, limits: context.limits.value)
        nobodyOnlineSinceMs = nil
        tell(.frameSyncStarted(started), .everyone, &context)
    }

    /// - Parameter reason: 0 owner, 1 time limit, 2 nobody online, 3 room closed.
    mutating func stopFrameSync(reason: Int32, _ context: inout EntryContext) {
        guard let sync = frameSync else { return }
        // An input that was taken stands in a frame.
        if sync.hasOpenInputs { seal(&context) }
        frameSync = nil
        nobodyOnlineSinceMs = nil
        stoppedSyncs.append((sync.id, context.nowMs + Int64(context.limits.value.stoppedFramesMs)))
        let stopped = FrameSyncStopped(roomId: key.id, frameSyncId: sync.id, reason: reason)
        tell(.frameSyncStopped(stopped), .everyone, &context)
    }

    private mutating func seal(_ context: inout EntryContext) {
        guard var sync = frameSync else { return }
        frameSync = nil
        let (frame, bytes) = sync.seal(nowMs: context.nowMs)
        let id = sync.id
        frameSync = sync
        tell(frame, inputBytes: bytes, in: id, &context)
    }

    /// - Parameter seat: the player's place among `players`.
    mutating func takeInput(
        _ input: SendFrameInput, _ seat: Int, _ id: UInt32, _ context: inout EntryContext
    ) {
        // Sent again after a resume, though it was taken.
        if id != 0, id <= players[seat].lastInput { return }
        if let refusal = refusal(of: input, players[seat].player, id, context) {
            if id != 0 { context.deliver(players[seat].link, .reply(id: id, .error(refusal), .nowhere)) }
        } else if id != 0 {
            players[seat].lastInput = id
        }
    }

    /// Puts the input into the open frame, or says why not.
    private mutating func refusal(
        of input: SendFrameInput, _ player: String, _ id: UInt32, _ context: EntryContext
    ) -> ErrorReply? {
        guard let running = frameSync?.id, input.frameSyncId == 0 || input.frameSyncId == running else {
            return notRunning
        }
        if let over = RequestRules.oversize(of: input, limits: context.limits.value) {
            return ErrorReply(over.code, over.message)
        }
        var stamped = FrameInput(playerId: player, serverTime: context.wallMs, id: id)
        let size: Int
        switch input.payload {
        case .data(let text):
            stamped.payload = .data(text)
            size = text.utf8.count
        case .dataBytes(let bytes):
            stamped.payload = .dataBytes(bytes)
            size = bytes.count
        case nil:
            stamped.payload = .data("")
            size = 0
        }
        if frameSync?.add(stamped, size: size, limits: context.limits.value) == true { return nil }
        let limit = context.limits.value.inputsPerFrame
        return ErrorReply(.tooManyFrameInputs, "sendFrameInput: at most \(limit) inputs by one player in a frame")
    }

    mutating func takeHash(
        _ report: ReportFrameHash, _ member: RoomMember, _ id: UInt32, _ context: inout EntryContext
    ) {
        var refusal: ErrorReply?
        if member.isSpectator {
            refusal = ErrorReply(.notForSpectators, "spectators cannot report hashes")
        } else if let sync = running(report.frameSyncId) {
            if report.frameId > sync.sealed || report.frameId == 0 {
                refusal = notSealed("reportFrameHash.frameId", report.frameId, sync)
            }
        } else {
            refusal = notRunning
        }
        refusal = charge(\.hashBudget, member, refusal, context) ?? refusal
        if let refusal {
            if id != 0 { context.deliver(member.link, .reply(id: id, .error(refusal), .nowhere)) }
            return
        }
        if let desync = frameSync?.report(report, from: member.player, limits: context.limits.value) {
            tell(.desyncDetected(desync), .everyone, &context)
        }
    }

    func getFrames(_ get: GetFrames, _ member: RoomMember, _ id: UInt32, _ context: inout EntryContext) {
        guard id != 0 else { return }
        guard let sync = running(get.frameSyncId) else {
            context.deliver(member.link, .reply(id: id, .error(notRunning), .nowhere))
            return
        }
        let oldest = history.firstKept(of: sync.id) ?? sync.sealed + 1
        if get.first < oldest, get.first <= sync.sealed {
            let error = ErrorReply(.framesNotKept, "getFrames.first: the oldest frame kept is \(oldest)")
            context.deliver(member.link, .reply(id: id, .error(error), .nowhere))
            return
        }
        var position = history.position(of: get.first, in: sync.id)
        var reply = history.batch(from: &position, of: sync.id, limits: context.limits.value) { $0.id <= get.last }
        // A reply stands in no stream.
        reply.seq = 0
        context.deliver(member.link, .frames(id: id, reply))
    }

    // MARK: Deadlines

    var nextDeadlineMs: Int64? {
        var next: Int64?
        func consider(_ time: Int64?) {
            if let time { next = min(next ?? time, time) }
        }
        if frameSync != nil {
            consider(frameSync?.nextSealMs)
            consider(frameSync?.endsAtMs)
            consider(nobodyOnlineSinceMs.map { $0 + nobodyOnlineMs })
        }
        consider(stoppedSyncs.first?.dropAtMs)
        consider(listAtMs)
        return next
    }

    mutating func fire(_ context: inout EntryContext) -> Afterwards {
        let now = context.nowMs
        if frameSync?.nextSealMs ?? .max <= now { seal(&context) }
        if frameSync?.endsAtMs ?? .max <= now { stopFrameSync(reason: 1, &context) }
        if let since = nobodyOnlineSinceMs, since + nobodyOnlineMs <= now { stopFrameSync(reason: 2, &context) }
        while let oldest = stoppedSyncs.first, oldest.dropAtMs <= now {
            stoppedSyncs.removeFirst()
            history.dropFrames(through: oldest.id)
        }
        if listAtMs.map({ $0 <= now }) ?? false || frameSync == nil { advertise(&context) }
        return .deadline(nextDeadlineMs)
    }
}
