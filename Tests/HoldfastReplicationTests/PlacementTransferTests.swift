import HoldfastProtocol
import HoldfastReplication
import Testing

private func id(_ name: String) -> NodeID { NodeID(name: name, incarnation: 1) }

private func record(_ members: String, generation: UInt64 = 1) -> ShardRecord {
    let ids = members.split(separator: " ").map { id(String($0)) }
    return ShardRecord(generation: generation, epoch: 7, primary: ids[0], backups: Array(ids.dropFirst()), rules: 3)
}

private func view(_ names: String, draining: String = "") -> MembershipView {
    let drains = draining.split(separator: " ")
    return MembershipView(
        nodes: names.split(separator: " ").map {
            NodeInfo(id: id(String($0)), isDraining: drains.contains($0))
        })
}

private func ids(_ names: String) -> [NodeID] { names.split(separator: " ").map { id(String($0)) } }

extension ShardRecord {
    /// As it is after the step was carried out.
    fileprivate func after(_ step: TransferStep) -> ShardRecord {
        var next = self
        switch step {
        case .nothing: return self
        case .drop(let node, _): next.backups.removeAll { $0 == node }
        case .add(let node): next.backups.append(node)
        case .handOver(let node):
            next.backups = [primary] + backups.filter { $0 != node }
            next.primary = node
        }
        next.epoch += 1
        return next
    }
}

@Suite struct PlacementTransferTests {
    @Test func nothingIsDoneWhenAllIsAsWanted() {
        #expect(TransferPlan.next(record("a b"), wanted: ids("a b"), view: view("a b c")) == .nothing)
    }

    @Test func whoIsGoneIsDroppedAtOnce() {
        var dead = view("a b c")
        dead.dead = [id("b")]
        #expect(
            TransferPlan.next(record("a b"), wanted: ids("a c"), view: dead) == .drop(id("b"), isForCause: true))
        var silent = view("a b c")
        silent.silent = [id("b")]
        #expect(
            TransferPlan.next(record("a b"), wanted: ids("a b"), view: silent) == .drop(id("b"), isForCause: true))
    }

    @Test func aNewerIncarnationOfABackupIsAnotherNode() {
        let next = NodeID(name: "b", incarnation: 9)
        let restarted = MembershipView(nodes: [NodeInfo(id: id("a")), NodeInfo(id: next)])
        let first = TransferPlan.next(record("a b"), wanted: [id("a"), next], view: restarted)
        #expect(first == .drop(id("b"), isForCause: true))
        #expect(TransferPlan.next(record("a"), wanted: [id("a"), next], view: restarted) == .add(next))
    }

    @Test func whoMustNotSwapDoesNothing() {
        var alone = view("a b c")
        alone.maySwap = false
        alone.dead = [id("b")]
        #expect(TransferPlan.next(record("a b"), wanted: ids("a c"), view: alone) == .nothing)
    }

    @Test func aHandOverUnderWayIsLeftAlone() {
        var under = record("b a")
        under.handover = id("a")
        #expect(TransferPlan.next(under, wanted: ids("a b"), view: view("a b c")) == .nothing)
    }

    @Test func balancingAddsBeforeItDrops() {
        let wanted = ids("c d")
        let all = view("a b c d")
        var now = record("a b")
        var steps: [TransferStep] = []
        while case let step = TransferPlan.next(now, wanted: wanted, view: all), step != .nothing {
            steps.append(step)
            now = now.after(step)
            #expect(now.members.count >= 2)
            if steps.count > 20 { break }
        }
        #expect(
            steps == [
                .add(id("c")), .drop(id("b"), isForCause: false), .add(id("d")), .handOver(to: id("c")),
                .drop(id("a"), isForCause: false),
            ])
        #expect(now.members == wanted)
    }

    @Test func aPrimaryThatDrainsHandsOverBeforeTheOtherTransfers() {
        let drains = view("a b c", draining: "a")
        #expect(TransferPlan.next(record("a b"), wanted: ids("c b"), view: drains) == .handOver(to: id("b")))
        #expect(TransferPlan.next(record("b a"), wanted: ids("c b"), view: drains) == .add(id("c")))
    }

    @Test func aStandInComesWhileTheWantedOneWaits() {
        let all = view("a b c")
        let step = TransferPlan.next(
            record("a"), wanted: ids("a b"), standIns: ids("b a c"), view: all, mayAdd: { $0 != id("b") })
        #expect(step == .add(id("c")))
        #expect(
            TransferPlan.next(record("a c"), wanted: ids("a b"), view: all, mayAdd: { $0 != id("b") }) == .nothing)
        #expect(TransferPlan.next(record("a c"), wanted: ids("a b"), view: all) == .add(id("b")))
        #expect(
            TransferPlan.next(record("a c b"), wanted: ids("a b"), view: all) == .drop(id("c"), isForCause: false))
    }

    /// From any records and in any order, all come to what is wanted and stay there; on the way none has fewer members
    /// than wanted (or than it had), none more than one too many, and no node is dropped for cause.
    @Test func balancingComesToAnEnd() {
        for seed in 0..<150 {
            var random = SplitMixGenerator(state: UInt64(seed))
            let count = Int.random(in: 1...9, using: &random)
            let infos = (0..<count).map { at in
                NodeInfo(
                    id: id("n\(at)"), host: Bool.random(using: &random) ? "" : "h\(at % 3)",
                    isDraining: Int.random(in: 0..<5, using: &random) == 0)
            }
            let layout = ShardLayout(entityShards: 12, matchShards: 3)
            let all = MembershipView(nodes: infos)
            let replicas = Int.random(in: 1...3, using: &random)
            let wanted = Placement.wanted(layout: layout, nodes: all.living, replicas: replicas)
            for shard in layout.homes {
                let target = wanted[shard] ?? []
                let standIns = Placement.standIns(for: shard, layout: layout, nodes: infos)
                let had = Int.random(in: 1...min(count, 4), using: &random)
                let members = infos.map(\.id).shuffled(using: &random).prefix(had)
                var now = ShardRecord(
                    generation: 1, epoch: 1, primary: members[0], backups: Array(members.dropFirst()), rules: 1)
                var calm = 0
                var steps = 0
                while calm < 3, steps < 100 {
                    steps += 1
                    let mayWait = steps < 20
                    let step = TransferPlan.next(now, wanted: target, standIns: standIns, view: all) { _ in
                        !mayWait || Bool.random(using: &random)
                    }
                    if case .drop(_, isForCause: true) = step { Issue.record("seed \(seed): \(step) of \(now)") }
                    let next = now.after(step)
                    #expect(next.members.count >= min(now.members.count, target.count), "seed \(seed)")
                    #expect(next.members.count <= max(now.members.count, target.count + 1), "seed \(seed)")
                    calm = step == .nothing && !mayWait ? calm + 1 : 0
                    now = next
                }
                #expect(calm == 3, "seed \(seed): no end")
                #expect(now.primary == target.first && Set(now.members) == Set(target), "seed \(seed)")
            }
        }
    }

    @Test func aShardBeginsAnewWhenNothingOfItIsLeft() {
        var lost = view("a b c")
        lost.lost = [id("x"), id("y")]
        let old = record("x y", generation: 4)
        #expect(LossPlan.fresh(record("x a", generation: 4), wanted: ids("b c"), view: lost, own: id("b")) == nil)
        let fresh = LossPlan.fresh(old, wanted: ids("b c"), view: lost, own: id("b"))
        #expect(fresh == ShardRecord(generation: 5, epoch: 8, primary: id("b"), rules: 3))
        #expect(LossPlan.fresh(old, wanted: ids("b c"), view: lost, own: id("c")) == nil, "it is b's to do")
        lost.dead = [id("b")]
        #expect(LossPlan.fresh(old, wanted: ids("b c"), view: lost, own: id("c")) != nil, "b does not live")
        lost.maySwap = false
        #expect(LossPlan.fresh(old, wanted: ids("b c"), view: lost, own: id("c")) == nil)
    }

    @Test func deadIsNotLost() {
        var dead = view("a b")
        dead.dead = [id("x")]
        #expect(LossPlan.fresh(record("x"), wanted: ids("a b"), view: dead, own: id("a")) == nil)
    }

    @Test func aRestartedNodeHasLostWhatItHeld() {
        let next = NodeID(name: "x", incarnation: 2)
        let restarted = MembershipView(nodes: [NodeInfo(id: next)])
        #expect(LossPlan.fresh(record("x"), wanted: [next], view: restarted, own: next)?.primary == next)
    }

    @Test func aRemovedNodeWaitsTwiceAsLongEachTime() {
        var backOff = BackOff()
        #expect(!backOff.isWaiting(id("a"), nowMs: 0))
        backOff.removed(id("a"), nowMs: 0)
        backOff.removed(id("a"), nowMs: 100)
        #expect(backOff.isWaiting(id("a"), nowMs: 4_999))
        #expect(backOff.nextEndMs(nowMs: 0) == 5_000)
        #expect(!backOff.isWaiting(id("a"), nowMs: 5_000))
        backOff.removed(id("a"), nowMs: 6_000)
        #expect(backOff.isWaiting(id("a"), nowMs: 15_999))
        #expect(!backOff.isWaiting(id("a"), nowMs: 16_000))
        var now: Int64 = 16_000
        for _ in 0..<10 {
            backOff.removed(id("a"), nowMs: now)
            now = backOff.nextEndMs(nowMs: now) ?? now
        }
        backOff.removed(id("a"), nowMs: now)
        #expect(backOff.nextEndMs(nowMs: now) == now + 300_000, "no longer than five minutes")
        now += 300_000 + 600_000
        backOff.removed(id("a"), nowMs: now)
        #expect(backOff.nextEndMs(nowMs: now) == now + 5_000, "it has been quiet for long enough")
    }

    @Test func theTableOfWaitsIsBounded() {
        var settings = BackOff.Settings()
        settings.maxNodes = 3
        var backOff = BackOff(settings: settings)
        for at in 0..<10 { backOff.removed(id("n\(at)"), nowMs: Int64(at)) }
        #expect(backOff.count == 3)
        #expect(backOff.isWaiting(id("n9"), nowMs: 10) && !backOff.isWaiting(id("n6"), nowMs: 10))
    }

    @Test func fourTransfersAtOnce() {
        var budget = TransferBudget()
        let first = (0..<5).map { budget.beginSending(ShardID(number: $0)) }
        #expect(first == [true, true, true, true, false])
        let again = budget.beginSending(ShardID(number: 3))
        #expect(again, "it is counted already")
        budget.endSending(ShardID(number: 0))
        budget.endSending(ShardID(number: 0))
        let second = (4..<6).map { budget.beginSending(ShardID(number: $0)) }
        #expect(second == [true, false])
    }
}
