/// What happens on a link. After `closed` nothing comes any more.
public enum LinkEvent: Sendable {
    /// The WebSocket is open and the subprotocol agreed.
    case opened
    /// One whole WebSocket message, text or binary.
    case received([UInt8])
    /// It ended, or could not be opened; the reason is for a developer to read.
    case closed(reason: String)
}

/// One WebSocket connection, from the wish to open it to its end.
public protocol ClientLink: AnyObject, Sendable {
    /// Sends one message; what cannot be sent any more is dropped (then `closed` comes). Any thread, in order, never
    /// waits.
    func send(_ bytes: [UInt8], isText: Bool)
    /// Closes in good order after what was sent; also while it is being opened. Any thread. No event comes after it.
    func close()
    /// When anything came last, pings too, on the transport's clock; nil: not known. On the transport's queue only.
    func lastReceivedMs() -> Int64?
}

/// A timer that can be set again and again.
public protocol ClientTimer: AnyObject, Sendable {
    /// Sets it to fire once at this time of the transport's clock, instead of any time set before. Any thread.
    func schedule(atMs deadlineMs: Int64)
}

/// Carries clients: sockets, a clock, timers, one serial queue on which everything is told. One may serve many clients.
public protocol ClientTransport: Sendable {
    /// Milliseconds on a clock that never falls and goes on while the machine sleeps. Any thread.
    func nowMs() -> Int64
    /// Opens a WebSocket. Any thread. The events come on the transport's queue, never within this call, `send` or
    /// `close`.
    func open(
        _ url: String, subprotocol: String, onEvent: @escaping @Sendable (LinkEvent) -> Void
    ) -> any ClientLink
    /// A timer whose closure is called on the transport's queue. It should hold its owner weakly.
    func timer(_ fire: @escaping @Sendable () -> Void) -> any ClientTimer
    /// Runs work on the transport's queue, in the order of the calls. Any thread.
    func submit(_ work: @escaping @Sendable () -> Void)
}
