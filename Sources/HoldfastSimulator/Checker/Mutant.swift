import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// A deliberate bug, and what shows it: simulations that do not find it have a hole (`spec/simulation.md`).
public struct Mutant: Sendable {
    public let name: String
    /// Of which invariants a violation is what the bug is known by.
    public let invariants: Set<Int>
    public var options: SimOptions
    /// Draws what happens to it.
    let draw: @Sendable (inout PlanDraw) -> Void

    init(
        _ name: String, _ invariants: Set<Int>, replica: ReplicaMutations = [], model: ModelMutations = [],
        world: WorldMutations = [], draw: @escaping @Sendable (inout PlanDraw) -> Void
    ) {
        self.name = name
        self.invariants = invariants
        options = SimOptions()
        options.mutations = replica
        options.modelMutations = model
        options.worldMutations = world.union(.deafToAlarms)
        self.draw = draw
    }

    /// The schedule of a seed.
    public func plan(seed: UInt64) -> FaultPlan {
        var plan = PlanDraw(seed: seed)
        draw(&plan)
        return plan.finished
    }

    /// What a simulation with checks of clients and nodes finds, with the bug or without.
    public func run(seed: UInt64, isMutated: Bool = true, write: ((String) -> Void)? = nil) -> Outcome {
        var options = SimOptions()
        if isMutated { options = self.options }
        return Simulation.checked(options: options).run(seed: seed, plan: plan(seed: seed), write: write)
    }

    public struct Catch: Sendable {
        /// The first with a violation of one of the mutant's invariants.
        public let seed: UInt64
        public let violation: Violation
        /// Violations of others, before it.
        public let others: [Violation]
    }

    /// - Returns: nil: it got away.
    public func hunt(_ seeds: ClosedRange<UInt64>) -> Catch? {
        var others: [Violation] = []
        for seed in seeds {
            guard let found = run(seed: seed).violation else { continue }
            if invariants.contains(found.invariant) {
                return Catch(seed: seed, violation: found, others: others)
            }
            others.append(found)
        }
        return nil
    }
}

extension Simulation {
    /// With clients and what checks them.
    public static func watched(options: SimOptions = SimOptions()) -> Simulation {
        Simulation(options: options, players: { seed, plan in SimCrowd(seed: seed, plan: plan) })
    }

    /// With clients, and with all that checks.
    public static func checked(options: SimOptions = SimOptions()) -> Simulation {
        Simulation(
            options: options, players: { seed, plan in SimCrowd(seed: seed, plan: plan) },
            checkers: { plan, _ in [ClusterChecker(plan: plan)] })
    }
}

/// Puts the schedule of a mutant together.
struct PlanDraw {
    var setup = SimSetup()
    var random: SimRandom
    var quietAtMs = 16_000
    var endMs = 24_000
    private(set) var faults: [FaultPlan.Scheduled] = []

    init(seed: UInt64) {
        random = SimRandom(seed: seed, stream: 9)
        setup.layout = ShardLayout(entityShards: 3, matchShards: 1)
        setup.clients = 5
    }

    var finished: FaultPlan {
        FaultPlan(
            setup: setup, faults: faults.sorted { $0.atMs < $1.atMs }, quietAtMs: quietAtMs, endMs: endMs)
    }

    mutating func add(atMs: Int, _ fault: Fault) { faults.append(.init(atMs: atMs, fault)) }

    mutating func time(_ range: ClosedRange<Int>? = nil) -> Int {
        random.from(range ?? FaultPlan.firstFaultMs...quietAtMs - 1_000)
    }

    mutating func node() -> Int { random.below(setup.nodes) }

    mutating func crashes(_ count: Int, downMs: [Int?]) {
        for _ in 0..<count { add(atMs: time(), .crash(node: node(), downMs: random.pick(downMs))) }
    }

    mutating func pauses(_ count: Int, _ range: ClosedRange<Int>, node: Int? = nil) {
        for _ in 0..<count { add(atMs: time(), .pause(node: node ?? self.node(), forMs: random.from(range))) }
    }

    /// Messages between any two nodes are lost for a while.
    mutating func losses(_ count: Int, lost: [Int], repeated: [Int] = [0], forMs: ClosedRange<Int> = 2_000...7_000) {
        guard setup.nodes > 1 else { return }
        for _ in 0..<count {
            let from = node()
            let to = (from + 1 + random.below(setup.nodes - 1)) % setup.nodes
            let fault = Fault.lossyLink(
                from: from, to: to, forMs: random.from(forMs), lost: random.pick(lost), repeated: random.pick(repeated))
            add(atMs: time(), fault)
        }
    }

    mutating func drains(_ count: Int) {
        for _ in 0..<count { add(atMs: time(), .drain(node: node(), downMs: random.from(50...2_000))) }
    }

    /// The coordinator carries out swaps late, and nobody hears of many.
    mutating func doubts(_ count: Int) {
        for _ in 0..<count {
            let ms = random.from(2_000...6_000)
            add(atMs: time(), .answersLost(forMs: ms, lost: random.pick([300, 600, 1_000])))
            let least = random.pick([100, 500, 1_500])
            add(atMs: time(), .swapsLate(forMs: ms, leastMs: least, mostMs: least * 3))
        }
    }
}
