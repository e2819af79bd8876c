import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// What must hold when all has come to rest (invariants 8, 10, 12, 14 and 15).
struct RestWatch {
    /// Up to where outboxes were filled some seconds before the end.
    var shards: [[ShardID: UInt64]] = []
    var gateways: [[GatewayID: UInt64]] = []
    var commands: [[UInt64]] = []
    var isTaken = false
}

extension ClusterChecker {
    /// What was sent so long before the end has arrived at the end.
    static let restMs: Int64 = 3_000

    /// Nobody keeps anything for a process that ended so long ago: 30 s until it counts as lost, and as much again.
    static let goneUs: Int64 = 60_000_000

    func noteRest(_ world: SimWorld) {
        guard !rest.isTaken, world.nowMs >= Int64(plan.endMs) - Self.restMs else { return }
        rest.isTaken = true
        for shard in homes {
            let process = holder(shard).flatMap { world.slots[$0.slot].process }
            rest.shards.append(
                Dictionary(
                    uniqueKeysWithValues: (process?.host?.shardChannels(of: shard) ?? []).map { ($0.other, $0.last) }))
            rest.gateways.append(
                Dictionary(
                    uniqueKeysWithValues: (process?.host?.gatewayChannels(of: shard) ?? []).map { ($0.other, $0.last) }
                ))
        }
        for slot in world.slots {
            rest.commands.append(homes.map { slot.process?.host?.gatewayEnd(with: $0).channel.last ?? 0 })
        }
    }

    func checkRest(_ world: SimWorld) -> Violation? {
        checkOutboxes(world) ?? checkEntities(world)
    }

    private func checkOutboxes(_ world: SimWorld) -> Violation? {
        guard rest.isTaken else { return nil }
        for shard in homes {
            guard let holder = holder(shard), let process = world.slots[holder.slot].process else { continue }
            let what = "\(shard.short) at \(holder.node.short)"
            for end in process.host?.shardChannels(of: shard) ?? [] {
                if end.first <= min(rest.shards[shard.number][end.other] ?? 0, end.last) {
                    return Violation(10, "\(what): \(end.first) for \(end.other.short) never left its outbox")
                }
            }
            for end in process.host?.gatewayChannels(of: shard) ?? [] {
                if end.first <= min(rest.gateways[shard.number][end.other] ?? 0, end.last) {
                    return Violation(
                        10, "\(what): \(end.first) for the gateway \(end.other.incarnation) never left its outbox")
                }
                // That a channel was lost is remembered, so that what is late is not taken for new.
                if !end.isLost, let endUs = endsUs[end.other.incarnation], world.nowUs - endUs > Self.goneUs {
                    return Violation(
                        15, "\(what) has a channel with the gateway \(end.other.incarnation), which is no more")
                }
            }
        }
        for (slot, view) in slots.enumerated() {
            guard let node = view.node, let host = world.slots[slot].process?.host else { continue }
            for shard in homes {
                let end = host.gatewayEnd(with: shard).channel
                if end.first <= min(rest.commands[slot][shard.number], end.last) {
                    return Violation(10, "\(node.short): command \(end.first) for \(shard.short) was never taken")
                }
            }
        }
        return nil
    }

    private func checkEntities(_ world: SimWorld) -> Violation? {
        let all = states(world)
        var seats: [PlayerKey: (room: RoomPeek, seat: SeatPeek)] = [:]
        for (shard, room) in all.rooms {
            for seat in room.seats {
                let key = PlayerKey(project: room.key.project, id: seat.player)
                if let other = seats[key] {
                    return Violation(14, "\(key.id) sits in \(room.key.id) (\(shard.short)) and \(other.room.key.id)")
                }
                seats[key] = (room, seat)
            }
        }
        var tickets: [PoolPeek.Ticket: PoolKey] = [:]
        for (shard, pool) in all.pools {
            if !pool.placing.isEmpty || pool.ordered > 0 || pool.expected > 0 {
                return Violation(
                    14,
                    "\(shard.short): a pool has \(pool.placing.count) callers on their way, \(pool.ordered) rooms on "
                        + "order and expects \(pool.expected)")
            }
            for ticket in pool.waiting { tickets[ticket] = pool.key }
        }
        for player in all.players.values.sorted(by: { $0.key.id < $1.key.id }) {
            let seat = seats.removeValue(forKey: player.key)
            let ticket = player.place.claim.flatMap {
                tickets.removeValue(forKey: PoolPeek.Ticket(player: player.key, claim: $0))
            }
            if let why = Self.faultAtRest(player, seat, isWaiting: ticket != nil) {
                return Violation(why.0, "\(player.key.id): \(why.1)")
            }
            if let found = checkLink(player, world) { return found }
        }
        if let left = seats.min(by: { $0.key.id < $1.key.id }) {
            return Violation(
                15, "\(left.key.id) sits in \(left.value.room.key.id), and its shard does not know of it")
        }
        if let left = tickets.keys.min(by: { $0.player.id < $1.player.id }) {
            return Violation(15, "\(left.player.id) waits in a pool by claim \(left.claim), and does not know of it")
        }
        return checkOwners(all, world)
    }

    static func faultAtRest(
        _ player: PlayerPeek, _ seat: (room: RoomPeek, seat: SeatPeek)?, isWaiting: Bool
    ) -> (Int, String)? {
        switch player.place {
        case .free:
            if let seat { return (8, "it is free, and sits in \(seat.room.key.id) by claim \(seat.seat.claim)") }
        case .seated(let room, let claim):
            guard let seat, seat.room.key.id == room, seat.seat.claim == claim else {
                return (8, "it is seated in \(room) by claim \(claim), and the room does not know it")
            }
            if player.hasRun, player.link != seat.seat.link {
                return (
                    12,
                    "its link is \(player.link.map { "\($0.number)" } ?? "none"), and at its seat "
                        + (seat.seat.link.map { "\($0.number)" } ?? "none")
                )
            }
        case .matching:
            if !isWaiting { return (14, "it waits for a match, and no pool knows it") }
        case .claiming, .leaving: return (8, "its claim was never decided: \(player.place)")
        }
        if player.isAttaching { return (15, "an attach was never answered") }
        return nil
    }

    /// The link of a player is one that is there, and a link that is attached is its player's.
    private func checkLink(_ player: PlayerPeek, _ world: SimWorld) -> Violation? {
        guard let link = player.link else { return nil }
        let process = world.slots.lazy.compactMap(\.process).first { $0.host?.gateway == link.gateway }
        guard process?.endpoints.contains(where: { $0.link == link && $0.isOpen }) ?? false else {
            return Violation(
                15, "\(player.key.id) has link \(link.number) of gateway \(link.gateway.incarnation), which is no more")
        }
        return nil
    }

    private func checkOwners(_ all: States, _ world: SimWorld) -> Violation? {
        var listed: Set<RoomKey> = []
        for shard in homes {
            guard let holder = holder(shard), let machine = world.slots[holder.slot].process?.host?.machine(of: shard)
            else { continue }
            if let orphan = machine.orphanDeadlines.first {
                return Violation(
                    15, "\(shard.short) at \(holder.node.short): the deadline of \(orphan), which is no more")
            }
            listed.formUnion(machine.listedRooms)
        }
        let rooms = Set(all.rooms.map(\.room.key))
        if let room = listed.subtracting(rooms).map(\.id).min() {
            return Violation(15, "the room \(room) is listed, and is no more")
        }
        if let room = rooms.subtracting(listed).map(\.id).min() {
            return Violation(15, "the room \(room) is not listed")
        }
        for process in world.slots.compactMap(\.process) {
            for endpoint in process.endpoints where endpoint.isOpen {
                guard let player = endpoint.machine.player, let known = all.players[player] else { continue }
                if known.link != endpoint.link {
                    return Violation(
                        12,
                        "\(process.name) has a link \(endpoint.link.number) of \(player.id), whose shard has "
                            + (known.link.map { "link \($0.number) of gateway \($0.gateway.incarnation)" } ?? "none"))
                }
            }
        }
        return nil
    }
}
