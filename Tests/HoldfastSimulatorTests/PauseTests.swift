import Foundation
import HoldfastProtocol
import Testing

@testable import HoldfastSimulator

/// How long nobody can play when one node dies, or leaves. The checker fails a run in which it is longer than it may
/// be; here it is also shown that there was something to measure.
@Suite(.serialized) struct PauseTests {
    static let seeds = 1...(UInt64(ProcessInfo.processInfo.environment["HOLDFAST_PAUSE_SEEDS"] ?? "") ?? 12)

    private func pauses(of kind: (UInt64) -> Fault) -> [(ms: Int64, isKill: Bool)] {
        var all: [(ms: Int64, isKill: Bool)] = []
        for seed in Self.seeds {
            var setup = SimSetup()
            setup.replicas = seed % 3 == 0 ? 3 : 2
            setup.clients = 4
            let plan = FaultPlan(
                setup: setup, faults: [.init(atMs: 4_000 + Int(seed) * 37, kind(seed))], quietAtMs: 9_000, endMs: 21_000
            )
            let checker = ClusterChecker(plan: plan)
            let world = SimWorld(
                seed: seed, plan: plan, players: SimCrowd(seed: seed, plan: plan), checkers: [checker])
            world.run()
            #expect(world.violation == nil, "seed \(seed): \(world.violation?.description ?? "")")
            all += checker.pauses.map { ($0.ms, $0.isKill) }
        }
        return all
    }

    private func report(_ what: String, _ ms: [Int64]) {
        let sorted = ms.sorted()
        guard let most = sorted.last else { return }
        print("\(what): \(ms.count) pauses, median \(sorted[ms.count / 2]) ms, most \(most) ms")
    }

    @Test func aKillEndsSoon() {
        let killed = pauses { .crash(node: Int($0 % 3), downMs: $0 % 2 == 0 ? nil : 2_000) }.filter(\.isKill)
        #expect(!killed.isEmpty)
        report("kill", killed.map(\.ms))
    }

    @Test func aKillWithAnInstantRestartEndsSoon() {
        let killed = pauses { .crash(node: Int($0 % 3), downMs: 1 + Int($0 % 20)) }.filter(\.isKill)
        #expect(!killed.isEmpty)
        report("kill and restart", killed.map(\.ms))
    }

    @Test func aDrainIsHardlySeen() {
        let drained = pauses { .drain(node: Int($0 % 3), downMs: 500) }
        #expect(!drained.isEmpty)
        report("drain", drained.map(\.ms))
    }
}
