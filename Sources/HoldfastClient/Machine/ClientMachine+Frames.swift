internal import HoldfastProtocol

/// Frames: contiguous, whatever comes.
extension ClientMachine {
    // MARK: start and stop

    /// The frame sync that runs as the client comes to the room, with no event to tell of it.
    mutating func adoptFrameSync(_ running: FrameSyncInfo?, snapshot: Snapshot?) {
        guard let running else {
            if let frames { stopped(frames) }
            return
        }
        guard let known = frames, known.info.frameSyncId == running.frameSyncId else {
            if let frames { stopped(frames) }
            startFrameSync(running, snapshot: snapshot)
            return
        }
        frames?.raiseTarget(to: running.frameId)
        // The stream begins after the snapshot; what the client has beyond it comes again and is passed over.
        if let snapshot, snapshot.frameId > known.last { skip(through: snapshot.frameId, snapshot: snapshot) }
    }

    mutating func startFrameSync(_ info: FrameSyncInfo, snapshot: Snapshot?) {
        if let frames {
            guard frames.info.frameSyncId != info.frameSyncId else {
                unexpectedMessages += 1
                return
            }
            stopped(frames)
        }
        inputs = InputQueue()
        frames = FrameStream(
            info: info, last: snapshot?.frameId ?? 0, target: info.frameId, othersUntil: info.frameId, spare: nil)
        deliver(.frameSyncStarted(info, snapshot: snapshot))
    }

    mutating func stopFrameSync(_ event: FrameSyncStopped) {
        guard frames != nil else {
            unexpectedMessages += 1
            return
        }
        endFrameSync()
        deliver(.frameSyncStopped(event))
    }

    /// It ended out of sight.
    private mutating func stopped(_ stream: FrameStream) {
        endFrameSync()
        let roomId = mirror?.info.id ?? leftRoomId
        let event = FrameSyncStopped(roomId: roomId, frameSyncId: stream.info.frameSyncId, reason: -1)
        deliver(.frameSyncStopped(event))
    }

    mutating func endFrameSync() {
        frames = nil
        heal = nil
        held.removeAll()
        unhealedAt = nil
        calls.removeAll { $0.kind == .heal }
        let error = HoldfastError(
            code: .frameSyncNotRunning, message: "frame sync ended before a frame showed the input")
        for input in inputs.takeUncertain() { deliver(.requestFailed(id: input.id, error)) }
    }

    // MARK: frames

    /// A live frame. False: there is a hole before it, and it waits.
    mutating func frameCame(_ frame: Frame, in message: ServerMessage, nowMs: Int64) -> Bool {
        guard let stream = frames else {
            unexpectedMessages += 1
            return true
        }
        if frame.id <= stream.last {
            unexpectedMessages += 1
            return true
        }
        guard frame.id == stream.last + 1 else {
            holeBefore(frame.id, message, nowMs: nowMs)
            return false
        }
        take(frame, isCatchUp: frame.id <= stream.target)
        inputs.frameCame(allowance: options.inputsPerFrame)
        pumpInputs(nowMs: nowMs)
        return true
    }

    /// A batch of the past. False: there is a hole before or in it, and the rest waits.
    mutating func framesCame(_ batch: Frames, in message: ServerMessage, nowMs: Int64) -> Bool {
        guard let stream = frames, batch.frameSyncId == 0 || batch.frameSyncId == stream.info.frameSyncId else {
            unexpectedMessages += 1
            return true
        }
        if let first = batch.frames.first, batch.firstKept > stream.last + 1, first.id == batch.firstKept {
            skip(through: first.id - 1, snapshot: stream.spare)
        }
        if let hole = takeRun(batch.frames) {
            holeBefore(hole, message, nowMs: nowMs)
            return false
        }
        pumpInputs(nowMs: nowMs)
        return true
    }

    /// Takes what follows on the last frame. Returns the frame that does not.
    private mutating func takeRun(_ list: [Frame]) -> UInt32? {
        for frame in list {
            let last = frames?.last ?? 0
            if frame.id <= last { continue }
            if frame.id != last + 1 { return frame.id }
            take(frame, isCatchUp: true)
        }
        return nil
    }

    private mutating func take(_ frame: Frame, isCatchUp: Bool) {
        frames?.last = frame.id
        deliver(.frame(frame, isCatchUp: isCatchUp))
        guard !inputs.items.isEmpty, let stream = frames, frame.id > stream.othersUntil else { return }
        for input in frame.inputs where input.id != 0 && input.playerId == playerId {
            for lost in inputs.shown(input.id) {
                deliver(.requestFailed(id: lost.id, .network("refused or lost: a later input is in frame \(frame.id)")))
            }
        }
    }

    private mutating func skip(through last: UInt32, snapshot: Snapshot?) {
        guard let stream = frames, last > stream.last else { return }
        var last = last
        var usable: Snapshot?
        if let snapshot, snapshot.frameId >= last {
            usable = snapshot
            last = snapshot.frameId
        }
        frames?.last = last
        frames?.spare = nil
        deliver(.framesSkipped(first: stream.last + 1, last: last, snapshot: usable))
    }

    // MARK: holes

    private mutating func holeBefore(_ id: UInt32, _ message: ServerMessage, nowMs: Int64) {
        guard let stream = frames else { return }
        if unhealedAt == stream.last {
            // Neither `getFrames` nor a resume brought it: nobody has it.
            unhealedAt = nil
            skip(through: id - 1, snapshot: stream.spare)
            streamed(message, nowMs: nowMs)
            return
        }
        hold(message, nowMs: nowMs)
        ask(through: id - 1, nowMs: nowMs)
    }

    mutating func hold(_ message: ServerMessage, nowMs: Int64) {
        guard held.count < options.heldMessages else {
            drop(.network("\(held.count) messages wait behind a hole in the frames"), nowMs: nowMs, rotates: false)
            return
        }
        held.append(message)
    }

    private mutating func ask(through last: UInt32, nowMs: Int64) {
        guard case .online(let link) = phase, let stream = frames else { return }
        let untilMs = nowMs + options.handshakeTimeoutMs
        heal = FrameHeal(through: last, untilMs: untilMs)
        dueNotAfter(untilMs)
        requestHeal(
            GetFrames(first: stream.last + 1, last: last, frameSyncId: stream.info.frameSyncId), on: link)
    }

    mutating func healAnswered(_ body: ServerMessage.Body?, nowMs: Int64) {
        guard let wanted = heal else { return }
        guard case .frames(let batch)? = body else {
            if case .error(let error)? = body {
                healFailed(HoldfastError(error), nowMs: nowMs)
            } else {
                healFailed(.network("another answer to getFrames than frames"), nowMs: nowMs)
            }
            return
        }
        let before = frames?.last ?? 0
        let hole = takeRun(batch.frames)
        let last = frames?.last ?? 0
        if last >= wanted.through {
            release(nowMs: nowMs)
        } else if hole == nil, last > before {
            ask(through: wanted.through, nowMs: nowMs)
        } else {
            healFailed(.network("getFrames does not bring frame \(last + 1)"), nowMs: nowMs)
        }
    }

    /// The other cure is a resume: it brings what is kept and says where that begins.
    mutating func healFailed(_ error: HoldfastError, nowMs: Int64) {
        unhealedAt = frames?.last
        drop(error, nowMs: nowMs, rotates: false)
    }

    /// The hole is filled: what waited behind it, until the next one.
    private mutating func release(nowMs: Int64) {
        heal = nil
        unhealedAt = nil
        let waiting = held
        held = []
        for (index, message) in waiting.enumerated() {
            streamed(message, nowMs: nowMs)
            if heal != nil {
                held.append(contentsOf: waiting[(index + 1)...])
                return
            }
            if !isOnline { return }
        }
    }
}
