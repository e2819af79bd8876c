public import HoldfastProtocol

extension PlayerCommand: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .attach(let request):
            writer.put(kind: 0)
            writer.put(request)
        case .detach(let link):
            writer.put(kind: 1)
            writer.put(link)
        case .disconnect(let link, let id):
            writer.put(kind: 2)
            writer.put(link)
            writer.put(id)
        case .heardEnd(let link):
            writer.put(kind: 3)
            writer.put(link)
        case .call(let link, let id, let call):
            writer.put(kind: 4)
            writer.put(link)
            writer.put(id)
            writer.put(call)
        case .roomCall(let link, let id, let body):
            writer.put(kind: 5)
            writer.put(link)
            writer.put(id)
            writer.put(body: body)
        default: encodeClaims(into: &writer)
        }
    }

    /// What rooms and pools say.
    private func encodeClaims(into writer: inout StateWriter) {
        switch self {
        case .attach, .detach, .disconnect, .heardEnd, .call, .roomCall: break
        case .seated(let claim, let room):
            writer.put(kind: 6)
            writer.put(claim)
            writer.put(room)
        case .refused(let claim, let error):
            writer.put(kind: 7)
            writer.put(claim)
            writer.put(message: error)
        case .leaveRefused(let claim, let error):
            writer.put(kind: 8)
            writer.put(claim)
            writer.put(message: error)
        case .out(let claim, let report):
            writer.put(kind: 9)
            writer.put(claim)
            writer.put(report)
        case .attachFailed(let claim, let template):
            writer.put(kind: 10)
            writer.put(claim)
            writer.put(template)
        case .joinLost(let claim, let link, let id):
            writer.put(kind: 11)
            writer.put(claim)
            writer.put(link)
            writer.put(id)
        case .claimLost(let claim, let room):
            writer.put(kind: 12)
            writer.put(claim)
            writer.put(room)
        case .attachConfirmed(let link):
            writer.put(kind: 14)
            writer.put(link)
        case .verified(let claim, let number, let held):
            writer.put(kind: 13)
            writer.put(claim)
            writer.put(number)
            writer.put(held)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .attach(try reader.value())
        case 1: self = .detach(try reader.value())
        case 2:
            let link = try reader.value(Link.self)
            self = .disconnect(link, id: try reader.uint32())
        case 3: self = .heardEnd(try reader.value())
        case 4:
            let link = try reader.value(Link.self)
            let id = try reader.uint32()
            self = .call(link, id: id, try reader.value())
        case 5:
            let link = try reader.value(Link.self)
            let id = try reader.uint32()
            self = .roomCall(link, id: id, try reader.clientBody())
        case 14: self = .attachConfirmed(try reader.value())
        default: try self.init(claim: kind, from: &reader)
        }
    }

    private init(claim kind: UInt8, from reader: inout StateReader) throws(StateError) {
        let claim = try reader.number()
        switch kind {
        case 6: self = .seated(claim, room: try reader.text())
        case 7: self = .refused(claim, try reader.message(ErrorReply.self))
        case 8: self = .leaveRefused(claim, try reader.message(ErrorReply.self))
        case 9: self = .out(claim, try reader.value())
        case 10: self = .attachFailed(claim, try reader.value())
        case 11:
            let link = try reader.value(Link.self)
            self = .joinLost(claim, link, id: try reader.uint32())
        case 12: self = .claimLost(claim, room: try reader.text())
        case 13:
            let number = try reader.number()
            self = .verified(claim, number: number, held: try reader.bool())
        default: throw .unknown(kind, of: "PlayerCommand")
        }
    }
}

extension SeatCall: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .create(let room, let player):
            writer.put(kind: 0)
            writer.put(message: room)
            writer.put(message: player)
        case .match(let room, let player, let timeoutMs):
            writer.put(kind: 1)
            writer.put(message: room)
            writer.put(message: player)
            writer.put(timeoutMs)
        case .join(let roomID, let player, let asSpectator, let password):
            writer.put(kind: 2)
            writer.put(roomID)
            writer.put(message: player)
            writer.put(asSpectator)
            writer.put(password)
        case .leave: writer.put(kind: 3)
        case .cancelMatch: writer.put(kind: 4)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0:
            let room = try reader.roomConfig()
            self = .create(room, try reader.message(PlayerConfig.self))
        case 1:
            let room = try reader.roomConfig()
            let player = try reader.message(PlayerConfig.self)
            self = .match(room, player, timeoutMs: try reader.uint32())
        case 2:
            let room = try reader.text()
            let player = try reader.message(PlayerConfig.self)
            let asSpectator = try reader.bool()
            self = .join(roomID: room, player, asSpectator: asSpectator, password: try reader.text())
        case 3: self = .leave
        case 4: self = .cancelMatch
        default: throw .unknown(kind, of: "SeatCall")
        }
    }
}

extension StateReader {
    /// A room's config, which names a pool and the places in a room.
    mutating func roomConfig() throws(StateError) -> RoomConfig {
        let config = try message(RoomConfig.self)
        try StateError.check(config.maxPlayerCount > 0, "RoomConfig: a room for nobody")
        return config
    }
}

extension AttachRequest: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(link)
        writer.put(id)
        switch credential {
        case .token(let name, let avatar):
            writer.put(kind: 0)
            writer.put(name)
            writer.put(avatar)
        case .resume(let token, let position, let tokenPlayer):
            writer.put(kind: 1)
            writer.put(token)
            writer.put(position)
            writer.put(tokenPlayer)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        link = try reader.value()
        id = try reader.uint32()
        let kind = try reader.byte()
        switch kind {
        case 0:
            let name = try reader.text()
            credential = .token(name: name, avatar: try reader.text())
        case 1:
            let token = try reader.text()
            let position = try reader.value(StreamPosition.self)
            credential = .resume(token: token, position: position, tokenPlayer: try reader.optional())
        default: throw .unknown(kind, of: "AttachRequest.Credential")
        }
    }
}

extension StreamPosition: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(roomID)
        writer.put(roomSeq)
        writer.put(frameSyncID)
        writer.put(frameID)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        roomID = try reader.text()
        roomSeq = try reader.number()
        frameSyncID = try reader.uint32()
        frameID = try reader.uint32()
    }
}

extension AttachTemplate: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(link)
        writer.put(connection)
        writer.put(id)
        writer.put(resumed)
        writer.put(resumeToken)
        writer.put(position)
        writer.put(requests)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        link = try reader.value()
        connection = try reader.number()
        id = try reader.uint32()
        resumed = try reader.bool()
        resumeToken = try reader.text()
        position = try reader.optional()
        requests = try reader.value()
    }
}

extension OutReport: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(connection)
        writer.put(memory)
        writer.put(lastInput)
        writer.put(ended)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        connection = try reader.number()
        memory = try reader.value()
        lastInput = try reader.uint32()
        ended = try reader.optional()
    }
}

extension OutReport.Ended: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(roomID)
        writer.put(seq)
        writer.put(body: body)
        writer.put(unseen)
    }

    init(from reader: inout StateReader) throws(StateError) {
        roomID = try reader.text()
        seq = try reader.number()
        body = try reader.serverBody()
        unseen = try reader.bool()
    }
}
