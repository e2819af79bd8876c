import HoldfastProtocol

/// Who is told to be away, and when (invariants 11, 12); the end of a run (6, 7, 16).
extension ClientChecker {
    // MARK: Presence

    mutating func presence(_ body: ServerMessage.Body, seq: UInt64, on view: CheckedLink) {
        let room = view.room
        switch body {
        case .playerOffline(let event):
            let player = number(ofPlayer: event.playerId)
            guard let seat = attachment(of: player, before: seq, in: room), let link = links[seat.link.index] else {
                break
            }
            check(player, link, afterMs: offlineAfterMs, "offline", at: seq, in: room)
        case .playerLeft(let event):
            let player = number(ofPlayer: event.playerId)
            guard let seat = attachment(of: player, before: seq, in: room), let link = links[seat.link.index],
                leaveSentMs[player] < seat.connectMs, lost.isEmpty
            else { break }
            check(player, link, afterMs: resumeWindowMs, "left", at: seq, in: room)
        default: break
        }
    }

    private func attachment(of player: Int, before seq: UInt64, in room: Int) -> RoomTruth.Attachment? {
        var found: RoomTruth.Attachment?
        for attachment in rooms[room].attachments[player] ?? [] where attachment.seq < seq {
            if found.map({ $0.seq <= attachment.seq }) ?? true { found = attachment }
        }
        return found
    }

    private mutating func check(
        _ player: Int, _ link: CheckedLink, afterMs: Int64, _ what: String, at seq: UInt64, in room: Int
    ) {
        if !link.isClosed, !link.isDisturbed, newestLink[link.device] == link.link,
            !mayHaveBegunRun(player, since: link.connectMs, besides: link.link)
        {
            violate(
                12, "\(name(link)) stands, and \(players[player]) is told to be \(what) at \(seq) of \(rooms[room].id)")
            return
        }
        // When the link was dropped at the earliest.
        let dropMs = link.isCutByClient && !link.isDisturbed ? link.closedMs : link.connectMs
        var dueMs = dropMs + afterMs
        for epochMs in epochs[homes[player]] ?? [] where epochMs <= dueMs {
            dueMs = max(dueMs, epochMs + Self.holdOffMs)
        }
        if nowMs + clockSlackMs < dueMs {
            violate(
                11,
                "\(players[player]) is told to be \(what) at \(seq) of \(rooms[room].id); dropped at \(dropMs) at the "
                    + "earliest, that is due at \(dueMs)"
            )
        }
    }

    // MARK: The end

    /// How a client's own machine stands at the end.
    public struct Rest: Sendable {
        public let device: Int
        /// It is to be connected: neither at rest nor replaced.
        public let isWanted: Bool
        public let isOnline: Bool
        public let openCalls: Int

        public init(device: Int, isWanted: Bool, isOnline: Bool, openCalls: Int) {
            self.device = device
            self.isWanted = isWanted
            self.isOnline = isOnline
            self.openCalls = openCalls
        }
    }

    /// After 10 s in which nothing was broken and clients asked nothing new.
    public mutating func atEnd(_ rests: [Rest], nowMs: Int64) {
        time(nowMs)
        for rest in rests where rest.isWanted {
            let who = "\(players[owners[rest.device]])/\(rest.device)"
            if !rest.isOnline { violate(16, "\(who) is not connected at the end") }
            if rest.openCalls > 0 { violate(16, "\(who) has \(rest.openCalls) open calls at the end") }
        }
        let live = links.compactMap { $0 }.filter { !$0.isClosed && $0.isConnected && newestLink[$0.device] == $0.link }
        for link in live { atEnd(link) }
        atEndOfContents(live)
        atEndOfInputs()
    }

    private mutating func atEnd(_ link: CheckedLink) {
        for (id, owed) in link.owed.sorted(by: { $0.key < $1.key }) where owed > 0 {
            violate(
                6, "\(name(link)): request \(id) (\(runs[link.run].requests[id]?.asked ?? .other)) was not answered")
        }
        if let room = link.awaitsEnd { violate(5, "\(name(link)): its seat in \(room) ended, and it was not told how") }
        for number in link.inputs {
            let input = inputs[link.device][number - 1]
            guard input.isOnOneLink, input.firstLink == link.link, input.firstMs + 5_000 < nowMs, input.refusals == 0,
                input.place == nil
            else { continue }
            violate(7, "\(name(link)): input \(number) is neither refused nor in a frame")
        }
        guard link.room >= 0 else { return }
        let room = rooms[link.room]
        for (index, position) in room.positions.enumerated().dropFirst(Int(link.seq)) {
            guard position.sum != 0, position.toldMs + 1_000 < nowMs else { continue }
            if position.isFrame || position.addressees.include(Listener(link)) == true {
                violate(
                    16,
                    "\(name(link)) is at \(link.seq) of \(room.id), and \(index + 1) was told "
                        + "\(nowMs - position.toldMs) ms ago"
                )
                return
            }
        }
    }

    /// What was answered as done has been told to who heard the room all the time since.
    private mutating func atEndOfContents(_ live: [CheckedLink]) {
        var missing: [(Content, CheckedContent)] = []
        for (content, known) in contents where known.okRoom != nil && known.place == nil {
            missing.append((content, known))
        }
        missing.sort { ($0.0.device, $0.0.kind.rawValue, $0.0.number) < ($1.0.device, $1.0.kind.rawValue, $1.0.number) }
        for (content, known) in missing {
            guard let room = known.okRoom, !rooms[room].isLost, !rooms[room].isOver, known.okMs + 1_000 < nowMs else {
                continue
            }
            let witness = live.first { link in
                guard link.room == room, link.sinceMs < known.firstMs else { return false }
                if content.kind != .message { return true }
                if link.player == known.player { return false }
                return known.receivers.map { $0.contains(link.player) && !link.isSpectator } ?? true
            }
            guard let witness else { continue }
            violate(1, "\(content.text) was answered as done, and \(name(witness)) was never told of it")
        }
    }

    /// Inputs whose frames were not heard in their order.
    private mutating func atEndOfInputs() {
        for device in inputs.indices {
            var before: CheckedInput.Placed?
            for (index, input) in inputs[device].enumerated() {
                guard let place = input.place else { continue }
                if let before, before.room == place.room, before.sync == place.sync, before.frame > place.frame {
                    violate(
                        7,
                        "input \(index + 1) of \(players[owners[device]])/\(device) stands in frame \(place.frame), "
                            + "an earlier one in \(before.frame)"
                    )
                }
                before = place
            }
        }
    }
}
