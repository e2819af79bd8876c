public import HoldfastModel
internal import HoldfastProtocol
public import HoldfastReplication
internal import HoldfastTransport

extension ShardMachine: ReplicatedMachine {
    public mutating func apply(
        _ command: ShardCommand, index: UInt64, timeMs: Int64, randomness: EntryRandomness
    ) -> [ShardEffect] {
        apply(ShardEntry(index: index, timeMs: timeMs, randomness: randomness, command: command))
    }
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

    private var shards: [ShardID: ShardReplica<ShardMachine>] = [:]
    private var deadlines = DeadlineQueue<ShardID>()
    private var timer: LoopTimer?
    private var sweep: LoopTimer?

    private var links: [UInt64: ClientLink] = [:]
    private var lastLink: UInt64 = 0
    private var isDraining = false
    private var whenEmpty: Gate?

    private var queue: [LoopItem] = []
    private var isWorking = false
    private var outboxes: [[LoopItem]]
    private var sentBatches: [UInt64]
    private var receivedBatches: [UInt64]
    private var isFlushDue = false
    private var generator = SystemRandomNumberGenerator()

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(index: Int, loop: EventLoop, shared: NodeShared) {
        self.index = index
        self.loop = loop
        self.shared = shared
        outboxes = Array(repeating: [], count: shared.loopCount)
        sentBatches = Array(repeating: 0, count: shared.loopCount)
        receivedBatches = sentBatches
        for number in 0..<ShardID.count where number % shared.loopCount == index {
            let machine = ShardMachine(limits: shared.limits, wallOffsetMs: shared.wallOffsetMs)
            shards[ShardID(number: number)] = ShardReplica(machine: machine)
        }
    }

    func begin(_ peers: [NodeLoop]) {
        self.peers = peers
        timer = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.fireDeadlines() } }
        sweep = LoopTimer(loop: loop) { [weak self] in self?.assumeIsolated { $0.tickLinks() } }
        sweep?.schedule(afterMs: sweepMs)
    }

    // MARK: Links

    var linkCount: Int { links.count }

    /// Makes the owner of a new socket.
    func accept(_ socket: WebSocketConnection, _ encoding: Encoding) -> ClientLink {
        lastLink += 1
        let link = Link(gateway: index, number: lastLink, encoding: encoding)
        let client = ClientLink(link: link, node: self, socket: socket, nowMs: loop.nowMs)
        links[lastLink] = client
        shared.counters.links.add(1)
        return client
    }

    func forget(_ link: Link) {
        guard links.removeValue(forKey: link.number) != nil else { return }
        shared.counters.links.add(-1)
        if links.isEmpty { whenEmpty?.open() }
    }

    /// Often enough for the shortest of the limits that links keep.
    private var sweepMs: Int64 {
        let limits = shared.limits.value
        return max(10, min(100, Int64(min(limits.heartbeatMs, limits.connectTimeoutMs, limits.requestTimeoutMs)) / 4))
    }

    private func tickLinks() {
        let nowMs = loop.nowMs
        for client in Array(links.values) { client.assumeIsolated { $0.tick(nowMs: nowMs) } }
        sweep?.schedule(afterMs: sweepMs)
    }

    /// Tells every client that this node leaves.
    /// - Parameter done: opened when the last link has closed.
    func drain(_ done: Gate) {
        isDraining = true
        whenEmpty = done
        for client in Array(links.values) { client.assumeIsolated { $0.drain() } }
        if links.isEmpty { done.open() }
    }

    // MARK: Work

    /// Takes a command for any shard.
    func submit(_ command: ShardCommand) {
        route(command)
        work()
    }

    private func receive(_ batch: LoopBatch) {
        receivedBatches[batch.from] += 1
        precondition(receivedBatches[batch.from] == batch.number, "a batch between loops is missing")
        queue += batch.items
        work()
    }

    private func route(_ command: ShardCommand) {
        guard let shard = command.shard else { return }
        put(.command(command), on: shared.loop(of: shard))
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
            let peer = peers[i]
            peer.loop.execute { peer.assumeIsolated { $0.receive(batch) } }
        }
    }

    private func work() {
        guard !isWorking else { return }
        isWorking = true
        var next = 0
        while next < queue.count {
            let item = queue[next]
            next += 1
            perform(item)
            if next == 1024 {
                queue.removeFirst(next)
                next = 0
            }
        }
        queue.removeAll(keepingCapacity: true)
        isWorking = false
        armTimer()
    }

    private func perform(_ item: LoopItem) {
        switch item {
        case .command(let command):
            if let shard = command.shard { log(command, in: shard) }
        case .deliver(let link, let delivery):
            links[link.number]?.assumeIsolated { $0.deliver(delivery) }
        case .stream(let targets, let except, let frames):
            for target in targets where target != except {
                guard let frame = target.encoding == .json ? frames.json : frames.protobuf else { continue }
                links[target.number]?.assumeIsolated { $0.stream(frame) }
            }
        }
    }

    // MARK: Shards

    private func log(_ command: ShardCommand, in shard: ShardID) {
        let randomness =
            command.drawsRandomness
            ? EntryRandomness(generator.next(), generator.next()) : EntryRandomness(0, 0)
        let effects = shards[shard]?.submit(command, nowMs: loop.nowMs, randomness: randomness) ?? []
        shared.counters.entries.add()
        deadlines.set(shards[shard]?.nextDeadlineMs(), for: shard)
        for effect in effects { carryOut(effect) }
    }

    private func carryOut(_ effect: ShardEffect) {
        switch effect {
        case .command(let command): route(command)
        case .deliver(let link, let delivery): put(.deliver(link, delivery), on: link.gateway)
        case .broadcast(let groups, let except, let message):
            let frames = StreamFrames(
                json: groups.usesJSON
                    ? PreparedFrame(.text, payload: Encoding.json.encode(message.message)) : nil,
                protobuf: groups.usesProtobuf ? PreparedFrame(.binary, payload: message.protobuf) : nil)
            for group in groups.groups { put(.stream(group.links, except: except, frames), on: group.gateway) }
        }
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
        while let due = deadlines.take(at: nowMs) { log(.tick, in: due.key) }
        work()
        armTimer()
    }
}
