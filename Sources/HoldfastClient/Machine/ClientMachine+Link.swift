internal import HoldfastProtocol

/// Connecting, handshake, coming back, heartbeat.
extension ClientMachine {
    // MARK: calls

    mutating func connect(_ id: UInt32, nowMs: Int64) {
        guard phase == .idle else {
            let error = HoldfastError(code: .alreadyConnected, message: "connect was called already")
            effects.append(.complete(id, .failure(error)))
            return
        }
        connectCall = id
        attempt = 0
        drainsInARow = 0
        giveUpAtMs = nowMs + options.connectTimeoutMs
        beginAttempt(nowMs: nowMs)
    }

    mutating func disconnect(_ id: UInt32, nowMs: Int64) {
        if case .online(let link) = phase {
            calls.append(PendingCall(id: id, body: .disconnect(Disconnect()), kind: .disconnect, isSent: true))
            phase = .closing(link, id: id, untilMs: nowMs + options.closeTimeoutMs)
            effects.append(.send(link, ClientMessage(id: id, body: .disconnect(Disconnect()))))
            return
        }
        if case .closing = phase {
            calls.append(PendingCall(id: id, body: .disconnect(Disconnect()), kind: .disconnect, isSent: true))
            return
        }
        end(HoldfastError(code: .success, message: "disconnected"))
        effects.append(.complete(id, .success(.ok(Ok()))))
    }

    mutating func sleep(_ reason: HoldfastError) {
        switch phase {
        case .idle, .asleep, .closing: return
        case .awaitingToken, .opening, .handshaking, .awaitingTokenOnLink, .online, .backingOff: break
        }
        if let link = phase.link { effects.append(.closeLink(link)) }
        linkIsGone()
        phase = .asleep
        if isTold, !isAway {
            isAway = true
            deliver(.reconnecting(reason))
        }
        giveUpAtMs = nil
        attempt = 0
    }

    // MARK: token

    mutating func tokenCame(_ given: String, nowMs: Int64) {
        isTokenAsked = false
        token = given
        switch phase {
        case .awaitingToken: beginAttempt(nowMs: nowMs)
        case .awaitingTokenOnLink(let link): sendConnect(on: link, nowMs: nowMs)
        case .idle: token = nil
        case .opening, .handshaking, .online, .closing, .backingOff, .asleep: break
        }
    }

    mutating func tokenFailed(_ error: HoldfastError, nowMs: Int64) {
        isTokenAsked = false
        switch phase {
        case .awaitingToken, .awaitingTokenOnLink:
            if error.code == .networkError {
                drop(error, nowMs: nowMs, rotates: false)
            } else {
                end(error)
            }
        case .idle, .opening, .handshaking, .online, .closing, .backingOff, .asleep: break
        }
    }

    private mutating func askToken() {
        if isTokenAsked { return }
        isTokenAsked = true
        effects.append(.fetchToken)
    }

    // MARK: link

    mutating func beginAttempt(nowMs: Int64) {
        if giveUpAtMs == nil { giveUpAtMs = nowMs + options.giveUpAfterMs }
        if resumeToken.isEmpty, token == nil {
            phase = .awaitingToken
            askToken()
            return
        }
        lastLink &+= 1
        let link = LinkID(lastLink)
        phase = .opening(link, untilMs: nowMs + options.openTimeoutMs)
        effects.append(.openLink(link, endpoint: endpoint))
    }

    mutating func linkOpened(_ link: LinkID, nowMs: Int64) {
        guard case .opening(link, _) = phase else { return }
        sendConnect(on: link, nowMs: nowMs)
    }

    private mutating func sendConnect(on link: LinkID, nowMs: Int64) {
        var message = Connect(client: options.client)
        if resumeToken.isEmpty {
            message.token = token ?? ""
            token = nil
        } else {
            message.resume = position
        }
        let id = takeId()
        phase = .handshaking(link, id: id, untilMs: nowMs + options.handshakeTimeoutMs)
        effects.append(.send(link, ClientMessage(id: id, body: .connect(message))))
    }

    mutating func linkClosed(_ link: LinkID, reason: String, nowMs: Int64) {
        guard phase.link == link else { return }
        switch phase {
        case .awaitingTokenOnLink:
            // The server waits only so long for the second `connect`; the token may take longer.
            phase = .awaitingToken
        case .closing: end(HoldfastError(code: .success, message: "disconnected"), isClosed: true)
        case .opening, .handshaking:
            drop(.network(reason), nowMs: nowMs, rotates: true, isClosed: true)
        case .online: drop(.network(reason), nowMs: nowMs, rotates: false, isClosed: true)
        case .idle, .awaitingToken, .backingOff, .asleep: break
        }
    }

    /// The link is of no use any more: forget it and try again after a pause. The run and its calls stay.
    mutating func drop(
        _ error: HoldfastError, nowMs: Int64, rotates: Bool, isClosed: Bool = false, isAtOnce: Bool = false,
        minDelayMs: Int64 = 0
    ) {
        if case .closing = phase {
            end(HoldfastError(code: .success, message: "disconnected"), isClosed: isClosed)
            return
        }
        if !isClosed, let link = phase.link { effects.append(.closeLink(link)) }
        if isOnline, nowMs - connectedAtMs >= options.stableAfterMs {
            attempt = 0
            drainsInARow = 0
        }
        linkIsGone()
        if rotates { endpoint = (endpoint + 1) % max(1, options.endpointCount) }
        if isTold, !isAway {
            isAway = true
            giveUpAtMs = nowMs + options.giveUpAfterMs
            deliver(.reconnecting(error))
        }
        if isAtOnce, drainsInARow < max(1, options.endpointCount) {
            drainsInARow += 1
            beginAttempt(nowMs: nowMs)
            return
        }
        phase = .backingOff(untilMs: nowMs + max(minDelayMs, nextDelayMs()))
    }

    /// What a link leaves behind when it ends, in whatever way.
    private mutating func linkIsGone() {
        pingId = nil
        isProbed = false
        heal = nil
        held.removeAll()
        calls.removeAll { $0.kind == .heal }
        inputs.linkIsGone()
    }

    private mutating func nextDelayMs() -> Int64 {
        defer { attempt += 1 }
        // A round is one try of each address: the first goes through them quickly.
        let round = attempt / max(1, options.endpointCount)
        if round == 0 { return random.next(upTo: options.firstDelayMs) }
        let doubled = options.baseDelayMs << Int64(min(round - 1, 16))
        let wholeMs = min(doubled, options.maxDelayMs)
        return wholeMs / 2 + random.next(upTo: wholeMs - wholeMs / 2)
    }

    // MARK: handshake

    mutating func received(_ message: ServerMessage, on link: LinkID, nowMs: Int64) {
        guard phase.link == link else { return }
        sign(nowMs: nowMs)
        if case .disconnected(let last)? = message.body {
            disconnected(last, nowMs: nowMs)
            return
        }
        switch phase {
        case .handshaking(_, let id, _):
            handshake(message, id: id, link: link, nowMs: nowMs)
        case .online, .closing:
            if message.id != 0 {
                reply(message, nowMs: nowMs)
            } else {
                event(message, nowMs: nowMs)
            }
        case .idle, .awaitingToken, .opening, .awaitingTokenOnLink, .backingOff, .asleep: unexpectedMessages += 1
        }
    }

    private mutating func handshake(_ message: ServerMessage, id: UInt32, link: LinkID, nowMs: Int64) {
        switch message.body {
        case .connected(let connected)? where message.id == id: self.connected(connected, link: link, nowMs: nowMs)
        case .error(let reply)? where message.id == id || message.id == 0:
            let error = HoldfastError(reply)
            switch error.code {
            case .resumeExpired where !resumeToken.isEmpty:
                resumeToken = ""
                if token != nil {
                    sendConnect(on: link, nowMs: nowMs)
                } else {
                    phase = .awaitingTokenOnLink(link)
                    askToken()
                }
            case .serverError, .rateLimited, .slowConsumer, .networkError:
                drop(error, nowMs: nowMs, rotates: true, minDelayMs: Int64(error.retryAfterMs))
            case .draining: drop(error, nowMs: nowMs, rotates: true, isAtOnce: true)
            default: end(error)
            }
        default: unexpectedMessages += 1
        }
    }

    private mutating func connected(_ connected: Connected, link: LinkID, nowMs: Int64) {
        phase = .online(link)
        connectedAtMs = nowMs
        giveUpAtMs = nil
        playerId = connected.playerId
        resumeToken = connected.resumeToken
        heartbeatMs = connected.heartbeatMs == 0 ? options.heartbeatMs : Int64(connected.heartbeatMs)
        isAway = false
        if let call = connectCall {
            connectCall = nil
            effects.append(.complete(call, .success(.connected(connected))))
        }
        if !connected.resumed { forgetRun() }
        isTold = true
        deliver(connected.resumed ? .reconnected(connected) : .connected(connected))
        adopt(connected)
        sendCalls(nowMs: nowMs)
        resendInputs(running: connected.frameSync, nowMs: nowMs)
    }

    /// A new run has begun: nobody will ever say what became of what was sent in the old one.
    private mutating func forgetRun() {
        failCalls(.network("the run ended before an answer came")) { $0.isSent }
        for input in inputs.takeSent() {
            deliver(.requestFailed(id: input.id, .network("the run ended before a frame showed the input")))
        }
    }

    // MARK: the end

    private mutating func disconnected(_ last: Disconnected, nowMs: Int64) {
        let error = HoldfastError(last)
        if case .closing = phase {
            end(HoldfastError(code: .success, message: "disconnected"))
            return
        }
        if case .awaitingTokenOnLink(let link) = phase, error.code == .notConnected {
            effects.append(.closeLink(link))
            phase = .awaitingToken
            return
        }
        guard last.mayReconnect else {
            end(error)
            return
        }
        drop(error, nowMs: nowMs, rotates: error.code == .draining, isAtOnce: error.code == .draining)
    }

    /// Ends the run for good: all calls fail, nothing comes back by itself.
    mutating func end(_ error: HoldfastError, isClosed: Bool = false) {
        if !isClosed, let link = phase.link { effects.append(.closeLink(link)) }
        linkIsGone()
        phase = .idle
        resumeToken = ""
        token = nil
        giveUpAtMs = nil
        isAway = false
        if let call = connectCall {
            connectCall = nil
            let reason = error.code == .success ? HoldfastError.network("disconnected") : error
            effects.append(.complete(call, .failure(reason)))
        }
        completeDisconnects()
        failCalls(.network("the connection ended: \(error.message)")) { _ in true }
        clearRoom()
        inputs = InputQueue()
        if isTold {
            isTold = false
            deliver(.disconnected(error))
        }
    }

    // MARK: time

    /// Something came from the server.
    mutating func sign(nowMs: Int64) {
        lastReceivedMs = nowMs
        isProbed = false
    }

    /// A ping of our own after one and a half heartbeats of silence (a transport may answer the server's pings without
    /// showing them), the end after two.
    var silenceDueMs: Int64 {
        lastReceivedMs + (!isProbed ? heartbeatMs + heartbeatMs / 2 : 2 * heartbeatMs)
    }

    mutating func timePassed(nowMs: Int64) {
        armedAtMs = nil
        if let giveUpAtMs, nowMs >= giveUpAtMs {
            end(.network("no connection in time"))
            return
        }
        switch phase {
        case .opening(_, let untilMs) where nowMs >= untilMs:
            drop(.network("no link in time"), nowMs: nowMs, rotates: true)
        case .handshaking(_, _, let untilMs) where nowMs >= untilMs:
            drop(.network("no answer to connect in time"), nowMs: nowMs, rotates: true)
        case .closing(_, _, let untilMs) where nowMs >= untilMs:
            end(HoldfastError(code: .success, message: "disconnected"))
        case .backingOff(let untilMs) where nowMs >= untilMs: beginAttempt(nowMs: nowMs)
        case .online(let link):
            checkSilence(link, nowMs: nowMs)
            pumpInputs(nowMs: nowMs)
        case .idle, .awaitingToken, .awaitingTokenOnLink, .asleep, .opening, .handshaking, .closing, .backingOff: break
        }
        if let callsDueMs, nowMs >= callsDueMs { checkCalls(nowMs: nowMs) }
    }

    private mutating func checkSilence(_ link: LinkID, nowMs: Int64) {
        guard nowMs >= silenceDueMs else { return }
        if nowMs - lastReceivedMs >= 2 * heartbeatMs {
            drop(.network("nothing came for \(2 * heartbeatMs) ms"), nowMs: nowMs, rotates: true)
            return
        }
        guard !isProbed else { return }
        let id = takeId()
        isProbed = true
        pingId = id
        pingSentMs = nowMs
        effects.append(.send(link, ClientMessage(id: id, body: .ping(Ping(clientTime: nowMs)))))
    }
}
