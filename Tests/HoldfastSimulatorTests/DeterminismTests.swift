import Testing

@testable import HoldfastSimulator

@Suite struct DeterminismTests {
    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func aSeedAlwaysMakesTheSameStory(seed: UInt64) {
        let simulation = Simulation()
        let first = simulation.run(seed: seed)
        let second = simulation.run(seed: seed)
        #expect(first.hash == second.hash)
        #expect(first.plan == second.plan)
        #expect(first.counters == second.counters)
        #expect(first.counters.steps > 100)
    }

    @Test func seedsDiffer() {
        let hashes = (1...8).map { Simulation().run(seed: $0).hash }
        #expect(Set(hashes).count == hashes.count)
    }

    @Test func aTraceThatIsReadIsTheSame() {
        var lines = 0
        let read = Simulation().run(seed: 3) { _ in lines += 1 }
        #expect(read.hash == Simulation().run(seed: 3).hash)
        #expect(lines > 100)
    }
}
