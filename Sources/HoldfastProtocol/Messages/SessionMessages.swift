/// ms
public struct ConnectionInfo: WireMessage {
    public var connectionId: String = ""
    public var creationTime: Int64 = 0
    public var data: String = ""
    public var playerId: String = ""

    public init() {}

    public init(
        connectionId: String = "", creationTime: Int64 = 0, data: String = "", playerId: String = ""
    ) {
        self.connectionId = connectionId
        self.creationTime = creationTime
        self.data = data
        self.playerId = playerId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "connectionId", &connectionId)
        try visitor.field(2, "creationTime", &creationTime)
        try visitor.field(3, "data", &data)
        try visitor.field(4, "playerId", &playerId)
    }
}

/// `SessionInfo` of `holdfast.proto`.
public struct SessionInfo: WireMessage {
    public var sessionId: String = ""
    public var own: ConnectionInfo? = nil
    /// at most 100; empty on a resume from a kept position
    public var connections: [ConnectionInfo] = []
    public var seq: UInt64 = 0
    public var role: String = ""
    /// the rest follows in sessionConnections, before any event
    public var more: Bool = false
    /// on a resume: the position was not kept, signals of the gap are lost
    public var restarted: Bool = false

    public init() {}

    public init(
        sessionId: String = "", own: ConnectionInfo? = nil, connections: [ConnectionInfo] = [], seq: UInt64 = 0,
        role: String = "", more: Bool = false, restarted: Bool = false
    ) {
        self.sessionId = sessionId
        self.own = own
        self.connections = connections
        self.seq = seq
        self.role = role
        self.more = more
        self.restarted = restarted
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "sessionId", &sessionId)
        try visitor.field(2, "self", &own)
        try visitor.field(3, "connections", &connections)
        try visitor.field(4, "seq", &seq)
        try visitor.field(5, "role", &role)
        try visitor.field(6, "more", &more)
        try visitor.field(7, "restarted", &restarted)
    }
}

/// `SessionConnections` of `holdfast.proto`.
public struct SessionConnections: WireMessage {
    public var sessionId: String = ""
    public var connections: [ConnectionInfo] = []
    public var more: Bool = false

    public init() {}

    public init(sessionId: String = "", connections: [ConnectionInfo] = [], more: Bool = false) {
        self.sessionId = sessionId
        self.connections = connections
        self.more = more
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "sessionId", &sessionId)
        try visitor.field(2, "connections", &connections)
        try visitor.field(3, "more", &more)
    }
}

/// a JWT for one session
public struct JoinSession: WireMessage {
    public var token: String = ""

    public init() {}

    public init(token: String = "") {
        self.token = token
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "token", &token)
    }
}

/// `SessionJoined` of `holdfast.proto`.
public struct SessionJoined: WireMessage {
    public var session: SessionInfo? = nil

    public init() {}

    public init(session: SessionInfo? = nil) {
        self.session = session
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "session", &session)
    }
}

/// `LeaveSession` of `holdfast.proto`.
public struct LeaveSession: WireMessage {
    public var sessionId: String = ""

    public init() {}

    public init(sessionId: String = "") {
        self.sessionId = sessionId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "sessionId", &sessionId)
    }
}

/// `SendSignal` of `holdfast.proto`.
public struct SendSignal: WireMessage {
    public var sessionId: String = ""
    public var type: String = ""
    public var data: String = ""
    public var toConnectionId: String = ""

    public init() {}

    public init(sessionId: String = "", type: String = "", data: String = "", toConnectionId: String = "") {
        self.sessionId = sessionId
        self.type = type
        self.data = data
        self.toConnectionId = toConnectionId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "sessionId", &sessionId)
        try visitor.field(2, "type", &type)
        try visitor.field(3, "data", &data)
        try visitor.field(4, "toConnectionId", &toConnectionId)
    }
}

/// from absent: the server
public struct SignalReceived: WireMessage {
    public var sessionId: String = ""
    public var type: String = ""
    public var data: String = ""
    public var from: ConnectionInfo? = nil

    public init() {}

    public init(sessionId: String = "", type: String = "", data: String = "", from: ConnectionInfo? = nil) {
        self.sessionId = sessionId
        self.type = type
        self.data = data
        self.from = from
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "sessionId", &sessionId)
        try visitor.field(2, "type", &type)
        try visitor.field(3, "data", &data)
        try visitor.field(4, "from", &from)
    }
}

/// `ConnectionEvent` of `holdfast.proto`.
public struct ConnectionEvent: WireMessage {
    public var sessionId: String = ""
    public var connection: ConnectionInfo? = nil
    public var reason: String = ""

    public init() {}

    public init(sessionId: String = "", connection: ConnectionInfo? = nil, reason: String = "") {
        self.sessionId = sessionId
        self.connection = connection
        self.reason = reason
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "sessionId", &sessionId)
        try visitor.field(2, "connection", &connection)
        try visitor.field(3, "reason", &reason)
    }
}

/// `ForceDisconnect` of `holdfast.proto`.
public struct ForceDisconnect: WireMessage {
    public var sessionId: String = ""
    public var connectionId: String = ""

    public init() {}

    public init(sessionId: String = "", connectionId: String = "") {
        self.sessionId = sessionId
        self.connectionId = connectionId
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.field(1, "sessionId", &sessionId)
        try visitor.field(2, "connectionId", &connectionId)
    }
}
