import HoldfastProtocol

/// An item that answers somebody, for the mutation that loses replies.
public protocol ReplyItem {
    /// Nothing, in its place; nil: it is no reply.
    var withoutReply: Self? { get }
}

/// Deliberate mistakes, for tests of checkers only (`ReplicaMutations`).
extension ShardState {
    /// Nobody knows how far this channel has been accepted.
    static var unknown: UInt64 { .max }

    mutating func acceptAnything(_ source: ChannelSource, _ number: UInt64) -> Bool {
        switch source {
        case .gateway(let gateway, let session):
            gateways[gateway, default: GatewayChannel(session: session)].accepted = number
            gateways[gateway]?.isLost = false
        case .shard(let shard, let generation):
            peers[shard, default: PeerChannel(generation: generation)].accepted = number
        }
        return true
    }

    mutating func forgetAccepted() {
        for gateway in gateways.keys { gateways[gateway]?.accepted = Self.unknown }
        for peer in peers.keys { peers[peer]?.accepted = Self.unknown }
    }

    mutating func dropReplies() {
        for (gateway, channel) in gateways {
            let items = channel.outbox.all.map { item in
                guard case .item(let full) = item.element,
                    let empty = (full as? any ReplyItem)?.withoutReply as? Machine.Item
                else { return item }
                return Outbox<ChannelItem<Machine.Item>>.Item(index: item.index, element: .item(empty))
            }
            gateways[gateway]?.outbox = Outbox(first: channel.outbox.first, items)
        }
    }
}
