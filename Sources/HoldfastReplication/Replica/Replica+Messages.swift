import HoldfastProtocol

/// What other replicas say (design, rules 2, 3 and 5).
extension Replica {
    /// - Parameters:
    ///   - generation, epoch: of the sender.
    mutating func receive(
        _ message: ReplicaMessage, from sender: NodeID, generation: UInt64, epoch: UInt64, nowMs: Int64, wallMs: Int64,
        into effects: inout [ReplicaEffect]
    ) {
        wake(nowMs: nowMs, wallMs: wallMs)
        switch message {
        case .refuse(let record):
            if let record, record.revision > newest?.revision ?? 0 { return see(record, into: &effects) }
            if role != .none { askForRecord(into: &effects) }
        case .start(let record):
            guard record.record.generation == generation, record.record.epoch == epoch,
                record.record.primary == sender
            else { return }
            started(record, by: sender, into: &effects)
        case .invite(let record):
            guard record.record.generation == generation, record.record.epoch == epoch,
                record.record.primary == sender
            else { return }
            invited(record, by: sender, into: &effects)
        case .release(let record, let last):
            guard record.record.generation == generation, record.record.epoch == epoch,
                record.record.handover == sender
            else { return }
            released(record, last: last, by: sender, into: &effects)
        case .prepare(let first, let hashBefore, let entries, let committed):
            guard isOfThisEpoch(message, sender, generation, epoch, into: &effects) else { return }
            prepared(
                Attempt.Early(first: first, hashBefore: hashBefore, entries: entries, committed: committed),
                by: sender, into: &effects)
        case .snapshot(let index, let hash, let part, let parts, let bytes):
            guard isOfThisEpoch(message, sender, generation, epoch, into: &effects) else { return }
            snapshot(index: index, hash: hash, part: part, of: parts, bytes, by: sender, into: &effects)
        case .ack(let last, let hash, let digest):
            guard isOfThisEpoch(message, sender, generation, epoch, into: &effects) else { return }
            acknowledged(last, hash, digest, by: sender, into: &effects)
        case .position(let last, let hash, let tailFirst, let tail):
            guard isOfThisEpoch(message, sender, generation, epoch, into: &effects) else { return }
            positioned(
                Position(last: last, hash: hash, tailFirst: tailFirst, tail: tail), of: sender, into: &effects)
        case .offer(let last, let hash):
            guard isOfThisEpoch(message, sender, generation, epoch, into: &effects) else { return }
            offered(last, hash, by: sender, into: &effects)
        }
    }

    /// Lower epochs are refused; a higher one makes this replica look at the record before it does anything.
    private mutating func isOfThisEpoch(
        _ message: ReplicaMessage, _ sender: NodeID, _ generation: UInt64, _ epoch: UInt64,
        into effects: inout [ReplicaEffect]
    ) -> Bool {
        if generation == self.generation, epoch == self.epoch { return role != .none }
        guard (generation, epoch) < (self.generation, self.epoch) else {
            askForRecord(into: &effects)
            return false
        }
        switch message {
        case .prepare(let first, let hashBefore, let entries, _):
            if settings.mutations.contains(.oldEpoch), role == .backup || role == .primary, !entries.isEmpty,
                log.last >= first + UInt64(entries.count) - 1
            {
                effects.append(
                    .send(
                        sender, generation: generation, epoch: epoch,
                        .ack(
                            last: first + UInt64(entries.count) - 1,
                            hash: ReplicaLog.next(hashBefore, first: first, entries), digest: nil), isBulk: false))
                return false
            }
            send(.refuse(newest), to: sender, into: &effects)
        case .snapshot: send(.refuse(newest), to: sender, into: &effects)
        case .ack:
            return settings.mutations.contains(.ackEpoch) && generation == self.generation && role == .primary
        // An answer that comes late; who gave it knows the record by now, or will soon.
        case .position, .offer, .start, .invite, .release, .refuse: break
        }
        return false
    }

    /// Not for every message: what is asked for is on its way.
    mutating func askForRecord(into effects: inout [ReplicaEffect]) {
        guard nowMs - readMs >= settings.resendMs else { return }
        readMs = nowMs
        effects.append(.readRecord)
    }

    /// The link to a node has lost something: what that may have been is sent again at once.
    mutating func linkReset(with peer: NodeID, nowMs: Int64, wallMs: Int64, into effects: inout [ReplicaEffect]) {
        wake(nowMs: nowMs, wallMs: wallMs)
        for i in lead.backups.indices where lead.backups[i].node == peer { lead.backups[i].resendMs = nowMs }
        if lead.learner?.peer.node == peer { lead.learner?.dueMs = nowMs }
        if releasing?.record.record.primary == peer { releasing?.dueMs = nowMs }
        resend(into: &effects)
    }

    // MARK: Prepare and ack

    private mutating func prepared(
        _ early: Attempt.Early, by sender: NodeID, into effects: inout [ReplicaEffect]
    ) {
        switch role {
        case .none, .primary: return
        case .backup: guard record?.record.primary == sender else { return }
        case .learner: guard attempt?.feeder == sender else { return }
        }
        let last = log.last
        switch takeEntries(early) {
        case .taken:
            if !early.entries.isEmpty { acknowledge(to: sender, into: &effects) }
        case .ahead:
            keepEarly(early)
            if settings.mutations.contains(.gap), role == .backup, !early.entries.isEmpty {
                send(
                    .ack(
                        last: early.first + UInt64(early.entries.count) - 1,
                        hash: ReplicaLog.next(early.hashBefore, first: early.first, early.entries), digest: nil),
                    to: sender, into: &effects)
            }
        case .differs:
            if role == .learner, attempt?.isFed == false { return keepEarly(early) }
            effects.append(.alarm("the primary's log differs at \(early.first) (here \(last))"))
        case .unreadable: effects.append(.alarm("unreadable entry after \(log.last)"))
        }
    }

    enum Taken {
        case taken
        case ahead
        case differs
        case unreadable
    }

    /// Takes those that follow what is here, if all before them are the same.
    mutating func takeEntries(_ early: Attempt.Early) -> Taken {
        guard early.first > 0, early.first <= log.last + 1 else { return .ahead }
        let known = Int(clamping: log.last + 1 - early.first)
        let end = log.last - UInt64(known) + UInt64(min(known, early.entries.count))
        let hash = ReplicaLog.next(early.hashBefore, first: early.first, early.entries.prefix(known))
        // What is older than all that is kept has been compared when it came first.
        if let own = log.hash(at: end) {
            guard own == hash else { return .differs }
            attempt?.isFed = true
        }
        for bytes in early.entries.dropFirst(known) {
            guard take(bytes) else { return .unreadable }
        }
        raiseCommitted(early.committed)
        return .taken
    }

    mutating func acknowledge(to primary: NodeID, into effects: inout [ReplicaEffect]) {
        let digest = hasNewDigest ? digests.last : nil
        hasNewDigest = false
        send(.ack(last: log.last, hash: log.hash, digest: digest), to: primary, into: &effects)
    }

    private mutating func acknowledged(
        _ last: UInt64, _ hash: UInt64, _ digest: StateDigest?, by sender: NodeID,
        into effects: inout [ReplicaEffect]
    ) {
        guard role == .primary, last <= log.last else { return }
        let isLearner = lead.learner?.peer.node == sender
        let i = lead.backups.firstIndex { $0.node == sender }
        guard isLearner || i != nil, let own = log.hash(at: last) else { return }
        guard own == hash else {
            return distrust(sender, "log of \(sender) differs at \(last)", into: &effects)
        }
        if let digest, let mine = digests.first(where: { $0.index == digest.index }), mine != digest {
            return distrust(sender, "state of \(sender) differs at \(digest.index)", into: &effects)
        }
        if let i {
            var peer = lead.backups[i]
            acknowledge(&peer, last, into: &effects)
            lead.backups[i] = peer
        } else {
            fed(last, into: &effects)
        }
        commit(into: &effects)
        addIfReady(into: &effects)
    }

    /// A replica that is not what it should be is no help.
    private mutating func distrust(_ node: NodeID, _ reason: String, into effects: inout [ReplicaEffect]) {
        effects.append(.alarm(reason))
        if lead.learner?.peer.node == node {
            if !isJoint { endAttempt() }
            return
        }
        if !lead.unwanted.contains(node) { lead.unwanted.append(node) }
        swapUnwanted(into: &effects)
    }

    // MARK: Start and position

    private mutating func started(
        _ seen: VersionedRecord, by sender: NodeID, into effects: inout [ReplicaEffect]
    ) {
        see(seen, into: &effects)
        if role == .backup, let record, record.revision < seen.revision {
            // Decided hand-overs are put off until now: this one has been carried out, or is older than the newest.
            consider(seen, isForced: true, into: &effects)
            if let newest, newest.revision > seen.revision { consider(newest, into: &effects) }
        }
        if role == .backup, record?.revision == seen.revision {
            releasing = nil
            let first = max(committed, log.base) + 1
            guard let tail = log.entries(from: first, through: log.last, count: .max, bytes: .max) else { return }
            send(
                .position(last: log.last, hash: log.hash, tailFirst: first, tail: tail), to: sender,
                into: &effects)
        } else if let newest, newest.revision > seen.revision {
            send(.refuse(newest), to: sender, into: &effects)
        }
    }

    private mutating func positioned(
        _ position: Position, of sender: NodeID, into effects: inout [ReplicaEffect]
    ) {
        guard role == .primary, let i = lead.backups.firstIndex(where: { $0.node == sender }) else { return }
        if lead.isStarted {
            // It has adopted this epoch, and that is all it said that an acknowledgement would not have.
            acknowledged(position.last, position.hash, nil, by: sender, into: &effects)
            guard i < lead.backups.count, lead.backups[i].node == sender else { return }
            if position.last < lead.backups[i].sentBefore, lead.backups[i].acked == position.last {
                lead.backups[i].sent = position.last
                lead.backups[i].sentBefore = 0
                prepareNext(i, into: &effects)
            }
            return
        }
        lead.positions[sender] = position
        if lead.backups.allSatisfy({ lead.positions[$0.node] != nil }), !lead.isHalted { reconcile(into: &effects) }
    }

    /// All logs are prefixes of one: the longest has everything that was ever told.
    private mutating func reconcile(into effects: inout [ReplicaEffect]) {
        var longest: (NodeID, Position)?
        for peer in lead.backups {
            guard let position = lead.positions[peer.node] else { return }
            if position.last > longest?.1.last ?? log.last { longest = (peer.node, position) }
        }
        if let (node, position) = longest, !extend(by: position) {
            return halt("log of \(node) does not go on from \(log.last)", into: &effects)
        }
        for i in lead.backups.indices {
            guard let position = lead.positions[lead.backups[i].node] else { return }
            guard log.hash(at: position.last) == position.hash else {
                return halt("log of \(lead.backups[i].node) differs at \(position.last)", into: &effects)
            }
            lead.backups[i].acked = settings.mutations.contains(.baseForgotten) ? nil : position.last
            lead.backups[i].sent = position.last
            lead.backups[i].awaited = position.last < log.last ? log.last : nil
        }
        lead.flushed = log.last
        open(into: &effects)
        for i in lead.backups.indices where lead.backups[i].sent < log.last {
            prepareNext(i, into: &effects)
        }
    }

    private mutating func extend(by position: Position) -> Bool {
        guard position.tailFirst > 0, position.tailFirst <= log.last + 1 else { return false }
        let known = log.last + 1 - position.tailFirst
        let rest = position.tail.dropFirst(Int(clamping: known))
        guard ReplicaLog.next(log.hash, first: log.last + 1, rest) == position.hash,
            log.last + UInt64(rest.count) == position.last
        else { return false }
        let before = offsetMs
        for bytes in rest {
            guard take(bytes) else { return false }
        }
        offsetMs = max(offsetMs, before)
        return true
    }

    private mutating func halt(_ reason: String, into effects: inout [ReplicaEffect]) {
        lead.isHalted = true
        effects.append(.alarm("halted: \(reason)"))
    }
}
