public import HoldfastProtocol
public import HoldfastReplication

/// What a process writes about itself.
struct SimRegistration: Sendable {
    let name: String
    /// Of the process; nil: the revision of this registration.
    let incarnation: UInt64?
    let roles: NodeRoles
    let host: String
    let isDraining: Bool
    let mark: UInt64
}

/// What a node asks of the coordinator.
enum StoreRequest: Sendable {
    case grant
    /// Puts the registration under a lease that still lives, if nothing has changed it since this revision. The
    /// process is known by its mark, so that it recognizes its own registration when it has not heard of it.
    case register(SimRegistration, lease: UInt64, after: UInt64)
    case keepAlive(lease: UInt64)
    case revoke(lease: UInt64)
    /// Records and registrations, linearizable.
    case list
    case listNodes
    case read(ShardID)
    case swap(ShardID, from: UInt64, to: ShardRecord)
    /// All changes after this revision, as they come.
    case watch(after: UInt64)
}

enum StoreAnswer: Sendable {
    case granted(lease: UInt64)
    case registered(NodeInfo, lease: UInt64, revision: UInt64)
    /// The name's registration was changed since; as it is now.
    case registrationLost(SimStore.Registration?)
    case leaseGone
    case kept(Bool)
    case listing([VersionedRecord?], [NodeInfo], revision: UInt64)
    case nodes([NodeInfo], revision: UInt64)
    case record(ShardID, VersionedRecord?)
    case swapped(ShardID, SwapResult)
    case watching
    case compacted
    case none
}

/// One change at the coordinator.
public enum StoreChange: Sendable {
    case record(ShardID, VersionedRecord)
    case registered(NodeInfo)
    case unregistered(NodeID)
}

public struct StoreEvent: Sendable {
    public let revision: UInt64
    public let change: StoreChange
}
