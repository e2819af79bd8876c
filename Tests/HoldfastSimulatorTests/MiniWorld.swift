import HoldfastModel
import HoldfastProtocol
import HoldfastSimulator

/// A world without faults of its own, for clients to play in: few shards that each have one log, gateways, and links
/// that take their time and keep their order.
final class MiniWorld {
    private enum Parcel {
        case command(ShardCommand)
        case item(GatewayItem)
        case toGateway(SimLink, ClientMessage)
        case opened(SimLink)
        case ended(SimLink)
        case toClient(SimLink, ServerMessage)
        case closedAtClient(SimLink)
    }

    private struct Post {
        let atMs: Int64
        let order: Int
        let parcel: Parcel
    }

    private enum Way: Hashable {
        case shards(Int, Int)
        case down(Int, Int)
        case up(Int, Int)
        case fromClient(SimLink)
        case toClient(SimLink)
    }

    private struct Endpoint {
        let link: Link
        var machine: ConnectionMachine
        var order = RoomOrder<StreamMessage>()
        var isReading = true
        var unread: [ServerMessage] = []
        var wantsMore = false
    }

    static let wallOffsetMs: Int64 = 1_700_000_000_000

    let limits: SharedLimits
    let layout: ShardLayout
    private(set) var nowMs: Int64 = 1_000_000
    private var random: ClientRandom
    private var shards: [ShardMachine]
    private var indexes: [UInt64]
    private var posts: [Post] = []
    private var lastPost = 0
    private var busyUntil: [Way: Int64] = [:]
    private var endpoints: [SimLink: Endpoint] = [:]
    private var simLinks: [Link: SimLink] = [:]
    private var budgets: [PlayerKey: PlayerBudgets] = [:]
    private var lastLink: UInt64 = 0
    private var nextTickMs: Int64
    private let tokens = MiniTokens()
    /// Changes what clients are told, for tests of the checker.
    var spoil: (ServerMessage, SimLink) -> [ServerMessage] = { message, _ in [message] }

    var clients: SimClients

    /// - Parameter secretly: changes limits behind the checker's back.
    init(
        seed: UInt64, settings: SimClientSettings = SimClientSettings(), secretly: (inout Limits) -> Void = { _ in }
    ) {
        var limits = Limits()
        limits.resumeWindowMs = 6_000
        limits.heartbeatMs = 1_500
        let checked = limits
        secretly(&limits)
        var settings = settings
        settings.endpoints = 2
        settings.resumeWindowMs = Int64(checked.resumeWindowMs)
        self.limits = SharedLimits(limits)
        layout = ShardLayout(entityShards: 3, matchShards: 1)
        random = ClientRandom(seed: seed &* 977)
        shards = layout.homes.map { [limits = self.limits] _ in ShardMachine(configuration: limits) }
        indexes = shards.map { _ in 0 }
        nextTickMs = nowMs + 100
        clients = SimClients(settings: settings, limits: checked, layout: layout, seed: seed)
    }

    // MARK: Time

    func run(ms: Int64) {
        let endMs = nowMs + ms
        while clients.checker.isClean {
            var next = min(endMs, nextTickMs)
            if let post = posts.first { next = min(next, post.atMs) }
            if let atMs = clients.nextDeadlineMs() { next = min(next, atMs) }
            for index in shards.indices { next = min(next, shards[index].nextDeadlineMs() ?? .max) }
            nowMs = max(nowMs, next)
            while let post = posts.first, post.atMs <= nowMs {
                popFirst()
                perform(post.parcel)
            }
            for index in shards.indices where shards[index].nextDeadlineMs() ?? .max <= nowMs { log(.tick, in: index) }
            if nextTickMs <= nowMs { tickGateways() }
            with { $0.tick(nowMs: $1, into: &$2) }
            if nowMs >= endMs { return }
        }
    }

    func with(_ change: (inout SimClients, Int64, inout [ClientOrder]) -> Void) {
        var orders: [ClientOrder] = []
        change(&clients, nowMs, &orders)
        for order in orders { carryOut(order) }
    }

    private func tickGateways() {
        nextTickMs = nowMs + 100
        for link in endpoints.keys.sorted() { step(link) { [nowMs] machine, _ in machine.tick(nowMs: nowMs) } }
    }

    // MARK: Posts, a heap by time

    private func send(_ parcel: Parcel, _ way: Way, _ least: Int64, _ most: Int64) {
        let atMs = max(busyUntil[way] ?? 0, nowMs + random.between(least, most))
        busyUntil[way] = atMs
        lastPost += 1
        posts.append(Post(atMs: atMs, order: lastPost, parcel: parcel))
        var i = posts.count - 1
        while i > 0, isBefore(posts[i], posts[(i - 1) / 2]) {
            posts.swapAt(i, (i - 1) / 2)
            i = (i - 1) / 2
        }
    }

    private func isBefore(_ a: Post, _ b: Post) -> Bool { (a.atMs, a.order) < (b.atMs, b.order) }

    private func popFirst() {
        posts.swapAt(0, posts.count - 1)
        posts.removeLast()
        var i = 0
        while true {
            var least = i
            for child in [2 * i + 1, 2 * i + 2] where child < posts.count && isBefore(posts[child], posts[least]) {
                least = child
            }
            if least == i { return }
            posts.swapAt(i, least)
            i = least
        }
    }

    // MARK: Clients' orders

    private func carryOut(_ order: ClientOrder) {
        switch order {
        case .open(let link, let endpoint):
            lastLink += 1
            let gateway = GatewayID(incarnation: 1, loop: UInt32(endpoint))
            let own = Link(gateway: gateway, number: lastLink, encoding: .protobuf)
            endpoints[link] = Endpoint(link: own, machine: ConnectionMachine(link: own, limits: limits, nowMs: nowMs))
            simLinks[own] = link
            send(.opened(link), .toClient(link), 1, 20)
        case .close(let link, let silently):
            let late = silently ? 2 * Int64(limits.value.heartbeatMs) : 0
            send(.ended(link), .fromClient(link), 1 + late, 20 + late)
        case .send(let link, let message): send(.toGateway(link, message), .fromClient(link), 1, 20)
        case .reading(let link, let isReading):
            endpoints[link]?.isReading = isReading
            guard isReading, let unread = endpoints[link]?.unread else { return }
            endpoints[link]?.unread = []
            for message in unread { send(.toClient(link, message), .toClient(link), 1, 20) }
            if endpoints[link]?.wantsMore == true { pull(link) }
        }
    }

    private func perform(_ parcel: Parcel) {
        switch parcel {
        case .command(let command):
            log(.command(command), in: layout.home(of: command.shard).number)
        case .item(.deliver(let link, let delivery)): if let link = simLinks[link] { deliver(delivery, to: link) }
        case .item(.stream(let room, let links, let except, let message)):
            for link in links where link != except {
                if let link = simLinks[link] { stream(message, of: room, to: link) }
            }
        case .toGateway(let link, let message): receive(message, on: link)
        case .opened(let link): with { $0.linkOpened(link, nowMs: $1, into: &$2) }
        case .ended(let link):
            step(link) { machine, _ in machine.socketEnded() }
            forget(link)
        case .toClient(let link, let message): with { $0.received(message, on: link, nowMs: $1, into: &$2) }
        case .closedAtClient(let link): with { $0.linkClosed(link, nowMs: $1, into: &$2) }
        }
    }

    private func forget(_ link: SimLink) {
        if let endpoint = endpoints[link] { simLinks[endpoint.link] = nil }
        endpoints[link] = nil
    }

    private func toClient(_ message: ServerMessage, _ link: SimLink) {
        for message in spoil(message, link) {
            if endpoints[link]?.isReading == false {
                endpoints[link]?.unread.append(message)
            } else {
                send(.toClient(link, message), .toClient(link), 1, 20)
            }
        }
    }

    // MARK: Gateways

    private var surroundings: ConnectionMachine.Surroundings {
        .init(nowMs: nowMs, wallMs: nowMs + Self.wallOffsetMs, tokens: tokens, node: "mini")
    }

    private func receive(_ message: ClientMessage, on link: SimLink) {
        var decoded = DecodedClientMessage(unreadable: WireError("none"))
        decoded.id = message.id
        decoded.idWasRead = true
        if case .connect? = message.body { decoded.bodyName = "connect" }
        decoded.message = .success(message)
        let around = surroundings
        step(link) { $0.receive(decoded, budgets: &$1, around) }
    }

    private func step(
        _ link: SimLink, _ change: (inout ConnectionMachine, inout PlayerBudgets) -> [ConnectionMachine.Output]
    ) {
        guard var machine = endpoints[link]?.machine else { return }
        let player = machine.charged
        var spent = player.flatMap { budgets[$0] } ?? PlayerBudgets(limits.value)
        let outputs = change(&machine, &spent)
        if let player { budgets[player] = spent }
        endpoints[link]?.machine = machine
        for output in outputs {
            switch output {
            case .send(let message): toClient(message, link)
            case .sendFrames(let id, let frames): toClient(Self.message(frames, id: id), link)
            case .route(let command): route(command, from: endpoints[link]?.link)
            case .close:
                send(.closedAtClient(link), .toClient(link), 1, 20)
                forget(link)
            }
        }
    }

    private func route(_ command: ShardCommand, from link: Link?) {
        guard let link else { return }
        send(.command(command), .up(Int(link.gateway.loop), layout.home(of: command.shard).number), 0, 3)
    }

    static func message(_ frames: StoredFrames, id: UInt32 = 0) -> ServerMessage {
        let bytes = try? Encoding.protobuf.encode(
            storedFrames: frames.frames, firstKept: frames.firstKept, partial: frames.partial,
            frameSyncId: frames.frameSyncID, id: id, seq: frames.seq)
        return (try? Encoding.protobuf.decode(ServerMessage.self, from: bytes ?? [])) ?? ServerMessage()
    }

    static func message(_ bytes: [UInt8]) -> ServerMessage {
        (try? Encoding.protobuf.decode(ServerMessage.self, from: bytes)) ?? ServerMessage()
    }

    private func stream(_ message: StreamMessage, of room: String, to link: SimLink) {
        guard mayPass(.stream(message, room: room), link) else { return }
        toClient(message.message, link)
        if endpoints[link]?.unread.count ?? 0 > 40 {
            endpoints[link]?.unread = []
            endpoints[link]?.isReading = true
            step(link) { machine, _ in machine.end(.slowConsumer, "too slow") }
        }
    }

    private func mayPass(_ word: RoomOrder<StreamMessage>.Word, _ link: SimLink) -> Bool {
        guard let machine = endpoints[link]?.machine else { return false }
        return endpoints[link]?.order.judge(word, seat: machine.seat, ended: machine.endedClaims) == .pass
    }

    private func deliver(_ delivery: Delivery, to link: SimLink) {
        guard endpoints[link] != nil, mayPass(.delivery(delivery), link) else { return }
        if case .replay(_, let messages, let atHead) = delivery {
            for message in messages {
                switch message {
                case .event(let bytes): toClient(Self.message(bytes), link)
                case .frames(let frames): toClient(Self.message(frames), link)
                }
            }
            if atHead { return }
            if endpoints[link]?.isReading == true { pull(link) } else { endpoints[link]?.wantsMore = true }
            return
        }
        let around = surroundings
        step(link) { $0.deliver(delivery, budgets: &$1, around) }
        switch delivery {
        case .unseated, .seatLost: break
        default: return
        }
        for word in endpoints[link]?.order.release() ?? [] {
            switch word {
            case .delivery(let delivery): deliver(delivery, to: link)
            case .stream(let message, let room): stream(message, of: room, to: link)
            }
        }
    }

    private func pull(_ link: SimLink) {
        endpoints[link]?.wantsMore = false
        guard let endpoint = endpoints[link], let seat = endpoint.machine.seat, let player = endpoint.machine.player
        else { return }
        route(.room(seat.room, .pull(player: player.id, seat.claim, endpoint.link)), from: endpoint.link)
    }

    // MARK: Shards

    private func log(_ step: MachineStep<ShardCommand>, in index: Int) {
        indexes[index] += 1
        var draws = true
        if case .command(let command) = step { draws = command.drawsRandomness }
        let place = EntryPlace(
            index: indexes[index], timeMs: nowMs, wallMs: nowMs + Self.wallOffsetMs,
            random: draws ? (random.next(), random.next()) : (0, 0))
        var effects: [ShardEffect] = []
        shards[index].apply(step, at: place, into: &effects)
        for effect in effects {
            switch effect {
            case .command(let command):
                send(.command(command), .shards(index, layout.home(of: command.shard).number), 0, 3)
            case .deliver(let gateway, let item): send(.item(item), .down(index, Int(gateway.loop)), 0, 3)
            }
        }
    }
}

/// A token is "project/player".
private struct MiniTokens: TokenChecking {
    func check(_ token: String, nowS: Int64) -> Result<VerifiedToken, WireError> {
        guard let player = claimedPlayer(of: token) else { return .failure(WireError("the token is bad")) }
        return .success(VerifiedToken(player: player, name: player.id, avatar: ""))
    }

    func claimedPlayer(of token: String) -> PlayerKey? {
        let parts = token.split(separator: "/")
        guard parts.count == 2 else { return nil }
        return PlayerKey(project: String(parts[0]), id: String(parts[1]))
    }
}
