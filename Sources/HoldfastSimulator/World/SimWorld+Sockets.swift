import HoldfastProtocol

/// A WebSocket between a client and a node.
struct SimSocket {
    let slot: Int
    /// Of the process that has it; 0: none yet.
    var serial = 0
    var toServerUs: Int64 = 0
    var toClientUs: Int64 = 0
    /// The client takes no more words from it.
    var isClientDone = false
    var isServerDone = false
    /// Nothing comes through any more, and nobody was told.
    var isBroken = false
    var isReading = true
    /// What waits for the end of a cut.
    var toServer: [ServerWord] = []
    var toClient: [ClientWord] = []
    /// What the client's system has, and the client does not read.
    var unread: [ClientWord] = []
    /// What has not left the server.
    var queued: [ClientWord] = []
    var queuedBytes = 0
    var liveBytes = 0
}

extension SimWorld {
    private func socket(_ link: SimLink) -> SimSocket? {
        sockets.indices.contains(link.index) ? sockets[link.index] : nil
    }

    private func delayUs() -> Int64 { Int64(random.from(200...4_000)) }

    // MARK: What clients order

    func carryOutOrders() {
        while !orders.isEmpty {
            let batch = orders
            orders = []
            for order in batch { carryOut(order) }
        }
        guard let dueMs = players.nextDeadlineMs, dueMs < playersDueMs else { return }
        playersDueMs = dueMs
        agenda.add(.players(atMs: dueMs), atUs: max(nowUs + 1, dueMs * 1_000))
    }

    private func carryOut(_ order: ClientOrder) {
        switch order {
        case .open(let link, let endpoint):
            while sockets.count <= link.index { sockets.append(nil) }
            sockets[link.index] = SimSocket(slot: endpoint % slots.count)
            trace.mix(UInt64(link.number))
            trace.line(nowUs, "client link \(link.number) → \(slots[endpoint % slots.count].name)")
            sendToServer(.open, on: link)
        case .close(let link, let silently):
            guard socket(link) != nil else { return }
            trace.line(nowUs, "client closes link \(link.number)\(silently ? " silently" : "")")
            if silently { sockets[link.index]?.isBroken = true } else { sendToServer(.close, on: link) }
            sockets[link.index]?.isClientDone = true
        case .send(let link, let message):
            counters.clientMessages += 1
            trace.line(nowUs, "client link \(link.number) says \(message)")
            sendToServer(.message(message), on: link)
        case .reading(let link, let isReading): setReading(isReading, link)
        }
    }

    private func sendToServer(_ word: ServerWord, on link: SimLink) {
        guard let socket = socket(link), !socket.isClientDone, !socket.isBroken else { return }
        let atUs = max(nowUs + delayUs(), socket.toServerUs + 1)
        sockets[link.index]?.toServerUs = atUs
        agenda.add(.toServer(link, word), atUs: atUs)
    }

    private func setReading(_ isReading: Bool, _ link: SimLink) {
        guard let socket = socket(link), socket.isReading != isReading else { return }
        sockets[link.index]?.isReading = isReading
        trace.line(nowUs, "client link \(link.number) \(isReading ? "reads again" : "reads no more")")
        guard isReading else { return }
        agenda.add(.toClient(link, .readAgain), atUs: nowUs)
        dropQueued(link)
        for word in socket.queued { transmit(word, on: link) }
        schedule(.drained(link), for: socket.slot, socket.serial, inUs: delayUs())
    }

    // MARK: Arrivals

    func arrive(_ word: ServerWord, from link: SimLink) {
        guard let socket = socket(link), !socket.isBroken else { return }
        if slots[socket.slot].isCutFromClients {
            sockets[link.index]?.toServer.append(word)
            return
        }
        if case .open = word {
            guard let process = slots[socket.slot].process else {
                // Nobody listens there.
                sockets[link.index]?.isServerDone = true
                agenda.add(.toClient(link, .closed), atUs: nowUs + delayUs())
                return
            }
            sockets[link.index]?.serial = process.serial
            hand(.opened(link), to: socket.slot, process.serial)
            return
        }
        switch word {
        case .open: break
        case .message(let message): hand(.message(link, message), to: socket.slot, socket.serial)
        case .pong: hand(.pong(link), to: socket.slot, socket.serial)
        case .close:
            sockets[link.index]?.isServerDone = true
            hand(.closed(link), to: socket.slot, socket.serial)
        }
    }

    func arrive(_ word: ClientWord, at link: SimLink) {
        guard let socket = socket(link), !socket.isClientDone else { return }
        if case .readAgain = word {
            guard socket.isReading else { return }
            sockets[link.index]?.unread = []
            for word in socket.unread { take(word, at: link) }
            return
        }
        if socket.isBroken {
            if case .closed = word {} else { return }
        }
        if slots[socket.slot].isCutFromClients {
            sockets[link.index]?.toClient.append(word)
        } else if !socket.isReading || !socket.unread.isEmpty {
            sockets[link.index]?.unread.append(word)
        } else {
            take(word, at: link)
        }
    }

    private func take(_ word: ClientWord, at link: SimLink) {
        guard let socket = socket(link), !socket.isClientDone else { return }
        guard socket.isReading else {
            sockets[link.index]?.unread.append(word)
            return
        }
        step.kind = .socket
        trace.beginStep(timeUs: nowUs, kind: SimStep.Kind.socket.rawValue)
        switch word {
        case .opened: players.linkOpened(link, nowMs: nowMs, into: &orders)
        case .message(let message):
            trace.mix(message.seq << 20 ^ UInt64(message.id))
            trace.line(nowUs, "client link \(link.number) hears \(message)")
            players.received(message, on: link, nowMs: nowMs, into: &orders)
        case .ping:
            players.linkActive(link, nowMs: nowMs, into: &orders)
            sendToServer(.pong, on: link)
        case .closed:
            sockets[link.index]?.isClientDone = true
            trace.line(nowUs, "client link \(link.number) ends")
            players.linkClosed(link, nowMs: nowMs, into: &orders)
        case .readAgain: break
        }
        carryOutOrders()
    }

    /// The way is there again: what waited arrives before anything else.
    func endClientsCut(_ slot: Int) {
        slots[slot].isCutFromClients = false
        for i in sockets.indices {
            guard let socket = sockets[i], socket.slot == slot else { continue }
            let link = SimLink(number: UInt32(i))
            sockets[i]?.toServer = []
            sockets[i]?.toClient = []
            for word in socket.toServer { arrive(word, from: link) }
            for word in socket.toClient { arrive(word, at: link) }
        }
    }

    // MARK: The server's end

    func accepted(_ link: SimLink, _ serial: Int) {
        counters.linksOpened += 1
        if let slot = socket(link)?.slot, !isQuiet, activeFaults.contains(true) {
            players.disturbed(endpoint: slot, nowMs: nowMs)
        }
        sendToClient(.opened, on: link, bytes: 0, isLive: false)
    }

    /// - Returns: false when the client reads so slowly that its queue overflows.
    @discardableResult
    func sendToClient(_ word: ClientWord, on link: SimLink, bytes: Int, isLive: Bool) -> Bool {
        guard let socket = socket(link), !socket.isServerDone else { return true }
        if socket.isReading && socket.queued.isEmpty {
            transmit(word, on: link)
            return true
        }
        sockets[link.index]?.queued.append(word)
        sockets[link.index]?.queuedBytes += bytes
        if isLive { sockets[link.index]?.liveBytes += bytes }
        return socket.liveBytes + (isLive ? bytes : 0) <= setup.sendQueueBytes
    }

    private func transmit(_ word: ClientWord, on link: SimLink) {
        guard let socket = socket(link), !socket.isClientDone, !socket.isBroken else { return }
        let atUs = max(nowUs + delayUs(), socket.toClientUs + 1)
        sockets[link.index]?.toClientUs = atUs
        agenda.add(.toClient(link, word), atUs: atUs)
    }

    func isDrained(_ link: SimLink) -> Bool { (socket(link)?.queuedBytes ?? 0) <= setup.sendQueueBytes / 16 }

    func dropQueued(_ link: SimLink) {
        sockets[link.index]?.queued = []
        sockets[link.index]?.queuedBytes = 0
        sockets[link.index]?.liveBytes = 0
    }

    func closeFromServer(_ link: SimLink) {
        sendToClient(.closed, on: link, bytes: 0, isLive: false)
        sockets[link.index]?.isServerDone = true
    }

    // MARK: Faults

    /// The process is gone: its clients' connections are closed by its system.
    func endSockets(of process: SimProcess) {
        for i in sockets.indices {
            guard let socket = sockets[i], socket.slot == process.slot, socket.serial == process.serial,
                !socket.isServerDone
            else { continue }
            let link = SimLink(number: UInt32(i))
            if !socket.isBroken { sendToClient(.closed, on: link, bytes: 0, isLive: false) }
            sockets[i]?.isServerDone = true
        }
    }

    /// - Parameter broken: of a thousand.
    func breakSockets(at slot: Int, _ broken: Int, _ silently: Bool) {
        for i in sockets.indices {
            guard let socket = sockets[i], socket.slot == slot, !socket.isServerDone, !socket.isClientDone,
                random.chance(permille: broken)
            else { continue }
            let link = SimLink(number: UInt32(i))
            trace.line(nowUs, "client link \(i) breaks\(silently ? " silently" : "")")
            sockets[i]?.isBroken = true
            guard !silently else { continue }
            agenda.add(.toClient(link, .closed), atUs: max(nowUs + delayUs(), socket.toClientUs + 1))
            schedule(.closed(link), for: slot, socket.serial, inUs: delayUs())
        }
    }
}
