internal import HoldfastClient
internal import HoldfastNode
internal import HoldfastProtocol
internal import HoldfastTransport

/// The bots of one loop and their rooms: carries out what their machines order, and does what the plan says.
actor BotLoop {
    /// What all are about.
    enum Phase { case ramp, play, settle }

    let plan: BotsPlan
    let index: Int
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    var bots: [Bot] = []
    var rooms: [BotRoom] = []
    /// Of groups whose room is not known yet: nil.
    var groupRooms: [Int?] = []
    var report = BotReport()
    /// Not fetched yet.
    var pauses: [Pause] = []
    var numbers: SeededNumbers
    var phase = Phase.ramp
    var settleUntilMs: Int64 = .max
    var isEnded = false

    /// When each bot has something to do.
    private var due: [Int64] = []
    private var timer: LoopTimer?
    private var tickMs: Int64 = 0
    private var roomsMs: Int64 = 0
    private var abandoned: [(connection: WebSocketConnection, untilMs: Int64)] = []
    private let tls: TLSContext?

    private static let intervalMs: Int64 = 2
    static let roomsIntervalMs: Int64 = 100

    init(plan: BotsPlan, index: Int, loop: EventLoop, tls: TLSContext?) {
        self.plan = plan
        self.index = index
        self.loop = loop
        self.tls = tls
        numbers = SeededNumbers(seed: plan.seed &* 0x1_0001 &+ UInt64(index))
    }

    func begin() {
        makeBots()
        due = bots.map(\.dueMs)
        timer = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.tick() } }
        tickMs = loop.nowMs
        timer?.schedule(afterMs: Self.intervalMs)
    }

    private func makeBots() {
        let nowMs = loop.nowMs
        let groups = (0..<plan.rooms).filter { $0 % plan.loops == index }
        func add(_ number: Int, _ role: Bot.Role, group: Int) {
            let isText =
                switch plan.encodings {
                case .json: true
                case .protobuf: false
                case .mixed: number % 2 == 0
                }
            let bot = Bot(
                index: bots.count, number: number, name: "bot-\(plan.run)-\(number)", role: role, group: group,
                encoding: isText ? .json : .protobuf, endpoints: plan.urls.count, seed: plan.seed)
            bot.startMs = nowMs + Int64(number) * 1000 / Int64(plan.ramp)
            bots.append(bot)
        }
        for (local, group) in groups.enumerated() {
            for member in 0..<plan.members {
                add(group * plan.members + member, member < plan.players ? .player : .spectator, group: local)
            }
        }
        groupRooms = Array(repeating: nil, count: groups.count)
        for number in 0..<plan.idle where number % plan.loops == index {
            add(plan.rooms * plan.members + number, .idle, group: 0)
        }
        for number in 0..<plan.seekers where number % plan.loops == index {
            add(plan.rooms * plan.members + plan.idle + number, .seeker, group: 0)
        }
    }

    // MARK: time

    private func tick() {
        let nowMs = loop.nowMs
        if report.isMeasuring { report.latenessUs.add(loop.nowMicroseconds - (tickMs + Self.intervalMs) * 1000) }
        for index in due.indices where due[index] <= nowMs {
            due[index] = .max
            act(bots[index], nowMs)
            reschedule(bots[index])
        }
        if nowMs >= roomsMs {
            roomsMs = nowMs + Self.roomsIntervalMs
            for (connection, untilMs) in abandoned where untilMs <= nowMs { connection.abort() }
            abandoned.removeAll { $0.untilMs <= nowMs }
            dropSome(nowMs)
            tickRooms(nowMs)
        }
        tickMs = loop.nowMs
        timer?.schedule(atMs: tickMs + Self.intervalMs)
    }

    func reschedule(_ bot: Bot) { due[bot.index] = bot.dueMs }

    private func act(_ bot: Bot, _ nowMs: Int64) {
        if bot.startMs <= nowMs {
            bot.startMs = .max
            start(bot)
        }
        if bot.wakeMs <= nowMs {
            bot.wakeMs = .max
            bot.cutUs = loop.nowMicroseconds
            feed(bot, .wake)
        }
        if bot.machineMs <= nowMs {
            bot.machineMs = .max
            if let connection = bot.connection, let link = bot.link {
                feed(bot, .linkActive(link, atMs: connection.lastReceivedMs))
            }
            feed(bot, .deadline)
        }
        if !bot.inputMs.isEmpty { sendInputs(bot, nowMs) }
        if bot.messageMs <= nowMs { sendMessage(bot, nowMs) }
    }

    // MARK: the machine

    func feed(_ bot: Bot, _ input: ClientInput) {
        bot.machine.handle(input, nowMs: loop.nowMs, into: &bot.effects)
        perform(bot)
    }

    /// - Parameter then: told the outcome.
    @discardableResult
    func call(_ bot: Bot, _ body: ClientMessage.Body, _ then: ((ClientReply) -> Void)? = nil) -> UInt32 {
        // Nothing is carried out before the outcome has its place.
        let wasPerforming = bot.isPerforming
        bot.isPerforming = true
        let id = bot.machine.call(body, nowMs: loop.nowMs, into: &bot.effects)
        bot.lastId = id
        if let then { bot.calls[id] = then }
        bot.isPerforming = wasPerforming
        if case .sendFrameInput(let input) = body {
            bot.checker.sent(input: id, atUs: loop.nowMicroseconds)
            if case .dataBytes(let content)? = input.payload {
                bot.ledger?.sent(input: id, content: content, by: bot.sender)
            }
            report.inputsSent += 1
        }
        perform(bot)
        return id
    }

    private func perform(_ bot: Bot) {
        guard !bot.isPerforming else { return }
        bot.isPerforming = true
        var next = 0
        while next < bot.effects.count {
            let effect = bot.effects[next]
            next += 1
            perform(effect, bot)
        }
        bot.effects.removeAll(keepingCapacity: true)
        bot.isPerforming = false
        reschedule(bot)
    }

    private func perform(_ effect: ClientEffect, _ bot: Bot) {
        switch effect {
        case .fetchToken: feed(bot, .token(token(of: bot)))
        case .openLink(let link, let endpoint): open(link, plan.urls[endpoint], bot)
        case .closeLink(let link):
            guard bot.link == link else { break }
            bot.link = nil
            bot.attempt?.cancel()
            bot.attempt = nil
            bot.connection?.close(code: 1000)
            bot.connection = nil
        case .send(let link, let message):
            guard bot.link == link else { break }
            if bot.role != .seeker { bot.checker.sent(message, isAgain: message.id < bot.firstFreshId) }
            put(message, bot)
        case .deliver(let event): take(event, bot)
        case .complete(let id, let reply):
            bot.calls.removeValue(forKey: id)?(reply)
        case .armDeadline(let atMs): bot.machineMs = atMs
        }
    }

    func put(_ message: ClientMessage, _ bot: Bot) {
        bot.connection?.send(
            PreparedFrame(bot.encoding == .json ? .text : .binary, payload: bot.encoding.encode(message)))
    }

    private func token(of bot: Bot) -> String {
        let nowS = WallClock.nowS
        return TokenSigner.sign(
            Claims(project: plan.project, player: bot.name, issuedAtS: nowS, expiresAtS: nowS + 86_400),
            secret: plan.secret)
    }

    // MARK: links

    private func open(_ link: LinkID, _ url: String, _ bot: Bot) {
        var options = WebSocketClientOptions()
        options.subprotocols = [bot.encoding.rawValue]
        options.tls = tls
        options.webSocket.maxMessageBytes = 16 * 1024 * 1024
        bot.link = link
        let (index, encoding) = (bot.index, bot.encoding)
        bot.attempt = WebSocketClient.connect(
            to: url, on: loop, options: options,
            opened: { connection in
                self.assumeIsolated { $0.opened(connection, bot: index, link: link) }
                return BotLink(owner: self, bot: index, link: link, encoding: encoding)
            },
            failed: { error in self.assumeIsolated { $0.failed("\(error)", bot: index, link: link) } })
    }

    private func opened(_ connection: WebSocketConnection, bot index: Int, link: LinkID) {
        let bot = bots[index]
        guard bot.link == link else {
            connection.abort()
            return
        }
        bot.attempt = nil
        bot.connection = connection
        bot.firstFreshId = bot.lastId &+ 1
        bot.checker.linkOpened()
        disturbed(bot)
        feed(bot, .linkOpened(link))
    }

    /// What is sent from now on has latencies that count again.
    private func disturbed(_ bot: Bot) {
        let nowUs = loop.nowMicroseconds
        bot.checker.disturbedUs = nowUs
        if bot.role == .player { bot.ledger?.disturbed(bot.sender, atUs: nowUs) }
    }

    private func failed(_ reason: String, bot index: Int, link: LinkID) {
        let bot = bots[index]
        guard bot.link == link else { return }
        bot.attempt = nil
        bot.link = nil
        if bot.connection == nil, !plan.toleratesLoss, bot.machine.isIdle || phase != .ramp {
            report.faults.add(.linkLost, bot.name, "cannot connect: \(reason)")
        }
        feed(bot, .linkClosed(link, reason: reason))
    }

    func closed(_ reason: String, bot index: Int, link: LinkID) {
        let bot = bots[index]
        guard bot.link == link else { return }
        bot.link = nil
        bot.connection = nil
        if bot.stage != .leaving, bot.stage != .gone {
            report.linksLost += 1
            if !plan.toleratesLoss { report.faults.add(.linkLost, bot.name, reason) }
        }
        cut(bot)
        feed(bot, .linkClosed(link, reason: reason))
    }

    func received(_ message: ServerMessage, bytes: Int, bot index: Int, link: LinkID) {
        let bot = bots[index]
        guard bot.link == link else { return }
        report.bytesReceived += bytes
        if bot.role != .seeker {
            if case .roomJoined(let joined)? = message.body, message.id != 0, let room = joined.room {
                enter(bot, room.id)
            }
            bot.checker.received(message, nowUs: loop.nowMicroseconds, ledger: bot.ledger, report: &report)
        }
        if case .disconnected(let last)? = message.body, bot.stage != .leaving, !plan.toleratesLoss {
            report.faults.add(.disconnected, bot.name, "\(last.code): \(last.message)")
        }
        feed(bot, .received(link, message))
    }

    func unreadable(_ reason: String, bot index: Int, link: LinkID) {
        let bot = bots[index]
        guard bot.link == link else { return }
        report.faults.add(.unreadable, bot.name, reason)
        feed(bot, .malformed(link, reason: reason))
    }

    // MARK: drops

    private func dropSome(_ nowMs: Int64) {
        guard phase == .play, plan.drop > 0 else { return }
        let chance = plan.drop * Double(Self.roomsIntervalMs) / 1000
        for bot in bots where bot.role != .idle && bot.role != .seeker && bot.stage == .inRoom && bot.wakeMs == .max {
            if numbers.chance(chance), bot.connection != nil { drop(bot, nowMs) }
        }
    }

    /// The socket is gone, or forgotten half-open, without a word to the server.
    private func drop(_ bot: Bot, _ nowMs: Int64) {
        guard let connection = bot.connection, let link = bot.link else { return }
        report.drops += 1
        bot.link = nil
        bot.connection = nil
        if numbers.below(BotsPlan.halfOpenEvery) == 0 {
            connection.pauseReading()
            abandoned.append((connection, nowMs + 5_000))
        } else {
            connection.abort()
        }
        cut(bot)
        if numbers.below(BotsPlan.longEvery) == 0 {
            bot.wakeMs = nowMs + BotsPlan.longMs
            feed(bot, .sleep(HoldfastError(code: .networkError, message: "away for a while")))
        } else {
            feed(bot, .linkClosed(link, reason: "cut"))
        }
    }

    private func cut(_ bot: Bot) {
        bot.inputMs.removeAll(keepingCapacity: true)
        disturbed(bot)
        bot.cutUs = loop.nowMicroseconds
    }

    // MARK: for the run

    func setPhase(_ phase: Phase) {
        self.phase = phase
        if phase == .settle { settleUntilMs = loop.nowMs + BotsPlan.patienceMs }
    }

    func measure(_ isOn: Bool) { report.isMeasuring = isOn }

    /// The counts so far, and the lines and pauses that were not told yet.
    func look() -> (
        report: BotReport, lines: [String], pauses: [Pause], online: Int, playing: Int, gone: Int, isEnded: Bool
    ) {
        defer { pauses = [] }
        let lines = report.faults.takeLines()
        let online = bots.count { $0.machine.isOnline }
        let gone = bots.count { $0.stage == .gone }
        return (report, lines, pauses, online, rooms.count { $0.stage == .playing }, gone, isEnded)
    }

    func end() {
        timer?.cancel()
        timer = nil
    }
}
