import HoldfastProtocol

/// A player or spectator in a room, and how far its link has got in the room's stream.
struct RoomMember: Sendable {
    let player: String
    let claim: Claim
    let isSpectator: Bool
    var customStatus: Int32
    var customProperties: String
    /// False from `playerOffline` to `playerOnline`.
    var online = true

    /// The lower numbers are links that were taken over.
    var connection: ConnectionNumber = 0
    var link: Link?
    var reading = Reading.nothing

    /// The position of its `roomJoined`: what was before is not for it.
    var joinedSeq: UInt64 = 0
    /// Frames up to here were before the stream that its client has began: they carry no `seq`.
    var baseSeq: UInt64 = 0
    /// Calls sent again whose `roomJoined` is due when the link has got to the present.
    var rejoins: [UInt32] = []

    /// Charged here and not by the gateway: only the room knows what is refused with 11, which costs nothing.
    var snapshotBudget: TokenBucket
    var hashBudget: TokenBucket
    /// The highest id of a frame input taken in this run.
    var lastInput: UInt32

    mutating func stopReading() {
        link = nil
        reading = .nothing
        rejoins = []
    }

    enum Reading: Sendable, Equatable {
        /// No link listens.
        case nothing
        /// The link gets kept messages at its own pace.
        case past(StreamCursor)
        case live
    }
}

/// How far a link has got: events by seq, frames by their place among the kept ones.
struct StreamCursor: Sendable, Equatable {
    var seq: UInt64
    var frame: Int
}
