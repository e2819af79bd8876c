/// `ServerMessage` of `holdfast.proto`.
public struct ServerMessage: WireMessage {
    /// the request that this answers; 0: an event
    public var id: UInt32 = 0
    /// Position in the ordered stream that the event belongs to: the room's (room events, frames, battle events) or the
    /// session's. Starts at 1; no holes for a member except events addressed to others. 0: not part of a stream.
    public var seq: UInt64 = 0
    public var body: Body?

    public init() {}

    public init(id: UInt32 = 0, seq: UInt64 = 0, body: Body? = nil) {
        self.id = id
        self.seq = seq
        self.body = body
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.envelope(1, "id", &id)
        try visitor.envelope(2, "seq", &seq)
        try visitor.oneof(&body)
    }

    /// The one `body` that is present.
    public enum Body: WireOneof {
        case error(ErrorReply)
        case ok(Ok)
        case connected(Connected)
        case pong(Pong)
        case disconnected(Disconnected)
        case serviceError(ServiceError)
        case roomJoined(RoomJoined)
        case roomList(RoomList)
        case playerEntered(PlayerEntered)
        case playerLeft(PlayerLeft)
        case playerOffline(PlayerOffline)
        case playerOnline(PlayerOnline)
        case playerKicked(PlayerKicked)
        case roomOwnerChanged(RoomOwnerChanged)
        case roomPropertiesChanged(RoomPropertiesChanged)
        case playerCustomStatusChanged(PlayerCustomStatusChanged)
        case playerCustomPropertiesChanged(PlayerCustomPropertiesChanged)
        case roomDismissed(RoomDismissed)
        case customMessageReceived(CustomMessageReceived)
        case frameSyncStarted(FrameSyncInfo)
        case frame(Frame)
        case frameSyncStopped(FrameSyncStopped)
        case frames(Frames)
        case desyncDetected(DesyncDetected)
        case battleRequested(BattleRequested)
        case battleRequestReceived(BattleRequestEvent)
        case battleRequestCancelled(BattleRequestEvent)
        case battleRequestAccepted(BattleRequestEvent)
        case battleRequestRejected(BattleRequestEvent)
        case battleRequestTimedOut(BattleRequestEvent)
        case battleStarted(BattleStarted)
        case battleUserJoined(BattleUserEvent)
        case battleUserExited(BattleUserEvent)
        case battleScoreChanged(BattleScoreChanged)
        case battleEnded(BattleEnded)
        case sessionJoined(SessionJoined)
        case connectionCreated(ConnectionEvent)
        case connectionDestroyed(ConnectionEvent)
        case signalReceived(SignalReceived)
        case connectionReconnecting(ConnectionEvent)
        case connectionReconnected(ConnectionEvent)
        case sessionConnections(SessionConnections)

        public func write<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            switch self {
            case .error(var value): try visitor.member(3, "error", &value)
            case .ok(var value): try visitor.member(4, "ok", &value)
            case .connected(var value): try visitor.member(5, "connected", &value)
            case .pong(var value): try visitor.member(6, "pong", &value)
            case .disconnected(var value): try visitor.member(7, "disconnected", &value)
            case .serviceError(var value): try visitor.member(8, "serviceError", &value)
            case .roomJoined(var value): try visitor.member(10, "roomJoined", &value)
            case .roomList(var value): try visitor.member(11, "roomList", &value)
            case .playerEntered(var value): try visitor.member(12, "playerEntered", &value)
            case .playerLeft(var value): try visitor.member(13, "playerLeft", &value)
            case .playerOffline(var value): try visitor.member(14, "playerOffline", &value)
            case .playerOnline(var value): try visitor.member(15, "playerOnline", &value)
            case .playerKicked(var value): try visitor.member(16, "playerKicked", &value)
            case .roomOwnerChanged(var value): try visitor.member(17, "roomOwnerChanged", &value)
            case .roomPropertiesChanged(var value): try visitor.member(18, "roomPropertiesChanged", &value)
            case .playerCustomStatusChanged(var value): try visitor.member(19, "playerCustomStatusChanged", &value)
            case .playerCustomPropertiesChanged(var value):
                try visitor.member(20, "playerCustomPropertiesChanged", &value)
            case .roomDismissed(var value): try visitor.member(21, "roomDismissed", &value)
            case .customMessageReceived(var value): try visitor.member(22, "customMessageReceived", &value)
            case .frameSyncStarted(var value): try visitor.member(23, "frameSyncStarted", &value)
            case .frame(var value): try visitor.member(24, "frame", &value)
            case .frameSyncStopped(var value): try visitor.member(25, "frameSyncStopped", &value)
            case .frames(var value): try visitor.member(26, "frames", &value)
            case .desyncDetected(var value): try visitor.member(27, "desyncDetected", &value)
            case .battleRequested(var value): try visitor.member(40, "battleRequested", &value)
            case .battleRequestReceived(var value): try visitor.member(41, "battleRequestReceived", &value)
            case .battleRequestCancelled(var value): try visitor.member(42, "battleRequestCancelled", &value)
            case .battleRequestAccepted(var value): try visitor.member(43, "battleRequestAccepted", &value)
            case .battleRequestRejected(var value): try visitor.member(44, "battleRequestRejected", &value)
            case .battleRequestTimedOut(var value): try visitor.member(45, "battleRequestTimedOut", &value)
            case .battleStarted(var value): try visitor.member(46, "battleStarted", &value)
            case .battleUserJoined(var value): try visitor.member(47, "battleUserJoined", &value)
            case .battleUserExited(var value): try visitor.member(48, "battleUserExited", &value)
            case .battleScoreChanged(var value): try visitor.member(49, "battleScoreChanged", &value)
            case .battleEnded(var value): try visitor.member(50, "battleEnded", &value)
            case .sessionJoined(var value): try visitor.member(60, "sessionJoined", &value)
            case .connectionCreated(var value): try visitor.member(61, "connectionCreated", &value)
            case .connectionDestroyed(var value): try visitor.member(62, "connectionDestroyed", &value)
            case .signalReceived(var value): try visitor.member(63, "signalReceived", &value)
            case .connectionReconnecting(var value): try visitor.member(64, "connectionReconnecting", &value)
            case .connectionReconnected(var value): try visitor.member(65, "connectionReconnected", &value)
            case .sessionConnections(var value): try visitor.member(66, "sessionConnections", &value)
            }
        }

        public static func read<V: FieldVisitor>(_ visitor: inout V) throws(WireError) -> Self? {
            if visitor.matches(3, "error") {
                var value = ErrorReply()
                try visitor.member(3, "error", &value)
                return .error(value)
            }
            if visitor.matches(4, "ok") {
                var value = Ok()
                try visitor.member(4, "ok", &value)
                return .ok(value)
            }
            if visitor.matches(5, "connected") {
                var value = Connected()
                try visitor.member(5, "connected", &value)
                return .connected(value)
            }
            if visitor.matches(6, "pong") {
                var value = Pong()
                try visitor.member(6, "pong", &value)
                return .pong(value)
            }
            if visitor.matches(7, "disconnected") {
                var value = Disconnected()
                try visitor.member(7, "disconnected", &value)
                return .disconnected(value)
            }
            if visitor.matches(8, "serviceError") {
                var value = ServiceError()
                try visitor.member(8, "serviceError", &value)
                return .serviceError(value)
            }
            if visitor.matches(10, "roomJoined") {
                var value = RoomJoined()
                try visitor.member(10, "roomJoined", &value)
                return .roomJoined(value)
            }
            if visitor.matches(11, "roomList") {
                var value = RoomList()
                try visitor.member(11, "roomList", &value)
                return .roomList(value)
            }
            if visitor.matches(12, "playerEntered") {
                var value = PlayerEntered()
                try visitor.member(12, "playerEntered", &value)
                return .playerEntered(value)
            }
            if visitor.matches(13, "playerLeft") {
                var value = PlayerLeft()
                try visitor.member(13, "playerLeft", &value)
                return .playerLeft(value)
            }
            if visitor.matches(14, "playerOffline") {
                var value = PlayerOffline()
                try visitor.member(14, "playerOffline", &value)
                return .playerOffline(value)
            }
            if visitor.matches(15, "playerOnline") {
                var value = PlayerOnline()
                try visitor.member(15, "playerOnline", &value)
                return .playerOnline(value)
            }
            if visitor.matches(16, "playerKicked") {
                var value = PlayerKicked()
                try visitor.member(16, "playerKicked", &value)
                return .playerKicked(value)
            }
            if visitor.matches(17, "roomOwnerChanged") {
                var value = RoomOwnerChanged()
                try visitor.member(17, "roomOwnerChanged", &value)
                return .roomOwnerChanged(value)
            }
            if visitor.matches(18, "roomPropertiesChanged") {
                var value = RoomPropertiesChanged()
                try visitor.member(18, "roomPropertiesChanged", &value)
                return .roomPropertiesChanged(value)
            }
            if visitor.matches(19, "playerCustomStatusChanged") {
                var value = PlayerCustomStatusChanged()
                try visitor.member(19, "playerCustomStatusChanged", &value)
                return .playerCustomStatusChanged(value)
            }
            if visitor.matches(20, "playerCustomPropertiesChanged") {
                var value = PlayerCustomPropertiesChanged()
                try visitor.member(20, "playerCustomPropertiesChanged", &value)
                return .playerCustomPropertiesChanged(value)
            }
            if visitor.matches(21, "roomDismissed") {
                var value = RoomDismissed()
                try visitor.member(21, "roomDismissed", &value)
                return .roomDismissed(value)
            }
            if visitor.matches(22, "customMessageReceived") {
                var value = CustomMessageReceived()
                try visitor.member(22, "customMessageReceived", &value)
                return .customMessageReceived(value)
            }
            if visitor.matches(23, "frameSyncStarted") {
                var value = FrameSyncInfo()
                try visitor.member(23, "frameSyncStarted", &value)
                return .frameSyncStarted(value)
            }
            if visitor.matches(24, "frame") {
                var value = Frame()
                try visitor.member(24, "frame", &value)
                return .frame(value)
            }
            if visitor.matches(25, "frameSyncStopped") {
                var value = FrameSyncStopped()
                try visitor.member(25, "frameSyncStopped", &value)
                return .frameSyncStopped(value)
            }
            if visitor.matches(26, "frames") {
                var value = Frames()
                try visitor.member(26, "frames", &value)
                return .frames(value)
            }
            if visitor.matches(27, "desyncDetected") {
                var value = DesyncDetected()
                try visitor.member(27, "desyncDetected", &value)
                return .desyncDetected(value)
            }
            if visitor.matches(40, "battleRequested") {
                var value = BattleRequested()
                try visitor.member(40, "battleRequested", &value)
                return .battleRequested(value)
            }
            if visitor.matches(41, "battleRequestReceived") {
                var value = BattleRequestEvent()
                try visitor.member(41, "battleRequestReceived", &value)
                return .battleRequestReceived(value)
            }
            if visitor.matches(42, "battleRequestCancelled") {
                var value = BattleRequestEvent()
                try visitor.member(42, "battleRequestCancelled", &value)
                return .battleRequestCancelled(value)
            }
            if visitor.matches(43, "battleRequestAccepted") {
                var value = BattleRequestEvent()
                try visitor.member(43, "battleRequestAccepted", &value)
                return .battleRequestAccepted(value)
            }
            if visitor.matches(44, "battleRequestRejected") {
                var value = BattleRequestEvent()
                try visitor.member(44, "battleRequestRejected", &value)
                return .battleRequestRejected(value)
            }
            if visitor.matches(45, "battleRequestTimedOut") {
                var value = BattleRequestEvent()
                try visitor.member(45, "battleRequestTimedOut", &value)
                return .battleRequestTimedOut(value)
            }
            if visitor.matches(46, "battleStarted") {
                var value = BattleStarted()
                try visitor.member(46, "battleStarted", &value)
                return .battleStarted(value)
            }
            if visitor.matches(47, "battleUserJoined") {
                var value = BattleUserEvent()
                try visitor.member(47, "battleUserJoined", &value)
                return .battleUserJoined(value)
            }
            if visitor.matches(48, "battleUserExited") {
                var value = BattleUserEvent()
                try visitor.member(48, "battleUserExited", &value)
                return .battleUserExited(value)
            }
            if visitor.matches(49, "battleScoreChanged") {
                var value = BattleScoreChanged()
                try visitor.member(49, "battleScoreChanged", &value)
                return .battleScoreChanged(value)
            }
            if visitor.matches(50, "battleEnded") {
                var value = BattleEnded()
                try visitor.member(50, "battleEnded", &value)
                return .battleEnded(value)
            }
            if visitor.matches(60, "sessionJoined") {
                var value = SessionJoined()
                try visitor.member(60, "sessionJoined", &value)
                return .sessionJoined(value)
            }
            if visitor.matches(61, "connectionCreated") {
                var value = ConnectionEvent()
                try visitor.member(61, "connectionCreated", &value)
                return .connectionCreated(value)
            }
            if visitor.matches(62, "connectionDestroyed") {
                var value = ConnectionEvent()
                try visitor.member(62, "connectionDestroyed", &value)
                return .connectionDestroyed(value)
            }
            if visitor.matches(63, "signalReceived") {
                var value = SignalReceived()
                try visitor.member(63, "signalReceived", &value)
                return .signalReceived(value)
            }
            if visitor.matches(64, "connectionReconnecting") {
                var value = ConnectionEvent()
                try visitor.member(64, "connectionReconnecting", &value)
                return .connectionReconnecting(value)
            }
            if visitor.matches(65, "connectionReconnected") {
                var value = ConnectionEvent()
                try visitor.member(65, "connectionReconnected", &value)
                return .connectionReconnected(value)
            }
            if visitor.matches(66, "sessionConnections") {
                var value = SessionConnections()
                try visitor.member(66, "sessionConnections", &value)
                return .sessionConnections(value)
            }
            return nil
        }
    }
}
