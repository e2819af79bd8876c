import HoldfastProtocol

/// Changes of the record (design, rules 4, 5 and 7), and the hand-over.
extension Replica {
    /// One at a time; what is in doubt may be overtaken by another from the same revision.
    var canSwap: Bool { maySwap && (swap?.isInDoubt ?? true) }

    /// A swap was asked for and has not been answered.
    var awaitsSwap: Bool { swap?.isInDoubt == false }

    mutating func ask(from revision: UInt64, to record: ShardRecord, into effects: inout [ReplicaEffect]) {
        swap = Swap(from: revision, to: record, confirms: lead.isUnconfirmed)
        effects.append(.swap(from: revision, to: record))
    }

    /// What came of the swap that was asked for.
    mutating func swapEnded(
        _ result: SwapResult, nowMs: Int64, wallMs: Int64, into effects: inout [ReplicaEffect]
    ) {
        wake(nowMs: nowMs, wallMs: wallMs)
        guard let ended = swap, !ended.isInDoubt else { return }
        switch result {
        case .won(let revision):
            swap = nil
            see(VersionedRecord(ended.to, revision: revision), into: &effects)
            if ended.confirms { lead.isUnconfirmed = false }
        case .lost(let record):
            swap = nil
            see(record, into: &effects)
        case .inDoubt:
            if ended.isSettled || role == .none || role == .learner {
                swap = nil
            } else {
                swap?.isInDoubt = true
                let retryMs = nowMs + settings.resendMs
                swap?.retryMs = retryMs
                askForRecord(into: &effects)
            }
        }
        // What waited for its turn.
        swapUnwanted(into: &effects)
        addIfReady(into: &effects)
        releaseIfDone(into: &effects)
    }

    // MARK: The primary

    /// This primary wants a backup out: it is dead, silent, stuck, or not wanted any more.
    mutating func drop(_ member: NodeID, nowMs: Int64, wallMs: Int64, into effects: inout [ReplicaEffect]) {
        wake(nowMs: nowMs, wallMs: wallMs)
        guard role == .primary else { return }
        if learner == member, !isJoint { endAttempt() }
        guard record?.record.backups.contains(member) == true else { return }
        if !lead.unwanted.contains(member) { lead.unwanted.append(member) }
        swapUnwanted(into: &effects)
    }

    /// Drops those that are not wanted. If this primary is handing over, that takes the shard back.
    mutating func swapUnwanted(into effects: inout [ReplicaEffect]) {
        guard role == .primary, !lead.unwanted.isEmpty, canSwap, let base = handover ?? record, let record else {
            return
        }
        let unwanted = lead.unwanted
        var next = record.record
        next.generation = base.record.generation
        next.epoch = base.record.epoch + 1
        next.backups.removeAll { unwanted.contains($0) || !base.record.lists($0) }
        next.handover = nil
        lead.swapMs = nowMs + settings.resendMs
        ask(from: base.revision, to: next, into: &effects)
        if settings.mutations.contains(.soleAssume), handover == nil {
            adopt(VersionedRecord(next, revision: base.revision), into: &effects)
        }
    }

    /// Ends doubt: when this has won or lost, what was in doubt is known never to be carried out, or to have been.
    private mutating func retrySwap(into effects: inout [ReplicaEffect]) {
        guard let doubt = swap, doubt.isInDoubt, maySwap, nowMs >= doubt.retryMs else { return }
        guard role == .primary else {
            return ask(from: doubt.from, to: doubt.to, into: &effects)
        }
        if !lead.unwanted.isEmpty { return swapUnwanted(into: &effects) }
        guard let base = handover ?? record, base.revision == doubt.from else {
            swap = nil
            return
        }
        var next = base.record
        next.epoch += 1
        next.handover = nil
        if handover != nil, let record {
            next = record.record
            next.epoch = base.record.epoch + 1
        }
        ask(from: base.revision, to: next, into: &effects)
    }

    /// This node has been out of touch (design, rule 8): a swap that changes only the epoch shows that the shard has
    /// not been begun anew meanwhile, and that this cannot still come.
    mutating func confirm(nowMs: Int64, into effects: inout [ReplicaEffect]) {
        wake(nowMs: nowMs)
        guard isStarted else { return }
        lead.isUnconfirmed = true
        confirmEpoch(into: &effects)
    }

    private mutating func confirmEpoch(into effects: inout [ReplicaEffect]) {
        guard lead.isUnconfirmed, isStarted, !lead.isFrozen, swap == nil, canSwap, nowMs >= lead.swapMs, let record
        else { return }
        var next = record.record
        next.epoch += 1
        next.handover = nil
        lead.swapMs = nowMs + settings.resendMs
        ask(from: record.revision, to: next, into: &effects)
    }

    // MARK: A backup

    /// This backup wants to be the primary in place of `overseen`.
    mutating func replacePrimary(nowMs: Int64, wallMs: Int64, into effects: inout [ReplicaEffect]) {
        wake(nowMs: nowMs, wallMs: wallMs)
        guard role == .backup, canSwap, let base = handover ?? record, let gone = overseen else { return }
        var next = base.record
        next.epoch += 1
        next.primary = node
        next.backups = base.record.members.filter { $0 != node && $0 != gone }
        next.handover = nil
        ask(from: base.revision, to: next, into: &effects)
    }

    // MARK: Hand-over

    /// Hands the shard over to a backup, and plays on until that is decided and all entries are committed.
    /// - Returns: false when this cannot be asked for now.
    @discardableResult
    mutating func handOver(
        to target: NodeID, nowMs: Int64, wallMs: Int64, into effects: inout [ReplicaEffect]
    ) -> Bool {
        wake(nowMs: nowMs, wallMs: wallMs)
        // All must be in this epoch: the members stay in it until the target starts, and could not enter it any more
        // when they have seen the next.
        guard isStarted, !lead.isFrozen, !isJoint, swap == nil, canSwap, lead.unwanted.isEmpty, let record,
            record.record.backups.contains(target), lead.backups.allSatisfy({ $0.acked != nil })
        else { return false }
        var next = record.record
        next.epoch += 1
        next.primary = target
        next.backups = record.record.backups.filter { $0 != target } + [node]
        next.handover = node
        ask(from: record.revision, to: next, into: &effects)
        return true
    }

    /// The hand-over by which this became the primary is done, and leaves the record.
    mutating func endHandOver(nowMs: Int64, into effects: inout [ReplicaEffect]) {
        wake(nowMs: nowMs)
        guard isStarted, !lead.isFrozen, !isJoint, swap == nil, canSwap, nowMs >= lead.swapMs, lead.unwanted.isEmpty,
            let record, record.record.primary == node, record.record.handover != nil
        else { return }
        var next = record.record
        next.epoch += 1
        next.handover = nil
        lead.swapMs = nowMs + settings.resendMs
        ask(from: record.revision, to: next, into: &effects)
    }

    /// The hand-over is decided: takes no more commands.
    mutating func freeze(_ seen: VersionedRecord, into effects: inout [ReplicaEffect]) {
        let wasOpen = isStarted && !lead.isFrozen
        handover = seen
        endAttempt()
        guard isStarted else { return adopt(seen, into: &effects) }
        lead.isFrozen = true
        if wasOpen { effects.append(.closed) }
        // A learner that was joint is none any more: the swap that would have added it has lost.
        if lead.flushed < log.last { flush(into: &effects) } else { commit(into: &effects) }
    }

    /// Everything is committed, and may have been told: the target may start. While a swap that takes the shard back
    /// may be carried out, it does not come to that.
    mutating func releaseIfDone(into effects: inout [ReplicaEffect]) {
        guard role == .primary, lead.isFrozen, let decided = handover, swap?.isSettled ?? true, lead.unwanted.isEmpty,
            committed == log.last
        else { return }
        let last = log.last
        adopt(decided, into: &effects)
        releasing = Releasing(record: decided, last: last, dueMs: nowMs + settings.resendMs)
        send(.release(decided, last: last), to: decided.record.primary, into: &effects)
    }

    mutating func released(
        _ decided: VersionedRecord, last: UInt64, by sender: NodeID, into effects: inout [ReplicaEffect]
    ) {
        see(decided, into: &effects)
        if role == .backup, let handover, handover.revision == decided.revision, handover.record.primary == node {
            guard log.last >= last else { return }
            adopt(handover, into: &effects)
        } else if let newest, newest.revision > decided.revision {
            send(.refuse(newest), to: sender, into: &effects)
        }
    }

    // MARK: Time

    /// Does what is due: repeats, gives up, ends doubt.
    mutating func tick(nowMs: Int64, wallMs: Int64, into effects: inout [ReplicaEffect]) {
        wake(nowMs: nowMs, wallMs: wallMs)
        if role == .none, state != nil, nowMs - retiredMs >= settings.keptStateMs { forget() }
        if isStarted, let since = lead.patientMs, nowMs >= since + settings.patientMs { flush(into: &effects) }
        if isOpen, let since = lead.receiptsMs, nowMs >= since + settings.receiptFlushMs {
            log(.tick, random: (0, 0), isPatient: false, into: &effects)
        }
        resend(into: &effects)
        dropSilent(into: &effects)
        if role == .primary, nowMs >= lead.swapMs { swapUnwanted(into: &effects) }
        retrySwap(into: &effects)
        confirmEpoch(into: &effects)
        tickLearner(into: &effects)
        releaseIfDone(into: &effects)
    }

    mutating func resend(into effects: inout [ReplicaEffect]) {
        if var releasing, nowMs >= releasing.dueMs {
            releasing.dueMs = nowMs + settings.resendMs
            self.releasing = releasing
            send(.release(releasing.record, last: releasing.last), to: releasing.record.record.primary, into: &effects)
        }
        guard role == .primary, let record else { return }
        for i in lead.backups.indices {
            var peer = lead.backups[i]
            guard peer.isWaited(lead) else { continue }
            if nowMs >= peer.resendMs {
                peer.resendMs = nowMs + settings.resendMs
                if peer.acked == nil {
                    if lead.positions[peer.node] == nil { send(.start(record), to: peer.node, into: &effects) }
                } else if let acked = peer.acked {
                    peer.sent = acked
                    _ = prepare(&peer, into: &effects)
                }
            }
            if lead.isStarted, nowMs >= peer.stuckMs {
                peer.stuckMs = nowMs + settings.stuckMs
                effects.append(.stuck(peer.node))
            }
            lead.backups[i] = peer
        }
    }

    /// A new primary waits only so long for positions.
    private mutating func dropSilent(into effects: inout [ReplicaEffect]) {
        guard role == .primary, !lead.isStarted, !lead.isHalted, nowMs - lead.adoptedMs >= settings.positionMs else {
            return
        }
        for peer in lead.backups where lead.positions[peer.node] == nil && !lead.unwanted.contains(peer.node) {
            lead.unwanted.append(peer.node)
            lead.swapMs = nowMs
        }
    }

    /// When `tick` is due; nil: not until something happens.
    func nextTickMs() -> Int64? {
        var due: [Int64] = []
        if role == .none, state != nil { due.append(retiredMs + settings.keptStateMs) }
        if let swap, swap.isInDoubt { due.append(max(swap.retryMs, maySwap ? .min : nowMs + settings.resendMs)) }
        if let releasing { due.append(releasing.dueMs) }
        guard role == .primary else { return due.min() }
        if let since = lead.patientMs, isStarted { due.append(since + settings.patientMs) }
        if let since = lead.receiptsMs, isOpen { due.append(since + settings.receiptFlushMs) }
        for peer in lead.backups where peer.isWaited(lead) {
            due.append(lead.isStarted ? min(peer.resendMs, peer.stuckMs) : peer.resendMs)
        }
        if !lead.isStarted, !lead.isHalted, lead.unwanted.isEmpty, !lead.backups.isEmpty {
            due.append(lead.adoptedMs + settings.positionMs)
        }
        if !lead.unwanted.isEmpty, swap == nil {
            due.append(max(lead.swapMs, nowMs + (maySwap ? 0 : settings.resendMs)))
        }
        if lead.isUnconfirmed, isOpen, swap == nil {
            due.append(max(lead.swapMs, nowMs + (maySwap ? 0 : settings.resendMs)))
        }
        if let learner = lead.learner { due.append(learner.dueMs) }
        return due.min()
    }
}

extension Replica.Peer {
    /// Whether something from it is due.
    func isWaited(_ lead: Replica.Lead) -> Bool { acked.map { $0 < lead.flushed } ?? true }
}
