public import HoldfastProtocol

/// What a player may ask in a second (rooms.md, "Budgets"). Belongs to the player and not to a link, so that a new
/// link brings no new budget. Snapshots and hash reports are charged by the room, which alone knows whether they are
/// refused with 11 and so cost nothing.
public struct PlayerBudgets: Sendable {
    private var messages: TokenBucket
    private var roomCalls: TokenBucket
    private var getFrames: TokenBucket

    public init(_ limits: Limits) {
        messages = TokenBucket(perSecond: limits.messagesPerSecond)
        roomCalls = TokenBucket(perSecond: limits.roomCallsPerSecond)
        getFrames = TokenBucket(perSecond: limits.getFramesPerSecond)
    }

    /// Takes one from the budget of the call.
    /// - Returns: nil, or after how many milliseconds it will be worth trying again.
    mutating func take(for body: ClientMessage.Body, nowMs: Int64) -> UInt32? {
        switch body {
        case .sendCustomMessage, .updatePlayerCustomStatus, .updatePlayerCustomProperties, .updateRoomProperties:
            return messages.take(nowMs: nowMs)
        case .createRoom, .matchRoom, .joinRoom, .leaveRoom, .getRoomList, .transferRoomOwner, .kickRoomPlayer,
            .dismissRoom, .startFrameSync, .stopFrameSync:
            return roomCalls.take(nowMs: nowMs)
        case .getFrames: return getFrames.take(nowMs: nowMs)
        default: return nil
        }
    }

    /// Whether nothing is lost when it is forgotten.
    public func isFull(nowMs: Int64) -> Bool {
        [messages, roomCalls, getFrames].allSatisfy { $0.isFull(nowMs: nowMs) }
    }
}
