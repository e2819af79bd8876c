public import HoldfastModel
public import HoldfastProtocol
public import HoldfastReplication

/// What one simulated node says to another.
public typealias PeerWord = HoldfastReplication.PeerWord<SimHost.Message>

/// A batch on a link between two processes; without words it only shows that the link is a new one.
public struct Packet: Sendable {
    public let fromSlot: Int
    public let toSlot: Int
    public let from: NodeID
    /// Of the process that it is for.
    public let toIncarnation: UInt64
    public let isBulk: Bool
    /// 0: outside of any order; it may come twice and late.
    public let session: UInt64
    public let number: UInt64
    public let words: [PeerWord]
}
