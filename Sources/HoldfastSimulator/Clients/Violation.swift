/// Something that must not be, found by a checker.
public struct Violation: Hashable, Sendable, CustomStringConvertible {
    /// Its number in `spec/simulation.md`.
    public let invariant: Int
    /// Who saw what, for a developer to read.
    public let what: String

    public init(_ invariant: Int, _ what: String) {
        self.invariant = invariant
        self.what = what
    }

    public var description: String { "invariant \(invariant): \(what)" }
}
