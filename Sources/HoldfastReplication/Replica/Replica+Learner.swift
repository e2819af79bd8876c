import HoldfastProtocol

/// How a node becomes a backup (design, rule 6), at the primary and at the node.
extension Replica {
    // MARK: At the primary

    /// Begins to make a node a backup. Ends by itself, when it is listed, when the record changes, or when it says
    /// nothing for too long.
    /// - Returns: false when this cannot be begun now.
    @discardableResult
    mutating func add(_ node: NodeID, nowMs: Int64, wallMs: Int64, into effects: inout [ReplicaEffect]) -> Bool {
        wake(nowMs: nowMs, wallMs: wallMs)
        guard isStarted, !lead.isFrozen, lead.learner == nil, let record, !record.record.lists(node) else {
            return false
        }
        if lead.flushed < log.last { flush(into: &effects) }
        isPrivate = false
        lead.learner = Learner(
            peer: Peer(node: node, sent: log.last, resendMs: nowMs, stuckMs: nowMs),
            dueMs: nowMs + settings.resendMs, heardMs: nowMs)
        send(.invite(record), to: node, into: &effects)
        return true
    }

    /// Ends the attempt to make a node a backup, unless it may be listed already.
    mutating func abandon(_ node: NodeID, nowMs: Int64, into effects: inout [ReplicaEffect]) {
        wake(nowMs: nowMs)
        guard learner == node, !isJoint else { return }
        endAttempt()
    }

    mutating func endAttempt() { lead.learner = nil }

    /// What the learner has. Counts like an acknowledgement: it says so in this epoch, and a learner's log does not
    /// get shorter while it is one in an epoch, unless it differs.
    mutating func offered(
        _ last: UInt64, _ hash: UInt64, by sender: NodeID, into effects: inout [ReplicaEffect]
    ) {
        guard role == .primary, var learner = lead.learner, learner.peer.node == sender, case .invited = learner.phase
        else { return }
        learner.heardMs = nowMs
        learner.peer.awaited = nil
        let isPart =
            log.hash(at: last) == hash
            || settings.mutations.contains(.baseUnchecked) && log.hash(at: last) != nil
        if isPart {
            learner.phase = .fed
            learner.base = last
            learner.peer.acked = last
            learner.peer.sent = last
            learner.peer.resendMs = nowMs + settings.resendMs
            if last < lead.flushed { _ = prepare(&learner.peer, into: &effects) }
            lead.learner = learner
        } else if let state {
            var writer = StateWriter()
            state.encode(into: &writer)
            learner.phase = .snapshot(.init(index: log.last, hash: log.hash, bytes: writer.bytes), next: 0)
            learner.base = log.last
            learner.peer.acked = nil
            learner.peer.sent = log.last
            lead.learner = learner
            if lead.flushed < log.last { flush(into: &effects) }
            sendSnapshot(into: &effects)
        }
        if settings.mutations.contains(.addEarly) { askToAdd(into: &effects) }
        addIfReady(into: &effects)
    }

    private mutating func sendSnapshot(into effects: inout [ReplicaEffect]) {
        guard var learner = lead.learner, case .snapshot(let snapshot, var next) = learner.phase else { return }
        let size = settings.snapshotPartBytes
        let parts = max(1, (snapshot.bytes.count + size - 1) / size)
        let through = min(parts, next + settings.snapshotPartsAtOnce)
        while next < through {
            let bytes = snapshot.bytes[next * size..<min((next + 1) * size, snapshot.bytes.count)]
            send(
                .snapshot(
                    index: snapshot.index, hash: snapshot.hash, part: next, parts: parts, bytes: Array(bytes)),
                to: learner.peer.node, isBulk: true, into: &effects)
            next += 1
        }
        learner.phase = .snapshot(snapshot, next: next)
        learner.dueMs = nowMs + (next < parts ? settings.snapshotPaceMs : settings.learnerRetryMs)
        lead.learner = learner
    }

    /// The learner has acknowledged something that is a part of this log.
    mutating func fed(_ last: UInt64, into effects: inout [ReplicaEffect]) {
        guard var learner = lead.learner else { return }
        switch learner.phase {
        case .invited: return
        case .snapshot(let snapshot, _):
            guard last >= snapshot.index || settings.mutations.contains(.ackEpoch) else { return }
            learner.phase = .fed
        case .fed: break
        }
        if learner.peer.acked.map({ last > $0 }) ?? true { learner.heardMs = nowMs }
        acknowledge(&learner.peer, last, into: &effects)
        lead.learner = learner
    }

    /// Lists the learner when it has everything that may have been told: by this primary, and by those before it; and
    /// when the others have what its log does not have as entries, so that any of them can go on from another's tail.
    mutating func addIfReady(into effects: inout [ReplicaEffect]) {
        guard let learner = lead.learner, case .fed = learner.phase, let acked = learner.peer.acked, !learner.isJoint
        else { return }
        let mutations = settings.mutations
        guard acked >= committed, acked >= lead.startedIndex || mutations.contains(.baseForgotten),
            committed >= learner.base || mutations.contains(.snapshotAhead), lead.unwanted.isEmpty
        else { return }
        askToAdd(into: &effects)
    }

    private mutating func askToAdd(into effects: inout [ReplicaEffect]) {
        guard let learner = lead.learner, !learner.isJoint, let record, isStarted, !lead.isFrozen, canSwap else {
            return
        }
        var next = record.record
        next.epoch += 1
        next.handover = nil
        next.backups.append(learner.peer.node)
        lead.learner?.isJoint = true
        ask(from: record.revision, to: next, into: &effects)
    }

    mutating func tickLearner(into effects: inout [ReplicaEffect]) {
        addIfReady(into: &effects)
        guard var learner = lead.learner, nowMs >= learner.dueMs else { return }
        if nowMs - learner.heardMs >= settings.learnerGiveUpMs, !learner.isJoint { return endAttempt() }
        learner.dueMs = nowMs + settings.resendMs
        switch learner.phase {
        case .invited:
            lead.learner = learner
            if let record { send(.invite(record), to: learner.peer.node, into: &effects) }
        case .snapshot(let snapshot, let next):
            lead.learner = learner
            if next * settings.snapshotPartBytes < snapshot.bytes.count || next == 0 {
                sendSnapshot(into: &effects)
            } else {
                inviteAgain(into: &effects)
            }
        case .fed:
            let acked = learner.peer.acked ?? 0
            if acked < lead.flushed, nowMs >= learner.peer.resendMs {
                learner.peer.sent = acked
                learner.peer.resendMs = nowMs + settings.resendMs
                let isKept = prepare(&learner.peer, into: &effects)
                lead.learner = learner
                if !isKept, !learner.isJoint { inviteAgain(into: &effects) }
            } else {
                lead.learner = learner
            }
        }
    }

    /// From the start, in the same attempt: what it has by now may be a part of the log.
    private mutating func inviteAgain(into effects: inout [ReplicaEffect]) {
        guard let record, let learner = lead.learner, !learner.isJoint else { return }
        lead.learner?.phase = .invited
        lead.learner?.peer.acked = nil
        send(.invite(record), to: learner.peer.node, into: &effects)
    }

    func nextLearnerMs() -> Int64? { lead.learner?.dueMs }

    // MARK: At the learner

    mutating func invited(_ seen: VersionedRecord, by sender: NodeID, into effects: inout [ReplicaEffect]) {
        see(seen, into: &effects)
        guard newest?.revision == seen.revision else {
            send(.refuse(newest), to: sender, into: &effects)
            return
        }
        // A program that does not know the rules of this shard cannot run them.
        guard seen.record.rules <= settings.rules, !seen.record.lists(node) else { return }
        switch role {
        case .backup, .primary: return
        case .none: attempt = Attempt(feeder: sender, record: seen)
        case .learner:
            // Nothing is given up in an epoch that has been offered or acknowledged in it.
            if attempt?.record.revision != seen.revision { attempt = Attempt(feeder: sender, record: seen) }
        }
        role = .learner
        if state == nil { becomeEmpty(generation: seen.record.generation) }
        send(.offer(last: log.last, hash: log.hash), to: sender, into: &effects)
    }

    mutating func keepEarly(_ early: Attempt.Early) {
        guard role == .learner, var attempt, !early.entries.isEmpty else { return }
        self.attempt = nil
        // What is too much is sent again when it has not been acknowledged.
        if attempt.earlyEntries + early.entries.count <= Int(clamping: settings.tailLimit) {
            attempt.early.append(early)
            attempt.earlyEntries += early.entries.count
        }
        self.attempt = attempt
    }

    mutating func snapshot(
        index: UInt64, hash: UInt64, part: Int, of parts: Int, _ bytes: [UInt8], by sender: NodeID,
        into effects: inout [ReplicaEffect]
    ) {
        guard role == .learner, var attempt, attempt.feeder == sender, parts > 0, part >= 0, part < parts,
            index < 1 << 62
        else { return }
        if attempt.isFed, index <= log.last { return acknowledge(to: sender, into: &effects) }
        self.attempt = nil
        if attempt.partsIndex != index || attempt.partsHash != hash {
            // Of two at a time the later one is the one that is still sent.
            guard index >= attempt.partsIndex || attempt.parts.isEmpty else {
                self.attempt = attempt
                return
            }
            attempt.parts = [:]
            attempt.partsBytes = 0
            attempt.partsIndex = index
            attempt.partsHash = hash
        }
        if attempt.parts[part] == nil, attempt.partsBytes + bytes.count <= settings.snapshotBytes {
            attempt.parts[part] = bytes
            attempt.partsBytes += bytes.count
        }
        self.attempt = attempt
        if attempt.parts.count == parts { install(parts, from: sender, into: &effects) }
    }

    private mutating func install(_ parts: Int, from sender: NodeID, into effects: inout [ReplicaEffect]) {
        guard var attempt else { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(attempt.partsBytes)
        for part in 0..<parts { bytes += attempt.parts[part] ?? [] }
        attempt.parts = [:]
        attempt.partsBytes = 0
        self.attempt = attempt
        var reader = StateReader(bytes)
        do throws(StateError) {
            var state = try ShardState<Machine>(
                from: &reader, home: shard, generation: attempt.record.record.generation, layout: layout,
                outboxLimit: settings.outboxLimit, configuration: configuration)
            try reader.finish()
            guard Self.times.contains(state.timeMs ?? 0), Self.times.contains(state.wallOffsetMs) else {
                throw StateError("time out of bounds")
            }
            state.mutations = settings.mutations
            self.state = state
        } catch {
            effects.append(.alarm("snapshot at \(attempt.partsIndex): \(error.message)"))
            return
        }
        log = ReplicaLog(last: attempt.partsIndex, hash: attempt.partsHash)
        committed = 0
        isPrivate = false
        digests = []
        hasNewDigest = false
        if let timeMs = state?.timeMs, !settings.mutations.contains(.nodeClock) { offsetMs = timeMs - nowMs }
        let early = attempt.early
        self.attempt?.isFed = true
        self.attempt?.early = []
        self.attempt?.earlyEntries = 0
        for next in early { _ = takeEntries(next) }
        acknowledge(to: sender, into: &effects)
    }
}
