import HoldfastProtocol

/// What was asked, as far as it matters for what may be answered.
enum Asked: Equatable, Sendable {
    case create
    case match
    case join(spectating: Bool)
    case leave
    case list
    case frames
    case other

    init(_ body: ClientMessage.Body) {
        switch body {
        case .createRoom: self = .create
        case .matchRoom: self = .match
        case .joinRoom(let join): self = .join(spectating: join.asSpectator)
        case .leaveRoom: self = .leave
        case .getRoomList: self = .list
        case .getFrames: self = .frames
        default: self = .other
        }
    }

    var leadsIntoRoom: Bool {
        switch self {
        case .create, .match, .join: true
        case .leave, .list, .frames, .other: false
        }
    }

    /// Done again whenever it is sent again.
    var isRead: Bool { self == .list || self == .frames }
}

/// One request of a run.
struct CheckedRequest: Sendable {
    let asked: Asked
    let content: Content?
    /// Only of a match: what its room must be like.
    var wanted: RoomConfig?
    let firstLink: SimLink
    let firstMs: Int64
    var sends = 1
    /// So many sends were refused, and did nothing.
    var refusals = 0
    /// 1 was answered in its stead, to be sent again.
    var wasDelayed = false
    var outcome: Outcome?

    enum Outcome: Equatable, Sendable {
        case done
        case error(Int32)
        case joined(room: Int)
    }
}

/// From a connect with a token to its end.
struct CheckedRun: Sendable {
    let player: Int
    let device: Int
    let resumeToken: String
    /// When the connect that began it was sent.
    let begunMs: Int64
    /// When it was told: from then on all that was before is dead.
    let toldMs: Int64
    var requests: [UInt32: CheckedRequest] = [:]
    var inputs: [UInt32: Int] = [:]
    /// The last that the server said on a link of it.
    var lastHeardMs: Int64
    /// `disconnect` was sent.
    var isEnding = false
    /// `disconnect` was answered, a newer run told, or the player's shard lost.
    var isOver = false
    var isLost = false

    static let requestsKept = 20_000
}

/// An input that was sent.
struct CheckedInput: Sendable {
    let id: UInt32
    let sync: UInt32
    let firstLink: SimLink
    var isOnOneLink = true
    let firstMs: Int64
    var sends = 1
    var refusals = 0
    var place: Placed?

    struct Placed: Equatable, Sendable {
        let room: Int
        let sync: UInt32
        let frame: UInt32
    }
}

/// A request's content, wherever it turns up.
struct CheckedContent: Sendable {
    let player: Int
    /// Of a message to some: whom it names.
    let receivers: [Int]?
    let firstMs: Int64
    var sends = 1
    var refusals = 0
    /// Where the caller was from before it said it until it heard that it is done, and when it heard that.
    var okRoom: Int?
    var okMs: Int64 = 0
    var place: (room: Int, seq: UInt64)?
}

/// One link, from the client's end, and where it is in the room's stream.
struct CheckedLink: Sendable {
    let link: SimLink
    let device: Int
    let player: Int
    let endpoint: Int

    var isClosed = false
    var closedMs: Int64 = 0
    /// The client closed it; before that nothing was wrong with it that the checker knows of.
    var isCutByClient = false
    /// Its gateway, or the way there, was not well: what the client knows of it is not exact.
    var isDisturbed = false

    var connectId: UInt32 = 0
    var connectMs: Int64 = 0
    var resume: Resume?
    var isConnected = false
    /// When `connected` came.
    var connectedMs = Int64.max
    var run = -1

    /// Answers that are due here.
    var owed: [UInt32: Int] = [:]
    /// Numbers of inputs sent here and neither refused nor in a frame, in the order of sending.
    var inputs: [Int] = []

    // The stream.
    var room = -1
    var seq: UInt64 = 0
    /// What of it was before this was before the stream that the client has.
    var base: UInt64 = 0
    /// Since when it has had the stream without a break.
    var sinceMs: Int64 = 0
    /// The seat call that led into the room.
    var joinedBy: UInt32 = 0
    var isSpectator = false
    var infoSeq: UInt64 = 0
    var roster = Roster()
    /// The running frame sync as told here; 0: none.
    var sync: UInt32 = 0
    var lastSync: UInt32 = 0
    var frame: UInt32 = 0
    var toldMs: Int64 = 0
    /// Events since the last frame.
    var unplaced: [UInt64] = []
    /// The seat ended while the client was away: the event that says how must come next. The room's id.
    var awaitsEnd: String?

    init(link: SimLink, device: Int, player: Int, endpoint: Int) {
        self.link = link
        self.device = device
        self.player = player
        self.endpoint = endpoint
    }

    mutating func begin(room: Int, seq: UInt64, nowMs: Int64) {
        self.room = room
        self.seq = seq
        base = seq
        infoSeq = seq
        sinceMs = nowMs
        sync = 0
        lastSync = 0
        frame = 0
        toldMs = 0
        unplaced = []
        inputs = []
        awaitsEnd = nil
    }

    mutating func leaveRoom() {
        room = -1
        sync = 0
        frame = 0
        unplaced = []
        inputs = []
        roster = Roster()
    }
}
