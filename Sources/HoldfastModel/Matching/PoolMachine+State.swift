import HoldfastProtocol

extension PoolMachine: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(version: 1)
        writer.put(key)
        writer.put(list: rooms.sortedByBytes()) { $0.put($1.value) }
        writer.put(queue)
        writer.put(list: placing.values.sorted { $0.id < $1.id }) { $0.put($1) }
        writer.put(sorted: ordered)
        writer.put(list: unheard.sorted { $0.key < $1.key }) { writer, place in
            writer.put(place.key.player)
            writer.put(place.key.claim)
            writer.put(place.value)
        }
    }

    init(from reader: inout StateReader) throws(StateError) {
        try reader.version(1, of: "PoolMachine")
        key = try reader.value()
        let open = try reader.values(Room.self)
        queue = try reader.values()
        let underWay = try reader.values(Ticket.self)
        ordered = try reader.sortedSet()
        let seats = try reader.list { (reader) throws(StateError) in
            let player = try reader.text()
            let id = TicketID(player: player, claim: try reader.number())
            return (id: id, room: try reader.text())
        }
        try StateError.check(seats.map(\.id).isStrictlyGrowing, "PoolMachine: seats out of order")
        unheard = Dictionary(seats.map { ($0.id, $0.room) }) { first, _ in first }
        try StateError.check(open.map { ExactText($0.id) }.isStrictlyGrowing, "PoolMachine: rooms out of order")
        try StateError.check(underWay.map(\.id).isStrictlyGrowing, "PoolMachine: tickets out of order")
        rooms = Dictionary(open.map { ($0.id, $0) }) { first, _ in first }
        placing = Dictionary(underWay.map { ($0.id, $0) }) { first, _ in first }
        // Texts that look alike are one key.
        try StateError.check(
            rooms.count == open.count && placing.count == underWay.count && unheard.count == seats.count,
            "PoolMachine: a room or ticket twice")
    }
}

extension PoolMachine.Room: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(id)
        writer.put(Int64(taken))
        writer.put(open)
        writer.put(createdMs)
        writer.put(Int64(expected))
    }

    init(from reader: inout StateReader) throws(StateError) {
        id = try reader.text()
        taken = try reader.int(in: -(1 << 40)...(1 << 40))
        open = try reader.bool()
        createdMs = try reader.time()
        expected = try reader.int(in: -(1 << 40)...(1 << 40))
    }
}

extension PoolMachine.Ticket: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(order)
        writer.put(ticket)
        writer.put(deadlineMs)
        writer.put(sorted: excluded)
        writer.put(message: ending)
        writer.put(isHeard)
        writer.put(room)
    }

    init(from reader: inout StateReader) throws(StateError) {
        order = try reader.number()
        ticket = try reader.value()
        deadlineMs = try reader.optional { (reader) throws(StateError) in try reader.time() }
        excluded = try reader.sortedSet()
        ending = try reader.optionalMessage()
        isHeard = try reader.bool()
        room = try reader.text()
    }
}

/// In the order in which they are written.
extension PoolMachine.TicketID: Comparable {
    static func < (a: Self, b: Self) -> Bool {
        let (player, other) = (ExactText(a.player), ExactText(b.player))
        return player != other ? player < other : a.claim < b.claim
    }
}
