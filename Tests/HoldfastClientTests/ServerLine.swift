import HoldfastProtocol

/// One line of the server's in a dialogue: `[seq] #id kind words key=value`.
struct ServerLine {
    private var seq: UInt64 = 0
    private var id: UInt32 = 0
    private var kind = ""
    private var words: [String] = []
    private var values: [String: String] = [:]
    private let connectId: UInt32

    init(_ line: [String], connectId: UInt32) {
        self.connectId = connectId
        for word in line {
            if word.hasPrefix("["), let number = UInt64(word.dropFirst().dropLast()) {
                seq = number
            } else if word.hasPrefix("#"), kind.isEmpty, let number = UInt32(word.dropFirst()) {
                id = number
            } else if kind.isEmpty {
                kind = word
            } else if let equals = word.firstIndex(of: "="), !word.hasPrefix("=") {
                values[String(word[..<equals])] = String(word[word.index(after: equals)...])
            } else {
                words.append(word)
            }
        }
    }

    var message: ServerMessage { ServerMessage(id: kind == "connected" ? connectId : id, seq: seq, body: body) }

    private func number(_ key: String) -> UInt32 { UInt32(values[key] ?? "") ?? 0 }
    private func word(_ index: Int) -> String { index < words.count ? words[index] : "" }

    private var body: ServerMessage.Body? {
        switch kind {
        case "ok": return .ok(Ok())
        case "error":
            return .error(ErrorReply(code: Int32(word(0)) ?? 0, message: "no", retryAfterMs: number("retry")))
        case "pong": return .pong(Pong())
        case "connected": return .connected(connected)
        case "disconnected":
            return .disconnected(
                Disconnected(code: Int32(word(0)) ?? 0, message: "bye", mayReconnect: word(1) == "may"))
        case "serviceError": return .serviceError(ServiceError(code: Int32(word(0)) ?? 0))
        case "joined":
            return .roomJoined(
                RoomJoined(room: room, roomSeq: UInt64(number("seq")), frameSync: sync, snapshot: snapshot))
        case "list": return .roomList(RoomList())
        case "entered":
            return .playerEntered(PlayerEntered(player: PlayerInfo(id: word(0), status: 1), roomOwnerId: owner))
        case "left": return .playerLeft(PlayerLeft(roomOwnerId: owner, playerId: word(0)))
        case "offline": return .playerOffline(PlayerOffline(roomOwnerId: owner, playerId: word(0)))
        case "online": return .playerOnline(PlayerOnline(roomOwnerId: owner, playerId: word(0)))
        case "kicked": return .playerKicked(PlayerKicked(playerId: word(0), roomOwnerId: owner))
        case "owner": return .roomOwnerChanged(RoomOwnerChanged(roomOwnerId: word(0)))
        case "renamed": return .roomPropertiesChanged(RoomPropertiesChanged(name: word(0)))
        case "status":
            return .playerCustomStatusChanged(
                PlayerCustomStatusChanged(playerId: word(0), status: Int32(word(1)) ?? 0))
        case "properties":
            return .playerCustomPropertiesChanged(
                PlayerCustomPropertiesChanged(playerId: word(0), properties: word(1)))
        case "dismissed": return .roomDismissed(RoomDismissed(reason: Int32(word(0)) ?? 0))
        case "said": return .customMessageReceived(CustomMessageReceived(playerId: word(0), msg: word(1)))
        case "started": return .frameSyncStarted(FrameSyncInfo(frameSyncId: UInt32(word(0)) ?? 0))
        case "stopped":
            return .frameSyncStopped(FrameSyncStopped(frameSyncId: UInt32(word(0)) ?? 0, reason: Int32(word(1)) ?? 0))
        case "frame": return .frame(Self.frame(words))
        case "frames": return .frames(frames)
        default: return nil
        }
    }

    private var owner: String { values["owner"] ?? "" }

    private var connected: Connected {
        Connected(
            playerId: "me", resumeToken: values["run"] ?? "R1", resumed: words.contains("resumed"),
            heartbeatMs: values["hb"] == nil ? 5000 : number("hb"), room: values["room"] == nil ? nil : room,
            roomSeq: UInt64(number("seq")), roomRestarted: words.contains("restarted"), frameSync: sync,
            snapshot: snapshot)
    }

    /// `room=r1:me,b`: the first is the owner.
    private var room: RoomInfo? {
        guard let text = values["room"] else { return nil }
        let parts = text.split(separator: ":").map(String.init)
        let ids = parts.count > 1 ? parts[1].split(separator: ",").map(String.init) : ["me"]
        return RoomInfo(id: parts[0], ownerId: ids[0], players: ids.map { PlayerInfo(id: $0, status: 1) })
    }

    /// `fs=1/20`: frame sync 1, 20 frames sealed.
    private var sync: FrameSyncInfo? {
        guard let text = values["fs"] else { return nil }
        let parts = text.split(separator: "/").map { UInt32($0) ?? 0 }
        return FrameSyncInfo(frameSyncId: parts[0], frameId: parts.count > 1 ? parts[1] : 0)
    }

    private var snapshot: Snapshot? {
        values["snap"] == nil ? nil : Snapshot(frameId: number("snap"), state: [7], playerId: "b")
    }

    /// `frame 5 me#3 b#9`: frame 5 with two inputs.
    private static func frame(_ words: [String]) -> Frame {
        Frame(
            id: UInt32(words[0]) ?? 0,
            inputs: words.dropFirst().map { text in
                let parts = text.split(separator: "#").map(String.init)
                return FrameInput(playerId: parts[0], id: UInt32(parts[1]) ?? 0)
            })
    }

    /// `frames 1..3 me#4 kept=1 fsid=1 partial`: the inputs stand in the last.
    private var frames: Frames {
        let bounds = word(0).split(separator: ".").compactMap { UInt32($0) }
        var list: [Frame] = []
        if let first = bounds.first, let last = bounds.last { list = (first...last).map { Frame(id: $0) } }
        let inputs = words.dropFirst().filter { $0.contains("#") }
        if !inputs.isEmpty, let last = list.last { list[list.count - 1] = Self.frame(["\(last.id)"] + inputs) }
        return Frames(
            frames: list, firstKept: number("kept"), partial: words.contains("partial"), frameSyncId: number("fsid"))
    }
}
