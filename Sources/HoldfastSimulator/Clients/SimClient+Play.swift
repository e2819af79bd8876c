import HoldfastClient
import HoldfastProtocol

/// What a simulated player does next.
extension SimClient {
    enum Act: Sendable {
        case connect
        case call(ClientMessage.Body)
        /// Sent as it is, past the machine.
        case again(ClientMessage)
        /// The machine closes its link and stays away.
        case sleep(awayMs: Int64, silently: Bool)
        case wake
        /// The process dies.
        case crash(awayMs: Int64, silently: Bool)
        case slowDown(ms: Int64)
    }

    /// The call that is due now, if any.
    mutating func act(nowMs: Int64, rooms: [String], players: [String]) -> Act? {
        if case .leaving(let untilMs)? = finale, nowMs >= untilMs {
            finale = machine.isOnline && machine.room == nil ? .matching(sinceMs: nowMs) : nil
            if finale == nil { return nil }
            let config = RoomConfig(maxPlayerCount: Self.finaleSize, type: "finale")
            return .call(.matchRoom(MatchRoom(room: config)))
        }
        switch mode {
        case .away(let untilMs), .idle(let untilMs):
            if nowMs < untilMs { return nil }
            if isQuiet, !isWanted {
                mode = .idle(untilMs: .max)
                return nil
            }
            let isAsleep = !machine.isIdle
            mode = .playing
            nextCallMs = nowMs + random.between(settings.leastGapMs, settings.mostGapMs)
            return isAsleep ? .wake : .connect
        case .playing: break
        }
        if nowMs < nextCallMs || isQuiet && !isWanted { return nil }
        if machine.isIdle {
            // It did not get so far as to be told of an end.
            nextCallMs = nowMs + 500
            return .connect
        }
        if isQuiet { return nil }
        nextCallMs = nowMs + random.between(settings.leastGapMs, settings.mostGapMs)
        if isConfused { return .crash(awayMs: random.between(50, 500), silently: false) }
        guard machine.isOnline else { return random.chance(15) ? .crash(awayMs: awayMs(), silently: false) : nil }
        if let trouble = trouble() { return trouble }
        if let room = machine.room {
            return call(in: room, players: players).map { .call($0) }
        }
        return call(rooms: rooms).map { .call($0) }
    }

    private mutating func awayMs() -> Int64 {
        switch random.below(20) {
        case 0: settings.resumeWindowMs + random.between(200, 3_000)
        case 1...4: random.between(1_800, 5_000)
        case 5...9: random.between(400, 1_900)
        default: random.between(10, 300)
        }
    }

    private mutating func trouble() -> Act? {
        if random.chance(settings.dropChance) {
            return .sleep(awayMs: awayMs(), silently: random.chance(250))
        }
        if random.chance(settings.crashChance) { return .crash(awayMs: awayMs(), silently: random.chance(250)) }
        if random.chance(settings.goodbyeChance) { return .call(.disconnect(Disconnect())) }
        if random.chance(settings.slowChance) { return .slowDown(ms: random.between(200, 3_000)) }
        if isSecond, random.chance(60) { return .crash(awayMs: random.between(2_000, 15_000), silently: false) }
        if random.chance(settings.repeatChance), !done.isEmpty { return .again(done[random.below(done.count)]) }
        return nil
    }

    // MARK: In no room

    private mutating func call(rooms: [String]) -> ClientMessage.Body? {
        if seatCall != nil {
            if isMatching, random.chance(150) { return .cancelMatch(CancelMatch()) }
            // Refused with 15, mostly.
            if !random.chance(40) { return nil }
        }
        switch random.below(20) {
        case 0...8:
            return .matchRoom(
                MatchRoom(
                    room: config(), player: PlayerConfig(customStatus: 0),
                    timeoutMs: random.chance(500) ? 0 : UInt32(random.between(300, 4_000))))
        case 9...10: return .createRoom(CreateRoom(room: hosted()))
        case 11...16:
            guard !rooms.isEmpty else { return nil }
            return .joinRoom(JoinRoom(roomId: rooms[random.below(rooms.count)], asSpectator: random.chance(200)))
        case 17: return .leaveRoom(LeaveRoom())
        case 18:
            return .getRoomList(
                GetRoomList(roomType: "", limit: UInt32(random.below(4)), toSpectate: random.chance(300)))
        default: return nil
        }
    }

    /// Few keys, so that callers meet.
    private mutating func config() -> RoomConfig {
        let size = UInt32(2 + random.below(2))
        var config = RoomConfig(maxPlayerCount: size, type: size == 2 ? "duel" : "trio")
        config.frameRate = UInt32(5 + random.below(3) * 5)
        config.allowLateJoin = random.chance(600)
        config.lockedDuringFrameSync = random.chance(200)
        config.maxSpectatorCount = UInt32(random.below(3))
        return config
    }

    private mutating func hosted() -> RoomConfig {
        var config = config()
        if random.chance(300) {
            config.maxPlayerCount = 4
            config.matchParams = ["mode": "free"]
        }
        config.hidden = random.chance(100)
        return config
    }

    // MARK: In a room

    private mutating func call(in room: RoomInfo, players: [String]) -> ClientMessage.Body? {
        let isOwner = room.ownerId == player
        // Now and then as if it were.
        let mayDecide = isOwner || random.chance(50)
        switch random.below(100) {
        case 0...19: return message(room)
        case 20...26: return .updatePlayerCustomStatus(UpdatePlayerCustomStatus(status: content(.status).status))
        case 27...31:
            return .updatePlayerCustomProperties(UpdatePlayerCustomProperties(properties: content(.properties).text))
        case 32...37 where mayDecide:
            return .updateRoomProperties(
                UpdateRoomProperties(
                    name: content(.roomName).text, customProperties: random.chance(300) ? "round" : nil))
        case 38...55 where mayDecide && machine.frameSync == nil: return .startFrameSync(StartFrameSync())
        case 56...58: return .transferRoomOwner(TransferRoomOwner(playerId: other(in: room)))
        case 59...60:
            return .kickRoomPlayer(
                KickRoomPlayer(
                    playerId: random.chance(700) ? other(in: room) : players[random.below(players.count)],
                    ban: random.chance(200)))
        case 61 where mayDecide: return .dismissRoom(DismissRoom())
        case 62...65: return seatCall == nil ? .leaveRoom(LeaveRoom()) : nil
        case 66: return .joinRoom(JoinRoom(roomId: room.id))
        case 67: return .getRoomList(GetRoomList())
        case 68...71 where machine.lastFrameId > 0:
            let last = machine.lastFrameId
            return .getFrames(
                GetFrames(first: 1 + UInt32(random.below(Int(last))), last: last + UInt32(random.below(3))))
        default: return nil
        }
    }

    private mutating func other(in room: RoomInfo) -> String {
        room.players.isEmpty ? "nobody" : room.players[random.below(room.players.count)].id
    }

    private mutating func message(_ room: RoomInfo) -> ClientMessage.Body {
        let text = content(.message).text
        guard random.chance(300), !room.players.isEmpty else {
            return .sendCustomMessage(SendCustomMessage(msg: text, type: 0))
        }
        let named = (0...random.below(2)).map { _ in other(in: room) }
        return .sendCustomMessage(SendCustomMessage(msg: text, type: 1, receivers: named))
    }

    /// What a frame makes a player do.
    mutating func frameCalls(_ frame: UInt32) -> [ClientMessage.Body] {
        guard let room = machine.room, let sync = machine.frameSync, mode == .playing, machine.isOnline else {
            return []
        }
        var calls: [ClientMessage.Body] = []
        let isPlayer = room.players.contains { $0.id == player }
        if room.ownerId == player, frame >= framesWanted, frame % 3 == 0 { return [.stopFrameSync(StopFrameSync())] }
        if isPlayer || random.chance(30), random.chance(settings.inputChance) {
            // One too many for a frame now and then.
            let count = random.chance(20) ? 7 : 1 + random.below(2)
            for _ in 0..<count {
                calls.append(
                    .sendFrameInput(
                        SendFrameInput(payload: .data(content(.input).text), frameSyncId: sync.frameSyncId)))
            }
        }
        guard isPlayer else { return calls }
        if frame % 8 == 0 {
            let hash: UInt8 = random.chance(20) ? 1 : 0
            calls.append(.reportFrameHash(ReportFrameHash(frameId: frame, hash: [hash])))
        }
        if room.ownerId == player, frame % 25 == 0 {
            let state = (0..<4).map { UInt8(truncatingIfNeeded: frame >> ($0 * 8)) }
            calls.append(.putSnapshot(PutSnapshot(frameId: frame, state: state)))
        }
        return calls
    }
}
