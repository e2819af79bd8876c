import HoldfastProtocol

/// A server's message as one line: `#7 ok`, `@12 playerLeft bob, owner alice`. Ids of rooms are left out, since they
/// are random; players stand as `alice*` (owner) and `bob-` (offline).
func line(_ message: ServerMessage) -> String {
    let id = message.id == 0 ? "" : "#\(message.id) "
    let seq = message.seq == 0 ? "" : "@\(message.seq) "
    guard let body = message.body else { return "\(id)\(seq)nothing" }
    return id + seq + line(body)
}

func line(_ body: ServerMessage.Body) -> String {
    switch body {
    case .error(let error): "error \(error.code)\(error.retryAfterMs == 0 ? "" : ", again after \(error.retryAfterMs)")"
    case .ok: "ok"
    case .connected(let connected): line(connected)
    case .pong: "pong"
    case .disconnected(let gone): "disconnected \(gone.code)\(gone.mayReconnect ? ", may reconnect" : "")"
    case .serviceError(let error): "serviceError \(error.code)"
    case .roomJoined(let joined):
        "roomJoined at \(joined.roomSeq): \(line(joined.room))\(line(joined.frameSync, joined.snapshot))"
    case .roomList(let list): "rooms \(list.rooms.map(\.name).joined(separator: " "))\(list.hasMore ? ", more" : "")"
    case .playerEntered(let event): "playerEntered \(event.player?.id ?? "?"), owner \(event.roomOwnerId)"
    case .playerLeft(let event): "playerLeft \(event.playerId), owner \(event.roomOwnerId)"
    case .playerOffline(let event): "playerOffline \(event.playerId), owner \(event.roomOwnerId)"
    case .playerOnline(let event): "playerOnline \(event.playerId), owner \(event.roomOwnerId)"
    case .playerKicked(let event): "playerKicked \(event.playerId), owner \(event.roomOwnerId)"
    case .roomOwnerChanged(let event): "roomOwnerChanged \(event.roomOwnerId)"
    case .roomPropertiesChanged(let event): "roomPropertiesChanged \(event.name)/\(event.customProperties)"
    case .playerCustomStatusChanged(let event): "playerCustomStatusChanged \(event.playerId) \(event.status)"
    case .playerCustomPropertiesChanged(let event):
        "playerCustomPropertiesChanged \(event.playerId) \(event.properties)"
    case .roomDismissed(let event): "roomDismissed \(event.reason)"
    case .customMessageReceived(let event): "message \(event.playerId): \(event.msg)"
    case .frameSyncStarted(let info): "frameSyncStarted \(info.frameSyncId): \(line(info.roomInfo))"
    case .frame(let frame): "frame \(line(frame))"
    case .frameSyncStopped(let event): "frameSyncStopped \(event.frameSyncId), reason \(event.reason)"
    case .frames(let frames): line(frames)
    case .desyncDetected(let event):
        "desync \(event.frameId): \(event.hashes.map { "\($0.playerId)=\($0.hash)" }.joined(separator: " "))"
    default: "\(body)"
    }
}

private func line(_ connected: Connected) -> String {
    var text = connected.resumed ? "resumed" : "connected"
    if let room = connected.room {
        text += ", \(connected.roomRestarted ? "restarted" : "on") at \(connected.roomSeq): \(line(room))"
    }
    return text + line(connected.frameSync, connected.snapshot)
}

private func line(_ sync: FrameSyncInfo?, _ snapshot: Snapshot?) -> String {
    (sync.map { ", sync \($0.frameSyncId) at frame \($0.frameId)" } ?? "")
        + (snapshot.map { ", snapshot \($0.frameId)" } ?? "")
}

func line(_ room: RoomInfo?) -> String {
    guard let room else { return "no room" }
    return room.players.map { "\($0.id)\($0.id == room.ownerId ? "*" : "")\($0.status == 0 ? "-" : "")" }
        .joined(separator: " ")
}

func line(_ frame: Frame) -> String {
    let inputs = frame.inputs.map { " \($0.playerId):\(text($0.payload))" }.joined()
    let changes = frame.changes.map { " \(["+", "-", "offline ", "online ", "kicked "][Int($0.kind)])\($0.playerId)" }
        .joined()
    return "\(frame.id)\(inputs)\(changes)"
}

private func text(_ payload: FrameInput.Payload?) -> String {
    switch payload {
    case .data(let text): text
    case .dataBytes(let bytes): "\(bytes)"
    case nil: ""
    }
}

private func line(_ frames: Frames) -> String {
    let ids = frames.frames.map(\.id)
    let range = ids.isEmpty ? "none" : "\(ids.first ?? 0)-\(ids.last ?? 0)"
    return "frames \(range) of \(frames.frameSyncId), kept \(frames.firstKept)\(frames.partial ? ", partial" : "")"
}
