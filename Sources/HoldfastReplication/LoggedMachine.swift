/// A deterministic machine behind a log: equal entries in equal order make equal states and equal effects, whichever
/// process applies them.
public protocol LoggedMachine: Sendable {
    associatedtype Command: Sendable
    associatedtype Randomness: Sendable
    associatedtype Effect: Sendable

    /// Applies the entry and says what leaves the machine when the entry is committed.
    /// - Parameters:
    ///   - index: grows by one with each entry, from 1.
    ///   - timeMs: shard time, which never falls.
    mutating func apply(
        _ command: Command, index: UInt64, timeMs: Int64, randomness: Randomness
    ) -> [Effect]

    /// When it must be given an entry at the latest, in shard time.
    mutating func nextDeadlineMs() -> Int64?
}
