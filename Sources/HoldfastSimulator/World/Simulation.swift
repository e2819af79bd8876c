/// What came of one simulation.
public struct Outcome: Sendable {
    public let seed: UInt64
    public let plan: FaultPlan
    /// Nil: clean.
    public let violation: Violation?
    /// When it was seen.
    public let atUs: Int64
    /// Of all steps: equal on every run of the same seed and plan.
    public let hash: UInt64
    public let counters: SimCounters

    public var isClean: Bool { violation == nil }
}

/// How simulations are made: who plays in them, and who watches over them.
public struct Simulation: Sendable {
    public var options: SimOptions
    private let makePlayers: @Sendable (_ seed: UInt64, _ plan: FaultPlan) -> any SimPlayers
    private let makeCheckers: @Sendable (_ plan: FaultPlan, _ players: any SimPlayers) -> [any Checker]

    public init(
        options: SimOptions = SimOptions(),
        players: @escaping @Sendable (_ seed: UInt64, _ plan: FaultPlan) -> any SimPlayers = { _, _ in NoPlayers() },
        checkers: @escaping @Sendable (_ plan: FaultPlan, _ players: any SimPlayers) -> [any Checker] = { _, _ in [] }
    ) {
        self.options = options
        makePlayers = players
        makeCheckers = checkers
    }

    /// - Parameters:
    ///   - plan: nil: the seed's own.
    ///   - write: takes the trace, line by line.
    public func run(seed: UInt64, plan: FaultPlan? = nil, write: ((String) -> Void)? = nil) -> Outcome {
        let plan = plan ?? FaultPlan(seed: seed, options: options)
        let players = makePlayers(seed, plan)
        let world = SimWorld(
            seed: seed, plan: plan, options: options, players: players, checkers: makeCheckers(plan, players),
            write: write)
        world.run()
        return Outcome(
            seed: seed, plan: plan, violation: world.violation, atUs: world.nowUs, hash: world.trace.hash,
            counters: world.counters)
    }
}
