public import HoldfastProtocol

extension ConnectionMachine {
    /// To be called when this gateway hears that it has lost a shard.
    /// - Parameters:
    ///   - home: of the layout of the limits.
    ///   - awaits: whether the link has a room's word there waiting (`RoomOrder.waits`).
    public mutating func shardLost(_ home: ShardID, _ why: LinksLoss, awaits: Bool = false) -> [Output] {
        if case .closed = phase { return [] }
        guard let player = charged else { return [] }
        let layout = limits.layout
        let isSeats = seat.map { layout.home(of: $0.room.shard) == home } ?? false
        guard layout.home(of: player.shard) == home else {
            switch why {
            case .generation:
                // The player's shard tells how the seat ended.
                if isSeats { isSeatInDoubt = true }
                return []
            case .session:
                // What a room said of a seat that this link waits for may be void with the rest: any room, for a match.
                let mayBeSeated = withSession { $0.window.hasOpenSeatCall } ?? false
                guard isSeats || awaits || mayBeSeated else { return [] }
                return end(.draining, "the room counted this node as lost")
            case .cutOff: return isSeats || awaits ? end(.draining, "this node is cut off from the room") : []
            }
        }
        switch why {
        case .generation: return end(.serverError, "what the cluster knew of this player was lost")
        case .session: return end(.draining, "the cluster counted this node as lost")
        case .cutOff: return end(.draining, "this node is cut off from the player's shard")
        }
    }

    /// The player's shard, or the room itself, says that the claim ended with a shard that was lost.
    mutating func seatLost(_ claim: Claim, _ calls: [UInt32], _ error: ErrorReply, _ out: inout [Output]) {
        note(ended: claim)
        let isKnown = seat?.claim == claim
        if isKnown {
            seat = nil
            withSession { $0.window.unseat() }
        }
        let isKept = RequestMemory.keeps(.error(error))
        for id in calls { answer(id, error, isKept: isKept, &out) }
        if isKnown || seat == nil {
            let lost = ErrorReply(.serverError, "the room was lost before this was done")
            for id in withSession({ $0.window.openRoomCalls }) ?? [] { answer(id, lost, isKept: true, &out) }
        }
        var isLeaving = withSession { $0.window.hasOpenLeave } ?? false
        for id in withSession({ $0.takeLeft() }) ?? [] {
            isLeaving = true
            settle(id, .ok(Ok()), .player, &out)
        }
        if isKnown, !isLeaving { out.append(.send(ServerMessage(body: .serviceError(PlayerMachine.seatIsLost)))) }
        sendHeld(&out)
    }

    private mutating func answer(_ id: UInt32, _ error: ErrorReply, isKept: Bool, _ out: inout [Output]) {
        let owed = withSession { $0.window.close(id, isKept: isKept) } ?? 0
        for _ in 0..<owed { out.append(.send(ServerMessage(id: id, body: .error(error)))) }
    }
}
