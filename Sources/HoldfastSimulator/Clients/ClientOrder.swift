public import HoldfastProtocol

/// One WebSocket of a simulated client. Numbers grow over the whole simulation and are never used again.
public struct SimLink: Hashable, Comparable, Sendable {
    public let number: UInt32

    public init(number: UInt32) { self.number = number }

    public static func < (a: SimLink, b: SimLink) -> Bool { a.number < b.number }

    var index: Int { Int(number) }
}

/// What the clients order of their network. To be carried out in order.
public enum ClientOrder: Equatable, Sendable {
    /// Answered by `linkOpened` or `linkClosed`. The endpoint is the number of a gateway.
    case open(SimLink, endpoint: Int)
    /// The client is done with it, and hears nothing more of it. Silently: no end reaches the gateway, which finds out
    /// by its silence.
    case close(SimLink, silently: Bool)
    /// On an open link.
    indirect case send(SimLink, ClientMessage)
    /// Whether the client takes what comes: between false and true its socket fills.
    case reading(SimLink, Bool)
}
