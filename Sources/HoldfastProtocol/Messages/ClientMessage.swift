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

    /// The one `body` that is present.
    public enum Body: WireOneof {
        case connect(Connect)
        case disconnect(Disconnect)
        case ping(Ping)
        case createRoom(CreateRoom)
        case matchRoom(MatchRoom)
        case cancelMatch(CancelMatch)
        case getRoomList(GetRoomList)
        case joinRoom(JoinRoom)
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
        case requestBattle(RequestBattle)
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

        public static func read<V: FieldVisitor>(_ visitor: inout V) throws(WireError) -> Self? {
            if visitor.matches(2, "connect") {
                var value = Connect()
                try visitor.member(2, "connect", &value)
                return .connect(value)
            }
            if visitor.matches(3, "disconnect") {
                var value = Disconnect()
                try visitor.member(3, "disconnect", &value)
                return .disconnect(value)
            }
            if visitor.matches(4, "ping") {
                var value = Ping()
                try visitor.member(4, "ping", &value)
                return .ping(value)
            }
            if visitor.matches(10, "createRoom") {
                var value = CreateRoom()
                try visitor.member(10, "createRoom", &value)
                return .createRoom(value)
            }
            if visitor.matches(11, "matchRoom") {
                var value = MatchRoom()
                try visitor.member(11, "matchRoom", &value)
                return .matchRoom(value)
            }
            if visitor.matches(12, "cancelMatch") {
                var value = CancelMatch()
                try visitor.member(12, "cancelMatch", &value)
                return .cancelMatch(value)
            }
            if visitor.matches(13, "getRoomList") {
                var value = GetRoomList()
                try visitor.member(13, "getRoomList", &value)
                return .getRoomList(value)
            }
            if visitor.matches(14, "joinRoom") {
                var value = JoinRoom()
                try visitor.member(14, "joinRoom", &value)
                return .joinRoom(value)
            }
            if visitor.matches(15, "leaveRoom") {
                var value = LeaveRoom()
                try visitor.member(15, "leaveRoom", &value)
                return .leaveRoom(value)
            }
            if visitor.matches(16, "updateRoomProperties") {
                var value = UpdateRoomProperties()
                try visitor.member(16, "updateRoomProperties", &value)
                return .updateRoomProperties(value)
            }
            if visitor.matches(17, "updatePlayerCustomStatus") {
                var value = UpdatePlayerCustomStatus()
                try visitor.member(17, "updatePlayerCustomStatus", &value)
                return .updatePlayerCustomStatus(value)
            }
            if visitor.matches(18, "updatePlayerCustomProperties") {
                var value = UpdatePlayerCustomProperties()
                try visitor.member(18, "updatePlayerCustomProperties", &value)
                return .updatePlayerCustomProperties(value)
            }
            if visitor.matches(19, "kickRoomPlayer") {
                var value = KickRoomPlayer()
                try visitor.member(19, "kickRoomPlayer", &value)
                return .kickRoomPlayer(value)
            }
            if visitor.matches(20, "transferRoomOwner") {
                var value = TransferRoomOwner()
                try visitor.member(20, "transferRoomOwner", &value)
                return .transferRoomOwner(value)
            }
            if visitor.matches(21, "dismissRoom") {
                var value = DismissRoom()
                try visitor.member(21, "dismissRoom", &value)
                return .dismissRoom(value)
            }
            if visitor.matches(22, "sendCustomMessage") {
                var value = SendCustomMessage()
                try visitor.member(22, "sendCustomMessage", &value)
                return .sendCustomMessage(value)
            }
            if visitor.matches(23, "startFrameSync") {
                var value = StartFrameSync()
                try visitor.member(23, "startFrameSync", &value)
                return .startFrameSync(value)
            }
            if visitor.matches(24, "sendFrameInput") {
                var value = SendFrameInput()
                try visitor.member(24, "sendFrameInput", &value)
                return .sendFrameInput(value)
            }
            if visitor.matches(25, "stopFrameSync") {
                var value = StopFrameSync()
                try visitor.member(25, "stopFrameSync", &value)
                return .stopFrameSync(value)
            }
            if visitor.matches(26, "getFrames") {
                var value = GetFrames()
                try visitor.member(26, "getFrames", &value)
                return .getFrames(value)
            }
            if visitor.matches(27, "reportFrameHash") {
                var value = ReportFrameHash()
                try visitor.member(27, "reportFrameHash", &value)
                return .reportFrameHash(value)
            }
            if visitor.matches(28, "putSnapshot") {
                var value = PutSnapshot()
                try visitor.member(28, "putSnapshot", &value)
                return .putSnapshot(value)
            }
            if visitor.matches(40, "requestBattle") {
                var value = RequestBattle()
                try visitor.member(40, "requestBattle", &value)
                return .requestBattle(value)
            }
            if visitor.matches(41, "cancelBattleRequest") {
                var value = CancelBattleRequest()
                try visitor.member(41, "cancelBattleRequest", &value)
                return .cancelBattleRequest(value)
            }
            if visitor.matches(42, "acceptBattle") {
                var value = AcceptBattle()
                try visitor.member(42, "acceptBattle", &value)
                return .acceptBattle(value)
            }
            if visitor.matches(43, "rejectBattle") {
                var value = RejectBattle()
                try visitor.member(43, "rejectBattle", &value)
                return .rejectBattle(value)
            }
            if visitor.matches(44, "exitBattle") {
                var value = ExitBattle()
                try visitor.member(44, "exitBattle", &value)
                return .exitBattle(value)
            }
            if visitor.matches(60, "joinSession") {
                var value = JoinSession()
                try visitor.member(60, "joinSession", &value)
                return .joinSession(value)
            }
            if visitor.matches(61, "leaveSession") {
                var value = LeaveSession()
                try visitor.member(61, "leaveSession", &value)
                return .leaveSession(value)
            }
            if visitor.matches(62, "sendSignal") {
                var value = SendSignal()
                try visitor.member(62, "sendSignal", &value)
                return .sendSignal(value)
            }
            if visitor.matches(63, "forceDisconnect") {
                var value = ForceDisconnect()
                try visitor.member(63, "forceDisconnect", &value)
                return .forceDisconnect(value)
            }
            return nil
        }
    }
}
