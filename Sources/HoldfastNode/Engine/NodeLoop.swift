internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

/// A shard as the log of a node without peers sees it.
struct LoggedShard: LoggedMachine {
    /// What an entry is given beside its place in the log.
    struct Given: Sendable {
        let wallMs: Int64
        let random: (UInt64, UInt64)
    }

    var machine: ShardMachine

    mutating func apply(
        _ command: MachineStep<ShardCommand>, index: UInt64, timeMs: Int64, randomness: Given
    ) -> [ShardEffect] {
        var effects: [ShardEffect] = []
        let place = EntryPlace(index: index, timeMs: timeMs, wallMs: randomness.wallMs, random: randomness.random)
        machine.apply(command, at: place, into: &effects)
        return effects
    }

    mutating func nextDeadlineMs() -> Int64? { machine.nextDeadlineMs() }
}

/// One loop's part of a node: the shards that are pinned to it, and the links whose sockets it carries. A thin shell:
/// it gives entries their time and randomness, and brings effects to where they belong. Work for its own shards and
/// links is queued and done in order, never nested; work for another loop leaves in one batch at the end of the loop's
/// own.
actor NodeLoop {
    let index: Int
    let shared: NodeShared
    nonisolated let loop: EventLoop
    private var peers: [NodeLoop] = []

    /// In the order of their numbers, of which every `loopCount`th is pinned here.
    private var shards: ContiguousArray<ShardReplica<LoggedShard>> = []
    private var deadlines = DeadlineQueue<ShardID>()
    private var timer: LoopTimer?
    private var sweep: LoopTimer?

    /// By number, in as many parts as there are visits in a round, so that a visit is to one part only.
    private var links: [[UInt64: ClientLink]] = Array(repeating: [:], count: NodeLoop.visits)
    private var lastLink: UInt64 = 0
    private var visit = 0
    /// What this loop has put into the gauges.
    private var counted = (players: 0, rooms: 0)
    private var whenEmpty: Gate?

    /// What other loops have sent. Looked at before anything that a client says is acted on: what one client was told
    /// (a room is there) must be known here when the next one acts on it.
    private nonisolated let inbox = Locked<[LoopBatch]>([])
    private var queue: [LoopItem] = []
    private var spare: [LoopItem] = []
    private var isWorking = false
    private var outboxes: [[LoopItem]]
    private var sentBatches: [UInt64]
    private var receivedBatches: [UInt64]
    private var isFlushDue = false
    /// Of the room whose items are being carried out.
    private var encoded: (room: String, seq: UInt64, frames: StreamFrames)?
    private var generator = SystemRandomNumberGenerator()

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(index: Int, loop: EventLoop, shared: NodeShared) {
        self.index = index
        self.loop = loop
        self.shared = shared
        outboxes = Array(repeating: [], count: shared.loopCount)
        sentBatches = Array(repeating: 0, count: shared.loopCount)
        receivedBatches = sentBatches
        for _ in stride(from: index, to: ShardID.count, by: shared.loopCount) {
            shards.append(ShardReplica(machine: LoggedShard(machine: ShardMachine(configuration: shared.limits))))
        }
    }

    func begin(_ peers: [NodeLoop]) {
        self.peers = peers
        timer = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.fireDeadlines() } }
        sweep = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.tickLinks() } }
        sweep?.schedule(afterMs: sweepMs)
    }

    // MARK: Links

    /// Makes the owner of a new socket.
    func accept(_ socket: WebSocketConnection, _ encoding: Encoding) -> ClientLink {
        lastLink += 1
        let gateway = GatewayID(incarnation: 0, loop: UInt32(index))
        let link = Link(gateway: gateway, number: lastLink, encoding: encoding)
        let client = ClientLink(link: link, node: self, socket: socket, nowMs: loop.nowMs)
        links[part(of: link)][lastLink] = client
        shared.counters.links.add(1)
        return client
    }

    func forget(_ link: Link) {
        guard links[part(of: link)].removeValue(forKey: link.number) != nil else { return }
        shared.counters.links.add(-1)
        if hasNoLinks { whenEmpty?.open() }
    }

    private func part(of link: Link) -> Int { Int(truncatingIfNeeded: link.number) & (NodeLoop.visits - 1) }

    private func client(of link: Link) -> ClientLink? { links[part(of: link)][link.number] }

    private var hasNoLinks: Bool { links.allSatisfy(\.isEmpty) }

    private static let visits = 8

    /// Between two visits; a round is short enough for the shortest of the limits that links keep.
    private var sweepMs: Int64 {
        let limits = shared.limits.value
        let shortest = Int64(min(limits.heartbeatMs, limits.connectTimeoutMs, limits.requestTimeoutMs))
        return max(5, min(600, shortest / 4) / Int64(NodeLoop.visits))
    }

    private func tickLinks() {
        let nowMs = loop.nowMs
        visit = (visit + 1) & (NodeLoop.visits - 1)
        if visit == 0 { count() }
        for client in Array(links[visit].values) { client.assumeIsolated { $0.tick(nowMs: nowMs) } }
        sweep?.schedule(afterMs: sweepMs)
    }

    /// Brings the gauges up to date.
    private func count() {
        let now = shards.reduce(into: (players: 0, rooms: 0)) { sum, shard in
            let counts = shard.machine.machine.counts
            sum.players += counts.players
            sum.rooms += counts.rooms
        }
        shared.counters.players.add(now.players - counted.players)
        shared.counters.rooms.add(now.rooms - counted.rooms)
        counted = now
    }

    /// Tells every client that this node leaves.
    /// - Parameter done: opened when the last link has closed.
    func drain(_ done: Gate) {
        whenEmpty = done
        for client in links.flatMap(\.values) { client.assumeIsolated { $0.drain() } }
        if hasNoLinks { done.open() }
    }

    // MARK: Work

    /// Takes a command for any shard.
    func submit(_ command: ShardCommand) {
        takeInbox()
        if !isWorking, queue.isEmpty, shared.loop(of: command.shard) == index {
            isWorking = true
            log(.command(command), in: command.shard, drawing: command.drawsRandomness)
            isWorking = false
        } else {
            route(command)
        }
        work()
    }

    private func takeInbox() {
        let batches = inbox.withLock { inbox in
            let all = inbox
            inbox.removeAll(keepingCapacity: true)
            return all
        }
        for batch in batches {
            receivedBatches[batch.from] += 1
            precondition(receivedBatches[batch.from] == batch.number, "a batch between loops is missing")
            queue += batch.items
        }
    }

    /// Called from any thread.
    private nonisolated func receive(_ batch: LoopBatch) {
        let wasEmpty = inbox.withLock { inbox in
            inbox.append(batch)
            return inbox.count == 1
        }
        guard wasEmpty else { return }
        loop.execute {
            self.assumeIsolated {
                $0.takeInbox()
                $0.work()
            }
        }
    }

    private func route(_ command: ShardCommand) {
        put(.command(command), on: shared.loop(of: command.shard))
    }

    private func put(_ item: LoopItem, on loop: Int) {
        if loop == index {
            queue.append(item)
            return
        }
        outboxes[loop].append(item)
        guard !isFlushDue else { return }
        isFlushDue = true
        self.loop.afterBatch { [weak self] in self?.assumeIsolated { $0.flush() } }
    }

    /// Hands each other loop what has gathered for it, in one batch.
    private func flush() {
        isFlushDue = false
        for i in outboxes.indices where !outboxes[i].isEmpty {
            sentBatches[i] += 1
            let batch = LoopBatch(from: index, number: sentBatches[i], items: outboxes[i])
            outboxes[i] = []
            peers[i].receive(batch)
        }
    }

    private func work() {
        guard !isWorking else { return }
        isWorking = true
        while !queue.isEmpty {
            // Taken out as a whole: what is added meanwhile comes after it. Two buffers take turns.
            var batch = spare
            spare = []
            swap(&batch, &queue)
            for item in batch { perform(item) }
            batch.removeAll(keepingCapacity: batch.capacity <= 4096)
            spare = batch
        }
        isWorking = false
        armTimer()
    }

    private func perform(_ item: LoopItem) {
        switch item {
        case .command(let command):
            log(.command(command), in: command.shard, drawing: command.drawsRandomness)
        case .deliver(let link, let delivery):
            client(of: link)?.assumeIsolated { $0.deliver(delivery) }
        case .stream(let room, let targets, let except, let frames):
            for target in targets where target != except {
                guard let frame = target.encoding == .json ? frames.json : frames.protobuf else { continue }
                client(of: target)?.assumeIsolated { $0.stream(frame, of: room) }
            }
            shared.counters.sent.add(targets.count)
        }
    }

    // MARK: Shards

    private func log(_ step: MachineStep<ShardCommand>, in shard: ShardID, drawing: Bool) {
        let random = drawing ? (generator.next(), generator.next()) : (0, 0)
        let nowMs = loop.nowMs
        let place = shard.number / shared.loopCount
        let given = LoggedShard.Given(wallMs: nowMs + shared.wallOffsetMs, random: random)
        let effects = shards[place].submit(step, nowMs: nowMs, randomness: given)
        shared.counters.entries.add()
        deadlines.set(shards[place].nextDeadlineMs(), for: shard)
        for effect in effects { carryOut(effect) }
        encoded = nil
    }

    private func carryOut(_ effect: ShardEffect) {
        switch effect {
        case .command(let command): route(command)
        case .deliver(let gateway, .deliver(let link, let delivery)):
            put(.deliver(link, delivery), on: Int(gateway.loop))
        case .deliver(let gateway, .stream(let room, let links, let except, let message)):
            put(
                .stream(room: room, links, except: except, frames(of: message, in: room, for: links)),
                on: Int(gateway.loop))
        }
    }

    /// The message in the encodings that these links use; made once for all gateways, whose items follow each other.
    private func frames(of message: StreamMessage, in room: String, for links: [Link]) -> StreamFrames {
        let seq = message.message.seq
        var frames = StreamFrames(json: nil, protobuf: nil)
        if let encoded, encoded.seq == seq, encoded.room == room { frames = encoded.frames }
        for link in links {
            switch link.encoding {
            case .json where frames.json == nil:
                frames.json = PreparedFrame(.text, payload: Encoding.json.encode(message.message))
            case .protobuf where frames.protobuf == nil:
                frames.protobuf = PreparedFrame(.binary, payload: message.protobuf)
            case .json, .protobuf: break
            }
        }
        encoded = (room, seq, frames)
        return frames
    }

    private func armTimer() {
        guard let next = deadlines.next() else {
            timer?.cancel()
            return
        }
        if timer?.deadlineMs != next.timeMs { timer?.schedule(atMs: next.timeMs) }
    }

    private func fireDeadlines() {
        let nowMs = loop.nowMs
        while let due = deadlines.take(at: nowMs) { log(.tick, in: due.key, drawing: false) }
        work()
        armTimer()
    }
}
