import HoldfastProtocol

/// The replicas of this loop: records, messages between replicas, and what membership and placement want of them.
extension ShardHost {
    // MARK: Records

    mutating func see(_ record: VersionedRecord, of shard: ShardID) {
        let i = shard.number
        if let known = places[i].route, known.revision >= record.revision {
            if settings.mutations.contains(.doubtRead) {
                places[i].replica?.see(record, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
                carryOut(shard)
            }
            return
        }
        let before = places[i].route?.record
        places[i].route = record
        if record.record.generation > 1 { begunAnew[shard] = record.record.generation }
        if isPinnedHere(shard) {
            if places[i].replica == nil, record.record.lists(node) { makeReplica(shard) }
            places[i].replica?.see(record, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
            carryOut(shard)
            // What only a dropped backup had not acknowledged may leave now.
            pump(shard)
        }
        generationSeen(record.record.generation, shard)
        guard let before else {
            resendCommands(to: shard)
            return
        }
        if before.generation != record.record.generation { tellOthers(of: shard, record.record.generation) }
        if before.primary != record.record.primary {
            if view.dead.contains(before.primary), before.generation == record.record.generation {
                primaryDied(of: shard)
            }
            resendCommands(to: shard)
            resendFromShards(to: shard)
        }
    }

    private mutating func makeReplica(_ shard: ShardID) {
        places[shard.number].replica = Replica(
            shard: shard, node: node, layout: layout, configuration: configuration, settings: settings)
    }

    /// The shards whose primary is here must know that another one has begun anew.
    private mutating func tellOthers(of shard: ShardID, _ generation: UInt64) {
        for other in homes
        where places[other.number].facts.isOpen && places[other.number].knownGeneration(of: shard) < generation {
            log(.shardLost(shard, generation: generation), in: other, isPatient: false, drawsRandomness: true)
            pump(other)
        }
    }

    /// What shards here have for one whose primary is another now.
    private mutating func resendFromShards(to shard: ShardID) {
        for other in homes { resendCommands(of: other, to: shard) }
    }

    mutating func swapEnded(_ shard: ShardID, _ result: SwapResult) {
        let i = shard.number
        // A beginning is the host's own, and is asked for when the replica waits for no answer.
        if !places[i].isBeginning {
            places[i].replica?.swapEnded(result, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
            carryOut(shard)
        }
        if let newest = places[i].replica?.newest { see(newest, of: shard) }
        if case .lost(let record) = result { see(record, of: shard) }
        if places[i].isBeginning {
            places[i].isBeginning = false
            out.append(.readRecord(shard))
        }
        pump(shard)
    }

    mutating func receive(
        _ message: ReplicaMessage, of shard: ShardID, from sender: NodeID, _ generation: UInt64, _ epoch: UInt64
    ) {
        guard isPinnedHere(shard) else { return }
        if places[shard.number].replica == nil {
            switch message {
            case .invite: makeReplica(shard)
            // The first of a generation: the record may come here later than who starts by it.
            case .start(let record) where record.record.lists(node):
                see(record, of: shard)
                if places[shard.number].replica == nil { return }
            default:
                // A replica that was here is known by its process; this one never was.
                return
            }
            if let route = places[shard.number].route {
                places[shard.number].replica?.see(route, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
            }
        }
        places[shard.number].replica?.receive(
            message, from: sender, generation: generation, epoch: epoch, nowMs: nowMs, wallMs: wallMs,
            into: &replicaEffects)
        carryOut(shard)
        pump(shard)
    }

    // MARK: Effects of replicas

    mutating func carryOut(_ shard: ShardID) {
        let i = shard.number
        places[i].refresh()
        while !replicaEffects.isEmpty {
            let effects = replicaEffects
            replicaEffects.removeAll(keepingCapacity: true)
            for effect in effects {
                switch effect {
                case .send(let receiver, let generation, let epoch, let message, let isBulk):
                    post(
                        .replica(shard, generation: generation, epoch: epoch, message), to: receiver, isBulk: isBulk)
                case .swap(let revision, let record): out.append(.swap(shard, from: revision, to: record))
                case .readRecord: out.append(.readRecord(shard))
                case .opened: opened(shard)
                case .closed:
                    deadlines.set(nil, for: shard)
                    if places[i].facts.isStarted { continue }
                    places[i].beginTelling()
                case .stuck(let backup):
                    if view.maySwap { drop(backup, from: shard) }
                case .alarm(let text): out.append(.alarm(shard, text))
                }
            }
        }
    }

    /// This node's replica has started as the primary: everything that may be missing somewhere is sent again, and it
    /// hears of what it may have missed.
    private mutating func opened(_ shard: ShardID) {
        let i = shard.number
        places[i].beginTelling()
        places[i].nextResendMs = nowMs + settings.channelResendMs
        arm(shard)
        for (other, generation) in begunAnew.sorted(by: { $0.key < $1.key })
        where generation > places[i].knownGeneration(of: other) {
            log(.shardLost(other, generation: generation), in: shard, isPatient: false, drawsRandomness: true)
        }
        dropLostGateways(of: shard)
        pump(shard)
        resendCommands(to: shard)
    }

    private mutating func drop(_ backup: NodeID, from shard: ShardID) {
        backOff.removed(backup, nowMs: nowMs)
        places[shard.number].replica?.drop(backup, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
        carryOut(shard)
    }

    // MARK: Membership

    mutating func adopt(_ view: MembershipView) {
        let before = self.view
        self.view = view
        for info in view.nodes { nodes[info.id.incarnation] = info.id }
        if wanted.isEmpty || before.living != view.living {
            let places = Placement.wanted(layout: layout, nodes: view.living, replicas: settings.replicas)
            wanted = homes.map { places[$0] ?? [] }
        }
        if before.touch != view.touch {
            // Others may have begun them anew meanwhile: nothing may leave any of them before that is known.
            for shard in homes where places[shard.number].facts.isPrimary {
                places[shard.number].replica?.confirm(nowMs: nowMs, into: &replicaEffects)
                carryOut(shard)
            }
        }
        // etcd takes so many swaps at once: those of rooms that play come first.
        let here = homes.filter { places[$0.number].facts.isHere }
            .map { (shard: $0, urgencyMs: places[$0.number].replica?.state?.urgencyMs() ?? .max) }
            .sorted { ($0.urgencyMs, $0.shard) < ($1.urgencyMs, $1.shard) }
        for (shard, _) in here where places[shard.number].facts.isHere {
            suspect(shard)
            if places[shard.number].facts.isOpen { dropLostGateways(of: shard) }
            pump(shard)
        }
    }

    private func isSuspect(_ other: NodeID) -> Bool {
        other != node && view.isGone(other)
    }

    /// Acts on members that are dead or silent: again and again, until the record says otherwise.
    private mutating func suspect(_ shard: ShardID) {
        let i = shard.number
        places[i].replica?.maySwap = view.maySwap
        guard view.maySwap, let record = places[i].currentRecord() else { return }
        if places[i].facts.isPrimary {
            for backup in record.members where backup != node && isSuspect(backup) { drop(backup, from: shard) }
            if let learner = places[i].replica?.learning(), isSuspect(learner) {
                places[i].replica?.abandon(learner, nowMs: nowMs, into: &replicaEffects)
            }
        } else if let other = places[i].replica?.toReplace(), isSuspect(other) {
            places[i].replica?.replacePrimary(nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
        }
        carryOut(shard)
    }

    /// Gateways that are dead, silent, or whose process is gone. One that may come back is not forgotten, even after it
    /// was given up: it would go on with numbers that mean nothing here.
    private mutating func dropLostGateways(of shard: ShardID) {
        let i = shard.number
        let known = places[i].replica?.state?.knownGateways() ?? []
        // By start: the oldest processes come first.
        for (gateway, _, _) in known.filter(\.isLost).dropLast(settings.lostGatewaysKept) {
            log(.gatewayGone(gateway), in: shard, isPatient: false)
        }
        for (gateway, session, isLost) in known {
            guard let at = nodes[gateway.incarnation] else {
                // Registered before a node that this one has seen registered, and never seen: it has ended, or its
                // registration has. That is not enough to forget what is known of its channel.
                if !isLost, gateway.incarnation < nodes.keys.max() ?? 0, places[i].facts.isOpen {
                    log(.gatewayLost(gateway, session: session + 1), in: shard, isPatient: false)
                }
                continue
            }
            guard places[i].facts.isOpen else { return }
            if view.isReplaced(at) {
                log(.gatewayGone(gateway), in: shard, isPatient: false)
            } else if !isLost, isSuspect(at) {
                log(.gatewayLost(gateway, session: session + 1), in: shard, isPatient: false)
            }
        }
        pump(shard)
    }

    // MARK: Time

    /// What is looked at now and then instead of being timed for each shard.
    mutating func sweep() {
        nextSweepMs = nowMs + settings.sweepMs
        for shard in homes {
            let i = shard.number
            sweepGateway(shard)
            beginAnewIfLost(shard)
            // However it has ended, and whoever is the primary now.
            if budget.isSending(shard), places[i].replica?.learning() == nil { budget.endSending(shard) }
            guard places[i].facts.isHere else { continue }
            places[i].replica?.tick(nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
            carryOut(shard)
            suspect(shard)
            if places[i].facts.isOpen {
                if nowMs >= places[i].nextGatewaysMs {
                    places[i].nextGatewaysMs = nowMs + settings.channelResendMs
                    dropLostGateways(of: shard)
                    informLostGateways(of: shard)
                }
                balance(shard)
            }
            pump(shard)
            resendStalled(shard)
            arm(shard)
            workLocally()
        }
    }

    /// Moves the shard one step nearer to where it should be.
    private mutating func balance(_ shard: ShardID) {
        guard view.maySwap, !wanted.isEmpty, let record = places[shard.number].currentRecord(),
            // A replica may hear of a record from another one before the watch brings it: nothing is planned then.
            places[shard.number].replica?.currentEpoch() == record.epoch
        else { return }
        if record.handover != nil {
            // Until that is out of the record, nothing else can be changed in it.
            places[shard.number].replica?.endHandOver(nowMs: nowMs, into: &replicaEffects)
            carryOut(shard)
            return
        }
        if record.members == wanted[shard.number] { return }
        let mayAdd = { [backOff, nowMs] (other: NodeID) in !backOff.isWaiting(other, nowMs: nowMs) }
        var step = TransferPlan.next(record, wanted: wanted[shard.number], view: view, mayAdd: mayAdd)
        if step == .nothing, record.members.count < wanted[shard.number].count {
            let others = Placement.standIns(for: shard, layout: layout, nodes: view.living)
            step = TransferPlan.next(
                record, wanted: wanted[shard.number], standIns: others, view: view, mayAdd: mayAdd)
        }
        switch step {
        case .nothing: return
        case .drop(let backup, let isForCause):
            if isForCause { backOff.removed(backup, nowMs: nowMs) }
            places[shard.number].replica?.drop(backup, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
        case .add(let learner):
            guard budget.beginSending(shard) else { return }
            places[shard.number].replica?.add(learner, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
        case .handOver(let backup):
            places[shard.number].replica?.handOver(
                to: backup, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
        }
        carryOut(shard)
    }

    /// All replicas are lost for good: the shard begins anew here, if this node is the one for it (design, rule 8).
    private mutating func beginAnewIfLost(_ shard: ShardID) {
        guard view.maySwap, isPinnedHere(shard), !places[shard.number].isBeginning,
            nowMs >= places[shard.number].nextBeginningMs, !wanted.isEmpty,
            // The answer to a swap that this node asked for as a replica would be taken for that of the beginning.
            places[shard.number].replica?.awaitsSwap != true,
            let primary = places[shard.number].currentPrimary(), view.isLost(primary),
            let route = places[shard.number].route,
            let record = LossPlan.fresh(route.record, wanted: wanted[shard.number], view: view, own: node)
        else { return }
        places[shard.number].nextBeginningMs = nowMs + settings.resendMs
        places[shard.number].isBeginning = true
        out.append(.swap(shard, from: route.revision, to: record))
    }
}
