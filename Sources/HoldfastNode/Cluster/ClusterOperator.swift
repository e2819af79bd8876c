internal import HoldfastProtocol
internal import HoldfastReplication
public import HoldfastTransport

/// An operator's hand on a cluster: reads what stands at etcd, and gives orders there. On a loop of its own.
public actor ClusterOperator {
    private let loop: EventLoop
    private let codec: EtcdCodec
    private let options: EtcdOptions
    private var etcd: EtcdClient?
    private var fetcher: HTTPFetcher?
    private var lastID: UInt64 = 0
    private var open: [UInt64: CheckedContinuation<CoordinatorAnswer?, Never>] = [:]

    public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - loop: runs as long as this does.
    ///   - etcd: `http://host:port` of its members.
    public init(loop: EventLoop, etcd: [String], cluster: String = "main", trust: FetchTrust = FetchTrust()) {
        self.loop = loop
        codec = EtcdCodec(keys: EtcdKeys(cluster: cluster), layout: .standard)
        options = EtcdOptions(endpoints: etcd, trust: trust)
    }

    private func client() -> EtcdClient {
        if let etcd { return etcd }
        let log = Log(least: .error)
        let made = EtcdClient(loop: loop, codec: codec, options: options, log: log) { [weak self] word in
            self?.assumeIsolated { $0.heard(word) }
        }
        etcd = made
        return made
    }

    private func heard(_ word: EtcdClient.Word) {
        switch word {
        case .answered(let id, let answer): open.removeValue(forKey: id)?.resume(returning: answer)
        case .unanswered(let id): open.removeValue(forKey: id)?.resume(returning: nil)
        case .changed, .watchEnded: break
        }
    }

    private func ask(_ request: CoordinatorRequest) async -> CoordinatorAnswer? {
        lastID += 1
        let id = lastID
        return await withCheckedContinuation { continuation in
            open[id] = continuation
            client().ask(id, request)
        }
    }

    private func state() async throws(StartError) -> (records: [VersionedRecord?], nodes: [NodeInfo]) {
        guard case .listing(let records, let nodes, _, _)? = await ask(.list) else { throw unreachable }
        return (records, nodes)
    }

    private var unreachable: StartError {
        StartError(message: "no member of etcd answers: \(options.endpoints.joined(separator: ", "))")
    }

    private func call(_ call: EtcdCall) async throws(StartError) {
        let isDone = await withCheckedContinuation { continuation in
            client().write(call) { continuation.resume(returning: $0) }
        }
        if !isDone { throw unreachable }
    }

    /// The text at an address; nil: it cannot be had.
    private func fetch(_ url: String) async -> String? {
        let fetcher = fetcher ?? HTTPFetcher(loop: loop)
        self.fetcher = fetcher
        return await withCheckedContinuation { continuation in
            fetcher.fetch(FetchRequest(url: url, timeoutMs: 1_500)) { result in
                guard case .success(let reply) = result, reply.status == 200 else {
                    return continuation.resume(returning: nil)
                }
                continuation.resume(returning: String(decoding: reply.body, as: UTF8.self))
            }
        }
    }

    // MARK: What operators want

    /// - Throws: when no member of etcd answers.
    public func report() async throws(StartError) -> ClusterReport {
        let state = try await state()
        var rows: [NodeRow] = []
        for info in state.nodes {
            let metrics = await fetch(info.contact.url + "/metrics")
            rows.append(NodeRow(info, state.records, metrics: metrics.map(MetricsText.init)))
        }
        return ClusterReport(rows: rows, shards: ShardSummary(state.records, nodes: state.nodes))
    }

    /// Moves a node's shards to others, and ends it. Returns when it has left.
    /// - Parameter progress: told how many shards it still holds.
    /// - Throws: when there is no such node, or it has not left after `seconds`; it goes on leaving then.
    public func drain(_ name: String, seconds: Int, progress: (Int) -> Void) async throws(StartError) {
        guard let node = try await state().nodes.first(where: { $0.id.name == name })?.id else {
            throw StartError(message: "no node \(name) is registered")
        }
        let order = codec.keys.key(of: .drain(node))
        try await call(codec.put(order))
        let deadlineMs = loop.nowMs + Int64(seconds) * 1_000
        var last = -1
        while loop.nowMs < deadlineMs {
            let state: (records: [VersionedRecord?], nodes: [NodeInfo])
            // etcd may be busy with this very drain.
            do throws(StartError) { state = try await self.state() } catch { continue }
            let held = state.records.count { $0?.record.lists(node) ?? false }
            if held != last { progress(held) }
            last = held
            guard state.nodes.contains(where: { $0.id == node }) else {
                try await call(codec.delete(order))
                guard held == 0 else { throw StartError(message: "\(name) has left with \(held) shards") }
                return
            }
            await pause(ms: 250)
        }
        throw StartError(message: "\(name) is still there after \(seconds) s; it goes on leaving")
    }

    /// Declares a process dead for ever: shards that only it held begin anew.
    /// - Parameter process: `NAME#INCARNATION`.
    public func forget(_ process: String) async throws(StartError) {
        guard let node = NodeID(text: process) else {
            throw StartError(message: "NAME#INCARNATION, as holdfast status shows it, is wanted, not '\(process)'")
        }
        try await call(codec.put(codec.keys.key(of: .forget(node))))
    }

    private func pause(ms: Int64) async {
        let gate = Gate()
        let timer = LoopTimer(loop: loop) { gate.open() }
        timer.schedule(afterMs: ms)
        await gate.wait()
    }

    public func close() {
        etcd?.close()
        etcd = nil
        fetcher = nil
    }
}
