import HoldfastProtocol

/// Entries: made, sent, acknowledged, committed (design, rule 3).
extension Replica {
    typealias Entry = LogEntry<Machine.Command>

    /// Notes the time of a call. When this node was held up itself, nobody is blamed for what it did not hear.
    mutating func wake(nowMs: Int64, wallMs: Int64? = nil) {
        if nowMs - self.nowMs > settings.stallMs {
            for i in lead.backups.indices {
                lead.backups[i].stuckMs = max(lead.backups[i].stuckMs, nowMs + settings.stuckMs)
            }
            if role == .primary, !lead.isStarted { lead.adoptedMs = nowMs }
        }
        self.nowMs = max(self.nowMs, nowMs)
        if let wallMs { self.wallMs = wallMs }
    }

    // MARK: At the primary

    /// Logs something.
    /// - Parameter direct: a gateway in this process whose items are taken as soon as they are made, if there is no
    ///   other replica; they are to be fetched by `takeDirect` of the state at once.
    /// - Precondition: `isOpen`.
    mutating func append(
        _ body: EntryBody<Machine.Command>, random: (UInt64, UInt64), isPatient: Bool, direct: GatewayID? = nil,
        nowMs: Int64, into effects: inout [ReplicaEffect]
    ) {
        precondition(isOpen)
        wake(nowMs: nowMs)
        if isAlone { state?.direct = direct }
        log(body, random: random, isPatient: isPatient, into: &effects)
    }

    mutating func log(
        _ body: EntryBody<Machine.Command>, random: (UInt64, UInt64), isPatient: Bool,
        into effects: inout [ReplicaEffect]
    ) {
        let entry = Entry(
            index: log.last + 1, timeMs: shardTimeMs, random: random, receipts: takeReceipts(), body: body)
        let released = state?.releaseCount()
        state?.apply(entry)
        state?.direct = nil
        if isAlone {
            log.appendAlone(epoch: epoch)
            isPrivate = true
            lead.flushed = log.last
            commit(into: &effects)
            return
        }
        var writer = StateWriter()
        entry.encode(into: &writer)
        log.append(writer.bytes)
        isPrivate = false
        takeDigest()
        // Somebody waits for what it says after all.
        if isPatient, state?.releaseCount() == released {
            if lead.patientMs == nil { lead.patientMs = nowMs }
            commit(into: &effects)
        } else {
            flush(into: &effects)
        }
    }

    private mutating func takeReceipts() -> [ChannelReceipt] {
        guard !lead.receipts.isEmpty else { return [] }
        let receipts = ChannelReceipt.inOrder(lead.receipts)
        lead.receipts = []
        lead.receiptsMs = nil
        return receipts
    }

    /// What a receiver has taken out of this shard's outboxes. Alone it is forgotten at once, if nobody can have the
    /// state that is changed by that; else it goes with the next entry.
    mutating func note(_ receipt: ChannelReceipt, nowMs: Int64, into effects: inout [ReplicaEffect]) {
        guard isStarted, !lead.isFrozen, state?.isNews(receipt) == true else { return }
        wake(nowMs: nowMs)
        if isAlone, isPrivate {
            self.state?.take(receipt)
            return
        }
        if let i = lead.receipts.firstIndex(where: { $0.isOfSameChannel(as: receipt) }) {
            if lead.receipts[i].through < receipt.through { lead.receipts[i] = receipt }
        } else {
            lead.receipts.append(receipt)
        }
        if lead.receiptsMs == nil { lead.receiptsMs = nowMs }
    }

    /// Sends what is logged to all that keep up.
    mutating func flush(into effects: inout [ReplicaEffect]) {
        let before = lead.flushed
        lead.flushed = log.last
        lead.patientMs = nil
        for i in lead.backups.indices {
            var peer = lead.backups[i]
            flush(&peer, before: before, into: &effects)
            lead.backups[i] = peer
        }
        if var peer = lead.learner?.peer, lead.learner?.takesEntries == true {
            flush(&peer, before: before, into: &effects)
            lead.learner?.peer = peer
        }
        commit(into: &effects)
    }

    private func flush(_ peer: inout Peer, before: UInt64, into effects: inout [ReplicaEffect]) {
        if peer.awaited == nil {
            peer.awaited = log.last
            peer.stuckMs = nowMs + settings.stuckMs
            peer.resendMs = nowMs + settings.resendMs
        }
        // One that lacks older ones gets these after them, as it acknowledges.
        guard peer.sent >= before else { return }
        while peer.sent < log.last, prepare(&peer, into: &effects) {}
    }

    /// Sends the next entries.
    /// - Returns: false when they are not kept any more.
    func prepare(_ peer: inout Peer, into effects: inout [ReplicaEffect]) -> Bool {
        guard let hashBefore = log.hash(at: peer.sent),
            let entries = log.entries(
                from: peer.sent + 1, through: lead.flushed, count: settings.prepareEntries,
                bytes: settings.prepareBytes)
        else { return false }
        send(
            .prepare(first: peer.sent + 1, hashBefore: hashBefore, entries: entries, committed: committed),
            to: peer.node, into: &effects)
        peer.sent += UInt64(entries.count)
        return !entries.isEmpty
    }

    mutating func prepareNext(_ backup: Int, into effects: inout [ReplicaEffect]) {
        var peer = lead.backups[backup]
        _ = prepare(&peer, into: &effects)
        lead.backups[backup] = peer
    }

    /// A replica has the log up to here, as it says in this epoch.
    func acknowledge(_ peer: inout Peer, _ last: UInt64, into effects: inout [ReplicaEffect]) {
        if peer.acked.map({ last > $0 }) ?? true {
            peer.acked = last
            peer.resendMs = nowMs + settings.resendMs
        }
        peer.sent = max(peer.sent, last)
        if let awaited = peer.awaited, last >= awaited {
            peer.awaited = last < lead.flushed ? lead.flushed : nil
            peer.stuckMs = nowMs + settings.stuckMs
        }
        if peer.sent == last, last < lead.flushed { _ = prepare(&peer, into: &effects) }
    }

    /// Raises `committed` to what all have that count: nothing is told that could be lost or taken back.
    mutating func commit(into effects: inout [ReplicaEffect]) {
        guard isStarted else { return }
        var least = log.last
        for peer in lead.backups { least = min(least, peer.acked ?? 0) }
        if let learner = lead.learner, learner.isJoint, !settings.mutations.contains(.noJoint) {
            least = min(least, learner.peer.acked ?? 0)
        }
        if least > committed {
            committed = least
            trim()
        }
        releaseIfDone(into: &effects)
    }

    // MARK: At backups and learners

    /// Milliseconds that one can calculate with.
    static var times: ClosedRange<Int64> { -1 << 60...1 << 60 }

    /// Applies the next entry.
    /// - Returns: false when the bytes are not such an entry.
    mutating func take(_ bytes: [UInt8]) -> Bool {
        var reader = StateReader(bytes)
        guard let entry = try? Entry(from: &reader), reader.isAtEnd, entry.index == log.last + 1, state != nil,
            Self.times.contains(entry.timeMs)
        else { return false }
        if case .epochStart(_, let wallMs) = entry.body, !Self.times.contains(wallMs) { return false }
        state?.apply(entry)
        // Who is no primary sends nothing: if it becomes one, it looks at the outboxes themselves.
        state?.releases = Outbox()
        log.append(bytes)
        isPrivate = false
        if let timeMs = state?.timeMs, !settings.mutations.contains(.nodeClock) { offsetMs = timeMs - nowMs }
        takeDigest()
        return true
    }

    mutating func raiseCommitted(_ index: UInt64) {
        committed = max(committed, min(index, log.last))
        trim()
    }

    private mutating func trim() {
        log.trim(committed: committed, count: settings.keptEntries, bytes: settings.keptBytes)
    }

    private mutating func takeDigest() {
        guard log.last % settings.digestEvery == 0, let state else { return }
        digests.append(StateDigest(index: log.last, value: state.digest()))
        if digests.count > 64 { digests.removeFirst(32) }
        hasNewDigest = true
    }

    // MARK: Time (design, rule 13)

    /// What an entry gets that is made now.
    var shardTimeMs: Int64 {
        mutating get { max(state?.newestTimeMs() ?? .min, nowMs + offsetMs) }
    }

    /// When the machine must be given an entry at the latest, by this node's clock; nil also while this is not open.
    mutating func nextEntryMs() -> Int64? {
        guard isOpen, let deadline = state?.nextDeadlineMs() else { return nil }
        let (time, overflow) = deadline.subtractingReportingOverflow(offsetMs)
        return overflow ? nil : time
    }

    // MARK: Sending

    func send(_ message: ReplicaMessage, to peer: NodeID, isBulk: Bool = false, into effects: inout [ReplicaEffect]) {
        effects.append(
            .send(peer, generation: generation, epoch: epoch, message, isBulk: isBulk))
    }
}

extension Replica.Learner {
    /// While it has no state, it keeps the entries that come after that.
    var takesEntries: Bool {
        switch phase {
        case .invited: false
        case .snapshot, .fed: true
        }
    }
}

extension ChannelReceipt {
    var through: UInt64 {
        switch self {
        case .gateway(_, _, let through), .shard(_, _, let through): through
        }
    }

    func isOfSameChannel(as other: ChannelReceipt) -> Bool {
        switch (self, other) {
        case (.gateway(let a, let s, _), .gateway(let b, let t, _)): a == b && s == t
        case (.shard(let a, let g, _), .shard(let b, let h, _)): a == b && g == h
        case (.gateway, .shard), (.shard, .gateway): false
        }
    }

    /// Any order that is the same everywhere.
    static func inOrder(_ receipts: [ChannelReceipt]) -> [ChannelReceipt] { receipts.sorted(by: isBefore) }

    private static func isBefore(_ one: ChannelReceipt, _ other: ChannelReceipt) -> Bool {
        switch (one, other) {
        case (.gateway(let a, let s, _), .gateway(let b, let t, _)): a != b ? a < b : s < t
        case (.shard(let a, let g, _), .shard(let b, let h, _)): a != b ? a < b : g < h
        case (.gateway, .shard): true
        case (.shard, .gateway): false
        }
    }
}

extension ShardState {
    /// Whether a receipt is about something that is still kept here.
    mutating func isNews(_ receipt: ChannelReceipt) -> Bool {
        switch receipt {
        case .gateway(let gateway, let session, let through):
            guard let channel = gateways[gateway], channel.session == session else { return false }
            return !channel.outbox.isEmpty && through >= channel.outbox.first
        case .shard(let shard, let generation, let through):
            guard let peer = peers[shard], peer.generation == generation else { return false }
            return !peer.outbox.isEmpty && through >= peer.outbox.first
        }
    }
}
