import HoldfastProtocol

/// Records: seen, adopted, left (design, rules 5, 7 and 8).
extension Replica {
    /// A record that the coordinator had: from the watch, a reading, or another replica.
    mutating func see(
        _ seen: VersionedRecord, nowMs: Int64, wallMs: Int64, into effects: inout [ReplicaEffect]
    ) {
        wake(nowMs: nowMs, wallMs: wallMs)
        see(seen, into: &effects)
    }

    mutating func see(_ seen: VersionedRecord, into effects: inout [ReplicaEffect]) {
        if settings.mutations.contains(.doubtRead), swap?.isInDoubt == true, swap?.from == seen.revision {
            swap = nil
            endAttempt()
            commit(into: &effects)
        }
        let before = newest
        if let before, seen.revision <= before.revision { return }
        newest = seen
        if let from = swap?.from, seen.revision > from {
            if swap?.isInDoubt == true { swap = nil } else { swap?.isSettled = true }
        }
        if let before, seen.record.generation < before.record.generation {
            effects.append(.alarm("generation \(seen.record.generation) after \(before.record.generation)"))
        }
        if let before, seen.record.generation > before.record.generation, role != .none || state != nil {
            // The shard has begun anew: nothing of the one before counts (rule 8).
            retire(into: &effects)
            forget()
        }
        consider(seen, isNewGeneration: before?.record.generation != seen.record.generation, into: &effects)
    }

    /// - Parameter isForced: a new primary has started by this record, so a hand-over in it is over.
    mutating func consider(
        _ seen: VersionedRecord, isNewGeneration: Bool = false, isForced: Bool = false,
        into effects: inout [ReplicaEffect]
    ) {
        switch role {
        case .none:
            guard seen.record.lists(node) else { return }
            begin(seen, isNewGeneration: isNewGeneration, into: &effects)
        case .learner:
            // Any change of the record ends the attempt: if the learner is not listed now, its feeder's swap has lost.
            guard seen.record.lists(node) else { return retire(into: &effects) }
            role = .backup
            if seen.record.handover != nil, seen.record.primary == node {
                // It has been added and has become the target of a hand-over since.
                record = attempt?.record
                attempt = nil
                handover = seen
            } else {
                adopt(seen, into: &effects)
            }
        case .backup, .primary:
            guard let record, seen.revision > record.revision else { return }
            guard seen.record.lists(node) else { return retire(into: &effects) }
            if let from = seen.record.handover, !isForced {
                if role == .backup {
                    // Waits for the release if it is the target; any other stays in the old epoch until the start.
                    handover = seen
                    return
                }
                if from == node, seen.record.primary != node {
                    freeze(seen, into: &effects)
                    return
                }
            }
            adopt(seen, into: &effects)
        }
    }

    /// This node is listed, is no learner, and was no replica.
    ///
    /// Then it has been listed since the generation began, and begins empty like all that were. For an incarnation
    /// comes to be listed either by the first record of a generation, or by a swap that adds it; and that is only asked
    /// for when it has acknowledged, as a learner of the very record that the swap compares. A learner ceases to be one
    /// only when it sees another record; so whoever finds itself added is still a learner, or has seen a record of this
    /// generation that did not list it and would find itself listed later without having learned, which cannot be.
    private mutating func begin(
        _ seen: VersionedRecord, isNewGeneration: Bool, into effects: inout [ReplicaEffect]
    ) {
        guard isNewGeneration else {
            effects.append(.alarm("listed in epoch \(seen.record.epoch) without having learned"))
            return
        }
        forget()
        becomeEmpty(generation: seen.record.generation)
        if seen.record.handover != nil, seen.record.primary == node {
            effects.append(.alarm("target of a hand-over in epoch \(seen.record.epoch) without having been a backup"))
            return
        }
        adopt(seen, into: &effects)
    }

    mutating func becomeEmpty(generation: UInt64) {
        var state = ShardState<Machine>(
            home: shard, generation: generation, layout: layout, outboxLimit: settings.outboxLimit,
            configuration: configuration)
        state.mutations = settings.mutations
        self.state = state
        log = ReplicaLog(generation: generation)
        committed = 0
        isPrivate = false
        offsetMs = 0
        digests = []
        hasNewDigest = false
    }

    /// Forgets the state, too.
    mutating func forget() {
        state = nil
        log = ReplicaLog(generation: 0)
        committed = 0
        digests = []
        hasNewDigest = false
    }

    /// Not listed: tells nothing more. The state is only a base for becoming a backup again.
    mutating func retire(into effects: inout [ReplicaEffect]) {
        let wasOpen = isStarted && !lead.isFrozen
        role = .none
        record = nil
        handover = nil
        attempt = nil
        releasing = nil
        lead = Lead()
        retiredMs = nowMs
        state?.releases = Outbox()
        if swap?.isInDoubt == true { swap = nil }
        if wasOpen { effects.append(.closed) }
    }

    /// Goes over to a record. From here on, lower epochs are refused.
    mutating func adopt(_ seen: VersionedRecord, into effects: inout [ReplicaEffect]) {
        let before = lead
        let wasStarted = isStarted
        let wasOpen = wasStarted && !before.isFrozen
        // All records since the one adopted are this primary's own: any other that lists it makes it a backup, or
        // hands over to it.
        let goesOn = wasStarted && seen.record.primary == node && seen.record.handover == nil
        record = seen
        handover = nil
        attempt = nil
        releasing = nil
        lead = Lead()
        lead.adoptedMs = nowMs
        guard seen.record.primary == node else {
            role = .backup
            state?.releases = Outbox()
            if wasOpen { effects.append(.closed) }
            return
        }
        role = .primary
        lead.flushed = before.flushed
        lead.unwanted = before.unwanted.filter { seen.record.backups.contains($0) }
        lead.isHalted = before.isHalted
        for backup in seen.record.backups {
            var peer = Peer(
                node: backup, sent: log.last, resendMs: nowMs + settings.resendMs, awaited: 0,
                stuckMs: nowMs + settings.stuckMs)
            let known =
                before.backups.first { $0.node == backup }
                ?? before.learner.flatMap { $0.peer.node == backup ? $0.peer : nil }
            if goesOn, let known {
                peer.sent = known.sent
                if settings.mutations.contains(.ackEpoch) { peer.acked = known.acked }
            }
            peer.sentBefore = peer.sent
            lead.backups.append(peer)
            send(.start(seen), to: backup, into: &effects)
        }
        if goesOn {
            lead.isStarted = true
            lead.startedIndex = log.last
            // A record that is seen may have been won before this node was out of touch, and be replaced since.
            lead.isUnconfirmed = before.isUnconfirmed
            lead.patientMs = before.patientMs
            lead.receipts = before.receipts
            lead.receiptsMs = before.receiptsMs
            if before.isFrozen {
                state?.releaseAll()
                effects.append(.opened)
            }
            commit(into: &effects)
        } else {
            if wasOpen { effects.append(.closed) }
            lead.flushed = log.last
            if lead.backups.isEmpty || settings.mutations.contains(.noReconcile) { open(into: &effects) }
        }
    }

    /// A new primary has the longest log of all: it begins its epoch, and looks at all outboxes anew.
    mutating func open(into effects: inout [ReplicaEffect]) {
        lead.isStarted = true
        lead.startedIndex = log.last
        lead.positions = [:]
        if settings.mutations.contains(.acceptedOutside) { state?.forgetAccepted() }
        if settings.mutations.contains(.tailReplies) { state?.dropReplies() }
        log(.epochStart(epoch: epoch, wallMs: wallMs), random: (0, 0), isPatient: false, into: &effects)
        state?.releaseAll()
        effects.append(.opened)
    }
}
