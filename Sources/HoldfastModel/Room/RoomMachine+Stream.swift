import HoldfastProtocol

/// The room's one ordered stream: telling it, and letting links read it from where they are.
extension RoomMachine {
    // MARK: Telling

    /// Gives the event its position, keeps it, and hands it to the links that listen.
    mutating func tell(_ body: ServerMessage.Body, _ audience: Audience, _ context: inout EntryContext) {
        seq += 1
        let message = ServerMessage(seq: seq, body: body)
        let bytes = Encoding.protobuf.encode(message)
        history.append(
            .init(seq: seq, timeMs: context.nowMs, audience: audience, protobuf: bytes), limits: context.limits.value)
        hand(StreamMessage(message: message, protobuf: bytes), to: audience, &context)
    }

    mutating func tell(_ frame: Frame, inputBytes: Int, in sync: UInt32, _ context: inout EntryContext) {
        seq += 1
        let bytes = Encoding.protobuf.encode(frame)
        history.append(
            .init(seq: seq, frameSyncID: sync, id: frame.id, inputBytes: inputBytes, protobuf: bytes),
            limits: context.limits.value)
        let message = ServerMessage(seq: seq, body: .frame(frame))
        do {
            let whole = try Encoding.protobuf.encode(storedFrame: bytes, seq: seq)
            hand(StreamMessage(message: message, protobuf: whole), to: .everyone, &context)
        } catch {
            preconditionFailure("in Protobuf a stored frame goes as it is: \(error.message)")
        }
    }

    private mutating func hand(_ message: StreamMessage, to audience: Audience, _ context: inout EntryContext) {
        let groups: LinkGroups
        var except: Link?
        switch audience {
        case .everyone: groups = gatherListeners()
        case .everyoneBut(let player):
            groups = gatherListeners()
            except = member(player)?.link
        case .only(let players):
            var few = LinkGroups()
            for player in players {
                if let member = member(player), member.reading == .live, let link = member.link { few.add(link) }
            }
            groups = few
        }
        for group in groups.groups {
            context.effects.append(
                .deliver(group.gateway, .stream(room: key.id, links: group.links, except: except, message)))
        }
    }

    private mutating func gatherListeners() -> LinkGroups {
        if let listeners { return listeners }
        var groups = LinkGroups()
        for member in players where member.reading == .live {
            if let link = member.link { groups.add(link) }
        }
        // In a set order, as every output must be.
        for member in spectators.values.sorted(by: { $0.player < $1.player }) where member.reading == .live {
            if let link = member.link { groups.add(link) }
        }
        listeners = groups
        return groups
    }

    // MARK: Beginning to read

    func joinedNow() -> RoomJoined {
        RoomJoined(room: info, roomSeq: seq, frameSync: frameSync?.info, snapshot: frameSync?.snapshot)
    }

    private func view(of member: RoomMember) -> SeatView {
        SeatView(room: key, claim: member.claim)
    }

    /// Tells `roomJoined`, and lets the link read on from there.
    mutating func beginStream(
        _ player: String, _ listener: Seating.Listener, _ joined: RoomJoined, _ context: inout EntryContext
    ) {
        let cursor = StreamCursor(seq: joined.roomSeq, frame: framePosition(after: joined))
        update(player) {
            $0.connection = listener.connection
            $0.link = listener.link
            $0.baseSeq = joined.roomSeq
            $0.reading = .past(cursor)
        }
        guard let member = member(player) else { return }
        context.deliver(listener.link, .joined(id: listener.id, joined, view(of: member)))
        catchUp(player, &context)
    }

    /// The reply to the call that led here, sent again: as of now.
    mutating func sendJoined(
        _ player: String, _ claim: Claim, _ connection: ConnectionNumber, _ link: Link, _ id: UInt32,
        _ context: inout EntryContext
    ) {
        guard let member = member(player, claim) else {
            context.send(.player(playerKey(player), .joinLost(claim, link, id: id)))
            return
        }
        guard connection >= member.connection else { return }
        if member.link != link {
            // The first was told to a link that is gone: for this one the stream begins now.
            if member.reading == .live { listeners = nil }
            beginStream(player, .init(link: link, connection: connection, id: id), joinedNow(), &context)
        } else if case .past = member.reading {
            update(player) { if $0.rejoins.count < context.limits.value.openRequests { $0.rejoins.append(id) } }
        } else {
            context.deliver(link, .joined(id: id, joinedNow(), view(of: member)))
        }
    }

    private func framePosition(after told: RoomJoined) -> Int {
        guard let sync = told.frameSync else { return framePosition(afterSeq: told.roomSeq) }
        return history.position(of: (told.snapshot?.frameId ?? 0) + 1, in: sync.frameSyncId)
    }

    private func framePosition(afterSeq seq: UInt64) -> Int {
        history.frames.firstPosition { $0.seq > seq }
    }

    /// Completes `connected`, and lets the stream go on from where the client says it is.
    mutating func attach(
        _ player: String, _ claim: Claim, _ template: AttachTemplate, _ context: inout EntryContext
    ) {
        guard let known = member(player, claim) else {
            context.send(.player(playerKey(player), .attachFailed(claim, template)))
            return
        }
        guard template.connection > known.connection else { return }
        if known.reading == .live { listeners = nil }
        update(player) {
            $0.connection = template.connection
            $0.link = template.link
            $0.reading = .nothing
            $0.rejoins = []
            if !template.resumed { $0.lastInput = 0 }
        }
        if !template.resumed { memories[player] = nil }
        comeOnline(player, &context)
        guard let member = member(player) else { return }
        history.trimEvents(nowMs: context.nowMs, limits: context.limits.value)

        let position = template.position.flatMap { $0.roomID == key.id ? $0 : nil }
        let eventSeq = position.flatMap { isUsable($0.roomSeq, for: member) ? $0.roomSeq : nil }
        let frame = position.flatMap { usableFrame($0, isSeqUsable: eventSeq != nil) }
        var attachment = Attachment(
            resumed: template.resumed, resumeToken: template.resumeToken, requests: template.requests)
        attachment.room = info
        attachment.roomSeq = seq
        attachment.roomRestarted = eventSeq == nil
        attachment.frameSync = frameSync?.info
        if eventSeq == nil, frame == nil { attachment.snapshot = frameSync?.snapshot }
        attachment.seat = view(of: member)
        attachment.seatRequests = memories[player]?.ids ?? []
        attachment.isSeatForgetful = memories[player]?.isForgetful ?? false
        context.deliver(template.link, .attached(id: template.id, attachment))

        let cursor = StreamCursor(
            seq: eventSeq ?? seq,
            frame: frame ?? eventSeq.map(framePosition(afterSeq:)) ?? framePosition(after: joinedNow()))
        update(player) {
            // A `roomJoined` that was told again may not have come: the stream began no later than where the client is.
            $0.baseSeq = eventSeq.map { [base = $0.baseSeq] in min(base, $0) } ?? attachment.roomSeq
            $0.reading = .past(cursor)
        }
        catchUp(player, &context)
    }

    /// A position counts when nothing after it is forgotten and it is not from before the member's own coming.
    private func isUsable(_ position: UInt64, for member: RoomMember) -> Bool {
        position >= max(1, member.joinedSeq) && position <= seq && position >= history.forgottenSeq
    }

    /// Of the running frame sync; of one that stopped while the client was away too, when its events can be followed:
    /// who was catching up has seen later events than frames.
    private func usableFrame(_ position: StreamPosition, isSeqUsable: Bool) -> Int? {
        let id = position.frameSyncID
        if let sync = frameSync, id == sync.id {
            return position.frameID <= sync.sealed ? history.position(of: position.frameID + 1, in: id) : nil
        }
        guard isSeqUsable, id != 0, position.frameID < .max, history.firstKept(of: id) != nil
        else { return nil }
        return history.position(of: position.frameID + 1, in: id)
    }

    mutating func detach(_ player: String, _ claim: Claim, _ connection: ConnectionNumber) {
        guard let member = member(player, claim), member.connection == connection else { return }
        if member.reading == .live { listeners = nil }
        update(player) { $0.stopReading() }
    }

    // MARK: Reading on

    mutating func pull(_ player: String, _ claim: Claim, _ link: Link, _ context: inout EntryContext) {
        guard let member = member(player, claim), member.link == link else { return }
        catchUp(player, &context)
    }

    /// Sends a link the next part of what it missed; at the end of it, the link gets what is told.
    mutating func catchUp(_ player: String, _ context: inout EntryContext) {
        guard let member = member(player), case .past(var cursor) = member.reading else { return }
        // What comes next for it was dropped while it read.
        if cursor.seq < history.forgottenSeq || cursor.frame < history.frames.startIndex {
            context.deliver(member.link, .lagging)
            return
        }
        var reader = PastReader(history: history, player: player, baseSeq: member.baseSeq, limits: context.limits.value)
        let part = reader.next(&cursor)
        context.deliver(member.link, .replay(room: key.id, part.messages, atHead: part.atHead))
        if part.atHead {
            goLive(player, &context)
        } else {
            update(player) { $0.reading = .past(cursor) }
        }
    }

    /// The seat of this member ends with what was just told.
    /// - Returns: whether its link gets that: not when it has much else to read first.
    mutating func catchUpAtTheEnd(_ player: String, _ context: inout EntryContext) -> Bool {
        catchUp(player, &context)
        guard let member = member(player), let link = member.link else { return false }
        if member.reading == .live { return true }
        context.deliver(link, .lagging)
        return false
    }

    private mutating func goLive(_ player: String, _ context: inout EntryContext) {
        listeners = nil
        var due: [UInt32] = []
        update(player) {
            $0.reading = .live
            due = $0.rejoins
            $0.rejoins = []
        }
        guard let member = member(player) else { return }
        for id in due {
            context.deliver(member.link, .joined(id: id, joinedNow(), view(of: member)))
        }
    }
}

/// Reads a room's kept stream for one member, in the order of positions.
struct PastReader {
    let history: StreamHistory
    let player: String
    let baseSeq: UInt64
    let limits: Limits

    /// About as much as one part holds; a single frame may be more.
    private var partBytes: Int { limits.frameBytesPerReply }

    init(history: StreamHistory, player: String, baseSeq: UInt64, limits: Limits) {
        self.history = history
        self.player = player
        self.baseSeq = baseSeq
        self.limits = limits
    }

    mutating func next(_ cursor: inout StreamCursor) -> (messages: [ReplayMessage], atHead: Bool) {
        var messages: [ReplayMessage] = []
        var bytes = 0
        var event = history.events.firstPosition { [seq = cursor.seq] in $0.seq > seq }
        cursor.frame = max(cursor.frame, history.frames.startIndex)
        while bytes < partBytes {
            let nextEvent = event < history.events.endIndex ? history.events[event] : nil
            let nextFrame = cursor.frame < history.frames.endIndex ? history.frames[cursor.frame] : nil
            if let nextFrame, nextFrame.seq < nextEvent?.seq ?? .max {
                let batch = frames(from: &cursor.frame, before: nextEvent?.seq ?? .max)
                bytes += batch.frames.reduce(0) { $0 + $1.count }
                messages.append(.frames(batch))
            } else if let nextEvent {
                if nextEvent.audience.includes(player) {
                    messages.append(.event(nextEvent.protobuf))
                    bytes += nextEvent.protobuf.count
                }
                cursor.seq = nextEvent.seq
                event += 1
            } else {
                return (messages, true)
            }
        }
        return (messages, false)
    }

    /// One `frames` message's worth.
    private func frames(from position: inout Int, before seq: UInt64) -> StoredFrames {
        let sync = history.frames[position].frameSyncID
        var batch = history.batch(from: &position, of: sync, limits: limits) { $0.seq < seq }
        // What was before the stream that the client has began counts nowhere.
        if batch.seq <= baseSeq { batch.seq = 0 }
        return batch
    }
}
