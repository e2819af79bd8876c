import HoldfastProtocol

/// How the room is shown: to its members, to the pool of its key and to the directory.
extension RoomMachine {
    var info: RoomInfo {
        RoomInfo(
            id: key.id, name: config.name, type: config.type, ownerId: ownerID, status: frameSync == nil ? 0 : 1,
            customProperties: config.customProperties, maxPlayerCount: config.maxPlayerCount,
            players: players.map(info(of:)), createTime: createdMs / 1000, frameRate: config.frameRate,
            spectatorCount: UInt32(clamping: spectators.count), maxSpectatorCount: config.maxSpectatorCount,
            allowLateJoin: config.allowLateJoin, hasPassword: !config.password.isEmpty, hidden: config.hidden,
            matchParams: config.matchParams, lockedDuringFrameSync: config.lockedDuringFrameSync)
    }

    func info(of member: RoomMember) -> PlayerInfo {
        PlayerInfo(
            id: member.player, status: member.online ? 1 : 0, customStatus: member.customStatus,
            customProperties: member.customProperties)
    }

    private var summary: RoomSummary {
        RoomSummary(
            id: key.id, name: config.name, type: config.type, status: frameSync == nil ? 0 : 1,
            customProperties: config.customProperties, maxPlayerCount: config.maxPlayerCount,
            playerCount: UInt32(clamping: players.count), createTime: createdMs / 1000,
            hasPassword: !config.password.isEmpty, spectatorCount: UInt32(clamping: spectators.count))
    }

    /// Tells the pool at once of what it matches by, and the directory soon of what it shows.
    mutating func advertise(_ context: inout EntryContext) {
        let isOpen = players.contains(where: \.online) && (frameSync == nil || config.allowLateJoin)
        if let pool {
            let new = isClosed ? nil : RoomAdvert(taken: players.count, open: isOpen, createdMs: createdMs)
            if new != advert {
                advert = new
                context.send(.pool(pool, .advert(room: key.id, new)))
            }
        }
        if isClosed {
            context.send(.directory(project: key.project, .update(room: key.id, nil)))
            return
        }
        list(isOpen: isOpen, &context)
    }

    /// The list may lag by a second: what is only shown waits for a quarter of one, what decides does not.
    private mutating func list(isOpen: Bool, _ context: inout EntryContext) {
        let joinable = !config.hidden && isOpen && players.count < Int(config.maxPlayerCount)
        let spectatable = !config.hidden && spectators.count < Int(config.maxSpectatorCount)
        let urgent = listing?.joinable != joinable || listing?.spectatable != spectatable
        if !urgent, context.nowMs < listedAtMs + Self.listEveryMs {
            if listAtMs == nil, listing?.summary != summary { listAtMs = listedAtMs + Self.listEveryMs }
            return
        }
        listAtMs = nil
        let new = RoomListing(
            summary: summary, createdMs: createdMs, joinable: joinable, spectatable: spectatable)
        if new == listing { return }
        listing = new
        listedAtMs = context.nowMs
        context.send(.directory(project: key.project, .update(room: key.id, new)))
    }

    static var listEveryMs: Int64 { 250 }
}
