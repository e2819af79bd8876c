import HoldfastProtocol

/// Every message of the schema. SchemaTests compares this list with the schema itself.
enum Schema {
    static let messages: [any WireMessage.Type] = [
        ClientMessage.self, ServerMessage.self, Ok.self, ErrorReply.self, Connect.self, Resume.self,
        SessionPosition.self, Connected.self, Disconnect.self, Disconnected.self, ServiceError.self, Ping.self,
        Pong.self, RoomConfig.self, PlayerConfig.self, PlayerInfo.self, RoomInfo.self, RoomSummary.self,
        CreateRoom.self, MatchRoom.self, CancelMatch.self, JoinRoom.self, LeaveRoom.self, RoomJoined.self,
        GetRoomList.self, RoomList.self, UpdateRoomProperties.self, UpdatePlayerCustomStatus.self,
        UpdatePlayerCustomProperties.self, KickRoomPlayer.self, TransferRoomOwner.self, DismissRoom.self,
        PlayerEntered.self, PlayerLeft.self, PlayerOffline.self, PlayerOnline.self, PlayerKicked.self,
        RoomOwnerChanged.self, RoomPropertiesChanged.self, PlayerCustomStatusChanged.self,
        PlayerCustomPropertiesChanged.self, RoomDismissed.self, SendCustomMessage.self, CustomMessageReceived.self,
        StartFrameSync.self, FrameSyncInfo.self, SendFrameInput.self, FrameInput.self, Frame.self, SeatChange.self,
        StopFrameSync.self, FrameSyncStopped.self, GetFrames.self, Frames.self, ReportFrameHash.self,
        DesyncDetected.self, FrameHash.self, PutSnapshot.self, Snapshot.self, BattleConfig.self, BattleUser.self,
        BattleInfo.self, RequestBattle.self, BattleRequested.self, CancelBattleRequest.self, AcceptBattle.self,
        RejectBattle.self, ExitBattle.self, BattleRequestEvent.self, BattleStarted.self, BattleUserEvent.self,
        BattleScoreChanged.self, BattleEnded.self, ConnectionInfo.self, SessionInfo.self, SessionConnections.self,
        JoinSession.self, SessionJoined.self, LeaveSession.self, SendSignal.self, SignalReceived.self,
        ConnectionEvent.self, ForceDisconnect.self,
    ]

    /// The name that a Swift type has in the schema.
    static func name(_ type: any WireMessage.Type) -> String {
        type == ErrorReply.self ? "Error" : "\(type)"
    }
}
