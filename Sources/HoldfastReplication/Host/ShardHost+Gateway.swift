import HoldfastProtocol

/// The gateway's ends of channels (design, rule 10): commands of links to the shards, and what shards have for links.
extension ShardHost {
    // MARK: Commands

    mutating func send(_ command: Machine.Command) {
        let shard = layout.home(of: command.shard)
        let i = shard.number
        if isAtHand(i) {
            // Taken at once: there is nothing to keep.
            let number = places[i].channel.outbox.skip()
            places[i].channel.sent = number
            log(
                .command(source(shard), number: number, command), in: shard, isPatient: command.isPatient,
                drawsRandomness: command.drawsRandomness, isAtHand: true)
            pump(shard)
            return
        }
        if places[i].channel.outbox.count >= settings.gatewayOutboxLimit {
            // Nothing is taken there. The links are told, and the shard counts them as dropped when it hears again.
            beginSession(places[i].channel.session + 1, shard, .cutOff)
            places[i].channel.isUnheard = true
            places[i].channel.progressMs = nowMs
            return
        }
        if places[i].channel.outbox.isEmpty { places[i].channel.progressMs = nowMs }
        let number = places[i].channel.outbox.append(command)
        guard places[i].channel.sent + 1 == number else { return }
        places[i].channel.sent = number
        if places[i].facts.isOpen, places[i].facts.generation == places[i].channel.generation {
            takeCommands([command], number, from: source(shard), to: shard, places[i].channel.generation, node)
        } else if let primary = places[i].route?.record.primary {
            post(
                .commands(
                    to: shard, generation: places[i].channel.generation, from: source(shard), first: number,
                    [command]), to: primary)
        } else {
            places[i].channel.sent = number - 1
        }
    }

    /// Whether a shard takes this gateway's next command at once: it is here, has no other replica, and nothing waits.
    private mutating func isAtHand(_ i: Int) -> Bool {
        guard places[i].facts.isOpen, leavesAtOnce(i), places[i].channel.outbox.isEmpty, places[i].untold.isEmpty
        else { return false }
        return places[i].accepted(of: .gateway(gateway, session: places[i].channel.session))
            == places[i].channel.outbox.last
    }

    private func source(_ shard: ShardID) -> ChannelSource {
        .gateway(gateway, session: places[shard.number].channel.session)
    }

    /// To the primary as it is known now.
    mutating func resendCommands(to shard: ShardID) {
        let i = shard.number
        guard !places[i].channel.outbox.isEmpty || places[i].channel.isUnheard,
            let primary = places[i].route?.record.primary
        else { return }
        let first = places[i].channel.outbox.first
        let commands = Array(places[i].channel.outbox.all.prefix(settings.resendAtOnce).map { $0.element })
        places[i].channel.sent = first + UInt64(commands.count) - 1
        places[i].channel.progressMs = nowMs
        post(
            .commands(
                to: shard, generation: places[i].channel.generation, from: source(shard), first: first, commands),
            to: primary)
    }

    mutating func commandsTaken(by shard: ShardID, _ generation: UInt64, _ session: UInt64, _ through: UInt64) {
        let i = shard.number
        guard places[i].channel.generation == generation, places[i].channel.session == session else { return }
        shardHeard(shard)
        if through >= places[i].channel.outbox.first {
            places[i].channel.outbox.take(through: through)
            places[i].channel.progressMs = nowMs
            places[i].channel.suspect = (0, 0)
        }
        // What could not be sent for being too much at once.
        if places[i].channel.sent < places[i].channel.outbox.last, places[i].channel.sent <= through {
            resendCommands(to: shard)
        }
    }

    mutating func commandsRefused(by shard: ShardID, _ session: UInt64, _ why: ChannelRefusal) {
        let i = shard.number
        if case .session(let known) = why {
            if known > places[i].channel.session { beginSession(known, shard, .session) }
            if let primary = places[i].route?.record.primary { report(shard, to: primary) }
            return
        }
        guard places[i].channel.session == session else { return }
        switch why {
        // Sent again when the record changes, when the shard takes again, or after a while.
        case .notPrimary: places[i].channel.sent = places[i].channel.outbox.first - 1
        case .generation(let generation): generationSeen(generation, shard)
        case .session: break
        }
    }

    /// All that was under way to and from the shard is void.
    mutating func beginSession(_ session: UInt64, _ shard: ShardID, _ why: LinksLoss) {
        places[shard.number].channel = GatewayEnd(generation: places[shard.number].channel.generation, session: session)
        out.append(.linksLost(shard, why))
    }

    /// The shard has answered in a session that this gateway began. What it had said in the one before is void, also to
    /// links that have asked for a seat since.
    private mutating func shardHeard(_ shard: ShardID) {
        guard places[shard.number].channel.isUnheard else { return }
        places[shard.number].channel.isUnheard = false
        out.append(.linksLost(shard, .session))
    }

    mutating func generationSeen(_ generation: UInt64, _ shard: ShardID) {
        guard generation > places[shard.number].channel.generation else { return }
        places[shard.number].channel = GatewayEnd(generation: generation, session: 1)
        out.append(.linksLost(shard, .generation))
    }

    /// The primary that this gateway sent to has died. Which command it died of nobody knows; one that was first in
    /// line twice is not sent a third time.
    mutating func primaryDied(of shard: ShardID) {
        let i = shard.number
        guard !places[i].channel.outbox.isEmpty, places[i].channel.sent >= places[i].channel.outbox.first else {
            return
        }
        let oldest = places[i].channel.outbox.first
        let deaths = places[i].channel.suspect.number == oldest ? places[i].channel.suspect.deaths + 1 : 1
        places[i].channel.suspect = (oldest, deaths)
        guard deaths >= 2, let command = places[i].channel.outbox.empty(oldest) else { return }
        places[i].channel.emptied[oldest] = command
    }

    // MARK: Items

    mutating func takeItems(
        _ items: [ChannelItem<Machine.Item>], _ first: UInt64, of shard: ShardID, _ generation: UInt64,
        _ session: UInt64, from sender: NodeID
    ) {
        let i = shard.number
        generationSeen(generation, shard)
        if session > places[i].channel.session, generation == places[i].channel.generation {
            beginSession(session, shard, .session)
        }
        guard generation == places[i].channel.generation, session == places[i].channel.session else { return }
        shardHeard(shard)
        places[i].channel.isCutOff = false
        var number = first
        var isNew = false
        for item in items {
            if number == places[i].channel.received + 1 {
                places[i].channel.received = number
                isNew = true
                switch item {
                case .item(let item): out.append(.item(item))
                case .emptied(let number):
                    if let command = places[i].channel.emptied.removeValue(forKey: number) {
                        out.append(.emptied(command))
                    }
                }
            }
            number &+= 1
        }
        if places[i].facts.isPrimary, sender == node, isPinnedHere(shard) {
            places[i].channel.reported = places[i].channel.received
            itemsTaken(by: gateway, session, of: shard, generation, places[i].channel.received)
        } else if !isNew || places[i].channel.received - places[i].channel.reported >= 64 {
            report(shard, to: sender)
        }
    }

    private mutating func report(_ shard: ShardID, to receiver: NodeID) {
        let channel = places[shard.number].channel
        places[shard.number].channel.reported = channel.received
        post(
            .itemsTaken(
                by: gateway, session: channel.session, of: shard, generation: channel.generation,
                through: channel.received), to: receiver)
    }

    // MARK: Time

    mutating func sweepGateway(_ shard: ShardID) {
        let i = shard.number
        guard let route = places[i].route else { return }
        if places[i].channel.received > places[i].channel.reported { report(shard, to: route.record.primary) }
        if view.cutOff.contains(route.record.primary) {
            if !places[i].channel.isCutOff {
                places[i].channel.isCutOff = true
                out.append(.linksLost(shard, .cutOff))
            }
        } else {
            places[i].channel.isCutOff = false
        }
        let isDue = !places[i].channel.outbox.isEmpty || places[i].channel.isUnheard
        if isDue, nowMs - places[i].channel.progressMs >= settings.channelResendMs {
            resendCommands(to: shard)
        }
    }
}
