import HoldfastProtocol
import Testing

@testable import HoldfastReplication

/// The rules of one shard's replicas, one by one (design, Safety 2–8).
@Suite struct ReplicaRuleTests {
    static func world(_ members: Int, of nodes: Int, _ change: (inout ReplicationSettings) -> Void = { _ in })
        -> ReplicaWorld
    {
        var settings = ReplicationSettings()
        change(&settings)
        var world = ReplicaWorld(
            names: Array(["A", "B", "C", "D"].prefix(nodes)), members: members, settings: settings)
        world.begin()
        return world
    }

    // MARK: Prepare, ack, commit, tell (rule 3)

    @Test func onlyReplicaCommitsAtOnceAndKeepsNothing() {
        var world = Self.world(1, of: 1)
        world.command(0, 7)
        #expect(world.nodes[0].replica.isAlone)
        #expect(world.nodes[0].replica.last == 2)
        #expect(world.nodes[0].replica.committed == 2)
        #expect(world.nodes[0].replica.log.keptBytes == 0)
        #expect(world.net.isEmpty)
        #expect(world.fault == nil)
    }

    @Test func nothingIsToldBeforeAllBackupsHaveIt() {
        var world = Self.world(3, of: 3)
        #expect(world.told.count == 1)
        world.command(0, 7)
        #expect(world.nodes[0].replica.committed == 1)
        world.settle { $0.to == 2 }
        #expect(world.nodes[0].replica.committed == 1)
        world.pass(110)
        #expect(world.nodes[0].replica.committed == 2)
        #expect(world.nodes.allSatisfy { $0.replica.last == 2 && $0.replica.hash == world.nodes[0].replica.hash })
        #expect(world.fault == nil)
    }

    @Test func backupTakesOnlyTheNext() {
        var world = Self.world(2, of: 2)
        world.command(0, 1)
        let first = world.net.removeFirst()
        world.command(0, 2)
        world.settle()
        #expect(world.nodes[1].replica.last == 1)
        world.deliver(first)
        #expect(world.nodes[1].replica.last == 2)
        world.pass(110)
        #expect(world.nodes[1].replica.last == 3)
        #expect(world.nodes[0].replica.committed == 3)
    }

    @Test func patientEntriesTravelWithTheNextOrWithATick() {
        var world = Self.world(2, of: 2)
        world.command(0, 1, isPatient: true)
        #expect(world.net.isEmpty)
        world.command(0, 2)
        #expect(world.net.count == 1)
        world.settle()
        #expect(world.nodes[0].replica.committed == 3)
        world.pass(50)
        #expect(world.fault == nil)
    }

    @Test func receiptsTravelWithTheNextEntryOrGetTheirOwn() {
        var world = Self.world(2, of: 2)
        world.command(0, 1)
        world.settle()
        let receipt = ChannelReceipt.gateway(ReplicaWorld.gateway, session: 1, through: 1)
        world.with(0, "notes") { $0.note(receipt, nowMs: $1, into: &$2) }
        #expect(world.nodes[0].replica.state?.gateways[ReplicaWorld.gateway]?.outbox.count == 1)
        world.pass(990)
        #expect(world.nodes[0].replica.last == 2)
        world.pass(20)
        #expect(world.nodes[0].replica.last == 3)
        for node in world.nodes {
            #expect(node.replica.state?.gateways[ReplicaWorld.gateway]?.outbox.isEmpty == true)
        }
        #expect(world.nodes[0].replica.state?.digest() == world.nodes[1].replica.state?.digest())
    }

    /// Otherwise a backup of before, which has the same log, would go on from another state.
    @Test func receiptsAreForgottenAloneOnlyAfterAnEntryMadeAlone() {
        var world = Self.world(2, of: 2)
        world.command(0, 1)
        world.settle()
        world.with(0, "drops B") {
            $0.drop(NodeID(name: "B", incarnation: 2), nowMs: $1, wallMs: $1, into: &$2)
        }
        world.settle()
        #expect(world.nodes[0].replica.isAlone)
        let receipt = ChannelReceipt.gateway(ReplicaWorld.gateway, session: 1, through: 1)
        world.with(0, "notes") { $0.note(receipt, nowMs: $1, into: &$2) }
        #expect(world.nodes[0].replica.state?.gateways[ReplicaWorld.gateway]?.outbox.count == 1)
        world.command(0, 2)
        #expect(world.nodes[0].replica.state?.gateways[ReplicaWorld.gateway]?.outbox.first == 2)
        let next = ChannelReceipt.gateway(ReplicaWorld.gateway, session: 1, through: 2)
        world.with(0, "notes") { $0.note(next, nowMs: $1, into: &$2) }
        #expect(world.nodes[0].replica.state?.gateways[ReplicaWorld.gateway]?.outbox.isEmpty == true)
        #expect(world.nodes[0].replica.last == 3)
    }

    @Test func tooFarAheadIsClosed() {
        var world = Self.world(2, of: 2) { $0.tailLimit = 3 }
        for value in 1...3 { world.command(0, UInt64(value)) }
        #expect(!world.nodes[0].replica.isOpen)
        world.settle()
        #expect(world.nodes[0].replica.isOpen)
    }

    @Test func statesThatDifferAreAnAlarmAndDropTheBackup() {
        var world = Self.world(2, of: 2) { $0.digestEvery = 4 }
        world.isQuiet = false
        world.nodes[1].replica.state?.machine.pages.append(1)
        for value in 1...3 { world.command(0, UInt64(value)) }
        world.settle()
        #expect(world.alarms.count == 1)
        #expect(world.record.record.backups.isEmpty)
    }

    // MARK: Suspicion (rule 14)

    @Test func backupThatDoesNotAcknowledgeIsStuck() {
        var world = Self.world(2, of: 2)
        world.command(0, 1)
        world.pass(1_240) { $0.to == 1 }
        #expect(world.stuck.isEmpty)
        world.pass(20) { $0.to == 1 }
        #expect(world.stuck.map(\.1) == [world.nodes[1].id])
    }

    @Test func ownStallIsHeldAgainstNobody() {
        var world = Self.world(2, of: 2)
        world.command(0, 1)
        world.nowMs += 4_000
        world.tick(0)
        #expect(world.stuck.isEmpty)
        world.settle()
        #expect(world.nodes[0].replica.committed == 2)
    }

    // MARK: Records (rules 4 and 5)

    @Test func primaryIsAloneOnlyWhenTheDropHasWon() {
        var world = Self.world(2, of: 2)
        world.with(0, "drops B") { $0.drop(NodeID(name: "B", incarnation: 2), nowMs: $1, wallMs: $1, into: &$2) }
        world.command(0, 1)
        world.settle(swaps: false) { _ in true }
        #expect(world.nodes[0].replica.committed == 1)
        world.settle { _ in true }
        #expect(world.record.record.backups.isEmpty)
        #expect(world.nodes[0].replica.committed == 2)
    }

    @Test func replacedPrimaryIsRefusedAndLooks() {
        var world = Self.world(2, of: 2)
        world.with(1, "suspects A") { $0.replacePrimary(nowMs: $1, wallMs: $1, into: &$2) }
        world.settle()
        #expect(world.nodes[1].replica.isOpen)
        #expect(world.nodes[0].replica.isOpen)
        world.command(0, 1)
        #expect(world.nodes[0].replica.committed == 1)
        world.settle()
        #expect(world.nodes[0].replica.role == .none)
        #expect(world.counts["closed"] == 1)
        #expect(world.fault == nil)
    }

    @Test func newPrimaryTakesTheLongestLogAndSendsItOn() {
        var world = Self.world(3, of: 3)
        world.command(0, 1)
        world.command(0, 2)
        world.settle { $0.to != 1 }
        #expect(world.nodes[1].replica.last == 3)
        #expect(world.nodes[2].replica.last == 1)
        world.crash(0)
        world.with(2, "suspects A") { $0.replacePrimary(nowMs: $1, wallMs: $1, into: &$2) }
        world.settle()
        #expect(world.nodes[2].replica.isOpen)
        #expect(world.nodes[2].replica.last == 4)
        #expect(world.nodes[2].replica.committed == 4)
        #expect(world.nodes[1].replica.last == 4)
        #expect(world.fault == nil)
    }

    @Test func newPrimaryDropsWhoIsSilentBeforeItStarts() {
        var world = Self.world(3, of: 3)
        world.crash(0)
        world.with(2, "suspects A") { $0.replacePrimary(nowMs: $1, wallMs: $1, into: &$2) }
        world.pass(190) { $0.to == 1 }
        #expect(!world.nodes[2].replica.isStarted)
        #expect(world.record.record.backups == [world.nodes[1].id])
        world.pass(20, swaps: false) { $0.to == 1 }
        #expect(!world.nodes[2].replica.isStarted)
        world.settle { $0.to == 1 }
        #expect(world.record.record.backups.isEmpty)
        #expect(world.nodes[2].replica.isOpen)
    }

    @Test func nobodySwapsWhoHearsTooFew() {
        var world = Self.world(2, of: 2)
        world.nodes[0].replica.maySwap = false
        world.with(0, "drops B") { $0.drop(NodeID(name: "B", incarnation: 2), nowMs: $1, wallMs: $1, into: &$2) }
        world.pass(300)
        #expect(world.record.revision == 1)
        world.nodes[0].replica.maySwap = true
        world.pass(300)
        #expect(world.record.record.backups.isEmpty)
    }

    @Test func listedWithoutHavingLearnedIsAnAlarm() {
        var world = Self.world(1, of: 2)
        world.isQuiet = false
        var next = world.record.record
        next.epoch += 1
        next.backups = [world.nodes[1].id]
        world.replace(by: next, "by mistake")
        world.show(1)
        #expect(world.nodes[1].replica.role == .none)
        #expect(world.alarms.count == 1)
    }

    @Test func newGenerationBeginsEmpty() {
        var world = Self.world(2, of: 3)
        world.command(0, 1)
        world.settle()
        world.crash(0)
        world.crash(1)
        world.beginAnew(primary: 2, backups: [3])
        for i in world.living { world.show(i) }
        world.settle()
        #expect(world.nodes[2].replica.isOpen)
        #expect(world.nodes[2].replica.last == 1)
        #expect(world.nodes[3].replica.state?.generation == 2)
        #expect(world.fault == nil)
    }

    /// A watch that is behind may show an own swap that won before.
    @Test func onlyASwapAskedForLaterShowsThatNobodyBeganAnew() {
        var world = Self.world(2, of: 2)
        world.with(0, "drops B") { $0.drop(NodeID(name: "B", incarnation: 2), nowMs: $1, wallMs: $1, into: &$2) }
        world.carryOut(0)
        world.with(0, "was out of touch") { $0.confirm(nowMs: $1, into: &$2) }
        world.show(0)
        world.answer(0)
        #expect(world.nodes[0].replica.epoch == 2)
        #expect(world.nodes[0].replica.isOpen)
        #expect(!world.nodes[0].replica.mayTell)
        world.pass(110)
        #expect(world.record.record.epoch == 3)
        #expect(world.nodes[0].replica.mayTell)
    }

    // MARK: Time (rule 13)

    @Test func shardTimeGoesOnAtTheNewPrimary() throws {
        var world = Self.world(2, of: 2)
        world.command(0, 1)
        world.settle()
        let before = try #require(world.nodes[0].replica.state?.timeMs)
        world.crash(0)
        world.nowMs += 700
        world.with(1, "suspects A") { $0.replacePrimary(nowMs: $1, wallMs: $1, into: &$2) }
        world.settle()
        #expect(world.nodes[1].replica.state?.timeMs == before + 700)
        world.nodes[1].replica.state?.machine.deadlineMs = before + 1_000
        #expect(world.nodes[1].replica.nextEntryMs() == world.nowMs + world.nodes[1].aheadMs + 300)
        let wall = world.nodes[1].replica.state?.wallMs ?? 0
        #expect(wall == 1_700_000_000_000 + before + 700)
    }
}
