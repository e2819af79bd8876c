public import HoldfastProtocol

/// The calls of `rooms.md`. Each throws the code that the server answers, or one of the SDK's own: `notConnected`
/// before
/// `connect`, `rateLimited` with 64 calls unanswered, `networkError` when the outcome cannot be known.
extension HoldfastClient {
    // MARK: connection

    /// Connects and begins a run, trying for `ClientOptions.connectTimeoutMs`. `room` in what it returns tells of a
    /// seat that the player still has.
    /// - Throws: `invalidAuthorization`, `networkError`, `alreadyConnected`.
    @discardableResult
    public func connect() async throws(HoldfastError) -> Connected { try Replies.connected(await call(Calls.connect)) }

    /// Ends the run: the player is out of its room at once. Without a link at the moment, the server holds the seat
    /// until the resume window is over.
    public func disconnect() async throws(HoldfastError) { _ = try await call(Calls.disconnect) }

    /// Asks the server for its time, and measures `roundTripMs`.
    public func ping() async throws(HoldfastError) -> Pong { try Replies.pong(await call(Calls.ping)) }

    // MARK: rooms

    /// Creates a room and owns it.
    @discardableResult
    public func createRoom(
        _ room: RoomConfig, player: PlayerConfig = PlayerConfig()
    ) async throws(HoldfastError) -> RoomJoined {
        try Replies.roomJoined(await call(Calls.createRoom(room, player)))
    }

    /// Joins an open room of the same size, type and `matchParams`, or creates one.
    /// - Parameter timeoutMs: with 1…300,000 it waits so long for others instead of creating a room alone.
    /// - Throws: `matchTimeout`, `matchCancelled`.
    @discardableResult
    public func matchRoom(
        _ room: RoomConfig, player: PlayerConfig = PlayerConfig(), timeoutMs: UInt32 = 0
    ) async throws(HoldfastError) -> RoomJoined {
        try Replies.roomJoined(await call(Calls.matchRoom(room, player, timeoutMs)))
    }

    /// Ends a waiting `matchRoom`, which then throws `matchCancelled` (unless a match came first).
    public func cancelMatch() async throws(HoldfastError) { _ = try await call(Calls.cancelMatch) }

    /// A page of the rooms to join, newest first.
    /// - Parameters:
    ///   - type: "" for all types.
    ///   - offset: "" for the first page, then the last page's `offset`.
    ///   - limit: 1…100; 0 for the server's default.
    ///   - toSpectate: rooms with a free spectator's place instead.
    public func getRoomList(
        type: String = "", offset: String = "", limit: UInt32 = 0, toSpectate: Bool = false
    ) async throws(HoldfastError) -> RoomList {
        try Replies.roomList(await call(Calls.getRoomList(type, offset, limit, toSpectate)))
    }

    /// Joins a room by id, as player or as spectator.
    @discardableResult
    public func joinRoom(
        _ roomId: String, player: PlayerConfig = PlayerConfig(), asSpectator: Bool = false, password: String = ""
    ) async throws(HoldfastError) -> RoomJoined {
        try Replies.roomJoined(await call(Calls.joinRoom(roomId, player, asSpectator, password)))
    }

    /// Leaves the room.
    public func leaveRoom() async throws(HoldfastError) { _ = try await call(Calls.leaveRoom) }

    /// Changes the room (owner only); what is nil stays.
    public func updateRoomProperties(
        name: String? = nil, customProperties: String? = nil
    ) async throws(HoldfastError) {
        _ = try await call(Calls.updateRoomProperties(name, customProperties))
    }

    /// Changes the own status, any number.
    public func updatePlayerCustomStatus(_ status: Int32) async throws(HoldfastError) {
        _ = try await call(Calls.updatePlayerCustomStatus(status))
    }

    /// Changes the own properties, at most 2,048 bytes.
    public func updatePlayerCustomProperties(_ properties: String) async throws(HoldfastError) {
        _ = try await call(Calls.updatePlayerCustomProperties(properties))
    }

    /// Puts a player or spectator out (owner only); with `ban` for good.
    public func kickRoomPlayer(_ playerId: String, ban: Bool = false) async throws(HoldfastError) {
        _ = try await call(Calls.kickRoomPlayer(playerId, ban))
    }

    /// Makes another seated, online player the owner (owner only).
    public func transferRoomOwner(to playerId: String) async throws(HoldfastError) {
        _ = try await call(Calls.transferRoomOwner(playerId))
    }

    /// Closes the room (owner only).
    public func dismissRoom() async throws(HoldfastError) { _ = try await call(Calls.dismissRoom) }

    /// Sends a message of 1…2,048 bytes to everyone else in the room, or to the named players (at most 20).
    public func sendCustomMessage(_ message: String, to receivers: [String]? = nil) async throws(HoldfastError) {
        _ = try await call(Calls.sendCustomMessage(message, receivers))
    }

    // MARK: frame sync

    /// Starts frame sync (owner only).
    public func startFrameSync() async throws(HoldfastError) { _ = try await call(Calls.startFrameSync) }

    /// Stops frame sync (owner only).
    public func stopFrameSync() async throws(HoldfastError) { _ = try await call(Calls.stopFrameSync) }

    /// Frames `first…last` of the running frame sync, besides the stream; at most 600 a reply, `partial` says that more
    /// follow.
    /// - Throws: `framesNotKept`.
    public func getFrames(first: UInt32, last: UInt32) async throws(HoldfastError) -> Frames {
        try Replies.frames(await call(Calls.getFrames(first, last)))
    }

    /// Leaves the state after a frame (at most 64 KiB) for those who come late.
    public func putSnapshot(frameId: UInt32, state: [UInt8]) async throws(HoldfastError) {
        _ = try await call(Calls.putSnapshot(frameId, state))
    }
}

/// The bodies of the calls, for both styles.
enum Calls {
    typealias Body = ClientMessage.Body

    static var connect: Body { .connect(Connect()) }
    static var disconnect: Body { .disconnect(Disconnect()) }
    static var ping: Body { .ping(Ping()) }
    static var cancelMatch: Body { .cancelMatch(CancelMatch()) }
    static var leaveRoom: Body { .leaveRoom(LeaveRoom()) }
    static var dismissRoom: Body { .dismissRoom(DismissRoom()) }
    static var startFrameSync: Body { .startFrameSync(StartFrameSync()) }
    static var stopFrameSync: Body { .stopFrameSync(StopFrameSync()) }

    static func createRoom(_ room: RoomConfig, _ player: PlayerConfig) -> Body {
        .createRoom(CreateRoom(room: room, player: player))
    }

    static func matchRoom(_ room: RoomConfig, _ player: PlayerConfig, _ timeoutMs: UInt32) -> Body {
        .matchRoom(MatchRoom(room: room, player: player, timeoutMs: timeoutMs))
    }

    static func getRoomList(_ type: String, _ offset: String, _ limit: UInt32, _ toSpectate: Bool) -> Body {
        .getRoomList(GetRoomList(roomType: type, offset: offset, limit: limit, toSpectate: toSpectate))
    }

    static func joinRoom(_ roomId: String, _ player: PlayerConfig, _ asSpectator: Bool, _ password: String) -> Body {
        .joinRoom(JoinRoom(roomId: roomId, player: player, asSpectator: asSpectator, password: password))
    }

    static func updateRoomProperties(_ name: String?, _ customProperties: String?) -> Body {
        .updateRoomProperties(UpdateRoomProperties(name: name, customProperties: customProperties))
    }

    static func updatePlayerCustomStatus(_ status: Int32) -> Body {
        .updatePlayerCustomStatus(UpdatePlayerCustomStatus(status: status))
    }

    static func updatePlayerCustomProperties(_ properties: String) -> Body {
        .updatePlayerCustomProperties(UpdatePlayerCustomProperties(properties: properties))
    }

    static func kickRoomPlayer(_ playerId: String, _ ban: Bool) -> Body {
        .kickRoomPlayer(KickRoomPlayer(playerId: playerId, ban: ban))
    }

    static func transferRoomOwner(_ playerId: String) -> Body {
        .transferRoomOwner(TransferRoomOwner(playerId: playerId))
    }

    static func sendCustomMessage(_ message: String, _ receivers: [String]?) -> Body {
        let type: UInt32 = receivers == nil ? 0 : 1
        return .sendCustomMessage(SendCustomMessage(msg: message, type: type, receivers: receivers ?? []))
    }

    static func getFrames(_ first: UInt32, _ last: UInt32) -> Body {
        .getFrames(GetFrames(first: first, last: last))
    }

    static func putSnapshot(_ frameId: UInt32, _ state: [UInt8]) -> Body {
        .putSnapshot(PutSnapshot(frameId: frameId, state: state))
    }
}

/// What the replies must be.
enum Replies {
    static func connected(_ body: ServerMessage.Body) throws(HoldfastError) -> Connected {
        guard case .connected(let value) = body else { throw other }
        return value
    }

    static func pong(_ body: ServerMessage.Body) throws(HoldfastError) -> Pong {
        guard case .pong(let value) = body else { throw other }
        return value
    }

    static func roomJoined(_ body: ServerMessage.Body) throws(HoldfastError) -> RoomJoined {
        guard case .roomJoined(let value) = body else { throw other }
        return value
    }

    static func roomList(_ body: ServerMessage.Body) throws(HoldfastError) -> RoomList {
        guard case .roomList(let value) = body else { throw other }
        return value
    }

    static func frames(_ body: ServerMessage.Body) throws(HoldfastError) -> Frames {
        guard case .frames(let value) = body else { throw other }
        return value
    }

    static func nothing(_ body: ServerMessage.Body) throws(HoldfastError) {}

    private static var other: HoldfastError {
        HoldfastError(code: .serverError, message: "the server answered with something else")
    }
}
