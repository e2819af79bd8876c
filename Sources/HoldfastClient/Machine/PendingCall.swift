internal import HoldfastProtocol

/// A call whose outcome is not known yet.
struct PendingCall: Sendable {
    enum Kind: Equatable, Sendable {
        /// Of the application.
        case app
        /// `getFrames` of the machine's own, to fill a hole. Belongs to one link.
        case heal
        case disconnect
    }

    let id: UInt32
    let body: ClientMessage.Body
    let kind: Kind
    /// The room that the player was in when it was made.
    var roomId = ""
    /// Sent in this run, on whatever link: its outcome is the server's to say.
    var isSent = false
    /// The server asked for another try at this time.
    var retryAtMs: Int64?
    /// When the application stops waiting; nil: never, or it has been told already.
    var untilMs: Int64?
    /// The application was told `networkError`; the call stays until it is known what became of it, because its outcome
    /// may put the player into a room or out of it.
    var isGivenUp = false
}
