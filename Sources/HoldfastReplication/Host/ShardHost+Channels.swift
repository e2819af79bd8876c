import HoldfastProtocol

/// The shards' ends of channels: taking commands, sending what outboxes hold (design, rule 9).
extension ShardHost {
    // MARK: Taking commands

    mutating func takeCommands(
        _ commands: [Machine.Command?], _ first: UInt64, from source: ChannelSource, to shard: ShardID,
        _ generation: UInt64, _ sender: NodeID
    ) {
        guard let own = places[shard.number].facts.generation, places[shard.number].facts.isOpen else {
            refuse(source, sender, shard, .notPrimary(places[shard.number].route))
            return
        }
        guard generation == own else {
            if generation < own {
                refuse(source, sender, shard, .generation(own))
            } else {
                out.append(.readRecord(shard))
            }
            return
        }
        // What is still under way from a process that will never come back is not new.
        if case .gateway(let gateway, _) = source, let at = nodes[gateway.incarnation], view.isLost(at) { return }
        if places[shard.number].accepted(of: source) == nil, !meet(source, sender, shard) { return }
        guard var accepted = places[shard.number].accepted(of: source) else { return }
        // Only with a mutation.
        if accepted == ShardState<Machine>.unknown { accepted = first - 1 }
        var number = first
        var isNews = false
        for command in commands {
            if number == accepted + 1 {
                // A full tail takes no more; the sender keeps the rest and tries again.
                guard places[shard.number].facts.isOpen else { break }
                log(
                    command.map { .command(source, number: number, $0) } ?? .emptied(source, number: number), in: shard,
                    isPatient: command?.isPatient ?? false, drawsRandomness: command?.drawsRandomness ?? false)
                accepted = number
                isNews = true
                let index = places[shard.number].facts.last
                places[shard.number].untold.append(.init(index: index, source: source, number: number))
            }
            number &+= 1
        }
        if !isNews, view.mayTell(atMs: nowMs), places[shard.number].facts.isSettled,
            !isUntold(source, in: shard), isCommitted(source, in: shard)
        {
            // Nothing new: the sender has missed that it was taken, or a part is missing before this one.
            tellTaken(source, accepted, shard)
        }
        pump(shard)
    }

    private func isUntold(_ source: ChannelSource, in shard: ShardID) -> Bool {
        places[shard.number].untold.all.contains { $0.element.source == source }
    }

    /// Whether what began this life of the channel is committed.
    private mutating func isCommitted(_ source: ChannelSource, in shard: ShardID) -> Bool {
        guard case .gateway(let gateway, _) = source else { return true }
        return places[shard.number].isSessionCommitted(of: gateway)
    }

    /// A source with another session or generation than the one known.
    /// - Returns: whether it is one to listen to now.
    private mutating func meet(_ source: ChannelSource, _ sender: NodeID, _ shard: ShardID) -> Bool {
        switch source {
        case .gateway(let gateway, let session):
            let known = places[shard.number].session(of: gateway)
            if session < known {
                // An effect of the entry that ended the session, like any other. The sender tries again.
                if mayTell(shard.number), places[shard.number].isSessionCommitted(of: gateway) {
                    refuse(source, sender, shard, .session(known))
                }
                return false
            }
            log(.gatewayLost(gateway, session: session), in: shard, isPatient: false)
        case .shard(let peer, let generation):
            guard generation > places[shard.number].knownGeneration(of: peer) else { return false }
            log(.shardLost(peer, generation: generation), in: shard, isPatient: false, drawsRandomness: true)
        }
        return true
    }

    private mutating func refuse(
        _ source: ChannelSource, _ sender: NodeID, _ shard: ShardID, _ why: ChannelRefusal
    ) {
        post(.commandsRefused(by: shard, from: source, why), to: sender)
    }

    // MARK: Logging and letting go

    /// Nothing happens when this replica takes no entries now.
    /// - Parameter isAtHand: it is known that this gateway gets what is made for it at once.
    mutating func log(
        _ body: EntryBody<Machine.Command>, in shard: ShardID, isPatient: Bool, drawsRandomness: Bool = false,
        isAtHand: Bool = false
    ) {
        guard places[shard.number].facts.isOpen else { return }
        let random = drawsRandomness ? (generator.next(), generator.next()) : (0, 0)
        var isDirect = isAtHand
        if !isDirect, leavesAtOnce(shard.number) {
            isDirect = places[shard.number].session(of: gateway) == places[shard.number].channel.session
        }
        let own = gateway
        places[shard.number].replica?.append(
            body, random: random, isPatient: isPatient, direct: isDirect ? own : nil, nowMs: nowMs,
            into: &replicaEffects)
        entries += 1
        if isDirect, let last = places[shard.number].replica?.state?.takeDirect(into: &directItems) {
            for item in directItems { out.append(.item(item)) }
            directItems.removeAll(keepingCapacity: directItems.capacity <= 1024)
            places[shard.number].channel.received = last
            places[shard.number].channel.reported = last
        }
        // Entries that are not made here leave nothing at once.
        places[shard.number].replica?.state?.direct = nil
        carryOut(shard)
        arm(shard)
    }

    /// Whether effects of entries leave as soon as these are made, for a gateway that knows this generation.
    func leavesAtOnce(_ place: Int) -> Bool {
        places[place].facts.isAlone && places[place].facts.mayTell && view.mayTell(atMs: nowMs)
            && places[place].facts.generation == places[place].channel.generation
    }

    mutating func arm(_ shard: ShardID) {
        deadlines.set(places[shard.number].replica?.nextEntryMs(), for: shard)
    }

    /// Whether effects may leave, as far as this node and the record are concerned.
    private func mayTell(_ place: Int) -> Bool {
        if settings.mutations.contains(.noFence) { return places[place].facts.isStarted }
        return view.mayTell(atMs: nowMs) && places[place].facts.mayTell
    }

    /// Up to which entry effects may leave.
    private func tellable(_ place: Int) -> UInt64 {
        settings.mutations.contains(.toldEarly) ? places[place].facts.last : places[place].facts.committed
    }

    /// Lets go of what is committed.
    mutating func pump(_ shard: ShardID) {
        let i = shard.number
        guard mayTell(i) else { return }
        let committed = tellable(i)
        if !places[i].isGreeted, places[i].facts.isSettled { greet(shard) }
        places[i].noteTold(through: committed)
        while let next = places[i].untold.all.first?.element, next.index <= committed {
            var through = next.number
            places[i].untold.take(through: places[i].untold.first)
            while let more = places[i].untold.all.first?.element, more.index <= committed, more.source == next.source {
                through = more.number
                places[i].untold.take(through: places[i].untold.first)
            }
            tellTaken(next.source, through, shard)
        }
        while let (target, first, last) = places[i].replica?.state?.nextReleases(committed: committed) {
            transmit(target, from: first, through: last, shard)
        }
    }

    /// Tells all that have channels to this shard how far they have come: who was refused while it had no primary sends
    /// the rest at once.
    private mutating func greet(_ shard: ShardID) {
        places[shard.number].isGreeted = true
        for source in places[shard.number].replica?.state?.sources ?? [] {
            guard let accepted = places[shard.number].accepted(of: source), accepted < .max,
                isCommitted(source, in: shard)
            else { continue }
            // What came since the epoch began is told when it is committed.
            let oldest = places[shard.number].untold.all.first { $0.element.source == source }
            tellTaken(source, oldest.map { $0.element.number - 1 } ?? accepted, shard)
        }
    }

    /// Sends items of an outbox, as far as they are still in it.
    private mutating func transmit(
        _ target: ShardState<Machine>.Target, from first: UInt64, through last: UInt64, _ shard: ShardID
    ) {
        let i = shard.number
        guard let generation = places[i].facts.generation else { return }
        let committed = tellable(i)
        switch target {
        case .gateway(let gateway):
            guard
                let (start, items) = places[i].replica?.state?.items(
                    for: gateway, from: first, through: last, committed: committed)
            else { return }
            let session = places[i].session(of: gateway)
            if gateway == self.gateway {
                takeItems(items, start, of: shard, generation, session, from: node)
            } else if let receiver = nodes[gateway.incarnation] {
                post(
                    .items(from: shard, generation: generation, to: gateway, session: session, first: start, items),
                    to: receiver)
                if settings.mutations.contains(.outboxOnSend) {
                    note(.gateway(gateway, session: session, through: last), at: shard, target, last)
                }
            }
        case .shard(let peer):
            guard
                let (start, commands) = places[i].replica?.state?.commands(
                    for: peer, from: first, through: last, committed: committed),
                let receiver = places[peer.number].route?.record.primary
            else { return }
            post(
                .commands(
                    to: peer, generation: places[i].knownGeneration(of: peer),
                    from: .shard(shard, generation: generation), first: start, commands), to: receiver)
        }
    }

    private mutating func tellTaken(_ source: ChannelSource, _ through: UInt64, _ shard: ShardID) {
        guard let generation = places[shard.number].facts.generation else { return }
        switch source {
        case .gateway(let gateway, _):
            if gateway == self.gateway {
                commandsTaken(by: shard, generation, source, through)
            } else if let receiver = nodes[gateway.incarnation] {
                post(.commandsTaken(by: shard, generation: generation, from: source, through: through), to: receiver)
            }
        case .shard(let peer, _):
            guard let receiver = places[peer.number].route?.record.primary else { return }
            post(.commandsTaken(by: shard, generation: generation, from: source, through: through), to: receiver)
        }
    }

    // MARK: What was taken

    /// A shard took commands of this gateway, or of a shard whose primary is here.
    mutating func commandsTaken(
        by shard: ShardID, _ generation: UInt64, _ source: ChannelSource, _ through: UInt64
    ) {
        switch source {
        case .gateway(let gateway, let session):
            if gateway == self.gateway { commandsTaken(by: shard, generation, session, through) }
        case .shard(let sender, let its):
            guard places[sender.number].facts.generation == its else { return }
            note(.shard(shard, generation: generation, through: through), at: sender, .shard(shard), through)
            if places[sender.number].refusedBy.remove(shard) != nil { resendCommands(of: sender, to: shard) }
        }
    }

    mutating func commandsRefused(by shard: ShardID, _ source: ChannelSource, _ why: ChannelRefusal) {
        if case .notPrimary(let record) = why {
            if case .shard(let sender, _) = source { places[sender.number].refusedBy.insert(shard) }
            if let record { see(record, of: shard) }
        }
        switch source {
        case .gateway(let gateway, let session):
            if gateway == self.gateway { commandsRefused(by: shard, session, why) }
        case .shard(let sender, let its):
            guard places[sender.number].facts.isOpen, places[sender.number].facts.generation == its,
                case .generation(let generation) = why, generation > places[sender.number].knownGeneration(of: shard)
            else { return }
            log(.shardLost(shard, generation: generation), in: sender, isPatient: false, drawsRandomness: true)
            pump(sender)
        }
    }

    mutating func itemsTaken(
        by gateway: GatewayID, _ session: UInt64, of shard: ShardID, _ generation: UInt64, _ through: UInt64
    ) {
        guard places[shard.number].facts.generation == generation,
            places[shard.number].session(of: gateway) == session
        else { return }
        places[shard.number].informed[gateway] = session
        note(.gateway(gateway, session: session, through: through), at: shard, .gateway(gateway), through)
    }

    private mutating func note(
        _ receipt: ChannelReceipt, at shard: ShardID, _ target: ShardState<Machine>.Target, _ through: UInt64
    ) {
        guard places[shard.number].facts.isPrimary else { return }
        if !places[shard.number].facts.isAlone {
            let life =
                switch receipt {
                case .gateway(_, let session, _): session
                case .shard(_, let generation, _): generation
                }
            places[shard.number].noteTaken(target, life: life, through: through)
        }
        places[shard.number].replica?.note(receipt, nowMs: nowMs, into: &replicaEffects)
        if !replicaEffects.isEmpty { carryOut(shard) }
    }

    /// A gateway that was counted as lost and lives must know it, also when neither side has anything to say: its links
    /// hear nothing of this shard any more.
    mutating func informLostGateways(of shard: ShardID) {
        let i = shard.number
        guard mayTell(i) else { return }
        for (gateway, session, isLost) in places[i].replica?.state?.knownGateways() ?? [] {
            guard isLost, places[i].informed[gateway] != session, let receiver = nodes[gateway.incarnation],
                !view.isGone(receiver), places[i].isSessionCommitted(of: gateway)
            else { continue }
            refuse(.gateway(gateway, session: session - 1), receiver, shard, .session(session))
        }
    }

    // MARK: Sending again

    /// Looks for channels of a shard whose oldest item has not gone since the last look, and sends it again.
    mutating func resendStalled(_ shard: ShardID) {
        let i = shard.number
        guard mayTell(i), nowMs >= places[i].nextResendMs else { return }
        places[i].nextResendMs = nowMs + settings.channelResendMs
        let committed = places[i].facts.committed
        var stalls: [ShardState<Machine>.Target: UInt64] = [:]
        var again: [(ShardState<Machine>.Target, UInt64, UInt64)] = []
        for channel in places[i].replica?.state?.backlog(committed: committed) ?? [] {
            let oldest = places[i].oldest(channel.target, life: channel.life, first: channel.first)
            guard oldest <= channel.last else { continue }
            stalls[channel.target] = oldest
            if places[i].stalls[channel.target] == oldest { again.append((channel.target, oldest, channel.last)) }
        }
        places[i].stalls = stalls
        for (target, first, last) in again {
            transmit(target, from: first, through: min(last, first + UInt64(settings.resendAtOnce) - 1), shard)
        }
    }

    /// What a shard here has for another one whose primary has changed, or takes again.
    mutating func resendCommands(of shard: ShardID, to other: ShardID) {
        let i = shard.number
        guard places[i].facts.isPrimary,
            let (generation, first) = places[i].replica?.state?.firstCommand(for: other)
        else { return }
        places[i].stalls[.shard(other)] = places[i].oldest(.shard(other), life: generation, first: first)
        places[i].nextResendMs = nowMs
        resendStalled(shard)
    }

    /// What is on its way to this node's gateways and shards may be lost: it is sent again at once.
    mutating func resendAll(to peer: NodeID) {
        for shard in homes {
            let i = shard.number
            if places[i].route?.record.primary == peer { resendCommands(to: shard) }
            guard places[i].replica != nil else { continue }
            places[i].replica?.linkReset(with: peer, nowMs: nowMs, wallMs: wallMs, into: &replicaEffects)
            carryOut(shard)
            let committed = places[i].facts.committed
            for channel in places[i].replica?.state?.backlog(committed: committed) ?? [] {
                let isThere =
                    switch channel.target {
                    case .gateway(let gateway): gateway.incarnation == peer.incarnation
                    case .shard(let other): places[other.number].route?.record.primary == peer
                    }
                if isThere {
                    places[i].stalls[channel.target] = places[i].oldest(
                        channel.target, life: channel.life, first: channel.first)
                }
            }
            places[i].nextResendMs = nowMs
            resendStalled(shard)
        }
    }
}
