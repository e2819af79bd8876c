import Foundation
import HoldfastProtocol
import HoldfastSimulator
import Testing

/// Whole plays, from one seed each, in a world without faults.
@Suite struct SimClientsTests {
    /// HOLDFAST_SEEDS=100...199 plays others.
    static let seeds: [UInt64] = {
        let bounds = (ProcessInfo.processInfo.environment["HOLDFAST_SEEDS"] ?? "1...20").split(separator: "...")
        guard bounds.count == 2, let first = UInt64(bounds[0]), let last = UInt64(bounds[1]) else { return [] }
        return Array(first...max(first, last))
    }()

    static func play(_ seed: UInt64, ms: Int64 = 20_000) -> MiniWorld {
        let world = MiniWorld(seed: seed)
        world.clients.start(nowMs: world.nowMs)
        world.run(ms: ms)
        world.with { $0.beginQuiet(nowMs: $1, into: &$2) }
        world.run(ms: 10_000)
        world.clients.atEnd(nowMs: world.nowMs)
        return world
    }

    @Test(arguments: seeds)
    func nothingIsWrong(seed: UInt64) {
        let world = Self.play(seed)
        for violation in world.clients.checker.violations { Issue.record("seed \(seed): \(violation)") }
        if ProcessInfo.processInfo.environment["HOLDFAST_COUNTS"] != nil { print(seed, world.clients.counts) }
    }

    @Test func theSameSeedPlaysTheSame() {
        let first = Self.play(7).clients.counts
        #expect(first == Self.play(7).clients.counts)
        #expect(first != Self.play(8).clients.counts)
    }
}
