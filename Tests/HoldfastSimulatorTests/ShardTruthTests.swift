import HoldfastProtocol
import Testing

@testable import HoldfastReplication
@testable import HoldfastSimulator

/// Each check of logs and records finds what it is for, and nothing where all is well.
@Suite struct ShardTruthTests {
    let a = NodeID(name: "n0", incarnation: 2)
    let b = NodeID(name: "n1", incarnation: 3)
    let c = NodeID(name: "n2", incarnation: 4)
    let shard = ShardID(number: 1)

    private func record(
        _ epoch: UInt64, _ primary: NodeID, _ backups: [NodeID], generation: UInt64 = 1, handover: NodeID? = nil
    ) -> ShardRecord {
        ShardRecord(
            generation: generation, epoch: epoch, primary: primary, backups: backups, handover: handover, rules: 1)
    }

    private func change(by node: NodeID?, living: [NodeID] = []) -> ShardTruth.Change {
        ShardTruth.Change(by: node) { living.contains($0) }
    }

    /// With these records in a row, and none of them wrong.
    private func truth(_ records: (ShardRecord, NodeID?)...) -> ShardTruth {
        var truth = ShardTruth(shard)
        for (i, (record, by)) in records.enumerated() {
            let found = truth.changed(VersionedRecord(record, revision: UInt64(10 + i)), change(by: by))
            #expect(found == nil)
        }
        return truth
    }

    private func point(_ index: UInt64, epoch: UInt64 = 1, generation: UInt64 = 1) -> ToldPoint {
        ToldPoint(generation: generation, epoch: epoch, index: index)
    }

    private func glance(_ last: UInt64, generation: UInt64 = 1) -> ReplicaGlance {
        ReplicaGlance(
            role: .backup, generation: generation, epoch: 1, last: last, hash: 0, committed: last, isStarted: false,
            isOpen: false, mayTell: false, timeMs: 0, wallMs: 0, told: nil)
    }

    // MARK: Telling

    @Test func aTellerWithTheSameLogIsRight() {
        var truth = truth((record(1, a, [b]), nil))
        #expect(truth.tell(point(5), by: a) { 100 + $0 } == nil)
        #expect(truth.tell(point(9), by: a) { 100 + $0 } == nil)
        _ = truth.changed(VersionedRecord(record(2, b, []), revision: 20), change(by: b))
        #expect(truth.tell(point(7, epoch: 2), by: b) { 100 + $0 } == nil)
        #expect(truth.tell(point(12, epoch: 2), by: b) { 100 + $0 } == nil)
        #expect(truth.life?.told == 12)
    }

    @Test func anotherEntryAtATolIndexIsFound() {
        var truth = truth((record(1, a, [b]), nil), (record(2, b, []), b))
        #expect(truth.tell(point(9), by: a) { 100 + $0 } == nil)
        let found = truth.tell(point(10, epoch: 2), by: b) { $0 == 9 ? 7 : 8 }
        #expect(found?.invariant == 2)
    }

    @Test func whoIsNotThePrimaryOfAnEpochTellsNothingInIt() {
        var truth = truth((record(1, a, [b]), nil))
        #expect(truth.tell(point(3), by: b) { $0 }?.invariant == 2)
        #expect(truth.tell(point(3, epoch: 2), by: a) { $0 }?.invariant == 2)
    }

    @Test func anOlderGenerationTellsNoMore() {
        var truth = truth((record(1, a, []), nil), (record(2, c, [], generation: 2), c))
        #expect(truth.tell(point(3), by: a) { $0 } == nil)
        #expect(truth.tell(point(1, epoch: 2, generation: 2), by: c) { $0 } == nil)
        #expect(truth.tell(point(4), by: a) { $0 }?.invariant == 2)
    }

    @Test func aMemberMustHaveWhatWasTold() {
        var truth = truth((record(1, a, [b]), nil))
        #expect(truth.check(member: b, nil) { $0 } == nil)
        _ = truth.tell(point(9), by: a) { 100 + $0 }
        #expect(truth.check(member: b, glance(9)) { 100 + $0 } == nil)
        #expect(truth.check(member: b, glance(12)) { 100 + $0 } == nil)
        #expect(truth.check(member: b, glance(12)) { _ in nil } == nil)
        #expect(truth.check(member: b, glance(8)) { 100 + $0 }?.invariant == 1)
        #expect(truth.check(member: b, glance(12)) { 99 + $0 }?.invariant == 1)
        #expect(truth.check(member: b, nil) { $0 }?.invariant == 1)
        #expect(truth.check(member: b, glance(12, generation: 2)) { 100 + $0 }?.invariant == 1)
        // Who is not listed may have anything.
        #expect(truth.check(member: c, nil) { $0 } == nil)
    }

    // MARK: Records

    @Test func changesByTheRules() {
        let cases: [(ShardRecord, ShardRecord, NodeID?)] = [
            (record(1, a, [b]), record(2, a, []), a),
            (record(1, a, []), record(2, a, [c]), a),
            (record(1, a, [b]), record(2, a, [b]), a),
            (record(1, a, [b]), record(2, b, []), b),
            (record(1, a, [b, c]), record(2, c, [b]), c),
            (record(1, a, [b]), record(2, b, [a], handover: a), a),
            (record(2, b, [a], handover: a), record(3, a, []), a),
            (record(2, b, [a], handover: a), record(3, b, []), b),
            (record(2, b, [a, c], handover: a), record(3, b, [c]), b),
        ]
        for (old, new, by) in cases {
            #expect(ShardTruth.fault(old, new, change(by: by, living: [a, b, c])) == nil, "\(new.short)")
        }
        #expect(
            ShardTruth.fault(record(4, a, [b]), record(5, c, [], generation: 2), change(by: c, living: [c])) == nil)
    }

    @Test func changesAgainstTheRules() {
        let cases: [(ShardRecord, ShardRecord, NodeID)] = [
            // The epoch.
            (record(1, a, [b]), record(3, a, []), a),
            (record(1, a, [b]), record(1, a, []), a),
            // A primary that was not listed; members by others, two at a time, twice.
            (record(1, a, [b]), record(2, c, [b]), b),
            (record(1, a, [b]), record(2, b, []), c),
            (record(1, a, []), record(2, a, [b, c]), a),
            (record(1, a, [b]), record(2, a, [b, b]), a),
            (record(1, a, [b]), record(2, b, [c]), b),
            // Who is dropped is not who steps down.
            (record(1, a, [b, c]), record(2, c, [a, b]), b),
            (record(1, a, [b]), record(2, b, []), a),
            (record(1, a, [b]), record(2, b, [a, c], handover: a), a),
            (record(1, a, [b]), record(2, b, [], handover: a), a),
            // A new generation of something that lives, or with more than one, or by somebody else.
            (record(1, a, [b]), record(2, c, [], generation: 2), c),
            (record(1, a, []), record(2, c, [a], generation: 2), c),
            (record(1, a, []), record(2, c, [], generation: 3), c),
        ]
        for (old, new, by) in cases {
            #expect(ShardTruth.fault(old, new, change(by: by, living: [b])) != nil, "\(old.short) → \(new.short)")
        }
    }

    @Test func aFaultNamesBothRecords() {
        var truth = truth((record(1, a, [b]), nil))
        let found = truth.changed(VersionedRecord(record(2, c, []), revision: 11), change(by: c))
        #expect(found?.invariant == 4)
        #expect(found?.what.contains("n2#4") == true)
    }

    // MARK: Time

    private func entry(
        _ index: UInt64, at timeMs: Int64, wall: Int64? = nil, committed: UInt64? = nil, epoch: UInt64 = 1
    ) -> ReplicaGlance {
        ReplicaGlance(
            role: .primary, generation: 1, epoch: epoch, last: index, hash: 0, committed: committed ?? index,
            isStarted: true, isOpen: true,
            mayTell: true, timeMs: timeMs, wallMs: wall ?? timeMs, told: nil)
    }

    @Test func timeGoesOnAtItsPace() {
        var clock = ShardClock()
        #expect(clock.made(entry(1, at: 5_000), by: a, of: shard, known: nil, nowMs: 100) == nil)
        #expect(clock.made(entry(2, at: 6_000), by: a, of: shard, known: nil, nowMs: 1_100) == nil)
        // Another primary, to which entry 2 came 20 ms late.
        let known = ShardClock.Known(leadMs: 4_880, seenMs: 1_120)
        #expect(clock.made(entry(3, at: 6_880), by: b, of: shard, known: known, nowMs: 2_000) == nil)
    }

    @Test func anEntryThatGotNowhereHoldsNobody() {
        var clock = ShardClock()
        _ = clock.made(entry(1, at: 5_000), by: a, of: shard, known: nil, nowMs: 100)
        _ = clock.made(entry(2, at: 5_100, committed: 1), by: a, of: shard, known: nil, nowMs: 200)
        var other = clock
        #expect(other.made(entry(2, at: 5_050), by: b, of: shard, known: nil, nowMs: 250) == nil)
        other = clock
        #expect(other.made(entry(2, at: 4_999), by: b, of: shard, known: nil, nowMs: 250)?.invariant == 11)
    }

    @Test func aPrimaryThatWasReplacedIsNotLookedAt() {
        var clock = ShardClock()
        _ = clock.made(entry(1, at: 5_000), by: a, of: shard, known: nil, nowMs: 100)
        // Entry 1 came to the new one 60 ms late: its time lags by as much.
        let known = ShardClock.Known(leadMs: 4_840, seenMs: 160)
        #expect(clock.made(entry(2, at: 5_050, epoch: 2), by: b, of: shard, known: known, nowMs: 210) == nil)
        #expect(clock.made(entry(3, at: 5_120), by: a, of: shard, known: nil, nowMs: 220) == nil)
        #expect(clock.made(entry(3, at: 5_120, epoch: 2), by: b, of: shard, known: nil, nowMs: 220)?.invariant == 11)
    }

    @Test func timeThatFallsRunsOrStandsIsFound() {
        var clock = ShardClock()
        _ = clock.made(entry(1, at: 5_000), by: a, of: shard, known: nil, nowMs: 100)
        var other = clock
        #expect(other.made(entry(2, at: 4_999), by: b, of: shard, known: nil, nowMs: 200)?.invariant == 11)
        other = clock
        #expect(other.made(entry(2, at: 7_000), by: b, of: shard, known: nil, nowMs: 200)?.invariant == 11)
        other = clock
        let known = ShardClock.Known(leadMs: 4_900, seenMs: 100)
        #expect(other.made(entry(2, at: 5_000), by: b, of: shard, known: known, nowMs: 900)?.invariant == 11)
        other = clock
        #expect(other.made(entry(2, at: 5_100, wall: 0), by: a, of: shard, known: nil, nowMs: 200)?.invariant == 11)
    }
}
