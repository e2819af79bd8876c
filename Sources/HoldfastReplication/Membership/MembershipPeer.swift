import HoldfastProtocol

/// Another node, as the membership of this one knows it.
struct MembershipPeer: Sendable {
    let id: NodeID
    var info: NodeInfo
    var isRegistered = false
    /// It was in a listing: it may count this node, and be counted by it.
    var wasRegistered = false
    /// A record names it.
    var isNamed = false

    /// A newer incarnation of the name is or was registered. Never ends.
    var isReplaced = false
    /// By an operator's word. Never ends.
    var isForgotten = false
    /// Unregistered and unheard by more than half for 30 s, as far as these still say so.
    var isGivenUp = false
    var isRefused = false
    /// Since when it has been lost, in whichever way.
    var lostSinceMs: Int64?

    /// Its silence is counted from here: it was heard, became known, or this node woke up.
    var quietSinceMs: Int64
    /// The same in time that this node observed, and without the wake-ups.
    var unheardSinceObservedMs: Int64
    /// This node does not hear it, as of a tick that was on time.
    var isSuspect = false
    var probedAtMs: Int64?

    /// When the first and the last of the listings in a row without it came and were asked for.
    var absentSinceMs: Int64?
    var absentUntilMs: Int64 = 0
    /// The names of which more than half must not have heard it, itself among them: those that it may have counted on
    /// when it was last registered. Sorted.
    var electors: [String] = []

    /// The greatest of its times, to be sent back to it.
    var echoMs: Int64?
    /// The greatest of this node's times that it has sent back.
    var answeredMs: Int64?
    /// Whom it does not hear, and the time of this node that it sent back along with that.
    var unheard: [Heartbeat.Unheard] = []
    var unheardAnsweredMs: Int64?

    init(_ info: NodeInfo, nowMs: Int64, observedMs: Int64) {
        id = info.id
        self.info = info
        quietSinceMs = nowMs
        unheardSinceObservedMs = observedMs
    }

    var isDead: Bool { isRefused || isReplaced }
    var isLost: Bool { isReplaced || isForgotten || isGivenUp }

    /// Counted when this node asks whether it reaches more than half. Also without its registration, until it is known
    /// to have ended: who is cut off from the coordinator still counts it.
    var isCounted: Bool { wasRegistered && !isLost && (isRegistered || !isRefused) }

    /// How long it has not heard the node, as far as that is known at all and fresh.
    func unheardMs(_ node: NodeID, answeredSinceMs: Int64) -> Int64? {
        guard let unheardAnsweredMs, unheardAnsweredMs >= answeredSinceMs else { return nil }
        return unheard.first { $0.node == node }?.forMs
    }
}
