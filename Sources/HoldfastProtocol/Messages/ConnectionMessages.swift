/// `Ok` of `holdfast.proto`.
public struct Ok: WireMessage {
    private var occupied = Occupied()

    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// `ErrorReply` of `holdfast.proto`.
public struct ErrorReply: WireMessage {
    /// errors.md
    public var code: Int32 = 0
    /// for a developer to read; names the field and the limit
    public var message: String = ""
    /// with code 3 (rate limit) and 1 (try again): when it is worth it
    public var retryAfterMs: UInt32 = 0

    public init() {}

    public init(code: Int32 = 0, message: String = "", retryAfterMs: UInt32 = 0) {
        self.code = code
        self.message = message
        self.retryAfterMs = retryAfterMs
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "code", &code)
        try visitor.field(2, "message", &message)
        try visitor.field(3, "retryAfterMs", &retryAfterMs)
    }
}

/// `Connect` of `holdfast.proto`.
public struct Connect: WireMessage {
    /// JWT, see auth.md. Required unless `resume` is given and still valid
    public var token: String = ""
    public var resume: Resume? = nil
    /// free text for logs, e.g. "swift/1.0 iOS 18", at most 128 bytes
    public var client: String = ""

    public init() {}

    public init(token: String = "", resume: Resume? = nil, client: String = "") {
        self.token = token
        self.resume = resume
        self.client = client
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "token", &token)
        try visitor.field(2, "resume", &resume)
        try visitor.field(3, "client", &client)
    }
}

/// `Resume` of `holdfast.proto`.
public struct Resume: WireMessage {
    /// from Connected
    public var resumeToken: String = ""
    /// the largest of: seqs seen in this room, `roomSeq` of its roomJoined, `roomSeq` of a connected with
    /// `roomRestarted`
    public var roomSeq: UInt64 = 0
    public var sessions: [SessionPosition] = []
    /// the room that `room_seq` counts in
    public var roomId: String = ""
    /// the frame sync that `frame_id` belongs to; 0: none
    public var frameSyncId: UInt32 = 0
    /// the last frame that the client has without a gap
    public var frameId: UInt32 = 0

    public init() {}

    public init(
        resumeToken: String = "", roomSeq: UInt64 = 0, sessions: [SessionPosition] = [], roomId: String = "",
        frameSyncId: UInt32 = 0, frameId: UInt32 = 0
    ) {
        self.resumeToken = resumeToken
        self.roomSeq = roomSeq
        self.sessions = sessions
        self.roomId = roomId
        self.frameSyncId = frameSyncId
        self.frameId = frameId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "resumeToken", &resumeToken)
        try visitor.field(2, "roomSeq", &roomSeq)
        try visitor.field(4, "sessions", &sessions)
        try visitor.field(5, "roomId", &roomId)
        try visitor.field(6, "frameSyncId", &frameSyncId)
        try visitor.field(7, "frameId", &frameId)
    }
}

/// `SessionPosition` of `holdfast.proto`.
public struct SessionPosition: WireMessage {
    public var sessionId: String = ""
    public var seq: UInt64 = 0

    public init() {}

    public init(sessionId: String = "", seq: UInt64 = 0) {
        self.sessionId = sessionId
        self.seq = seq
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "sessionId", &sessionId)
        try visitor.field(2, "seq", &seq)
    }
}

/// `Connected` of `holdfast.proto`.
public struct Connected: WireMessage {
    public var playerId: String = ""
    /// the same for the whole run
    public var resumeToken: String = ""
    /// true: the run goes on
    public var resumed: Bool = false
    /// ms since 1970
    public var serverTime: Int64 = 0
    /// how often this server pings
    public var heartbeatMs: UInt32 = 0
    public var resumeWindowMs: UInt32 = 0
    /// present when the player is in a room: its state at `room_seq`
    public var room: RoomInfo? = nil
    public var sessions: [SessionInfo] = []
    /// running battle of the room; for its owner also the open request
    public var battle: BattleInfo? = nil
    public var node: String = ""
    public var roomSeq: UInt64 = 0
    /// false: the events between the client's position and `room_seq` follow, already counted in `room`. true: they are
    /// not kept (or the client gave no position); the next event comes after `room_seq`.
    public var roomRestarted: Bool = false
    /// present while frame sync runs
    public var frameSync: FrameSyncInfo? = nil
    /// newest one, when the client gave no usable frame position
    public var snapshot: Snapshot? = nil

    public init() {}

    public init(
        playerId: String = "", resumeToken: String = "", resumed: Bool = false, serverTime: Int64 = 0,
        heartbeatMs: UInt32 = 0, resumeWindowMs: UInt32 = 0, room: RoomInfo? = nil, sessions: [SessionInfo] = [],
        battle: BattleInfo? = nil, node: String = "", roomSeq: UInt64 = 0, roomRestarted: Bool = false,
        frameSync: FrameSyncInfo? = nil, snapshot: Snapshot? = nil
    ) {
        self.playerId = playerId
        self.resumeToken = resumeToken
        self.resumed = resumed
        self.serverTime = serverTime
        self.heartbeatMs = heartbeatMs
        self.resumeWindowMs = resumeWindowMs
        self.room = room
        self.sessions = sessions
        self.battle = battle
        self.node = node
        self.roomSeq = roomSeq
        self.roomRestarted = roomRestarted
        self.frameSync = frameSync
        self.snapshot = snapshot
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
        try visitor.field(2, "resumeToken", &resumeToken)
        try visitor.field(3, "resumed", &resumed)
        try visitor.field(4, "serverTime", &serverTime)
        try visitor.field(5, "heartbeatMs", &heartbeatMs)
        try visitor.field(6, "resumeWindowMs", &resumeWindowMs)
        try visitor.field(7, "room", &room)
        try visitor.field(8, "sessions", &sessions)
        try visitor.field(9, "battle", &battle)
        try visitor.field(10, "node", &node)
        try visitor.field(11, "roomSeq", &roomSeq)
        try visitor.field(13, "roomRestarted", &roomRestarted)
        try visitor.field(14, "frameSync", &frameSync)
        try visitor.field(15, "snapshot", &snapshot)
    }
}

/// `Disconnect` of `holdfast.proto`.
public struct Disconnect: WireMessage {
    private var occupied = Occupied()

    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// `Disconnected` of `holdfast.proto`.
public struct Disconnected: WireMessage {
    public var code: Int32 = 0
    public var message: String = ""
    public var mayReconnect: Bool = false

    public init() {}

    public init(code: Int32 = 0, message: String = "", mayReconnect: Bool = false) {
        self.code = code
        self.message = message
        self.mayReconnect = mayReconnect
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "code", &code)
        try visitor.field(2, "message", &message)
        try visitor.field(3, "mayReconnect", &mayReconnect)
    }
}

/// `ServiceError` of `holdfast.proto`.
public struct ServiceError: WireMessage {
    public var code: Int32 = 0
    public var message: String = ""

    public init() {}

    public init(code: Int32 = 0, message: String = "") {
        self.code = code
        self.message = message
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "code", &code)
        try visitor.field(2, "message", &message)
    }
}

/// `Ping` of `holdfast.proto`.
public struct Ping: WireMessage {
    public var clientTime: Int64 = 0

    public init() {}

    public init(clientTime: Int64 = 0) {
        self.clientTime = clientTime
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "clientTime", &clientTime)
    }
}

/// `Pong` of `holdfast.proto`.
public struct Pong: WireMessage {
    public var clientTime: Int64 = 0
    public var serverTime: Int64 = 0

    public init() {}

    public init(clientTime: Int64 = 0, serverTime: Int64 = 0) {
        self.clientTime = clientTime
        self.serverTime = serverTime
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "clientTime", &clientTime)
        try visitor.field(2, "serverTime", &serverTime)
    }
}
