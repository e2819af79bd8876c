import HoldfastProtocol

/// A player as its shard knows it, for those who look from outside.
public struct PlayerPeek: Hashable, Sendable {
    public enum Place: Hashable, Sendable {
        case free
        case claiming(room: String, Claim)
        case matching(PoolKey, Claim)
        case seated(room: String, Claim)
        case leaving(room: String, Claim)

        public var claim: Claim? {
            switch self {
            case .free: nil
            case .claiming(_, let claim), .matching(_, let claim), .seated(_, let claim), .leaving(_, let claim): claim
            }
        }
    }

    public let key: PlayerKey
    public let place: Place
    /// Nobody wants the seat of its claim any more.
    public let isAbandoned: Bool
    public let hasRun: Bool
    /// Of its run.
    public let link: Link?
    public let connection: ConnectionNumber
    /// Dropped so long that this was told.
    public let isOffline: Bool
    /// An attach waits until the claim is decided.
    public let isAttaching: Bool
    /// Seat calls that are not answered yet.
    public let openCalls: Int
}

/// A place in a room.
public struct SeatPeek: Hashable, Sendable {
    public let player: String
    public let claim: Claim
    public let isSpectator: Bool
    public let isOnline: Bool
    public let connection: ConnectionNumber
    public let link: Link?
}

public struct RoomPeek: Hashable, Sendable {
    public let key: RoomKey
    public let maximum: Int
    public let spectatorMaximum: Int
    /// In seat order, and then spectators by name.
    public let seats: [SeatPeek]
    public let owner: String
    public let seq: UInt64
    /// Of the running frame sync; 0: none runs.
    public let frameSync: UInt32
    /// The newest sealed frame.
    public let sealed: UInt32
}

public struct PoolPeek: Hashable, Sendable {
    public struct Ticket: Hashable, Sendable {
        public let player: PlayerKey
        public let claim: Claim

        public init(player: PlayerKey, claim: Claim) {
            self.player = player
            self.claim = claim
        }
    }

    public let key: PoolKey
    public let waiting: [Ticket]
    /// On their way into a room, by player.
    public let placing: [Ticket]
    /// Rooms that have not opened yet.
    public let ordered: Int
    /// Callers that are counted as on their way, over all rooms.
    public let expected: Int
    public let rooms: Int
}

/// All in a set order.
extension ShardMachine {
    public var playerPeeks: [PlayerPeek] {
        players.sorted { PlayerKey.isOrdered($0.key, $1.key) }.map { PlayerPeek($0.value) }
    }

    public var roomPeeks: [RoomPeek] {
        rooms.sorted { RoomKey.isOrdered($0.key, $1.key) }.map { RoomPeek($0.value) }
    }

    public var poolPeeks: [PoolPeek] {
        pools.sorted { PoolKey.isOrdered($0.key, $1.key) }.map { PoolPeek($0.value) }
    }

    /// Rooms that directories count.
    public var listedRooms: [RoomKey] {
        directories.values.flatMap { directory in
            directory.rooms.keys.map { RoomKey(project: directory.project, id: $0) }
        }.sorted { RoomKey.isOrdered($0, $1) }
    }

    /// When it must be given an entry at the latest, in shard time.
    public var earliestDeadlineMs: Int64? { deadlines.earliestMs }

    /// Deadlines of entities that are not there.
    public var orphanDeadlines: [String] {
        deadlines.keys.filter { entity in
            switch entity {
            case .player(let key): players[key] == nil
            case .room(let key): rooms[key] == nil
            case .pool(let key): pools[key] == nil
            }
        }.map { "\($0)" }.sorted()
    }
}

extension PlayerPeek {
    init(_ player: PlayerMachine) {
        key = player.key
        switch player.place {
        case .free:
            place = .free
            isAbandoned = false
        case .claiming(let room, let claim, let abandoned):
            place = .claiming(room: room, claim)
            isAbandoned = abandoned
        case .matching(let pool, let claim, let abandoned):
            place = .matching(pool, claim)
            isAbandoned = abandoned
        case .seated(let room, let claim):
            place = .seated(room: room, claim)
            isAbandoned = false
        case .leaving(let room, let claim):
            place = .leaving(room: room, claim)
            isAbandoned = false
        }
        hasRun = player.run != nil
        link = player.run?.link
        connection = player.run?.connection ?? 0
        isOffline = player.run?.offlineTold ?? false
        isAttaching = player.pendingAttach != nil
        openCalls = (player.open == nil ? 0 : 1) + player.waiting.count
    }
}

extension RoomPeek {
    init(_ room: RoomMachine) {
        key = room.key
        maximum = Int(room.config.maxPlayerCount)
        spectatorMaximum = Int(room.config.maxSpectatorCount)
        let spectators = room.spectators.values.sorted { ExactText($0.player) < ExactText($1.player) }
        seats = (room.players + spectators).map {
            SeatPeek(
                player: $0.player, claim: $0.claim, isSpectator: $0.isSpectator, isOnline: $0.online,
                connection: $0.connection, link: $0.link)
        }
        owner = room.ownerID
        seq = room.seq
        frameSync = room.frameSync?.id ?? 0
        sealed = room.frameSync?.sealed ?? 0
    }
}

extension PoolPeek {
    init(_ pool: PoolMachine) {
        key = pool.key
        waiting = pool.queue.map { Ticket(player: $0.player, claim: $0.claim) }
        placing = pool.placing.values.sorted {
            $0.player != $1.player ? PlayerKey.isOrdered($0.player, $1.player) : $0.claim < $1.claim
        }.map { Ticket(player: $0.player, claim: $0.claim) }
        ordered = pool.ordered.count
        expected = pool.rooms.values.reduce(0) { $0 + $1.expected }
        rooms = pool.rooms.count
    }
}
