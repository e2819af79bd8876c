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

    /// The one `body` that is present. The large ones are kept apart, so that the small ones, which travel in numbers,
    /// stay cheap to pass on.
    public enum Body: WireOneof {
        case error(ErrorReply)
        case ok(Ok)
        indirect case connected(Connected)
        case pong(Pong)
        case disconnected(Disconnected)
        case serviceError(ServiceError)
        indirect case roomJoined(RoomJoined)
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
        indirect case frameSyncStarted(FrameSyncInfo)
        case frame(Frame)
        case frameSyncStopped(FrameSyncStopped)
        case frames(Frames)
        case desyncDetected(DesyncDetected)
        indirect case battleRequested(BattleRequested)
        indirect case battleRequestReceived(BattleRequestEvent)
        indirect case battleRequestCancelled(BattleRequestEvent)
        indirect case battleRequestAccepted(BattleRequestEvent)
        indirect case battleRequestRejected(BattleRequestEvent)
        indirect case battleRequestTimedOut(BattleRequestEvent)
        indirect case battleStarted(BattleStarted)
        indirect case battleUserJoined(BattleUserEvent)
        indirect case battleUserExited(BattleUserEvent)
        case battleScoreChanged(BattleScoreChanged)
        indirect case battleEnded(BattleEnded)
        indirect case sessionJoined(SessionJoined)
        indirect case connectionCreated(ConnectionEvent)
        indirect case connectionDestroyed(ConnectionEvent)
        indirect case signalReceived(SignalReceived)
        indirect case connectionReconnecting(ConnectionEvent)
        indirect case connectionReconnected(ConnectionEvent)
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

        public static func read<V: FieldVisitor>(_ visitor: inout V, into present: inout Self?) throws(WireError)
            -> Bool
        {
            if try visitor.matches(3, "error") {
                var value = ErrorReply()
                if case .error(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(3, "error", &value)
                present = .error(value)
                return true
            }
            if try visitor.matches(4, "ok") {
                var value = Ok()
                if case .ok(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(4, "ok", &value)
                present = .ok(value)
                return true
            }
            if try visitor.matches(5, "connected") {
                var value = Connected()
                if case .connected(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(5, "connected", &value)
                present = .connected(value)
                return true
            }
            if try visitor.matches(6, "pong") {
                var value = Pong()
                if case .pong(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(6, "pong", &value)
                present = .pong(value)
                return true
            }
            if try visitor.matches(7, "disconnected") {
                var value = Disconnected()
                if case .disconnected(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(7, "disconnected", &value)
                present = .disconnected(value)
                return true
            }
            if try visitor.matches(8, "serviceError") {
                var value = ServiceError()
                if case .serviceError(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(8, "serviceError", &value)
                present = .serviceError(value)
                return true
            }
            if try visitor.matches(10, "roomJoined") {
                var value = RoomJoined()
                if case .roomJoined(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(10, "roomJoined", &value)
                present = .roomJoined(value)
                return true
            }
            if try visitor.matches(11, "roomList") {
                var value = RoomList()
                if case .roomList(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(11, "roomList", &value)
                present = .roomList(value)
                return true
            }
            if try visitor.matches(12, "playerEntered") {
                var value = PlayerEntered()
                if case .playerEntered(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(12, "playerEntered", &value)
                present = .playerEntered(value)
                return true
            }
            if try visitor.matches(13, "playerLeft") {
                var value = PlayerLeft()
                if case .playerLeft(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(13, "playerLeft", &value)
                present = .playerLeft(value)
                return true
            }
            if try visitor.matches(14, "playerOffline") {
                var value = PlayerOffline()
                if case .playerOffline(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(14, "playerOffline", &value)
                present = .playerOffline(value)
                return true
            }
            if try visitor.matches(15, "playerOnline") {
                var value = PlayerOnline()
                if case .playerOnline(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(15, "playerOnline", &value)
                present = .playerOnline(value)
                return true
            }
            if try visitor.matches(16, "playerKicked") {
                var value = PlayerKicked()
                if case .playerKicked(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(16, "playerKicked", &value)
                present = .playerKicked(value)
                return true
            }
            if try visitor.matches(17, "roomOwnerChanged") {
                var value = RoomOwnerChanged()
                if case .roomOwnerChanged(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(17, "roomOwnerChanged", &value)
                present = .roomOwnerChanged(value)
                return true
            }
            if try visitor.matches(18, "roomPropertiesChanged") {
                var value = RoomPropertiesChanged()
                if case .roomPropertiesChanged(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(18, "roomPropertiesChanged", &value)
                present = .roomPropertiesChanged(value)
                return true
            }
            if try visitor.matches(19, "playerCustomStatusChanged") {
                var value = PlayerCustomStatusChanged()
                if case .playerCustomStatusChanged(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(19, "playerCustomStatusChanged", &value)
                present = .playerCustomStatusChanged(value)
                return true
            }
            if try visitor.matches(20, "playerCustomPropertiesChanged") {
                var value = PlayerCustomPropertiesChanged()
                if case .playerCustomPropertiesChanged(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(20, "playerCustomPropertiesChanged", &value)
                present = .playerCustomPropertiesChanged(value)
                return true
            }
            if try visitor.matches(21, "roomDismissed") {
                var value = RoomDismissed()
                if case .roomDismissed(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(21, "roomDismissed", &value)
                present = .roomDismissed(value)
                return true
            }
            if try visitor.matches(22, "customMessageReceived") {
                var value = CustomMessageReceived()
                if case .customMessageReceived(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(22, "customMessageReceived", &value)
                present = .customMessageReceived(value)
                return true
            }
            if try visitor.matches(23, "frameSyncStarted") {
                var value = FrameSyncInfo()
                if case .frameSyncStarted(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(23, "frameSyncStarted", &value)
                present = .frameSyncStarted(value)
                return true
            }
            if try visitor.matches(24, "frame") {
                var value = Frame()
                if case .frame(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(24, "frame", &value)
                present = .frame(value)
                return true
            }
            if try visitor.matches(25, "frameSyncStopped") {
                var value = FrameSyncStopped()
                if case .frameSyncStopped(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(25, "frameSyncStopped", &value)
                present = .frameSyncStopped(value)
                return true
            }
            if try visitor.matches(26, "frames") {
                var value = Frames()
                if case .frames(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(26, "frames", &value)
                present = .frames(value)
                return true
            }
            if try visitor.matches(27, "desyncDetected") {
                var value = DesyncDetected()
                if case .desyncDetected(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(27, "desyncDetected", &value)
                present = .desyncDetected(value)
                return true
            }
            if try visitor.matches(40, "battleRequested") {
                var value = BattleRequested()
                if case .battleRequested(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(40, "battleRequested", &value)
                present = .battleRequested(value)
                return true
            }
            if try visitor.matches(41, "battleRequestReceived") {
                var value = BattleRequestEvent()
                if case .battleRequestReceived(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(41, "battleRequestReceived", &value)
                present = .battleRequestReceived(value)
                return true
            }
            if try visitor.matches(42, "battleRequestCancelled") {
                var value = BattleRequestEvent()
                if case .battleRequestCancelled(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(42, "battleRequestCancelled", &value)
                present = .battleRequestCancelled(value)
                return true
            }
            if try visitor.matches(43, "battleRequestAccepted") {
                var value = BattleRequestEvent()
                if case .battleRequestAccepted(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(43, "battleRequestAccepted", &value)
                present = .battleRequestAccepted(value)
                return true
            }
            if try visitor.matches(44, "battleRequestRejected") {
                var value = BattleRequestEvent()
                if case .battleRequestRejected(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(44, "battleRequestRejected", &value)
                present = .battleRequestRejected(value)
                return true
            }
            if try visitor.matches(45, "battleRequestTimedOut") {
                var value = BattleRequestEvent()
                if case .battleRequestTimedOut(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(45, "battleRequestTimedOut", &value)
                present = .battleRequestTimedOut(value)
                return true
            }
            if try visitor.matches(46, "battleStarted") {
                var value = BattleStarted()
                if case .battleStarted(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(46, "battleStarted", &value)
                present = .battleStarted(value)
                return true
            }
            if try visitor.matches(47, "battleUserJoined") {
                var value = BattleUserEvent()
                if case .battleUserJoined(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(47, "battleUserJoined", &value)
                present = .battleUserJoined(value)
                return true
            }
            if try visitor.matches(48, "battleUserExited") {
                var value = BattleUserEvent()
                if case .battleUserExited(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(48, "battleUserExited", &value)
                present = .battleUserExited(value)
                return true
            }
            if try visitor.matches(49, "battleScoreChanged") {
                var value = BattleScoreChanged()
                if case .battleScoreChanged(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(49, "battleScoreChanged", &value)
                present = .battleScoreChanged(value)
                return true
            }
            if try visitor.matches(50, "battleEnded") {
                var value = BattleEnded()
                if case .battleEnded(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(50, "battleEnded", &value)
                present = .battleEnded(value)
                return true
            }
            if try visitor.matches(60, "sessionJoined") {
                var value = SessionJoined()
                if case .sessionJoined(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(60, "sessionJoined", &value)
                present = .sessionJoined(value)
                return true
            }
            if try visitor.matches(61, "connectionCreated") {
                var value = ConnectionEvent()
                if case .connectionCreated(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(61, "connectionCreated", &value)
                present = .connectionCreated(value)
                return true
            }
            if try visitor.matches(62, "connectionDestroyed") {
                var value = ConnectionEvent()
                if case .connectionDestroyed(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(62, "connectionDestroyed", &value)
                present = .connectionDestroyed(value)
                return true
            }
            if try visitor.matches(63, "signalReceived") {
                var value = SignalReceived()
                if case .signalReceived(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(63, "signalReceived", &value)
                present = .signalReceived(value)
                return true
            }
            if try visitor.matches(64, "connectionReconnecting") {
                var value = ConnectionEvent()
                if case .connectionReconnecting(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(64, "connectionReconnecting", &value)
                present = .connectionReconnecting(value)
                return true
            }
            if try visitor.matches(65, "connectionReconnected") {
                var value = ConnectionEvent()
                if case .connectionReconnected(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(65, "connectionReconnected", &value)
                present = .connectionReconnected(value)
                return true
            }
            if try visitor.matches(66, "sessionConnections") {
                var value = SessionConnections()
                if case .sessionConnections(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(66, "sessionConnections", &value)
                present = .sessionConnections(value)
                return true
            }
            return false
        }
    }
}
