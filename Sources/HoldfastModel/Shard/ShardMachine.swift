import HoldfastProtocol

/// One shard: the players, rooms, pools and directories whose keys fall into it, as one deterministic machine. Time and
/// randomness come with the entries, so that replicas that apply the same log are the same.
public struct ShardMachine: Sendable {
    enum Entity: Hashable, Sendable {
        case player(PlayerKey)
        case room(RoomKey)
        case pool(PoolKey)
    }

    let limits: SharedLimits
    var players: [PlayerKey: PlayerMachine] = [:]
    var rooms: [RoomKey: RoomMachine] = [:]
    var pools: [PoolKey: PoolMachine] = [:]
    var directories: [String: DirectoryMachine] = [:]
    var deadlines = DeadlineQueue<Entity>()
    /// Claims and connections are numbered by the log's index from here, so that those of a shard that has begun anew
    /// are others than those of the one before, which other shards may still name. 0 before the first entry.
    var firstNumber: UInt64 = 0
    /// Until then nobody is told as offline or gone (design, rule 13).
    var presenceHeldUntilMs: Int64 = .min

    public init(configuration: SharedLimits) {
        limits = configuration
    }

    /// When the shard must be given an entry at the latest, in shard time.
    public mutating func nextDeadlineMs() -> Int64? { deadlines.next()?.timeMs }

    public var counts: (players: Int, rooms: Int) { (players.count, rooms.count) }

    mutating func handle(_ command: ShardCommand, _ context: inout EntryContext) {
        switch command {
        case .player(let key, let command): apply(command, to: key, &context)
        case .room(let key, let command): apply(command, to: key, &context)
        case .pool(let key, let command):
            pools[key, default: PoolMachine(key: key)].handle(command, &context)
            settle(pool: key)
        case .directory(let project, let command):
            directories[project, default: DirectoryMachine(project: project)].handle(command, &context)
            if directories[project]?.isIdle == true { directories[project] = nil }
        }
    }

    mutating func fireDeadlines(_ context: inout EntryContext) {
        guard let earliest = deadlines.next(), earliest.timeMs <= context.nowMs else { return }
        // After a stall those who were cut off by it come back first.
        if context.nowMs - earliest.timeMs > Self.stallMs { holdPresence(context) }
        // An entity's next deadline is later than now once it has fired, so this ends; the bound is for our own bugs.
        var rounds = 0
        while let due = deadlines.take(at: context.nowMs) {
            rounds += 1
            precondition(rounds < 10_000_000, "deadlines do not move on")
            switch due.key {
            case .player(let key):
                if context.nowMs >= presenceHeldUntilMs { players[key]?.fire(&context) }
                settle(player: key)
            case .room(let key):
                guard let place = rooms.index(forKey: key) else { continue }
                settle(rooms.values[place].fire(&context), room: key)
            case .pool(let key):
                pools[key]?.fire(&context)
                settle(pool: key)
            }
        }
    }

    /// A first deadline that fires so much later than it was due shows that nothing could be heard meanwhile.
    private static var stallMs: Int64 { 1000 }

    mutating func holdPresence(_ context: EntryContext) {
        if context.limits.mutations.contains(.presenceNotHeld) { return }
        let end = context.nowMs + Int64(context.limits.value.presenceGraceMs)
        presenceHeldUntilMs = max(presenceHeldUntilMs, end)
    }

    private mutating func apply(_ command: PlayerCommand, to key: PlayerKey, _ context: inout EntryContext) {
        if players[key] == nil {
            switch command {
            case .attach(let request):
                if case .resume = request.credential {
                    context.deliver(request.link, .attachRefused(id: request.id, .resumeDead))
                    return
                }
            case .seated(let claim, let room):
                PlayerMachine.giveBack(key, claim, room, &context)
                return
            default: return
            }
        }
        players[key, default: PlayerMachine(key: key)].handle(command, &context)
        settle(player: key)
    }

    private mutating func apply(_ command: RoomCommand, to key: RoomKey, _ context: inout EntryContext) {
        if case .create(_, let seatings) = command, rooms[key] != nil {
            // An order may come twice, when a directory was lost. Whose seat came of the first has heard of it before
            // this refusal, and passes over it.
            let error = ErrorReply(.serverError, "the new room's id is taken", retryAfterMs: 100)
            for seating in seatings { RoomMachine.refuse(seating, key.id, error, &context) }
            return
        }
        if rooms[key] == nil {
            switch command {
            case .create(let config, _): rooms[key] = RoomMachine(key: key, config: config, context: context)
            case .seat(let seating):
                RoomMachine.refuse(seating, key.id, ErrorReply(.roomNotFound, "there is no such room"), &context)
                return
            case .attach(let player, let claim, let template):
                let player = PlayerKey(project: key.project, id: player)
                context.send(.player(player, .attachFailed(claim, template)))
                return
            case .call(let player, _, let link, let id, let body):
                let player = PlayerKey(project: key.project, id: player)
                context.send(.player(player, .roomCall(link, id: id, body)))
                return
            case .sendJoined(let player, let claim, _, let link, let id):
                let player = PlayerKey(project: key.project, id: player)
                context.send(.player(player, .joinLost(claim, link, id: id)))
                return
            case .verify(let player, let claim, let number):
                let player = PlayerKey(project: key.project, id: player)
                context.send(.player(player, .verified(claim, number: number, held: false)))
                return
            case .leave, .offline, .detach, .pull: return
            }
        }
        guard let place = rooms.index(forKey: key) else { return }
        let after = rooms.values[place].handle(command, &context)
        settle(after, room: key)
    }

    // MARK: After an entity's turn

    mutating func settle(player key: PlayerKey) {
        guard let isIdle = players[key]?.isIdle else { return }
        if isIdle { players[key] = nil }
        deadlines.set(players[key]?.nextDeadlineMs.map { max($0, presenceHeldUntilMs) }, for: .player(key))
    }

    mutating func settle(_ after: RoomMachine.Afterwards, room key: RoomKey) {
        switch after {
        case .unchanged: break
        case .deadline(let timeMs): deadlines.set(timeMs, for: .room(key))
        case .closed:
            rooms[key] = nil
            deadlines.set(nil, for: .room(key))
        }
    }

    mutating func settle(pool key: PoolKey) {
        guard let isIdle = pools[key]?.isIdle else { return }
        if isIdle { pools[key] = nil }
        deadlines.set(pools[key]?.nextDeadlineMs, for: .pool(key))
    }
}
