/// `RoomConfig` of `holdfast.proto`.
public struct RoomConfig: WireMessage {
    /// 1...20, required
    public var maxPlayerCount: UInt32 = 0
    /// required, at most 32 bytes
    public var type: String = ""
    /// at most 64 bytes
    public var name: String = ""
    /// at most 2048 bytes
    public var customProperties: String = ""
    /// at most 3 pairs, key 32 bytes, value 64 bytes
    public var matchParams: [String: String] = [:]
    /// frames a second, 1...60; 0 = the server's default (15)
    public var frameRate: UInt32 = 0
    /// may join (and be matched) while frame sync runs
    public var allowLateJoin: Bool = false
    /// refuse leave, kick and property changes meanwhile (26)
    public var lockedDuringFrameSync: Bool = false
    /// not listed, not matched; joined by id
    public var hidden: Bool = false
    /// 0...100000; 0 = no spectators
    public var maxSpectatorCount: UInt32 = 0
    /// at most 64 bytes; needed to join
    public var password: String = ""

    public init() {}

    public init(
        maxPlayerCount: UInt32 = 0, type: String = "", name: String = "", customProperties: String = "",
        matchParams: [String: String] = [:], frameRate: UInt32 = 0, allowLateJoin: Bool = false,
        lockedDuringFrameSync: Bool = false, hidden: Bool = false, maxSpectatorCount: UInt32 = 0,
        password: String = ""
    ) {
        self.maxPlayerCount = maxPlayerCount
        self.type = type
        self.name = name
        self.customProperties = customProperties
        self.matchParams = matchParams
        self.frameRate = frameRate
        self.allowLateJoin = allowLateJoin
        self.lockedDuringFrameSync = lockedDuringFrameSync
        self.hidden = hidden
        self.maxSpectatorCount = maxSpectatorCount
        self.password = password
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "maxPlayerCount", &maxPlayerCount)
        try visitor.field(2, "type", &type)
        try visitor.field(3, "name", &name)
        try visitor.field(4, "customProperties", &customProperties)
        try visitor.field(5, "matchParams", &matchParams)
        try visitor.field(6, "frameRate", &frameRate)
        try visitor.field(7, "allowLateJoin", &allowLateJoin)
        try visitor.field(8, "lockedDuringFrameSync", &lockedDuringFrameSync)
        try visitor.field(9, "hidden", &hidden)
        try visitor.field(10, "maxSpectatorCount", &maxSpectatorCount)
        try visitor.field(11, "password", &password)
    }
}

/// properties ≤ 2048 bytes
public struct PlayerConfig: WireMessage {
    public var customStatus: Int32 = 0
    public var customProperties: String = ""

    public init() {}

    public init(customStatus: Int32 = 0, customProperties: String = "") {
        self.customStatus = customStatus
        self.customProperties = customProperties
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "customStatus", &customStatus)
        try visitor.field(2, "customProperties", &customProperties)
    }
}

/// `PlayerInfo` of `holdfast.proto`.
public struct PlayerInfo: WireMessage {
    public var id: String = ""
    public var status: UInt32 = 0
    public var customStatus: Int32 = 0
    /// status: 0 offline, 1 online
    public var customProperties: String = ""

    public init() {}

    public init(id: String = "", status: UInt32 = 0, customStatus: Int32 = 0, customProperties: String = "") {
        self.id = id
        self.status = status
        self.customStatus = customStatus
        self.customProperties = customProperties
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "id", &id)
        try visitor.field(2, "status", &status)
        try visitor.field(3, "customStatus", &customStatus)
        try visitor.field(4, "customProperties", &customProperties)
    }
}

/// players stand in seat order
public struct RoomInfo: WireMessage {
    public var id: String = ""
    public var name: String = ""
    public var type: String = ""
    public var ownerId: String = ""
    /// 0 idle, 1 frame sync runs
    public var status: UInt32 = 0
    public var customProperties: String = ""
    public var maxPlayerCount: UInt32 = 0
    public var players: [PlayerInfo] = []
    /// seconds since 1970
    public var createTime: Int64 = 0
    public var frameRate: UInt32 = 0
    public var spectatorCount: UInt32 = 0
    public var maxSpectatorCount: UInt32 = 0
    public var allowLateJoin: Bool = false
    public var hasPassword: Bool = false
    public var hidden: Bool = false
    public var matchParams: [String: String] = [:]
    public var lockedDuringFrameSync: Bool = false

    public init() {}

    public init(
        id: String = "", name: String = "", type: String = "", ownerId: String = "", status: UInt32 = 0,
        customProperties: String = "", maxPlayerCount: UInt32 = 0, players: [PlayerInfo] = [],
        createTime: Int64 = 0, frameRate: UInt32 = 0, spectatorCount: UInt32 = 0, maxSpectatorCount: UInt32 = 0,
        allowLateJoin: Bool = false, hasPassword: Bool = false, hidden: Bool = false,
        matchParams: [String: String] = [:], lockedDuringFrameSync: Bool = false
    ) {
        self.id = id
        self.name = name
        self.type = type
        self.ownerId = ownerId
        self.status = status
        self.customProperties = customProperties
        self.maxPlayerCount = maxPlayerCount
        self.players = players
        self.createTime = createTime
        self.frameRate = frameRate
        self.spectatorCount = spectatorCount
        self.maxSpectatorCount = maxSpectatorCount
        self.allowLateJoin = allowLateJoin
        self.hasPassword = hasPassword
        self.hidden = hidden
        self.matchParams = matchParams
        self.lockedDuringFrameSync = lockedDuringFrameSync
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "id", &id)
        try visitor.field(2, "name", &name)
        try visitor.field(3, "type", &type)
        try visitor.field(4, "ownerId", &ownerId)
        try visitor.field(5, "status", &status)
        try visitor.field(6, "customProperties", &customProperties)
        try visitor.field(7, "maxPlayerCount", &maxPlayerCount)
        try visitor.field(8, "players", &players)
        try visitor.field(9, "createTime", &createTime)
        try visitor.field(10, "frameRate", &frameRate)
        try visitor.field(11, "spectatorCount", &spectatorCount)
        try visitor.field(12, "maxSpectatorCount", &maxSpectatorCount)
        try visitor.field(13, "allowLateJoin", &allowLateJoin)
        try visitor.field(14, "hasPassword", &hasPassword)
        try visitor.field(15, "hidden", &hidden)
        try visitor.field(16, "matchParams", &matchParams)
        try visitor.field(17, "lockedDuringFrameSync", &lockedDuringFrameSync)
    }
}

/// `RoomSummary` of `holdfast.proto`.
public struct RoomSummary: WireMessage {
    public var id: String = ""
    public var name: String = ""
    public var type: String = ""
    public var status: UInt32 = 0
    public var customProperties: String = ""
    public var maxPlayerCount: UInt32 = 0
    public var playerCount: UInt32 = 0
    public var createTime: Int64 = 0
    public var hasPassword: Bool = false
    public var spectatorCount: UInt32 = 0

    public init() {}

    public init(
        id: String = "", name: String = "", type: String = "", status: UInt32 = 0, customProperties: String = "",
        maxPlayerCount: UInt32 = 0, playerCount: UInt32 = 0, createTime: Int64 = 0, hasPassword: Bool = false,
        spectatorCount: UInt32 = 0
    ) {
        self.id = id
        self.name = name
        self.type = type
        self.status = status
        self.customProperties = customProperties
        self.maxPlayerCount = maxPlayerCount
        self.playerCount = playerCount
        self.createTime = createTime
        self.hasPassword = hasPassword
        self.spectatorCount = spectatorCount
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "id", &id)
        try visitor.field(2, "name", &name)
        try visitor.field(3, "type", &type)
        try visitor.field(4, "status", &status)
        try visitor.field(5, "customProperties", &customProperties)
        try visitor.field(6, "maxPlayerCount", &maxPlayerCount)
        try visitor.field(7, "playerCount", &playerCount)
        try visitor.field(8, "createTime", &createTime)
        try visitor.field(9, "hasPassword", &hasPassword)
        try visitor.field(10, "spectatorCount", &spectatorCount)
    }
}

/// `CreateRoom` of `holdfast.proto`.
public struct CreateRoom: WireMessage {
    public var room: RoomConfig? = nil
    public var player: PlayerConfig? = nil

    public init() {}

    public init(room: RoomConfig? = nil, player: PlayerConfig? = nil) {
        self.room = room
        self.player = player
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "room", &room)
        try visitor.field(2, "player", &player)
    }
}

/// `MatchRoom` of `holdfast.proto`.
public struct MatchRoom: WireMessage {
    public var room: RoomConfig? = nil
    public var player: PlayerConfig? = nil
    public var timeoutMs: UInt32 = 0

    public init() {}

    public init(room: RoomConfig? = nil, player: PlayerConfig? = nil, timeoutMs: UInt32 = 0) {
        self.room = room
        self.player = player
        self.timeoutMs = timeoutMs
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "room", &room)
        try visitor.field(2, "player", &player)
        try visitor.field(3, "timeoutMs", &timeoutMs)
    }
}

/// `CancelMatch` of `holdfast.proto`.
public struct CancelMatch: WireMessage {
    private var occupied = Occupied()

    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// `JoinRoom` of `holdfast.proto`.
public struct JoinRoom: WireMessage {
    public var roomId: String = ""
    public var player: PlayerConfig? = nil
    public var asSpectator: Bool = false
    public var password: String = ""

    public init() {}

    public init(
        roomId: String = "", player: PlayerConfig? = nil, asSpectator: Bool = false, password: String = ""
    ) {
        self.roomId = roomId
        self.player = player
        self.asSpectator = asSpectator
        self.password = password
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "player", &player)
        try visitor.field(3, "asSpectator", &asSpectator)
        try visitor.field(4, "password", &password)
    }
}

/// `LeaveRoom` of `holdfast.proto`.
public struct LeaveRoom: WireMessage {
    private var occupied = Occupied()

    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}

/// `RoomJoined` of `holdfast.proto`.
public struct RoomJoined: WireMessage {
    /// reply to createRoom, matchRoom, joinRoom
    public var room: RoomInfo? = nil
    /// at least 1 (creating a room takes a position); the stream goes on after it
    public var roomSeq: UInt64 = 0
    /// present when frame sync runs (late join, spectating)
    public var frameSync: FrameSyncInfo? = nil
    /// newest snapshot; frames after it follow
    public var snapshot: Snapshot? = nil
    /// the room's running battle
    public var battle: BattleInfo? = nil

    public init() {}

    public init(
        room: RoomInfo? = nil, roomSeq: UInt64 = 0, frameSync: FrameSyncInfo? = nil, snapshot: Snapshot? = nil,
        battle: BattleInfo? = nil
    ) {
        self.room = room
        self.roomSeq = roomSeq
        self.frameSync = frameSync
        self.snapshot = snapshot
        self.battle = battle
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "room", &room)
        try visitor.field(2, "roomSeq", &roomSeq)
        try visitor.field(3, "frameSync", &frameSync)
        try visitor.field(4, "snapshot", &snapshot)
        try visitor.field(5, "battle", &battle)
    }
}

/// `GetRoomList` of `holdfast.proto`.
public struct GetRoomList: WireMessage {
    /// "" = all types
    public var roomType: String = ""
    /// "" or "0" starts; then what the last page said
    public var offset: String = ""
    /// 0 → 20, at most 100
    public var limit: UInt32 = 0
    /// rooms with a free spectator's place instead, full and running ones too
    public var toSpectate: Bool = false

    public init() {}

    public init(roomType: String = "", offset: String = "", limit: UInt32 = 0, toSpectate: Bool = false) {
        self.roomType = roomType
        self.offset = offset
        self.limit = limit
        self.toSpectate = toSpectate
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomType", &roomType)
        try visitor.field(2, "offset", &offset)
        try visitor.field(3, "limit", &limit)
        try visitor.field(4, "toSpectate", &toSpectate)
    }
}

/// `RoomList` of `holdfast.proto`.
public struct RoomList: WireMessage {
    public var rooms: [RoomSummary] = []
    public var offset: String = ""
    public var hasMore: Bool = false

    public init() {}

    public init(rooms: [RoomSummary] = [], offset: String = "", hasMore: Bool = false) {
        self.rooms = rooms
        self.offset = offset
        self.hasMore = hasMore
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "rooms", &rooms)
        try visitor.field(2, "offset", &offset)
        try visitor.field(3, "hasMore", &hasMore)
    }
}

/// Optional fields: absent means unchanged.
public struct UpdateRoomProperties: WireMessage {
    public var name: String? = nil
    public var customProperties: String? = nil

    public init() {}

    public init(name: String? = nil, customProperties: String? = nil) {
        self.name = name
        self.customProperties = customProperties
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "name", &name)
        try visitor.field(2, "customProperties", &customProperties)
    }
}

/// `UpdatePlayerCustomStatus` of `holdfast.proto`.
public struct UpdatePlayerCustomStatus: WireMessage {
    public var status: Int32 = 0

    public init() {}

    public init(status: Int32 = 0) {
        self.status = status
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "status", &status)
    }
}

/// `UpdatePlayerCustomProperties` of `holdfast.proto`.
public struct UpdatePlayerCustomProperties: WireMessage {
    public var properties: String = ""

    public init() {}

    public init(properties: String = "") {
        self.properties = properties
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "properties", &properties)
    }
}

/// `KickRoomPlayer` of `holdfast.proto`.
public struct KickRoomPlayer: WireMessage {
    public var playerId: String = ""
    public var ban: Bool = false

    public init() {}

    public init(playerId: String = "", ban: Bool = false) {
        self.playerId = playerId
        self.ban = ban
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
        try visitor.field(2, "ban", &ban)
    }
}

/// `TransferRoomOwner` of `holdfast.proto`.
public struct TransferRoomOwner: WireMessage {
    public var playerId: String = ""

    public init() {}

    public init(playerId: String = "") {
        self.playerId = playerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
    }
}

/// `DismissRoom` of `holdfast.proto`.
public struct DismissRoom: WireMessage {
    private var occupied = Occupied()

    public init() {}
    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {}
}
