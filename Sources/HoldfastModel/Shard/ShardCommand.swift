public import HoldfastProtocol

/// Everything that a shard can be told, by the entity it is for. Commands are what the shard's log orders; they come
/// from gateways and from other shards; those from one place in the order in which they were sent, each once.
public enum ShardCommand: Sendable {
    case player(PlayerKey, PlayerCommand)
    case room(RoomKey, RoomCommand)
    case pool(PoolKey, PoolCommand)
    case directory(project: String, DirectoryCommand)

    /// Where the entity lives.
    public var shard: ShardID {
        switch self {
        case .player(let key, _): key.shard
        case .room(let key, _): key.shard
        case .pool(let key, _): ShardID(of: key)
        case .directory(let project, _): ShardID(ofDirectory: project)
        }
    }
}

extension ShardCommand {
    /// The link that waits for an answer to it, and the request's id.
    public var asker: (link: Link, id: UInt32)? {
        switch self {
        case .player(_, .call(let link, let id, _)), .player(_, .roomCall(let link, let id, _)),
            .player(_, .disconnect(let link, let id)), .room(_, .call(_, _, let link, let id, _)),
            .directory(_, .list(let link, let id, _)):
            (link, id)
        case .player(_, .attach(let request)): (request.link, request.id)
        case .player, .room, .pool, .directory: nil
        }
    }
}

/// One WebSocket link at one gateway. Numbers are never used again while the gateway lives.
public struct Link: Hashable, Sendable {
    public let gateway: GatewayID
    public let number: UInt64
    public let encoding: Encoding

    public init(gateway: GatewayID, number: UInt64, encoding: Encoding) {
        self.gateway = gateway
        self.number = number
        self.encoding = encoding
    }
}

/// Names one claim of a seat by a player: the number of the entry that made it, so it grows with each new claim.
public typealias Claim = UInt64

/// Orders the attachments of a player: effects of a lower number are ignored everywhere.
public typealias ConnectionNumber = UInt64

// MARK: - To a player

public enum PlayerCommand: Sendable {
    // From gateways
    indirect case attach(AttachRequest)
    /// The link of an attach that would replace another one still waits for it.
    case attachConfirmed(Link)
    /// The link ended without `disconnect`.
    case detach(Link)
    case disconnect(Link, id: UInt32)
    /// The client went on after it was told how its seat had ended.
    case heardEnd(Link)
    indirect case call(Link, id: UInt32, SeatCall)
    /// A call that needs a room, made while the gateway knew of none, or one whose outcome is remembered here.
    case roomCall(Link, id: UInt32, ClientMessage.Body)

    // From rooms and pools: how claims go on
    case seated(Claim, room: String)
    case refused(Claim, ErrorReply)
    case leaveRefused(Claim, ErrorReply)
    indirect case out(Claim, OutReport)
    /// The room knows no such claim: its `out` came before.
    indirect case attachFailed(Claim, AttachTemplate)
    /// The seat ended before its `roomJoined` was told.
    case joinLost(Claim, Link, id: UInt32)
    /// The pool or the directory had placed this claim in a room that was lost.
    case claimLost(Claim, room: String)
    /// The answer to `verify` with this number.
    case verified(Claim, number: UInt64, held: Bool)
}

/// The calls that decide where a player sits; of these one at a time.
public enum SeatCall: Sendable {
    case create(RoomConfig, PlayerConfig)
    case match(RoomConfig, PlayerConfig, timeoutMs: UInt32)
    case join(roomID: String, PlayerConfig, asSpectator: Bool, password: String)
    case leave
    case cancelMatch
}

public struct AttachRequest: Sendable {
    public enum Credential: Sendable {
        /// A verified token: a new run begins.
        case token(name: String, avatar: String)
        /// A resume token. Of a token beside it only the player counts.
        case resume(token: String, position: StreamPosition, tokenPlayer: PlayerKey?)
    }
    public let link: Link
    public let id: UInt32
    public let credential: Credential

    public init(link: Link, id: UInt32, credential: Credential) {
        self.link = link
        self.id = id
        self.credential = credential
    }
}

/// What a client says that it has, in `Resume`.
public struct StreamPosition: Sendable, Equatable {
    public var roomID: String
    public var roomSeq: UInt64
    public var frameSyncID: UInt32
    public var frameID: UInt32

    public init(roomID: String, roomSeq: UInt64, frameSyncID: UInt32, frameID: UInt32) {
        self.roomID = roomID
        self.roomSeq = roomSeq
        self.frameSyncID = frameSyncID
        self.frameID = frameID
    }
}

/// The player's half of a `connected`, which the room completes.
public struct AttachTemplate: Sendable {
    let link: Link
    let connection: ConnectionNumber
    let id: UInt32
    let resumed: Bool
    let resumeToken: String
    let position: StreamPosition?
    var requests: RequestDigest
}

/// What a seat leaves behind for the player's own memory.
public struct OutReport: Sendable {
    /// The event that ended the seat, when it was not the player's own doing.
    struct Ended: Sendable {
        let roomID: String
        let seq: UInt64
        let body: ServerMessage.Body
        /// No link was attached, so nobody can have seen it.
        let unseen: Bool
    }
    /// The newest attachment that the seat knew: what it remembers is of that one's run.
    let connection: ConnectionNumber
    let memory: RequestMemory
    let lastInput: UInt32
    let ended: Ended?
}

// MARK: - To a room

public enum RoomCommand: Sendable {
    /// Makes the room with these players in it; the first owns it.
    indirect case create(RoomConfig, [Seating])
    indirect case seat(Seating)
    case leave(player: String, Claim, LeaveCause)
    /// The player has been dropped for so long that it counts as offline.
    case offline(player: String, Claim)
    indirect case attach(player: String, Claim, AttachTemplate)
    case detach(player: String, Claim, ConnectionNumber)
    /// Answers the call that led to this claim, and lets the stream go on from there.
    case sendJoined(player: String, Claim, ConnectionNumber, Link, id: UInt32)
    indirect case call(player: String, Claim, Link, id: UInt32, ClientMessage.Body)
    /// The link has room for more of the stream.
    case pull(player: String, Claim, Link)
    /// Asks whether the claim is still held.
    case verify(player: String, Claim, number: UInt64)
}

public enum LeaveCause: Sendable {
    /// `leaveRoom`, which a locked room refuses.
    case call
    case disconnected
    case windowOver
    /// The player's shard gave the claim up when a shard was lost through which it went.
    case lost
}

/// A claim of a place in a room.
public struct Seating: Sendable {
    /// To whom the room tells `roomJoined`, at once, before anything else of its stream.
    struct Listener: Sendable {
        let link: Link
        let connection: ConnectionNumber
        let id: UInt32
    }
    let player: PlayerKey
    let claim: Claim
    let listener: Listener?
    let config: PlayerConfig
    let asSpectator: Bool
    let password: String
    let lastInput: UInt32
    /// The pool that places the player, and hears of a refusal in the player's stead.
    let pool: PoolKey?
}

// MARK: - To a match pool and the directory

public enum PoolCommand: Sendable {
    indirect case match(MatchTicket)
    case cancel(player: String, Claim)
    case placed(player: String, Claim, room: String)
    /// The player's shard has heard of the seat: its loss is no more the pool's to tell.
    case heard(player: String, Claim)
    indirect case refused(player: String, Claim, room: String, ErrorReply)
    /// The room that was to be made for it was lost.
    case claimLost(player: String, Claim, room: String)
    case advert(room: String, RoomAdvert?)
}

/// A caller that waits to be matched.
public struct MatchTicket: Sendable {
    let seating: Seating
    let room: RoomConfig
    let timeoutMs: UInt32
}

/// What a room tells the pool of its key: nil when it is gone.
public struct RoomAdvert: Sendable, Equatable {
    let taken: Int
    /// Can be matched into, seats aside.
    let open: Bool
    let createdMs: Int64
}

public enum DirectoryCommand: Sendable {
    /// Counts a new room against the project's limit, and sends it on to be made.
    indirect case admit(room: String, RoomConfig, [Seating])
    indirect case update(room: String, RoomListing?)
    indirect case list(Link, id: UInt32, GetRoomList)
}

/// What a room tells the directory.
public struct RoomListing: Sendable, Equatable {
    let summary: RoomSummary
    let createdMs: Int64
    let joinable: Bool
    let spectatable: Bool
}
