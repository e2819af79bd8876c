import HoldfastProtocol
import HoldfastReplication

/// A request on its way to the coordinator.
struct StoreAsk: Sendable {
    let slot: Int
    let serial: Int
    /// The process that asks; nil: it has not registered yet.
    let node: NodeID?
    let id: UInt64
    let request: CoordinatorRequest
    /// It was held back, so that it may come when nobody waits for it any more.
    var wasHeld = false
}

/// What comes between the nodes and the coordinator: time, faults, and doubt.
struct StoreFront {
    /// What faults make of the coordinator.
    struct Condition: Equatable {
        /// Requests do not come through until then.
        var awayUntilUs: Int64 = 0
        var isStopped = false
        var electsUntilUs: Int64 = 0
        var leastUs: Int64 = 0
        var mostUs: Int64 = 0
        /// Of a thousand answers to swaps.
        var answersLost = 0
        var swapLeastUs: Int64 = 0
        var swapMostUs: Int64 = 0
        /// Slots that cannot reach it.
        var cut = 0

        func isCut(_ slot: Int) -> Bool { cut >> slot & 1 == 1 }
    }

    enum Arrival {
        case lost
        case later(atUs: Int64)
        case answered(CoordinatorAnswer, atUs: Int64?)
    }

    struct Watch {
        var serial = 0
        var isOpen = false
        var through: UInt64 = 0
        var lastArrivalUs: Int64 = 0
    }

    var store: SimStore
    var condition = Condition()
    private(set) var watches: [Watch]
    private var random: SimRandom
    /// Up to here watches were sent the changes.
    private var pumped: UInt64 = 0

    init(shards: Int, slots: Int, random: SimRandom) {
        store = SimStore(shards: shards)
        watches = Array(repeating: Watch(), count: slots)
        self.random = random
    }

    /// - Returns: when it arrives; nil: never.
    mutating func send(_ ask: StoreAsk, nowUs: Int64) -> Int64? {
        guard !condition.isCut(ask.slot) else { return nil }
        var atUs = nowUs + random.from(200...900 as ClosedRange<Int64>)
        if case .swap = ask.request, condition.swapMostUs > 0 {
            atUs += random.from(condition.swapLeastUs...condition.swapMostUs)
        }
        return atUs
    }

    mutating func arrive(_ ask: StoreAsk, nowUs: Int64) -> Arrival {
        let closedUs = max(condition.awayUntilUs, condition.electsUntilUs)
        if closedUs > nowUs {
            // Half of what comes meanwhile is carried out when nobody may be waiting any more.
            if ask.wasHeld || random.chance(permille: 500) { return .lost }
            return .later(atUs: closedUs + random.from(0...300_000 as ClosedRange<Int64>))
        }
        let answer = store.apply(ask.request, nowUs: nowUs)
        if case .watching = answer, case .watch(let after) = ask.request {
            watches[ask.slot] = Watch(serial: ask.serial, isOpen: true, through: after, lastArrivalUs: nowUs)
            pumped = min(pumped, after)
        }
        if case .swap = ask.request, random.chance(permille: condition.answersLost) {
            return .answered(answer, atUs: nil)
        }
        if condition.isCut(ask.slot) { return .answered(answer, atUs: nil) }
        var atUs = nowUs + random.from(400...2_500 as ClosedRange<Int64>)
        if condition.mostUs > 0 { atUs += random.from(condition.leastUs...condition.mostUs) }
        return .answered(answer, atUs: atUs)
    }

    /// What watches are to be sent of changes that they do not have yet.
    mutating func pump(nowUs: Int64) -> [(slot: Int, serial: Int, atUs: Int64, events: [CoordinatorEvent])] {
        guard store.revision > pumped else { return [] }
        var parcels: [(slot: Int, serial: Int, atUs: Int64, events: [CoordinatorEvent])] = []
        for slot in watches.indices where watches[slot].isOpen && watches[slot].through < store.revision {
            let events = Array(store.changes(after: watches[slot].through))
            watches[slot].through = store.revision
            guard !events.isEmpty else { continue }
            var atUs = nowUs + random.from(300...2_500 as ClosedRange<Int64>)
            if condition.mostUs > 0 { atUs += random.from(condition.leastUs...condition.mostUs) }
            if random.chance(permille: 20) { atUs += random.from(0...200_000 as ClosedRange<Int64>) }
            atUs = max(atUs, watches[slot].lastArrivalUs + 1)
            watches[slot].lastArrivalUs = atUs
            parcels.append((slot, watches[slot].serial, atUs, events))
        }
        pumped = store.revision
        return parcels
    }

    /// - Returns: the process whose watch it was, and when it notices; nil: there was none.
    mutating func breakWatch(_ slot: Int, nowUs: Int64, silently: Bool) -> (serial: Int, atUs: Int64)? {
        guard watches[slot].isOpen else { return nil }
        watches[slot].isOpen = false
        let waitUs =
            silently
            ? random.from(1_000_000...3_000_000 as ClosedRange<Int64>) : random.from(500...50_000 as ClosedRange<Int64>)
        return (watches[slot].serial, max(nowUs + waitUs, watches[slot].lastArrivalUs + 1))
    }
}
