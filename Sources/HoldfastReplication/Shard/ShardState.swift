public import HoldfastProtocol

/// What the replicas of a shard agree on, entry by entry: the machine, shard time, and both ends of the shard's
/// channels (design, rules 9 and 13).
public struct ShardState<Machine: ReplicatedMachine>: Sendable {
    /// From and to one gateway.
    struct GatewayChannel: Sendable {
        /// Those of a session that is over are refused.
        var session: UInt64
        /// Counted as lost, and nothing came or went since; kept so that what is late is not taken for new.
        var isLost = false
        var accepted: UInt64 = 0
        var outbox = Outbox<ChannelItem<Machine.Item>>()
        /// The entry by which the session before was ended. Not part of the state; 0: none, or one before a snapshot.
        var begunAt: UInt64 = 0
    }

    /// From and to one other shard, or itself.
    struct PeerChannel: Sendable {
        var generation: UInt64
        var accepted: UInt64 = 0
        var outbox = Outbox<Machine.Command>()
    }

    /// Where an item of an outbox goes.
    enum Target: Hashable, Sendable {
        case gateway(GatewayID)
        case shard(ShardID)
    }

    struct Release: Sendable {
        let index: UInt64
        let target: Target
        let number: UInt64
    }

    public let home: ShardID
    public let generation: UInt64
    public internal(set) var machine: Machine
    /// Shard time of the newest entry; nil before the first.
    public internal(set) var timeMs: Int64?
    /// Wall time is shard time plus this.
    public internal(set) var wallOffsetMs: Int64 = 0

    let layout: ShardLayout
    let outboxLimit: Int
    var gateways: [GatewayID: GatewayChannel] = [:]
    var peers: [ShardID: PeerChannel] = [:]

    /// For tests of checkers only.
    var mutations: ReplicaMutations = []

    /// What entries have put into outboxes and nobody has looked at yet, oldest first. Not part of the state.
    var releases = Outbox<Release>()
    /// The gateway in this process, while this is the only replica and what it tells leaves at once: its items are
    /// taken as soon as they are made.
    var direct: GatewayID?
    private var directItems: [Machine.Item] = []
    /// The number of the newest of these.
    private var directLast: UInt64 = 0
    private var effects: [MachineEffect<Machine.Command, Machine.Item>] = []

    /// An empty shard, the beginning of a generation.
    /// - Parameter outboxLimit: a gateway that leaves more than this untaken counts as lost.
    public init(
        home: ShardID, generation: UInt64, layout: ShardLayout, outboxLimit: Int, configuration: Machine.Configuration
    ) {
        self.home = home
        self.generation = generation
        self.layout = layout
        self.outboxLimit = outboxLimit
        machine = Machine(configuration: configuration)
    }

    /// Milliseconds since 1970, as clients are told.
    public var wallMs: Int64 { (timeMs ?? 0) + wallOffsetMs }

    public mutating func nextDeadlineMs() -> Int64? { machine.nextDeadlineMs() }

    /// How soon after its last entry something is due: at once where a room plays, late or never where nobody is.
    mutating func urgencyMs() -> Int64 {
        guard let deadline = machine.nextDeadlineMs() else { return .max }
        let (urgencyMs, overflow) = deadline.subtractingReportingOverflow(timeMs ?? 0)
        return overflow ? .max : urgencyMs
    }

    // MARK: Applying

    /// Applies the next entry of the log.
    public mutating func apply(_ entry: LogEntry<Machine.Command>) {
        let timeMs = max(self.timeMs ?? entry.timeMs, entry.timeMs)
        if case .epochStart(_, let wallMs) = entry.body, self.timeMs == nil { wallOffsetMs = wallMs - timeMs }
        self.timeMs = timeMs
        for receipt in entry.receipts { take(receipt) }
        let place = EntryPlace(
            index: entry.index, timeMs: timeMs, wallMs: timeMs + wallOffsetMs, random: entry.random)
        switch entry.body {
        case .epochStart: step(.epochStart, place)
        case .tick: step(.tick, place)
        case .command(let source, let number, let command):
            if accept(source, number) { step(.command(command), place) }
        case .emptied(let source, let number):
            guard accept(source, number) else { return }
            step(.tick, place)
            if case .gateway(let gateway, _) = source { _ = queue(.emptied(number), for: gateway, place.index) }
        case .shardLost(let shard, let generation):
            if generation > peers[shard]?.generation ?? 1 {
                peers[shard] = PeerChannel(generation: generation)
                step(.shardLost(shard), place)
            }
        case .gatewayLost(let gateway, let session):
            if gateways[gateway].map({ $0.session < session }) ?? true { lose(gateway, session: session, place) }
        case .gatewayGone(let gateway):
            if gateways.removeValue(forKey: gateway) != nil { step(.gatewayLost(gateway), place) }
        }
    }

    private mutating func step(_ step: MachineStep<Machine.Command>, _ place: EntryPlace) {
        var effects = self.effects
        self.effects = []
        machine.apply(step, at: place, into: &effects)
        var flooded: [GatewayID] = []
        for effect in effects {
            switch effect {
            case .command(let command): send(command, place.index)
            case .deliver(let gateway, let item):
                if !send(item, to: gateway, place.index), !flooded.contains(gateway) { flooded.append(gateway) }
            }
        }
        effects.removeAll(keepingCapacity: effects.capacity <= 1024)
        self.effects = effects
        for gateway in flooded { lose(gateway, session: (gateways[gateway]?.session ?? 0) + 1, place) }
    }

    private mutating func send(_ command: Machine.Command, _ index: UInt64) {
        let shard = layout.home(of: command.shard)
        let number = peers[shard, default: PeerChannel(generation: 1)].outbox.append(command, index: index)
        releases.append(Release(index: index, target: .shard(shard), number: number))
    }

    /// - Returns: false when the gateway leaves too much untaken.
    private mutating func send(_ item: Machine.Item, to gateway: GatewayID, _ index: UInt64) -> Bool {
        // A room may have something for a gateway that never said anything to its shard.
        guard let place = gateways.index(forKey: gateway) else {
            gateways[gateway] = GatewayChannel(session: 1)
            return send(item, to: gateway, index)
        }
        gateways.values[place].isLost = false
        if direct == gateway, gateways.values[place].outbox.isEmpty {
            directLast = gateways.values[place].outbox.skip()
            directItems.append(item)
            return true
        }
        return queue(.item(item), for: gateway, index)
    }

    private mutating func queue(_ item: ChannelItem<Machine.Item>, for gateway: GatewayID, _ index: UInt64) -> Bool {
        guard let place = gateways.index(forKey: gateway) else { return true }
        let number = gateways.values[place].outbox.append(item, index: index)
        releases.append(Release(index: index, target: .gateway(gateway), number: number))
        return gateways.values[place].outbox.count <= outboxLimit
    }

    private mutating func lose(_ gateway: GatewayID, session: UInt64, _ place: EntryPlace) {
        gateways[gateway] = GatewayChannel(session: session, isLost: true, begunAt: place.index)
        step(.gatewayLost(gateway), place)
    }

    // MARK: Channels

    /// - Returns: false when this is not the next one of its channel: never in a log that a primary made.
    private mutating func accept(_ source: ChannelSource, _ number: UInt64) -> Bool {
        if mutations.contains(.acceptedOutside) { return acceptAnything(source, number) }
        switch source {
        case .gateway(let gateway, let session):
            if let place = gateways.index(forKey: gateway) {
                guard gateways.values[place].session == session, gateways.values[place].accepted + 1 == number else {
                    return false
                }
                gateways.values[place].accepted = number
                gateways.values[place].isLost = false
                return true
            }
            guard number == 1 else { return false }
            gateways[gateway] = GatewayChannel(session: session, accepted: 1)
        case .shard(let shard, let generation):
            var peer = peers[shard] ?? PeerChannel(generation: 1)
            guard peer.generation == generation, peer.accepted + 1 == number else { return false }
            peer.accepted = number
            peers[shard] = peer
        }
        return true
    }

    /// Forgets what its receiver has taken. Part of an entry, unless there is no other replica.
    mutating func take(_ receipt: ChannelReceipt) {
        switch receipt {
        case .gateway(let gateway, let session, let through):
            guard let place = gateways.index(forKey: gateway), gateways.values[place].session == session else { return }
            gateways.values[place].outbox.take(through: through)
        case .shard(let shard, let generation, let through):
            guard let place = peers.index(forKey: shard), peers.values[place].generation == generation else { return }
            peers.values[place].outbox.take(through: through)
        }
    }

    // MARK: Looking

    // These change nothing; `mutating`, because who looks at a state in place need not copy it.

    mutating func ownGeneration() -> UInt64 { generation }

    mutating func newestTimeMs() -> Int64? { timeMs }

    /// How many releases there have been.
    mutating func releaseCount() -> UInt64 { releases.last }

    mutating func session(of gateway: GatewayID) -> UInt64 { gateways[gateway]?.session ?? 1 }

    /// The entry by which a gateway's session began.
    mutating func sessionStart(of gateway: GatewayID) -> UInt64 { gateways[gateway]?.begunAt ?? 0 }

    mutating func knownGeneration(of shard: ShardID) -> UInt64 { peers[shard]?.generation ?? 1 }

    /// The newest number taken of a channel; nil when the source's session or generation is not the one known here.
    mutating func accepted(of source: ChannelSource) -> UInt64? {
        switch source {
        case .gateway(let gateway, let session):
            guard let channel = gateways[gateway] else { return 0 }
            return channel.session == session ? channel.accepted : nil
        case .shard(let shard, let generation):
            guard let peer = peers[shard] else { return generation == 1 ? 0 : nil }
            return peer.generation == generation ? peer.accepted : nil
        }
    }

    /// The channels to this shard, in a set order.
    var sources: [ChannelSource] {
        gateways.sorted { $0.key < $1.key }.map { .gateway($0.key, session: $0.value.session) }
            + peers.sorted { $0.key < $1.key }.map { .shard($0.key, generation: $0.value.generation) }
    }

    /// Exchanges an empty buffer for what was made for the gateway in this process since the last time.
    /// - Returns: the number of the newest; nil: there was nothing.
    mutating func takeDirect(into items: inout [Machine.Item]) -> UInt64? {
        guard !directItems.isEmpty else { return nil }
        swap(&directItems, &items)
        return directLast
    }

    // MARK: Outboxes

    /// Items for a gateway by number, as far as they are committed and not taken, and the number of the first of them.
    /// A number that was noted before the channel began anew may be that of something else now.
    mutating func items(
        for gateway: GatewayID, from first: UInt64, through last: UInt64, committed: UInt64
    ) -> (first: UInt64, [ChannelItem<Machine.Item>])? {
        guard let outbox = gateways[gateway]?.outbox else { return nil }
        let start = max(first, outbox.first)
        guard start <= min(last, outbox.last) else { return nil }
        let due = outbox.from(start).prefix(Int(last - start) + 1).prefix { $0.index <= committed }
        return due.isEmpty ? nil : (start, due.map { $0.element })
    }

    /// Commands for another shard, likewise.
    mutating func commands(
        for shard: ShardID, from first: UInt64, through last: UInt64, committed: UInt64
    ) -> (first: UInt64, [Machine.Command?])? {
        guard let outbox = peers[shard]?.outbox else { return nil }
        let start = max(first, outbox.first)
        guard start <= min(last, outbox.last) else { return nil }
        let due = outbox.from(start).prefix(Int(last - start) + 1).prefix { $0.index <= committed }
        return due.isEmpty ? nil : (start, due.map { $0.element })
    }

    /// The number of the oldest command for another shard; nil when there is none.
    mutating func firstCommand(for shard: ShardID) -> (generation: UInt64, first: UInt64)? {
        guard let peer = peers[shard], !peer.outbox.isEmpty else { return nil }
        return (peer.generation, peer.outbox.first)
    }

    /// In a set order.
    mutating func knownGateways() -> [(gateway: GatewayID, session: UInt64, isLost: Bool)] {
        var known: [(gateway: GatewayID, session: UInt64, isLost: Bool)] = []
        known.reserveCapacity(gateways.count)
        for (gateway, channel) in gateways { known.append((gateway, channel.session, channel.isLost)) }
        known.sort { $0.gateway < $1.gateway }
        return known
    }

    /// A channel with something in it that may leave.
    struct Backlog: Sendable {
        let target: Target
        /// The gateway's session, the other shard's generation.
        let life: UInt64
        let first: UInt64
        let last: UInt64
    }

    /// In a set order.
    mutating func backlog(committed: UInt64) -> [Backlog] {
        var found: [Backlog] = []
        func look<Element>(_ target: Target, _ life: UInt64, _ outbox: Outbox<Element>) {
            guard !outbox.isEmpty else { return }
            let due = outbox.all.prefix { $0.index <= committed }.count
            if due > 0 {
                found.append(
                    Backlog(target: target, life: life, first: outbox.first, last: outbox.first + UInt64(due) - 1))
            }
        }
        for (gateway, channel) in gateways.sorted(by: { $0.key < $1.key }) {
            look(.gateway(gateway), channel.session, channel.outbox)
        }
        for (shard, peer) in peers.sorted(by: { $0.key < $1.key }) {
            look(.shard(shard), peer.generation, peer.outbox)
        }
        return found
    }

    /// Takes the oldest of the releases, and those after it that go the same way, if they are committed.
    mutating func nextReleases(committed: UInt64) -> (target: Target, first: UInt64, last: UInt64)? {
        guard let oldest = releases.all.first?.element, oldest.index <= committed else { return nil }
        var last = oldest.number
        var count: UInt64 = 0
        for next in releases.all {
            if count > 0 {
                guard next.element.target == oldest.target, next.element.index <= committed,
                    next.element.number == last + 1
                else { break }
                last += 1
            }
            count += 1
        }
        releases.take(through: releases.first + count - 1)
        return (oldest.target, oldest.number, last)
    }

    /// Looks at everything in the outboxes again, in the order in which it was put there: after a change of primary.
    mutating func releaseAll() {
        var all: [Release] = []
        for (gateway, channel) in gateways.sorted(by: { $0.key < $1.key }) {
            for (offset, item) in channel.outbox.all.enumerated() {
                all.append(
                    Release(
                        index: item.index, target: .gateway(gateway), number: channel.outbox.first + UInt64(offset)))
            }
        }
        for (shard, peer) in peers.sorted(by: { $0.key < $1.key }) {
            for (offset, item) in peer.outbox.all.enumerated() {
                all.append(
                    Release(index: item.index, target: .shard(shard), number: peer.outbox.first + UInt64(offset)))
            }
        }
        releases = Outbox()
        // Stable: within an entry the order of each channel is that of its numbers.
        let order = all.indices.sorted { all[$0].index != all[$1].index ? all[$0].index < all[$1].index : $0 < $1 }
        for i in order { releases.append(all[i]) }
    }
}
