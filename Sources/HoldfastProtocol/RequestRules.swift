/// Why a request is refused: what stands in the `error` that answers it.
public struct Refusal: Error, Equatable, Sendable {
    public var code: ErrorCode
    /// For a developer to read; names the field, its limit and what came.
    public var message: String

    public init(_ code: ErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// The rules of `rooms.md` and the schema that a request keeps or breaks by itself, whatever the state of rooms and
/// players. Sizes are bytes of UTF-8, checked at their exact edge.
public enum RequestRules {
    /// The first rule of form or limit that the request breaks (11), nil when it keeps all. It comes before every
    /// other code but 13 and 16; so the size of a frame input (28), which comes late, is not looked at here.
    public static func violation(of body: ClientMessage.Body, limits: Limits) -> Refusal? {
        do throws(Refusal) {
            try check(body, Checks(limits: limits))
            return nil
        } catch {
            return error
        }
    }

    /// An input over its limit (28). It is answered only when no code that goes before 28 applies: not in a room, a
    /// spectator, no frame sync.
    public static func oversize(of input: SendFrameInput, limits: Limits) -> Refusal? {
        let (name, count) =
            switch input.payload {
            case .data(let text): ("data", text.utf8.count)
            case .dataBytes(let bytes): ("dataBytes", bytes.count)
            case nil: ("data", 0)
            }
        if count <= limits.frameInputBytes { return nil }
        return Refusal(
            .frameInputTooLarge, "sendFrameInput.\(name): at most \(limits.frameInputBytes) bytes, got \(count)")
    }

    private static func check(_ body: ClientMessage.Body, _ checks: Checks) throws(Refusal) {
        let limits = checks.limits
        switch body {
        case .connect(let connect): try checks.bytes(connect.client, "connect.client", limits.clientBytes)
        case .createRoom(let create):
            try checks.room(create.room, "createRoom.room")
            try checks.player(create.player, "createRoom.player")
        case .matchRoom(let match): try checks.match(match)
        case .joinRoom(let join):
            if join.roomId.isEmpty { throw checks.refusal("joinRoom.roomId", "required", "none") }
            try checks.player(join.player, "joinRoom.player")
        case .getRoomList(let list): try checks.atMost(list.limit, "getRoomList.limit", limits.listPage)
        case .updateRoomProperties(let update):
            try checks.bytes(update.name ?? "", "updateRoomProperties.name", limits.roomNameBytes)
            try checks.bytes(
                update.customProperties ?? "", "updateRoomProperties.customProperties", limits.customPropertiesBytes)
        case .updatePlayerCustomProperties(let update):
            try checks.bytes(
                update.properties, "updatePlayerCustomProperties.properties", limits.customPropertiesBytes)
        case .sendCustomMessage(let message): try checks.customMessage(message)
        case .getFrames(let get):
            if get.first == 0 { throw checks.refusal("getFrames.first", "at least 1", "0") }
            if get.first > get.last {
                throw checks.refusal("getFrames.first", "at most last (\(get.last))", "\(get.first)")
            }
        case .reportFrameHash(let report):
            try checks.bytes(report.hash.count, "reportFrameHash.hash", 1...limits.hashBytes)
        case .putSnapshot(let put):
            try checks.bytes(put.state.count, "putSnapshot.state", 0...limits.snapshotBytes)
        case .disconnect, .ping, .cancelMatch, .leaveRoom, .updatePlayerCustomStatus, .kickRoomPlayer,
            .transferRoomOwner, .dismissRoom, .startFrameSync, .sendFrameInput, .stopFrameSync:
            break
        // Battles and sessions have codes of their own for most of their limits.
        case .requestBattle, .cancelBattleRequest, .acceptBattle, .rejectBattle, .exitBattle, .joinSession,
            .leaveSession, .sendSignal, .forceDisconnect:
            break
        }
    }
}

private struct Checks {
    let limits: Limits

    func refusal(_ field: String, _ limit: String, _ got: String) -> Refusal {
        Refusal(.invalidRequest, "\(field): \(limit), got \(got)")
    }

    func atMost(_ value: UInt32, _ field: String, _ limit: UInt32) throws(Refusal) {
        if value > limit { throw refusal(field, "at most \(limit)", "\(value)") }
    }

    func bytes(_ count: Int, _ field: String, _ range: ClosedRange<Int>) throws(Refusal) {
        if range.contains(count) { return }
        let limit = range.lowerBound == 0 ? "at most \(range.upperBound)" : "\(range.lowerBound)…\(range.upperBound)"
        throw refusal(field, "\(limit) bytes", "\(count)")
    }

    func bytes(_ text: String, _ field: String, _ limit: Int) throws(Refusal) {
        try bytes(text.utf8.count, field, 0...limit)
    }

    func room(_ room: RoomConfig?, _ field: String) throws(Refusal) {
        guard let room else { throw refusal(field, "required", "none") }
        if !(1...limits.playersPerRoom).contains(room.maxPlayerCount) {
            throw refusal("\(field).maxPlayerCount", "1…\(limits.playersPerRoom)", "\(room.maxPlayerCount)")
        }
        try bytes(room.type.utf8.count, "\(field).type", 1...limits.roomTypeBytes)
        try bytes(room.name, "\(field).name", limits.roomNameBytes)
        try bytes(room.customProperties, "\(field).customProperties", limits.customPropertiesBytes)
        if room.matchParams.count > limits.matchParams {
            throw refusal("\(field).matchParams", "at most \(limits.matchParams) pairs", "\(room.matchParams.count)")
        }
        for (key, value) in room.matchParams.sortedByUTF8() {
            try bytes(key, "\(field).matchParams key", limits.matchParamKeyBytes)
            try bytes(value, "\(field).matchParams.\(key)", limits.matchParamValueBytes)
        }
        try atMost(room.frameRate, "\(field).frameRate", limits.frameRate)
        try atMost(room.maxSpectatorCount, "\(field).maxSpectatorCount", limits.spectatorsPerRoom)
        try bytes(room.password, "\(field).password", limits.passwordBytes)
    }

    func player(_ player: PlayerConfig?, _ field: String) throws(Refusal) {
        guard let player else { return }
        try bytes(player.customProperties, "\(field).customProperties", limits.customPropertiesBytes)
    }

    func match(_ match: MatchRoom) throws(Refusal) {
        try room(match.room, "matchRoom.room")
        try player(match.player, "matchRoom.player")
        if match.room?.hidden == true { throw refusal("matchRoom.room.hidden", "not in a match", "true") }
        if let password = match.room?.password, !password.isEmpty {
            throw refusal("matchRoom.room.password", "not in a match", "\(password.utf8.count) bytes")
        }
        try atMost(match.timeoutMs, "matchRoom.timeoutMs", limits.matchTimeoutMs)
    }

    func customMessage(_ message: SendCustomMessage) throws(Refusal) {
        try bytes(message.msg.utf8.count, "sendCustomMessage.msg", 1...limits.customMessageBytes)
        switch message.type {
        case 0: return
        case 1: break
        default: throw refusal("sendCustomMessage.type", "0 or 1", "\(message.type)")
        }
        // Ids given more than once count once, so 21 of them may be 20.
        let count = Set(message.receivers).count
        if !(1...limits.receivers).contains(count) {
            throw refusal("sendCustomMessage.receivers", "1…\(limits.receivers) ids", "\(count)")
        }
    }
}
