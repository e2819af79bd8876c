import HoldfastProtocol

/// Connects, requests and their answers (invariant 6), inputs on their way (7).
extension ClientChecker {
    // MARK: Sent

    mutating func sent(request body: ClientMessage.Body, id: UInt32, on view: inout CheckedLink) {
        guard view.run >= 0, id != 0 else { return }
        view.owed[id, default: 0] += 1
        let content = Content(of: body)
        if let content { note(content, of: body, by: view.player) }
        if runs[view.run].requests[id] != nil {
            runs[view.run].requests[id]?.sends += 1
            return
        }
        guard runs[view.run].requests.count < CheckedRun.requestsKept else { return }
        var request = CheckedRequest(
            asked: Asked(body), content: content, firstLink: view.link, firstMs: nowMs)
        if case .matchRoom(let match) = body { request.wanted = match.room }
        runs[view.run].requests[id] = request
    }

    private mutating func note(_ content: Content, of body: ClientMessage.Body, by player: Int) {
        if contents[content] != nil {
            contents[content]?.sends += 1
            return
        }
        guard contents.count < Self.contentsKept else { return }
        var receivers: [Int]?
        if case .sendCustomMessage(let message) = body, message.type == 1 {
            receivers = message.receivers.map { number(ofPlayer: $0) }
        }
        contents[content] = CheckedContent(player: player, receivers: receivers, firstMs: nowMs)
    }

    mutating func sent(_ input: SendFrameInput, id: UInt32, on view: inout CheckedLink) {
        guard view.run >= 0, let content = Content(of: input), content.device == view.device else { return }
        let index = content.number - 1
        var list = inputs[view.device]
        inputs[view.device] = []
        defer { inputs[view.device] = list }
        if index < list.count {
            list[index].sends += 1
            if list[index].firstLink != view.link { list[index].isOnOneLink = false }
            return
        }
        // Numbers count one by one, so a gap is of inputs that were never sent.
        while list.count < index {
            list.append(
                CheckedInput(id: 0, sync: 0, firstLink: view.link, isOnOneLink: false, firstMs: nowMs, sends: 0))
        }
        list.append(CheckedInput(id: id, sync: input.frameSyncId, firstLink: view.link, firstMs: nowMs))
        runs[view.run].inputs[id] = content.number
        view.inputs.append(content.number)
    }

    // MARK: Connecting

    mutating func handshake(_ message: ServerMessage, _ body: ServerMessage.Body, on view: inout CheckedLink) {
        guard message.id == view.connectId else {
            violate(5, "\(name(view)) got \(kind(of: body)) before connected")
            return
        }
        let owed = view.owed[message.id, default: 0] - 1
        view.owed[message.id] = owed == 0 ? nil : owed
        if owed < 0 { violate(6, "\(name(view)): connect was answered once too often") }
        switch body {
        case .connected(let connected): self.connected(connected, on: &view)
        case .error(let error):
            if error.code == ErrorCode.resumeExpired.rawValue { resumeExpired(view) }
        default: violate(6, "\(name(view)): connect was answered by \(kind(of: body))")
        }
    }

    private mutating func resumeExpired(_ view: CheckedLink) {
        guard let token = view.resume?.resumeToken, let number = run(of: token) else { return }
        let run = runs[number]
        if run.isEnding || run.isOver || run.isLost { return }
        // The server may have dropped the link before the client had read all that came.
        if nowMs >= run.lastHeardMs + resumeWindowMs - Self.unreadMs - clockSlackMs { return }
        // Another connect of the player may have begun a run, and nobody was told.
        if mayHaveBegunRun(view.player, since: run.begunMs + 1, besides: view.link) { return }
        violate(
            6, "\(name(view)): the resume is refused, \(nowMs - run.lastHeardMs) ms after its run was last heard of")
    }

    private mutating func connected(_ connected: Connected, on view: inout CheckedLink) {
        view.isConnected = true
        view.connectedMs = nowMs
        if connected.playerId != players[view.player] {
            violate(5, "\(name(view)) is told to be \(connected.playerId)")
        }
        let known = run(of: connected.resumeToken)
        if connected.resumed {
            guard let known, connected.resumeToken == view.resume?.resumeToken else {
                violate(6, "\(name(view)) resumed another run than it asked for")
                return
            }
            view.run = known
            let run = runs[known]
            if run.isOver, !run.isLost, newerRunToldBefore(view.connectMs, than: known, player: view.player) {
                violate(12, "\(name(view)) resumed a run after a newer one of the player was told")
            }
        } else {
            if known != nil { violate(6, "\(name(view)) got the resume token of an earlier run") }
            for index in runs.indices where runs[index].player == view.player && runs[index].begunMs < view.connectMs {
                runs[index].isOver = true
            }
            view.run = add(
                CheckedRun(
                    player: view.player, device: view.device, resumeToken: connected.resumeToken,
                    begunMs: view.connectMs, toldMs: nowMs, lastHeardMs: nowMs))
        }
        runs[view.run].lastHeardMs = nowMs
        place(connected, on: &view)
    }

    private func newerRunToldBefore(_ atMs: Int64, than number: Int, player: Int) -> Bool {
        runs.indices.contains {
            $0 != number && runs[$0].player == player && runs[$0].begunMs > runs[number].toldMs
                && runs[$0].toldMs < atMs
        }
    }

    // MARK: Answers

    mutating func reply(_ id: UInt32, _ body: ServerMessage.Body, on view: inout CheckedLink) {
        if case .pong = body { return }
        if let number = runs[view.run].inputs[id] {
            refused(input: number, body, on: &view)
            return
        }
        guard var request = runs[view.run].requests[id] else {
            answerToNone(id, body, on: &view)
            return
        }
        let owed = view.owed[id, default: 0] - 1
        view.owed[id] = owed == 0 ? nil : owed
        if owed < 0 {
            // `roomJoined` is told though 1 was answered in its stead: the stream follows, and means nothing without.
            var isLateJoin = false
            if case .roomJoined = body { isLateJoin = request.wasDelayed }
            view.owed[id] = nil
            if !isLateJoin {
                violate(6, "\(name(view)): request \(id) has an answer too many: \(kind(of: body))")
            }
        }
        if case .error(let error) = body, error.code == ErrorCode.serverError.rawValue, error.retryAfterMs > 0 {
            request.wasDelayed = true
            runs[view.run].requests[id] = request
            return
        }
        settle(id, &request, body, on: &view)
        runs[view.run].requests[id] = request
        take(id, request, body, on: &view)
    }

    private mutating func answerToNone(_ id: UInt32, _ body: ServerMessage.Body, on view: inout CheckedLink) {
        if id == view.connectId {
            violate(6, "\(name(view)): connect was answered again by \(kind(of: body))")
            return
        }
        switch body {
        // Reports of hashes are answered when they are refused; `disconnect` once.
        case .error: return
        case .ok where view.owed[id] != nil && runs[view.run].isEnding: view.owed[id] = nil
        default: violate(6, "\(name(view)): answer to \(id), which this run did not ask: \(kind(of: body))")
        }
    }

    /// One outcome, however often it is told.
    private mutating func settle(
        _ id: UInt32, _ request: inout CheckedRequest, _ body: ServerMessage.Body, on view: inout CheckedLink
    ) {
        let outcome: CheckedRequest.Outcome
        switch (body, request.asked) {
        case (.error(let error), _):
            switch ErrorCode(rawValue: error.code) {
            case .rateLimited, .invalidRequest, .requestInProgress, .notImplemented:
                if error.code == ErrorCode.requestInProgress.rawValue, request.outcome != nil {
                    violate(6, "\(name(view)): request \(id) was answered, and sent again it gets 15")
                }
                refused(&request, in: view)
                return
            // It is not known, or not to be had, what became of it.
            case .serverError: return
            default: outcome = .error(error.code)
            }
        case (.ok, .leave), (.ok, .other): outcome = .done
        case (.roomJoined(let joined), .create), (.roomJoined(let joined), .match), (.roomJoined(let joined), .join):
            outcome = .joined(room: number(ofRoom: joined.room?.id ?? ""))
        case (.roomList, .list): return
        case (.frames, .frames): return
        default:
            violate(6, "\(name(view)): request \(id) (\(request.asked)) was answered by \(kind(of: body))")
            return
        }
        if request.asked.isRead { return }
        if let before = request.outcome {
            // The room may have been left since.
            var isLeftSince = false
            if case .joined = before, outcome == .error(ErrorCode.notInRoom.rawValue) { isLeftSince = true }
            // What a lost shard remembered is lost.
            if before != outcome, !isLeftSince, lost.isEmpty {
                violate(6, "\(name(view)): request \(id) (\(request.asked)) had the outcome \(before), now \(outcome)")
            }
            return
        }
        request.outcome = outcome
        if case .error = outcome { refused(&request, in: view) }
    }

    /// It did nothing; if that is so of each time that it was sent, what it said turns up nowhere.
    private mutating func refused(_ request: inout CheckedRequest, in view: CheckedLink) {
        request.refusals += 1
        guard let content = request.content else { return }
        contents[content]?.refusals += 1
        guard let known = contents[content] else { return }
        // An outcome that is remembered is that of all.
        var isOfAll = known.refusals >= known.sends
        if case .error? = request.outcome { isOfAll = true }
        if isOfAll { contents[content]?.refusals = max(known.refusals, known.sends) }
        if isOfAll, let place = known.place, !rooms[place.room].isLost {
            violate(
                6, "\(name(view)): \(content.text) is refused, and stands at \(place.seq) of \(rooms[place.room].id)")
        }
    }

    private mutating func take(
        _ id: UInt32, _ request: CheckedRequest, _ body: ServerMessage.Body, on view: inout CheckedLink
    ) {
        switch body {
        case .roomJoined(let joined): self.joined(joined, id, request, on: &view)
        case .ok:
            if request.asked == .leave, id > view.joinedBy { view.leaveRoom() }
            guard let content = request.content, let known = contents[content], known.okRoom == nil, view.room >= 0,
                // An answer that is remembered may be of a room that the caller was in before.
                view.sinceMs <= known.firstMs
            else { break }
            contents[content]?.okRoom = view.room
            contents[content]?.okMs = nowMs
        case .frames(let batch): compare(batch, on: view)
        case .error(let error):
            guard request.asked == .match else { break }
            switch ErrorCode(rawValue: error.code) {
            case .roomFull, .roomNotFound, .frameSyncRunning, .wrongPassword, .bannedFromRoom:
                violate(14, "\(name(view)): matchRoom was answered \(error.code)")
            default: break
            }
        default: break
        }
    }

    // MARK: Inputs

    private mutating func refused(input number: Int, _ body: ServerMessage.Body, on view: inout CheckedLink) {
        guard case .error(let error) = body else {
            violate(6, "\(name(view)): an input was answered by \(kind(of: body))")
            return
        }
        // To be sent again, or not known to have been left out.
        if error.code == ErrorCode.serverError.rawValue {
            inputs[view.device][number - 1].isOnOneLink = false
            return
        }
        inputs[view.device][number - 1].refusals += 1
        let input = inputs[view.device][number - 1]
        if input.refusals >= input.sends { view.inputs.removeAll { $0 == number } }
        if input.refusals >= input.sends, let place = input.place {
            violate(
                7, "\(name(view)): input \(number) is refused (\(error.code)), and stands in frame \(place.frame)")
        }
    }

    /// An own input came in a frame. What was sent on this link before it is in a frame by then, or refused.
    mutating func shown(_ content: Content, in sync: UInt32, on view: inout CheckedLink) {
        guard content.device == view.device, let index = view.inputs.firstIndex(of: content.number) else { return }
        for number in view.inputs[..<index] {
            let input = inputs[view.device][number - 1]
            guard input.isOnOneLink, input.firstLink == view.link, input.sync == sync, input.refusals == 0,
                input.place == nil
            else { continue }
            violate(7, "\(name(view)): input \(number) is lost; the later \(content.number) is in a frame")
        }
        view.inputs.removeFirst(index + 1)
    }

    /// What stands in a stream, put into words only when it has to be.
    enum StreamWord {
        case event(ServerMessage.Body)
        case frames(UInt32, UInt32)
    }

    func words(_ word: StreamWord) -> String {
        switch word {
        case .event(let body): kind(of: body)
        case .frames(let first, let last): first == last ? "frame \(first)" : "frames \(first)–\(last)"
        }
    }

    func kind(of body: ServerMessage.Body) -> String {
        if case .error(let error) = body { return "error \(error.code)" }
        let text = String(describing: body)
        return String(text.prefix { $0 != "(" })
    }
}
