internal import HoldfastClient
public import HoldfastProtocol

/// All clients of a simulation: what they do follows from the seed and from what they hear. It orders of the world what
/// the network has to do, and shows everything that is said on a link to the checker.
///
/// A token is "PROJECT/PLAYER".
public struct SimClients: Sendable {
    public let settings: SimClientSettings
    public var checker: ClientChecker
    /// By the clients' own count: what they did and heard.
    public private(set) var counts = Counts()

    public struct Counts: Sendable, Equatable {
        public var sent = 0
        public var received = 0
        public var links = 0
        public var drops = 0
        public var crashes = 0
        public var repeats = 0
        public var frames = 0
        public var joined = 0
    }

    private let players: [String]
    private var clients: [SimClient] = []
    /// By number of the link: whose it is.
    private var devices: [Int] = []
    /// Rooms that players have told each other of.
    private var rooms: [String] = []
    private var effects: [ClientEffect] = []
    private var lastLink: UInt32 = 0

    public init(settings: SimClientSettings, limits: Limits, layout: ShardLayout, seed: UInt64) {
        self.settings = settings
        var random = ClientRandom(seed: seed)
        players = (0..<settings.players).map { "p\($0)" }
        var owners = Array(players.indices)
        for second in 0..<min(settings.secondDevices, settings.players) { owners.append(second) }
        for (device, owner) in owners.enumerated() {
            clients.append(
                SimClient(
                    device: device, player: players[owner], isSecond: device >= players.count, settings: settings,
                    seed: random.next()))
        }
        checker = ClientChecker(
            project: settings.project, players: players, owners: owners, limits: limits, layout: layout)
        devices = [-1]
    }

    /// From when on they play.
    public mutating func start(nowMs: Int64) {
        for index in clients.indices {
            let latest: Int64 = clients[index].isSecond ? 10_000 : 500
            clients[index].mode = .idle(untilMs: nowMs + clients[index].random.between(0, latest))
        }
    }

    /// When `tick` is wanted next.
    public func nextDeadlineMs() -> Int64? {
        var next = Int64.max
        for client in clients { next = min(next, client.nextDeadlineMs) }
        return next == .max ? nil : next
    }

    // MARK: What comes

    public mutating func tick(nowMs: Int64, into orders: inout [ClientOrder]) {
        for device in clients.indices where clients[device].nextDeadlineMs <= nowMs {
            if let atMs = clients[device].readsAgainMs, atMs <= nowMs {
                clients[device].readsAgainMs = nil
                if let link = clients[device].link { orders.append(.reading(link, true)) }
            }
            if let atMs = clients[device].machine.nextDeadlineMs, atMs <= nowMs {
                handle(.deadline, device, nowMs, &orders)
            }
            if let act = clients[device].act(nowMs: nowMs, rooms: rooms, players: players) {
                perform(act, device, nowMs, &orders)
            }
        }
    }

    public mutating func linkOpened(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        guard let (device, own) = present(link) else { return }
        handle(.linkOpened(own), device, nowMs, &orders)
    }

    /// The other end closed or refused it, or is gone.
    public mutating func linkClosed(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        guard let (device, own) = present(link) else { return }
        checker.closed(link, byClient: false, nowMs: nowMs)
        clients[device].link = nil
        handle(.linkClosed(own, reason: "closed"), device, nowMs, &orders)
    }

    public mutating func received(
        _ message: ServerMessage, on link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]
    ) {
        guard let (device, own) = present(link) else { return }
        counts.received += 1
        checker.received(message, on: link, nowMs: nowMs)
        handle(.received(own, message), device, nowMs, &orders)
        if case .roomJoined? = message.body, clients[device].machine.isOnline, clients[device].machine.room == nil {
            clients[device].isConfused = true
        }
    }

    /// A WebSocket ping came, or its pong.
    public mutating func heardPing(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        guard let (device, own) = present(link) else { return }
        handle(.linkActive(own, atMs: nowMs), device, nowMs, &orders)
    }

    /// Whether the client still cares for it.
    public func isOpen(_ link: SimLink) -> Bool { present(link) != nil }

    private func present(_ link: SimLink) -> (Int, LinkID)? {
        guard link.index < devices.count, link.index > 0 else { return nil }
        let device = devices[link.index]
        guard clients[device].link == link, let own = clients[device].machineLink else { return nil }
        return (device, own)
    }

    // MARK: The end

    /// Nobody asks for anything new; who is away comes back. Of a player's devices one stays.
    public mutating func beginQuiet(nowMs: Int64, into orders: inout [ClientOrder]) {
        for player in players {
            let own = clients.indices.filter { clients[$0].player == player }
            let wanted = own.last { !clients[$0].machine.isIdle } ?? own[0]
            for device in own {
                clients[device].isQuiet = true
                clients[device].isWanted = device == wanted
                if device == wanted { comeBack(device, nowMs, &orders) } else { handle(.stop, device, nowMs, &orders) }
            }
        }
    }

    private mutating func comeBack(_ device: Int, _ nowMs: Int64, _ orders: inout [ClientOrder]) {
        if clients[device].readsAgainMs != nil {
            clients[device].readsAgainMs = nil
            if let link = clients[device].link { orders.append(.reading(link, true)) }
        }
        if clients[device].isConfused {
            perform(.crash(awayMs: 10, silently: false), device, nowMs, &orders)
            return
        }
        switch clients[device].mode {
        case .away: clients[device].mode = .away(untilMs: nowMs)
        case .idle: clients[device].mode = .idle(untilMs: nowMs)
        case .playing: break
        }
    }

    public mutating func atEnd(nowMs: Int64) {
        let rests = clients.map {
            ClientChecker.Rest(
                device: $0.device, isWanted: $0.isWanted, isOnline: $0.machine.isOnline,
                openCalls: $0.machine.pendingCallCount)
        }
        checker.atEnd(rests, nowMs: nowMs)
    }

    /// After `atEnd`, for invariant 14: all leave their rooms, and then, `matchAfterMs` later, all look for the same
    /// match, and nobody leaves. A second later `atFinaleEnd` counts their rooms.
    public mutating func beginFinale(nowMs: Int64, into orders: inout [ClientOrder]) {
        for device in clients.indices where clients[device].isWanted && clients[device].machine.isOnline {
            clients[device].finale = .leaving(untilMs: nowMs + Self.matchAfterMs)
            if clients[device].machine.room != nil { call(.leaveRoom(LeaveRoom()), device, nowMs, &orders) }
        }
    }

    public static let matchAfterMs: Int64 = 1_000

    public mutating func atFinaleEnd(nowMs: Int64) {
        var found: [String] = []
        for client in clients {
            guard case .matching(let atMs) = client.finale else { continue }
            if let room = client.machine.room { found.append(room.id) }
            if client.seatCall != nil || client.machine.room == nil {
                checker.found(14, "\(client.player)/\(client.device) has no match since \(atMs) ms", nowMs: nowMs)
            }
        }
        let size = Int(SimClient.finaleSize)
        let rooms = Set(found).count
        guard rooms != (found.count + size - 1) / size else { return }
        checker.found(14, "\(found.count) callers of one match for \(size) are in \(rooms) rooms", nowMs: nowMs)
    }

    // MARK: Carrying out

    private mutating func handle(_ input: ClientInput, _ device: Int, _ nowMs: Int64, _ orders: inout [ClientOrder]) {
        var effects = self.effects
        self.effects = []
        clients[device].machine.handle(input, nowMs: nowMs, into: &effects)
        carryOut(&effects, device, nowMs, silently: false, &orders)
        effects.removeAll(keepingCapacity: true)
        self.effects = effects
    }

    private mutating func call(
        _ body: ClientMessage.Body, _ device: Int, _ nowMs: Int64, _ orders: inout [ClientOrder]
    ) {
        var effects: [ClientEffect] = []
        let id = clients[device].machine.call(body, nowMs: nowMs, into: &effects)
        switch body {
        case .createRoom, .joinRoom, .leaveRoom: clients[device].seatCall = id
        case .matchRoom:
            clients[device].seatCall = id
            clients[device].isMatching = true
        default: break
        }
        carryOut(&effects, device, nowMs, silently: false, &orders)
    }

    private mutating func carryOut(
        _ effects: inout [ClientEffect], _ device: Int, _ nowMs: Int64, silently: Bool, _ orders: inout [ClientOrder]
    ) {
        var index = 0
        var calls: [ClientMessage.Body] = []
        var hasResumed = false
        while index < effects.count {
            let effect = effects[index]
            index += 1
            switch effect {
            case .fetchToken:
                let token = "\(settings.project)/\(clients[device].player)"
                clients[device].machine.handle(.token(token), nowMs: nowMs, into: &effects)
            case .openLink(let own, let endpoint): open(own, endpoint, device, nowMs, &orders)
            case .closeLink: close(device, nowMs, silently: silently, &orders)
            case .send(_, let message):
                send(message, device, nowMs, &orders)
                if clients[device].sends(message) {
                    counts.repeats += 1
                    send(message, device, nowMs, &orders)
                }
            case .deliver(let event):
                note(event)
                if case .reconnected = event { hasResumed = true }
                calls += clients[device].heard(event, nowMs: nowMs)
            case .complete(let id, let reply):
                if case .success(.roomJoined(let joined)) = reply { learn(joined.room?.id) }
                clients[device].completed(id, reply)
            case .armDeadline: break
            }
        }
        if hasResumed { repeatOnNextLink(device, nowMs, &orders) }
        for body in calls { call(body, device, nowMs, &orders) }
    }

    private mutating func note(_ event: ClientEvent) {
        switch event {
        case .frame: counts.frames += 1
        case .roomJoined: counts.joined += 1
        default: break
        }
    }

    private mutating func learn(_ room: String?) {
        guard let room, !rooms.contains(room) else { return }
        rooms.append(room)
        if rooms.count > 6 { rooms.removeFirst() }
    }

    private mutating func repeatOnNextLink(_ device: Int, _ nowMs: Int64, _ orders: inout [ClientOrder]) {
        guard !clients[device].isQuiet, !clients[device].done.isEmpty,
            clients[device].random.chance(10 * settings.repeatChance)
        else { return }
        let count = clients[device].done.count
        again(clients[device].done[clients[device].random.below(count)], device, nowMs, &orders)
    }

    private mutating func again(
        _ message: ClientMessage, _ device: Int, _ nowMs: Int64, _ orders: inout [ClientOrder]
    ) {
        guard clients[device].machine.isOnline else { return }
        counts.repeats += 1
        send(message, device, nowMs, &orders)
    }

    private mutating func open(
        _ own: LinkID, _ endpoint: Int, _ device: Int, _ nowMs: Int64, _ orders: inout [ClientOrder]
    ) {
        lastLink += 1
        counts.links += 1
        let link = SimLink(number: lastLink)
        devices.append(device)
        clients[device].machineLink = own
        clients[device].link = link
        checker.opening(link, device: device, endpoint: endpoint, nowMs: nowMs)
        orders.append(.open(link, endpoint: endpoint))
    }

    private mutating func close(_ device: Int, _ nowMs: Int64, silently: Bool, _ orders: inout [ClientOrder]) {
        clients[device].readsAgainMs = nil
        guard let link = clients[device].link else { return }
        clients[device].link = nil
        checker.closed(link, byClient: true, nowMs: nowMs)
        orders.append(.close(link, silently: silently))
    }

    private mutating func send(
        _ message: ClientMessage, _ device: Int, _ nowMs: Int64, _ orders: inout [ClientOrder]
    ) {
        guard let link = clients[device].link else { return }
        counts.sent += 1
        checker.sent(message, on: link, nowMs: nowMs)
        orders.append(.send(link, message))
    }

    private mutating func perform(
        _ act: SimClient.Act, _ device: Int, _ nowMs: Int64, _ orders: inout [ClientOrder]
    ) {
        switch act {
        case .connect: call(.connect(Connect()), device, nowMs, &orders)
        case .call(let body): call(body, device, nowMs, &orders)
        case .again(let message): again(message, device, nowMs, &orders)
        case .sleep(let awayMs, let silently):
            counts.drops += 1
            var effects: [ClientEffect] = []
            clients[device].mode = .away(untilMs: nowMs + awayMs)
            let reason = HoldfastError(code: .networkError, message: "away")
            clients[device].machine.handle(.sleep(reason), nowMs: nowMs, into: &effects)
            carryOut(&effects, device, nowMs, silently: silently, &orders)
        case .wake: handle(.wake, device, nowMs, &orders)
        case .crash(let awayMs, let silently):
            counts.crashes += 1
            close(device, nowMs, silently: silently, &orders)
            clients[device].restart()
            clients[device].mode = .away(untilMs: nowMs + awayMs)
        case .slowDown(let ms):
            guard let link = clients[device].link else { return }
            clients[device].readsAgainMs = nowMs + ms
            checker.disturbed(link)
            orders.append(.reading(link, false))
        }
    }
}
