internal import HoldfastProtocol

/// The room: what the client holds of it, its stream and the position in it.
extension ClientMachine {
    /// What the client has, exactly as `Resume` asks for it.
    var position: Resume {
        var resume = Resume(resumeToken: resumeToken)
        guard let mirror else { return resume }
        resume.roomSeq = mirror.seq
        resume.roomId = mirror.info.id
        if let frames {
            resume.frameSyncId = frames.info.frameSyncId
            resume.frameId = frames.last
        }
        return resume
    }

    /// `connected`: the state at `roomSeq`; unless it restarts, the events up to there are still to come.
    mutating func adopt(_ connected: Connected) {
        guard let room = connected.room else {
            guard let mirror else { return }
            leftRoomId = mirror.info.id
            clearRoom()
            // After a resume the one event that ended the seat follows.
            if !connected.resumed { deliver(.roomLeft(roomId: leftRoomId)) }
            return
        }
        let isSame = mirror?.info.id == room.id
        let isRestarted = connected.roomRestarted || !connected.resumed || !isSame
        if !isSame, let old = mirror {
            clearRoom()
            deliver(.roomLeft(roomId: old.info.id))
        }
        let seq = isRestarted ? connected.roomSeq : mirror?.seq ?? connected.roomSeq
        mirror = RoomMirror(info: room, seq: seq, infoSeq: connected.roomSeq)
        if isRestarted {
            adoptFrameSync(connected.frameSync, snapshot: connected.snapshot)
        } else if let running = connected.frameSync, running.frameSyncId == frames?.info.frameSyncId {
            frames?.raiseTarget(to: running.frameId)
            frames?.spare = connected.snapshot
        }
    }

    /// `roomJoined`: the stream goes on after `roomSeq`. The answer to a call sent again is built anew, so the room may
    /// be known already, from `connected`.
    mutating func adopt(_ joined: RoomJoined, nowMs: Int64) {
        guard let room = joined.room else {
            unexpectedMessages += 1
            return
        }
        let isSame = mirror?.info.id == room.id
        if !isSame { clearRoom() }
        // In a room known already the events up to `roomSeq` may still be on their way: the position stays what was
        // seen.
        mirror = RoomMirror(info: room, seq: mirror?.seq ?? joined.roomSeq, infoSeq: joined.roomSeq)
        deliver(.roomJoined(joined))
        adoptFrameSync(joined.frameSync, snapshot: joined.snapshot)
    }

    mutating func clearRoom() {
        if let mirror { leftRoomId = mirror.info.id }
        mirror = nil
        endFrameSync()
    }

    // MARK: events

    mutating func event(_ message: ServerMessage, nowMs: Int64) {
        switch message.body {
        case .serviceError(let error)?:
            if error.code == ErrorCode.serverError.rawValue { clearRoom() }
            deliver(.serviceError(error))
        case .error(let error)?: deliver(.requestFailed(id: 0, HoldfastError(error)))
        case .playerKicked(let kicked)? where kicked.playerId == playerId && message.seq == 0:
            clearRoom()
            deliver(.playerKicked(kicked))
        case .roomDismissed(let dismissed)? where message.seq == 0:
            clearRoom()
            deliver(.roomDismissed(dismissed))
        case .sessionJoined?, .connectionCreated?, .connectionDestroyed?, .signalReceived?, .connectionReconnecting?,
            .connectionReconnected?, .sessionConnections?:
            if let body = message.body { deliver(.other(body)) }
        case .ok?, .connected?, .pong?, .disconnected?, .roomJoined?, .roomList?, .battleRequested?:
            unexpectedMessages += 1
        default:
            if heal != nil {
                hold(message, nowMs: nowMs)
            } else {
                streamed(message, nowMs: nowMs)
            }
        }
    }

    /// The next message of the room's stream.
    mutating func streamed(_ message: ServerMessage, nowMs: Int64) {
        guard mirror != nil, let body = message.body else {
            unexpectedMessages += 1
            return
        }
        switch body {
        case .frame(let frame):
            if frameCame(frame, in: message, nowMs: nowMs) { advance(to: message.seq) }
            return
        case .frames(let batch):
            if framesCame(batch, in: message, nowMs: nowMs) { advance(to: message.seq) }
            return
        default: break
        }
        if message.seq != 0 {
            guard let seq = mirror?.seq, message.seq > seq else {
                unexpectedMessages += 1
                return
            }
            advance(to: message.seq)
        }
        if message.seq == 0 || message.seq > mirror?.infoSeq ?? 0 { mirror?.apply(body) }
        told(body)
    }

    private mutating func advance(to seq: UInt64) {
        if let known = mirror?.seq, seq > known { mirror?.seq = seq }
    }

    private mutating func told(_ body: ServerMessage.Body) {
        switch body {
        case .playerEntered(let event): deliver(.playerEntered(event))
        case .playerLeft(let event): deliver(.playerLeft(event))
        case .playerOffline(let event): deliver(.playerOffline(event))
        case .playerOnline(let event): deliver(.playerOnline(event))
        case .playerKicked(let event):
            if event.playerId == playerId { clearRoom() }
            deliver(.playerKicked(event))
        case .roomOwnerChanged(let event): deliver(.roomOwnerChanged(event))
        case .roomPropertiesChanged(let event): deliver(.roomPropertiesChanged(event))
        case .playerCustomStatusChanged(let event): deliver(.playerCustomStatusChanged(event))
        case .playerCustomPropertiesChanged(let event): deliver(.playerCustomPropertiesChanged(event))
        case .roomDismissed(let event):
            clearRoom()
            deliver(.roomDismissed(event))
        case .customMessageReceived(let event): deliver(.customMessageReceived(event))
        case .frameSyncStarted(let info): startFrameSync(info, snapshot: nil)
        case .frameSyncStopped(let event): stopFrameSync(event)
        case .desyncDetected(let event): deliver(.desyncDetected(event))
        default: deliver(.other(body))
        }
    }
}
