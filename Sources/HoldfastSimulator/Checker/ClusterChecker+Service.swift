import HoldfastProtocol
import HoldfastReplication

/// Who holds what, for how long nobody does, and who is left out for it (invariants 13 and 16).
extension ClusterChecker {
    /// A hand-over takes no longer than a frame's interval at the usual rate, and this.
    static let handOverMs: Int64 = 67 + 100
    static let killMs: Int64 = 300

    func serveAll(_ world: SimWorld) {
        for shard in homes { serve(shard, world) }
    }

    /// Notes whether the shard is open now.
    func serve(_ shard: ShardID, _ world: SimWorld) {
        let i = shard.number
        let holder = holder(shard)
        if let holder, services[i].epochHolder != holder.node {
            services[i].epochHolder = holder.node
            // A shard that begins has nobody whose presence it could hold.
            let isFirst = services[i].generation != holder.glance.generation
            services[i].generation = holder.glance.generation
            services[i].epochStartUs = isFirst ? .min / 2 : world.nowUs
        }
        let isServed = holder.map { $0.glance.isOpen && $0.glance.mayTell && isAble($0.slot, world) } ?? false
        var isKill = false
        if !isServed, case .crash? = world.step.fault, let last = services[i].lastHolder,
            world.process(of: last) == nil,
            let record = truths[i].record?.record
        {
            isKill = record.members.contains { $0 != last && world.process(of: $0) != nil }
        }
        let ended = services[i].set(isServed ? holder?.node : nil, isKill: isKill, nowUs: world.nowUs)
        if let ended, let found = check(ended, shard) { world.report(found) }
    }

    private func isAble(_ slot: Int, _ world: SimWorld) -> Bool {
        guard let process = world.slots[slot].process, !process.isPaused else { return false }
        return process.host?.isInTouch(atMs: process.nowMs) ?? false
    }

    private func check(_ pause: ShardService.Pause, _ shard: ShardID) -> Violation? {
        guard let ms = pause.ms, let most = mostPauseMs(pause), ms > most else { return nil }
        return Violation(
            16,
            "\(shard.short) was closed for \(ms) ms (from \(Trace.stamp(pause.fromUs))), and \(most) ms are the most"
                + (pause.isKill ? " after a kill" : ""))
    }

    /// Nil: as long as it takes.
    private func mostPauseMs(_ pause: ShardService.Pause) -> Int64? {
        if plan.faults.isEmpty { return Self.handOverMs }
        guard plan.faults.count == 1 else { return nil }
        switch plan.faults[0].fault {
        // Who is alone has nobody to hand over to.
        case .drain: return plan.setup.nodes > 1 ? Self.handOverMs : nil
        case .crash(_, let downMs):
            guard pause.isKill else { return nil }
            // The end of a link is seen at once, and a connect is refused, or the name is registered anew soon.
            let isBackSoon = downMs.map { $0 < 60 } ?? false
            return Self.killMs + 30 + (isBackSoon ? Int64(downMs ?? 0) + 220 : 0)
        default: return nil
        }
    }

    // MARK: Healthy nodes

    /// A record drops nobody who is well (invariant 13).
    func checkHealthy(
        _ shard: ShardID, _ old: ShardRecord, _ new: ShardRecord, by node: NodeID?
    ) -> Violation? {
        Self.faultOfHealth(old, new, by: node, plan: plan).map {
            Violation(
                13, "\(shard.short): \(node?.short ?? "nobody known") made \(new.short) of \(old.short): \($0)")
        }
    }

    static func faultOfHealth(_ old: ShardRecord, _ new: ShardRecord, by node: NodeID?, plan: FaultPlan) -> String? {
        let faulty = plan.onlyFaulty
        guard plan.faults.isEmpty || faulty != nil else { return nil }
        // Of two nodes that do not reach each other, either may be the one that is cut off.
        let isTorn = plan.faults.contains { $0.fault.kind == .partition }
        if isTorn, plan.setup.nodes <= 2 { return nil }
        let isByActing = node == old.handover ?? old.primary
        // What balancing takes out was one more than is wanted.
        let isBalancing = isByActing && new.members.count >= plan.setup.replicas
        for gone in old.members where !new.lists(gone) {
            if let faulty, gone.name == "n\(faulty)" { continue }
            // Who was handed a shard drops who is silent for 200 ms (rule 5), and cannot know that the cut is its own.
            if isTorn, let faulty, gone == old.handover, node == old.primary, node?.name == "n\(faulty)" { continue }
            if !isBalancing { return "\(gone.short) is well, and is dropped" }
        }
        if plan.faults.isEmpty, new.primary == old.primary, Set(new.members) == Set(old.members), new.handover == nil,
            old.handover == nil
        {
            return "nothing is wrong, and nothing but the epoch changes"
        }
        return nil
    }

    // MARK: Progress

    /// 10 s after the last fault every shard has a started primary in touch, and its replicas if nodes permit.
    func checkProgress(_ world: SimWorld, isEnd: Bool) -> Violation? {
        for shard in homes {
            serve(shard, world)
            noteBlocked(shard, world)
        }
        guard world.isQuiet, world.nowMs >= Int64(plan.quietAtMs) + 10_000 else { return nil }
        for shard in homes {
            let i = shard.number
            guard let record = truths[i].record?.record else {
                return Violation(16, "\(shard.short) has no record")
            }
            let servedUs = services[i].lastServedUs ?? 0
            if world.nowUs - servedUs > 1_000_000 {
                let members = listed(shard).map { "\($0.node.short) \(slots[$0.slot].glances[i]?.short ?? "nothing")" }
                return Violation(
                    16,
                    "\(shard.short) has not been open since \(Trace.stamp(servedUs)); the record is \(record.short); "
                        + members.joined(separator: "; "))
            }
            if let found = checkReplicas(shard, record, world) { return found }
        }
        return nil
    }

    private func checkReplicas(_ shard: ShardID, _ record: ShardRecord, _ world: SimWorld) -> Violation? {
        let living = world.slots.compactMap { slot -> NodeID? in
            guard let process = slot.process, process.isServing else { return nil }
            return process.node
        }
        let wanted = min(plan.setup.replicas, living.count)
        let members = record.members.filter(living.contains)
        if members.count >= wanted { return nil }
        if world.nowUs - services[shard.number].blockedUs < 3_000_000 { return nil }
        return Violation(
            16,
            "\(shard.short) is \(record.short), \(members.count) of them live, \(wanted) are wanted, and "
                + living.map(\.short).joined(separator: " ") + " live")
    }

    /// Who was removed for a cause waits until it may come again.
    private func noteBlocked(_ shard: ShardID, _ world: SimWorld) {
        guard let holder = holder(shard), let process = world.slots[holder.slot].process, let host = process.host,
            let record = truths[shard.number].record?.record
        else { return }
        let isBlocked = slots.contains { slot in
            guard let node = slot.node, !record.lists(node) else { return false }
            return host.isWaiting(node, nowMs: process.nowMs)
        }
        if isBlocked { services[shard.number].blockedUs = world.nowUs }
    }
}
