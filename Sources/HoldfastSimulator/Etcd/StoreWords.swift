public import HoldfastProtocol
public import HoldfastReplication

/// What a node asks of the coordinator.
enum StoreRequest: Sendable {
    /// Without an incarnation it becomes the revision of this registration.
    case register(name: String, incarnation: UInt64?, roles: NodeRoles, host: String, isDraining: Bool)
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
    case registered(NodeInfo, lease: UInt64)
    /// A newer process has the name.
    case nameTaken
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
