public import HoldfastProtocol

extension ShardCommand {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .player(let key, let command):
            writer.put(kind: 0)
            writer.put(key)
            writer.put(command)
        case .room(let key, let command):
            writer.put(kind: 1)
            writer.put(key)
            writer.put(command)
        case .pool(let key, let command):
            writer.put(kind: 2)
            writer.put(key)
            writer.put(command)
        case .directory(let project, let command):
            writer.put(kind: 3)
            writer.put(project)
            writer.put(command)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0:
            let key = try reader.value(PlayerKey.self)
            self = .player(key, try reader.value())
        case 1:
            let key = try reader.value(RoomKey.self)
            self = .room(key, try reader.value())
        case 2:
            let key = try reader.value(PoolKey.self)
            self = .pool(key, try reader.value())
        case 3:
            let project = try reader.text()
            self = .directory(project: project, try reader.value())
        default: throw .unknown(kind, of: "ShardCommand")
        }
    }
}

extension Link: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(gateway)
        writer.put(number)
        writer.put(encoding)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        gateway = try reader.value()
        number = try reader.number()
        encoding = try reader.value()
    }
}

extension PoolCommand: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .match(let ticket):
            writer.put(kind: 0)
            writer.put(ticket)
        case .cancel(let player, let claim):
            writer.put(kind: 1)
            writer.put(player)
            writer.put(claim)
        case .placed(let player, let claim, let room):
            writer.put(kind: 2)
            writer.put(player)
            writer.put(claim)
            writer.put(room)
        case .refused(let player, let claim, let room, let error):
            writer.put(kind: 3)
            writer.put(player)
            writer.put(claim)
            writer.put(room)
            writer.put(message: error)
        case .advert(let room, let advert):
            writer.put(kind: 4)
            writer.put(room)
            writer.put(advert)
        case .heard(let player, let claim):
            writer.put(kind: 5)
            writer.put(player)
            writer.put(claim)
        case .claimLost(let player, let claim, let room):
            writer.put(kind: 6)
            writer.put(player)
            writer.put(claim)
            writer.put(room)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .match(try reader.value())
        case 1:
            let player = try reader.text()
            self = .cancel(player: player, try reader.number())
        case 2:
            let player = try reader.text()
            let claim = try reader.number()
            self = .placed(player: player, claim, room: try reader.text())
        case 3:
            let player = try reader.text()
            let claim = try reader.number()
            let room = try reader.text()
            self = .refused(player: player, claim, room: room, try reader.message(ErrorReply.self))
        case 4:
            let room = try reader.text()
            self = .advert(room: room, try reader.optional())
        case 5:
            let player = try reader.text()
            self = .heard(player: player, try reader.number())
        case 6:
            let player = try reader.text()
            let claim = try reader.number()
            self = .claimLost(player: player, claim, room: try reader.text())
        default: throw .unknown(kind, of: "PoolCommand")
        }
    }
}

extension MatchTicket: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(seating)
        writer.put(message: room)
        writer.put(timeoutMs)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        seating = try reader.value()
        room = try reader.roomConfig()
        timeoutMs = try reader.uint32()
    }
}

extension RoomAdvert: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(taken)
        writer.put(open)
        writer.put(createdMs)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        taken = Int(try reader.uint32())
        open = try reader.bool()
        createdMs = try reader.time()
    }
}

extension DirectoryCommand: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .admit(let room, let config, let seatings):
            writer.put(kind: 0)
            writer.put(room)
            writer.put(message: config)
            writer.put(seatings)
        case .update(let room, let listing):
            writer.put(kind: 1)
            writer.put(room)
            writer.put(listing)
        case .list(let link, let id, let request):
            writer.put(kind: 2)
            writer.put(link)
            writer.put(id)
            writer.put(message: request)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0:
            let room = try reader.text()
            let config = try reader.roomConfig()
            self = .admit(room: room, config, try reader.values())
        case 1:
            let room = try reader.text()
            self = .update(room: room, try reader.optional())
        case 2:
            let link = try reader.value(Link.self)
            let id = try reader.uint32()
            self = .list(link, id: id, try reader.message(GetRoomList.self))
        default: throw .unknown(kind, of: "DirectoryCommand")
        }
    }
}

extension RoomListing: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(message: summary)
        writer.put(createdMs)
        writer.put(joinable)
        writer.put(spectatable)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        summary = try reader.message()
        createdMs = try reader.time()
        joinable = try reader.bool()
        spectatable = try reader.bool()
    }
}
