public import HoldfastProtocol

/// Everybody who plays in a simulation. The world brings them what their network and time bring, and carries out what
/// they order. Time is simulated time in milliseconds, which never falls.
public protocol SimPlayers: AnyObject {
    func start(nowMs: Int64, into orders: inout [ClientOrder])
    func linkOpened(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder])
    func linkClosed(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder])
    func received(_ message: ServerMessage, on link: SimLink, nowMs: Int64, into orders: inout [ClientOrder])
    /// A ping came.
    func linkActive(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder])
    /// At `nextDeadlineMs`.
    func tick(nowMs: Int64, into orders: inout [ClientOrder])
    var nextDeadlineMs: Int64? { get }
    /// From now on nothing goes wrong.
    func faultsEnded(nowMs: Int64, into orders: inout [ClientOrder])
    func ended(nowMs: Int64)
    /// After the end, with nothing wrong: all leave what they are in, look for one match, and stay.
    func finaleBegins(nowMs: Int64, into orders: inout [ClientOrder])
    func finaleEnded(nowMs: Int64)

    // What their checks have to know of the cluster.

    /// The home has begun anew, empty.
    func shardLost(_ home: ShardID, nowMs: Int64)
    /// A primary of the home has started.
    func epochStarted(_ home: ShardID, nowMs: Int64)
    /// A node, or a way to it, is not well.
    func disturbed(endpoint: Int, nowMs: Int64)
    /// The first thing that must not be.
    var violation: Violation? { get }
}

/// Nobody.
public final class NoPlayers: SimPlayers {
    public init() {}
    public func start(nowMs: Int64, into orders: inout [ClientOrder]) {}
    public func linkOpened(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {}
    public func linkClosed(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {}
    public func received(_ message: ServerMessage, on link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {}
    public func linkActive(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {}
    public func tick(nowMs: Int64, into orders: inout [ClientOrder]) {}
    public var nextDeadlineMs: Int64? { nil }
    public func faultsEnded(nowMs: Int64, into orders: inout [ClientOrder]) {}
    public func ended(nowMs: Int64) {}
    public func finaleBegins(nowMs: Int64, into orders: inout [ClientOrder]) {}
    public func finaleEnded(nowMs: Int64) {}
    public func shardLost(_ home: ShardID, nowMs: Int64) {}
    public func epochStarted(_ home: ShardID, nowMs: Int64) {}
    public func disturbed(endpoint: Int, nowMs: Int64) {}
    public var violation: Violation? { nil }
}
