import HoldfastProtocol
import HoldfastReplication
import Testing

@testable import HoldfastSimulator

@Suite struct StoreTests {
    private let shard = ShardID(number: 0)
    private let node = NodeID(name: "n0", incarnation: 2)

    private func record(_ epoch: UInt64) -> ShardRecord {
        ShardRecord(generation: 1, epoch: epoch, primary: node, rules: 1)
    }

    private func store() -> SimStore {
        var store = SimStore(shards: 2)
        store.bootstrap([shard: [node]], rules: 1)
        return store
    }

    private func register(
        _ store: inout SimStore, _ name: String, _ incarnation: UInt64? = nil, after: UInt64 = 0, lease: UInt64? = nil,
        nowUs: Int64 = 0
    ) -> (info: NodeInfo, lease: UInt64, revision: UInt64)? {
        var under = lease ?? 0
        if lease == nil, case .granted(let granted) = store.apply(.grant, nowUs: nowUs) { under = granted }
        let own = NodeClaim(
            name: name, incarnation: incarnation, roles: .all, host: "", isDraining: false, mark: 7)
        let answer = store.apply(.register(own, lease: under, after: after), nowUs: nowUs)
        guard case .registered(let info, let lease, let revision) = answer else { return nil }
        return (info, lease, revision)
    }

    // MARK: Content

    @Test func aSwapComparesTheRevision() throws {
        var store = store()
        let first = try #require(store.records[0]).revision
        guard case .swapped(_, .won(let second)) = store.apply(.swap(shard, from: first, to: record(2)), nowUs: 0)
        else {
            Issue.record("the swap is not won")
            return
        }
        #expect(second > first)
        guard case .swapped(_, .lost(let now)) = store.apply(.swap(shard, from: first, to: record(3)), nowUs: 0) else {
            Issue.record("the second swap is not lost")
            return
        }
        #expect(now == VersionedRecord(record(2), revision: second))
        #expect(store.records[0]?.record.epoch == 2)
    }

    @Test func anIncarnationIsTheRevisionOfTheFirstRegistration() throws {
        var store = store()
        let registered = register(&store, "n1")
        let first = try #require(registered)
        #expect(first.info.id.incarnation == store.revision)
        let again = register(&store, "n1", first.info.id.incarnation, after: first.revision)
        #expect(again?.info.id == first.info.id)
        #expect(store.nodes.map(\.id) == [first.info.id])
        let newest = register(&store, "n1", after: again?.revision ?? 0)
        let newer = try #require(newest)
        #expect(newer.info.id.incarnation > first.info.id.incarnation)
        #expect(store.nodes.map(\.id) == [newer.info.id])
    }

    @Test func aRegistrationThatComesLateChangesNothing() throws {
        var store = store()
        // Two requests of one process, of which the first comes behind the second.
        let registered = register(&store, "n1")
        let own = try #require(registered)
        let late = register(&store, "n1")
        #expect(late == nil, "it is changed since")
        #expect(store.nodes.map(\.id) == [own.info.id])
        // Nor when the name is free again: the lease that it came with is gone.
        guard case .granted(let old) = store.apply(.grant, nowUs: 100) else {
            Issue.record("no lease")
            return
        }
        store.endLeases(nowUs: 20_000_000)
        #expect(store.nodes.isEmpty)
        let later = register(&store, "n1", lease: old, nowUs: 20_000_000)
        #expect(later == nil)
        #expect(store.nodes.isEmpty)
    }

    @Test func aLeaseRunsOutUnlessItIsKept() throws {
        var store = store()
        let registered = register(&store, "n1")
        let own = try #require(registered)
        guard case .kept(true) = store.apply(.keepAlive(lease: own.lease), nowUs: 4_000_000) else {
            Issue.record("the lease is not kept")
            return
        }
        store.endLeases(nowUs: 8_999_999)
        #expect(store.nodes.map(\.id) == [own.info.id])
        store.endLeases(nowUs: 9_000_000)
        #expect(store.nodes.isEmpty)
        guard case .kept(false) = store.apply(.keepAlive(lease: own.lease), nowUs: 9_000_001) else {
            Issue.record("a lease that is gone is kept")
            return
        }
    }

    @Test func theLeaseOfAnOlderRegistrationTakesNothingAway() throws {
        var store = store()
        let registered = register(&store, "n1")
        let newest = register(&store, "n1", after: registered?.revision ?? 0, nowUs: 3_000_000)
        let newer = try #require(newest)
        store.endLeases(nowUs: 5_000_000)
        #expect(store.nodes.map(\.id) == [newer.info.id])
    }

    @Test func changesAreKeptUntilTheCompaction() {
        var store = store()
        let before = store.revision
        _ = register(&store, "n1")
        _ = register(&store, "n2")
        #expect(store.changes(after: before).count == 2)
        #expect(store.changes(after: store.revision).isEmpty)
        store.compact()
        guard case .compacted = store.apply(.watch(after: before), nowUs: 0) else {
            Issue.record("a watch goes on from what is compacted")
            return
        }
        guard case .watching = store.apply(.watch(after: store.revision), nowUs: 0) else {
            Issue.record("a watch from now on is refused")
            return
        }
    }

    // MARK: Doubt

    private func front(_ change: (inout StoreFront.Condition) -> Void) -> StoreFront {
        var front = StoreFront(shards: 2, slots: 3, random: SimRandom(seed: 7))
        front.store = store()
        change(&front.condition)
        return front
    }

    private func swap(_ front: StoreFront, _ id: UInt64 = 1) -> StoreAsk {
        let from = front.store.records[0]?.revision ?? 0
        return StoreAsk(slot: 0, serial: 1, node: nil, id: id, request: .swap(shard, from: from, to: record(2)))
    }

    @Test func aSwapMayBeCarriedOutAndNobodyHears() {
        var front = front { $0.answersLost = 1_000 }
        guard case .answered(.swapped(_, .won), nil) = front.arrive(swap(front), nowUs: 10) else {
            Issue.record("the answer was not lost")
            return
        }
        #expect(front.store.records[0]?.record.epoch == 2)
    }

    @Test func whatComesWhileItIsAwayIsLostOrLate() {
        var front = front { $0.awayUntilUs = 5_000_000 }
        var lost = 0
        var late = 0
        for i in 0..<200 {
            switch front.arrive(swap(front, UInt64(i)), nowUs: 1_000_000) {
            case .lost: lost += 1
            case .later(let atUs):
                #expect(atUs >= 5_000_000)
                late += 1
            case .answered: Issue.record("answered while away")
            }
        }
        #expect(lost > 50 && late > 50)
        #expect(front.store.records[0]?.record.epoch == 1)
        // What is late is carried out, whoever still waits.
        var held = swap(front)
        held.wasHeld = true
        guard case .answered(.swapped(_, .won), _) = front.arrive(held, nowUs: 5_000_000) else {
            Issue.record("a late swap is not carried out")
            return
        }
    }

    @Test func aLateSwapIsLate() throws {
        var front = front {
            $0.swapLeastUs = 2_000_000
            $0.swapMostUs = 3_000_000
        }
        let swapUs = front.send(swap(front), nowUs: 0)
        #expect(try #require(swapUs) >= 2_000_000)
        let read = StoreAsk(slot: 0, serial: 1, node: nil, id: 2, request: .read(shard))
        let readUs = front.send(read, nowUs: 0)
        #expect(try #require(readUs) < 10_000)
    }

    @Test func whoIsCutOffIsNotHeard() {
        var front = front { $0.cut = 0b01 }
        let cutOff = front.send(swap(front), nowUs: 0)
        #expect(cutOff == nil)
        let other = StoreAsk(slot: 1, serial: 1, node: nil, id: 2, request: .list)
        let heard = front.send(other, nowUs: 0)
        #expect(heard != nil)
    }

    @Test func aWatchGetsEverythingOnceAndInOrder() throws {
        var front = front { _ in }
        let start = front.store.revision
        _ = register(&front.store, "n1")
        let ask = StoreAsk(slot: 2, serial: 9, node: nil, id: 1, request: .watch(after: start))
        guard case .answered(.watching, _) = front.arrive(ask, nowUs: 0) else {
            Issue.record("no watch")
            return
        }
        let first = front.pump(nowUs: 0)
        #expect(first.map(\.slot) == [2])
        #expect(first.flatMap(\.events).map(\.revision) == [start + 1])
        let none = front.pump(nowUs: 1)
        #expect(none.isEmpty)
        _ = front.arrive(swap(front), nowUs: 2)
        let second = front.pump(nowUs: 2)
        #expect(second.flatMap(\.events).map(\.revision) == [start + 2])
        #expect(try #require(second.first).atUs > #require(first.first).atUs)
        let broken = front.breakWatch(2, nowUs: 5, silently: false)
        #expect(broken?.serial == 9)
        _ = register(&front.store, "n2")
        let last = front.pump(nowUs: 6)
        #expect(last.isEmpty, "a broken watch gets nothing")
    }
}
