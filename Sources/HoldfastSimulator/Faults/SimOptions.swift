public import HoldfastReplication

/// How a campaign is run, beyond its seeds.
public struct SimOptions: Hashable, Sendable {
    /// Messages between nodes may also be lost, repeated and late without a word to anybody.
    public var isHarsh = true
    /// Steps after which a simulation is given up: something goes round in circles.
    public var maxSteps: UInt64 = 5_000_000

    /// Deliberate mistakes of replicas, for showing that they are found.
    public var mutations: ReplicaMutations = []

    public init() {}
}
