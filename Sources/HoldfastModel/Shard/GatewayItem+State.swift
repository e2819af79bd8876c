public import HoldfastProtocol

extension GatewayItem: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .deliver(let link, let delivery):
            writer.put(kind: 0)
            writer.put(link)
            writer.put(delivery)
        case .stream(let room, let links, let except, let message):
            writer.put(kind: 1)
            writer.put(room)
            writer.put(links)
            writer.put(except)
            writer.put(message)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0:
            let link = try reader.value(Link.self)
            self = .deliver(link, try reader.value())
        case 1:
            let room = try reader.text()
            let links = try reader.values(Link.self)
            let except = try reader.optional(Link.self)
            self = .stream(room: room, links: links, except: except, try reader.value())
        default: throw .unknown(kind, of: "GatewayItem")
        }
    }
}

extension StreamMessage: StateCodable {
    public func encode(into writer: inout StateWriter) { writer.put(protobuf) }

    public init(from reader: inout StateReader) throws(StateError) {
        var ahead = reader
        message = try ahead.message(ServerMessage.self)
        protobuf = try reader.data()
    }
}

extension Delivery: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .attached(let id, let attachment):
            writer.put(kind: 0)
            writer.put(id)
            writer.put(attachment)
        case .attachRefused(let id, let refusal):
            writer.put(kind: 1)
            writer.put(id)
            writer.put(refusal)
        case .reply(let id, let body, let place):
            writer.put(kind: 2)
            writer.put(id)
            writer.put(body: body)
            writer.put(place)
        case .settled(let id):
            writer.put(kind: 3)
            writer.put(id)
        case .joined(let id, let joined, let seat):
            writer.put(kind: 4)
            writer.put(id)
            writer.put(message: joined)
            writer.put(seat)
        case .frames(let id, let frames):
            writer.put(kind: 5)
            writer.put(id)
            writer.put(frames)
        case .replay(let room, let messages, let atHead):
            writer.put(kind: 6)
            writer.put(room)
            writer.put(messages)
            writer.put(atHead)
        case .lagging: writer.put(kind: 7)
        case .unseated(let claim):
            writer.put(kind: 8)
            writer.put(claim)
        case .disconnected(let id):
            writer.put(kind: 9)
            writer.put(id)
        case .replaced: writer.put(kind: 10)
        case .takenOver: writer.put(kind: 11)
        case .confirmAttach(let id):
            writer.put(kind: 13)
            writer.put(id)
        case .seatLost(let claim, let calls, let error):
            writer.put(kind: 12)
            writer.put(claim)
            writer.put(calls)
            writer.put(message: error)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0, 1, 2, 3, 4, 5: try self.init(kind: kind, id: try reader.uint32(), from: &reader)
        case 6:
            let room = try reader.text()
            let messages = try reader.values(ReplayMessage.self)
            self = .replay(room: room, messages, atHead: try reader.bool())
        case 7: self = .lagging
        case 8: self = .unseated(try reader.number())
        case 9: self = .disconnected(id: try reader.uint32())
        case 10: self = .replaced
        case 11: self = .takenOver
        case 13: self = .confirmAttach(id: try reader.uint32())
        case 12:
            let claim = try reader.number()
            let calls = try reader.values(UInt32.self)
            self = .seatLost(claim, calls: calls, try reader.message())
        default: throw .unknown(kind, of: "Delivery")
        }
    }

    private init(kind: UInt8, id: UInt32, from reader: inout StateReader) throws(StateError) {
        switch kind {
        case 0: self = .attached(id: id, try reader.value())
        case 1: self = .attachRefused(id: id, try reader.value())
        case 2:
            let body = try reader.serverBody()
            self = .reply(id: id, body, try reader.value())
        case 3: self = .settled(id: id)
        case 4:
            let joined = try reader.message(RoomJoined.self)
            self = .joined(id: id, joined, try reader.value())
        case 5: self = .frames(id: id, try reader.value())
        default: throw .unknown(kind, of: "Delivery")
        }
    }
}

extension AttachRefusal: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .resumeDead: writer.put(kind: 0)
        case .otherPlayer: writer.put(kind: 1)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .resumeDead
        case 1: self = .otherPlayer
        default: throw .unknown(kind, of: "AttachRefusal")
        }
    }
}

extension ReplyPlace: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .player: writer.put(kind: 0)
        case .seat: writer.put(kind: 1)
        case .nowhere: writer.put(kind: 2)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .player
        case 1: self = .seat
        case 2: self = .nowhere
        default: throw .unknown(kind, of: "ReplyPlace")
        }
    }
}

extension SeatView: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(room)
        writer.put(claim)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        room = try reader.value()
        claim = try reader.number()
    }
}

extension Attachment: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(resumed)
        writer.put(resumeToken)
        writer.put(message: room)
        writer.put(roomSeq)
        writer.put(roomRestarted)
        writer.put(message: frameSync)
        writer.put(message: snapshot)
        writer.put(seat)
        writer.put(requests)
        writer.put(seatRequests)
        writer.put(isSeatForgetful)
        writer.put(ended) { $0.put(body: $1) }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        resumed = try reader.bool()
        resumeToken = try reader.text()
        room = try reader.optionalMessage()
        roomSeq = try reader.number()
        roomRestarted = try reader.bool()
        frameSync = try reader.optionalMessage()
        snapshot = try reader.optionalMessage()
        seat = try reader.optional()
        requests = try reader.value()
        seatRequests = try reader.values()
        isSeatForgetful = try reader.bool()
        ended = try reader.optional { (reader) throws(StateError) in try reader.serverBody() }
    }
}

extension ReplayMessage: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .event(let bytes):
            writer.put(kind: 0)
            writer.put(bytes)
        case .frames(let frames):
            writer.put(kind: 1)
            writer.put(frames)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .event(try reader.data())
        case 1: self = .frames(try reader.value())
        default: throw .unknown(kind, of: "ReplayMessage")
        }
    }
}

extension StoredFrames: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(list: frames) { $0.put($1) }
        writer.put(firstKept)
        writer.put(partial)
        writer.put(frameSyncID)
        writer.put(seq)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        frames = try reader.list { (reader) throws(StateError) in try reader.data() }
        firstKept = try reader.uint32()
        partial = try reader.bool()
        frameSyncID = try reader.uint32()
        seq = try reader.number()
    }
}
