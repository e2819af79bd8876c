/// A primary's side of a shard's log (PacificA, Lin et al. 2008; design, rule 3): it gives each command an index and a
/// time, applies it, and keeps the effects until the entry is committed. Nothing leaves a shard past this gate.
///
/// A shard that no other replica backs up commits each entry at once. Backups hold entries back at `commit`.
public struct ShardReplica<Machine: ReplicatedMachine>: Sendable {
    public private(set) var machine: Machine
    /// The index of the newest entry.
    public private(set) var last: UInt64 = 0
    /// Entries up to here survive the death of any one node, or of none if this is the only replica.
    public private(set) var committed: UInt64 = 0
    /// Shard time of the newest entry.
    public private(set) var timeMs: Int64 = .min
    /// The effects of entries above `committed`, oldest first.
    private var tail: [(index: UInt64, effects: [Machine.Effect])] = []

    public init(machine: Machine) {
        self.machine = machine
    }

    /// Logs a command.
    /// - Parameter nowMs: the node's clock; shard time follows it and never falls.
    /// - Returns: the effects that may leave now.
    public mutating func submit(
        _ command: Machine.Command, nowMs: Int64, randomness: Machine.Randomness
    ) -> [Machine.Effect] {
        last += 1
        timeMs = max(timeMs, nowMs)
        let effects = machine.apply(command, index: last, timeMs: timeMs, randomness: randomness)
        if tail.isEmpty, leastAcknowledged == last {
            committed = last
            return effects
        }
        tail.append((last, effects))
        return commit()
    }

    /// Releases the effects of entries that are committed, in order.
    private mutating func commit() -> [Machine.Effect] {
        committed = max(committed, leastAcknowledged)
        let due = tail.prefix { $0.index <= committed }
        tail.removeFirst(due.count)
        return due.flatMap(\.effects)
    }

    /// The newest entry that every backup has. Without backups, that is the newest of all.
    private var leastAcknowledged: UInt64 { last }

    /// When an entry is due at the latest, in shard time.
    public mutating func nextDeadlineMs() -> Int64? { machine.nextDeadlineMs() }
}
