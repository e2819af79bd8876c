import HoldfastProtocol

extension MembershipMachine {
    /// Draws the view anew from what is known.
    mutating func refresh(nowMs: Int64, into effects: inout [Effect]) {
        for at in peers.indices {
            peers[at].isGivenUp = isGivenUp(peers[at], nowMs: nowMs)
            if !peers[at].isLost {
                peers[at].lostSinceMs = nil
            } else if peers[at].lostSinceMs == nil {
                peers[at].lostSinceMs = nowMs
            }
        }
        var next = view
        next.nodes = listedNodes(nowMs: nowMs)
        next.dead = []
        next.silent = []
        next.lost = []
        next.cutOff = []
        for peer in peers {
            if peer.isDead { next.dead.insert(peer.id) }
            if peer.isLost { next.lost.insert(peer.id) }
            if peer.isSuspect, !peer.isDead, !peer.isLost, nowMs - peer.quietSinceMs >= settings.cutOffMs {
                next.cutOff.insert(peer.id)
            }
            if isSilent(peer, nowMs: nowMs) { next.silent.insert(peer.id) }
        }
        next.maySwap = maySwap(nowMs: nowMs)
        judgeTouch(nowMs: nowMs, into: &next)
        if next != view {
            view = next
            effects.append(.changed)
        }
    }

    private func listedNodes(nowMs: Int64) -> [NodeInfo] {
        var nodes: [NodeInfo] = []
        for peer in peers {
            let isInGrace =
                peer.wasRegistered && !peer.isDead && !peer.isLost && !peer.isSuspect
                && nowMs - (peer.absentSinceMs ?? nowMs) < settings.graceMs
            if peer.isRegistered || isInGrace { nodes.append(peer.info) }
        }
        if nowMs - (ownAbsentSinceMs ?? nowMs) < settings.graceMs { nodes.append(ownInfo) }
        return nodes.sorted { $0.id < $1.id }
    }

    /// Not heard by this node, which was on time, nor by another that has lately heard this one. Who has nobody else to
    /// ask decides alone.
    private func isSilent(_ peer: MembershipPeer, nowMs: Int64) -> Bool {
        guard peer.isSuspect, !peer.isDead, !peer.isForgotten else { return false }
        var hasThird = false
        for third in peers where third.isRegistered && third.id != peer.id && !third.isDead && !third.isForgotten {
            hasThird = true
            let forMs = third.unheardMs(peer.id, answeredSinceMs: nowMs - settings.silentMs)
            if let forMs, forMs >= settings.silentMs { return true }
        }
        return !hasThird
    }

    /// Answers are what is counted: to hear others is worth nothing to whom they do not hear.
    private func maySwap(nowMs: Int64) -> Bool {
        guard revision != nil, !recordsBroken, !isOwnLost else { return false }
        if settings.countsOwnStall { return true }
        var total = 1
        var answering = 1
        for peer in peers where peer.isRegistered && !peer.isDead && !peer.isForgotten {
            total += 1
            if let answered = peer.answeredMs, nowMs - answered < settings.silentMs { answering += 1 }
        }
        return 2 * answering >= total
    }

    private mutating func judgeTouch(nowMs: Int64, into next: inout MembershipView) {
        let untilMs = touchUntilMs()
        inTouchUntilMs = untilMs
        let was = isInTouch
        isInTouch = nowMs < untilMs
        next.mayTell = isInTouch
        guard isInTouch else { return }
        if !was { next.touch += 1 }
        // Not each answer is worth a new view.
        let isWorth = !view.mayTell || !was || untilMs < view.mayTellUntilMs || untilMs - 1_000 >= view.mayTellUntilMs
        if isWorth { next.mayTellUntilMs = untilMs }
    }

    private func touchUntilMs() -> Int64 {
        guard revision != nil, !isOwnLost else { return .min }
        var untilMs = registeredAskedMs.map { $0 + settings.inTouchMs } ?? .min
        let counted = peers.filter(\.isCounted)
        let needed = (counted.count + 1) / 2
        if needed == 0 { return .max }
        let answers = counted.compactMap(\.answeredMs).sorted(by: >)
        if answers.count >= needed { untilMs = max(untilMs, answers[needed - 1] + settings.inTouchMs) }
        return untilMs
    }

    /// Thirty seconds without registration, while more than half of those on whom it may count have not heard it. They
    /// are the ones that were there when it was last registered: later ones it does not know, and those that are not
    /// registered any more may still answer it.
    private func isGivenUp(_ peer: MembershipPeer, nowMs: Int64) -> Bool {
        guard !peer.isRegistered, let sinceMs = peer.absentSinceMs, peer.isSuspect else { return false }
        guard peer.absentUntilMs - sinceMs >= settings.lostMs else { return false }
        guard nowMs - peer.absentUntilMs <= settings.listingGapMs else { return peer.isGivenUp }
        guard observedMs - peer.unheardSinceObservedMs >= settings.lostMs else { return false }
        var total = 0
        var unheard = 0
        for name in peer.electors {
            if isNameForgotten(name) { continue }
            total += 1
            if name == own.name || hasGivenUp(name, on: peer.id, nowMs: nowMs) { unheard += 1 }
        }
        // It counts itself among those that answer: with half of the others' silence it is in the minority.
        return 2 * unheard >= total
    }

    private func isNameForgotten(_ name: String) -> Bool {
        guard name != own.name else { return false }
        var isKnown = false
        for peer in peers where peer.id.name == name {
            isKnown = true
            if !peer.isForgotten && !peer.isReplaced { return false }
        }
        return isKnown
    }

    private func hasGivenUp(_ name: String, on node: NodeID, nowMs: Int64) -> Bool {
        peers.contains { elector in
            guard elector.id.name == name, !elector.isReplaced, !elector.isForgotten else { return false }
            let forMs = elector.unheardMs(node, answeredSinceMs: nowMs - settings.silentMs)
            return forMs.map { $0 >= settings.lostMs } ?? false
        }
    }
}
