public import HoldfastModel
public import HoldfastProtocol
public import HoldfastReplication

/// Stands in for the host of a loop's shards until it is there: takes everything and does nothing.
public struct SimHost: Sendable {
    public typealias Message = PeerMessage<ShardCommand, GatewayItem>

    public enum Effect: Sendable {
        case send(NodeID, Message, isBulk: Bool)
        case item(GatewayItem)
        case swap(ShardID, from: UInt64, to: ShardRecord)
        case readRecord(ShardID)
        case linksLost(ShardID, LinksLoss)
        case emptied(ShardCommand)
        case alarm(ShardID, String)
    }

    public enum LinksLoss: Hashable, Sendable {
        case generation, session, cutOff
    }

    public let node: NodeID
    public let gateway: GatewayID

    init(
        node: NodeID, layout: ShardLayout, configuration: SharedLimits,
        generator: any RandomNumberGenerator & Sendable
    ) {
        self.node = node
        gateway = GatewayID(incarnation: node.incarnation, loop: 0)
    }

    mutating func submit(_ command: ShardCommand, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]) {}
    mutating func receive(
        _ message: Message, from sender: NodeID, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]
    ) {}
    mutating func linkReset(with peer: NodeID, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]) {}
    mutating func recordSeen(
        _ shard: ShardID, _ record: VersionedRecord?, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]
    ) {}
    mutating func swapEnded(
        _ shard: ShardID, _ result: SwapResult, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]
    ) {}
    mutating func membershipChanged(
        _ view: MembershipView, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]
    ) {}
    mutating func tick(nowMs: Int64, wallMs: Int64, into effects: inout [Effect]) {}
    mutating func nextDeadlineMs() -> Int64 { .max }
    public func route(of shard: ShardID) -> VersionedRecord? { nil }
}
