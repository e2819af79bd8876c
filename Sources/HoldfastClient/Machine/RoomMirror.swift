internal import HoldfastProtocol

/// The room as the client knows it, and its position in the room's stream.
struct RoomMirror: Sendable {
    var info: RoomInfo
    /// The largest of: seqs seen in this room, `roomSeq` of its `roomJoined`, of a `connected` with `roomRestarted`.
    var seq: UInt64
    /// Events up to here are counted in `info` already.
    var infoSeq: UInt64

    /// Counts an event in; what says nothing of members, owner, properties or status changes nothing.
    mutating func apply(_ body: ServerMessage.Body) {
        switch body {
        case .playerEntered(let event): enter(event)
        case .playerLeft(let event):
            remove(event.playerId)
            own(event.roomOwnerId)
        case .playerKicked(let event):
            remove(event.playerId)
            own(event.roomOwnerId)
        case .playerOffline(let event):
            change(event.playerId) { $0.status = 0 }
            own(event.roomOwnerId)
        case .playerOnline(let event):
            change(event.playerId) { $0.status = 1 }
            own(event.roomOwnerId)
        case .roomOwnerChanged(let event): own(event.roomOwnerId)
        case .roomPropertiesChanged(let event):
            info.name = event.name
            info.customProperties = event.customProperties
        case .playerCustomStatusChanged(let event): change(event.playerId) { $0.customStatus = event.status }
        case .playerCustomPropertiesChanged(let event):
            change(event.playerId) { $0.customProperties = event.properties }
        case .frameSyncStarted: info.status = 1
        case .frameSyncStopped: info.status = 0
        default: break
        }
    }

    private mutating func enter(_ event: PlayerEntered) {
        if let player = event.player {
            if let seat = info.players.firstIndex(where: { $0.id == player.id }) {
                info.players[seat] = player
            } else {
                info.players.append(player)
            }
        }
        own(event.roomOwnerId)
    }

    private mutating func own(_ playerId: String) {
        if !playerId.isEmpty { info.ownerId = playerId }
    }

    private mutating func remove(_ playerId: String) { info.players.removeAll { $0.id == playerId } }

    private mutating func change(_ playerId: String, _ body: (inout PlayerInfo) -> Void) {
        if let seat = info.players.firstIndex(where: { $0.id == playerId }) { body(&info.players[seat]) }
    }
}
