public import HoldfastProtocol

/// What happens, as calls: for those who port from a callback SDK. Every method has an implementation that does
/// nothing. Called on the transport's queue, in order; return soon.
public protocol OnlineBattleCallback: AnyObject, Sendable {
    /// A message from another player; `playerId` is empty for one from the game's own server.
    func onCustomMessageReceived(_ message: CustomMessageReceived)
    /// The connection ended for good. Code `success`: by `disconnect`.
    func onDisconnected(_ error: HoldfastError)
    /// A player's properties changed.
    func onPlayerCustomPropertiesChanged(_ change: PlayerCustomPropertiesChanged)
    /// A player's status changed.
    func onPlayerCustomStatusChanged(_ change: PlayerCustomStatusChanged)
    /// A player came.
    func onPlayerEntered(_ event: PlayerEntered)
    /// A player was put out; the last event of the room when it is oneself.
    func onPlayerKicked(_ event: PlayerKicked)
    /// A player left.
    func onPlayerLeft(_ event: PlayerLeft)
    /// A player's link is gone; the seat is held.
    func onPlayerOffline(_ event: PlayerOffline)
    /// The room's name or properties changed.
    func onRoomPropertiesChanged(_ change: RoomPropertiesChanged)
    /// A frame sync to follow; with a snapshot when there is one to start from.
    func onFrameSyncStarted(_ info: FrameSyncInfo, snapshot: Snapshot?)
    /// The next frame; `isCatchUp`: of the past, to be simulated without waiting.
    func onFrameReceived(_ frame: Frame, isCatchUp: Bool)
    /// The frame sync is over.
    func onFrameSyncStopped(_ event: FrameSyncStopped)
    /// The service failed; with code 1 the room is lost.
    func onBattleServiceError(_ error: HoldfastError)

    /// A player is back.
    func onPlayerOnline(_ event: PlayerOnline)
    /// The owner handed the room on.
    func onRoomOwnerChanged(_ event: RoomOwnerChanged)
    /// The room is closed.
    func onRoomDismissed(_ event: RoomDismissed)
    /// Two players' states differ after a frame.
    func onDesyncDetected(_ event: DesyncDetected)
    /// Frames are lost for good; see `ClientEvent.framesSkipped`.
    func onFramesSkipped(first: UInt32, last: UInt32, snapshot: Snapshot?)
    /// A run has begun; see `ClientEvent.connected`.
    func onConnected(_ connected: Connected)
    /// The link broke; the client is trying to come back.
    func onReconnecting(_ error: HoldfastError)
    /// The run goes on.
    func onReconnected(_ connected: Connected)
    /// The player is in a room.
    func onRoomJoined(_ joined: RoomJoined)
    /// The player is out of the room, by `leaveRoom` or with a lost run.
    func onRoomLeft(roomId: String)
    /// A frame input or hash report was refused; the id is what sending it returned.
    func onRequestFailed(id: UInt32, error: HoldfastError)
    /// An event of battles or sessions.
    func onOther(_ body: ServerMessage.Body)
}

extension OnlineBattleCallback {
    /// Nothing.
    public func onCustomMessageReceived(_ message: CustomMessageReceived) {}
    /// Nothing.
    public func onDisconnected(_ error: HoldfastError) {}
    /// Nothing.
    public func onPlayerCustomPropertiesChanged(_ change: PlayerCustomPropertiesChanged) {}
    /// Nothing.
    public func onPlayerCustomStatusChanged(_ change: PlayerCustomStatusChanged) {}
    /// Nothing.
    public func onPlayerEntered(_ event: PlayerEntered) {}
    /// Nothing.
    public func onPlayerKicked(_ event: PlayerKicked) {}
    /// Nothing.
    public func onPlayerLeft(_ event: PlayerLeft) {}
    /// Nothing.
    public func onPlayerOffline(_ event: PlayerOffline) {}
    /// Nothing.
    public func onRoomPropertiesChanged(_ change: RoomPropertiesChanged) {}
    /// Nothing.
    public func onFrameSyncStarted(_ info: FrameSyncInfo, snapshot: Snapshot?) {}
    /// Nothing.
    public func onFrameReceived(_ frame: Frame, isCatchUp: Bool) {}
    /// Nothing.
    public func onFrameSyncStopped(_ event: FrameSyncStopped) {}
    /// Nothing.
    public func onBattleServiceError(_ error: HoldfastError) {}
    /// Nothing.
    public func onPlayerOnline(_ event: PlayerOnline) {}
    /// Nothing.
    public func onRoomOwnerChanged(_ event: RoomOwnerChanged) {}
    /// Nothing.
    public func onRoomDismissed(_ event: RoomDismissed) {}
    /// Nothing.
    public func onDesyncDetected(_ event: DesyncDetected) {}
    /// Nothing.
    public func onFramesSkipped(first: UInt32, last: UInt32, snapshot: Snapshot?) {}
    /// Nothing.
    public func onConnected(_ connected: Connected) {}
    /// Nothing.
    public func onReconnecting(_ error: HoldfastError) {}
    /// Nothing.
    public func onReconnected(_ connected: Connected) {}
    /// Nothing.
    public func onRoomJoined(_ joined: RoomJoined) {}
    /// Nothing.
    public func onRoomLeft(roomId: String) {}
    /// Nothing.
    public func onRequestFailed(id: UInt32, error: HoldfastError) {}
    /// Nothing.
    public func onOther(_ body: ServerMessage.Body) {}

    func take(_ event: ClientEvent) {
        switch event {
        case .connected(let connected): onConnected(connected)
        case .reconnecting(let error): onReconnecting(error)
        case .reconnected(let connected): onReconnected(connected)
        case .disconnected(let error): onDisconnected(error)
        case .requestFailed(let id, let error): onRequestFailed(id: id, error: error)
        case .serviceError(let error):
            onBattleServiceError(HoldfastError(number: error.code, message: error.message))
        case .roomJoined(let joined): onRoomJoined(joined)
        case .roomLeft(let roomId): onRoomLeft(roomId: roomId)
        case .playerEntered(let event): onPlayerEntered(event)
        case .playerLeft(let event): onPlayerLeft(event)
        case .playerOffline(let event): onPlayerOffline(event)
        case .playerOnline(let event): onPlayerOnline(event)
        case .playerKicked(let event): onPlayerKicked(event)
        case .roomOwnerChanged(let event): onRoomOwnerChanged(event)
        case .roomPropertiesChanged(let change): onRoomPropertiesChanged(change)
        case .playerCustomStatusChanged(let change): onPlayerCustomStatusChanged(change)
        case .playerCustomPropertiesChanged(let change): onPlayerCustomPropertiesChanged(change)
        case .roomDismissed(let event): onRoomDismissed(event)
        case .customMessageReceived(let message): onCustomMessageReceived(message)
        case .frameSyncStarted(let info, let snapshot): onFrameSyncStarted(info, snapshot: snapshot)
        case .frame(let frame, let isCatchUp): onFrameReceived(frame, isCatchUp: isCatchUp)
        case .framesSkipped(let first, let last, let snapshot):
            onFramesSkipped(first: first, last: last, snapshot: snapshot)
        case .frameSyncStopped(let event): onFrameSyncStopped(event)
        case .desyncDetected(let event): onDesyncDetected(event)
        case .other(let body): onOther(body)
        }
    }
}
