import HoldfastProtocol
import HoldfastReplication

extension SimWorld {
    // MARK: Processes

    func boot(_ slot: Int) {
        guard slots[slot].process == nil, !slots[slot].isLost else { return }
        slots[slot].serial += 1
        slots[slot].isWanted = true
        counters.boots += 1
        let serial = slots[slot].serial
        trace.line(nowUs, "\(slots[slot].name) starts")
        let hourUs: Int64 = 3_600_000_000
        let clock = SimClock(
            nowUs: nowUs, bootUs: random.from(1...200) * hourUs + random.from(0...hourUs),
            driftPPM: random.from(-200...200), wallMs: 1_700_000_000_000 + nowMs + random.from(-400...400))
        let process = SimProcess(
            world: self, slot: slot, serial: serial, name: slots[slot].name, host: slots[slot].host, clock: clock,
            generator: SimRandom(seed: seed, stream: 1_000 + UInt64(slot) * 1_000 + UInt64(serial)))
        slots[slot].process = process
        for (i, scheduled) in plan.faults.enumerated() where activeFaults[i] {
            if case .slow(slot, _, let turnMs) = scheduled.fault { process.turnUs = Int64(turnMs) * 1_000 }
        }
        process.start()
    }

    /// The process dies, or ends.
    func kill(_ slot: Int) {
        guard let process = slots[slot].process else { return }
        counters.entries += process.host?.entries ?? 0
        trace.line(nowUs, "\(process.name) is dead")
        slots[slot].process = nil
        network.processEnded(slot)
        // The kernel closes its sockets: who is reached learns it.
        if let node = process.node {
            for peer in slots.indices {
                guard let other = slots[peer].process, !network.condition(slot, peer).isCut else { continue }
                schedule(.linkEnded(node), for: peer, other.serial, inUs: Int64(random.from(200...20_000)))
            }
        }
        endSockets(of: process)
        _ = front.breakWatch(slot, nowUs: nowUs, silently: false)
    }

    func bootLater(_ slot: Int, inMs: Int) {
        agenda.add(.boot(slot: slot, serial: slots[slot].serial), atUs: nowUs + Int64(inMs) * 1_000)
    }

    /// A process that was drained has left.
    func left(_ slot: Int) {
        kill(slot)
        if isQuiet { bootLater(slot, inMs: 100) } else if let ms = slots[slot].backAfterMs { bootLater(slot, inMs: ms) }
    }

    /// A process takes part now.
    func serves(_ slot: Int) {
        if slot == rollingSlot { rollOn() }
    }

    // MARK: Faults

    func beginFault(_ i: Int) {
        let fault = plan.faults[i].fault
        step.fault = fault
        counters.faults[fault.kind.rawValue] += 1
        trace.line(nowUs, "fault: \(fault)")
        disturb()
        if let ms = fault.lastsMs {
            activeFaults[i] = true
            agenda.add(.faultEnds(i), atUs: nowUs + Int64(ms) * 1_000)
        }
        switch fault {
        case .crash(let node, let downMs):
            guard slots[node].process != nil else { return }
            kill(node)
            if let downMs { bootLater(node, inMs: downMs) }
        case .loss(let node):
            kill(node)
            slots[node].isWanted = false
            slots[node].isLost = true
        case .pause(let node, _): slots[node].process?.isPaused = true
        case .slow(let node, _, let turnMs): slots[node].process?.turnUs = Int64(turnMs) * 1_000
        case .partition, .slowLink, .lossyLink: updateNetwork()
        case .linkBreak(let a, let b, _):
            updateNetwork()
            breakLinks(a, b)
        case .storeCut(let node, _):
            updateStore()
            breakWatch(node, silently: true)
        case .storeSlow, .storeAway, .answersLost, .swapsLate: updateStore()
        case .storeElects: updateStore()
        case .compaction:
            front.store.compact()
            for slot in slots.indices { breakWatch(slot, silently: false) }
        case .clockStep(let node, let ms): slots[node].process?.stepWall(byMs: Int64(ms))
        case .clockDrift(let node, let ppm): slots[node].process?.setDrift(ppm: Int64(ppm))
        case .drain(let node, let downMs): drain(node, backAfterMs: downMs)
        case .join(let node): boot(node)
        case .rollingRestart(let downMs):
            rollingDownMs = downMs
            rolling = slots.indices.filter { slots[$0].process != nil }
            rollOn()
        case .clientLinksBreak(let node, let broken, let silently): breakSockets(at: node, broken, silently)
        case .clientsCut(let node, _): slots[node].isCutFromClients = true
        }
    }

    func endFault(_ i: Int) {
        activeFaults[i] = false
        let fault = plan.faults[i].fault
        step.fault = fault
        trace.line(nowUs, "over: \(fault)")
        disturb()
        switch fault {
        case .pause(let node, _):
            let isStillPaused = plan.faults.indices.contains { other in
                guard activeFaults[other], case .pause(node, _) = plan.faults[other].fault else { return false }
                return true
            }
            if !isStillPaused { slots[node].process?.wake() }
        case .slow(let node, _, _): slots[node].process?.turnUs = 0
        case .clientsCut(let node, _):
            let isStillCut = plan.faults.indices.contains { other in
                guard activeFaults[other], case .clientsCut(node, _) = plan.faults[other].fault else { return false }
                return true
            }
            if !isStillCut { endClientsCut(node) }
        case .partition, .slowLink, .lossyLink, .linkBreak: updateNetwork()
        case .storeCut, .storeSlow, .answersLost, .swapsLate: updateStore()
        case .storeAway(let ms, let stops):
            if stops { front.store.shiftLeases(byUs: Int64(ms) * 1_000) }
            updateStore()
        case .storeElects:
            front.store.renewLeases(nowUs: nowUs)
            updateStore()
        default: break
        }
    }

    func beginQuiet() {
        trace.line(nowUs, "all faults end")
        for i in activeFaults.indices where activeFaults[i] { endFault(i) }
        isQuiet = true
        rolling = []
        rollingSlot = nil
        for slot in slots.indices {
            if slots[slot].isWanted, slots[slot].process == nil { bootLater(slot, inMs: random.from(1...300)) }
        }
        players.faultsEnded(nowMs: nowMs, into: &orders)
        carryOutOrders()
    }

    /// Whose link lives and dies is not exact now, at any node that a client may be at.
    private func disturb() {
        for slot in slots.indices { players.disturbed(endpoint: slot, nowMs: nowMs) }
    }

    private func drain(_ slot: Int, backAfterMs: Int?) {
        guard let process = slots[slot].process else { return }
        slots[slot].backAfterMs = backAfterMs
        agenda.add(.input(slot: slot, serial: process.serial, .drain), atUs: nowUs)
    }

    /// The next node of a rolling restart is drained when the one before takes part again.
    private func rollOn() {
        rollingSlot = nil
        while !isQuiet, !rolling.isEmpty, rollingSlot == nil {
            let next = rolling.removeFirst()
            guard slots[next].process != nil else { continue }
            rollingSlot = next
            drain(next, backAfterMs: rollingDownMs)
        }
    }

    private func breakWatch(_ slot: Int, silently: Bool) {
        guard let broken = front.breakWatch(slot, nowUs: nowUs, silently: silently) else { return }
        agenda.add(.input(slot: slot, serial: broken.serial, .watchEnded), atUs: broken.atUs)
    }

    private func breakLinks(_ a: Int, _ b: Int) {
        for (from, to) in [(a, b), (b, a)] {
            network.breakLink(from: from, to: to, nowUs: nowUs)
            guard let process = slots[from].process, let peer = slots[to].process?.node else { continue }
            schedule(.linkEnded(peer), for: from, process.serial, inUs: Int64(random.from(100...3_000)))
        }
    }

    // MARK: Conditions

    /// Works out from all faults that hold what the ways between nodes are like.
    func updateNetwork() {
        let count = slots.count
        var next = Array(repeating: SimNetwork.Condition(), count: count * count)
        func each(_ change: (Int, Int, inout SimNetwork.Condition) -> Void) {
            for from in 0..<count { for to in 0..<count { change(from, to, &next[from * count + to]) } }
        }
        for (i, scheduled) in plan.faults.enumerated() where activeFaults[i] {
            switch scheduled.fault {
            case .partition(let mask, _, let oneWay, let keeps):
                each { from, to, condition in
                    let isIn = (mask >> from & 1 == 1, mask >> to & 1 == 1)
                    guard isIn.0 != isIn.1, !oneWay || isIn.0 else { return }
                    condition.keeps = condition.isCut ? condition.keeps && keeps : keeps
                    condition.isCut = true
                }
            case .linkBreak(let a, let b, _):
                for (from, to) in [(a, b), (b, a)] {
                    next[from * count + to].isCut = true
                    next[from * count + to].keeps = false
                }
            case .slowLink(let from, let to, _, let least, let most):
                next[from * count + to].leastUs = Int64(least) * 1_000
                next[from * count + to].mostUs = Int64(most) * 1_000
            case .lossyLink(let from, let to, _, let lost, let repeated):
                next[from * count + to].lost = lost
                next[from * count + to].repeated = repeated
            default: break
            }
        }
        let (released, down) = network.set(next, nowUs: nowUs)
        for arrival in released { agenda.add(.packet(arrival.packet), atUs: arrival.atUs) }
        for (from, to) in down {
            guard let process = slots[from].process else { continue }
            agenda.add(
                .reconnect(from: from, to: to, serial: process.serial),
                atUs: nowUs + Int64(random.from(1_000...100_000)))
        }
    }

    func updateStore() {
        var next = StoreFront.Condition()
        for (i, scheduled) in plan.faults.enumerated() where activeFaults[i] {
            let endsUs = Int64(scheduled.atMs + (scheduled.fault.lastsMs ?? 0)) * 1_000
            switch scheduled.fault {
            case .storeCut(let node, _): next.cut |= 1 << node
            case .storeSlow(_, let least, let most):
                next.leastUs = max(next.leastUs, Int64(least) * 1_000)
                next.mostUs = max(next.mostUs, Int64(most) * 1_000)
            case .storeAway(_, let stops):
                next.awayUntilUs = max(next.awayUntilUs, endsUs)
                next.isStopped = next.isStopped || stops
            case .storeElects: next.electsUntilUs = max(next.electsUntilUs, endsUs)
            case .answersLost(_, let lost): next.answersLost = max(next.answersLost, lost)
            case .swapsLate(_, let least, let most):
                next.swapLeastUs = Int64(least) * 1_000
                next.swapMostUs = Int64(most) * 1_000
            default: break
            }
        }
        front.condition = next
    }
}
