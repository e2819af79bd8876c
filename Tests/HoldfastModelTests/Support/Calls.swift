import HoldfastProtocol

/// The calls with the values that most tests use.
extension ClientMessage.Body {
    static func create(_ max: UInt32 = 4, _ change: (inout RoomConfig) -> Void = { _ in }) -> Self {
        .createRoom(CreateRoom(room: config(max, change)))
    }

    static func match(_ max: UInt32 = 4, timeoutMs: UInt32 = 0, _ change: (inout RoomConfig) -> Void = { _ in }) -> Self
    {
        .matchRoom(MatchRoom(room: config(max, change), timeoutMs: timeoutMs))
    }

    private static func config(_ max: UInt32, _ change: (inout RoomConfig) -> Void) -> RoomConfig {
        var config = RoomConfig(maxPlayerCount: max, type: "duel")
        change(&config)
        return config
    }

    static func join(_ room: String, spectating: Bool = false, password: String = "") -> Self {
        .joinRoom(JoinRoom(roomId: room, asSpectator: spectating, password: password))
    }

    static var leave: Self { .leaveRoom(LeaveRoom()) }
    static var cancel: Self { .cancelMatch(CancelMatch()) }
    static var start: Self { .startFrameSync(StartFrameSync()) }
    static var stop: Self { .stopFrameSync(StopFrameSync()) }
    static var dismiss: Self { .dismissRoom(DismissRoom()) }
    static var bye: Self { .disconnect(Disconnect()) }
    static func kick(_ player: String, ban: Bool = false) -> Self {
        .kickRoomPlayer(KickRoomPlayer(playerId: player, ban: ban))
    }
    static func transfer(_ player: String) -> Self { .transferRoomOwner(TransferRoomOwner(playerId: player)) }
    static func message(_ text: String, to receivers: [String]? = nil) -> Self {
        .sendCustomMessage(SendCustomMessage(msg: text, type: receivers == nil ? 0 : 1, receivers: receivers ?? []))
    }
    static func status(_ value: Int32) -> Self { .updatePlayerCustomStatus(UpdatePlayerCustomStatus(status: value)) }
    static func properties(_ value: String) -> Self {
        .updatePlayerCustomProperties(UpdatePlayerCustomProperties(properties: value))
    }
    static func room(name: String? = nil, properties: String? = nil) -> Self {
        .updateRoomProperties(UpdateRoomProperties(name: name, customProperties: properties))
    }
    static func input(_ text: String, sync: UInt32 = 0) -> Self {
        .sendFrameInput(SendFrameInput(payload: .data(text), frameSyncId: sync))
    }
    static func frames(_ first: UInt32, _ last: UInt32, sync: UInt32 = 0) -> Self {
        .getFrames(GetFrames(first: first, last: last, frameSyncId: sync))
    }
    static func hash(_ frame: UInt32, _ hash: [UInt8], sync: UInt32 = 0) -> Self {
        .reportFrameHash(ReportFrameHash(frameId: frame, hash: hash, frameSyncId: sync))
    }
    static func snapshot(_ frame: UInt32, _ state: [UInt8] = [1], sync: UInt32 = 0) -> Self {
        .putSnapshot(PutSnapshot(frameId: frame, state: state, frameSyncId: sync))
    }
    static func list(type: String = "", offset: String = "", limit: UInt32 = 0, spectate: Bool = false) -> Self {
        .getRoomList(GetRoomList(roomType: type, offset: offset, limit: limit, toSpectate: spectate))
    }
}

extension World {
    /// Players in one room, in this order, all having read everything.
    func seated(_ names: String..., in max: UInt32 = 4, _ change: (inout RoomConfig) -> Void = { _ in }) -> [Client] {
        let clients = names.map { client($0).connect() }
        guard let first = clients.first else { return [] }
        first.send(.create(max, change))
        for other in clients.dropFirst() { other.send(.join(first.roomID)) }
        for one in clients { one.forget() }
        return clients
    }
}
