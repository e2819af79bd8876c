import HoldfastProtocol
import Testing

@testable import HoldfastReplication

/// How replicas come, go, and change places (design, Safety 4, 6 and 7).
@Suite struct ReplicaChangeTests {
    private static func add(_ world: inout ReplicaWorld, _ node: Int, at primary: Int = 0) {
        let id = world.nodes[node].id
        world.with(primary, "adds") { $0.add(id, nowMs: $1, wallMs: $1, into: &$2) }
    }

    private static func drop(_ world: inout ReplicaWorld, _ node: Int, at primary: Int = 0) {
        let id = world.nodes[node].id
        world.with(primary, "drops") { $0.drop(id, nowMs: $1, wallMs: $1, into: &$2) }
    }

    private static func handOver(_ world: inout ReplicaWorld, to node: Int) {
        let id = world.nodes[node].id
        world.with(0, "hands over") { $0.handOver(to: id, nowMs: $1, wallMs: $1, into: &$2) }
    }

    // MARK: New backups

    @Test func learnerGetsStateInPartsAndEntriesMeanwhile() {
        var world = ReplicaRuleTests.world(1, of: 2) {
            $0.snapshotPartBytes = 50
            $0.snapshotPartsAtOnce = 2
        }
        for value in 1...20 { world.command(0, UInt64(value)) }
        Self.add(&world, 1)
        #expect(!world.nodes[0].replica.isAlone)
        world.settle(swaps: false) { $0.message.kind == "snapshot" }
        world.command(0, 21)
        world.settle(swaps: false)
        #expect(world.nodes[1].replica.role == .learner)
        #expect(world.nodes[1].replica.last == 0)
        world.pass(4_000)
        #expect(world.record.record.backups == [world.nodes[1].id])
        #expect(world.nodes[1].replica.role == .backup)
        #expect(world.nodes[1].replica.last == 22)
        #expect(world.counts["snapshot", default: 0] > 10)
        #expect(world.fault == nil)
    }

    @Test func formerBackupGoesOnFromWhatItHas() {
        var world = ReplicaRuleTests.world(3, of: 3)
        world.command(0, 1)
        world.settle()
        Self.drop(&world, 2)
        world.settle()
        world.show(2)
        #expect(world.nodes[2].replica.role == .none)
        world.command(0, 2)
        world.settle()
        Self.add(&world, 2)
        world.settle()
        #expect(world.record.record.backups.count == 2)
        #expect(world.nodes[2].replica.last == 3)
        #expect(world.counts["snapshot"] == nil)
    }

    @Test func formerPrimaryWithAnotherTailGetsTheState() {
        var world = ReplicaRuleTests.world(2, of: 2)
        world.command(0, 1)
        world.settle { _ in true }
        world.with(1, "suspects A") { $0.replacePrimary(nowMs: $1, wallMs: $1, into: &$2) }
        world.settle()
        world.show(0)
        #expect(world.nodes[0].replica.last == 2)
        #expect(world.nodes[1].replica.last == 2)
        Self.add(&world, 0, at: 1)
        world.settle()
        #expect(world.record.record.backups == [world.nodes[0].id])
        #expect(world.counts["snapshot"] == 1)
        #expect(world.nodes[0].replica.hash == world.nodes[1].replica.hash)
        #expect(world.fault == nil)
    }

    @Test func stateIsForgottenInTheEnd() {
        var world = ReplicaRuleTests.world(2, of: 2)
        Self.drop(&world, 1)
        world.settle()
        world.show(1)
        world.pass(59_000)
        #expect(world.nodes[1].replica.state != nil)
        world.pass(2_000)
        #expect(world.nodes[1].replica.state == nil)
        #expect(world.nodes[1].replica.nextTickMs() == nil)
    }

    @Test func learnerCountsWhileItMayBeListed() {
        var world = ReplicaRuleTests.world(1, of: 2)
        Self.add(&world, 1)
        world.settle(swaps: false)
        #expect(world.nodes[0].replica.isJoint)
        world.command(0, 1)
        world.settle(swaps: false) { $0.to == 1 }
        #expect(world.nodes[0].replica.committed == 1)
        // Nobody knows, and the record is the old one: it may still be carried out.
        world.doubt(0)
        world.answer(0)
        world.show(0)
        world.settle(swaps: false) { $0.to == 1 }
        #expect(world.nodes[0].replica.isJoint)
        #expect(world.nodes[0].replica.committed == 1)
        // A swap that changes only the epoch ends the doubt.
        world.pass(110, swaps: false) { $0.to == 1 }
        #expect(world.swaps.count == 2)
        #expect(world.swaps[1].to.backups.isEmpty)
        world.carryOut(1)
        world.settle { $0.to == 1 }
        #expect(world.record.record.epoch == 2)
        #expect(!world.nodes[0].replica.isJoint)
        #expect(world.nodes[0].replica.committed == 2)
        #expect(world.fault == nil)
    }

    @Test func changeOfRecordEndsTheAttempt() {
        var world = ReplicaRuleTests.world(2, of: 3) { $0.keptEntries = 0 }
        Self.add(&world, 2)
        world.settle(swaps: false) { $0.message.kind == "snapshot" }
        Self.drop(&world, 1)
        world.settle { $0.message.kind == "snapshot" }
        #expect(world.nodes[0].replica.learner == nil)
        world.show(2)
        #expect(world.nodes[2].replica.role == .none)
    }

    @Test func learnerThatSaysNothingIsGivenUp() {
        var world = ReplicaRuleTests.world(1, of: 2)
        Self.add(&world, 1)
        world.pass(14_900) { $0.to == 1 }
        #expect(world.nodes[0].replica.learner != nil)
        world.pass(300) { $0.to == 1 }
        #expect(world.nodes[0].replica.learner == nil)
        #expect(world.nodes[0].replica.isAlone)
    }

    /// Drop a backup that forgets, and take it back, while an acknowledgement of before is on its way.
    @Test(arguments: [false, true]) func acknowledgementsOfOtherEpochsDoNotCount(isMutant: Bool) {
        var world = ReplicaRuleTests.world(2, of: 2) {
            $0.keptStateMs = 0
            $0.keptEntries = 0
            if isMutant { $0.mutations = .ackEpoch }
        }
        world.command(0, 1)
        world.deliver(0)
        let late = world.net.removeFirst()
        #expect(late.message.kind == "ack")
        Self.drop(&world, 1)
        world.settle()
        world.show(1)
        world.tick(1)
        #expect(world.nodes[1].replica.state == nil)
        Self.add(&world, 1)
        world.settle(swaps: false) { $0.message.kind == "snapshot" }
        world.deliver(late)
        world.settle { _ in true }
        #expect((world.fault != nil) == isMutant)
        #expect((world.record.record.backups.isEmpty) != isMutant)
    }

    // MARK: Hand-over

    @Test func handOverLosesNothing() {
        var world = ReplicaRuleTests.world(3, of: 3)
        Self.handOver(&world, to: 1)
        world.command(0, 1)
        let prepares = world.net
        world.net = []
        world.settle()
        #expect(world.record.record.handover == world.nodes[0].id)
        for i in 0..<3 { world.show(i) }
        #expect(!world.nodes[0].replica.isOpen)
        #expect(world.nodes[0].replica.isStarted)
        #expect(world.nodes[1].replica.epoch == 1)
        for envelope in prepares { world.deliver(envelope) }
        world.settle { $0.message.kind == "start" && $0.to == 2 }
        #expect(world.nodes[0].replica.role == .backup)
        #expect(world.nodes[1].replica.role == .primary)
        #expect(world.nodes[2].replica.epoch == 1)
        world.pass(110)
        #expect(world.nodes[1].replica.isOpen)
        #expect(world.nodes[1].replica.committed == 3)
        #expect(world.nodes[2].replica.epoch == 2)
        #expect(world.record.record.backups == [world.nodes[2].id, world.nodes[0].id])
        #expect(world.fault == nil)
    }

    @Test func releaseIsRepeated() {
        var world = ReplicaRuleTests.world(2, of: 2)
        Self.handOver(&world, to: 1)
        world.settle { $0.message.kind == "release" }
        #expect(world.nodes[1].replica.role == .backup)
        world.pass(110)
        #expect(world.nodes[1].replica.isOpen)
    }

    @Test func targetIsLostBefore() {
        var world = ReplicaRuleTests.world(2, of: 2)
        world.command(0, 1)
        world.net = []
        Self.handOver(&world, to: 1)
        world.settle { $0.to == 1 }
        #expect(!world.nodes[0].replica.isOpen)
        world.crash(1)
        Self.drop(&world, 1)
        world.settle()
        #expect(world.record.record.handover == nil)
        #expect(world.record.record.members == [world.nodes[0].id])
        #expect(world.nodes[0].replica.isOpen)
        #expect(world.nodes[0].replica.committed == 2)
        #expect(world.fault == nil)
    }

    @Test func whoHandsOverIsLostBefore() {
        var world = ReplicaRuleTests.world(3, of: 3)
        world.command(0, 1)
        world.net.removeAll { $0.to == 2 }
        Self.handOver(&world, to: 1)
        world.settle { $0.to == 2 }
        for i in 0..<3 { world.show(i) }
        world.crash(0)
        #expect(world.nodes[1].replica.overseen == world.nodes[0].id)
        #expect(world.nodes[2].replica.overseen == world.nodes[1].id)
        world.with(1, "suspects A") { $0.replacePrimary(nowMs: $1, wallMs: $1, into: &$2) }
        world.settle()
        #expect(world.record.record.primary == world.nodes[1].id)
        #expect(world.record.record.backups == [world.nodes[2].id])
        #expect(world.nodes[1].replica.isOpen)
        #expect(world.nodes[1].replica.committed == 3)
        #expect(world.fault == nil)
    }

    @Test func thirdMemberIsLostBefore() {
        var world = ReplicaRuleTests.world(3, of: 3)
        world.command(0, 1)
        world.net.removeAll { $0.to == 2 }
        Self.handOver(&world, to: 1)
        world.settle { $0.to == 2 }
        world.show(1)
        world.crash(2)
        Self.drop(&world, 2)
        world.settle()
        #expect(world.record.record.primary == world.nodes[0].id)
        #expect(world.record.record.members == [world.nodes[0].id, world.nodes[1].id])
        #expect(world.nodes[0].replica.isOpen)
        #expect(world.nodes[0].replica.committed == 2)
        #expect(world.fault == nil)
    }

    // MARK: Nonsense

    /// Whatever bytes and numbers come, nothing traps.
    @Test(arguments: 1...60) func nonsenseDoesNoHarm(seed: Int) {
        var random = ReplicaRandom(seed: UInt64(seed))
        var world = ReplicaRuleTests.world(2, of: 3)
        world.isQuiet = false
        if seed % 2 == 0 {
            Self.add(&world, 2)
            world.settle(swaps: false) { $0.message.kind == "snapshot" }
        }
        for _ in 0..<200 {
            let (from, to) = (random.below(3), random.below(3))
            let message = Self.nonsense(&random, world)
            let sender = world.nodes[from].id
            var effects: [ReplicaEffect] = []
            let nowMs = world.nowMs + world.nodes[to].aheadMs
            world.nodes[to].replica.receive(
                message, from: sender, generation: 1, epoch: UInt64(random.below(3)), nowMs: nowMs, wallMs: nowMs,
                into: &effects)
        }
    }

    private static func number(_ random: inout ReplicaRandom) -> UInt64 {
        let some: [UInt64] = [0, 1, 2, 3, 1 << 61, .max - 1, .max]
        return some[random.below(some.count)]
    }

    private static func bytes(_ random: inout ReplicaRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<random.below(12) { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
        return bytes
    }

    private static func entries(_ random: inout ReplicaRandom) -> [[UInt8]] {
        var entries: [[UInt8]] = []
        for _ in 0..<random.below(3) { entries.append(bytes(&random)) }
        return entries
    }

    private static func nonsense(_ random: inout ReplicaRandom, _ world: ReplicaWorld) -> ReplicaMessage {
        let one = number(&random)
        let other = number(&random)
        let hash = random.chance(50) ? 0 : ReplicaLog(generation: 1).hash
        switch random.below(7) {
        case 0: return .prepare(first: one, hashBefore: hash, entries: entries(&random), committed: other)
        case 1: return .ack(last: one, hash: hash, digest: StateDigest(index: other, value: 0))
        case 2: return .position(last: one, hash: hash, tailFirst: other, tail: entries(&random))
        case 3: return .refuse(nil)
        case 4: return .offer(last: one, hash: hash)
        case 5:
            return .snapshot(
                index: one, hash: hash, part: random.below(3) - 1, parts: random.below(3), bytes: bytes(&random))
        default:
            let record = ShardRecord(
                generation: 1, epoch: UInt64(random.below(3)), primary: world.nodes[random.below(3)].id,
                backups: [world.nodes[random.below(3)].id], handover: world.nodes[random.below(3)].id, rules: 1)
            return .release(VersionedRecord(record, revision: one), last: other)
        }
    }
}
