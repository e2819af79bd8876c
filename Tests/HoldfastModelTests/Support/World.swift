import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// All shards and some gateways in one thread, with time that is moved by hand and randomness from a seed. It does what
/// the node's shells do: gives entries their index, time and randomness, and carries effects to where they belong.
/// What goes from one place to another keeps its order; across pairs of places the order is the one in which it was
/// sent, or a shuffled one, as links between loops and nodes may have it.
final class World {
    enum Place: Hashable {
        case shard(ShardID)
        case gateway(Int)
    }

    struct Way: Hashable {
        let from: Place
        let to: Place
    }

    enum Parcel {
        case command(ShardCommand)
        case item(GatewayItem)
        /// Tells that the sender has begun anew, or is this no more.
        case begun
        case gatewayLost(GatewayID)
    }

    private struct Shard {
        var machine: ShardMachine
        var index: UInt64 = 0
    }

    static let wallOffsetMs: Int64 = 1_700_000_000_000
    static let gateways = 3

    let limits: SharedLimits
    let tokens = TestTokens()
    private(set) var nowMs: Int64 = 1_000_000
    var random: SeededRandom
    let isShuffled: Bool

    private var shards: [ShardID: Shard] = [:]
    private var deadlines = DeadlineQueue<ShardID>()
    private var pending: [(way: Way, parcel: Parcel, stamp: Stamp)] = []
    var losses = Losses()
    private var head = 0
    /// Parcels on these ways wait.
    private var blocked: (Way) -> Bool = { _ in false }
    private var endpoints: [Link: Endpoint] = [:]
    private var budgets: [PlayerKey: PlayerBudgets] = [:]
    private var lastLink: UInt64 = 0
    private var nextGatewayTickMs: Int64
    private(set) var clients: [Client] = []

    /// Sees what goes on its way, and may put something else in its place.
    var onParcel: (Parcel) -> Parcel = { $0 }
    /// Sees what was applied, and may put another machine in place of the one that did.
    var onApplied: (Applied, inout ShardMachine) -> Void = { _, _ in }

    struct Applied {
        let shard: ShardID
        let step: MachineStep<ShardCommand>
        let place: EntryPlace
        let effects: [ShardEffect]
    }

    /// One link's end at a gateway.
    private struct Endpoint {
        var machine: ConnectionMachine
        let client: Client
        var order = RoomOrder<StreamMessage>()
    }

    /// - Parameter budgets: without them a test may make as many calls in no time as it likes.
    init(
        seed: UInt64 = 1, shuffled: Bool = false, budgets: Bool = false, rooms: [String: Int] = [:],
        layout: ShardLayout = .standard, _ change: (inout Limits) -> Void = { _ in }
    ) {
        var limits = Limits()
        if !budgets {
            limits.messagesPerSecond = 1_000_000
            limits.roomCallsPerSecond = 1_000_000
            limits.getFramesPerSecond = 1_000_000
            limits.snapshotsPerSecond = 1_000_000
            limits.linkMessagesPerSecond = 1_000_000
            limits.hashReportsPerFrame = 1_000_000
        }
        change(&limits)
        self.limits = SharedLimits(limits, rooms: rooms, layout: layout)
        random = SeededRandom(seed: seed)
        isShuffled = shuffled
        nextGatewayTickMs = nowMs + 100
    }

    var wallMs: Int64 { nowMs + Self.wallOffsetMs }

    func client(_ player: String, _ encoding: Encoding = .json, project: String = "acme") -> Client {
        let client = Client(
            self, PlayerKey(project: project, id: player), encoding, gateway: clients.count % Self.gateways)
        clients.append(client)
        return client
    }

    // MARK: Links

    func open(_ client: Client, _ encoding: Encoding) -> Link {
        lastLink += 1
        let link = Link(gateway: losses.gateway(client.gateway), number: lastLink, encoding: encoding)
        let machine = ConnectionMachine(link: link, limits: limits, nowMs: nowMs)
        endpoints[link] = Endpoint(machine: machine, client: client)
        return link
    }

    var surroundings: ConnectionMachine.Surroundings {
        .init(nowMs: nowMs, wallMs: wallMs, tokens: tokens, node: "node-1")
    }

    func receive(_ message: ClientMessage, on link: Link) {
        var decoded = DecodedClientMessage(unreadable: WireError("none"))
        decoded.id = message.id
        decoded.idWasRead = true
        if case .connect? = message.body { decoded.bodyName = "connect" }
        decoded.message = .success(message)
        receive(decoded, on: link)
    }

    func receive(_ decoded: DecodedClientMessage, on link: Link) {
        let around = surroundings
        step(link) { $0.receive(decoded, budgets: &$1, around) }
    }

    func socketEnded(_ link: Link) {
        step(link) { machine, _ in machine.socketEnded() }
        endpoints[link] = nil
    }

    /// Ends the link as a shell does whose queue overflowed, or whose node leaves.
    func end(_ link: Link, _ code: ErrorCode) {
        step(link) { machine, _ in machine.end(code, "") }
    }

    func isOpen(_ link: Link) -> Bool { endpoints[link] != nil }

    func connection(_ link: Link) -> ConnectionMachine? { endpoints[link]?.machine }

    private func step(
        _ link: Link, _ change: (inout ConnectionMachine, inout PlayerBudgets) -> [ConnectionMachine.Output]
    ) {
        guard var machine = endpoints[link]?.machine else { return }
        var spent: PlayerBudgets
        let player = machine.charged
        if let player {
            spent = budgets[player] ?? PlayerBudgets(limits.value)
        } else {
            spent = PlayerBudgets(limits.value)
        }
        let outputs = change(&machine, &spent)
        if let player { budgets[player] = spent }
        endpoints[link]?.machine = machine
        carryOut(outputs, link)
    }

    private func carryOut(_ outputs: [ConnectionMachine.Output], _ link: Link) {
        guard let client = endpoints[link]?.client else { return }
        for output in outputs {
            switch output {
            case .send(let message): client.take(message, on: link)
            case .sendFrames(let id, let frames): client.take(Self.message(frames, id: id), on: link)
            case .route(let command): send(command, from: .gateway(Int(link.gateway.loop)))
            case .close(let code):
                endpoints[link] = nil
                client.closed(link, code)
            }
        }
    }

    static func message(_ frames: StoredFrames, id: UInt32 = 0) -> ServerMessage {
        do {
            let bytes = try Encoding.protobuf.encode(
                storedFrames: frames.frames, firstKept: frames.firstKept, partial: frames.partial,
                frameSyncId: frames.frameSyncID, id: id, seq: frames.seq)
            return try Encoding.protobuf.decode(ServerMessage.self, from: bytes)
        } catch {
            Issue.record("kept frames cannot be read: \(error)")
            return ServerMessage()
        }
    }

    static func message(_ bytes: [UInt8]) -> ServerMessage {
        do {
            return try Encoding.protobuf.decode(ServerMessage.self, from: bytes)
        } catch {
            Issue.record("a kept message cannot be read: \(error)")
            return ServerMessage()
        }
    }

    // MARK: Parcels

    private func send(_ command: ShardCommand, from place: Place) {
        put(.command(command), from: place, to: .shard(limits.layout.home(of: command.shard)))
    }

    private func put(_ parcel: Parcel, from: Place, to: Place) {
        pending.append((Way(from: from, to: to), onParcel(parcel), losses.stamp(from: from, to: to)))
    }

    var isQuiet: Bool { head == pending.count }

    /// Holds back what is on its way on some ways until `release`.
    func hold(_ ways: @escaping (Way) -> Bool) { blocked = ways }

    func hold(to place: Place) { hold { $0.to == place } }

    func hold(from: Place, to: Place) { hold { $0.from == from && $0.to == to } }

    func release() {
        blocked = { _ in false }
        settle()
    }

    /// Brings one parcel to where it belongs.
    /// - Returns: false when none can go.
    @discardableResult
    func deliverOne() -> Bool {
        guard let i = nextParcel() else {
            if isQuiet {
                pending.removeAll(keepingCapacity: true)
                head = 0
            }
            return false
        }
        let (way, parcel, stamp) = pending[i]
        if i == head { head += 1 } else { pending.remove(at: i) }
        if head > 4096 {
            pending.removeFirst(head)
            head = 0
        }
        if case .shard(let receiver) = way.to { begin(receiver) }
        if case .shard(let sender) = way.from, losses.isNews(stamp, of: sender, at: way.to) {
            learn(of: sender, at: way.to)
        }
        if losses.isInForce(stamp, way) { perform(parcel, at: way.to) }
        return true
    }

    private func nextParcel() -> Int? {
        guard head < pending.count else { return nil }
        if isShuffled {
            let start = head + random.below(pending.count - head)
            let candidates = (start..<pending.count).map { $0 } + (head..<start).map { $0 }
            for i in candidates where !blocked(pending[i].way) {
                return (head...i).first { pending[$0].way == pending[i].way }
            }
            return nil
        }
        return (head..<pending.count).first { !blocked(pending[$0].way) }
    }

    /// Until nothing is on its way.
    func settle() {
        var steps = 0
        while deliverOne() {
            steps += 1
            if steps > 2_000_000 {
                Issue.record("the world does not come to rest")
                return
            }
        }
    }

    private func perform(_ parcel: Parcel, at place: Place) {
        switch parcel {
        case .command(let command):
            if case .shard(let shard) = place { log(.command(command), in: shard) }
        case .item(.deliver(let link, let delivery)): deliver(delivery, to: link)
        case .item(.stream(let room, let links, let except, let message)):
            for link in links where link != except { stream(message, of: room, to: link) }
        case .begun: break
        case .gatewayLost(let gateway): if case .shard(let shard) = place { log(.gatewayLost(gateway), in: shard) }
        }
    }

    private func stream(_ message: StreamMessage, of room: String, to link: Link) {
        guard let endpoint = endpoints[link], mayPass(.stream(message, room: room), link) else { return }
        endpoint.client.take(link.encoding == .json ? message.message : Self.message(message.protobuf), on: link)
    }

    private func mayPass(_ word: RoomOrder<StreamMessage>.Word, _ link: Link) -> Bool {
        guard let machine = endpoints[link]?.machine else { return false }
        switch endpoints[link]?.order.judge(word, seat: machine.seat, ended: machine.endedClaims) {
        case .pass: return true
        case .hold, .drop, nil: return false
        case .giveUp:
            Issue.record("a seat's end never came")
            return false
        }
    }

    private func deliver(_ delivery: Delivery, to link: Link) {
        guard let endpoint = endpoints[link], mayPass(.delivery(delivery), link) else { return }
        if case .replay(_, let messages, let atHead) = delivery {
            replay(messages, atHead: atHead, to: endpoint.client, on: link)
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

    private func replay(_ messages: [ReplayMessage], atHead: Bool, to client: Client, on link: Link) {
        for message in messages {
            switch message {
            case .event(let bytes): client.take(Self.message(bytes), on: link)
            case .frames(let frames): client.take(Self.message(frames), on: link)
            }
        }
        if atHead { return }
        if client.isSlow { client.wantsMore = true } else { pull(link) }
    }

    /// The link's socket has room again.
    func pull(_ link: Link) {
        guard let machine = endpoints[link]?.machine, let seat = machine.seat, let player = machine.player else {
            return
        }
        send(.room(seat.room, .pull(player: player.id, seat.claim, link)), from: .gateway(Int(link.gateway.loop)))
    }

    // MARK: Shards

    private func begin(_ id: ShardID) {
        guard shards[id] == nil else { return }
        losses.note(new: id)
        shards[id] = Shard(machine: ShardMachine(configuration: limits))
    }

    func log(_ step: MachineStep<ShardCommand>, in id: ShardID) {
        begin(id)
        guard var shard = shards.removeValue(forKey: id) else { return }
        shard.index += 1
        var draws = true
        if case .command(let command) = step { draws = command.drawsRandomness }
        let place = EntryPlace(
            index: shard.index, timeMs: nowMs, wallMs: wallMs, random: draws ? (random.next(), random.next()) : (0, 0))
        var effects: [ShardEffect] = []
        shard.machine.apply(step, at: place, into: &effects)
        onApplied(Applied(shard: id, step: step, place: place, effects: effects), &shard.machine)
        deadlines.set(shard.machine.nextDeadlineMs(), for: id)
        shards[id] = shard
        for effect in effects {
            switch effect {
            case .command(let command): send(command, from: .shard(id))
            case .deliver(let gateway, let item):
                put(.item(item), from: .shard(id), to: .gateway(Int(gateway.loop)))
            }
        }
    }

    /// Puts a command into a shard's log as it is, for what only other shards say.
    func tell(_ command: ShardCommand) {
        log(.command(command), in: limits.layout.home(of: command.shard))
    }

    /// The shards that hold anything.
    func machines() -> [(shard: ShardID, machine: ShardMachine)] {
        shards.sorted { $0.key < $1.key }.map { ($0.key, $0.value.machine) }
    }

    func counts() -> (players: Int, rooms: Int) {
        shards.values.reduce(into: (0, 0)) { sum, shard in
            sum.0 += shard.machine.counts.players
            sum.1 += shard.machine.counts.rooms
        }
    }

    // MARK: Losses

    /// All replicas of the shard die, and it begins anew. The others hear of it when its word comes.
    /// - Parameter withItsWords: what it said and nobody has heard yet is lost too.
    func lose(_ shard: ShardID, withItsWords: Bool = false) {
        guard shards[shard] != nil else { return }
        if withItsWords {
            pending.removeFirst(head)
            head = 0
            pending.removeAll { $0.way.from == .shard(shard) }
        }
        shards[shard] = Shard(machine: ShardMachine(configuration: limits))
        nowMs += 1
        deadlines.set(nil, for: shard)
        losses.lose(shard)
        for other in shards.keys.sorted() where other != shard { put(.begun, from: .shard(shard), to: .shard(other)) }
        for gateway in 0..<Self.gateways { put(.begun, from: .shard(shard), to: .gateway(gateway)) }
    }

    /// The shards from or to which something is on its way.
    func busyShards() -> [ShardID] {
        var busy: Set<ShardID> = []
        for (way, _, _) in pending[head...] {
            for place in [way.from, way.to] { if case .shard(let shard) = place { busy.insert(shard) } }
        }
        return busy.filter { shards[$0] != nil }.sorted()
    }

    func lose(room: String, withItsWords: Bool = false) {
        lose(limits.layout.home(of: RoomKey(project: "acme", id: room).shard), withItsWords: withItsWords)
    }

    /// The process ends with all its links, and another begins in its stead.
    func lose(gateway: Int) {
        let old = losses.gateway(gateway)
        losses.incarnations[gateway, default: 0] += 1
        for link in endpoints.keys.sorted(by: { $0.number < $1.number }) where link.gateway == old {
            endpoints.removeValue(forKey: link)?.client.closed(link, 1006)
        }
        for shard in shards.keys.sorted() { put(.gatewayLost(old), from: .gateway(gateway), to: .shard(shard)) }
    }

    private func learn(of sender: ShardID, at place: Place) {
        losses.note(sender, at: place)
        switch place {
        case .shard(let shard): log(.shardLost(sender), in: shard)
        case .gateway(let gateway): lose(sender, .generation, at: losses.gateway(gateway))
        }
    }

    /// Tells the links of a gateway.
    func lose(_ home: ShardID, _ why: LinksLoss, at gateway: GatewayID) {
        for link in endpoints.keys.sorted(by: { $0.number < $1.number }) where link.gateway == gateway {
            let awaits = endpoints[link]?.order.waits(forRoomIn: home, of: limits.layout) ?? false
            step(link) { machine, _ in machine.shardLost(home, why, awaits: awaits) }
        }
    }

    // MARK: Time

    /// Moves time on, fires what is due at its very millisecond, and lets all of it arrive.
    func advance(ms: Int64) {
        let end = nowMs + ms
        settle()
        while true {
            let next = min(end, deadlines.next()?.timeMs ?? .max, nextGatewayTickMs)
            nowMs = max(nowMs, next)
            fireDue()
            settle()
            if nowMs >= end, (deadlines.next()?.timeMs ?? .max) > nowMs { return }
        }
    }

    /// Moves time on while nothing fires, as if all stood still: what was due is late.
    func freeze(ms: Int64) { nowMs += ms }

    /// Moves time on and fires what is due, but delivers nothing.
    func pass(ms: Int64) {
        nowMs += ms
        fireDue()
    }

    private func fireDue() {
        while let due = deadlines.take(at: nowMs) { log(.tick, in: due.key) }
        guard nextGatewayTickMs <= nowMs else { return }
        nextGatewayTickMs = nowMs + 100
        for link in endpoints.keys.sorted(by: { $0.number < $1.number }) {
            let now = nowMs
            step(link) { machine, _ in machine.tick(nowMs: now) }
        }
    }

    // MARK: Looking inside

    private func inside<Value>(_ shard: ShardID, _ name: String, _ type: Value.Type) -> Value? {
        guard let machine = shards[shard]?.machine else { return nil }
        for child in Mirror(reflecting: machine).children where child.label == name { return child.value as? Value }
        return nil
    }

    func room(_ id: String, project: String = "acme") -> RoomMachine? {
        let key = RoomKey(project: project, id: id)
        return inside(limits.layout.home(of: key.shard), "rooms", [RoomKey: RoomMachine].self)?[key]
    }

    func rooms() -> [RoomMachine] {
        shards.keys.sorted().flatMap { inside($0, "rooms", [RoomKey: RoomMachine].self)?.values.map { $0 } ?? [] }
            .sorted { $0.key.id < $1.key.id }
    }

    func player(_ id: String, project: String = "acme") -> PlayerMachine? {
        let key = PlayerKey(project: project, id: id)
        return inside(limits.layout.home(of: key.shard), "players", [PlayerKey: PlayerMachine].self)?[key]
    }

    func directory(_ project: String = "acme") -> DirectoryMachine? {
        let home = limits.layout.home(of: ShardID(ofDirectory: project))
        return inside(home, "directories", [String: DirectoryMachine].self)?[project]
    }

    func pools() -> [PoolMachine] {
        shards.keys.sorted().flatMap { inside($0, "pools", [PoolKey: PoolMachine].self)?.values.map { $0 } ?? [] }
    }
}

/// A token is "project/player"; with "expired:" before it, it can still be read but not be taken.
struct TestTokens: TokenChecking {
    func check(_ token: String, nowS: Int64) -> Result<VerifiedToken, WireError> {
        guard !token.hasPrefix("expired:"), let player = claimedPlayer(of: token) else {
            return .failure(WireError("the token is bad"))
        }
        return .success(VerifiedToken(player: player, name: player.id, avatar: ""))
    }

    func claimedPlayer(of token: String) -> PlayerKey? {
        let parts = token.replacing("expired:", with: "").split(separator: "/")
        guard parts.count == 2 else { return nil }
        return PlayerKey(project: String(parts[0]), id: String(parts[1]))
    }
}
