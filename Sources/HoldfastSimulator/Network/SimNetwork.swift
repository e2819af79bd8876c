import HoldfastProtocol
import HoldfastReplication

/// The links between nodes: from each to each other one, live and bulk. Each is made of sessions; in one session
/// batches keep their order and are numbered, so that a hole, a repeat and a late batch of an old session are seen as
/// such.
struct SimNetwork {
    /// What faults make of the way from one node to another.
    struct Condition: Equatable {
        var isCut = false
        /// While it is cut, batches wait instead of being lost.
        var keeps = false
        var leastUs: Int64 = 100
        var mostUs: Int64 = 1_500
        /// Of a thousand.
        var lost = 0
        var repeated = 0

        var isLossy: Bool { lost > 0 || repeated > 0 }
    }

    private struct Wire {
        // The sender's end.
        var session: UInt64 = 0
        var peerIncarnation: UInt64 = 0
        var sent: UInt64 = 0
        var lastArrivalUs: Int64 = 0
        /// Something was lost: until it is made anew, everything is.
        var isDown = false
        var held: [Packet] = []
        /// Batches of sessions up to this one are lost when they arrive later.
        var lostSession: UInt64 = 0
        var lostAfterUs: Int64 = 0

        // The receiver's end.
        var order = LinkOrder()
    }

    let slots: Int
    private var wires: [Wire]
    private(set) var conditions: [Condition]
    private var random: SimRandom
    /// Never falls, so that no session comes twice.
    private var lastSession: UInt64 = 0

    init(slots: Int, random: SimRandom) {
        self.slots = slots
        self.random = random
        wires = Array(repeating: Wire(), count: slots * slots * 2)
        conditions = Array(repeating: Condition(), count: slots * slots)
    }

    private func wire(_ from: Int, _ to: Int, isBulk: Bool) -> Int { (from * slots + to) * 2 + (isBulk ? 1 : 0) }

    func condition(_ from: Int, _ to: Int) -> Condition { conditions[from * slots + to] }

    // MARK: Sending

    /// - Returns: when it arrives, none, once or twice.
    mutating func send(
        _ words: [PeerWord], from: NodeID, slot: Int, to: NodeID, at toSlot: Int, isBulk: Bool, nowUs: Int64
    ) -> [(atUs: Int64, packet: Packet)] {
        let i = wire(slot, toSlot, isBulk: isBulk)
        if wires[i].peerIncarnation < to.incarnation {
            beginSession(i)
            wires[i].peerIncarnation = to.incarnation
            wires[i].isDown = false
            wires[i].held = []
        }
        guard wires[i].peerIncarnation == to.incarnation, !wires[i].isDown else { return [] }
        let condition = conditions[slot * slots + toSlot]
        if condition.isCut, !condition.keeps {
            wires[i].isDown = true
            return []
        }
        func packet(session: UInt64, number: UInt64) -> Packet {
            Packet(
                fromSlot: slot, toSlot: toSlot, from: from, toIncarnation: to.incarnation, isBulk: isBulk,
                session: session, number: number, words: words)
        }
        if condition.isLossy, !condition.isCut {
            let packet = packet(session: 0, number: 0)
            var arrivals: [(atUs: Int64, packet: Packet)] = []
            if !random.chance(permille: condition.lost) { arrivals.append((nowUs + delay(condition), packet)) }
            if random.chance(permille: condition.repeated) {
                arrivals.append((nowUs + delay(condition) * Int64(random.from(1...200)), packet))
            }
            return arrivals
        }
        wires[i].sent += 1
        let batch = packet(session: wires[i].session, number: wires[i].sent)
        if condition.isCut {
            wires[i].held.append(batch)
            return []
        }
        return [(arrival(i, condition, nowUs, isBulk: isBulk), batch)]
    }

    private mutating func delay(_ condition: Condition) -> Int64 {
        // Mostly short, sometimes long.
        let span = condition.mostUs - condition.leastUs
        let most = random.chance(permille: 900) ? span / 4 : span
        return condition.leastUs + Int64(random.below(Int(most) + 1))
    }

    private mutating func arrival(_ i: Int, _ condition: Condition, _ nowUs: Int64, isBulk: Bool) -> Int64 {
        let atUs = max(nowUs + delay(condition) * (isBulk ? 3 : 1), wires[i].lastArrivalUs + 1)
        wires[i].lastArrivalUs = atUs
        return atUs
    }

    private mutating func beginSession(_ i: Int) {
        lastSession += 1
        wires[i].session = lastSession
        wires[i].sent = 0
        wires[i].lastArrivalUs = 0
    }

    // MARK: Receiving

    mutating func judge(_ packet: Packet, nowUs: Int64) -> LinkOrder.Verdict {
        guard packet.session > 0 else { return .take }
        let i = wire(packet.fromSlot, packet.toSlot, isBulk: packet.isBulk)
        if packet.session <= wires[i].lostSession, nowUs > wires[i].lostAfterUs { return .drop }
        return wires[i].order.judge(
            sender: packet.from.incarnation, session: packet.session, number: packet.number)
    }

    // MARK: Faults

    /// Takes over what faults make of the ways now.
    /// - Returns: batches that waited for their way, and the ways that have to be made anew.
    mutating func set(
        _ next: [Condition], nowUs: Int64
    ) -> (released: [(atUs: Int64, packet: Packet)], down: [(from: Int, to: Int)]) {
        var released: [(atUs: Int64, packet: Packet)] = []
        var down: [(from: Int, to: Int)] = []
        let before = conditions
        conditions = next
        for pair in next.indices where before[pair] != next[pair] && !next[pair].isCut {
            for i in [pair * 2, pair * 2 + 1] {
                let held = wires[i].held
                wires[i].held = []
                for packet in held {
                    released.append((arrival(i, next[pair], nowUs, isBulk: packet.isBulk), packet))
                }
            }
            if wires[pair * 2].isDown || wires[pair * 2 + 1].isDown { down.append((pair / slots, pair % slots)) }
        }
        return (released, down)
    }

    /// The connection breaks: of what is on its way a part still arrives.
    mutating func breakLink(from: Int, to: Int, nowUs: Int64) {
        for isBulk in [false, true] {
            let i = wire(from, to, isBulk: isBulk)
            wires[i].isDown = true
            wires[i].held = []
            wires[i].lostSession = wires[i].session
            wires[i].lostAfterUs = nowUs + Int64(random.below(1_500))
        }
    }

    /// Makes a way anew, if it is down and can be had.
    /// - Returns: the process that it leads to, and whether live and bulk have a new session; nil: nothing to do.
    mutating func reconnect(from: Int, to: Int) -> (incarnation: UInt64, live: Bool, bulk: Bool)? {
        guard !conditions[from * slots + to].isCut else { return nil }
        let live = wire(from, to, isBulk: false)
        let bulk = wire(from, to, isBulk: true)
        let wasDown = (wires[live].isDown, wires[bulk].isDown)
        guard wasDown.0 || wasDown.1 else { return nil }
        for (i, isDown) in [(live, wasDown.0), (bulk, wasDown.1)] where isDown {
            beginSession(i)
            wires[i].isDown = false
        }
        return (max(wires[live].peerIncarnation, wires[bulk].peerIncarnation), wasDown.0, wasDown.1)
    }

    /// The process of this slot is gone, with its ends of all links.
    mutating func processEnded(_ slot: Int) {
        for peer in 0..<slots {
            for isBulk in [false, true] {
                let out = wire(slot, peer, isBulk: isBulk)
                // Without a peer the next batch begins a session, and one of an older process is never taken for it.
                wires[out].peerIncarnation = 0
                wires[out].isDown = false
                wires[out].held = []
                wires[out].lastArrivalUs = 0
                let into = wire(peer, slot, isBulk: isBulk)
                wires[into].order = LinkOrder()
                wires[into].held = []
            }
        }
    }
}
