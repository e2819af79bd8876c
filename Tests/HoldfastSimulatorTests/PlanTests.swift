import Testing

@testable import HoldfastSimulator

@Suite struct PlanTests {
    @Test func aSeedHasOnePlan() {
        for seed in 1...50 as ClosedRange<UInt64> { #expect(FaultPlan(seed: seed) == FaultPlan(seed: seed)) }
    }

    @Test func plansAreOfAllKinds() {
        var kinds: Set<Fault.Kind> = []
        var sizes: Set<Int> = []
        var none = 0
        var oneNode = 0
        for seed in 1...600 as ClosedRange<UInt64> {
            let plan = FaultPlan(seed: seed)
            kinds.formUnion(plan.faults.map(\.fault.kind))
            sizes.insert(plan.setup.nodes)
            if plan.faults.isEmpty { none += 1 }
            if plan.onlyFaulty != nil { oneNode += 1 }
            #expect(plan.faults == plan.faults.sorted { $0.atMs < $1.atMs })
            #expect(plan.faults.allSatisfy { $0.atMs >= FaultPlan.firstFaultMs && $0.atMs < plan.quietAtMs })
            #expect(plan.endMs >= plan.quietAtMs + 10_000)
            #expect(plan.setup.replicas <= plan.setup.nodes)
        }
        #expect(kinds == Set(Fault.Kind.allCases))
        #expect(sizes == [1, 2, 3, 4, 5])
        #expect(none > 5)
        #expect(oneNode > 30)
    }

    @Test func gentleOnesLoseNothingSilently() {
        var options = SimOptions()
        options.isHarsh = false
        for seed in 1...200 as ClosedRange<UInt64> {
            #expect(!FaultPlan(seed: seed, options: options).faults.contains { $0.fault.kind == .lossyLink })
        }
    }

    @Test func aPlanIsReadable() {
        for seed in 1...100 as ClosedRange<UInt64> {
            let plan = FaultPlan(seed: seed)
            #expect("\(plan)".split(separator: "\n").count == plan.faults.count + 2)
        }
    }
}
