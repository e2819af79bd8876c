import HoldfastProtocol

/// To whom a position of a room's stream is addressed, as far as it can be told from what stands there. Players by
/// their number.
enum Addressees: Equatable, Sendable {
    case everyone
    case everyoneBut(Int)
    /// The players among those named: spectators are passed over.
    case only([Int])
    /// A spectator's kick: only the kicked gets it, and who else was to get it cannot be told.
    case unclear

    func include(_ listener: Listener) -> Bool? {
        switch self {
        case .everyone: true
        case .everyoneBut(let one): listener.player != one
        case .only(let some): !listener.isSpectator && some.contains(listener.player)
        case .unclear: nil
        }
    }
}

/// Who hears a room's stream, and as what: that is the same from where its stream begins.
struct Listener: Sendable {
    let player: Int
    let isSpectator: Bool

    init(_ view: CheckedLink) {
        player = view.player
        isSpectator = view.isSpectator
    }
}

/// What the members of one room were told, compared by sums.
struct RoomTruth: Sendable {
    struct Position: Sendable {
        /// 0: nobody has told of it yet.
        var sum: UInt64 = 0
        var toldMs: Int64 = 0
        var addressees = Addressees.everyone
        /// A frame's own number; the frame behind which an event stands, once somebody knew it.
        var place: Place?
        var isFrame = false
        /// Who was told of later ones but not of this; looked at when it is known what it is.
        var missedBy: [Listener] = []
    }

    struct Place: Equatable, Sendable {
        let sync: UInt32
        let frame: UInt32
    }

    struct FrameTruth: Sendable {
        var sum: UInt64 = 0
        var seq: UInt64 = 0
    }

    struct SyncTruth: Sendable {
        var started: UInt64 = 0
        /// Frame 1 first.
        var frames: [FrameTruth] = []
        /// By player: the number of its last input in a frame up to `checked`.
        var lastInput: [Int: Int] = [:]
        var checked: UInt32 = 0
    }

    static let positionsKept = 30_000
    static let framesKept = 20_000
    static let syncsKept = 1_000

    let id: String
    let number: Int
    let home: ShardID
    /// All its replicas died: it is told as lost, and what was told of it does not bind any more.
    var isLost = false
    /// It was dismissed, or its last player left.
    var isOver = false
    /// Position 1 first.
    var positions: [Position] = []
    var syncs: [UInt32: SyncTruth] = [:]
    /// Players that were told to be spectators here.
    var spectators: Set<Int> = []
    /// Where each player's seat was told, oldest first.
    var attachments: [Int: [Attachment]] = [:]

    /// A link that was told where in the stream it begins to hear the room.
    struct Attachment: Sendable {
        let link: SimLink
        var seq: UInt64
        /// When the `connect` was sent.
        let connectMs: Int64
    }

    init(id: String, number: Int, home: ShardID) {
        self.id = id
        self.number = number
        self.home = home
    }

    var lastTold: UInt64 { UInt64(positions.count) }

    /// Nil: it is not kept.
    func position(_ seq: UInt64) -> Position? {
        seq >= 1 && seq <= UInt64(positions.count) ? positions[Int(seq) - 1] : nil
    }

    /// Makes room for it. False: it is not kept.
    mutating func reach(_ seq: UInt64) -> Bool {
        guard seq >= 1, seq <= UInt64(Self.positionsKept) else { return false }
        while UInt64(positions.count) < seq { positions.append(Position()) }
        return true
    }

    mutating func reach(frame: UInt32, of sync: UInt32) -> Bool {
        guard frame >= 1, frame <= UInt32(Self.framesKept), syncs[sync] != nil || syncs.count < Self.syncsKept else {
            return false
        }
        while UInt32(syncs[sync, default: SyncTruth()].frames.count) < frame {
            syncs[sync, default: SyncTruth()].frames.append(FrameTruth())
        }
        return true
    }

    /// Where the link heard last that it begins to hear this room.
    mutating func attach(_ player: Int, _ attachment: Attachment) {
        var list = attachments[player] ?? []
        if let index = list.firstIndex(where: { $0.link == attachment.link }) {
            list[index].seq = attachment.seq
        } else {
            list.append(attachment)
            if list.count > 64 { list.removeFirst() }
        }
        attachments[player] = list
    }
}

/// Who is in a room as its members are told, and who owns it.
struct Roster: Equatable, Sendable {
    struct Seat: Equatable, Sendable {
        let player: String
        var isOnline: Bool
    }

    var seats: [Seat] = []
    var owner = ""
    var max: UInt32 = 0

    init() {}

    init(_ info: RoomInfo) {
        seats = info.players.map { Seat(player: $0.id, isOnline: $0.status == 1) }
        owner = info.ownerId
        max = info.maxPlayerCount
    }

    /// What is wrong with it as it stands.
    func fault() -> (invariant: Int, what: String)? {
        if seats.count > Int(max) { return (8, "\(seats.count) players, and the most is \(max)") }
        for (index, seat) in seats.enumerated() where seats[..<index].contains(where: { $0.player == seat.player }) {
            return (8, "\(seat.player) sits twice")
        }
        if seats.isEmpty { return nil }
        guard let owner = seats.first(where: { $0.player == self.owner }) else {
            return (9, "the owner '\(self.owner)' has no seat")
        }
        if !owner.isOnline, seats.contains(where: \.isOnline) { return (9, "the owner \(self.owner) is offline") }
        return nil
    }

    /// Counts an event in.
    /// - Returns: what is wrong with that.
    mutating func apply(_ event: ServerMessage.Body) -> (invariant: Int, what: String)? {
        let before = self
        switch event {
        case .playerEntered(let entered):
            guard let player = entered.player else { return (8, "playerEntered without a player") }
            if contains(player.id) { return (8, "\(player.id) entered and had a seat") }
            seats.append(Seat(player: player.id, isOnline: player.status == 1))
            owner = entered.roomOwnerId
        case .playerLeft(let left):
            if let fault = remove(left.playerId, owner: left.roomOwnerId) { return fault }
        case .playerKicked(let kicked):
            // A spectator's kick changes nothing.
            guard contains(kicked.playerId) else { return nil }
            if let fault = remove(kicked.playerId, owner: kicked.roomOwnerId) { return fault }
        case .playerOffline(let offline):
            if let fault = set(offline.playerId, online: false, owner: offline.roomOwnerId) { return fault }
        case .playerOnline(let online):
            if let fault = set(online.playerId, online: true, owner: online.roomOwnerId) { return fault }
        case .roomOwnerChanged(let changed):
            owner = changed.roomOwnerId
            return fault()
        default: return nil
        }
        return fault() ?? fault(ofHandingOnFrom: before)
    }

    /// Ownership moves only when it must, and then to the longest-seated online player.
    private func fault(ofHandingOnFrom before: Roster) -> (invariant: Int, what: String)? {
        guard !seats.isEmpty else { return nil }
        let stays = seats.contains { $0.player == before.owner && $0.isOnline }
        if stays, owner != before.owner {
            return (9, "\(owner) owns the room instead of \(before.owner), who is online")
        }
        if !stays, let next = seats.first(where: \.isOnline), owner != next.player {
            return (9, "\(owner) owns the room, and \(next.player) sits longest of those online")
        }
        return nil
    }

    func contains(_ player: String) -> Bool { seats.contains { $0.player == player } }

    private mutating func remove(_ player: String, owner: String) -> (invariant: Int, what: String)? {
        guard contains(player) else { return (8, "\(player) is out and had no seat") }
        seats.removeAll { $0.player == player }
        if !seats.isEmpty { self.owner = owner }
        return nil
    }

    private mutating func set(_ player: String, online: Bool, owner: String) -> (invariant: Int, what: String)? {
        guard let index = seats.firstIndex(where: { $0.player == player }) else {
            return (8, "\(player) is \(online ? "online" : "offline") and has no seat")
        }
        if seats[index].isOnline == online {
            return (5, "\(player) was \(online ? "online" : "offline") and is told to be so again")
        }
        seats[index].isOnline = online
        self.owner = owner
        return nil
    }
}
