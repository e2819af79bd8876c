import Testing

@testable import HoldfastSimulator

/// Finds it wrong when a pause of node 1 begins while node 0 is down: a failure that needs two faults.
private final class Planted: Checker {
    private var isDown = false

    func afterStep(_ world: SimWorld) -> Violation? {
        guard let fault = world.step.fault else { return nil }
        if case .crash(0, _) = fault { isDown = true }
        if case .pause(1, _) = fault, isDown { return Violation(99, "planted") }
        return nil
    }

    func atEnd(_ world: SimWorld) -> Violation? { nil }
}

@Suite struct ShrinkTests {
    private func plan() -> FaultPlan {
        var plan = FaultPlan(seed: 5)
        plan.setup.nodes = 3
        plan.setup.replicas = 2
        plan.faults = [
            .init(atMs: 3_100, .compaction),
            .init(atMs: 3_200, .pause(node: 1, forMs: 400)),
            .init(atMs: 3_500, .storeElects(forMs: 700)),
            .init(atMs: 4_000, .crash(node: 0, downMs: nil)),
            .init(atMs: 4_100, .slow(node: 2, forMs: 900, turnMs: 3)),
            .init(atMs: 4_200, .partition(mask: 2, forMs: 900, oneWay: true, keepsLinks: false)),
            .init(atMs: 5_000, .pause(node: 1, forMs: 3_200)),
            .init(atMs: 6_000, .clockStep(node: 1, byMs: 40)),
        ]
        return plan
    }

    @Test func aScheduleIsMadeSmall() throws {
        let simulation = Simulation(checkers: { _, _ in [Planted()] })
        let failure = simulation.run(seed: 5, plan: plan())
        #expect(failure.violation?.invariant == 99)
        let (least, runs) = Shrinker(maxRuns: 100) { simulation.run(seed: 5, plan: $0) }.shrink(failure)
        #expect(least.violation?.invariant == 99)
        #expect(least.plan.faults.map(\.fault.kind) == [.crash, .pause])
        #expect(runs <= 100)
        // What is printed can be run again, and is the same.
        #expect(simulation.run(seed: 5, plan: least.plan).hash == least.hash)
        #expect("\(least.plan)".contains("crash n0"))
    }

    @Test func runsAreBounded() {
        let simulation = Simulation(checkers: { _, _ in [Planted()] })
        let failure = simulation.run(seed: 5, plan: plan())
        let (least, runs) = Shrinker(maxRuns: 3) { simulation.run(seed: 5, plan: $0) }.shrink(failure)
        #expect(runs == 3)
        #expect(least.violation?.invariant == 99)
    }

    @Test func whatIsCleanIsLeftAlone() {
        let outcome = Simulation().run(seed: 5, plan: FaultPlan(setup: SimSetup(), quietAtMs: 1_000, endMs: 2_000))
        #expect(outcome.isClean)
        #expect(Shrinker { _ in outcome }.shrink(outcome).runs == 0)
    }
}
