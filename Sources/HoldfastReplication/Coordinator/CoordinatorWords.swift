public import HoldfastProtocol

/// What a process writes about itself at the coordinator.
public struct NodeClaim: Hashable, Sendable {
    public let name: String
    /// Of the process; nil: the revision at which this is written becomes it.
    public var incarnation: UInt64?
    public let roles: NodeRoles
    public let host: String
    public let contact: NodeContact
    public var isDraining: Bool
    /// Drawn by the process when it starts, so that it knows its own claim when it has not heard what came of it.
    public let mark: UInt64

    public init(
        name: String, incarnation: UInt64?, roles: NodeRoles, host: String, contact: NodeContact = NodeContact(),
        isDraining: Bool, mark: UInt64
    ) {
        self.name = name
        self.incarnation = incarnation
        self.roles = roles
        self.host = host
        self.contact = contact
        self.isDraining = isDraining
        self.mark = mark
    }

    /// What others see once it is written at a revision.
    public func info(at revision: UInt64) -> NodeInfo {
        NodeInfo(
            id: NodeID(name: name, incarnation: incarnation ?? revision), roles: roles, host: host, contact: contact,
            isDraining: isDraining)
    }
}

/// A claim as the coordinator has it.
public struct NodeRegistration: Hashable, Sendable {
    public var info: NodeInfo
    public var lease: UInt64
    /// Of its last change.
    public var revision: UInt64
    public var mark: UInt64

    public init(info: NodeInfo, lease: UInt64, revision: UInt64, mark: UInt64) {
        self.info = info
        self.lease = lease
        self.revision = revision
        self.mark = mark
    }
}

/// What an operator wants of one process; it stands at the coordinator until the operator takes it back.
public enum NodeOrder: Hashable, Sendable {
    /// To move its shards to others, and to end.
    case drain(NodeID)
    /// It does not live any more and never will.
    case forget(NodeID)
}

/// What a process asks of the coordinator. All reads are linearizable.
public enum CoordinatorRequest: Sendable {
    /// A lease of some seconds.
    case grant
    /// Writes the claim under a lease that still lives, if nothing has changed it since this revision (0: none stands).
    case register(NodeClaim, lease: UInt64, after: UInt64)
    case keepAlive(lease: UInt64)
    case revoke(lease: UInt64)
    /// Records, registrations and orders.
    case list
    case listNodes
    case read(ShardID)
    /// Writes the record if its key was last changed at `from`.
    case swap(ShardID, from: UInt64, to: ShardRecord)
    /// All changes after this revision, as they come.
    case watch(after: UInt64)
}

public enum CoordinatorAnswer: Sendable {
    case granted(lease: UInt64)
    case registered(NodeInfo, lease: UInt64, revision: UInt64)
    /// The claim was changed since; as it is now.
    case registrationLost(NodeRegistration?)
    case leaseGone
    case kept(Bool)
    /// Records by number of the home.
    case listing([VersionedRecord?], [NodeInfo], orders: [NodeOrder] = [], revision: UInt64)
    /// `newest`: at which a record was last changed.
    case nodes([NodeInfo], revision: UInt64, newest: UInt64)
    case record(ShardID, VersionedRecord?)
    case swapped(ShardID, SwapResult)
    case watching
    /// The changes that were asked for are not kept any more.
    case compacted
    case none
}

/// One change at the coordinator.
public enum CoordinatorChange: Sendable {
    case record(ShardID, VersionedRecord)
    case registered(NodeInfo)
    case unregistered(NodeID)
    case ordered(NodeOrder)
}

public struct CoordinatorEvent: Sendable {
    public let revision: UInt64
    public let change: CoordinatorChange

    public init(revision: UInt64, change: CoordinatorChange) {
        self.revision = revision
        self.change = change
    }
}
