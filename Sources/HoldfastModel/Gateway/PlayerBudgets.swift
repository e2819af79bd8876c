public import HoldfastProtocol

/// The budgets from which a call that was refused late gets its price back.
public enum BudgetKind: Sendable {
    case snapshots
    case hashReports
}

/// What a player may ask in a second (rooms.md, "Budgets"). Belongs to the player and not to a link, so that a new
/// link brings no new budget.
public struct PlayerBudgets: Sendable {
    private var messages: TokenBucket
    private var roomCalls: TokenBucket
    private var getFrames: TokenBucket
    private var snapshots: TokenBucket
    private var hashReports = TokenBucket(perSecond: 1)
    private var hashRate: UInt32 = 0
    private let hashReportsPerFrame: Double

    public init(_ limits: Limits) {
        messages = TokenBucket(perSecond: limits.messagesPerSecond)
        roomCalls = TokenBucket(perSecond: limits.roomCallsPerSecond)
        getFrames = TokenBucket(perSecond: limits.getFramesPerSecond)
        snapshots = TokenBucket(perSecond: limits.snapshotsPerSecond)
        hashReportsPerFrame = limits.hashReportsPerFrame
    }

    /// Takes one from the budget of the call.
    /// - Parameter frameRate: of the player's room; hash reports are counted by it.
    /// - Returns: nil, or after how many milliseconds it will be worth trying again.
    mutating func take(for body: ClientMessage.Body, frameRate: UInt32, nowMs: Int64) -> UInt32? {
        switch body {
        case .sendCustomMessage, .updatePlayerCustomStatus, .updatePlayerCustomProperties, .updateRoomProperties:
            return messages.take(nowMs: nowMs)
        case .createRoom, .matchRoom, .joinRoom, .leaveRoom, .getRoomList, .transferRoomOwner, .kickRoomPlayer,
            .dismissRoom, .startFrameSync, .stopFrameSync:
            return roomCalls.take(nowMs: nowMs)
        case .getFrames: return getFrames.take(nowMs: nowMs)
        case .putSnapshot: return snapshots.take(nowMs: nowMs)
        case .reportFrameHash:
            if hashRate != frameRate {
                hashRate = frameRate
                hashReports = TokenBucket(perSecond: Double(max(1, frameRate)) * hashReportsPerFrame)
            }
            return hashReports.take(nowMs: nowMs)
        default: return nil
        }
    }

    mutating func giveBack(_ kind: BudgetKind) {
        switch kind {
        case .snapshots: snapshots.giveBack()
        case .hashReports: hashReports.giveBack()
        }
    }

    /// Whether nothing is lost when it is forgotten.
    public func isFull(nowMs: Int64) -> Bool {
        [messages, roomCalls, getFrames, snapshots, hashReports].allSatisfy { $0.isFull(nowMs: nowMs) }
    }
}
