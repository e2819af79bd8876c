/// Deliberate mistakes of the machine. They exist so that those who check simulations can be shown to find them; no
/// program sets any.
public struct ModelMutations: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The end of a link counts whichever link the player has by then.
    public static let lateClose = ModelMutations(rawValue: 1 << 0)
    /// A player that leaves is free before its room has said so.
    public static let freedEarly = ModelMutations(rawValue: 1 << 1)
    /// The players of a lost gateway are gone through in the order of a dictionary.
    public static let unsorted = ModelMutations(rawValue: 1 << 2)
    /// Presence deadlines fire on when a new epoch has begun.
    public static let presenceNotHeld = ModelMutations(rawValue: 1 << 3)
}
