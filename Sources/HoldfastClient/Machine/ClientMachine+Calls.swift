internal import HoldfastProtocol

/// Requests: ids, sending again, outcomes.
extension ClientMachine {
    mutating func request(_ body: ClientMessage.Body, id: UInt32, nowMs: Int64) {
        switch phase {
        case .idle, .closing:
            let error = HoldfastError(code: .notConnected, message: "not connected: call connect first")
            effects.append(.complete(id, .failure(error)))
            return
        case .awaitingToken, .opening, .handshaking, .awaitingTokenOnLink, .online, .backingOff, .asleep: break
        }
        guard calls.count < options.pendingCalls else {
            let error = HoldfastError(
                code: .rateLimited, message: "\(calls.count) calls are unanswered, the limit is \(options.pendingCalls)"
            )
            effects.append(.complete(id, .failure(error)))
            return
        }
        var untilMs = nowMs + options.callTimeoutMs
        if case .matchRoom(let match) = body { untilMs += Int64(match.timeoutMs) }
        calls.append(
            PendingCall(
                id: id, body: boundToFrameSync(body), kind: .app, roomId: mirror?.info.id ?? "", untilMs: untilMs))
        if case .online(let link) = phase { send(at: calls.count - 1, on: link) }
        dueNotAfter(untilMs)
    }

    /// Calls about frames name the frame sync that the application sees, so that one sent again after a resume cannot
    /// land in the next.
    private func boundToFrameSync(_ body: ClientMessage.Body) -> ClientMessage.Body {
        guard let frames else { return body }
        switch body {
        case .getFrames(var call) where call.frameSyncId == 0:
            call.frameSyncId = frames.info.frameSyncId
            return .getFrames(call)
        case .putSnapshot(var call) where call.frameSyncId == 0:
            call.frameSyncId = frames.info.frameSyncId
            return .putSnapshot(call)
        default: return body
        }
    }

    mutating func reportHash(_ report: ReportFrameHash, id: UInt32) {
        // Without a link it is left out: reports are not remembered, and the next frame's shows a desync as well.
        guard case .online(let link) = phase else { return }
        var report = report
        if report.frameSyncId == 0 { report.frameSyncId = frames?.info.frameSyncId ?? 0 }
        effects.append(.send(link, ClientMessage(id: id, body: .reportFrameHash(report))))
    }

    mutating func requestHeal(_ body: GetFrames, on link: LinkID) {
        calls.append(PendingCall(id: takeId(), body: .getFrames(body), kind: .heal))
        send(at: calls.count - 1, on: link)
    }

    private mutating func send(at index: Int, on link: LinkID) {
        calls[index].isSent = true
        calls[index].retryAtMs = nil
        effects.append(.send(link, ClientMessage(id: calls[index].id, body: calls[index].body)))
    }

    /// After a handshake: everything unanswered, by its old id, in the old order.
    mutating func sendCalls(nowMs: Int64) {
        guard case .online(let link) = phase else { return }
        for index in calls.indices {
            if let retryAtMs = calls[index].retryAtMs, retryAtMs > nowMs {
                dueNotAfter(retryAtMs)
            } else {
                send(at: index, on: link)
            }
        }
    }

    mutating func checkCalls(nowMs: Int64) {
        callsDueMs = nil
        var isHealLate = false
        for index in calls.indices {
            if let untilMs = calls[index].untilMs {
                if nowMs >= untilMs {
                    calls[index].untilMs = nil
                    calls[index].isGivenUp = true
                    let error = HoldfastError.network("no answer in time")
                    effects.append(.complete(calls[index].id, .failure(error)))
                } else {
                    dueNotAfter(untilMs)
                }
            }
            guard case .online(let link) = phase, let retryAtMs = calls[index].retryAtMs else { continue }
            if nowMs >= retryAtMs {
                send(at: index, on: link)
            } else {
                dueNotAfter(retryAtMs)
            }
        }
        // What was never sent needs no outcome.
        calls.removeAll { $0.isGivenUp && !$0.isSent }
        if let heal, nowMs >= heal.untilMs { isHealLate = true } else if let heal { dueNotAfter(heal.untilMs) }
        if isHealLate { healFailed(.network("getFrames was not answered in time"), nowMs: nowMs) }
    }

    mutating func dueNotAfter(_ atMs: Int64) { callsDueMs = min(callsDueMs ?? atMs, atMs) }

    // MARK: answers

    mutating func reply(_ message: ServerMessage, nowMs: Int64) {
        if message.id == pingId, case .pong? = message.body {
            pingId = nil
            roundTripMs = nowMs - pingSentMs
            return
        }
        guard let index = calls.firstIndex(where: { $0.id == message.id }) else {
            answerWithoutCall(message, nowMs: nowMs)
            return
        }
        if calls[index].kind == .disconnect { return }
        if case .error(let error)? = message.body, error.retryAfterMs > 0 {
            let isOpen = error.code == ErrorCode.serverError.rawValue
            if isOpen || (calls[index].kind == .heal && error.code == ErrorCode.rateLimited.rawValue) {
                let atMs = nowMs + Int64(error.retryAfterMs)
                calls[index].retryAtMs = atMs
                dueNotAfter(atMs)
                return
            }
        }
        let call = calls.remove(at: index)
        if call.kind == .heal {
            healAnswered(message.body, nowMs: nowMs)
        } else {
            answered(call, message.body, nowMs: nowMs)
        }
    }

    private mutating func answered(_ call: PendingCall, _ body: ServerMessage.Body?, nowMs: Int64) {
        let reply: ClientReply
        switch body {
        case .error(let error)?: reply = .failure(HoldfastError(error))
        case let body?: reply = .success(body)
        case nil:
            reply = .failure(HoldfastError(code: .serverError, message: "an answer that this SDK does not know"))
        }
        if !call.isGivenUp { effects.append(.complete(call.id, reply)) }
        guard case .success(let body) = reply else { return }
        switch (call.body, body) {
        case (_, .roomJoined(let joined)): adopt(joined, nowMs: nowMs)
        case (.leaveRoom, .ok):
            // An answer repeated after a resume may be older than the room that the player is in by now.
            let roomId = mirror?.info.id ?? leftRoomId
            guard call.roomId.isEmpty || call.roomId == roomId else { break }
            clearRoom()
            deliver(.roomLeft(roomId: roomId))
        default: break
        }
    }

    private mutating func answerWithoutCall(_ message: ServerMessage, nowMs: Int64) {
        switch message.body {
        case .error(let error)?:
            if inputFailed(message.id, error, nowMs: nowMs) { return }
            deliver(.requestFailed(id: message.id, HoldfastError(error)))
        default: unexpectedMessages += 1
        }
    }

    // MARK: failing

    /// The shell could not send what it was told to.
    mutating func refuse(_ id: UInt32, _ error: HoldfastError) {
        if case .handshaking(_, id, _) = phase {
            end(error)
        } else if let index = calls.firstIndex(where: { $0.id == id && $0.kind == .app }) {
            let call = calls.remove(at: index)
            if !call.isGivenUp { effects.append(.complete(id, .failure(error))) }
        } else {
            inputs.remove(id)
            deliver(.requestFailed(id: id, error))
        }
    }

    mutating func failCalls(_ error: HoldfastError, where isLost: (PendingCall) -> Bool) {
        for call in calls where isLost(call) && !call.isGivenUp && call.kind == .app {
            effects.append(.complete(call.id, .failure(error)))
        }
        calls.removeAll(where: isLost)
        if calls.isEmpty { callsDueMs = nil }
    }

    mutating func completeDisconnects() {
        for call in calls where call.kind == .disconnect {
            effects.append(.complete(call.id, .success(.ok(Ok()))))
        }
        calls.removeAll { $0.kind == .disconnect }
    }
}
