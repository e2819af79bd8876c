import HoldfastProtocol

/// The open rooms and the waiting callers of one match key (rooms.md, "Matching"). The pool decides where a caller
/// goes; whether the seat is really free, the room decides, and then the caller comes back and the search goes on.
struct PoolMachine: Sendable {
    let key: PoolKey
    var rooms: [String: Room] = [:]
    /// In the order in which they came.
    var queue: [Ticket] = []
    /// Tickets on their way into a room.
    var placing: [TicketID: Ticket] = [:]
    /// The rooms of tickets that have a seat of which the player's shard may not have heard.
    var unheard: [TicketID: String] = [:]
    /// Rooms that were ordered and have not opened yet.
    var ordered: Set<String> = []

    struct Room: Sendable {
        let id: String
        var taken: Int
        var open: Bool
        let createdMs: Int64
        /// Callers on their way.
        var expected = 0
    }

    struct Ticket: Sendable {
        let order: UInt64
        let ticket: MatchTicket
        let deadlineMs: Int64?
        /// Rooms that will not have this caller.
        var excluded: Set<String> = []
        /// Cancelled or timed out while on the way: decides only if the room refuses.
        var ending: ErrorReply?
        /// The player's shard has heard of the seat before this pool.
        var isHeard = false
        var room = ""
        var claim: Claim { ticket.seating.claim }
        var player: PlayerKey { ticket.seating.player }
        var id: TicketID { TicketID(player: player.id, claim: claim) }
    }

    /// Claims are counted by each player's shard for itself, so that only both together name a ticket.
    struct TicketID: Hashable, Sendable {
        let player: String
        let claim: Claim
    }

    init(key: PoolKey) { self.key = key }

    var isIdle: Bool {
        rooms.isEmpty && queue.isEmpty && placing.isEmpty && ordered.isEmpty && unheard.isEmpty
    }

    var nextDeadlineMs: Int64? {
        queue.lazy.compactMap(\.deadlineMs).min()
    }

    mutating func handle(_ command: PoolCommand, _ context: inout EntryContext) {
        switch command {
        case .match(let ticket): match(ticket, &context)
        case .cancel(let player, let claim):
            end(
                TicketID(player: player, claim: claim), ErrorReply(.matchCancelled, "the match was cancelled"), &context
            )
        case .placed(let player, let claim, let room):
            // A room on order stays so until its advert, which follows.
            let id = TicketID(player: player, claim: claim)
            if let ticket = placing.removeValue(forKey: id) {
                rooms[room]?.expected -= 1
                rooms[room]?.taken += 1
                if !ticket.isHeard { unheard[id] = room }
            }
        case .heard(let player, let claim):
            let id = TicketID(player: player, claim: claim)
            if unheard.removeValue(forKey: id) == nil { placing[id]?.isHeard = true }
        case .refused(let player, let claim, let room, let error):
            refused(TicketID(player: player, claim: claim), room, error, &context)
        case .claimLost(let player, let claim, let room):
            let id = TicketID(player: player, claim: claim)
            guard placing.removeValue(forKey: id) != nil else { break }
            rooms[room]?.expected -= 1
            ordered.remove(room)
            context.send(.player(PlayerKey(project: key.project, id: player), .claimLost(claim, room: room)))
        case .advert(let room, let advert): update(room, advert)
        }
        search(&context)
    }

    mutating func fire(_ context: inout EntryContext) {
        for ticket in queue where ticket.deadlineMs.map({ $0 <= context.nowMs }) ?? false {
            end(ticket.id, ErrorReply(.matchTimeout, "no match within timeoutMs"), &context)
        }
    }

    private mutating func match(_ ticket: MatchTicket, _ context: inout EntryContext) {
        guard queue.count + placing.count < context.limits.value.waitingPerPool else {
            let error = ErrorReply(.rateLimited, "too many callers wait for this match", retryAfterMs: 1000)
            context.send(.player(ticket.seating.player, .refused(ticket.seating.claim, error)))
            return
        }
        let deadline = ticket.timeoutMs > 0 ? context.nowMs + Int64(ticket.timeoutMs) : nil
        queue.append(Ticket(order: context.index, ticket: ticket, deadlineMs: deadline))
    }

    /// Match, limit and cancel: the first decides.
    private mutating func end(_ id: TicketID, _ error: ErrorReply, _ context: inout EntryContext) {
        if let i = queue.firstIndex(where: { $0.id == id }) {
            let ticket = queue.remove(at: i)
            context.send(.player(ticket.player, .refused(ticket.claim, error)))
        } else {
            placing[id]?.ending = error
        }
    }

    private mutating func update(_ id: String, _ advert: RoomAdvert?) {
        ordered.remove(id)
        guard let advert else {
            rooms[id] = nil
            return
        }
        if rooms[id] == nil {
            rooms[id] = Room(id: id, taken: advert.taken, open: advert.open, createdMs: advert.createdMs)
            rooms[id]?.expected = placing.values.count { $0.room == id }
        } else {
            rooms[id]?.taken = advert.taken
            rooms[id]?.open = advert.open
        }
    }

    /// The room filled, started or closed first, or will not have this caller: the search goes on.
    private mutating func refused(
        _ id: TicketID, _ room: String, _ error: ErrorReply, _ context: inout EntryContext
    ) {
        guard var ticket = placing.removeValue(forKey: id) else { return }
        rooms[room]?.expected -= 1
        ordered.remove(room)
        switch ErrorCode(rawValue: error.code) {
        case .roomFull?, .frameSyncRunning?: rooms[room]?.open = false
        case .roomNotFound?: rooms[room] = nil
        case .roomLimit?: ticket.ending = ticket.ending ?? error
        default: ticket.excluded.insert(room)
        }
        if let ending = ticket.ending {
            context.send(.player(ticket.player, .refused(ticket.claim, ending)))
            return
        }
        if let deadline = ticket.deadlineMs, deadline <= context.nowMs {
            let late = ErrorReply(.matchTimeout, "no match within timeoutMs")
            context.send(.player(ticket.player, .refused(ticket.claim, late)))
            return
        }
        let i = queue.firstIndex { $0.order > ticket.order } ?? queue.endIndex
        queue.insert(ticket, at: i)
    }

    // MARK: Losses

    /// Forgets the rooms and callers that lived there, and has rooms ordered again that a directory may not have passed
    /// on.
    mutating func shardLost(_ home: ShardID, _ context: inout EntryContext) {
        let layout = context.limits.layout
        queue.removeAll { layout.home(of: $0.player.shard) == home }
        unheard = unheard.filter { layout.home(of: PlayerKey(project: key.project, id: $0.key.player).shard) != home }
        for ticket in placing.values where layout.home(of: ticket.player.shard) == home {
            placing[ticket.id] = nil
            rooms[ticket.room]?.expected -= 1
        }
        func isLost(_ room: String) -> Bool {
            layout.home(of: RoomKey(project: key.project, id: room).shard) == home
        }
        for room in rooms.keys where isLost(room) { rooms[room] = nil }
        ordered = ordered.filter { !isLost($0) }
        let underway = placing.values.sorted { $0.order < $1.order }
        for ticket in underway where isLost(ticket.room) {
            // The player may have been told of its seat there, so its own shard has to decide.
            placing[ticket.id] = nil
            context.send(.player(ticket.player, .claimLost(ticket.claim, room: ticket.room)))
        }
        for (id, room) in unheard.sorted(by: { $0.key < $1.key }) where isLost(room) {
            unheard[id] = nil
            context.send(.player(PlayerKey(project: key.project, id: id.player), .claimLost(id.claim, room: room)))
        }
        if layout.home(of: ShardID(ofDirectory: key.project)) == home { orderAgain(&context) }
        search(&context)
    }

    /// A room that was made by the first order knows the claims of the second.
    private mutating func orderAgain(_ context: inout EntryContext) {
        for id in ordered.sorted() {
            var tickets = placing.values.filter { $0.room == id }.sorted { $0.order < $1.order }
            if tickets.count < Int(key.maxPlayerCount), let i = tickets.firstIndex(where: { $0.deadlineMs == nil }) {
                // One that would not wait: the room is by its config.
                tickets.insert(tickets.remove(at: i), at: 0)
            }
            guard let first = tickets.first else {
                ordered.remove(id)
                continue
            }
            context.send(
                .directory(
                    project: key.project, .admit(room: id, first.ticket.room, tickets.map(\.ticket.seating))))
        }
    }

    // MARK: Searching

    private mutating func search(_ context: inout EntryContext) {
        fillOpenRooms(&context)
        let size = Int(key.maxPlayerCount)
        while queue.count >= size, ordered.isEmpty || !queue.prefix(size).contains(where: { $0.deadlineMs == nil }) {
            order(Array(queue.prefix(size)), &context)
        }
        // Who will not wait gets a room of its own, with as many of the others as fit; while one is on order, it is
        // waited for, so that many at once do not end in a room each.
        if ordered.isEmpty, let first = queue.first(where: { $0.deadlineMs == nil }) {
            let others = queue.filter { $0.id != first.id }.prefix(size - 1)
            order([first] + others, &context)
        }
    }

    /// Longest wait first; the fullest room first, then the oldest.
    private mutating func fillOpenRooms(_ context: inout EntryContext) {
        guard !queue.isEmpty, !rooms.isEmpty else { return }
        let size = Int(key.maxPlayerCount)
        var open = rooms.values.filter { $0.open && $0.taken + $0.expected < size }
        var left: [Ticket] = []
        for ticket in queue {
            let candidates = open.indices.filter { !ticket.excluded.contains(open[$0].id) }
            guard let best = candidates.min(by: { Self.isBetter(open[$0], open[$1]) }) else {
                left.append(ticket)
                continue
            }
            let id = open[best].id
            open[best].expected += 1
            rooms[id]?.expected += 1
            if open[best].taken + open[best].expected >= size { open.remove(at: best) }
            context.send(.room(RoomKey(project: key.project, id: id), .seat(ticket.ticket.seating)))
            place(ticket, in: id)
        }
        queue = left
    }

    private static func isBetter(_ a: Room, _ b: Room) -> Bool {
        let (x, y) = (a.taken + a.expected, b.taken + b.expected)
        if x != y { return x > y }
        return a.createdMs != b.createdMs ? a.createdMs < b.createdMs : a.id < b.id
    }

    /// Has a room made with these callers in it, by the first one's config; it owns the room.
    private mutating func order(_ tickets: [Ticket], _ context: inout EntryContext) {
        guard let first = tickets.first else { return }
        let id = context.randomness.roomID()
        ordered.insert(id)
        context.send(
            .directory(
                project: key.project,
                .admit(room: id, first.ticket.room, tickets.map(\.ticket.seating))))
        let ordered = Set(tickets.map(\.id))
        queue.removeAll { ordered.contains($0.id) }
        for ticket in tickets { place(ticket, in: id) }
    }

    private mutating func place(_ ticket: Ticket, in room: String) {
        var ticket = ticket
        ticket.room = room
        placing[ticket.id] = ticket
    }
}
