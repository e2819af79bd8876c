public import HoldfastProtocol

/// The calls for those who port from a callback SDK: the same, with `onSuccess` and `onFailure`, of which exactly one
/// is called, once, on the transport's queue. What the calls do and how they fail stands at their async twins.
extension HoldfastClient {
    /// Called with the error of a call.
    public typealias Failure = @Sendable (HoldfastError) -> Void
    /// Called when a call with nothing to say succeeded.
    public typealias Done = @Sendable () -> Void

    /// See `connect()`.
    public func connect(
        onSuccess: @escaping @Sendable (Connected) -> Void, onFailure: @escaping Failure
    ) { listen(Calls.connect, Replies.connected, onSuccess, onFailure) }

    /// See `disconnect()`.
    public func disconnect(onSuccess: @escaping Done, onFailure: @escaping Failure) {
        listen(Calls.disconnect, Replies.nothing, onSuccess, onFailure)
    }

    /// See `createRoom(_:player:)`.
    public func createRoom(
        _ room: RoomConfig, player: PlayerConfig = PlayerConfig(),
        onSuccess: @escaping @Sendable (RoomJoined) -> Void, onFailure: @escaping Failure
    ) { listen(Calls.createRoom(room, player), Replies.roomJoined, onSuccess, onFailure) }

    /// See `matchRoom(_:player:timeoutMs:)`.
    public func matchRoom(
        _ room: RoomConfig, player: PlayerConfig = PlayerConfig(), timeoutMs: UInt32 = 0,
        onSuccess: @escaping @Sendable (RoomJoined) -> Void, onFailure: @escaping Failure
    ) { listen(Calls.matchRoom(room, player, timeoutMs), Replies.roomJoined, onSuccess, onFailure) }

    /// See `cancelMatch()`.
    public func cancelMatch(onSuccess: @escaping Done, onFailure: @escaping Failure) {
        listen(Calls.cancelMatch, Replies.nothing, onSuccess, onFailure)
    }

    /// See `getRoomList(type:offset:limit:toSpectate:)`.
    public func getRoomList(
        type: String = "", offset: String = "", limit: UInt32 = 0, toSpectate: Bool = false,
        onSuccess: @escaping @Sendable (RoomList) -> Void, onFailure: @escaping Failure
    ) { listen(Calls.getRoomList(type, offset, limit, toSpectate), Replies.roomList, onSuccess, onFailure) }

    /// See `joinRoom(_:player:asSpectator:password:)`.
    public func joinRoom(
        _ roomId: String, player: PlayerConfig = PlayerConfig(), asSpectator: Bool = false, password: String = "",
        onSuccess: @escaping @Sendable (RoomJoined) -> Void, onFailure: @escaping Failure
    ) { listen(Calls.joinRoom(roomId, player, asSpectator, password), Replies.roomJoined, onSuccess, onFailure) }

    /// See `leaveRoom()`.
    public func leaveRoom(onSuccess: @escaping Done, onFailure: @escaping Failure) {
        listen(Calls.leaveRoom, Replies.nothing, onSuccess, onFailure)
    }

    /// See `updateRoomProperties(name:customProperties:)`.
    public func updateRoomProperties(
        name: String? = nil, customProperties: String? = nil, onSuccess: @escaping Done, onFailure: @escaping Failure
    ) { listen(Calls.updateRoomProperties(name, customProperties), Replies.nothing, onSuccess, onFailure) }

    /// See `updatePlayerCustomStatus(_:)`.
    public func updatePlayerCustomStatus(
        _ status: Int32, onSuccess: @escaping Done, onFailure: @escaping Failure
    ) { listen(Calls.updatePlayerCustomStatus(status), Replies.nothing, onSuccess, onFailure) }

    /// See `updatePlayerCustomProperties(_:)`.
    public func updatePlayerCustomProperties(
        _ properties: String, onSuccess: @escaping Done, onFailure: @escaping Failure
    ) { listen(Calls.updatePlayerCustomProperties(properties), Replies.nothing, onSuccess, onFailure) }

    /// See `kickRoomPlayer(_:ban:)`.
    public func kickRoomPlayer(
        _ playerId: String, ban: Bool = false, onSuccess: @escaping Done, onFailure: @escaping Failure
    ) { listen(Calls.kickRoomPlayer(playerId, ban), Replies.nothing, onSuccess, onFailure) }

    /// See `transferRoomOwner(to:)`.
    public func transferRoomOwner(
        to playerId: String, onSuccess: @escaping Done, onFailure: @escaping Failure
    ) { listen(Calls.transferRoomOwner(playerId), Replies.nothing, onSuccess, onFailure) }

    /// See `dismissRoom()`.
    public func dismissRoom(onSuccess: @escaping Done, onFailure: @escaping Failure) {
        listen(Calls.dismissRoom, Replies.nothing, onSuccess, onFailure)
    }

    /// See `sendCustomMessage(_:to:)`.
    public func sendCustomMessage(
        _ message: String, to receivers: [String]? = nil, onSuccess: @escaping Done, onFailure: @escaping Failure
    ) { listen(Calls.sendCustomMessage(message, receivers), Replies.nothing, onSuccess, onFailure) }

    /// See `startFrameSync()`.
    public func startFrameSync(onSuccess: @escaping Done, onFailure: @escaping Failure) {
        listen(Calls.startFrameSync, Replies.nothing, onSuccess, onFailure)
    }

    /// See `stopFrameSync()`.
    public func stopFrameSync(onSuccess: @escaping Done, onFailure: @escaping Failure) {
        listen(Calls.stopFrameSync, Replies.nothing, onSuccess, onFailure)
    }

    /// See `getFrames(first:last:)`.
    public func getFrames(
        first: UInt32, last: UInt32, onSuccess: @escaping @Sendable (Frames) -> Void, onFailure: @escaping Failure
    ) { listen(Calls.getFrames(first, last), Replies.frames, onSuccess, onFailure) }

    /// See `putSnapshot(frameId:state:)`.
    public func putSnapshot(
        frameId: UInt32, state: [UInt8], onSuccess: @escaping Done, onFailure: @escaping Failure
    ) { listen(Calls.putSnapshot(frameId, state), Replies.nothing, onSuccess, onFailure) }

    private func listen<Value: Sendable>(
        _ body: ClientMessage.Body,
        _ convert: @escaping @Sendable (ServerMessage.Body) throws(HoldfastError) -> Value,
        _ onSuccess: @escaping @Sendable (Value) -> Void, _ onFailure: @escaping Failure
    ) {
        call(body) { reply in
            do throws(HoldfastError) {
                onSuccess(try convert(try reply.get()))
            } catch {
                onFailure(error)
            }
        }
    }
}
