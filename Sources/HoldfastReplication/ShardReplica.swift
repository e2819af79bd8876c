/// A primary's side of a shard's log (PacificA, Lin et al. 2008; design, rule 3): it gives each command an index and a
/// time, applies it, and keeps the effects until the entry is committed. Nothing leaves a shard past this gate.
///
/// A shard that no other replica backs up commits each entry at once. Backups hold entries back at `commit`.
///
/// Inlinable, because each entry of a node passes here: a caller in another module gets code made for its machine.
public struct ShardReplica<Machine: LoggedMachine>: Sendable {
    @usableFromInline var state: Machine
    @usableFromInline var newest: UInt64 = 0
    @usableFromInline var safe: UInt64 = 0
    /// Shard time of the newest entry.
    @usableFromInline var timeMs: Int64 = .min
    /// The effects of entries above `safe`, oldest first.
    @usableFromInline var tail: [(index: UInt64, effects: [Machine.Effect])] = []

    @inlinable
    public init(machine: Machine) {
        state = machine
    }

    /// The machine after the newest entry.
    public var machine: Machine { state }

    /// The index of the newest entry.
    public var last: UInt64 { newest }

    /// Entries up to here survive the death of any one node, or of none if this is the only replica.
    public var committed: UInt64 { safe }

    /// Logs a command.
    /// - Parameter nowMs: the node's clock; shard time follows it and never falls.
    /// - Returns: the effects that may leave now.
    @inlinable
    public mutating func submit(
        _ command: Machine.Command, nowMs: Int64, randomness: Machine.Randomness
    ) -> [Machine.Effect] {
        newest += 1
        timeMs = max(timeMs, nowMs)
        let effects = state.apply(command, index: newest, timeMs: timeMs, randomness: randomness)
        if tail.isEmpty, leastAcknowledged == newest {
            safe = newest
            return effects
        }
        tail.append((newest, effects))
        return commit()
    }

    /// Releases the effects of entries that are committed, in order.
    @inlinable
    mutating func commit() -> [Machine.Effect] {
        safe = max(safe, leastAcknowledged)
        let due = tail.prefix { $0.index <= safe }
        tail.removeFirst(due.count)
        return due.flatMap(\.effects)
    }

    /// The newest entry that every backup has. Without backups, that is the newest of all.
    @inlinable
    var leastAcknowledged: UInt64 { newest }

    /// When an entry is due at the latest, in shard time.
    @inlinable
    public mutating func nextDeadlineMs() -> Int64? { state.nextDeadlineMs() }
}
