public import HoldfastModel
public import HoldfastProtocol
internal import HoldfastReplication

/// A whole cluster in one thread: nodes, their links, the coordinator, clients, clocks, and what goes wrong. One seed
/// and one plan always make the same story.
public final class SimWorld {
    public let seed: UInt64
    public let plan: FaultPlan
    public let options: SimOptions
    public let limits: SharedLimits
    /// All shards that have a log.
    public let homes: [ShardID]
    public var setup: SimSetup { plan.setup }

    public internal(set) var nowUs: Int64 = 0
    public internal(set) var slots: [SimSlot]
    public internal(set) var trace: Trace
    /// What the step under way did.
    public internal(set) var step = SimStep()
    public internal(set) var counters = SimCounters()
    /// The first one found; the simulation ends with it.
    public internal(set) var violation: Violation?
    /// All faults are over.
    public internal(set) var isQuiet = false

    var agenda = Agenda<SimEvent>()
    var network: SimNetwork
    var front: StoreFront
    var leasesDueUs: Int64 = .max
    var sockets: [SimSocket?] = []
    var players: any SimPlayers
    var playersDueMs: Int64 = .max
    var orders: [ClientOrder] = []
    let checkers: [any Checker]
    /// Whether a fault of the plan holds now, by its place there.
    var activeFaults: [Bool]
    /// Slots that a rolling restart still has to come to.
    var rolling: [Int] = []
    var rollingDownMs = 0
    /// The one that it is at.
    var rollingSlot: Int?
    var random: SimRandom
    var isBootstrapped = false
    /// By number of the home.
    private var generations: [UInt64?]
    /// Shards whose newest epoch has not started yet.
    private var starting: [(shard: ShardID, epoch: UInt64, primary: NodeID, isOther: Bool)] = []
    /// By shard: who was told to be primary last.
    private var primaries: [Int: NodeID] = [:]

    public init(
        seed: UInt64, plan: FaultPlan, options: SimOptions = SimOptions(), players: any SimPlayers = NoPlayers(),
        checkers: [any Checker] = [], write: ((String) -> Void)? = nil
    ) {
        self.seed = seed
        self.plan = plan
        self.options = options
        self.players = players
        self.checkers = checkers
        homes = plan.setup.layout.homes
        let setup = plan.setup
        limits = SharedLimits(setup.limits, layout: setup.layout, mutations: options.modelMutations)
        trace = Trace(write: write)
        slots = (0..<setup.slots).map { SimSlot(name: "n\($0)", host: setup.hosts.isEmpty ? "" : setup.hosts[$0]) }
        network = SimNetwork(slots: setup.slots, random: SimRandom(seed: seed, stream: 2))
        var front = StoreFront(
            shards: setup.layout.count, slots: setup.slots, random: SimRandom(seed: seed, stream: 3))
        front.store.mutations = options.worldMutations
        self.front = front
        random = SimRandom(seed: seed, stream: 4)
        generations = Array(repeating: nil, count: setup.layout.count)
        activeFaults = Array(repeating: false, count: plan.faults.count)
        for slot in 0..<setup.nodes {
            agenda.add(.boot(slot: slot, serial: 0), atUs: Int64(random.below(50_000)))
        }
        for (i, scheduled) in plan.faults.enumerated() {
            agenda.add(.faultBegins(i), atUs: Int64(scheduled.atMs) * 1_000)
        }
        agenda.add(.quiet, atUs: Int64(plan.quietAtMs) * 1_000)
    }

    // MARK: What can be seen

    public var nowMs: Int64 { nowUs / 1000 }
    public var store: SimStore { front.store }

    /// The process of a slot; nil: it is down.
    public func process(_ slot: Int) -> SimProcess? { slots[slot].process }

    /// The living process of a node.
    public func process(of node: NodeID) -> SimProcess? {
        guard let slot = slot(of: node), let process = slots[slot].process, process.node == node else { return nil }
        return process
    }

    func slot(of node: NodeID) -> Int? {
        // Names are "n" and the number of the slot.
        guard let slot = Int(node.name.dropFirst()), slots.indices.contains(slot) else { return nil }
        return slot
    }

    /// What somebody saw that must not be. The first one counts.
    public func report(_ found: Violation) {
        if violation == nil { violation = found }
    }

    // MARK: Running

    /// How long the finale lasts after the end of the plan, in simulated time.
    static let finaleUs: Int64 = (SimClients.matchAfterMs + 1_000) * 1_000

    /// Runs to the end of the plan and through the finale, or to the first violation.
    public func run() {
        players.start(nowMs: nowMs, into: &orders)
        carryOutOrders()
        let endUs = Int64(plan.endMs) * 1_000
        takeSteps(untilUs: endUs)
        if violation == nil {
            players.ended(nowMs: nowMs)
            if let found = players.violation { report(found) }
        }
        for checker in checkers where violation == nil {
            if let found = checker.atEnd(self) { report(found) }
        }
        if violation == nil {
            players.finaleBegins(nowMs: nowMs, into: &orders)
            carryOutOrders()
            takeSteps(untilUs: endUs + Self.finaleUs)
        }
        if violation == nil {
            players.finaleEnded(nowMs: nowMs)
            if let found = players.violation { report(found) }
        }
        for slot in slots { counters.entries += slot.process?.host?.entries ?? 0 }
        counters.simulatedUs = nowUs
        counters.steps = trace.steps
        counters.swaps = front.store.swapsWon
    }

    private func takeSteps(untilUs endUs: Int64) {
        while violation == nil, let next = agenda.nextTimeUs, next <= endUs {
            takeStep()
            if trace.steps > options.maxSteps {
                report(Violation(16, "\(options.maxSteps) steps, and no end"))
            }
        }
        if violation == nil { nowUs = endUs }
    }

    private func takeStep() {
        guard let next = agenda.take() else { return }
        nowUs = max(nowUs, next.timeUs)
        step.timeUs = nowUs
        step.slot = nil
        step.asker = nil
        step.fault = nil
        step.kind = .other
        step.effects.removeAll(keepingCapacity: true)
        step.storeEvents.removeAll(keepingCapacity: true)
        perform(next.event)
        lookForStarts()
        if let found = players.violation { report(found) }
        for checker in checkers where violation == nil {
            if let found = checker.afterStep(self) { report(found) }
        }
    }

    private func begin(_ kind: SimStep.Kind) {
        step.kind = kind
        trace.beginStep(timeUs: nowUs, kind: kind.rawValue)
    }

    private func perform(_ event: SimEvent) {
        switch event {
        case .packet(let packet): arrive(packet)
        case .input(let slot, let serial, let input): hand(input, to: slot, serial)
        case .resume(let slot, let serial):
            guard let process = slots[slot].living(serial) else { return }
            begin(.process)
            process.resume()
        case .timer(let slot, let serial, let atUs):
            guard let process = slots[slot].living(serial), process.timerUs == atUs else { return }
            process.timerUs = .max
            hand(.timer, to: slot, serial)
        case .boot(let slot, let serial):
            guard slots[slot].serial == serial else { return }
            begin(.other)
            boot(slot)
        case .store(let ask): arrive(ask)
        case .leases: checkLeases()
        case .reconnect(let from, let to, let serial): reconnect(from, to, serial)
        case .probe(let from, let serial, let node): probe(node, from: from, serial)
        case .toServer(let link, let word): arrive(word, from: link)
        case .toClient(let link, let word): arrive(word, at: link)
        case .players(let atMs):
            guard playersDueMs == atMs else { return }
            begin(.players)
            playersDueMs = .max
            players.tick(nowMs: nowMs, into: &orders)
            carryOutOrders()
        case .faultBegins(let i):
            begin(.fault)
            beginFault(i)
        case .faultEnds(let i):
            guard activeFaults[i] else { return }
            begin(.fault)
            endFault(i)
        case .quiet:
            begin(.fault)
            beginQuiet()
        }
    }

    /// Hands a process what is for it, now or when it has time.
    func hand(_ input: ProcessInput, to slot: Int, _ serial: Int) {
        guard let process = slots[slot].living(serial) else { return }
        begin(.process)
        process.take(input)
    }

    func schedule(_ input: ProcessInput, for slot: Int, _ serial: Int, inUs delay: Int64) {
        agenda.add(.input(slot: slot, serial: serial, input), atUs: nowUs + delay)
    }

    // MARK: Between nodes

    func transmit(_ words: [PeerWord], from process: SimProcess, to node: NodeID, isBulk: Bool) {
        // One that ended in this very turn sends nothing more: it would begin a session for the process after it.
        guard slots[process.slot].process === process, let own = process.node, let slot = slot(of: node) else { return }
        let isThere = slots[slot].process?.node == node
        trace.mix(slot << 16 | words.count)
        trace.line(nowUs, "\(own.name) → \(node.name) \(isBulk ? "bulk " : "")\(describe(words))")
        counters.batches += 1
        counters.words += words.count
        guard isThere else { return }
        let arrivals = network.send(
            words, from: own, slot: process.slot, to: node, at: slot, isBulk: isBulk, nowUs: nowUs)
        for arrival in arrivals { agenda.add(.packet(arrival.packet), atUs: arrival.atUs) }
    }

    private func arrive(_ packet: Packet) {
        guard let process = slots[packet.toSlot].process, process.node?.incarnation == packet.toIncarnation else {
            return
        }
        switch network.judge(packet, nowUs: nowUs) {
        case .drop: return
        case .take: hand(.packet(packet, isReset: false), to: packet.toSlot, process.serial)
        case .takeAfterReset: hand(.packet(packet, isReset: true), to: packet.toSlot, process.serial)
        }
    }

    private func reconnect(_ from: Int, _ to: Int, _ serial: Int) {
        guard let process = slots[from].living(serial), let own = process.node, let peer = slots[to].process?.node,
            let made = network.reconnect(from: from, to: to), made.incarnation == peer.incarnation
        else { return }
        for (isNew, isBulk) in [(made.live, false), (made.bulk, true)] where isNew {
            let hello = network.send([], from: own, slot: from, to: peer, at: to, isBulk: isBulk, nowUs: nowUs)
            for arrival in hello { agenda.add(.packet(arrival.packet), atUs: arrival.atUs) }
        }
        trace.line(nowUs, "n\(from) → n\(to) connects anew")
        hand(.linkReset(peer), to: from, serial)
    }

    /// A plain connect to the place where a node was.
    private func probe(_ node: NodeID, from: Int, _ serial: Int) {
        guard let slot = slot(of: node), slots[slot].process == nil, !network.condition(from, slot).isCut,
            !network.condition(slot, from).isCut
        else { return }
        schedule(.refused(node), for: from, serial, inUs: Int64(random.from(100...800)))
    }

    // MARK: The coordinator

    func ask(_ request: CoordinatorRequest, id: UInt64, from process: SimProcess) {
        let ask = StoreAsk(
            slot: process.slot, serial: process.serial, node: process.node, id: id, request: request)
        trace.line(nowUs, "\(process.name) asks etcd #\(id): \(request)")
        if let atUs = front.send(ask, nowUs: nowUs) { agenda.add(.store(ask), atUs: atUs) }
        schedule(.unanswered(id: id), for: process.slot, process.serial, inUs: SimProcess.storeTimeoutUs)
    }

    private func arrive(_ ask: StoreAsk) {
        begin(.store)
        step.asker = ask.node
        let before = front.store.revision
        switch front.arrive(ask, nowUs: nowUs) {
        case .lost: trace.line(nowUs, "etcd never hears #\(ask.id) of n\(ask.slot)")
        case .later(let atUs):
            var held = ask
            held.wasHeld = true
            agenda.add(.store(held), atUs: atUs)
        case .answered(let answer, let atUs):
            trace.line(nowUs, "etcd, n\(ask.slot) #\(ask.id): \(answer)" + (atUs == nil ? ", unheard" : ""))
            if let atUs {
                let input = ProcessInput.answer(id: ask.id, answer)
                agenda.add(.input(slot: ask.slot, serial: ask.serial, input), atUs: atUs)
            }
        }
        storeMayHaveChanged(since: before)
    }

    private func checkLeases() {
        guard nowUs >= leasesDueUs else { return }
        leasesDueUs = .max
        let before = front.store.revision
        let condition = front.condition
        if condition.isStopped || condition.electsUntilUs > nowUs {
            armLeases(notBeforeUs: nowUs + 100_000)
            return
        }
        begin(.store)
        front.store.endLeases(nowUs: nowUs)
        storeMayHaveChanged(since: before)
    }

    private func armLeases(notBeforeUs: Int64 = 0) {
        guard let next = front.store.nextLeaseEndUs else { return }
        let dueUs = max(next, notBeforeUs)
        // Checked no more often than needed: leases that were kept alive only move out.
        guard dueUs < leasesDueUs else { return }
        leasesDueUs = dueUs
        agenda.add(.leases, atUs: dueUs)
    }

    func storeMayHaveChanged(since before: UInt64) {
        armLeases()
        if front.store.revision > before {
            let changes = front.store.changes(after: before)
            for event in changes {
                trace.mix(event.revision)
                trace.line(nowUs, "etcd has \(event)")
                if case .record(let shard, let record) = event.change { recordChanged(shard, record.record) }
            }
            if !checkers.isEmpty { step.storeEvents.append(contentsOf: changes) }
            if !isBootstrapped { bootstrapIfComplete() }
        }
        for parcel in front.pump(nowUs: nowUs) {
            agenda.add(.input(slot: parcel.slot, serial: parcel.serial, .watch(parcel.events)), atUs: parcel.atUs)
        }
    }

    private func recordChanged(_ shard: ShardID, _ record: ShardRecord) {
        // A shard that begins has nobody whose presence could be held.
        let isBeginning = generations[shard.number].map { $0 < record.generation } ?? true
        if isBeginning, generations[shard.number] != nil { players.shardLost(shard, nowMs: nowMs) }
        generations[shard.number] = record.generation
        // A primary that stays one goes on at once. One that hands over plays on until the other has started, and takes
        // back without having ceased.
        var isOther = false
        if isBeginning || record.handover == nil {
            isOther = primaries[shard.number] != record.primary && !isBeginning
            primaries[shard.number] = record.primary
        }
        if let at = starting.firstIndex(where: { $0.shard == shard }) {
            isOther = starting.remove(at: at).isOther || isOther
        }
        starting.append((shard, record.epoch, record.primary, isOther))
    }

    /// Notices when a primary has started.
    private func lookForStarts() {
        guard !starting.isEmpty, let slot = step.slot, let process = slots[slot].process, let node = process.node
        else { return }
        starting.removeAll { waiting in
            guard waiting.primary == node, let view = process.host?.look(at: waiting.shard), view.isStarted,
                view.epoch == waiting.epoch
            else { return false }
            trace.line(nowUs, "s\(waiting.shard.number) starts epoch \(waiting.epoch) at \(node.name)")
            let isOther = waiting.isOther || primaries[waiting.shard.number] != node
            primaries[waiting.shard.number] = node
            if isOther { players.epochStarted(waiting.shard, nowMs: nowMs) }
            return true
        }
    }

    /// The operator makes the records when all nodes of the beginning are there.
    private func bootstrapIfComplete() {
        let nodes = front.store.nodes
        guard nodes.count >= setup.nodes else { return }
        isBootstrapped = true
        let before = front.store.revision
        var wanted = Placement.wanted(layout: setup.layout, nodes: nodes, replicas: setup.replicas)
        for shard in setup.layout.homes where wanted[shard]?.isEmpty ?? true {
            wanted[shard] = (0..<setup.replicas).map { nodes[(shard.number + $0) % nodes.count].id }
        }
        front.store.bootstrap(wanted, rules: 1)
        storeMayHaveChanged(since: before)
    }
}
