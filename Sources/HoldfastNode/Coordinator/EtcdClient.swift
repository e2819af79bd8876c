internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

/// How etcd is reached.
struct EtcdOptions: Sendable, Equatable {
    /// `http://host:port`, one for each member.
    var endpoints: [String]
    var trust = FetchTrust()
    /// A second member is asked when the first has not answered for so long.
    var hedgeMs: Int64 = 100
    /// All are asked again when none has answered for so long, and so often: what a follower passes on to a leader that
    /// has just died is never answered.
    var againMs: Int64 = 250
    /// Attempts of one request that may be under way.
    var attempts = 5
    /// Then a request counts as unanswered.
    var timeoutMs: Int64 = 1_500
    /// Transactions of swaps and reads under way: those that come meanwhile gather, and travel together.
    var transactions = 4
    /// Before a member that failed at once is asked again, or the next watch is begun.
    var pauseMs: Int64 = 150
}

/// Carries requests to etcd's members and their answers back. Loop-confined. What was asked comes back as exactly one
/// of `answered` and `unanswered`.
final class EtcdClient {
    enum Word: Sendable {
        case answered(UInt64, CoordinatorAnswer)
        case unanswered(UInt64)
        case changed([CoordinatorEvent])
        case watchEnded
    }

    private let loop: EventLoop
    private let codec: EtcdCodec
    private let options: EtcdOptions
    private let log: Log
    private let fetcher: HTTPFetcher
    private let told: (Word) -> Void
    /// Who answered last, by place in `options.endpoints`.
    private var preferred = 0
    private var calls: [ObjectIdentifier: EtcdRace] = [:]
    private var swaps: [(id: UInt64, swap: EtcdSwap)] = []
    /// After a failover there is one for each shard.
    private var reads: [(id: UInt64, shard: ShardID)] = []
    private var isFlushDue = false
    private var transactions = 0
    private var watch: EtcdWatch?
    private var watchMember = 0

    /// - Parameter told: called on the loop, never from within a call of this.
    init(loop: EventLoop, codec: EtcdCodec, options: EtcdOptions, log: Log, told: @escaping (Word) -> Void) {
        self.loop = loop
        self.codec = codec
        self.options = options
        self.log = log
        self.told = told
        fetcher = HTTPFetcher(loop: loop)
    }

    func ask(_ id: UInt64, _ request: CoordinatorRequest) {
        switch request {
        case .swap(let shard, let from, let to):
            swaps.append((id, EtcdSwap(shard: shard, from: from, to: to)))
            flushLater()
        case .read(let shard):
            reads.append((id, shard))
            flushLater()
        case .watch(let after): watch(id, after)
        default:
            let codec = codec
            race(codec.call(for: request)) { status, body throws(EtcdError) in
                try codec.answer(to: request, status: status, body: body)
            } done: { [weak self] answer in
                self?.told(answer.map { .answered(id, $0) } ?? .unanswered(id))
            }
        }
    }

    // MARK: Transactions

    private func flushLater() {
        guard !isFlushDue else { return }
        isFlushDue = true
        loop.afterBatch { [weak self] in self?.flush() }
    }

    private func flush() {
        isFlushDue = false
        if transactions < options.transactions, !reads.isEmpty {
            let part = Array(reads.prefix(EtcdCodec.swapsAtOnce))
            reads.removeFirst(part.count)
            transactions += 1
            read(part)
        }
        var batch: [(id: UInt64, swap: EtcdSwap)] = []
        var shards: Set<ShardID> = []
        guard transactions < options.transactions, !swaps.isEmpty else { return }
        // etcd takes no key twice in one transaction.
        for entry in swaps {
            if batch.count == EtcdCodec.swapsAtOnce || !shards.insert(entry.swap.shard).inserted { break }
            batch.append(entry)
        }
        swaps.removeFirst(batch.count)
        transactions += 1
        send(batch)
        if !swaps.isEmpty || !reads.isEmpty { flushLater() }
    }

    private func read(_ part: [(id: UInt64, shard: ShardID)]) {
        let codec = codec
        race(codec.call(forReading: part.map(\.shard))) { status, body throws(EtcdError) in
            try codec.records(part.count, status: status, body: body)
        } done: { [weak self] records in
            self?.transactions -= 1
            self?.flushLater()
            for (i, entry) in part.enumerated() {
                self?.told(
                    records.map { .answered(entry.id, .record(entry.shard, $0[i])) } ?? .unanswered(entry.id))
            }
        }
    }

    private func send(_ batch: [(id: UInt64, swap: EtcdSwap)]) {
        let codec = codec
        race(codec.call(for: batch.map(\.swap))) { status, body throws(EtcdError) in
            let value = try EtcdCodec.value(body)
            guard status == 200 else { throw EtcdError("HTTP \(status)") }
            return try codec.swapResults(batch.count, value)
        } done: { [weak self] results in
            self?.transactions -= 1
            self?.flushLater()
            for (i, entry) in batch.enumerated() {
                self?.told(
                    results.map { .answered(entry.id, .swapped(entry.swap.shard, $0[i])) } ?? .unanswered(entry.id))
            }
        }
    }

    /// A call of which only counts that it was carried out.
    func write(_ call: EtcdCall, done: @escaping (Bool) -> Void) {
        race(call) { status, _ throws(EtcdError) in
            guard status == 200 else { throw EtcdError("HTTP \(status)") }
            return true
        } done: {
            done($0 ?? false)
        }
    }

    /// Writes the first records of a cluster, unless that was done before.
    /// - Parameter done: whether they are there now.
    func bootstrap(_ records: [(shard: ShardID, record: ShardRecord)], done: @escaping (Bool) -> Void) {
        let codec = codec
        race(codec.hasBootstrapped) { status, body throws(EtcdError) in
            try codec.isThere(status: status, body: body)
        } done: { [weak self] wasDone in
            guard let self, let wasDone else { return done(false) }
            if wasDone {
                self.log.error("cluster.bootstrappedBefore", ("prefix", .text(codec.keys.prefix)))
                return done(true)
            }
            self.write(records[...], done: done)
        }
    }

    private func write(
        _ records: ArraySlice<(shard: ShardID, record: ShardRecord)>, done: @escaping (Bool) -> Void
    ) {
        let part = Array(records.prefix(EtcdCodec.swapsAtOnce))
        write(part.isEmpty ? codec.bootstrapDone : codec.bootstrap(part)) { [weak self] isDone in
            guard isDone, let self else { return done(false) }
            if part.isEmpty { done(true) } else { self.write(records.dropFirst(part.count), done: done) }
        }
    }

    /// The same call to one member after another until one has answered, or time is up.
    private func race<Answer>(
        _ call: EtcdCall, _ read: @escaping (Int, [UInt8]) throws(EtcdError) -> Answer,
        done: @escaping (Answer?) -> Void
    ) {
        let race = EtcdRace(loop: loop, fetcher: fetcher, options: options, call: call, first: preferred)
        let key = ObjectIdentifier(race)
        calls[key] = race
        race.begin { [weak self] member, status, body in
            let answer: Answer
            do throws(EtcdError) { answer = try read(status, body) } catch {
                self?.log.warning(
                    "etcd.badAnswer", ("member", .text(self?.options.endpoints[member] ?? "")),
                    ("call", .text(call.path)), ("why", .text(error.description)))
                return false
            }
            self?.preferred = member
            self?.calls[key] = nil
            done(answer)
            return true
        } gaveUp: { [weak self] why in
            self?.calls[key] = nil
            self?.log.warning("etcd.noAnswer", ("call", .text(call.path)), ("why", .text(why)))
            done(nil)
        }
    }

    // MARK: The watch

    private func watch(_ id: UInt64, _ after: UInt64) {
        watch?.cancel()
        let member = options.endpoints[watchMember % options.endpoints.count]
        let watch = EtcdWatch(
            loop: loop, fetcher: fetcher, options: options, member: member, codec: codec, after: after)
        self.watch = watch
        watch.begin { [weak self, weak watch] word in
            guard let self, let watch, self.watch === watch else { return }
            switch word {
            case .created: self.told(.answered(id, .watching))
            case .events(let events): if !events.isEmpty { self.told(.changed(events)) }
            case .compacted:
                self.endWatch(member, "compacted")
                self.told(.answered(id, .compacted))
            case .unclear(let why):
                let wasCreated = watch.isCreated
                // Another one may do better.
                self.watchMember += 1
                self.endWatch(member, why)
                self.told(wasCreated ? .watchEnded : .unanswered(id))
            }
        }
    }

    private func endWatch(_ member: String, _ why: String) {
        log.info("etcd.watchEnded", ("member", .text(member)), ("why", .text(why)))
        watch?.cancel()
        watch = nil
    }

    /// Nothing is told any more.
    func close() {
        watch?.cancel()
        watch = nil
        for call in calls.values { call.cancel() }
        calls = [:]
    }
}

/// One call, made to one member after another: the next one is asked when the last has failed, or has not answered for
/// a moment. Each may be carried out, so only such calls are made that may be carried out twice.
private final class EtcdRace {
    private let loop: EventLoop
    private let fetcher: HTTPFetcher
    private let options: EtcdOptions
    private let call: EtcdCall
    private var next: Int
    private let startedMs: Int64
    private var fetches: [Fetch] = []
    private var running = 0
    private var attempts = 0
    private var timer: LoopTimer?
    private var lastError = "no answer"
    private var answered: ((Int, Int, [UInt8]) -> Bool)?
    private var gaveUp: ((String) -> Void)?

    init(loop: EventLoop, fetcher: HTTPFetcher, options: EtcdOptions, call: EtcdCall, first: Int) {
        self.loop = loop
        self.fetcher = fetcher
        self.options = options
        self.call = call
        next = first
        startedMs = loop.nowMs
    }

    /// - Parameter answered: returns whether it is one.
    func begin(answered: @escaping (Int, Int, [UInt8]) -> Bool, gaveUp: @escaping (String) -> Void) {
        self.answered = answered
        self.gaveUp = gaveUp
        timer = LoopTimer(loop: loop) { [weak self] in self?.timeHasCome() }
        start()
    }

    func cancel() {
        for fetch in fetches { fetch.cancel() }
        fetches = []
        timer?.cancel()
        answered = nil
        gaveUp = nil
    }

    private var leftMs: Int64 { startedMs + options.timeoutMs - loop.nowMs }

    private func start() {
        let member = next % options.endpoints.count
        next += 1
        attempts += 1
        running += 1
        var request = FetchRequest(
            url: options.endpoints[member] + call.path, body: call.body, timeoutMs: Int(max(1, leftMs)))
        request.trust = options.trust
        fetches.append(fetcher.fetch(request) { [weak self] in self?.ended(member, $0) })
        let patienceMs = attempts < min(2, options.endpoints.count) ? options.hedgeMs : options.againMs
        timer?.schedule(afterMs: min(patienceMs, max(1, leftMs)))
    }

    private func ended(_ member: Int, _ result: Result<FetchReply, FetchError>) {
        guard let answered else { return }
        running -= 1
        switch result {
        case .success(let reply):
            if answered(member, reply.status, reply.body) { return cancel() }
            lastError = "HTTP \(reply.status)"
        case .failure(let error): lastError = "\(options.endpoints[member]): \(error.description)"
        }
        // The next one at once, if it has not been asked already; round again after a pause.
        if running == 0 { timer?.schedule(afterMs: attempts < options.endpoints.count ? 0 : options.pauseMs) }
    }

    private func timeHasCome() {
        guard answered != nil else { return }
        if leftMs <= 0 {
            let gaveUp = gaveUp
            let why = lastError
            cancel()
            gaveUp?(why)
        } else if running < options.attempts {
            start()
        } else {
            timer?.schedule(afterMs: max(1, leftMs))
        }
    }
}

/// One stream of changes from one member.
private final class EtcdWatch {
    private let loop: EventLoop
    private let fetcher: HTTPFetcher
    private let options: EtcdOptions
    private let codec: EtcdCodec
    private let member: String
    private let after: UInt64
    private var fetch: Fetch?
    private var timer: LoopTimer?
    private var lines: [UInt8] = []
    private var told: ((EtcdCodec.WatchWord) -> Void)?
    private(set) var isCreated = false

    init(
        loop: EventLoop, fetcher: HTTPFetcher, options: EtcdOptions, member: String, codec: EtcdCodec, after: UInt64
    ) {
        self.loop = loop
        self.fetcher = fetcher
        self.options = options
        self.member = member
        self.codec = codec
        self.after = after
    }

    func begin(_ told: @escaping (EtcdCodec.WatchWord) -> Void) {
        self.told = told
        timer = LoopTimer(loop: loop) { [weak self] in self?.fail("it does not begin") }
        timer?.schedule(afterMs: options.timeoutMs)
        let call = codec.watch(after: after)
        var request = FetchRequest(url: member + call.path, body: call.body, timeoutMs: nil)
        request.trust = options.trust
        fetch = fetcher.fetch(request) { [weak self] bytes in
            self?.take(bytes)
        } done: { [weak self] result in
            switch result {
            case .success(let reply): self?.failLater("it ended with HTTP \(reply.status)")
            case .failure(let error): self?.failLater(error.description)
            }
        }
    }

    func cancel() {
        told = nil
        fetch?.cancel()
        timer?.cancel()
    }

    private func take(_ bytes: [UInt8]) {
        lines.append(contentsOf: bytes)
        while told != nil, let end = lines.firstIndex(of: UInt8(ascii: "\n")) {
            let line = Array(lines[..<end])
            lines.removeSubrange(...end)
            if line.isEmpty { continue }
            do throws(EtcdError) {
                let word = try codec.watchWord(line)
                if case .created = word {
                    isCreated = true
                    timer?.cancel()
                }
                told?(word)
            } catch {
                failLater(error.description)
                return
            }
        }
        if lines.count > 32 << 20 { failLater("a line without an end") }
    }

    /// Whoever is told begins anew at once.
    private func failLater(_ why: String) {
        fetch?.cancel()
        timer = LoopTimer(loop: loop) { [weak self] in self?.fail(why) }
        timer?.schedule(afterMs: options.pauseMs)
    }

    private func fail(_ why: String) {
        let told = told
        cancel()
        told?(.unclear(why))
    }
}
