import HoldfastProtocol

/// Connect, resume and drop.
extension PlayerMachine {
    /// A connect that was sent to this shard and given up may still arrive, whenever the network lets it. That must not
    /// end the run that the client has begun since, whether its link stands or was dropped and is about to be resumed,
    /// nor a connect that is being asked after: only one that is still wanted may.
    mutating func attach(_ request: AttachRequest, _ context: inout EntryContext) {
        if case .token = request.credential, run != nil || !replacing.isEmpty, run?.link != request.link {
            replacing.append(request)
            // More than any client opens at a time: the oldest has waited longest.
            if replacing.count > Self.connectsAskedAfter {
                context.deliver(replacing.removeFirst().link, .replaced)
            }
            context.deliver(request.link, .confirmAttach(id: request.id))
            return
        }
        perform(request, &context)
    }

    static let connectsAskedAfter = 8

    mutating func attachConfirmed(_ link: Link, _ context: inout EntryContext) {
        guard let place = replacing.firstIndex(where: { $0.link == link }) else { return }
        // Those before it came before it: their words, should they be on their way, must not end what it begins.
        for older in replacing[..<place] { context.deliver(older.link, .replaced) }
        let request = replacing[place]
        replacing.removeFirst(place + 1)
        perform(request, &context)
    }

    private mutating func perform(_ request: AttachRequest, _ context: inout EntryContext) {
        let connection = context.index
        var position: StreamPosition?
        switch request.credential {
        case .resume(let token, let at, let tokenPlayer):
            guard let run, ResumeToken.isEqual(run.resumeToken, token) else {
                context.deliver(request.link, .attachRefused(id: request.id, .resumeDead))
                return
            }
            if let tokenPlayer, tokenPlayer != key {
                context.deliver(request.link, .attachRefused(id: request.id, .otherPlayer))
                return
            }
            context.deliver(run.link, .takenOver)
            position = at
        case .token(let name, let avatar):
            context.deliver(run?.link, .replaced)
            beginRun(name: name, avatar: avatar, connection: connection, &context)
        }
        run?.link = request.link
        run?.connection = connection
        run?.droppedAtMs = nil
        run?.offlineTold = false
        attaching = nil
        guard let run else { return }
        let template = AttachTemplate(
            link: request.link, connection: connection, id: request.id, resumed: position != nil,
            resumeToken: run.resumeToken, position: position, requests: digest())
        switch place {
        case .claiming, .leaving: pendingAttach = template
        // No call of this run is to be answered with the seat that may still come of it.
        case .matching where open == nil: pendingAttach = template
        case .matching(_, let claim, _):
            // The client may have heard of its room before this shard has: then the room is asked first.
            if let room = position?.roomID, !room.isEmpty {
                attach(to: room, claim, template, &context)
            } else {
                settle(template, &context)
            }
        case .free, .seated: settle(template, &context)
        }
    }

    /// A new run takes nothing of the one before but the seat.
    private mutating func beginRun(
        name: String, avatar: String, connection: ConnectionNumber, _ context: inout EntryContext
    ) {
        memory = RequestMemory()
        lastInput = 0
        open = nil
        waiting = []
        ended = nil
        pendingAttach = nil
        verifying = nil
        if case .matching(let pool, let claim, _) = place {
            // The room may have told of the seat already, and a seat does not belong to the run: it is given up only
            // when nobody has found one.
            asked?.isCancelled = true
            context.send(.pool(pool, .cancel(player: key.id, claim)))
        }
        let token = ResumeToken.make(for: key, secret: context.randomness.secret())
        run = Run(
            resumeToken: token, link: nil, connection: connection, firstConnection: connection, name: name,
            avatar: avatar)
    }

    private func digest() -> RequestDigest {
        var digest = RequestDigest(executed: memory.ids, forgetful: memory.isForgetful)
        if let open, open.id != 0 { digest.open.append(.init(id: open.id, isSeatCall: true)) }
        for call in waiting where call.id != 0 { digest.open.append(.init(id: call.id, isSeatCall: true)) }
        return digest
    }

    /// Answers an attach, now that it is known where the player sits.
    mutating func settle(_ old: AttachTemplate, _ context: inout EntryContext) {
        var template = old
        template.requests = digest()
        if case .seated(let room, let claim) = place {
            attach(to: room, claim, template, &context)
            return
        }
        var attachment = Attachment(
            resumed: template.resumed, resumeToken: template.resumeToken, requests: template.requests)
        attachment.ended = unseenEnd(template)
        context.deliver(template.link, .attached(id: template.id, attachment))
    }

    private mutating func attach(
        to room: String, _ claim: Claim, _ template: AttachTemplate, _ context: inout EntryContext
    ) {
        attaching = RoomAttach(room: room, template: template)
        context.send(.room(RoomKey(project: key.project, id: room), .attach(player: key.id, claim, template)))
    }

    /// The event that ended the seat, if the client cannot have seen it.
    private mutating func unseenEnd(_ template: AttachTemplate) -> ServerMessage.Body? {
        guard let ended, let position = template.position else { return nil }
        let missed = position.roomID == ended.roomID && position.roomSeq < ended.seq
        guard missed || ended.unseen && !isEndTold else { return nil }
        isEndTold = true
        return ended.body
    }

    mutating func detach(_ link: Link, _ context: inout EntryContext) {
        replacing.removeAll { $0.link == link }
        guard let run, run.link == link || context.limits.mutations.contains(.lateClose) else { return }
        self.run?.link = nil
        self.run?.droppedAtMs = context.nowMs
        self.run?.offlineTold = false
        if pendingAttach?.link == link { pendingAttach = nil }
        attaching = nil
        switch place {
        case .seated(let room, let claim), .leaving(let room, let claim):
            detachSeat(room, claim, run.connection, &context)
        // The seat is detached when it is there.
        case .free, .claiming, .matching: break
        }
    }

    func detachSeat(
        _ room: String, _ claim: Claim, _ connection: ConnectionNumber, _ context: inout EntryContext
    ) {
        let key = RoomKey(project: key.project, id: room)
        context.send(.room(key, .detach(player: self.key.id, claim, connection)))
    }

    mutating func disconnect(_ link: Link, _ id: UInt32, _ context: inout EntryContext) {
        guard run?.link == link else { return }
        endRun(.disconnected, &context)
        context.deliver(link, .disconnected(id: id))
    }
}

/// The token with which a run is resumed. It names the player, so that any gateway finds the player's shard, and holds
/// a secret that only the run's client has.
public enum ResumeToken {
    static func make(for player: PlayerKey, secret: String) -> String {
        "\(hex(player.project)).\(hex(player.id)).\(secret)"
    }

    /// Whose it says that it is; nil when it is none of ours.
    public static func player(of token: String) -> PlayerKey? {
        guard token.utf8.count <= 1024 else { return nil }
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let project = text(parts[0]), let id = text(parts[1]) else { return nil }
        return PlayerKey(project: project, id: id)
    }

    /// Compares in a time that does not tell how much of it is right.
    static func isEqual(_ a: String, _ b: String) -> Bool {
        let x = Array(a.utf8)
        let y = Array(b.utf8)
        guard x.count == y.count else { return false }
        var difference: UInt8 = 0
        for i in x.indices { difference |= x[i] ^ y[i] }
        return difference == 0
    }

    private static func hex(_ text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var out: [UInt8] = []
        for byte in text.utf8 {
            out.append(digits[Int(byte >> 4)])
            out.append(digits[Int(byte & 15)])
        }
        return String(decoding: out, as: UTF8.self)
    }

    private static func text(_ hex: Substring) -> String? {
        let digits = Array(hex.utf8)
        guard !digits.isEmpty, digits.count % 2 == 0 else { return nil }
        var out: [UInt8] = []
        for i in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[i]), let low = value(digits[i + 1]) else { return nil }
            out.append(high << 4 | low)
        }
        return String(validating: out, as: UTF8.self)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
