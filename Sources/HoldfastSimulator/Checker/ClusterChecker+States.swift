import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// Players, rooms and pools as the current primaries have them (invariants 8, 9, 11, 12 and 14).
extension ClusterChecker {
    /// All entities of the shards that have a holder.
    struct States {
        var players: [PlayerKey: PlayerPeek] = [:]
        var rooms: [(shard: ShardID, room: RoomPeek)] = []
        var pools: [(shard: ShardID, pool: PoolPeek)] = []
        /// By home: the generation; nil: nobody holds it.
        var generations: [UInt64?]
        /// By home: the generations of others that it knows.
        var known: [[ChannelView<ShardID>]]

        /// Whether two homes talk to each other as they are.
        func isMutual(_ a: ShardID, _ b: ShardID) -> Bool {
            guard let mine = generations[a.number], let its = generations[b.number] else { return false }
            return life(of: b, at: a) == its && life(of: a, at: b) == mine
        }

        private func life(of other: ShardID, at home: ShardID) -> UInt64 {
            known[home.number].first { $0.other == other }?.life ?? 1
        }

        /// Some shard has begun anew: claims from before may still be on their way.
        let hasLost: Bool
    }

    func states(_ world: SimWorld) -> States {
        var all = States(
            generations: Array(repeating: nil, count: homes.count), known: Array(repeating: [], count: homes.count),
            hasLost: truths.contains { $0.record?.record.generation ?? 1 > 1 })
        for shard in homes {
            guard let holder = holder(shard), let process = world.slots[holder.slot].process,
                let machine = process.host?.machine(of: shard)
            else { continue }
            all.generations[shard.number] = holder.glance.generation
            all.known[shard.number] = process.host?.shardChannels(of: shard) ?? []
            for player in machine.playerPeeks { all.players[player.key] = player }
            all.rooms += machine.roomPeeks.map { (shard, $0) }
            all.pools += machine.poolPeeks.map { (shard, $0) }
        }
        return all
    }

    func checkStates(_ world: SimWorld) -> Violation? {
        let all = states(world)
        for (shard, room) in all.rooms {
            if let why = Self.fault(room) { return Violation(why.0, "\(shard.short), room \(room.key.id): \(why.1)") }
        }
        return checkSeats(all) ?? checkPresence(all, world) ?? checkBounds(all)
    }

    /// What is kept of players stays below its limits (invariant 15).
    private func checkBounds(_ all: States) -> Violation? {
        let limits = plan.setup.limits
        for player in all.players.values {
            guard player.remembered > limits.rememberedRequests || player.openCalls > limits.openRequests else {
                continue
            }
            return Violation(
                15, "\(player.key.id): \(player.remembered) answers are kept, and \(player.openCalls) calls are open")
        }
        return nil
    }

    static func fault(_ room: RoomPeek) -> (Int, String)? {
        let players = room.seats.filter { !$0.isSpectator }
        if players.count > room.maximum { return (8, "\(players.count) players, and \(room.maximum) seats") }
        let spectators = room.seats.count - players.count
        if spectators > room.spectatorMaximum {
            return (8, "\(spectators) spectators, and \(room.spectatorMaximum) places")
        }
        if Set(room.seats.map(\.player)).count != room.seats.count { return (8, "a player is in it twice") }
        if players.contains(where: \.isOnline), !players.contains(where: { $0.isOnline && $0.player == room.owner }) {
            return (9, "\(room.owner) owns it, and is not online in it")
        }
        return nil
    }

    /// A seat is there only for a claim that its player still has, of a connection that its player had.
    private func checkSeats(_ all: States) -> Violation? {
        if all.hasLost { return nil }
        let layout = plan.setup.layout
        var seats: [PlayerKey: RoomPeek] = [:]
        for (shard, room) in all.rooms {
            for seat in room.seats {
                let key = PlayerKey(project: room.key.project, id: seat.player)
                let what = "\(seat.player) sits in \(room.key.id) (\(shard.short)) by claim \(seat.claim)"
                if let other = seats[key] { return Violation(8, "\(what), and in \(other.key.id)") }
                seats[key] = room
                let home = layout.home(of: key.shard)
                guard all.isMutual(shard, home) else { continue }
                guard let player = all.players[key] else {
                    return Violation(8, "\(what), and its shard \(home.short) does not know it")
                }
                if let why = Self.fault(player, seat, in: room.key.id) {
                    return Violation(why.0, "\(what); at its shard \(home.short) \(why.1)")
                }
            }
        }
        return nil
    }

    static func fault(_ player: PlayerPeek, _ seat: SeatPeek, in room: String) -> (Int, String)? {
        switch player.place {
        case .free: return (8, "it is free")
        case .claiming(room, seat.claim), .seated(room, seat.claim), .leaving(room, seat.claim): break
        case .matching(_, let claim): if claim < seat.claim { return (8, "it is matched by claim \(claim)") }
        case .claiming, .seated, .leaving: return (8, "it is \(player.place)")
        }
        if player.hasRun, seat.connection > player.connection {
            return (12, "its connection is \(player.connection), and \(seat.connection) at the seat")
        }
        if player.hasRun, seat.connection == player.connection, let link = seat.link, let own = player.link,
            link != own
        {
            return (12, "connection \(seat.connection) has link \(own.number), and \(link.number) at the seat")
        }
        return nil
    }

    /// Nobody is told offline soon after a new primary has begun.
    private func checkPresence(_ all: States, _ world: SimWorld) -> Violation? {
        let layout = plan.setup.layout
        var offline: [PlayerKey: OfflineMark] = [:]
        defer { offlineMarks = offline }
        for (key, player) in all.players {
            let i = layout.home(of: key.shard).number
            let epochUs = services[i].epochStartUs
            let mark = OfflineMark(isOffline: player.isOffline, epochUs: epochUs)
            offline[key] = mark
            guard let before = offlineMarks[key], before.epochUs == epochUs, !before.isOffline, player.isOffline,
                world.nowUs - epochUs < Self.presenceUs
            else { continue }
            return Violation(
                11, "\(key.id) is told offline \((world.nowUs - epochUs) / 1000) ms after an epoch of s\(i) began")
        }
        return nil
    }

    /// 2.5 s, less what clocks differ and epochs need to begin.
    static let presenceUs: Int64 = 2_480_000

    struct OfflineMark {
        let isOffline: Bool
        let epochUs: Int64
    }
}
