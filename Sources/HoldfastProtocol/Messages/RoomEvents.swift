/// `PlayerEntered` of `holdfast.proto`.
public struct PlayerEntered: WireMessage {
    public var roomId: String = ""
    public var player: PlayerInfo? = nil
    public var roomOwnerId: String = ""

    public init() {}

    public init(roomId: String = "", player: PlayerInfo? = nil, roomOwnerId: String = "") {
        self.roomId = roomId
        self.player = player
        self.roomOwnerId = roomOwnerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "player", &player)
        try visitor.field(3, "roomOwnerId", &roomOwnerId)
    }
}

/// `PlayerLeft` of `holdfast.proto`.
public struct PlayerLeft: WireMessage {
    public var roomId: String = ""
    public var roomOwnerId: String = ""
    public var playerId: String = ""

    public init() {}

    public init(roomId: String = "", roomOwnerId: String = "", playerId: String = "") {
        self.roomId = roomId
        self.roomOwnerId = roomOwnerId
        self.playerId = playerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "roomOwnerId", &roomOwnerId)
        try visitor.field(3, "playerId", &playerId)
    }
}

/// `PlayerOffline` of `holdfast.proto`.
public struct PlayerOffline: WireMessage {
    public var roomId: String = ""
    public var roomOwnerId: String = ""
    public var playerId: String = ""

    public init() {}

    public init(roomId: String = "", roomOwnerId: String = "", playerId: String = "") {
        self.roomId = roomId
        self.roomOwnerId = roomOwnerId
        self.playerId = playerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "roomOwnerId", &roomOwnerId)
        try visitor.field(3, "playerId", &playerId)
    }
}

/// `PlayerOnline` of `holdfast.proto`.
public struct PlayerOnline: WireMessage {
    public var roomId: String = ""
    public var roomOwnerId: String = ""
    public var playerId: String = ""

    public init() {}

    public init(roomId: String = "", roomOwnerId: String = "", playerId: String = "") {
        self.roomId = roomId
        self.roomOwnerId = roomOwnerId
        self.playerId = playerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "roomOwnerId", &roomOwnerId)
        try visitor.field(3, "playerId", &playerId)
    }
}

/// `PlayerKicked` of `holdfast.proto`.
public struct PlayerKicked: WireMessage {
    public var roomId: String = ""
    public var playerId: String = ""
    public var roomOwnerId: String = ""

    public init() {}

    public init(roomId: String = "", playerId: String = "", roomOwnerId: String = "") {
        self.roomId = roomId
        self.playerId = playerId
        self.roomOwnerId = roomOwnerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "playerId", &playerId)
        try visitor.field(3, "roomOwnerId", &roomOwnerId)
    }
}

/// `RoomOwnerChanged` of `holdfast.proto`.
public struct RoomOwnerChanged: WireMessage {
    public var roomId: String = ""
    public var roomOwnerId: String = ""

    public init() {}

    public init(roomId: String = "", roomOwnerId: String = "") {
        self.roomId = roomId
        self.roomOwnerId = roomOwnerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "roomOwnerId", &roomOwnerId)
    }
}

/// `RoomPropertiesChanged` of `holdfast.proto`.
public struct RoomPropertiesChanged: WireMessage {
    public var id: String = ""
    public var name: String = ""
    public var customProperties: String = ""

    public init() {}

    public init(id: String = "", name: String = "", customProperties: String = "") {
        self.id = id
        self.name = name
        self.customProperties = customProperties
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "id", &id)
        try visitor.field(2, "name", &name)
        try visitor.field(3, "customProperties", &customProperties)
    }
}

/// `PlayerCustomStatusChanged` of `holdfast.proto`.
public struct PlayerCustomStatusChanged: WireMessage {
    public var playerId: String = ""
    public var status: Int32 = 0

    public init() {}

    public init(playerId: String = "", status: Int32 = 0) {
        self.playerId = playerId
        self.status = status
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
        try visitor.field(2, "status", &status)
    }
}

/// `PlayerCustomPropertiesChanged` of `holdfast.proto`.
public struct PlayerCustomPropertiesChanged: WireMessage {
    public var playerId: String = ""
    public var properties: String = ""

    public init() {}

    public init(playerId: String = "", properties: String = "") {
        self.playerId = playerId
        self.properties = properties
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "playerId", &playerId)
        try visitor.field(2, "properties", &properties)
    }
}

/// 0 owner, 1 no player left, 2 administrator
public struct RoomDismissed: WireMessage {
    public var roomId: String = ""
    public var reason: Int32 = 0

    public init() {}

    public init(roomId: String = "", reason: Int32 = 0) {
        self.roomId = roomId
        self.reason = reason
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "roomId", &roomId)
        try visitor.field(2, "reason", &reason)
    }
}
