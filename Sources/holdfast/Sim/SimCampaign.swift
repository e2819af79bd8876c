internal import HoldfastSimulator
internal import HoldfastTransport

/// Many seeds, some at a time.
struct SimCampaign: Sendable {
    let simulation: Simulation
    let seeds: ClosedRange<UInt64>
    let jobs: Int
    /// Ends after so many failing seeds.
    let failures: Int
    let replaysTwice: Bool
    let shrinkRuns: Int

    /// What all jobs share.
    private struct State {
        var next: UInt64?
        var counters = SimCounters()
        var clean: UInt64 = 0
        var failed: [UInt64] = []
        var reportedMs: Int64 = 0
    }

    /// - Returns: whether all seeds were clean.
    func run() async -> Bool {
        let startMs = EventLoop.nowMs
        let state = Locked(State(next: seeds.lowerBound, reportedMs: startMs))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<jobs { group.addTask { work(state, startMs: startMs) } }
        }
        let end = state.withLock { $0 }
        StandardStream.output.write(summary(end, ms: EventLoop.nowMs - startMs) + "\n")
        return end.failed.isEmpty
    }

    private func work(_ state: Locked<State>, startMs: Int64) {
        while let seed = take(state) {
            let outcome = simulation.run(seed: seed)
            var complaint = outcome.isClean ? nil : SimReport.text(outcome)
            if replaysTwice, simulation.run(seed: seed).hash != outcome.hash {
                complaint = "seed \(seed): two runs differ"
            }
            let isLast = state.withLock { state -> Bool in
                state.counters.add(outcome.counters)
                guard complaint != nil else {
                    state.clean += 1
                    return false
                }
                state.failed.append(seed)
                return state.failed.count > failures
            }
            if let complaint, !isLast {
                StandardStream.output.write(complaint + "\n")
                if !outcome.isClean { shrink(outcome) }
            }
            progress(state, startMs: startMs)
        }
    }

    private func take(_ state: Locked<State>) -> UInt64? {
        state.withLock { state in
            guard let seed = state.next, state.failed.count < failures else { return nil }
            state.next = seed < seeds.upperBound ? seed + 1 : nil
            return seed
        }
    }

    private func shrink(_ outcome: Outcome) {
        guard shrinkRuns > 0 else { return }
        let shrinker = Shrinker(maxRuns: shrinkRuns) { plan in simulation.run(seed: outcome.seed, plan: plan) }
        let (least, runs) = shrinker.shrink(outcome)
        StandardStream.output.write("shrunk in \(runs) runs:\n\(SimReport.text(least))\n\n")
    }

    private func progress(_ state: Locked<State>, startMs: Int64) {
        let nowMs = EventLoop.nowMs
        let line = state.withLock { state -> String? in
            guard nowMs - state.reportedMs >= 5_000 else { return nil }
            state.reportedMs = nowMs
            let done = state.clean + UInt64(state.failed.count)
            let rate = Double(done) * 1_000 / Double(max(1, nowMs - startMs))
            return "\(done) of \(seeds.count) seeds, \(tenths(rate)) a second, \(state.failed.count) failed, "
                + "\(state.counters.entries) entries; faults: \(state.counters.faultText)"
        }
        if let line { StandardStream.error.write(line + "\n") }
    }

    private func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }

    private func summary(_ state: State, ms: Int64) -> String {
        let hours = Double(state.counters.simulatedUs) / 3_600_000_000
        var lines = [
            "\(state.clean) seeds clean, \(state.failed.count) failed, of \(seeds.lowerBound)-\(seeds.upperBound)",
            "\(tenths(hours)) simulated hours, \(state.counters.steps) steps, \(state.counters.entries) entries, "
                + "\(state.counters.swaps) swaps, \(state.counters.clientMessages) messages of clients",
            "faults: \(state.counters.faultText)",
            "wall time \(tenths(Double(ms) / 1_000)) s, "
                + "\(tenths(Double(state.clean) * 1_000 / Double(max(1, ms)))) seeds a second",
        ]
        if !state.failed.isEmpty {
            lines.append("failing seeds: " + state.failed.sorted().prefix(50).map(String.init).joined(separator: " "))
        }
        return lines.joined(separator: "\n")
    }
}
