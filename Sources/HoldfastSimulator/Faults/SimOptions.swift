public import HoldfastModel
public import HoldfastReplication

/// How a campaign is run, beyond its seeds.
public struct SimOptions: Hashable, Sendable {
    /// Messages between nodes may also be lost, repeated and late without a word to anybody.
    public var isHarsh = true
    /// Steps after which a simulation is given up: something goes round in circles.
    public var maxSteps: UInt64 = 5_000_000

    /// Deliberate mistakes of replicas, for showing that they are found.
    public var mutations: ReplicaMutations = []
    /// Of the shards' machines.
    public var modelMutations: ModelMutations = []
    /// Of what is around the machines.
    public var worldMutations: WorldMutations = []

    public init() {}
}

/// Deliberate mistakes of what is around the machines: the simulation's own shell and coordinator.
public struct WorldMutations: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A process that starts again has the name of the one before: records cannot tell them apart.
    public static let noIncarnation = WorldMutations(rawValue: 1 << 0)
    /// Membership counts silence through a node's own stall (`MembershipSettings.countsOwnStall`).
    public static let ownStall = WorldMutations(rawValue: 1 << 1)
    /// The coordinator swaps without comparing.
    public static let blindSwap = WorldMutations(rawValue: 1 << 2)
    /// What replicas themselves call impossible is passed over, so that checkers must see it.
    public static let deafToAlarms = WorldMutations(rawValue: 1 << 3)
}
