internal import HoldfastClient
internal import HoldfastProtocol
internal import HoldfastTransport

/// What bots wait for, and how long.
extension BotLoop {
    /// A frame was delivered.
    func passed(to nowUs: Int64, _ bot: Bot) {
        defer { bot.frameUs = nowUs }
        guard bot.frameUs != 0, phase == .play else { return }
        let lengthUs = nowUs - bot.frameUs
        guard lengthUs > plan.frameIntervalMs * 1000 * BotsPlan.pauseIntervals else { return }
        add(Pause(kind: .frame, who: bot.name, endedUs: nowUs, lengthUs: lengthUs))
    }

    private func add(_ pause: Pause) {
        if pauses.count < Pause.kept { pauses.append(pause) }
    }

    /// A seeker that is in no room looks for a match, with itself alone.
    func seekMatch(_ bot: Bot) {
        guard phase != .settle, loop.nowMs >= bot.seekMs else { return }
        bot.stage = .entering
        if bot.soughtUs == 0 { bot.soughtUs = loop.nowMicroseconds }
        let config = RoomConfig(maxPlayerCount: 1, type: "seek", matchParams: ["seeker": bot.name])
        call(bot, .matchRoom(MatchRoom(room: config))) { [self] reply in
            switch reply {
            case .success:
                let nowUs = loop.nowMicroseconds
                if phase == .play {
                    add(Pause(kind: .match, who: bot.name, endedUs: nowUs, lengthUs: nowUs - bot.soughtUs))
                }
                bot.soughtUs = 0
                bot.seekMs = loop.nowMs + 500
            case .failure(let error):
                bot.seekMs = loop.nowMs + 200
                // Whether the one before was left is not known, when that was answered with 1.
                let isExpected = error.code == .serverError || error.code == .alreadyInRoom
                if !isExpected || !plan.toleratesLoss {
                    report.faults.add(.callFailed, bot.name, "matching: \(error)")
                }
            }
            leaveMatch(bot)
        }
    }

    private func leaveMatch(_ bot: Bot) {
        call(bot, .leaveRoom(LeaveRoom())) { [self] reply in
            bot.stage = .connected
            guard case .failure(let error) = reply, error.code != .notInRoom else { return }
            if error.code != .serverError || !plan.toleratesLoss {
                report.faults.add(.callFailed, bot.name, "leaving a match: \(error)")
            }
        }
    }
}
