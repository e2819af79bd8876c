public import HoldfastProtocol

/// Who lives, as one node sees it. One a node; pure: its times are the node's own boot-time clock in milliseconds.
///
/// A shell calls `tick` at `nextDeadlineMs`, and when that has passed it calls `tick` before it hands on anything else,
/// so that nothing is decided on what was true before a pause.
public struct MembershipMachine: Sendable {
    public enum Effect: Hashable, Sendable {
        case send(to: NodeID, Heartbeat)
        /// Try a plain connect; a refused one is told by `refused`, anything else means nothing.
        case probe(NodeID)
        /// The view is another.
        case changed
    }

    public let own: NodeID
    public private(set) var view: MembershipView
    private let settings: MembershipSettings

    public init(own: NodeInfo, settings: MembershipSettings = MembershipSettings(), nowMs: Int64) {
        self.own = own.id
        self.settings = settings
        view = MembershipView(nodes: [own])
    }

    public mutating func nextDeadlineMs() -> Int64 { 0 }

    public mutating func tick(nowMs: Int64, into effects: inout [Effect]) {}

    /// Anything came from the node.
    public mutating func heard(from node: NodeID, nowMs: Int64, into effects: inout [Effect]) {}

    public mutating func heartbeat(
        from node: NodeID, _ heartbeat: Heartbeat, nowMs: Int64, into effects: inout [Effect]
    ) {}

    /// A link to the node ended.
    public mutating func linkEnded(with node: NodeID, nowMs: Int64, into effects: inout [Effect]) {}

    /// A plain connect to the node was refused: nobody listens there.
    public mutating func refused(_ node: NodeID, nowMs: Int64, into effects: inout [Effect]) {}

    /// The coordinator's list of nodes, by a linearizable read or as a watch has it.
    ///
    /// - Parameters:
    ///   - revision: of the coordinator when it was so; an older one than seen only proves this node's registration.
    ///   - askedAtMs: when this node asked for it, by its own clock.
    public mutating func registrations(
        _ nodes: [NodeInfo], revision: UInt64, askedAtMs: Int64, nowMs: Int64, into effects: inout [Effect]
    ) {}

    /// All nodes that records name: of one that is not registered and not known here the loss is watched from now on.
    public mutating func named(_ nodes: some Sequence<NodeID>, nowMs: Int64, into effects: inout [Effect]) {}

    /// An operator says that these processes do not live any more and never will.
    public mutating func forget(_ node: NodeID, nowMs: Int64, into effects: inout [Effect]) {}

    /// Records are missing, or older than seen: no swaps until they are not.
    public mutating func recordsBroken(_ broken: Bool, nowMs: Int64, into effects: inout [Effect]) {}
}
