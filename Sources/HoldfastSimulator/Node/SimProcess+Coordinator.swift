import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// The shell's side of the coordinator: registration and lease, listing and watching, swaps and reads.
extension SimProcess {
    private static let keepAliveMs: Int64 = 1_500
    private static let listingMs: Int64 = 3_000

    @discardableResult
    func ask(_ request: StoreRequest) -> UInt64 {
        lastAsk += 1
        asks.append(OpenAsk(id: lastAsk, request: request, atMs: nowMs))
        world.ask(request, id: lastAsk, from: self)
        return lastAsk
    }

    private func take(_ id: UInt64) -> OpenAsk? {
        asks.firstIndex { $0.id == id }.map { asks.remove(at: $0) }
    }

    // MARK: Registration

    /// Registers, or registers again: under a new lease, in place of what stood there as far as this process knows.
    /// That a request was not answered does not mean that it is not carried out, maybe much later: what has come of it
    /// is seen before another one is made, and none takes effect when its lease is gone.
    func register() {
        guard !isRegistering else { return }
        isRegistering = true
        ask(.grant)
    }

    private func register(under lease: UInt64) {
        newLease = lease
        var isDraining = false
        if case .leaving = phase { isDraining = true }
        var incarnation = node?.incarnation
        if incarnation == nil, world.options.worldMutations.contains(.noIncarnation) { incarnation = UInt64(slot) + 1 }
        let own = SimRegistration(
            name: name, incarnation: incarnation, roles: .all, host: hostLabel, isDraining: isDraining,
            mark: mark)
        ask(.register(own, lease: lease, after: registrationRevision))
    }

    private func registrationLost(_ now: SimStore.Registration?) {
        registrationRevision = now?.revision ?? 0
        if let now, now.mark == mark {
            // An earlier request of this process.
            if now.lease == newLease { return registered(now.info, now.lease, now.revision) }
        } else if let now, let node, now.info.id.incarnation > node.incarnation {
            // A newer process has the name.
            world.left(slot)
            return
        }
        register(under: newLease)
    }

    private func registered(_ info: NodeInfo, _ lease: UInt64, _ revision: UInt64) {
        isRegistering = false
        registrationRevision = revision
        self.lease = lease
        nextKeepAliveMs = nowMs + Self.keepAliveMs
        guard node == nil else { return }
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
        list()
    }

    func keepAlive() {
        nextKeepAliveMs = nowMs + Self.keepAliveMs
        ask(.keepAlive(lease: lease))
    }

    // MARK: Listing and watching

    func list() {
        guard !isListing else { return }
        isListing = true
        ask(.list)
    }

    func listNodes() {
        nextListingMs = nowMs + Self.listingMs
        ask(.listNodes)
    }

    private func listed(_ records: [VersionedRecord?], _ nodes: [NodeInfo], _ revision: UInt64, askedAtMs: Int64) {
        let isFirst = storeRevision == 0
        isListing = false
        nextListingMs = nowMs + Self.listingMs
        see(nodes, revision, askedAtMs: askedAtMs)
        for (number, record) in records.enumerated() { see(ShardID(number: number), record) }
        nameMembers()
        storeRevision = max(storeRevision, revision)
        ask(.watch(after: revision))
        if isFirst { world.serves(slot) }
    }

    private func see(_ nodes: [NodeInfo], _ revision: UInt64, askedAtMs: Int64) {
        if revision >= storeRevision { registered = nodes }
        membership?.registrations(
            nodes, revision: revision, askedAtMs: askedAtMs, nowMs: nowMs, into: &memberEffects)
    }

    private func see(_ shard: ShardID, _ record: VersionedRecord?) {
        host?.recordSeen(shard, record, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
        areRecordsNew = true
        work()
    }

    /// Whom records name, as far as they were seen.
    private func nameMembers() {
        guard areRecordsNew else { return }
        areRecordsNew = false
        var named: Set<NodeID> = []
        for shard in world.homes {
            if let record = host?.route(of: shard)?.record { named.formUnion(record.members) }
        }
        membership?.named(named, nowMs: nowMs, into: &memberEffects)
    }

    func changed(_ events: [StoreEvent]) {
        var areNodesNew = false
        for event in events {
            // After a new listing, a watch may repeat what that had.
            guard event.revision > storeRevision else { continue }
            storeRevision = event.revision
            switch event.change {
            case .record(let shard, let record): see(shard, record)
            case .registered(let info):
                registered.removeAll { $0.id.name == info.id.name }
                registered.append(info)
                areNodesNew = true
            case .unregistered(let id):
                registered.removeAll { $0.id == id }
                areNodesNew = true
            }
        }
        nameMembers()
        guard areNodesNew else { return }
        registered.sort { $0.id < $1.id }
        // What a watch brings was asked for when it was opened.
        see(registered, storeRevision, askedAtMs: watchOpenedMs)
    }

    // MARK: Answers

    func answered(_ id: UInt64, _ answer: StoreAnswer) {
        // A late answer of a request that was given up: what it says is still true, but nobody waits for it.
        guard let ask = take(id) else { return }
        switch answer {
        case .granted(let lease): register(under: lease)
        case .registered(let info, let lease, let revision): registered(info, lease, revision)
        case .registrationLost(let now): registrationLost(now)
        case .leaseGone:
            isRegistering = false
            register()
        case .kept(let isAlive):
            if !isAlive { register() }
        case .listing(let records, let nodes, let revision): listed(records, nodes, revision, askedAtMs: ask.atMs)
        case .nodes(let nodes, let revision): see(nodes, revision, askedAtMs: ask.atMs)
        case .record(let shard, let record):
            see(shard, record)
            nameMembers()
        case .swapped(let shard, let result):
            host?.swapEnded(shard, result, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
        case .watching: watchOpenedMs = ask.atMs
        case .compacted: list()
        case .none: break
        }
    }

    func unanswered(_ id: UInt64) {
        guard let ask = take(id) else { return }
        switch ask.request {
        case .grant, .register:
            isRegistering = false
            register()
        case .keepAlive: keepAlive()
        case .revoke: break
        case .listNodes: listNodes()
        case .list, .watch:
            isListing = false
            list()
        case .read(let shard): self.ask(.read(shard))
        case .swap(let shard, _, _):
            host?.swapEnded(shard, .inDoubt, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
        }
    }

    // MARK: Leaving

    func drain() {
        guard case .serving = phase else { return }
        phase = .leaving(sinceMs: nowMs)
        register()
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
        ask(.revoke(lease: lease))
        world.left(slot)
    }
}
