import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// Random walks in which shards are written down and read again, and go on as if nothing had happened.
@Suite struct StateWalkTests {
    /// A shard to itself for nearly every entity, or few shards with many.
    static let layouts = [ShardLayout.standard, ShardLayout(entityShards: 2, matchShards: 1)]

    @Test(arguments: RandomWalkTests.seeds, layouts)
    func aRestoredShardGoesOnAsTheOneThatLived(seed: UInt64, layout: ShardLayout) {
        var walk = Walk(seed: seed, shuffled: seed % 2 == 0, layout: layout)
        let twins = Twins(seed: seed &* 977, every: 1 + Int(seed % 12))
        twins.watch(walk.world)
        walk.run(steps: 150)
        twins.compare(with: walk.world)
        if let fault = twins.faults.first { Issue.record("seed \(seed): \(fault)") }
        #expect(twins.restored > 3)
        #expect(twins.copies > 100)
        #expect(!walk.hasFailed)
    }
}
