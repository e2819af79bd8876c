/// `ClientMessage` of `holdfast.proto`.
public struct ClientMessage: WireMessage {
    /// Chosen by the client, growing within a run (rooms.md); echoed in the one reply. 0 or absent: no reply at all,
    /// not even an error (except to `connect`). A message that cannot be parsed gets an error without id. Calls marked
    /// "no reply on success" answer errors only.
    public var id: UInt32 = 0
    public var body: Body?

    public init() {}

    public init(id: UInt32 = 0, body: Body? = nil) {
        self.id = id
        self.body = body
    }

    public mutating func visit<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
        try visitor.envelope(1, "id", &id)
        try visitor.oneof(&body)
    }

    /// The one `body` that is present. The large ones are kept apart, so that the small ones, which travel in numbers,
    /// stay cheap to pass on.
    public enum Body: WireOneof {
        indirect case connect(Connect)
        case disconnect(Disconnect)
        case ping(Ping)
        indirect case createRoom(CreateRoom)
        indirect case matchRoom(MatchRoom)
        case cancelMatch(CancelMatch)
        case getRoomList(GetRoomList)
        indirect case joinRoom(JoinRoom)
        case leaveRoom(LeaveRoom)
        case updateRoomProperties(UpdateRoomProperties)
        case updatePlayerCustomStatus(UpdatePlayerCustomStatus)
        case updatePlayerCustomProperties(UpdatePlayerCustomProperties)
        case kickRoomPlayer(KickRoomPlayer)
        case transferRoomOwner(TransferRoomOwner)
        case dismissRoom(DismissRoom)
        case sendCustomMessage(SendCustomMessage)
        case startFrameSync(StartFrameSync)
        case sendFrameInput(SendFrameInput)
        case stopFrameSync(StopFrameSync)
        case getFrames(GetFrames)
        case reportFrameHash(ReportFrameHash)
        case putSnapshot(PutSnapshot)
        indirect case requestBattle(RequestBattle)
        case cancelBattleRequest(CancelBattleRequest)
        case acceptBattle(AcceptBattle)
        case rejectBattle(RejectBattle)
        case exitBattle(ExitBattle)
        case joinSession(JoinSession)
        case leaveSession(LeaveSession)
        case sendSignal(SendSignal)
        case forceDisconnect(ForceDisconnect)

        public func write<V: FieldVisitor>(_ visitor: inout V) throws(WireError) {
            switch self {
            case .connect(var value): try visitor.member(2, "connect", &value)
            case .disconnect(var value): try visitor.member(3, "disconnect", &value)
            case .ping(var value): try visitor.member(4, "ping", &value)
            case .createRoom(var value): try visitor.member(10, "createRoom", &value)
            case .matchRoom(var value): try visitor.member(11, "matchRoom", &value)
            case .cancelMatch(var value): try visitor.member(12, "cancelMatch", &value)
            case .getRoomList(var value): try visitor.member(13, "getRoomList", &value)
            case .joinRoom(var value): try visitor.member(14, "joinRoom", &value)
            case .leaveRoom(var value): try visitor.member(15, "leaveRoom", &value)
            case .updateRoomProperties(var value): try visitor.member(16, "updateRoomProperties", &value)
            case .updatePlayerCustomStatus(var value): try visitor.member(17, "updatePlayerCustomStatus", &value)
            case .updatePlayerCustomProperties(var value):
                try visitor.member(18, "updatePlayerCustomProperties", &value)
            case .kickRoomPlayer(var value): try visitor.member(19, "kickRoomPlayer", &value)
            case .transferRoomOwner(var value): try visitor.member(20, "transferRoomOwner", &value)
            case .dismissRoom(var value): try visitor.member(21, "dismissRoom", &value)
            case .sendCustomMessage(var value): try visitor.member(22, "sendCustomMessage", &value)
            case .startFrameSync(var value): try visitor.member(23, "startFrameSync", &value)
            case .sendFrameInput(var value): try visitor.member(24, "sendFrameInput", &value)
            case .stopFrameSync(var value): try visitor.member(25, "stopFrameSync", &value)
            case .getFrames(var value): try visitor.member(26, "getFrames", &value)
            case .reportFrameHash(var value): try visitor.member(27, "reportFrameHash", &value)
            case .putSnapshot(var value): try visitor.member(28, "putSnapshot", &value)
            case .requestBattle(var value): try visitor.member(40, "requestBattle", &value)
            case .cancelBattleRequest(var value): try visitor.member(41, "cancelBattleRequest", &value)
            case .acceptBattle(var value): try visitor.member(42, "acceptBattle", &value)
            case .rejectBattle(var value): try visitor.member(43, "rejectBattle", &value)
            case .exitBattle(var value): try visitor.member(44, "exitBattle", &value)
            case .joinSession(var value): try visitor.member(60, "joinSession", &value)
            case .leaveSession(var value): try visitor.member(61, "leaveSession", &value)
            case .sendSignal(var value): try visitor.member(62, "sendSignal", &value)
            case .forceDisconnect(var value): try visitor.member(63, "forceDisconnect", &value)
            }
        }

        public static func read<V: FieldVisitor>(_ visitor: inout V, into present: inout Self?) throws(WireError)
            -> Bool
        {
            if try visitor.matches(2, "connect") {
                var value = Connect()
                if case .connect(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(2, "connect", &value)
                present = .connect(value)
                return true
            }
            if try visitor.matches(3, "disconnect") {
                var value = Disconnect()
                if case .disconnect(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(3, "disconnect", &value)
                present = .disconnect(value)
                return true
            }
            if try visitor.matches(4, "ping") {
                var value = Ping()
                if case .ping(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(4, "ping", &value)
                present = .ping(value)
                return true
            }
            if try visitor.matches(10, "createRoom") {
                var value = CreateRoom()
                if case .createRoom(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(10, "createRoom", &value)
                present = .createRoom(value)
                return true
            }
            if try visitor.matches(11, "matchRoom") {
                var value = MatchRoom()
                if case .matchRoom(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(11, "matchRoom", &value)
                present = .matchRoom(value)
                return true
            }
            if try visitor.matches(12, "cancelMatch") {
                var value = CancelMatch()
                if case .cancelMatch(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(12, "cancelMatch", &value)
                present = .cancelMatch(value)
                return true
            }
            if try visitor.matches(13, "getRoomList") {
                var value = GetRoomList()
                if case .getRoomList(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(13, "getRoomList", &value)
                present = .getRoomList(value)
                return true
            }
            if try visitor.matches(14, "joinRoom") {
                var value = JoinRoom()
                if case .joinRoom(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(14, "joinRoom", &value)
                present = .joinRoom(value)
                return true
            }
            if try visitor.matches(15, "leaveRoom") {
                var value = LeaveRoom()
                if case .leaveRoom(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(15, "leaveRoom", &value)
                present = .leaveRoom(value)
                return true
            }
            if try visitor.matches(16, "updateRoomProperties") {
                var value = UpdateRoomProperties()
                if case .updateRoomProperties(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(16, "updateRoomProperties", &value)
                present = .updateRoomProperties(value)
                return true
            }
            if try visitor.matches(17, "updatePlayerCustomStatus") {
                var value = UpdatePlayerCustomStatus()
                if case .updatePlayerCustomStatus(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(17, "updatePlayerCustomStatus", &value)
                present = .updatePlayerCustomStatus(value)
                return true
            }
            if try visitor.matches(18, "updatePlayerCustomProperties") {
                var value = UpdatePlayerCustomProperties()
                if case .updatePlayerCustomProperties(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(18, "updatePlayerCustomProperties", &value)
                present = .updatePlayerCustomProperties(value)
                return true
            }
            if try visitor.matches(19, "kickRoomPlayer") {
                var value = KickRoomPlayer()
                if case .kickRoomPlayer(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(19, "kickRoomPlayer", &value)
                present = .kickRoomPlayer(value)
                return true
            }
            if try visitor.matches(20, "transferRoomOwner") {
                var value = TransferRoomOwner()
                if case .transferRoomOwner(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(20, "transferRoomOwner", &value)
                present = .transferRoomOwner(value)
                return true
            }
            if try visitor.matches(21, "dismissRoom") {
                var value = DismissRoom()
                if case .dismissRoom(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(21, "dismissRoom", &value)
                present = .dismissRoom(value)
                return true
            }
            if try visitor.matches(22, "sendCustomMessage") {
                var value = SendCustomMessage()
                if case .sendCustomMessage(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(22, "sendCustomMessage", &value)
                present = .sendCustomMessage(value)
                return true
            }
            if try visitor.matches(23, "startFrameSync") {
                var value = StartFrameSync()
                if case .startFrameSync(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(23, "startFrameSync", &value)
                present = .startFrameSync(value)
                return true
            }
            if try visitor.matches(24, "sendFrameInput") {
                var value = SendFrameInput()
                if case .sendFrameInput(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(24, "sendFrameInput", &value)
                present = .sendFrameInput(value)
                return true
            }
            if try visitor.matches(25, "stopFrameSync") {
                var value = StopFrameSync()
                if case .stopFrameSync(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(25, "stopFrameSync", &value)
                present = .stopFrameSync(value)
                return true
            }
            if try visitor.matches(26, "getFrames") {
                var value = GetFrames()
                if case .getFrames(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(26, "getFrames", &value)
                present = .getFrames(value)
                return true
            }
            if try visitor.matches(27, "reportFrameHash") {
                var value = ReportFrameHash()
                if case .reportFrameHash(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(27, "reportFrameHash", &value)
                present = .reportFrameHash(value)
                return true
            }
            if try visitor.matches(28, "putSnapshot") {
                var value = PutSnapshot()
                if case .putSnapshot(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(28, "putSnapshot", &value)
                present = .putSnapshot(value)
                return true
            }
            if try visitor.matches(40, "requestBattle") {
                var value = RequestBattle()
                if case .requestBattle(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(40, "requestBattle", &value)
                present = .requestBattle(value)
                return true
            }
            if try visitor.matches(41, "cancelBattleRequest") {
                var value = CancelBattleRequest()
                if case .cancelBattleRequest(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(41, "cancelBattleRequest", &value)
                present = .cancelBattleRequest(value)
                return true
            }
            if try visitor.matches(42, "acceptBattle") {
                var value = AcceptBattle()
                if case .acceptBattle(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(42, "acceptBattle", &value)
                present = .acceptBattle(value)
                return true
            }
            if try visitor.matches(43, "rejectBattle") {
                var value = RejectBattle()
                if case .rejectBattle(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(43, "rejectBattle", &value)
                present = .rejectBattle(value)
                return true
            }
            if try visitor.matches(44, "exitBattle") {
                var value = ExitBattle()
                if case .exitBattle(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(44, "exitBattle", &value)
                present = .exitBattle(value)
                return true
            }
            if try visitor.matches(60, "joinSession") {
                var value = JoinSession()
                if case .joinSession(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(60, "joinSession", &value)
                present = .joinSession(value)
                return true
            }
            if try visitor.matches(61, "leaveSession") {
                var value = LeaveSession()
                if case .leaveSession(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(61, "leaveSession", &value)
                present = .leaveSession(value)
                return true
            }
            if try visitor.matches(62, "sendSignal") {
                var value = SendSignal()
                if case .sendSignal(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(62, "sendSignal", &value)
                present = .sendSignal(value)
                return true
            }
            if try visitor.matches(63, "forceDisconnect") {
                var value = ForceDisconnect()
                if case .forceDisconnect(let old)? = present { (value, present) = (old, nil) }
                try visitor.member(63, "forceDisconnect", &value)
                present = .forceDisconnect(value)
                return true
            }
            return false
        }
    }
}
