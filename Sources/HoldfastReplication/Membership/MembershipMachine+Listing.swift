public import HoldfastProtocol

extension MembershipMachine {
    /// The coordinator's list of nodes, by a linearizable read or as a watch has it.
    ///
    /// - Parameters:
    ///   - revision: of the coordinator when it was so; an older one than seen only proves this node's registration.
    ///   - askedAtMs: when this node asked for it, by its own clock.
    public mutating func registrations(
        _ nodes: [NodeInfo], revision: UInt64, askedAtMs: Int64, nowMs: Int64, into effects: inout [Effect]
    ) {
        arrive(nowMs: nowMs)
        if nodes.contains(where: { $0.id == own }) {
            registeredAskedMs = max(registeredAskedMs ?? .min, askedAtMs)
        }
        defer { refresh(nowMs: nowMs, into: &effects) }
        if let seen = self.revision, revision < seen { return }
        self.revision = revision
        let before = countedNames()
        list(nodes.sorted { $0.id < $1.id }, nowMs: nowMs)
        watchAbsent(before: before, askedAtMs: askedAtMs, nowMs: nowMs, into: &effects)
        listedAtMs = nowMs
    }

    /// All nodes that records name: the loss of one that is neither registered nor known here is watched from now on.
    public mutating func named(_ nodes: Set<NodeID>, nowMs: Int64, into effects: inout [Effect]) {
        arrive(nowMs: nowMs)
        for at in peers.indices { peers[at].isNamed = nodes.contains(peers[at].id) }
        var isNew = false
        for node in nodes.sorted() where node != own && places[node] == nil {
            guard insert(NodeInfo(id: node, roles: []), nowMs: nowMs) else { continue }
            isNew = true
            guard let at = places[node] else { continue }
            peers[at].isNamed = true
            if revision != nil { beginAbsence(at, electors: countedNames(), nowMs: nowMs) }
        }
        if isNew {
            markReplaced()
            refresh(nowMs: nowMs, into: &effects)
        }
    }

    private mutating func list(_ nodes: [NodeInfo], nowMs: Int64) {
        for at in peers.indices { peers[at].isRegistered = false }
        var isOwnListed = false
        for info in nodes {
            if info.id == own {
                ownInfo = info
                isOwnListed = true
                continue
            }
            guard places[info.id] != nil || insert(info, nowMs: nowMs), let at = places[info.id] else { continue }
            if !peers[at].wasRegistered {
                peers[at].quietSinceMs = nowMs
                peers[at].unheardSinceObservedMs = observedMs
            }
            peers[at].info = info
            peers[at].isRegistered = true
            peers[at].wasRegistered = true
            peers[at].absentSinceMs = nil
        }
        ownAbsentSinceMs = isOwnListed ? nil : ownAbsentSinceMs ?? nowMs
        markReplaced()
    }

    private mutating func watchAbsent(
        before: Set<String>, askedAtMs: Int64, nowMs: Int64, into effects: inout [Effect]
    ) {
        let electors = before.union(countedNames())
        let isGap = askedAtMs - listedAtMs > settings.listingGapMs
        for at in peers.indices where !peers[at].isRegistered {
            if peers[at].absentSinceMs == nil {
                beginAbsence(at, electors: electors, nowMs: nowMs)
                if peers[at].wasRegistered && !peers[at].isDead { probe(at, nowMs: nowMs, into: &effects) }
            } else if isGap {
                peers[at].absentSinceMs = nowMs
            }
            peers[at].absentUntilMs = max(peers[at].absentUntilMs, askedAtMs)
        }
    }

    private mutating func beginAbsence(_ at: Int, electors: Set<String>, nowMs: Int64) {
        peers[at].absentSinceMs = nowMs
        peers[at].absentUntilMs = nowMs
        peers[at].electors = electors.union([peers[at].id.name]).sorted()
    }

    /// The names of all that a node may count on, this one's among them. Also where a connect was refused: a wall
    /// between two parts of a cluster may do that, and those behind it go on.
    private func countedNames() -> Set<String> {
        var names: Set<String> = [own.name]
        for peer in peers where peer.wasRegistered && !peer.isLost { names.insert(peer.id.name) }
        return names
    }

    private mutating func markReplaced() {
        var newest: [String: UInt64] = [:]
        for peer in peers where peer.wasRegistered {
            newest[peer.id.name] = max(newest[peer.id.name] ?? 0, peer.id.incarnation)
        }
        if let other = newest[own.name], other > own.incarnation { isOwnLost = true }
        newest[own.name] = max(newest[own.name] ?? 0, own.incarnation)
        for at in peers.indices where peers[at].id.incarnation < newest[peers[at].id.name] ?? 0 {
            peers[at].isReplaced = true
        }
    }

    /// - Returns: whether there was a place for it.
    private mutating func insert(_ info: NodeInfo, nowMs: Int64) -> Bool {
        guard peers.count < settings.maxNodes else {
            ignored += 1
            return false
        }
        var peer = MembershipPeer(info, nowMs: nowMs, observedMs: observedMs)
        if let at = forgotten.firstIndex(of: info.id) {
            forgotten.remove(at: at)
            peer.isForgotten = true
        }
        peers.append(peer)
        sortPeers()
        return true
    }

    private mutating func sortPeers() {
        peers.sort { $0.id < $1.id }
        places = [:]
        for (at, peer) in peers.enumerated() { places[peer.id] = at }
    }

    /// Old incarnations and forgotten nodes leave when no record names them any more.
    mutating func dropOld(nowMs: Int64) {
        let count = peers.count
        peers.removeAll {
            guard let since = $0.lostSinceMs else { return false }
            return !$0.isRegistered && !$0.isNamed && nowMs - since >= settings.dropMs
        }
        if peers.count != count { sortPeers() }
    }
}
