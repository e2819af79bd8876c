public import HoldfastProtocol

/// What a client is told, in one order: the server's events in the order of their streams, and the state of the
/// connection at its place among them.
public enum ClientEvent: Equatable, Sendable {
    // MARK: connection

    /// A run has begun: after `connect`, or after a reconnect whose resume was dead (then the calls in flight have
    /// failed with `networkError`, and events of the gap are lost; the room in it, if any, is the player's present
    /// one).
    indirect case connected(Connected)
    /// The link broke; the client is trying to come back. Calls made meanwhile wait.
    case reconnecting(HoldfastError)
    /// The run goes on. With `roomRestarted` events of the gap are lost, and the room in it is the present state;
    /// without it the missed events follow, while the mirror of the room already counts them.
    indirect case reconnected(Connected)
    /// The end: the client does not come back by itself. Code `success`: by `disconnect`.
    case disconnected(HoldfastError)
    /// An error that no waiting call takes: of a frame input, of a hash report (by the id that sending it returned), or
    /// of something unreadable (id 0).
    case requestFailed(id: UInt32, HoldfastError)
    /// `onBattleServiceError`. Code 1: the room is lost, the player is in none.
    case serviceError(ServiceError)

    // MARK: room

    /// The player is in a room: what the call's reply says, at its place among the events.
    indirect case roomJoined(RoomJoined)
    /// The player is out of the room: by its own `leaveRoom`, or a new run found no seat any more.
    case roomLeft(roomId: String)
    /// A player came; `roomOwnerId` when that made it the owner, too.
    case playerEntered(PlayerEntered)
    /// A player left, or its resume window is over.
    case playerLeft(PlayerLeft)
    /// A player's link is gone for 2 s; the seat is held.
    case playerOffline(PlayerOffline)
    /// A player is back.
    case playerOnline(PlayerOnline)
    /// A player was put out; the last event of the room when it is oneself.
    case playerKicked(PlayerKicked)
    /// The owner handed the room on.
    case roomOwnerChanged(RoomOwnerChanged)
    /// The room's name and properties, both as they are now.
    case roomPropertiesChanged(RoomPropertiesChanged)
    /// A player's status, as it is now.
    case playerCustomStatusChanged(PlayerCustomStatusChanged)
    /// A player's properties, as they are now.
    case playerCustomPropertiesChanged(PlayerCustomPropertiesChanged)
    /// The room is closed; its last event.
    case roomDismissed(RoomDismissed)
    /// A message from another player; `playerId` is empty for one from the game's own server.
    case customMessageReceived(CustomMessageReceived)

    // MARK: frame sync

    /// A frame sync to follow: it started, or the player came to a running one. Frames come from `snapshot.frameId` +
    /// 1, or from 1 without a snapshot, without a gap.
    indirect case frameSyncStarted(FrameSyncInfo, snapshot: Snapshot?)
    /// The next frame. `isCatchUp`: of the past; simulate it without waiting for its time.
    case frame(Frame, isCatchUp: Bool)
    /// Frames `first…last` cannot be had any more; the next one is `last` + 1. With a snapshot, restore it (it stands
    /// after frame `last`); without one, the state is lost: leave, or ask a player for it.
    case framesSkipped(first: UInt32, last: UInt32, snapshot: Snapshot?)
    /// The frame sync is over. Reason −1 (local): it ended while the events were not kept.
    case frameSyncStopped(FrameSyncStopped)
    /// Two players' states differ after a frame.
    case desyncDetected(DesyncDetected)

    // MARK: others

    /// An event of battles or sessions, as it came.
    indirect case other(ServerMessage.Body)
}

/// What came of a call: the reply's body, or the error.
public typealias ClientReply = Result<ServerMessage.Body, HoldfastError>
