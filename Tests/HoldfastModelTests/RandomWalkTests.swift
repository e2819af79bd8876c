import Foundation
import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// Clients that do anything at any time, drop and come back, while what the shards say to each other arrives in any
/// order that the links between them allow. After each step what must always hold is checked, and at rest what must
/// hold then.
@Suite struct RandomWalkTests {
    /// HOLDFAST_SEEDS=100...199 walks others, as many as one has time for.
    static let seeds: [UInt64] = {
        let bounds = (ProcessInfo.processInfo.environment["HOLDFAST_SEEDS"] ?? "1...40").split(separator: "...")
        guard bounds.count == 2, let first = UInt64(bounds[0]), let last = UInt64(bounds[1]) else { return [] }
        return Array(first...max(first, last))
    }()

    @Test(arguments: seeds)
    func anythingAtAnyTime(seed: UInt64) {
        var walk = Walk(seed: seed, shuffled: true)
        walk.run(steps: 250)
    }

    /// Shards and gateways are lost on the way, with all that is in them.
    @Test(arguments: seeds)
    func whileShardsAreLost(seed: UInt64) {
        let layout = [ShardLayout.standard, ShardLayout(entityShards: 4, matchShards: 2)][Int(seed % 2)]
        var walk = Walk(seed: seed, shuffled: true, layout: layout, losesShards: true)
        walk.run(steps: 250)
    }

    @Test(arguments: seeds.prefix(10))
    func anythingInTheOrderOfSending(seed: UInt64) {
        var walk = Walk(seed: seed, shuffled: false)
        walk.run(steps: 250)
    }
}

/// One walk; everything it does follows from its seed.
struct Walk {
    let seed: UInt64
    let world: World
    let clients: [Client]
    var random: SeededRandom
    private var steps: [String] = []
    private(set) var hasFailed = false
    private var inputs = 0
    private let losesShards: Bool

    init(seed: UInt64, shuffled: Bool, layout: ShardLayout = .standard, losesShards: Bool = false) {
        self.seed = seed
        self.losesShards = losesShards
        world = World(seed: seed, shuffled: shuffled, layout: layout) { limits in
            // Windows short enough to end within a walk.
            limits.resumeWindowMs = 6_000
            limits.nobodyOnlineMs = 4_000
            // Histories short enough to forget, and parts small enough to need several.
            limits.frameBytesPerReply = [8, 256 * 1024][Int(seed % 2)]
            limits.framesPerReply = [5, 600][Int(seed / 2 % 2)]
            limits.eventHistoryBytes = [500, 8 * 1024 * 1024][Int(seed / 4 % 2)]
            limits.frameHistoryBytes = [500, 32 * 1024 * 1024][Int(seed / 8 % 2)]
        }
        random = SeededRandom(seed: seed &* 31)
        clients = ["ann", "bob", "cyd", "dan", "eve", "fay"].enumerated().map { [world] i, name in
            world.client(name, i % 2 == 0 ? .json : .protobuf)
        }
    }

    mutating func run(steps count: Int) {
        for client in clients { client.connect() }
        for _ in 0..<count {
            step()
            if let fault = alwaysFault() { report(fault) }
            if hasFailed { return }
        }
        rest()
    }

    private mutating func report(_ fault: String) {
        if hasFailed { return }
        hasFailed = true
        let messages = clients.first { fault.hasPrefix($0.id) }?.messages ?? []
        let last: [String] =
            Array(steps.suffix(Int(ProcessInfo.processInfo.environment["STEPS"] ?? "30") ?? 30)) + ["heard:"]
            + messages.suffix(60).map { line($0) }
        Issue.record("seed \(seed): \(fault)\n  \(last.joined(separator: "\n  "))")
    }

    // MARK: Steps

    private mutating func step() {
        let client = clients[random.below(clients.count)]
        if losesShards, random.below(25) == 0 { lose() }
        switch random.below(20) {
        case 0...2: pass()
        case 3: if client.link != nil { drop(client) }
        case 4...6: if client.link == nil { comeBack(client) }
        case 7: if client.link != nil, random.below(4) == 0 { again(client) }
        case 8: if random.below(2) == 0 { rest() }
        default: if client.link != nil { call(client) }
        }
        for _ in 0..<random.below(7) { world.deliverOne() }
    }

    private mutating func lose() {
        if random.below(4) == 0 {
            let gateway = random.below(World.gateways)
            steps.append("gateway \(gateway) is lost")
            world.lose(gateway: gateway)
            return
        }
        // Most of all those for which something is on its way.
        let busy = world.busyShards()
        let shards = busy.isEmpty || random.below(4) == 0 ? world.machines().map(\.shard) : busy
        let shard = shards[random.below(shards.count)]
        steps.append("shard \(shard.number) is lost")
        world.lose(shard, withItsWords: random.below(2) == 0)
    }

    private mutating func pass() {
        let ms = [20, 50, 50, 70, 120, 300, 1_000, 2_100][random.below(8)]
        steps.append("\(ms) ms")
        world.pass(ms: Int64(ms))
    }

    private mutating func drop(_ client: Client) {
        steps.append("\(client.id) drops")
        client.drop(settling: false)
    }

    private mutating func comeBack(_ client: Client) {
        client.gateway = random.below(World.gateways)
        if client.resumeToken.isEmpty || random.below(4) == 0 {
            steps.append("\(client.id) connects")
            client.connect(settling: false)
        } else {
            resume(client)
        }
    }

    private mutating func resume(_ client: Client) {
        let position = client.position
        steps.append("\(client.id) resumes at \(position.roomSeq), \(position.frameId) of \(position.frameSyncId)")
        if random.below(2) == 0 {
            // It may become a new run, so nothing is sent again before that is known.
            client.resume(token: client.token, settling: false)
        } else {
            client.resume(settling: false)
            for (id, body) in client.unanswered { client.send(body, id: id, settling: false) }
        }
    }

    /// Connects while the old link stands.
    private mutating func again(_ client: Client) {
        steps.append("\(client.id) connects over its link")
        if random.below(2) == 0 {
            client.connect(settling: false)
        } else {
            resume(client)
        }
    }

    private mutating func call(_ client: Client) {
        if client.isRunOver {
            steps.append("\(client.id) connects, its run is over")
            client.connect(settling: false)
            return
        }
        if client.sendAgain() {
            steps.append("\(client.id) sends again")
            return
        }
        let other = clients[random.below(clients.count)]
        let isApt = random.below(8) != 0
        let body =
            if client.isInRoom == isApt { roomCall(client, other) } else { seatCall(other) }
        let id = client.send(body, settling: false)
        steps.append("\(client.id) #\(id) \(String(describing: body).prefix(60))")
    }

    private mutating func seatCall(_ other: Client) -> ClientMessage.Body {
        switch random.below(9) {
        case 0:
            let isLocked = random.below(4) == 0
            return .create(UInt32(1 + random.below(4))) {
                $0.allowLateJoin = true
                $0.maxSpectatorCount = 2
                $0.lockedDuringFrameSync = isLocked
                $0.frameRate = 20
            }
        case 1...3:
            let isLate = random.below(3) != 0
            return .match(2 + UInt32(random.below(2)), timeoutMs: random.below(2) == 0 ? 0 : 3_000) {
                $0.allowLateJoin = isLate
            }
        case 4: return .cancel
        case 5: return .leave
        default: return .join(other.roomID.isEmpty ? "nowhere" : other.roomID, spectating: random.below(4) == 0)
        }
    }

    private mutating func nextInput() -> Int {
        inputs += 1
        return inputs
    }

    private mutating func roomCall(_ client: Client, _ other: Client) -> ClientMessage.Body {
        switch random.below(26) {
        case 0: .leave
        case 1: random.below(4) == 0 ? .dismiss : .transfer(other.id)
        case 2: .kick(other.id, ban: random.below(5) == 0)
        case 3...5: .message("hello \(random.below(100))", to: random.below(3) == 0 ? [other.id] : nil)
        case 6...7: .status(Int32(random.below(9)))
        case 8: .room(name: "room \(random.below(9))")
        case 9...11: random.below(5) == 0 ? .stop : .start
        case 12...19: .input("\(client.id) \(nextInput())")
        case 20: .list()
        case 21: .frames(UInt32(1 + random.below(9)), 50)
        case 22: .hash(UInt32(random.below(9)), [UInt8(random.below(2))])
        case 23: random.below(4) == 0 ? .bye : .status(0)
        default: .snapshot(UInt32(random.below(20)))
        }
    }

    // MARK: At all times

    private func alwaysFault() -> String? {
        for client in clients {
            if let fault = client.faults.first { return "\(client.id): \(fault)" }
        }
        for room in world.rooms() {
            if room.players.count > Int(room.config.maxPlayerCount) { return "\(room.key.id) is overfilled" }
            if room.spectators.count > Int(room.config.maxSpectatorCount) { return "\(room.key.id) is overwatched" }
            if Set(room.players.map(\.player)).count < room.players.count { return "a player sits twice" }
            if !room.isClosed, room.players.isEmpty { return "\(room.key.id) has no player" }
            let owner = room.players.first { $0.player == room.ownerID }
            if owner == nil { return "\(room.key.id) has no owner" }
            if owner?.online == false, room.players.contains(where: \.online) { return "the owner is offline" }
        }
        return nil
    }

    // MARK: At rest

    private mutating func rest() {
        steps.append("rest")
        world.settle()
        if losesShards {
            // What was lost on its way is made up for by 1, or by the end of the link.
            world.advance(ms: 5_300)
        }
        while clients.contains(where: { $0.link != nil && $0.sendAgain() }) { world.settle() }
        if let fault = alwaysFault() ?? restFault() { report(fault) }
    }

    private func restFault() -> String? {
        var seats: [String: [String]] = [:]
        for room in world.rooms() {
            for member in room.players + Array(room.spectators.values) {
                seats[member.player, default: []].append(room.key.id)
            }
        }
        for client in clients {
            let rooms = seats[client.id] ?? []
            if rooms.count > 1 { return "\(client.id) is in \(rooms)" }
            let player = world.player(client.id)
            switch player?.place {
            case .seated(let room, let claim)?:
                if rooms != [room] { return "\(client.id) is seated in \(room), which does not know it" }
                if world.room(room)?.member(client.id)?.claim != claim { return "\(client.id)'s claims differ" }
            case .claiming?, .leaving?: return "\(client.id) is \(String(describing: player?.place)) at rest"
            case .free?, .matching?, nil: if !rooms.isEmpty { return "\(client.id) has a seat that it does not know" }
            }
            if let fault = linkFault(client) { return fault }
        }
        return world.rooms().lazy.compactMap(inputFault).first ?? matchFault()
    }

    /// What pools and the directory know is what there is.
    private func matchFault() -> String? {
        let rooms = world.rooms()
        for pool in world.pools() {
            if !pool.placing.isEmpty || !pool.ordered.isEmpty || !pool.unheard.isEmpty {
                return "a pool still places callers at rest"
            }
            for (id, room) in pool.rooms {
                guard let real = rooms.first(where: { $0.key.id == id }) else {
                    return "a pool knows \(id), which is gone"
                }
                if room.expected != 0 { return "a pool expects callers in \(id) at rest" }
                if room.taken != real.players.count { return "a pool counts \(room.taken) in \(id)" }
            }
            for ticket in pool.queue {
                guard case .matching(_, ticket.claim, _)? = world.player(ticket.player.id)?.place else {
                    return "a pool lets \(ticket.player.id) wait, who does not"
                }
            }
        }
        for room in rooms where room.pool != nil {
            let pool = world.pools().first { $0.key == room.pool }
            if pool?.rooms[room.key.id] == nil { return "no pool knows \(room.key.id)" }
        }
        let listed = Set(world.directory()?.rooms.keys.map { $0 } ?? [])
        if listed != Set(rooms.map(\.key.id)) { return "the directory has \(listed)" }
        return nil
    }

    /// No input stands in two frames, whatever was sent again.
    private func inputFault(_ room: RoomMachine) -> String? {
        var seen: Set<String> = []
        let frames = room.history.frames
        for i in frames.startIndex..<frames.endIndex {
            guard let frame = try? Encoding.protobuf.decode(Frame.self, from: frames[i].protobuf) else {
                return "a kept frame cannot be read"
            }
            for input in frame.inputs {
                if case .data(let text)? = input.payload, !seen.insert(text).inserted { return "\(text) came twice" }
            }
        }
        return nil
    }

    private func linkFault(_ client: Client) -> String? {
        guard let link = client.link, let machine = world.connection(link), machine.player != nil else { return nil }
        for (id, left) in client.owed.sorted(by: { $0.key < $1.key }) where left > 0 {
            if case .matchRoom? = client.sent[id], case .matching? = world.player(client.id)?.place { continue }
            if client.isSilentOnSuccess(id) { continue }
            return "\(client.id) has no answer to #\(id) \(String(describing: client.sent[id]).prefix(60))"
        }
        guard let seat = machine.seat else { return nil }
        guard let room = world.room(seat.room.id), let member = room.member(client.id, seat.claim) else {
            return "\(client.id)'s link thinks of a seat that is gone"
        }
        if member.link != link || member.reading != .live { return "\(client.id) does not hear its room" }
        if client.roomID != room.key.id { return "\(client.id) thinks that it is in '\(client.roomID)'" }
        return streamFault(client, room)
    }

    /// Everything that was addressed to the client since its stream began has come.
    private func streamFault(_ client: Client, _ room: RoomMachine) -> String? {
        let events = room.history.events
        var due: [UInt64] = []
        for i in events.startIndex..<events.endIndex where events[i].seq > client.streamBase {
            if events[i].audience.includes(client.id) { due.append(events[i].seq) }
        }
        let came = Set(client.seenEvents)
        if let missed = due.first(where: { !came.contains($0) }) { return "\(client.id) missed the event \(missed)" }
        if let more = client.seenEvents.first(where: { $0 > room.history.forgottenSeq && !due.contains($0) }) {
            return "\(client.id) got \(more), not for it"
        }
        if let sync = room.frameSync, client.position.frameSyncId == sync.id, client.position.frameId != sync.sealed {
            return "\(client.id) has frame \(client.position.frameId) of \(sync.sealed)"
        }
        return nil
    }
}
