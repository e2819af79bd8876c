import HoldfastProtocol

/// The room's stream at each client, and between them (invariant 5); rooms as told (8, 9); whose link it is (12).
extension ClientChecker {
    // MARK: Beginning to hear a room

    mutating func place(_ connected: Connected, on view: inout CheckedLink) {
        let before = previous(of: view)
        let resume = connected.resumed ? view.resume : nil
        guard let info = connected.room else {
            noRoom(connected, before, on: &view)
            return
        }
        let room = number(ofRoom: info.id)
        guard room >= 0 else { return }
        let isSame = resume?.roomId == info.id
        // A room that was known before came of an earlier call than those that are open; but when its stream begins
        // anew, the client's position was from before a newer seat in the same room.
        let isKnown = before?.room == room && !connected.roomRestarted
        view.joinedBy = isKnown ? before?.joinedBy ?? 0 : lastSeatCall(into: room, of: view.run)
        if connected.roomRestarted || !isSame {
            if !connected.roomRestarted {
                violate(5, "\(name(view)): a room without a position goes on, not restarted")
            }
            view.begin(room: room, seq: connected.roomSeq, nowMs: nowMs)
            view.sync = connected.frameSync?.frameSyncId ?? 0
            let isRunning = isSame && view.sync != 0 && resume?.frameSyncId == view.sync
            view.frame = isRunning ? resume?.frameId ?? 0 : connected.snapshot?.frameId ?? 0
        } else if let resume {
            if connected.roomSeq < resume.roomSeq {
                violate(
                    1,
                    "\(name(view)) had position \(resume.roomSeq) of \(info.id), which is at \(connected.roomSeq) now")
            }
            goOn(connected, resume, before, room: room, on: &view)
        }
        view.lastSync = max(view.lastSync, view.sync)
        view.isSpectator = !info.players.contains { $0.id == players[view.player] }
        if view.isSpectator { rooms[room].spectators.insert(view.player) }
        look(at: info, on: view)
        view.roster = Roster(info)
        view.infoSeq = connected.roomSeq
        attach(at: connected.roomSeq, on: view)
    }

    private mutating func goOn(
        _ connected: Connected, _ resume: Resume, _ before: CheckedLink?, room: Int, on view: inout CheckedLink
    ) {
        if let before, before.room == room {
            if connected.roomSeq == resume.roomSeq, before.seq == resume.roomSeq,
                let info = connected.room, before.roster != Roster(info)
            {
                violate(
                    1,
                    "\(name(view)): \(info.id) at \(resume.roomSeq) is not as it was told: \(before.roster), now "
                        + "\(Roster(info))"
                )
            }
            view.base = before.base
            view.sinceMs = before.sinceMs
            // With a `roomJoined` that was told again a client begins its frames anew.
            let isAsBefore = resume.frameSyncId == before.sync && resume.frameId >= before.frame
            if resume.frameSyncId == 0 || isAsBefore { view.toldMs = before.toldMs }
            view.lastSync = before.lastSync
        } else {
            view.base = resume.roomSeq
            view.sinceMs = nowMs
        }
        view.room = room
        view.seq = resume.roomSeq
        view.sync = resume.frameSyncId
        view.frame = resume.frameId
    }

    /// The link of this device before, if its run goes on here.
    private func previous(of view: CheckedLink) -> CheckedLink? {
        for link in links[..<view.link.index].reversed() {
            guard let link, link.device == view.device else { continue }
            if link.isConnected { return link.run == view.run ? link : nil }
        }
        return nil
    }

    /// The seat calls before this one are older than the seat.
    private func lastSeatCall(into room: Int, of run: Int) -> UInt32 {
        var last: UInt32 = 0
        for (id, request) in runs[run].requests where request.asked.leadsIntoRoom {
            switch request.outcome {
            case nil: last = max(last, id)
            case .joined(room)?: last = max(last, id)
            case .joined?, .done?, .error?: break
            }
        }
        return last
    }

    private mutating func noRoom(_ connected: Connected, _ before: CheckedLink?, on view: inout CheckedLink) {
        view.room = -1
        guard connected.resumed, let before, before.room >= 0, let resume = view.resume else { return }
        let room = rooms[before.room]
        guard resume.roomId == room.id else { return }
        // A leave may have been done unheard; what ended a seat otherwise is told.
        if leaveSentMs[view.player] >= before.sinceMs - resumeWindowMs || !lost.isEmpty { return }
        view.awaitsEnd = room.id
    }

    mutating func joined(_ joined: RoomJoined, _ id: UInt32, _ request: CheckedRequest, on view: inout CheckedLink) {
        guard let info = joined.room else {
            violate(6, "\(name(view)): roomJoined without a room")
            return
        }
        let room = number(ofRoom: info.id)
        guard room >= 0 else { return }
        if joined.roomSeq == 0 { violate(5, "\(name(view)): roomJoined without a position") }
        look(at: info, on: view)
        let isPlayer = info.players.contains { $0.id == players[view.player] }
        var spectates = false
        if case .join(let asked) = request.asked { spectates = asked }
        if isPlayer == spectates {
            violate(8, "\(name(view)): joined \(info.id), and stands in it otherwise than asked")
        }
        if let wanted = request.wanted {
            let fits =
                info.maxPlayerCount == wanted.maxPlayerCount && info.type == wanted.type
                && info.matchParams == wanted.matchParams && !info.hidden && !info.hasPassword
            if !fits { violate(14, "\(name(view)): was matched into a room of another key") }
        }
        if spectates { rooms[room].spectators.insert(view.player) }
        if view.room == room {
            if joined.roomSeq < view.seq {
                violate(5, "\(name(view)): roomJoined again at \(joined.roomSeq), and \(view.seq) was told")
            }
            // Now it is known which of the calls it was, and a leave that was said after it ends the seat.
            view.joinedBy = id
            return
        }
        if view.room >= 0 { violate(8, "\(name(view)): joined \(info.id) while in \(rooms[view.room].id)") }
        view.begin(room: room, seq: joined.roomSeq, nowMs: nowMs)
        view.joinedBy = id
        view.isSpectator = spectates
        view.roster = Roster(info)
        view.sync = joined.frameSync?.frameSyncId ?? 0
        view.lastSync = view.sync
        view.frame = joined.snapshot?.frameId ?? 0
        attach(at: joined.roomSeq, on: view)
    }

    private mutating func look(at info: RoomInfo, on view: CheckedLink) {
        if let fault = Roster(info).fault() {
            violate(fault.invariant, "\(name(view)) is told of \(info.id): \(fault.what)")
        }
        if info.spectatorCount > info.maxSpectatorCount {
            violate(8, "\(name(view)) is told of \(info.id): \(info.spectatorCount) spectators")
        }
    }

    // MARK: Whose link it is

    private mutating func attach(at seq: UInt64, on view: CheckedLink) {
        let others = rooms[view.room].attachments[view.player] ?? []
        for other in others where other.link != view.link && other.seq < seq {
            guard let old = links[other.link.index], old.room == view.room, old.seq > seq else { continue }
            violate(
                12,
                "\(name(old)) was told position \(old.seq) of \(rooms[view.room].id), and a newer link began at \(seq)")
        }
        rooms[view.room].attach(
            view.player, .init(link: view.link, seq: seq, connectMs: view.connectMs))
    }

    /// Once a newer link of the player hears the room, this one hears nothing of what comes after.
    private mutating func checkNewest(_ seq: UInt64, on view: CheckedLink) {
        guard let list = rooms[view.room].attachments[view.player], list.last?.link != view.link,
            let own = list.first(where: { $0.link == view.link })
        else { return }
        for other in list where other.seq > own.seq && seq > other.seq {
            violate(
                12,
                "\(name(view)) was told position \(seq), and link \(other.link.number) hears it since \(other.seq)"
            )
            return
        }
    }

    // MARK: Events

    mutating func event(_ message: ServerMessage, _ body: ServerMessage.Body, on view: inout CheckedLink) {
        switch body {
        case .serviceError(let error):
            if view.room >= 0, error.code == ErrorCode.serverError.rawValue {
                // A claim that was made anew elsewhere ends a seat so, too.
                if !rooms[view.room].isLost, lost.isEmpty {
                    violate(4, "\(name(view)) is told that \(rooms[view.room].id) is lost, which is not so")
                }
                view.leaveRoom()
            }
            view.awaitsEnd = nil
            return
        case .error, .ok, .connected, .pong, .roomJoined, .roomList, .disconnected:
            violate(6, "\(name(view)) got \(kind(of: body)) without an id")
            return
        case .playerKicked(let kicked) where message.seq == 0: ended(kicked.roomId, body, on: &view)
        case .roomDismissed(let dismissed) where message.seq == 0: ended(dismissed.roomId, body, on: &view)
        case .frame(let frame): live(frame, seq: message.seq, on: &view)
        case .frames(let batch): past(batch, seq: message.seq, on: &view)
        default: event(body, seq: message.seq, on: &view)
        }
        if let room = view.awaitsEnd {
            violate(5, "\(name(view)): its seat in \(room) ended, and \(kind(of: body)) comes instead of how")
            view.awaitsEnd = nil
        }
    }

    private mutating func ended(_ room: String, _ body: ServerMessage.Body, on view: inout CheckedLink) {
        if case .playerKicked(let kicked) = body, kicked.playerId != players[view.player] {
            violate(5, "\(name(view)): another's kick without a position")
        }
        if view.room >= 0 || view.resume?.roomId != room {
            // The client may have left it meanwhile for all it knows; told is it only to who was in it.
            if view.room >= 0 { violate(5, "\(name(view)): \(kind(of: body)) of \(room) without a position") }
        }
        view.awaitsEnd = nil
    }

    private mutating func event(_ body: ServerMessage.Body, seq: UInt64, on view: inout CheckedLink) {
        guard view.room >= 0 else {
            violate(5, "\(name(view)) is in no room, and is told position \(seq): \(kind(of: body))")
            return
        }
        guard advance(to: seq, .event(body), on: &view) else { return }
        holes(before: seq, frames: nil, on: view)
        view.seq = seq
        let addressees = self.addressees(of: body, in: view.room)
        if addressees.include(Listener(view)) == false {
            violate(
                5,
                "\(name(view)) is told position \(seq) of \(rooms[view.room].id), not meant for it: \(kind(of: body))"
            )
        }
        record(body, seq: seq, addressees, on: view)
        if let content = Content(of: body) { checkReplyFirst(content, on: view) }
        view.unplaced.append(seq)
        if seq > view.infoSeq, let fault = view.roster.apply(body) {
            violate(fault.invariant, "\(name(view)), position \(seq) of \(rooms[view.room].id): \(fault.what)")
        }
        follow(body, on: &view)
    }

    private mutating func follow(_ body: ServerMessage.Body, on view: inout CheckedLink) {
        switch body {
        case .frameSyncStarted(let info):
            if view.sync != 0 {
                violate(5, "\(name(view)): frame sync \(info.frameSyncId) starts while \(view.sync) runs")
            }
            if info.frameSyncId <= view.lastSync || view.lastSync != 0 && info.frameSyncId != view.lastSync + 1 {
                violate(5, "\(name(view)): frame sync \(info.frameSyncId) after \(view.lastSync)")
            }
            if let room = info.roomInfo { look(at: room, on: view) }
            told(timeMs: info.serverTime, on: &view)
            placeEvents(on: &view)
            view.sync = info.frameSyncId
            view.lastSync = info.frameSyncId
            view.frame = 0
        case .frameSyncStopped(let stopped):
            if stopped.frameSyncId != view.sync {
                violate(5, "\(name(view)): frame sync \(stopped.frameSyncId) stops, \(view.sync) runs")
            }
            placeEvents(on: &view)
            view.sync = 0
            view.frame = 0
        case .desyncDetected(let event):
            if !event.hashes.contains(where: { $0.hash != event.hashes[0].hash }) {
                violate(5, "\(name(view)): a desync of equal hashes")
            }
        case .playerKicked(let kicked) where kicked.playerId == players[view.player]:
            placeEvents(on: &view)
            view.leaveRoom()
        case .roomDismissed:
            rooms[view.room].isOver = true
            placeEvents(on: &view)
            view.leaveRoom()
        default: break
        }
    }

    /// False: it does not stand behind what was told.
    mutating func advance(to seq: UInt64, _ what: StreamWord, on view: inout CheckedLink) -> Bool {
        checkNewest(seq, on: view)
        if seq > view.seq { return true }
        violate(5, "\(name(view)): \(words(what)) has position \(seq) of \(rooms[view.room].id) after \(view.seq)")
        return false
    }

    /// The caller gets its reply before what it caused.
    private mutating func checkReplyFirst(_ content: Content, on view: CheckedLink) {
        guard content.device == view.device, content.kind != .message else { return }
        for (id, owed) in view.owed where owed > 0 {
            guard let request = runs[view.run].requests[id], request.content == content,
                request.firstLink == view.link, !request.wasDelayed, request.outcome == nil
            else { continue }
            violate(6, "\(name(view)): the event of \(content.text) comes before the reply to \(id)")
        }
    }

    mutating func told(timeMs: Int64, on view: inout CheckedLink) {
        if timeMs < view.toldMs {
            violate(11, "\(name(view)): told time fell from \(view.toldMs) to \(timeMs) in \(rooms[view.room].id)")
        }
        view.toldMs = timeMs
    }

    /// To whom an event goes, from what it says.
    private func addressees(of body: ServerMessage.Body, in room: Int) -> Addressees {
        switch body {
        case .playerEntered(let event): return .everyoneBut(number(ofPlayer: event.player?.id ?? ""))
        case .playerLeft(let event): return .everyoneBut(number(ofPlayer: event.playerId))
        case .playerOffline(let event): return .everyoneBut(number(ofPlayer: event.playerId))
        case .playerOnline(let event): return .everyoneBut(number(ofPlayer: event.playerId))
        case .playerKicked(let event):
            let kicked = number(ofPlayer: event.playerId)
            return rooms[room].spectators.contains(kicked) ? .unclear : .everyone
        case .customMessageReceived(let event):
            guard let content = Content(event.msg), let known = contents[content] else { return .unclear }
            return known.receivers.map { .only($0.filter { $0 != known.player }) } ?? .everyoneBut(known.player)
        default: return .everyone
        }
    }
}
