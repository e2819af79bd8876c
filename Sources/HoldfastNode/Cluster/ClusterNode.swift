internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport
internal import Synchronization

/// A node's part in a cluster of processes: a thin shell around the machines that decide (`CoordinatorMachine`,
/// `MembershipMachine`), with etcd and the links to other nodes. On the first of the node's loops; the shards are the
/// loops' own.
actor ClusterNode: NodeCluster {
    let config: ClusterConfig
    let layout: ShardLayout
    let rules: UInt32
    let log: Log
    nonisolated let loop: EventLoop
    private let url: String
    private let requestEnd: @Sendable () -> Void
    private let mark: UInt64

    private var coordinator: CoordinatorMachine
    private var membership: MembershipMachine?
    private var etcd: EtcdClient?
    var links: ClusterLinks?
    private var loops: [NodeLoop] = []
    private var timer: LoopTimer?
    /// What the loops are told when they are there.
    private var waiting: [LoopInput] = []
    private var memberEffects: [MembershipMachine.Effect] = []
    var registered: [NodeInfo] = []
    private var named: Set<NodeID> = []
    var areRecordsBroken = false
    private var hasListed = false
    var bootstrap = BootstrapWatch()

    private let joined = Gate()
    private let left = Gate()
    private nonisolated let ready = Atomic(false)
    /// When the membership must have had its turn.
    private nonisolated let dueMs = Atomic<Int64>(.max)

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Parameter requestEnd: asks the process to end, as a signal does.
    init(
        _ config: ClusterConfig, loop: EventLoop, url: String, layout: ShardLayout, rules: UInt32, log: Log,
        requestEnd: @escaping @Sendable () -> Void
    ) {
        self.requestEnd = requestEnd
        self.config = config
        self.loop = loop
        self.url = url
        self.layout = layout
        self.rules = rules
        self.log = log
        mark = UInt64.random(in: 1...(.max))
        coordinator = CoordinatorMachine(
            claim: NodeClaim(name: config.node, incarnation: nil, roles: [], host: "", isDraining: false, mark: 0))
    }

    /// Listens for links, and registers; takes as long as etcd takes.
    func join() async throws -> NodeInfo {
        try listen()
        let codec = EtcdCodec(keys: EtcdKeys(cluster: config.cluster), layout: layout)
        etcd = EtcdClient(
            loop: loop, codec: codec, options: EtcdOptions(endpoints: config.etcd, trust: config.etcdTrust), log: log
        ) { [weak self] word in self?.assumeIsolated { $0.heard(word) } }
        timer = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.timePassed() } }
        log.info("cluster.joining", ("node", .text(config.node)), ("etcd", .text(config.etcd.joined(separator: ","))))
        turn { $0.coordinate { $0.register(nowMs: $1, into: &$2) } }
        await joined.wait()
        guard let own = membership?.own, let info = membership?.view.nodes.first(where: { $0.id == own }) else {
            throw StartError(message: "another process is registered as \(config.node)")
        }
        return info
    }

    private func listen() throws {
        do throws(LinkError) {
            let links = try ClusterLinks(loop: loop, config: config, log: log)
            self.links = links
            links.received = { [weak self] peer, isReset, words in
                self?.assumeIsolated { $0.received(from: peer, isReset: isReset, words) }
            }
            links.ended = { [weak self] peer in
                self?.assumeIsolated { node in
                    node.turn { $0.membership?.linkEnded(with: peer, nowMs: $0.nowMs, into: &$0.memberEffects) }
                }
            }
            var settings = CoordinatorMachine.Settings()
            settings.shards = layout.count
            coordinator = CoordinatorMachine(
                claim: NodeClaim(
                    name: config.node, incarnation: nil, roles: config.roles, host: config.host,
                    contact: NodeContact(
                        link: config.linkAdvertised ?? links.endpoint, linkKey: config.linkKeys?.publicKey ?? "",
                        url: config.url ?? url), isDraining: false, mark: mark), settings: settings)
        } catch {
            throw StartError(message: "cannot listen for links at \(config.link): \(error)")
        }
    }

    func begin(_ loops: [NodeLoop]) async {
        self.loops = loops
        for input in waiting {
            for loop in loops { loop.post(input) }
        }
        waiting = []
    }

    // MARK: Turns

    private var nowMs: Int64 { loop.nowMs }

    /// Everything that comes is taken in a turn: first of all the membership looks at the time, so that nothing is
    /// decided on what was true before this process stood still.
    private func turn(_ work: (isolated ClusterNode) -> Void) {
        let nowMs = nowMs
        if let due = membership?.nextDeadlineMs(), due <= nowMs {
            membership?.tick(nowMs: nowMs, into: &memberEffects)
            carryOutMembership()
        }
        work(self)
        carryOutMembership()
        links?.flush()
        armTimer()
    }

    private func armTimer() {
        let membershipMs = membership?.nextDeadlineMs() ?? .max
        dueMs.store(membershipMs, ordering: .relaxed)
        let next = min(membershipMs, coordinator.nextDeadlineMs, bootstrap.deadlineMs)
        if next < .max, timer?.deadlineMs != next { timer?.schedule(atMs: next) }
    }

    private func timePassed() {
        turn { node in
            node.coordinate { $0.tick(nowMs: $1, into: &$2) }
            node.bootstrapIfDue()
        }
    }

    nonisolated func isOverdue(nowMs: Int64) -> Bool { nowMs - dueMs.load(ordering: .relaxed) > 300 }

    private func tell(_ input: LoopInput) {
        if loops.isEmpty { waiting.append(input) }
        for loop in loops { loop.post(input) }
    }

    private func tell(_ input: LoopInput, shard: ShardID) {
        guard !loops.isEmpty else { return waiting.append(input) }
        loops[shard.number % loops.count].post(input)
    }

    // MARK: The coordinator

    private func coordinate(_ work: (inout CoordinatorMachine, Int64, inout [CoordinatorMachine.Effect]) -> Void) {
        var effects: [CoordinatorMachine.Effect] = []
        work(&coordinator, nowMs, &effects)
        var records: [(ShardID, VersionedRecord?)] = []
        for effect in effects {
            if case .record(let shard, let record) = effect {
                records.append((shard, record))
                continue
            }
            if !records.isEmpty { tell(.records(records)) }
            records = []
            carryOut(effect)
        }
        if !records.isEmpty { tell(.records(records)) }
    }

    private func carryOut(_ effect: CoordinatorMachine.Effect) {
        switch effect {
        case .ask(let id, let request): etcd?.ask(id, request)
        case .joined(let info):
            membership = MembershipMachine(own: info, nowMs: nowMs)
            links?.own = info.id
            log.info("cluster.joined", ("node", .text(info.id.text)))
            joined.open()
        case .nodes(let nodes, let revision, let askedAtMs): see(nodes, revision, askedAtMs: askedAtMs)
        // Told together by the caller.
        case .record: break
        case .named(let nodes):
            named = nodes
            membership?.named(nodes, nowMs: nowMs, into: &memberEffects)
        case .recordsBroken(let isBroken):
            areRecordsBroken = isBroken
            if isBroken { log.warning("cluster.recordsMissing") } else { log.info("cluster.recordsComplete") }
            membership?.recordsBroken(isBroken, nowMs: nowMs, into: &memberEffects)
            judgeReadiness()
        case .swapped(let shard, let result): tell(.swapEnded(shard, result), shard: shard)
        case .ordered(let order): carryOut(order)
        case .listed:
            hasListed = true
            judgeReadiness()
        case .replaced:
            // Its shards are no longer its own, and no word of it counts.
            log.error("cluster.replaced", ("node", .text(config.node)))
            if membership == nil { joined.open() } else { endProcess(status: 1) }
        }
    }

    private func carryOut(_ order: NodeOrder) {
        switch order {
        case .drain(let node):
            guard node == membership?.own else { return }
            log.info("cluster.drainOrdered")
            requestEnd()
        case .forget(let node):
            log.warning("cluster.forgetOrdered", ("node", .text(node.text)))
            membership?.forget(node, nowMs: nowMs, into: &memberEffects)
        }
    }

    private func see(_ nodes: [NodeInfo], _ revision: UInt64, askedAtMs: Int64) {
        if nodes.map(\.id) != registered.map(\.id) {
            log.info("cluster.nodes", ("registered", .text(nodes.map(\.id.text).joined(separator: " "))))
            bootstrap.nodesChanged(nowMs: nowMs)
        }
        registered = nodes
        links?.know(nodes)
        membership?.registrations(
            nodes, revision: revision, askedAtMs: askedAtMs, nowMs: nowMs, into: &memberEffects)
    }

    private func heard(_ word: EtcdClient.Word) {
        turn { node in
            switch word {
            case .answered(let id, let answer):
                node.coordinate { $0.answered(id, answer, nowMs: $1, into: &$2) }
                if node.isLeaving, case .none = answer { node.left.open() }
            case .unanswered(let id): node.coordinate { $0.unanswered(id, nowMs: $1, into: &$2) }
            case .changed(let events): node.coordinate { $0.changed(events, into: &$2) }
            case .watchEnded: node.coordinate { $0.watchEnded(nowMs: $1, into: &$2) }
            }
        }
    }

    func swap(_ shard: ShardID, from revision: UInt64, to record: ShardRecord, by loop: isolated NodeLoop) {
        onOwnLoop { node in
            node.turn { $0.coordinate { $0.swap(shard, from: revision, to: record, nowMs: $1, into: &$2) } }
        }
    }

    func read(_ shard: ShardID, by loop: isolated NodeLoop) {
        onOwnLoop { node in node.turn { $0.coordinate { $0.read(shard, nowMs: $1, into: &$2) } } }
    }

    func send(_ parcels: [PeerParcel], from loop: isolated NodeLoop) {
        onOwnLoop { node in
            for parcel in parcels { node.links?.send(parcel) }
            node.links?.flush()
        }
    }

    private nonisolated func onOwnLoop(_ work: @escaping @Sendable (isolated ClusterNode) -> Void) {
        if loop.isCurrent {
            assumeIsolated(work)
        } else {
            loop.execute { self.assumeIsolated(work) }
        }
    }

    // MARK: Other nodes

    private func received(from peer: NodeID, isReset: Bool, _ words: [NodeWord]) {
        turn { node in
            let nowMs = node.nowMs
            node.membership?.heard(from: peer, nowMs: nowMs, into: &node.memberEffects)
            let count = node.loops.count
            guard count > 0 else { return }
            var messages = [[Host.Message]](repeating: [], count: count)
            for word in words {
                switch word {
                case .heartbeat(let heartbeat):
                    node.membership?.heartbeat(from: peer, heartbeat, nowMs: nowMs, into: &node.memberEffects)
                case .message(let message):
                    let loop = Host.loop(of: message, loops: count)
                    if loop < count { messages[loop].append(message) }
                }
            }
            for (i, messages) in messages.enumerated() where isReset || !messages.isEmpty {
                node.loops[i].post(.peer(peer, isReset: isReset, messages))
            }
        }
    }

    private func carryOutMembership() {
        var isNew = false
        while !memberEffects.isEmpty {
            let effects = memberEffects
            memberEffects.removeAll(keepingCapacity: true)
            for effect in effects {
                switch effect {
                case .send(let peer, let heartbeat):
                    // Who answers for a loop that hangs would lie.
                    if !isLoopHanging { links?.send(heartbeat, to: peer) }
                case .probe(let peer): probe(peer)
                case .changed: isNew = true
                }
            }
        }
        guard isNew, let view = membership?.view else { return }
        links?.forget { view.isLost($0) }
        tell(.view(view))
        judgeReadiness()
    }

    private var isLoopHanging: Bool {
        let nowMs = nowMs
        return loops.contains { $0.loop !== loop && nowMs - $0.turnedMs.load(ordering: .relaxed) > 800 }
    }

    private func probe(_ peer: NodeID, again: Int = 0) {
        guard let address = links?.address(of: peer) else { return }
        PortProbe.run(host: address.host, port: address.port, on: loop, timeoutMs: 400) { [weak self] answer in
            self?.assumeIsolated { node in
                switch answer {
                case .refused:
                    node.turn { $0.membership?.refused(peer, nowMs: $0.nowMs, into: &$0.memberEffects) }
                // Whoever is just ending takes a few milliseconds for it.
                case .closed: if again < 50 { node.probe(peer, again: again + 1) }
                case .open, .unknown: break
                }
            }
        }
    }

    // MARK: Readiness and leaving

    nonisolated var isReady: Bool { ready.load(ordering: .relaxed) }

    private func judgeReadiness() {
        let isReady = hasListed && !areRecordsBroken && membership?.view.mayTell ?? false
        if ready.exchange(isReady, ordering: .relaxed) != isReady {
            log.info("cluster.ready", ("ready", .flag(isReady)))
        }
    }

    private var isLeaving = false

    func leave() async {
        coordinate { $0.drain(nowMs: $1, into: &$2) }
        let deadlineMs = nowMs + Self.drainMs
        while let own = membership?.own, named.contains(own), nowMs < deadlineMs { await pause(ms: 20) }
        if let own = membership?.own, named.contains(own) { log.warning("cluster.drainTooLong") }
        // The last acknowledgements are on their way.
        await pause(ms: 100)
        isLeaving = true
        coordinate { $0.leave(nowMs: $1, into: &$2) }
        let patience = LoopTimer(loop: loop) { [left] in left.open() }
        patience.schedule(afterMs: 500)
        await left.wait()
        patience.cancel()
        timer?.cancel()
        etcd?.close()
        links?.close()
        log.info("cluster.left")
    }

    /// For shards to move to other nodes.
    static let drainMs: Int64 = 20_000

    private func pause(ms: Int64) async {
        let gate = Gate()
        let timer = LoopTimer(loop: loop) { gate.open() }
        timer.schedule(afterMs: ms)
        await gate.wait()
    }

    // MARK: The first records

    func bootstrapIfDue() {
        guard bootstrap.isDue(nowMs: nowMs), config.bootstraps, areRecordsBroken else { return }
        let wanted = Placement.wanted(layout: layout, nodes: registered, replicas: config.replicas)
        let records = wanted.keys.sorted().compactMap { shard -> (shard: ShardID, record: ShardRecord)? in
            guard let nodes = wanted[shard], let primary = nodes.first else { return nil }
            return (
                shard,
                ShardRecord(
                    generation: 1, epoch: 1, primary: primary, backups: Array(nodes.dropFirst()), rules: rules)
            )
        }
        guard records.count == layout.count else { return bootstrap.nodesChanged(nowMs: nowMs) }
        log.info("cluster.bootstrapping", ("nodes", .number(registered.count)))
        etcd?.bootstrap(records) { [weak self] isDone in
            self?.assumeIsolated { node in
                // In parts, perhaps: the next attempt leaves them alone.
                guard isDone else { return node.bootstrap.nodesChanged(nowMs: node.nowMs) }
                node.log.info("cluster.bootstrapped")
            }
        }
    }
}

/// When the first records are written: some time after the last node has come, so that they are spread at once.
struct BootstrapWatch {
    static let quietMs: Int64 = 2_000
    private(set) var deadlineMs: Int64 = .max

    mutating func nodesChanged(nowMs: Int64) { deadlineMs = nowMs + Self.quietMs }

    mutating func isDue(nowMs: Int64) -> Bool {
        guard nowMs >= deadlineMs else { return false }
        deadlineMs = .max
        return true
    }
}
