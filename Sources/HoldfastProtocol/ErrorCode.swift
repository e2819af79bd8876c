/// The codes of `errors.md`: one table for the wire and both SDKs.
public enum ErrorCode: Int32, Sendable, CaseIterable {
    case success = 0
    case serverError = 1
    case rateLimited = 3
    case replaced = 5
    /// Local to the SDKs: the link broke or timed out.
    case networkError = 6
    case invalidRequest = 11
    case invalidAuthorization = 12
    case notConnected = 13
    case alreadyConnected = 14
    case requestInProgress = 15
    case notImplemented = 16
    case roomLimit = 19
    case notInRoom = 20
    case alreadyInRoom = 21
    case notOwner = 22
    case roomFull = 23
    case roomNotFound = 24
    case frameSyncNotRunning = 25
    case frameSyncRunning = 26
    case frameInputTooLarge = 28
    case tooManyFrameInputs = 29
    case playerNotFound = 30
    case wrongPassword = 31
    case bannedFromRoom = 32
    case framesNotKept = 33
    case matchTimeout = 34
    case matchCancelled = 35
    case notForSpectators = 36
    case slowConsumer = 37
    case draining = 38
    case resumeExpired = 39
    case invalidBattleRequest = 100002
    case battleLimit = 100404
    case battleNotFound = 100411
    case noInviteeReachable = 100412
    case notInBattle = 100414
    case inOtherBattle = 100415
    case battleRequestPending = 100416
    case alreadyInThisBattle = 100419
    case battleNotStarted = 100420
    case battleEnded = 100421
    case sessionAuthorizationFailure = 1004
    case invalidSession = 1005
    case sessionNotConnected = 1010
    case sessionIllegalState = 1015
    /// Local to the SDKs.
    case sessionConnectionDropped = 1022
    case sessionConnectionLimit = 1027
    case signalDataTooLong = 1413
    case invalidSignalType = 1461
    case unableToForceDisconnect = 1520
    case unableToSendSignal = 1550

    /// Whether a client may come back by itself after `disconnected` with this code.
    public var mayReconnect: Bool {
        switch self {
        case .serverError, .slowConsumer, .draining: true
        default: false
        }
    }
}
