public import HoldfastProtocol

/// What a process does in the cluster.
public struct NodeRoles: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Takes clients' connections.
    public static let gateway = NodeRoles(rawValue: 1)
    /// Holds shards of players and rooms.
    public static let room = NodeRoles(rawValue: 2)
    /// Holds the match shards.
    public static let matchmaker = NodeRoles(rawValue: 4)
    public static let all: NodeRoles = [.gateway, .room, .matchmaker]
}

/// Where a process can be reached, and how it is known there. Empty where nobody connects (embedded, simulated).
public struct NodeContact: Hashable, Sendable {
    /// Where other nodes connect: `tcp://host:port`.
    public var link: String
    /// Its public CURVE key, in Z85.
    public var linkKey: String
    /// Where clients and operators connect: `http://host:port`.
    public var url: String

    public init(link: String = "", linkKey: String = "", url: String = "") {
        self.link = link
        self.linkKey = linkKey
        self.url = url
    }
}

/// A process as it registered at the coordinator.
public struct NodeInfo: Hashable, Sendable {
    public let id: NodeID
    public var roles: NodeRoles
    /// What fails together: the replicas of a shard are placed on different ones where that is possible. Empty: it
    /// shares its fate with no other node.
    public var host: String
    public var contact: NodeContact
    /// Its shards are to go elsewhere, and it gets no new ones.
    public var isDraining: Bool

    public init(
        id: NodeID, roles: NodeRoles = .all, host: String = "", contact: NodeContact = NodeContact(),
        isDraining: Bool = false
    ) {
        self.id = id
        self.roles = roles
        self.host = host
        self.contact = contact
        self.isDraining = isDraining
    }
}

/// The cluster as one node sees it at a time (design, rules 8 and 14).
public struct MembershipView: Sendable, Equatable {
    /// Registered, sorted by id; a node that has just lost its registration and is heard stays for a moment.
    public var nodes: [NodeInfo]
    /// Proven dead: a plain connect was refused, or a newer incarnation of the name is registered.
    public var dead: Set<NodeID>
    /// Silent for a second as seen by a loop that was on time, and a second node agrees (if there is a third).
    public var silent: Set<NodeID>
    /// Lost for good: a newer incarnation, an operator's word, or 30 s unregistered and unheard by more than half.
    public var lost: Set<NodeID>
    /// Not heard by this node for some seconds, whatever others say, and not proven dead.
    public var cutOff: Set<NodeID> = []
    /// Whether this node is in touch, as of the last tick; what is told must ask `mayTell(atMs:)`.
    public var mayTell: Bool
    /// From then on this node's clock forbids it to tell anything until a later view allows it.
    public var mayTellUntilMs: Int64
    /// Grows each time this node comes back into touch. Others may have begun its shards anew meanwhile, by a swap that
    /// is still under way: a primary that was started in an earlier touch first wins a swap that changes its epoch.
    public var touch: UInt64
    /// Whether half of the registered nodes (this one counted, the dead not) answer, and no records are missing.
    public var maySwap: Bool

    public init(
        nodes: [NodeInfo] = [], dead: Set<NodeID> = [], silent: Set<NodeID> = [], lost: Set<NodeID> = [],
        mayTell: Bool = true, mayTellUntilMs: Int64 = .max, touch: UInt64 = 1, maySwap: Bool = true
    ) {
        self.nodes = nodes
        self.dead = dead
        self.silent = silent
        self.lost = lost
        self.mayTell = mayTell
        self.mayTellUntilMs = mayTellUntilMs
        self.touch = touch
        self.maySwap = maySwap
    }

    /// Whether this node is in touch at a time of its own clock.
    public func mayTell(atMs nowMs: Int64) -> Bool { mayTell && nowMs < mayTellUntilMs }

    /// Whether a newer incarnation of the name is registered.
    public func isReplaced(_ node: NodeID) -> Bool {
        nodes.contains { $0.id.incarnation > node.incarnation && $0.id.name == node.name }
    }

    /// Also of nodes that this one has never known.
    public func isLost(_ node: NodeID) -> Bool { lost.contains(node) || isReplaced(node) }

    /// Not to be waited for: dead, silent or lost.
    public func isGone(_ node: NodeID) -> Bool {
        dead.contains(node) || silent.contains(node) || isLost(node)
    }

    /// The nodes that shards may be placed on.
    public var living: [NodeInfo] { nodes.filter { !isGone($0.id) } }
}
