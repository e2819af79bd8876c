internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport
internal import Synchronization

/// One loop's part of a node: the shards that are pinned to it, and the links whose sockets it carries. A thin shell
/// around `ShardHost`: it brings what comes and carries out what that orders. Work is queued and done in order, never
/// nested; what is for another loop leaves in one batch at the end of the loop's own.
actor NodeLoop {
    let index: Int
    let shared: NodeShared
    nonisolated let loop: EventLoop
    private var peers: [NodeLoop] = []

    private var host: Host
    private var effects: [Host.Effect] = []
    private var timer: LoopTimer?
    private var sweep: LoopTimer?

    /// By number, in as many parts as there are visits in a round, so that a visit is to one part only.
    private var links: [[UInt64: ClientLink]] = Array(repeating: [:], count: NodeLoop.visits)
    private var lastLink: UInt64 = 0
    private var visit = 0
    /// What this loop has put into the gauges.
    private var counted = (players: 0, rooms: 0)
    private var counts = ShardLoad()
    private var whenEmpty: Gate?

    /// What other loops have sent. Looked at before anything that a client says is acted on: what one client was told
    /// (a room is there) must be known here when the next one acts on it.
    private nonisolated let inbox = Locked<[LoopInput]>([])
    /// When this loop last had its turn, by its own clock: one that hangs is noticed by that.
    nonisolated let turnedMs = Atomic<Int64>(0)
    /// Commands that links here make while others are being worked on.
    private var queue: [ShardCommand] = []
    private var isWorking = false
    private var outboxes: [[Host.Message]]
    private var encodedOutboxes: [[EncodedStream]]
    private var sentBatches: [UInt64]
    private var receivedBatches: [UInt64]
    /// For other nodes.
    private var parcels: [(to: NodeID, isBulk: Bool, words: StateWriter)] = []
    private var fullParcels: [PeerParcel] = []
    private var isFlushDue = false
    /// Streams that came encoded with the batch at hand, and the one that was encoded here last.
    private var arrived: ArraySlice<EncodedStream> = []
    private var encoded: EncodedStream?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(index: Int, loop: EventLoop, shared: NodeShared) {
        self.index = index
        self.loop = loop
        self.shared = shared
        outboxes = Array(repeating: [], count: shared.loopCount)
        encodedOutboxes = Array(repeating: [], count: shared.loopCount)
        sentBatches = Array(repeating: 0, count: shared.loopCount)
        receivedBatches = sentBatches
        host = Host(
            node: shared.node, loop: index, loops: shared.loopCount, layout: shared.limits.layout,
            configuration: shared.limits, settings: shared.replication, generator: SystemRandomNumberGenerator())
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
        let gateway = host.gateway
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
        turnedMs.store(nowMs, ordering: .relaxed)
        visit = (visit + 1) & (NodeLoop.visits - 1)
        if visit == 0 { count() }
        for client in Array(links[visit].values) { client.assumeIsolated { $0.tick(nowMs: nowMs) } }
        sweep?.schedule(afterMs: sweepMs)
    }

    /// Brings the gauges up to date.
    private func count() {
        let now = host.machines.reduce(into: (players: 0, rooms: 0)) { sum, machine in
            sum.players += machine.counts.players
            sum.rooms += machine.counts.rooms
        }
        shared.counters.players.add(now.players - counted.players)
        shared.counters.rooms.add(now.rooms - counted.rooms)
        counted = now
        let load = host.load()
        shared.counters.primaries.add(load.primaries - counts.primaries)
        shared.counters.backups.add(load.backups - counts.backups)
        shared.counters.learners.add(load.learners - counts.learners)
        shared.counters.sole.add(load.sole - counts.sole)
        shared.counters.uncommitted.add(load.uncommitted - counts.uncommitted)
        counts = load
    }

    /// Tells every client that this node leaves.
    /// - Parameter done: opened when the last link has closed.
    func drain(_ done: Gate) {
        whenEmpty = done
        for client in links.flatMap(\.values) { client.assumeIsolated { $0.drain() } }
        if hasNoLinks { done.open() }
    }

    // MARK: Work

    /// Takes a command of a link here, for any shard.
    func submit(_ command: ShardCommand) {
        if isWorking {
            queue.append(command)
            return
        }
        takeInbox()
        isWorking = true
        host.submit(command, nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects)
        isWorking = false
        work()
    }

    private func takeInbox() {
        let inputs = inbox.withLock { inbox in
            let all = inbox
            inbox.removeAll(keepingCapacity: true)
            return all
        }
        for input in inputs {
            take(input)
            work()
        }
    }

    private func take(_ input: LoopInput) {
        switch input {
        case .batch(let batch): take(batch)
        case .peer(let peer, let isReset, let messages):
            if isReset { host.linkReset(with: peer, nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects) }
            for message in messages {
                host.receive(message, from: peer, nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects)
                // What one message orders goes before the next is looked at.
                work()
            }
        case .view(let view):
            host.membershipChanged(view, nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects)
        case .records(let records):
            for (shard, record) in records { recordSeen(shard, record) }
        case .swapEnded(let shard, let result): swapEnded(shard, result)
        }
    }

    private func take(_ batch: LoopBatch) {
        receivedBatches[batch.from] += 1
        precondition(receivedBatches[batch.from] == batch.number, "a batch between loops is missing")
        arrived = batch.encoded[...]
        for message in batch.messages {
            host.receive(message, from: shared.node, nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects)
        }
        work()
        arrived = []
    }

    func recordSeen(_ shard: ShardID, _ record: VersionedRecord?) {
        host.recordSeen(shard, record, nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects)
        work()
    }

    func swapEnded(_ shard: ShardID, _ result: SwapResult) {
        host.swapEnded(shard, result, nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects)
        work()
    }

    /// Called from any thread.
    nonisolated func post(_ input: LoopInput) {
        let wasEmpty = inbox.withLock { inbox in
            inbox.append(input)
            return inbox.count == 1
        }
        guard wasEmpty else { return }
        loop.execute {
            self.assumeIsolated {
                $0.takeInbox()
                $0.armTimer()
            }
        }
    }

    /// Carries out what the host has ordered, and what comes of that, until nothing is left.
    private func work() {
        guard !isWorking else { return }
        isWorking = true
        var batch: [Host.Effect] = []
        var commands: [ShardCommand] = []
        while !effects.isEmpty || !queue.isEmpty {
            swap(&batch, &effects)
            for effect in batch { carryOut(effect) }
            batch.removeAll(keepingCapacity: batch.capacity <= 4096)
            // After the effects at hand, as they came.
            swap(&commands, &queue)
            for command in commands {
                host.submit(command, nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects)
            }
            commands.removeAll(keepingCapacity: commands.capacity <= 4096)
        }
        if effects.capacity < batch.capacity { swap(&batch, &effects) }
        isWorking = false
        armTimer()
    }

    private func carryOut(_ effect: Host.Effect) {
        switch effect {
        case .item(.deliver(let link, let delivery)):
            client(of: link)?.assumeIsolated { $0.deliver(delivery) }
        case .item(.stream(let room, let links, let except, let message)):
            let frames = frames(of: message, in: room, for: links)
            for link in links where link != except {
                guard let frame = link.encoding == .json ? frames.json : frames.protobuf else { continue }
                client(of: link)?.assumeIsolated { $0.stream(frame, of: room) }
            }
            shared.counters.sent.add(links.count)
        case .send(let receiver, let message, let isBulk):
            if receiver == shared.node {
                let loop = Host.loop(of: message, loops: shared.loopCount)
                // A gateway's name comes from other nodes, and may be wrong.
                guard loop < shared.loopCount else {
                    shared.log.error("loop.unknown", ("loop", .number(loop)))
                    return
                }
                post(message, to: loop)
            } else {
                post(message, to: receiver, isBulk: isBulk)
            }
        case .swap(let shard, let revision, let record):
            shared.cluster.swap(shard, from: revision, to: record, by: self)
        case .readRecord(let shard): shared.cluster.read(shard, by: self)
        case .linksLost(let shard, let why):
            for client in links.flatMap({ $0.values }) { client.assumeIsolated { $0.lose(shard, why) } }
        case .emptied(let command): refuse(command)
        case .alarm(let shard, let text):
            shared.log.error("shard.alarm", ("shard", .number(shard.number)), ("what", .text(text)))
        }
    }

    /// A command that primaries died of is not done: who made it is told.
    private func refuse(_ command: ShardCommand) {
        guard let (link, id) = command.asker else { return }
        client(of: link)?.assumeIsolated { $0.refuse(id) }
    }

    /// The message in the encodings that these links use; made once for all loops.
    private func frames(of message: StreamMessage, in room: String, for links: [Link]) -> StreamFrames {
        let seq = message.message.seq
        var frames = StreamFrames()
        if let encoded, encoded.seq == seq, encoded.room == room {
            frames = encoded.frames
        } else if let first = arrived.first, first.seq == seq, first.room == room {
            frames = first.frames
            arrived.removeFirst()
        }
        for link in links {
            switch link.encoding {
            case .json where frames.json == nil:
                frames.json = PreparedFrame(.text, payload: Encoding.json.encode(message.message))
            case .protobuf where frames.protobuf == nil:
                frames.protobuf = PreparedFrame(.binary, payload: message.protobuf)
            case .json, .protobuf: break
            }
        }
        encoded = EncodedStream(room: room, seq: seq, frames: frames)
        return frames
    }

    private func post(_ message: Host.Message, to loop: Int) {
        if case .items(_, _, _, _, _, let items) = message {
            for item in items {
                guard case .item(.stream(let room, let links, _, let stream)) = item else { continue }
                let frames = frames(of: stream, in: room, for: links)
                encodedOutboxes[loop].append(
                    EncodedStream(room: room, seq: stream.message.seq, frames: frames))
            }
        }
        outboxes[loop].append(message)
        flushLater()
    }

    /// Words in one batch to another node, in bytes; a single word may be longer.
    private static let parcelBytes = 256 * 1024

    private func post(_ message: Host.Message, to peer: NodeID, isBulk: Bool) {
        let at = parcels.firstIndex { $0.isBulk == isBulk && $0.to == peer } ?? parcels.endIndex
        if at == parcels.endIndex { parcels.append((peer, isBulk, StateWriter(capacity: 1024))) }
        NodeWord.message(message).encode(into: &parcels[at].words)
        if parcels[at].words.bytes.count >= Self.parcelBytes {
            fullParcels.append(PeerParcel(to: peer, isBulk: isBulk, words: parcels[at].words.bytes))
            parcels.remove(at: at)
        }
        flushLater()
    }

    private func flushLater() {
        guard !isFlushDue else { return }
        isFlushDue = true
        loop.afterBatch { [weak self] in self?.assumeIsolated { $0.flush() } }
    }

    /// Hands each other loop, and each other node, what has gathered for it, in one batch.
    private func flush() {
        isFlushDue = false
        for i in outboxes.indices where !outboxes[i].isEmpty {
            sentBatches[i] += 1
            let batch = LoopBatch(
                from: index, number: sentBatches[i], messages: outboxes[i], encoded: encodedOutboxes[i])
            outboxes[i] = []
            encodedOutboxes[i] = []
            peers[i].post(.batch(batch))
        }
        guard !parcels.isEmpty || !fullParcels.isEmpty else { return }
        let all = fullParcels + parcels.map { PeerParcel(to: $0.to, isBulk: $0.isBulk, words: $0.words.bytes) }
        fullParcels = []
        parcels.removeAll(keepingCapacity: true)
        shared.cluster.send(all, from: self)
    }

    // MARK: Time

    private func armTimer() {
        let next = host.nextDeadlineMs()
        if timer?.deadlineMs != next { timer?.schedule(atMs: next) }
    }

    private func fireDeadlines() {
        turnedMs.store(loop.nowMs, ordering: .relaxed)
        if shared.cluster.isOverdue(nowMs: loop.nowMs) {
            // The process stood still. What has become of the others meanwhile is looked at first.
            timer?.schedule(afterMs: 1)
            return
        }
        host.tick(nowMs: loop.nowMs, wallMs: shared.wallMs, into: &effects)
        work()
    }
}
