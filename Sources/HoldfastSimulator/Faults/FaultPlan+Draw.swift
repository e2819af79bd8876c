import HoldfastProtocol

extension FaultPlan {
    /// The plan of a seed.
    public init(seed: UInt64, options: SimOptions = SimOptions()) {
        var random = SimRandom(seed: seed, stream: 1)
        var setup = SimSetup()
        setup.nodes = random.pick([1, 2, 3, 3, 3, 3, 3, 4, 5])
        setup.replicas = min(setup.nodes, random.pick([1, 2, 2, 2, 2, 3, 3]))
        setup.layout = ShardLayout(entityShards: random.from(2...5), matchShards: 1)
        setup.spares = setup.nodes < 5 ? 1 : 0
        if setup.nodes >= 4, random.chance(permille: 300) {
            setup.hosts = (0..<setup.slots).map { "h\($0 / 2)" }
        }
        setup.resumeWindowMs = random.pick([4_000, 10_000, 10_000, 60_000])
        setup.heartbeatMs = random.pick([1_000, 2_000, 5_000])
        setup.clients = random.from(3...9)
        let quietAtMs = random.from(20...30) * 1_000
        self.init(setup: setup, quietAtMs: quietAtMs, endMs: quietAtMs + 12_000)
        var draw = Draw(setup: setup, untilMs: quietAtMs - 500, options: options, random: random)
        draw.makeSchedule()
        faults = draw.faults.sorted { $0.atMs < $1.atMs }
        if setup.nodes > 1, !drawLoss(seed: seed) { drawIsolation(seed: seed) }
    }

    /// In a few plans one node is lost for good, early, and the faults last until that is proven.
    private mutating func drawLoss(seed: UInt64) -> Bool {
        var random = SimRandom(seed: seed, stream: 6)
        guard random.chance(permille: 25) else { return false }
        let loss = Scheduled(atMs: random.from(Self.firstFaultMs...6_000), .loss(node: random.below(setup.nodes)))
        replaceFaults(by: [loss], lastingMs: 36_000, &random)
        return true
    }

    /// In a few others one node is cut off so long that it is no longer in touch, or even counts as lost, and comes
    /// back.
    private mutating func drawIsolation(seed: UInt64) {
        var random = SimRandom(seed: seed, stream: 10)
        guard random.chance(permille: 20) else { return }
        let node = random.below(setup.nodes)
        let atMs = random.from(Self.firstFaultMs...6_000)
        let ms = random.from(12_000...45_000)
        let cut = Fault.partition(
            mask: 1 << node, forMs: ms, oneWay: false, keepsLinks: random.chance(permille: 300))
        let faults = [Scheduled(atMs: atMs, cut), Scheduled(atMs: atMs, .storeCut(node: node, forMs: ms))]
        replaceFaults(by: faults, lastingMs: ms + 500, &random)
    }

    /// What keeps the others from proving a loss would only put it off.
    private mutating func replaceFaults(by new: [Scheduled], lastingMs ms: Int, _ random: inout SimRandom) {
        let others: Set<Fault.Kind> = [
            .slowLink, .linkBreak, .clientLinksBreak, .clientsCut, .clockStep, .clockDrift, .compaction, .answersLost,
            .swapsLate, .storeSlow,
        ]
        faults = random.chance(permille: 500) ? [] : faults.filter { others.contains($0.fault.kind) }
        if random.chance(permille: 500) { setup.replicas = 1 }
        faults += new
        faults.sort { $0.atMs < $1.atMs }
        quietAtMs = (new.first?.atMs ?? 0) + ms
        endMs = quietAtMs + 12_000
    }
}

/// Puts a schedule together.
private struct Draw {
    let setup: SimSetup
    let untilMs: Int
    let options: SimOptions
    var random: SimRandom
    var faults: [FaultPlan.Scheduled] = []

    /// A loss for good needs a plan of its own.
    static let kinds = Fault.Kind.allCases.filter { $0 != .loss }

    mutating func makeSchedule() {
        switch random.below(100) {
        case 0..<6: break
        case 6..<22: oneNode()
        case 22..<34: oneKind()
        default: mixed()
        }
    }

    private mutating func time() -> Int { random.from(FaultPlan.firstFaultMs...untilMs) }

    private mutating func add(_ kind: Fault.Kind, node: Int? = nil) {
        let fault = draw(kind, node: node ?? random.below(setup.nodes))
        if let fault { faults.append(.init(atMs: time(), fault)) }
    }

    /// Faults at one node only: no other may suffer from it.
    private mutating func oneNode() {
        let node = random.below(setup.nodes)
        let kinds: [Fault.Kind] = [
            .crash, .crash, .pause, .pause, .slow, .partition, .storeCut, .clockStep, .clockDrift, .drain,
            .clientLinksBreak, .clientsCut,
        ]
        let first = random.pick(kinds)
        let isOneKind = random.chance(permille: 600)
        for _ in 0..<random.from(1...3) { add(isOneKind ? first : random.pick(kinds), node: node) }
    }

    private mutating func oneKind() {
        let kind = random.pick(Self.kinds)
        for _ in 0..<random.from(1...5) { add(kind) }
    }

    private mutating func mixed() {
        let kinds = Self.kinds
        // Each seed has its own weights, so that some see much of one kind.
        let weights = kinds.map { kind in
            let base = kind == .crash || kind == .pause || kind == .partition ? 3 : 1
            return random.chance(permille: 400) ? 0 : base * random.from(1...4)
        }
        let total = weights.reduce(0, +)
        guard total > 0 else { return }
        for _ in 0..<random.from(2...14) {
            var left = random.below(total)
            for (kind, weight) in zip(kinds, weights) {
                if left < weight {
                    add(kind)
                    break
                }
                left -= weight
            }
        }
    }

    /// Short ones as often as long ones.
    private mutating func duration(_ range: ClosedRange<Int>) -> Int {
        var span = range.upperBound - range.lowerBound
        if random.chance(permille: 500) { span /= 8 }
        return range.lowerBound + random.below(span + 1)
    }

    private mutating func other(than node: Int) -> Int? {
        guard setup.nodes > 1 else { return nil }
        return (node + 1 + random.below(setup.nodes - 1)) % setup.nodes
    }

    private mutating func draw(_ kind: Fault.Kind, node: Int) -> Fault? {
        switch kind {
        case .crash:
            let downMs = random.pick([1, 50, 300, 1_000, 3_000, 8_000])
            return .crash(node: node, downMs: random.chance(permille: 150) ? nil : downMs + random.below(downMs + 1))
        case .pause: return .pause(node: node, forMs: duration(50...9_000))
        case .slow: return .slow(node: node, forMs: duration(500...8_000), turnMs: random.pick([1, 3, 10, 40, 150]))
        case .partition:
            guard setup.nodes > 1 else { return nil }
            let mask = random.chance(permille: 700) ? 1 << node : random.from(1...(1 << setup.nodes) - 2)
            return .partition(
                mask: mask, forMs: duration(100...9_000), oneWay: random.chance(permille: 350),
                keepsLinks: random.chance(permille: 250))
        case .storeCut: return .storeCut(node: node, forMs: duration(200...9_000))
        case .clockStep: return .clockStep(node: node, byMs: random.from(-60_000...60_000))
        case .clockDrift: return .clockDrift(node: node, ppm: random.from(-500...500))
        case .drain:
            return .drain(node: node, downMs: random.chance(permille: 200) ? nil : random.from(50...3_000))
        case .join: return setup.spares > 0 ? .join(node: setup.nodes + random.below(setup.spares)) : nil
        case .rollingRestart: return .rollingRestart(downMs: random.from(50...1_500))
        case .clientLinksBreak:
            return .clientLinksBreak(
                node: node, broken: random.pick([200, 500, 1_000]), silently: random.chance(permille: 300))
        case .clientsCut: return .clientsCut(node: node, forMs: duration(100...6_000))
        case .linkBreak, .slowLink, .lossyLink: return drawLink(kind, node)
        case .storeSlow, .storeAway, .storeElects, .answersLost, .swapsLate, .compaction: return drawStore(kind)
        case .loss: return nil
        }
    }

    private mutating func drawLink(_ kind: Fault.Kind, _ node: Int) -> Fault? {
        guard let peer = other(than: node) else { return nil }
        switch kind {
        case .linkBreak: return .linkBreak(a: node, b: peer, downMs: random.from(1...400))
        case .slowLink:
            let least = random.from(1...60)
            return .slowLink(
                from: node, to: peer, forMs: duration(500...8_000), leastMs: least, mostMs: least + random.from(1...140)
            )
        default:
            guard options.isHarsh else { return nil }
            return .lossyLink(
                from: node, to: peer, forMs: duration(200...8_000), lost: random.pick([10, 100, 300]),
                repeated: random.pick([0, 50, 200]))
        }
    }

    private mutating func drawStore(_ kind: Fault.Kind) -> Fault {
        switch kind {
        case .storeSlow:
            let least = random.from(10...300)
            return .storeSlow(forMs: duration(500...8_000), leastMs: least, mostMs: least * 3)
        case .storeAway: return .storeAway(forMs: duration(300...9_000), stops: random.chance(permille: 500))
        case .storeElects: return .storeElects(forMs: random.from(450...1_100))
        case .answersLost: return .answersLost(forMs: duration(500...8_000), lost: random.pick([200, 500, 1_000]))
        case .swapsLate:
            let least = random.pick([50, 500, 1_500])
            return .swapsLate(forMs: duration(500...8_000), leastMs: least, mostMs: least * 3)
        default: return .compaction
        }
    }
}
