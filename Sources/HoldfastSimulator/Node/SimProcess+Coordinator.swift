import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// The shell around the machine that deals with the coordinator.
extension SimProcess {
    /// To the machine, and carries out what comes of it before anything else.
    func coordinate(_ work: (inout CoordinatorMachine, Int64, inout [CoordinatorMachine.Effect]) -> Void) {
        var effects: [CoordinatorMachine.Effect] = []
        work(&coordinator, nowMs, &effects)
        for effect in effects { carryOut(effect) }
    }

    private func carryOut(_ effect: CoordinatorMachine.Effect) {
        switch effect {
        case .ask(let id, let request): world.ask(request, id: id, from: self)
        case .joined(let info): joined(info)
        case .nodes(let nodes, let revision, let askedAtMs):
            membership?.registrations(
                nodes, revision: revision, askedAtMs: askedAtMs, nowMs: nowMs, into: &memberEffects)
        case .record(let shard, let record):
            host?.recordSeen(shard, record, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
            work()
        case .named(let nodes): membership?.named(nodes, nowMs: nowMs, into: &memberEffects)
        case .recordsBroken(let isBroken):
            membership?.recordsBroken(isBroken, nowMs: nowMs, into: &memberEffects)
        case .swapped(let shard, let result):
            host?.swapEnded(shard, result, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
        // Nobody gives any: drains come by a signal.
        case .ordered: break
        case .listed: world.serves(slot)
        case .replaced: world.left(slot)
        }
    }

    private func joined(_ info: NodeInfo) {
        node = info.id
        phase = .serving
        var settings = world.setup.replication
        settings.replicas = world.setup.replicas
        settings.mutations = world.options.mutations
        host = SimHost(
            node: info.id, layout: world.setup.layout, configuration: world.limits, settings: settings,
            generator: SimRandom(seed: generator.next()))
        var membershipSettings = MembershipSettings()
        membershipSettings.countsOwnStall = world.options.worldMutations.contains(.ownStall)
        membership = MembershipMachine(own: info, settings: membershipSettings, nowMs: nowMs)
        nextSweepMs = nowMs + 100
        world.trace.line(world.nowUs, "\(name) is \(info.id)")
    }

    // MARK: Leaving

    func drain() {
        guard case .serving = phase else { return }
        phase = .leaving(sinceMs: nowMs)
        coordinate { $0.drain(nowMs: $1, into: &$2) }
        for endpoint in endpoints { endpoint.isDraining = true }
        drainLinks()
        drainChecksMs = nowMs + 100
    }

    func checkDrained() {
        drainChecksMs = nowMs + 100
        guard case .leaving(let sinceMs) = phase, let node else { return }
        let isEmpty = world.homes.allSatisfy { !(host?.route(of: $0)?.record.lists(node) ?? false) }
        guard isEmpty || nowMs - sinceMs > 6_000 else { return }
        drainChecksMs = .max
        coordinate { $0.leave(nowMs: $1, into: &$2) }
        world.left(slot)
    }
}
