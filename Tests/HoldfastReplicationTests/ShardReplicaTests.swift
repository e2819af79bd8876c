import HoldfastReplication
import Testing

private struct Echo: LoggedMachine {
    var applied: [String] = []

    mutating func apply(_ command: String, index: UInt64, timeMs: Int64, randomness: Int) -> [String] {
        applied.append(command)
        return ["\(index) at \(timeMs): \(command)"]
    }

    mutating func nextDeadlineMs() -> Int64? { nil }
}

@Suite struct ShardReplicaTests {
    @Test func anEntryWithoutBackupsCommitsAtOnce() {
        var replica = ShardReplica(machine: Echo())
        #expect(replica.submit("a", nowMs: 5, randomness: 0) == ["1 at 5: a"])
        #expect(replica.submit("b", nowMs: 7, randomness: 0) == ["2 at 7: b"])
        #expect(replica.committed == 2)
        #expect(replica.machine.applied == ["a", "b"])
    }

    @Test func shardTimeNeverFalls() {
        var replica = ShardReplica(machine: Echo())
        _ = replica.submit("a", nowMs: 9, randomness: 0)
        #expect(replica.submit("b", nowMs: 3, randomness: 0) == ["2 at 9: b"])
    }
}
