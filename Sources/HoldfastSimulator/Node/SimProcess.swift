internal import HoldfastModel
public import HoldfastProtocol
public import HoldfastReplication

/// One process of a node: what the real shell does around its pure machines, and no more. It takes inputs in turns; in
/// each it brings them to the machines, carries out what these order, and sends what has gathered for each peer as one
/// batch.
public final class SimProcess {
    enum Phase {
        /// Not registered yet.
        case starting
        case serving
        /// Drained: it ends when its shards are elsewhere.
        case leaving(sinceMs: Int64)
    }

    public let slot: Int
    public let serial: Int
    public let name: String
    public private(set) var clock: SimClock
    var phase = Phase.starting
    /// From its registration on.
    public internal(set) var node: NodeID?
    public internal(set) var host: SimHost?
    public internal(set) var membership: MembershipMachine?
    unowned let world: SimWorld
    var generator: SimRandom

    // Time.
    public internal(set) var isPaused = false
    /// How long each turn takes.
    var turnUs: Int64 = 0
    private(set) var busyUntilUs: Int64 = 0
    private var isResumeDue = false
    /// What waits for its turn.
    private var inbox: [ProcessInput] = []
    /// When the timer on the agenda fires; `.max`: there is none.
    var timerUs: Int64 = .max

    var coordinator: CoordinatorMachine

    // Client links.
    var endpoints: [SimEndpoint] = []
    var lastLink: UInt64 = 0
    var budgets: [PlayerKey: PlayerBudgets] = [:]
    var nextSweepMs: Int64 = .max
    var drainChecksMs: Int64 = .max

    // Buffers.
    var hostEffects: [SimHost.Effect] = []
    private var spareEffects: [SimHost.Effect] = []
    var memberEffects: [MembershipMachine.Effect] = []
    private var outgoing: [(node: NodeID, isBulk: Bool, words: [PeerWord])] = []
    private var isViewNew = false

    static let storeTimeoutUs: Int64 = 1_500_000

    init(
        world: SimWorld, slot: Int, serial: Int, name: String, host: String, clock: SimClock, generator: SimRandom
    ) {
        self.world = world
        self.slot = slot
        self.serial = serial
        self.name = name
        self.clock = clock
        self.generator = generator
        let isNamedByPlace = world.options.worldMutations.contains(.noIncarnation)
        var settings = CoordinatorMachine.Settings()
        settings.shards = world.setup.layout.count
        coordinator = CoordinatorMachine(
            claim: NodeClaim(
                name: name, incarnation: isNamedByPlace ? UInt64(slot) + 1 : nil, roles: .all, host: host,
                isDraining: false, mark: UInt64(slot) << 32 | UInt64(serial)),
            settings: settings)
    }

    public var nowMs: Int64 { clock.monotonicMs(atUs: world.nowUs) }
    public var wallMs: Int64 { clock.wallMs(atUs: world.nowUs) }

    var isServing: Bool {
        if case .serving = phase { true } else { false }
    }

    // MARK: Turns

    func start() {
        coordinate { $0.register(nowMs: $1, into: &$2) }
        endTurn()
    }

    func take(_ input: ProcessInput) {
        if isPaused || world.nowUs < busyUntilUs || !inbox.isEmpty {
            inbox.append(input)
            if !isPaused { armResume() }
            return
        }
        beginTurn()
        handle(input)
        endTurn()
    }

    private func armResume() {
        guard !isResumeDue else { return }
        isResumeDue = true
        world.agenda.add(.resume(slot: slot, serial: serial), atUs: max(world.nowUs, busyUntilUs))
    }

    /// Takes everything that waits, as a loop does that has been away.
    func resume() {
        isResumeDue = false
        guard !isPaused, !inbox.isEmpty else { return }
        beginTurn()
        let inputs = inbox
        inbox = []
        for input in inputs { handle(input) }
        endTurn()
    }

    func wake() {
        guard isPaused else { return }
        isPaused = false
        world.trace.line(world.nowUs, "\(name) wakes, \(inbox.count) inputs wait")
        // What a loop sees first when it wakes is left to chance: its timers or its sockets.
        if generator.chance(permille: 500) { inbox.insert(.timer, at: 0) } else { inbox.append(.timer) }
        busyUntilUs = world.nowUs
        armResume()
    }

    private func beginTurn() {
        world.step.slot = slot
        world.trace.mix(slot)
        let nowMs = nowMs
        if let due = membership?.nextDeadlineMs(), due <= nowMs {
            membership?.tick(nowMs: nowMs, into: &memberEffects)
            carryOutMembership()
        }
    }

    private func endTurn() {
        work()
        for batch in outgoing { world.transmit(batch.words, from: self, to: batch.node, isBulk: batch.isBulk) }
        outgoing.removeAll(keepingCapacity: true)
        if turnUs > 0 { busyUntilUs = world.nowUs + turnUs }
        armTimer()
    }

    private func armTimer() {
        var dueMs = min(coordinator.nextDeadlineMs, nextSweepMs, drainChecksMs)
        if node != nil {
            dueMs = min(dueMs, host?.nextDeadlineMs() ?? .max, membership?.nextDeadlineMs() ?? .max)
        }
        guard dueMs < .max else { return }
        let atUs = max(clock.timeUs(ofMs: dueMs), world.nowUs + 1)
        guard atUs < timerUs else { return }
        timerUs = atUs
        world.agenda.add(.timer(slot: slot, serial: serial, atUs: atUs), atUs: atUs)
    }

    func setDrift(ppm: Int64) {
        clock.setDrift(ppm: ppm, nowUs: world.nowUs)
        timerUs = .max
        armTimer()
    }

    func stepWall(byMs ms: Int64) { clock.stepWall(byMs: ms) }

    // MARK: Inputs

    private func handle(_ input: ProcessInput) {
        switch input {
        case .packet(let packet, let isReset): receive(packet, isReset: isReset)
        case .linkReset(let peer):
            host?.linkReset(with: peer, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
        case .linkEnded(let peer):
            membership?.linkEnded(with: peer, nowMs: nowMs, into: &memberEffects)
        case .refused(let peer):
            membership?.refused(peer, nowMs: nowMs, into: &memberEffects)
        case .answer(let id, let answer): coordinate { $0.answered(id, answer, nowMs: $1, into: &$2) }
        case .unanswered(let id): coordinate { $0.unanswered(id, nowMs: $1, into: &$2) }
        case .watch(let events): coordinate { $0.changed(events, into: &$2) }
        case .watchEnded: coordinate { $0.watchEnded(nowMs: $1, into: &$2) }
        case .opened(let link): opened(link)
        case .message(let link, let message): received(message, on: link)
        case .pong(let link): active(link)
        case .closed(let link): closed(link)
        case .drained(let link): drained(link)
        case .timer: timePassed()
        case .drain: drain()
        }
        carryOutMembership()
        work()
    }

    private func receive(_ packet: Packet, isReset: Bool) {
        guard node != nil else { return }
        let nowMs = nowMs
        let wallMs = wallMs
        world.trace.mix(packet.number)
        membership?.heard(from: packet.from, nowMs: nowMs, into: &memberEffects)
        if isReset { host?.linkReset(with: packet.from, nowMs: nowMs, wallMs: wallMs, into: &hostEffects) }
        for word in packet.words {
            switch word {
            case .heartbeat(let heartbeat):
                membership?.heartbeat(from: packet.from, heartbeat, nowMs: nowMs, into: &memberEffects)
            case .message(let message):
                host?.receive(message, from: packet.from, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
                // What one message orders goes before the next is looked at.
                work()
            }
        }
    }

    private func timePassed() {
        guard node != nil else { return }
        let nowMs = nowMs
        if let due = host?.nextDeadlineMs(), due <= nowMs {
            host?.tick(nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
        }
        coordinate { $0.tick(nowMs: $1, into: &$2) }
        if nextSweepMs <= nowMs { sweepLinks() }
        if drainChecksMs <= nowMs { checkDrained() }
    }

    // MARK: Effects

    private func carryOutMembership() {
        while !memberEffects.isEmpty {
            let effects = memberEffects
            memberEffects.removeAll(keepingCapacity: true)
            for effect in effects {
                switch effect {
                case .send(let peer, let heartbeat): post(.heartbeat(heartbeat), to: peer, isBulk: false)
                case .probe(let peer):
                    let delayUs = Int64(world.random.from(100...800))
                    world.agenda.add(.probe(from: slot, serial: serial, peer), atUs: world.nowUs + delayUs)
                case .changed: isViewNew = true
                }
            }
        }
        guard isViewNew, let view = membership?.view else { return }
        isViewNew = false
        world.trace.mix(view.nodes.count << 8 | view.dead.count << 4 | view.silent.count)
        world.trace.line(world.nowUs, "\(name) sees \(view.text)")
        host?.membershipChanged(view, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
    }

    /// Carries out what the host has ordered, and what comes of that, until nothing is left.
    func work() {
        while !hostEffects.isEmpty {
            var effects = spareEffects
            spareEffects = []
            swap(&hostEffects, &effects)
            if !world.checkers.isEmpty { world.step.effects.append(contentsOf: effects) }
            for effect in effects { carryOut(effect) }
            effects.removeAll(keepingCapacity: true)
            spareEffects = effects
        }
    }

    private func carryOut(_ effect: SimHost.Effect) {
        switch effect {
        case .send(let peer, let message, let isBulk): post(.message(message), to: peer, isBulk: isBulk)
        case .item(let item): deliver(item)
        case .swap(let shard, let from, let to):
            world.trace.mix(UInt64(shard.number) << 32 | to.epoch)
            coordinate { $0.swap(shard, from: from, to: to, nowMs: $1, into: &$2) }
        case .readRecord(let shard): coordinate { $0.read(shard, nowMs: $1, into: &$2) }
        case .linksLost(let shard, let why): lost(shard, why)
        case .emptied(let command): emptied(command)
        case .alarm(let shard, let text):
            if world.options.worldMutations.contains(.deafToAlarms) { return }
            world.report(Violation(1, "alarm of \(name), shard \(shard.number): \(text)"))
        }
    }

    private func post(_ word: PeerWord, to peer: NodeID, isBulk: Bool) {
        if peer == node {
            // A node has no link to itself.
            if case .message(let message) = word {
                host?.receive(message, from: peer, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
            }
            return
        }
        if let i = outgoing.firstIndex(where: { $0.isBulk == isBulk && $0.node == peer }) {
            outgoing[i].words.append(word)
        } else {
            outgoing.append((peer, isBulk, [word]))
        }
    }
}
