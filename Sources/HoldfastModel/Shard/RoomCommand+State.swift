public import HoldfastProtocol

extension RoomCommand: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .create(let config, let seatings):
            writer.put(kind: 0)
            writer.put(message: config)
            writer.put(seatings)
        case .seat(let seating):
            writer.put(kind: 1)
            writer.put(seating)
        case .leave(let player, let claim, let cause):
            writer.put(kind: 2, player, claim)
            writer.put(cause)
        case .offline(let player, let claim): writer.put(kind: 3, player, claim)
        case .attach(let player, let claim, let template):
            writer.put(kind: 4, player, claim)
            writer.put(template)
        case .detach(let player, let claim, let connection):
            writer.put(kind: 5, player, claim)
            writer.put(connection)
        case .sendJoined(let player, let claim, let connection, let link, let id):
            writer.put(kind: 6, player, claim)
            writer.put(connection)
            writer.put(link)
            writer.put(id)
        case .call(let player, let claim, let link, let id, let body):
            writer.put(kind: 7, player, claim)
            writer.put(link)
            writer.put(id)
            writer.put(body: body)
        case .pull(let player, let claim, let link):
            writer.put(kind: 8, player, claim)
            writer.put(link)
        case .verify(let player, let claim, let number):
            writer.put(kind: 9, player, claim)
            writer.put(number)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0:
            let config = try reader.roomConfig()
            self = .create(config, try reader.values())
        case 1: self = .seat(try reader.value())
        default:
            let player = try reader.text()
            try self.init(kind: kind, player, try reader.number(), from: &reader)
        }
    }

    private init(
        kind: UInt8, _ player: String, _ claim: Claim, from reader: inout StateReader
    ) throws(StateError) {
        switch kind {
        case 2: self = .leave(player: player, claim, try reader.value())
        case 3: self = .offline(player: player, claim)
        case 4: self = .attach(player: player, claim, try reader.value())
        case 5: self = .detach(player: player, claim, try reader.number())
        case 6:
            let connection = try reader.number()
            let link = try reader.value(Link.self)
            self = .sendJoined(player: player, claim, connection, link, id: try reader.uint32())
        case 7:
            let link = try reader.value(Link.self)
            let id = try reader.uint32()
            self = .call(player: player, claim, link, id: id, try reader.clientBody())
        case 8: self = .pull(player: player, claim, try reader.value())
        case 9: self = .verify(player: player, claim, number: try reader.number())
        default: throw .unknown(kind, of: "RoomCommand")
        }
    }
}

extension StateWriter {
    fileprivate mutating func put(kind: UInt8, _ player: String, _ claim: Claim) {
        put(kind: kind)
        put(player)
        put(claim)
    }
}

extension LeaveCause: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .call: writer.put(kind: 0)
        case .disconnected: writer.put(kind: 1)
        case .windowOver: writer.put(kind: 2)
        case .lost: writer.put(kind: 3)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .call
        case 1: self = .disconnected
        case 2: self = .windowOver
        case 3: self = .lost
        default: throw .unknown(kind, of: "LeaveCause")
        }
    }
}

extension Seating: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(player)
        writer.put(claim)
        writer.put(listener)
        writer.put(message: config)
        writer.put(asSpectator)
        writer.put(password)
        writer.put(lastInput)
        writer.put(pool)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        player = try reader.value()
        claim = try reader.number()
        listener = try reader.optional()
        config = try reader.message()
        asSpectator = try reader.bool()
        password = try reader.text()
        lastInput = try reader.uint32()
        pool = try reader.optional()
    }
}

extension Seating.Listener: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(link)
        writer.put(connection)
        writer.put(id)
    }

    init(from reader: inout StateReader) throws(StateError) {
        link = try reader.value()
        connection = try reader.number()
        id = try reader.uint32()
    }
}
