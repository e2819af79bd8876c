import HoldfastModel
public import HoldfastProtocol
import HoldfastReplication

/// Looks into the nodes of a simulation for what must hold of their logs, records, channels and states
/// (`spec/simulation.md`; what clients are told is `ClientChecker`'s). After each step it looks at what the step
/// touched; at everything every quarter of a second, and at the end.
public final class ClusterChecker: Checker {
    /// Simulated time between two looks at everything.
    static let wholeUs: Int64 = 250_000
    /// Between two comparisons of states.
    static let digestUs: Int64 = 1_000_000

    let plan: FaultPlan
    let homes: [ShardID]
    var truths: [ShardTruth]
    var clocks: [ShardClock]
    var services: [ShardService]
    var slots: [SlotView]
    var rest = RestWatch()
    var offlineMarks: [PlayerKey: OfflineMark] = [:]
    /// Since when registered nodes are not registered any more.
    var absentSinceUs: [NodeID: Int64] = [:]
    /// By incarnation: when processes ended.
    var endsUs: [UInt64: Int64] = [:]
    private var wholeDueUs: Int64 = 0
    private var digestDueUs: Int64 = 0
    private var glances: [ReplicaGlance?] = []
    /// For how long shards were closed, in milliseconds, and whether their holder had died while another replica lived.
    public var pauses: [(shard: ShardID, ms: Int64, isKill: Bool)] {
        homes.flatMap { shard in
            services[shard.number].pauses.compactMap { pause in pause.ms.map { (shard, $0, pause.isKill) } }
        }
    }

    /// Steps and looks, for those who want to know what this costs.
    public private(set) var looks = (steps: 0, changes: 0, wholes: 0)

    /// What is known of the process of a slot, as of the last step that touched it.
    struct SlotView {
        var serial = 0
        var node: NodeID?
        var glances: [ReplicaGlance?]
        /// By home: what its replica knows of shard time.
        var known: [ShardClock.Known?]
        /// Since when a replica takes commands.
        var openSinceUs: [Int64?]
        /// When the process was paused last, or had too much to do.
        var heldUpUs: Int64 = 0
        var isPaused = false

        init(homes: Int) {
            glances = Array(repeating: nil, count: homes)
            known = Array(repeating: nil, count: homes)
            openSinceUs = Array(repeating: nil, count: homes)
        }
    }

    public init(plan: FaultPlan) {
        self.plan = plan
        homes = plan.setup.layout.homes
        truths = homes.map { ShardTruth($0) }
        clocks = homes.map { _ in ShardClock() }
        services = homes.map { _ in ShardService() }
        slots = (0..<plan.setup.slots).map { _ in SlotView(homes: plan.setup.layout.count) }
    }

    // MARK: Steps

    public func afterStep(_ world: SimWorld) -> Violation? {
        looks.steps += 1
        let step = world.step
        if step.fault != nil {
            for slot in slots.indices { if let found = look(at: slot, world) { return found } }
            serveAll(world)
        } else if let slot = step.slot, let found = look(at: slot, world) ?? checkSent(step.effects, by: slot, world) {
            return found
        }
        for event in step.storeEvents {
            switch event.change {
            case .record(let shard, let record):
                if let found = changed(shard, record, by: step.asker, world) { return found }
            case .registered(let info): absentSinceUs[info.id] = nil
            case .unregistered(let node): absentSinceUs[node] = world.nowUs
            case .ordered: break
            }
        }
        guard world.nowUs >= wholeDueUs else { return nil }
        wholeDueUs = world.nowUs + Self.wholeUs
        return lookAtAll(world)
    }

    public func atEnd(_ world: SimWorld) -> Violation? {
        for slot in slots.indices { if let found = look(at: slot, world) { return found } }
        digestDueUs = 0
        return lookAtAll(world) ?? checkProgress(world, isEnd: true) ?? checkRest(world)
    }

    /// What has changed at a process.
    private func look(at slot: Int, _ world: SimWorld) -> Violation? {
        guard let process = world.slots[slot].process else {
            if slots[slot].node != nil || slots[slot].serial != 0 {
                noteEnd(slot, world)
                slots[slot] = SlotView(homes: homes.count)
                serveAll(world)
            }
            return nil
        }
        if slots[slot].serial != process.serial {
            noteEnd(slot, world)
            slots[slot] = SlotView(homes: homes.count)
            slots[slot].serial = process.serial
        }
        noteHeldUp(slot, process, world)
        guard let node = process.node else { return nil }
        slots[slot].node = node
        glances.removeAll(keepingCapacity: true)
        process.host?.glance(into: &glances)
        for i in homes.indices where glances[i] != slots[slot].glances[i] {
            looks.changes += 1
            guard let new = glances[i] else { continue }
            let old = slots[slot].glances[i]
            slots[slot].glances[i] = new
            if let found = changed(homes[i], at: slot, from: old, to: new, world) { return found }
        }
        return nil
    }

    private func noteEnd(_ slot: Int, _ world: SimWorld) {
        if let node = slots[slot].node { endsUs[node.incarnation] = world.nowUs }
    }

    /// What a process could not do because it stood still, or was busy, is not held against it.
    func noteHeldUp(_ slot: Int, _ process: SimProcess, _ world: SimWorld) {
        if process.isPaused || slots[slot].isPaused || process.turnUs > 0 || process.busyUntilUs > world.nowUs {
            slots[slot].heldUpUs = max(world.nowUs, process.busyUntilUs)
        }
        slots[slot].isPaused = process.isPaused
    }

    private func changed(
        _ shard: ShardID, at slot: Int, from old: ReplicaGlance?, to new: ReplicaGlance, _ world: SimWorld
    ) -> Violation? {
        guard let node = slots[slot].node else { return nil }
        let i = shard.number
        if old?.last != new.last || old?.hash != new.hash || old?.generation != new.generation {
            if let found = keepTime(shard, slot, node, old, new, world) { return found }
            if let found = checkPrefix(shard, slot, node, new, world) { return found }
            let limit = UInt64(ReplicationSettings().tailLimit) + 1_000
            if new.last - min(new.last, new.committed) > limit, new.role == .primary {
                return Violation(15, "\(shard.short): \(node.short) is \(new.short)")
            }
        }
        if old?.isOpen != new.isOpen || old?.mayTell != new.mayTell || old?.role != new.role {
            slots[slot].openSinceUs[i] = new.isOpen ? world.nowUs : nil
            serve(shard, world)
        }
        if new.isStarted, old?.isStarted != true || old?.epoch != new.epoch, let found = check(members: shard, world) {
            return found
        }
        guard let told = new.told, told != old?.told else { return nil }
        if let found = truths[i].tell(told, by: node, hashAt: { self.hash(slot, shard, $0, world) }) { return found }
        return check(members: shard, world)
    }

    func hash(_ slot: Int, _ shard: ShardID, _ index: UInt64, _ world: SimWorld) -> UInt64? {
        world.slots[slot].process?.host?.hash(of: shard, at: index)
    }

    private func keepTime(
        _ shard: ShardID, _ slot: Int, _ node: NodeID, _ old: ReplicaGlance?, _ new: ReplicaGlance, _ world: SimWorld
    ) -> Violation? {
        let i = shard.number
        guard new.last > 0 else {
            slots[slot].known[i] = nil
            return nil
        }
        let nowMs = world.nowMs
        var found: Violation?
        if new.isStarted, new.role == .primary {
            // What came in the very step in which it started is not known apart.
            let isMixed = old?.isStarted != true && new.last > (old?.last ?? 0) + 1
            let known = old?.generation == new.generation && !isMixed ? slots[slot].known[i] : nil
            found = clocks[i].made(new, by: node, of: shard, known: known, nowMs: nowMs)
        }
        slots[slot].known[i] = ShardClock.Known(leadMs: new.timeMs - nowMs, seenMs: nowMs)
        return found
    }

    // MARK: Members

    /// The living replicas that the current record lists.
    func listed(_ shard: ShardID) -> [(slot: Int, node: NodeID)] {
        guard let record = truths[shard.number].record?.record else { return [] }
        return record.members.compactMap { node in
            slots.firstIndex { $0.node == node }.map { ($0, node) }
        }
    }

    func check(members shard: ShardID, _ world: SimWorld) -> Violation? {
        for (slot, node) in listed(shard) {
            let found = truths[shard.number].check(member: node, slots[slot].glances[shard.number]) {
                hash(slot, shard, $0, world)
            }
            if let found { return found }
        }
        return nil
    }

    private func changed(
        _ shard: ShardID, _ record: VersionedRecord, by node: NodeID?, _ world: SimWorld
    ) -> Violation? {
        let i = shard.number
        let before = truths[i].record?.record
        let change = ShardTruth.Change(by: node) { member in self.mayLive(member, world) }
        if let found = truths[i].changed(record, change) { return found }
        if let before, let found = checkHealthy(shard, before, record.record, by: node) { return found }
        serve(shard, world)
        return check(members: shard, world)
    }

    /// Who has not been registered for 30 s counts as dead, even if it goes on somewhere.
    private func mayLive(_ node: NodeID, _ world: SimWorld) -> Bool {
        if let since = absentSinceUs[node], world.nowUs - since >= 29_500_000 { return false }
        return world.process(of: node) != nil
    }

    // MARK: Everything

    private func lookAtAll(_ world: SimWorld) -> Violation? {
        looks.wholes += 1
        let digests = world.nowUs >= digestDueUs
        if digests { digestDueUs = world.nowUs + Self.digestUs }
        for shard in homes {
            if let found = check(members: shard, world) { return found }
            if let found = checkPrefixes(shard, digests: digests, world) { return found }
        }
        noteRest(world)
        return checkChannels(world) ?? checkDeadlines(world) ?? checkStates(world) ?? checkProgress(world, isEnd: false)
    }

    /// A log that has grown, against those of the other listed replicas.
    private func checkPrefix(
        _ shard: ShardID, _ slot: Int, _ node: NodeID, _ new: ReplicaGlance, _ world: SimWorld
    ) -> Violation? {
        let i = shard.number
        guard let record = truths[i].record?.record, record.generation == new.generation, record.lists(node) else {
            return nil
        }
        for (other, its) in listed(shard) where other != slot {
            guard let glance = slots[other].glances[i], glance.generation == new.generation else { continue }
            let index = min(new.last, glance.last)
            guard let mine = index == new.last ? new.hash : hash(slot, shard, index, world),
                let hers = index == glance.last ? glance.hash : hash(other, shard, index, world), mine != hers
            else { continue }
            return Violation(
                3,
                "\(shard.short): logs differ at \(index): \(node.short) (\(new.short)) has \(mine), \(its.short) "
                    + "(\(glance.short)) has \(hers)")
        }
        return nil
    }

    /// Among the listed replicas one log is a prefix of the other (invariant 3).
    private func checkPrefixes(_ shard: ShardID, digests: Bool, _ world: SimWorld) -> Violation? {
        let i = shard.number
        let members = listed(shard)
        for (k, one) in members.enumerated() {
            guard let a = slots[one.slot].glances[i] else { continue }
            for other in members.dropFirst(k + 1) {
                guard let b = slots[other.slot].glances[i], a.generation == b.generation, a.generation > 0 else {
                    continue
                }
                let index = min(a.last, b.last)
                if let mine = hash(one.slot, shard, index, world), let its = hash(other.slot, shard, index, world),
                    mine != its
                {
                    return Violation(
                        3,
                        "\(shard.short): logs differ at \(index): \(one.node.short) (\(a.short)) has \(mine), "
                            + "\(other.node.short) (\(b.short)) has \(its)")
                }
                guard digests, a.last == b.last, a.hash == b.hash else { continue }
                let mine = world.slots[one.slot].process?.host?.digest(of: shard)
                let its = world.slots[other.slot].process?.host?.digest(of: shard)
                if mine != its {
                    return Violation(
                        3,
                        "\(shard.short): states differ at \(index): \(one.node.short) (\(a.short)) and "
                            + "\(other.node.short) (\(b.short))")
                }
            }
        }
        return nil
    }

    /// The started primary of a shard by its current record.
    func holder(_ shard: ShardID) -> (slot: Int, node: NodeID, glance: ReplicaGlance)? {
        guard let record = truths[shard.number].record?.record else { return nil }
        // A hand-over that is decided and not carried out: who hands over still holds it.
        for node in [record.primary, record.handover].compactMap({ $0 }) {
            guard let slot = slots.firstIndex(where: { $0.node == node }),
                let glance = slots[slot].glances[shard.number], glance.isStarted, glance.role == .primary,
                glance.generation == record.generation
            else { continue }
            return (slot, node, glance)
        }
        return nil
    }
}
