public import HoldfastProtocol

/// Who lives, as one node sees it. One a node; pure: its times are the node's own boot-time clock in milliseconds.
///
/// A shell calls `tick` at `nextDeadlineMs`, and when that has passed it calls `tick` before it hands on anything else,
/// so that nothing is decided on what was true before a pause. It asks the coordinator for a listing every 5 s at the
/// latest, besides what a watch tells.
public struct MembershipMachine: Sendable {
    public enum Effect: Hashable, Sendable {
        case send(to: NodeID, Heartbeat)
        /// Try a plain connect; a refused one is told by `refused`, one that is closed again is repeated, and anything
        /// else means nothing.
        case probe(NodeID)
        /// The view is another.
        case changed
    }

    public let own: NodeID
    public internal(set) var view: MembershipView
    /// Messages of nodes that are not known here, and nodes for which there was no place.
    public internal(set) var ignored = 0

    let settings: MembershipSettings
    var ownInfo: NodeInfo
    /// A newer incarnation of the own name is registered, or an operator has forgotten this process.
    var isOwnLost = false
    var ownAbsentSinceMs: Int64?
    /// Sorted by id.
    var peers: [MembershipPeer] = []
    var places: [NodeID: Int] = [:]
    /// Forgotten before they were known, the oldest first; a limit of `maxNodes`.
    var forgotten: [NodeID] = []

    var tickedAtMs: Int64
    var heartbeatAtMs: Int64
    /// The time during which this node was on time.
    var observedMs: Int64 = 0

    var revision: UInt64?
    var listedAtMs: Int64 = 0
    /// When the newest listing was asked for that had the own registration in it.
    var registeredAskedMs: Int64?
    var recordsBroken = false

    var isInTouch = false
    var inTouchUntilMs: Int64 = .min

    /// - Parameter own: as this node has registered.
    public init(own: NodeInfo, settings: MembershipSettings = MembershipSettings(), nowMs: Int64) {
        self.own = own.id
        self.settings = settings
        ownInfo = own
        tickedAtMs = nowMs
        heartbeatAtMs = nowMs
        view = MembershipView(nodes: [own], mayTell: false, mayTellUntilMs: .min, touch: 0, maySwap: false)
    }

    /// Never far in the future: a heartbeat is due, a node becomes silent, or this one is no longer in touch.
    /// `mutating` so that a machine that is looked at in place is not copied.
    public mutating func nextDeadlineMs() -> Int64 {
        var next = heartbeatAtMs
        if isInTouch { next = min(next, inTouchUntilMs) }
        for i in peers.indices where !peers[i].isSuspect && !peers[i].isLost {
            next = min(next, peers[i].quietSinceMs + settings.silentMs)
        }
        return next
    }

    /// The greatest time at which this node sent something that at least half of the registered nodes (it counted, the
    /// dead not) are known to have heard. Who waits in vain for an answer to something later cannot tell whether the
    /// fault is its own.
    public var heardByHalfMs: Int64 {
        let counted = peers.filter { $0.isRegistered && !$0.isDead && !$0.isForgotten }
        let needed = (counted.count + 2) / 2 - 1
        if needed == 0 { return .max }
        return counted.map { $0.answeredMs ?? .min }.sorted(by: >)[needed - 1]
    }

    /// The greatest time at which this node sent something that the other is known to have heard.
    public func answeredMs(by node: NodeID) -> Int64? { places[node].flatMap { peers[$0].answeredMs } }

    public mutating func tick(nowMs: Int64, into effects: inout [Effect]) {
        arrive(nowMs: nowMs)
        observedMs += max(0, nowMs - tickedAtMs)
        tickedAtMs = max(tickedAtMs, nowMs)
        var isNews = false
        for at in peers.indices where !peers[at].isSuspect && !peers[at].isLost {
            guard nowMs - peers[at].quietSinceMs >= settings.silentMs else { continue }
            peers[at].isSuspect = true
            isNews = isNews || !peers[at].isRefused
        }
        let isDue = nowMs >= heartbeatAtMs
        if isDue { heartbeatAtMs = nowMs + settings.heartbeatMs }
        // Others wait for a second opinion on a silent node: it goes out at once.
        if isDue || isNews { sendHeartbeats(nowMs: nowMs, into: &effects) }
        probeQuiet(nowMs: nowMs, into: &effects)
        refresh(nowMs: nowMs, into: &effects)
        dropOld(nowMs: nowMs)
    }

    /// Anything came from the node.
    public mutating func heard(from node: NodeID, nowMs: Int64, into effects: inout [Effect]) {
        arrive(nowMs: nowMs)
        guard let at = places[node] else {
            ignored += 1
            return
        }
        if hear(at, nowMs: nowMs, into: &effects) { refresh(nowMs: nowMs, into: &effects) }
    }

    public mutating func heartbeat(
        from node: NodeID, _ heartbeat: Heartbeat, nowMs: Int64, into effects: inout [Effect]
    ) {
        arrive(nowMs: nowMs)
        guard let at = places[node] else {
            ignored += 1
            return
        }
        var isNews = hear(at, nowMs: nowMs, into: &effects)
        // A late message must not undo what a later one said.
        guard heartbeat.sentAtMs >= peers[at].echoMs ?? .min else {
            if isNews { refresh(nowMs: nowMs, into: &effects) }
            return
        }
        peers[at].echoMs = heartbeat.sentAtMs
        if let echo = heartbeat.echoMs, echo <= nowMs {
            peers[at].answeredMs = max(peers[at].answeredMs ?? .min, echo)
            peers[at].unheardAnsweredMs = echo
        }
        isNews = isNews || !heartbeat.unheard.isEmpty || !peers[at].unheard.isEmpty
        peers[at].unheard = Array(heartbeat.unheard.prefix(settings.maxNodes))
        if isNews || !view.maySwap || !view.mayTell { refresh(nowMs: nowMs, into: &effects) }
    }

    /// A link to the node ended: whether anybody listens there is worth a look at once.
    public mutating func linkEnded(with node: NodeID, nowMs: Int64, into effects: inout [Effect]) {
        arrive(nowMs: nowMs)
        guard let at = places[node], !peers[at].isRefused, !peers[at].isLost else { return }
        probe(at, nowMs: nowMs, into: &effects)
    }

    /// A plain connect to the node was refused: nobody listens there.
    public mutating func refused(_ node: NodeID, nowMs: Int64, into effects: inout [Effect]) {
        arrive(nowMs: nowMs)
        guard let at = places[node] else { return }
        peers[at].isRefused = true
        refresh(nowMs: nowMs, into: &effects)
    }

    /// An operator says that this process does not live any more and never will.
    public mutating func forget(_ node: NodeID, nowMs: Int64, into effects: inout [Effect]) {
        arrive(nowMs: nowMs)
        if node == own { isOwnLost = true }
        if let at = places[node] {
            peers[at].isForgotten = true
        } else if node != own, !forgotten.contains(node) {
            forgotten.append(node)
            if forgotten.count > settings.maxNodes { forgotten.removeFirst() }
        }
        refresh(nowMs: nowMs, into: &effects)
    }

    /// The same for all incarnations of the name that are known so far.
    public mutating func forget(name: String, nowMs: Int64, into effects: inout [Effect]) {
        for peer in peers where peer.id.name == name { forget(peer.id, nowMs: nowMs, into: &effects) }
        if name == own.name { forget(own, nowMs: nowMs, into: &effects) }
    }

    /// Records are missing, or older than seen: no swaps until they are not.
    public mutating func recordsBroken(_ broken: Bool, nowMs: Int64, into effects: inout [Effect]) {
        arrive(nowMs: nowMs)
        recordsBroken = broken
        refresh(nowMs: nowMs, into: &effects)
    }

    /// First of all inputs: what this node did not see because it stood still, it must not hold against others, and
    /// what it knew before is no longer a reason to tell.
    mutating func arrive(nowMs: Int64) {
        if nowMs > heartbeatAtMs + settings.lateMs, !settings.countsOwnStall {
            for at in peers.indices {
                peers[at].quietSinceMs = nowMs
                peers[at].isSuspect = false
                peers[at].unheard = []
            }
            tickedAtMs = nowMs
            heartbeatAtMs = nowMs
        }
        if isInTouch && nowMs >= inTouchUntilMs { isInTouch = false }
    }

    /// Whether the view may be another by it.
    private mutating func hear(_ at: Int, nowMs: Int64, into effects: inout [Effect]) -> Bool {
        let isNews = peers[at].isSuspect || peers[at].isRefused || peers[at].isGivenUp
        // It may be the last of what a process sent that has ended since.
        if peers[at].isRefused { probe(at, nowMs: nowMs, into: &effects) }
        peers[at].isRefused = false
        peers[at].isSuspect = false
        peers[at].quietSinceMs = nowMs
        peers[at].unheardSinceObservedMs = observedMs
        return isNews
    }

    private mutating func sendHeartbeats(nowMs: Int64, into effects: inout [Effect]) {
        let unheard = peers.filter { $0.isSuspect && !$0.isReplaced }.prefix(256).map {
            Heartbeat.Unheard(node: $0.id, forMs: observedMs - $0.unheardSinceObservedMs)
        }
        for peer in peers where peer.isRegistered || peer.isCounted {
            effects.append(
                .send(to: peer.id, Heartbeat(sentAtMs: nowMs, echoMs: peer.echoMs, unheard: unheard)))
        }
    }

    private mutating func probeQuiet(nowMs: Int64, into effects: inout [Effect]) {
        for at in peers.indices where !peers[at].isRefused && !peers[at].isLost && peers[at].wasRegistered {
            guard nowMs - peers[at].quietSinceMs >= settings.probeMs else { continue }
            if let last = peers[at].probedAtMs, nowMs - last < settings.probeMs { continue }
            probe(at, nowMs: nowMs, into: &effects)
        }
    }

    mutating func probe(_ at: Int, nowMs: Int64, into effects: inout [Effect]) {
        peers[at].probedAtMs = nowMs
        effects.append(.probe(peers[at].id))
    }
}
