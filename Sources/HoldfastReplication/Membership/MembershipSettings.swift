/// Times of suspicion and loss (design, rules 8 and 14), in milliseconds, and the limits of a node's tables.
public struct MembershipSettings: Hashable, Sendable {
    /// Between two heartbeats.
    public var heartbeatMs: Int64 = 200
    /// A node of which nothing came for so long is silent, and one that answers nothing so young does not hear.
    public var silentMs: Int64 = 1_000
    /// A node that is not proven dead, and of which nothing came for so long, cannot be reached by this one's links.
    public var cutOffMs: Int64 = 3_000
    /// A tick that comes so much after it was due is this node's own stall.
    public var lateMs: Int64 = 300
    /// A plain connect is tried at a node that was not heard for so long, and again every so often.
    public var probeMs: Int64 = 600
    /// For so long after its asking an answer keeps this node in touch.
    public var inTouchMs: Int64 = 15_000
    /// For so long a node has to be unregistered and unheard until it is lost.
    public var lostMs: Int64 = 30_000
    /// Between two listings in a row of registrations that are further apart a node may have been registered unseen.
    public var listingGapMs: Int64 = 10_000
    /// So long a node that is heard stays in the view without its registration.
    public var graceMs: Int64 = 3_000
    /// A lost node that no record names leaves the tables after so long.
    public var dropMs: Int64 = 600_000
    /// Nodes known at a time, lost ones included: more are not taken in (counted).
    public var maxNodes = 1_024

    /// A deliberate mistake, for tests of checkers only: silence is counted also through this node's own stall, and it
    /// suspects never itself.
    public var countsOwnStall = false

    public init() {}
}
