/// seconds; ≤ 2048 bytes
public struct BattleConfig: WireMessage {
    public var duration: UInt32 = 0
    public var needResponse: Bool = false
    public var extensionInfo: String = ""

    public init() {}

    public init(duration: UInt32 = 0, needResponse: Bool = false, extensionInfo: String = "") {
        self.duration = duration
        self.needResponse = needResponse
        self.extensionInfo = extensionInfo
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "duration", &duration)
        try visitor.field(2, "needResponse", &needResponse)
        try visitor.field(3, "extensionInfo", &extensionInfo)
    }
}

/// `BattleUser` of `holdfast.proto`.
public struct BattleUser: WireMessage {
    public var roomId: String = ""
    public var userId: String = ""
    public var userName: String = ""
    public var avatarUrl: String = ""
    public var score: UInt64 = 0

    public init() {}

    public init(
        roomId: String = "", userId: String = "", userName: String = "", avatarUrl: String = "", score: UInt64 = 0
    ) {
        self.roomId = roomId
        self.userId = userId
        self.userName = userName
        self.avatarUrl = avatarUrl
        self.score = score
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "userId", &userId)
        try visitor.field(3, "userName", &userName)
        try visitor.field(4, "avatarUrl", &avatarUrl)
        try visitor.field(5, "score", &score)
    }
}

/// `BattleInfo` of `holdfast.proto`.
public struct BattleInfo: WireMessage {
    public var battleId: String = ""
    public var config: BattleConfig? = nil
    public var inviter: BattleUser? = nil
    public var invitees: [BattleUser] = []
    public var startTime: Int64 = 0
    /// seconds since 1970; 0 until started
    public var endTime: Int64 = 0
    /// the server's now, for countdowns
    public var serverTimeMs: Int64 = 0
    /// when an open invitation times out
    public var expiresAtMs: Int64 = 0
    /// 0 requested, 1 running, 2 ended
    public var state: UInt32 = 0

    public init() {}

    public init(
        battleId: String = "", config: BattleConfig? = nil, inviter: BattleUser? = nil,
        invitees: [BattleUser] = [], startTime: Int64 = 0, endTime: Int64 = 0, serverTimeMs: Int64 = 0,
        expiresAtMs: Int64 = 0, state: UInt32 = 0
    ) {
        self.battleId = battleId
        self.config = config
        self.inviter = inviter
        self.invitees = invitees
        self.startTime = startTime
        self.endTime = endTime
        self.serverTimeMs = serverTimeMs
        self.expiresAtMs = expiresAtMs
        self.state = state
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battleId", &battleId)
        try visitor.field(2, "config", &config)
        try visitor.field(3, "inviter", &inviter)
        try visitor.field(4, "invitees", &invitees)
        try visitor.field(5, "startTime", &startTime)
        try visitor.field(6, "endTime", &endTime)
        try visitor.field(7, "serverTimeMs", &serverTimeMs)
        try visitor.field(8, "expiresAtMs", &expiresAtMs)
        try visitor.field(9, "state", &state)
    }
}

/// seconds
public struct RequestBattle: WireMessage {
    public var config: BattleConfig? = nil
    public var userIds: [String] = []
    public var timeout: UInt32 = 0

    public init() {}

    public init(config: BattleConfig? = nil, userIds: [String] = [], timeout: UInt32 = 0) {
        self.config = config
        self.userIds = userIds
        self.timeout = timeout
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "config", &config)
        try visitor.field(2, "userIds", &userIds)
        try visitor.field(3, "timeout", &timeout)
    }
}

/// user id → battle code
public struct BattleRequested: WireMessage {
    public var battle: BattleInfo? = nil
    public var results: [String: Int32] = [:]

    public init() {}

    public init(battle: BattleInfo? = nil, results: [String: Int32] = [:]) {
        self.battle = battle
        self.results = results
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battle", &battle)
        try visitor.field(2, "results", &results)
    }
}

/// `CancelBattleRequest` of `holdfast.proto`.
public struct CancelBattleRequest: WireMessage {
    public var battleId: String = ""
    public var userIds: [String] = []

    public init() {}

    public init(battleId: String = "", userIds: [String] = []) {
        self.battleId = battleId
        self.userIds = userIds
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battleId", &battleId)
        try visitor.field(2, "userIds", &userIds)
    }
}

/// `AcceptBattle` of `holdfast.proto`.
public struct AcceptBattle: WireMessage {
    public var battleId: String = ""

    public init() {}

    public init(battleId: String = "") {
        self.battleId = battleId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battleId", &battleId)
    }
}

/// `RejectBattle` of `holdfast.proto`.
public struct RejectBattle: WireMessage {
    public var battleId: String = ""

    public init() {}

    public init(battleId: String = "") {
        self.battleId = battleId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battleId", &battleId)
    }
}

/// `ExitBattle` of `holdfast.proto`.
public struct ExitBattle: WireMessage {
    public var battleId: String = ""

    public init() {}

    public init(battleId: String = "") {
        self.battleId = battleId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battleId", &battleId)
    }
}

/// `BattleRequestEvent` of `holdfast.proto`.
public struct BattleRequestEvent: WireMessage {
    public var battle: BattleInfo? = nil
    public var inviter: BattleUser? = nil
    public var invitee: BattleUser? = nil

    public init() {}

    public init(battle: BattleInfo? = nil, inviter: BattleUser? = nil, invitee: BattleUser? = nil) {
        self.battle = battle
        self.inviter = inviter
        self.invitee = invitee
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battle", &battle)
        try visitor.field(2, "inviter", &inviter)
        try visitor.field(3, "invitee", &invitee)
    }
}

/// `BattleStarted` of `holdfast.proto`.
public struct BattleStarted: WireMessage {
    public var battle: BattleInfo? = nil

    public init() {}

    public init(battle: BattleInfo? = nil) {
        self.battle = battle
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battle", &battle)
    }
}

/// `BattleUserEvent` of `holdfast.proto`.
public struct BattleUserEvent: WireMessage {
    public var battleId: String = ""
    public var user: BattleUser? = nil

    public init() {}

    public init(battleId: String = "", user: BattleUser? = nil) {
        self.battleId = battleId
        self.user = user
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battleId", &battleId)
        try visitor.field(2, "user", &user)
    }
}

/// `BattleScoreChanged` of `holdfast.proto`.
public struct BattleScoreChanged: WireMessage {
    public var battleId: String = ""
    public var users: [BattleUser] = []

    public init() {}

    public init(battleId: String = "", users: [BattleUser] = []) {
        self.battleId = battleId
        self.users = users
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battleId", &battleId)
        try visitor.field(2, "users", &users)
    }
}

/// 0 time over, 1 all others left, 2 administrator
public struct BattleEnded: WireMessage {
    public var battle: BattleInfo? = nil
    public var reason: Int32 = 0

    public init() {}

    public init(battle: BattleInfo? = nil, reason: Int32 = 0) {
        self.battle = battle
        self.reason = reason
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "battle", &battle)
        try visitor.field(2, "reason", &reason)
    }
}
