public import HoldfastModel
public import HoldfastReplication

/// For the mutation that loses replies.
extension GatewayItem: ReplyItem {
    public var withoutReply: GatewayItem? {
        // That a request without a number is settled means nothing to any link.
        if case .deliver(let link, .reply) = self { return .deliver(link, .settled(id: 0)) }
        return nil
    }
}
