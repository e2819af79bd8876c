internal import HoldfastTransport

/// A whole run: lets the loops' bots in, watches them play, and ends them.
struct BotsRun {
    let plan: BotsPlan
    let server: ServerProcess?
    /// Progress goes to standard error then, so that standard output is the summary alone.
    let isJSON: Bool
    let pauses: PauseFile?

    private let group: EventLoopGroup
    private let loops: [BotLoop]
    private let beganUs = EventLoop.nowMicroseconds

    private static let progressMs: Int64 = 5_000
    private static let lookMs: Int64 = 200

    init(plan: BotsPlan, server: ServerProcess?, isJSON: Bool, pauses: PauseFile? = nil) throws {
        self.pauses = pauses
        self.plan = plan
        self.server = server
        self.isJSON = isJSON
        let tls =
            plan.urls.contains { $0.hasPrefix("wss:") }
            ? try TLSContext(trust: plan.trustsAnybody ? .anybody : .system) : nil
        let group = EventLoopGroup(count: plan.loops, name: "bots")
        self.group = group
        loops = group.loops.enumerated().map { BotLoop(plan: plan, index: $0.offset, loop: $0.element, tls: tls) }
    }

    private struct Look {
        var report = BotReport()
        var online = 0
        var playing = 0
        var gone = 0
        var areEnded = true
    }

    func run() async throws -> BotsSummary {
        group.start()
        defer { group.stop() }
        for loop in loops { await loop.begin() }
        let patienceMs = BotsPlan.patienceMs + Int64(plan.connections) * 1000 / Int64(plan.ramp)
        var late = FaultLog()
        // Who is turned away will not come again: then there is nothing to wait for.
        _ = try await watch(forMs: patienceMs) {
            $0.gone > 0 || ($0.online == plan.connections && $0.playing == plan.rooms)
        }
        let ready = try await look()
        let isReady = ready.gone == 0 && ready.online == plan.connections && ready.playing == plan.rooms
        if !isReady {
            late.add(.stuck, "run", "not all play")
            say("stuck: \(ready.online) of \(plan.connections) online, \(ready.playing) of \(plan.rooms) rooms play")
        }

        for loop in loops {
            await loop.measure(true)
            await loop.setPhase(.play)
        }
        let before = try await look().report
        let (startUs, cpuUs) = (EventLoop.nowMicroseconds, server?.cpuUs)
        let isInterrupted = Locked(false)
        let signals = SignalWatch(loop: group.loops[0]) { _ in isInterrupted.withLock { $0 = true } }
        _ = try await watch(forMs: isReady ? Int64(plan.seconds) * 1000 : 0) { _ in isInterrupted.withLock { $0 } }
        // A second one ends the program, as ever.
        signals.close()
        let span = try await look().report
        let (endUs, endCpuUs) = (EventLoop.nowMicroseconds, server?.cpuUs)
        let residentBytes = server?.residentBytes
        for loop in loops {
            await loop.measure(false)
            await loop.setPhase(.settle)
        }
        _ = try await watch(forMs: BotsPlan.patienceMs + 5_000) { $0.areEnded }

        var whole = try await look().report
        whole.faults.merge(late)
        checkRefused(&whole)
        for loop in loops { await loop.end() }
        var summary = BotsSummary(
            plan: plan, rooms: plan.rooms, before: before, span: span, whole: whole,
            seconds: Double(endUs - startUs) / 1_000_000)
        if let cpuUs, let endCpuUs, let residentBytes {
            summary.add(serverCpuUs: endCpuUs - cpuUs, residentBytes: residentBytes)
        } else if let server {
            throw Failure(message: "there is no process \(server.pid)")
        }
        return summary
    }

    private func checkRefused(_ whole: inout BotReport) {
        func check(_ refused: Int, of sent: Int, _ what: String) {
            guard Double(refused) > max(1, Double(sent) * BotsPlan.refusedPart) else { return }
            whole.faults.add(.tooManyRefused, "run", "\(refused) of \(sent) \(what)")
            say("tooManyRefused run: \(refused) of \(sent) \(what)")
        }
        check(whole.inputsRefused, of: whole.inputsSent, "inputs")
        check(whole.messagesRefused, of: whole.messagesSent, "messages")
    }

    private func look() async throws -> Look {
        var all = Look()
        for loop in loops {
            let part = await loop.look()
            for line in part.lines { say("wrong: \(line)") }
            try pauses?.write(part.pauses)
            all.report.merge(part.report)
            all.online += part.online
            all.playing += part.playing
            all.gone += part.gone
            all.areEnded = all.areEnded && part.isEnded
        }
        try pauses?.write(frames: all.report.frames, atUs: EventLoop.nowMicroseconds)
        return all
    }

    /// Tells the progress until `isDone` or the time is over; whether it was done.
    private func watch(forMs: Int64, _ isDone: (Look) -> Bool) async throws -> Bool {
        let untilMs = EventLoop.nowMs + forMs
        var tellMs = EventLoop.nowMs + Self.progressMs
        var last = (report: BotReport(), us: EventLoop.nowMicroseconds)
        var isFirst = true
        while true {
            let now = try await look()
            if isFirst {
                last.report = now.report
                isFirst = false
            }
            if isDone(now) { return true }
            let nowMs = EventLoop.nowMs
            if nowMs >= untilMs { return false }
            if nowMs >= tellMs {
                tellMs += Self.progressMs
                let us = EventLoop.nowMicroseconds
                tell(now, since: last.report, seconds: Double(us - last.us) / 1_000_000)
                last = (now.report, us)
            }
            try await Task.sleep(for: .milliseconds(min(Self.lookMs, max(1, untilMs - nowMs))))
        }
    }

    private func tell(_ now: Look, since last: BotReport, seconds: Double) {
        func rate(_ count: Int) -> Int { Int(Double(count) / max(0.001, seconds)) }
        let second = (EventLoop.nowMicroseconds - beganUs) / 1_000_000
        say(
            "\(second) s: \(now.online) online, \(now.playing) rooms play, \(rate(now.report.frames - last.frames)) "
                + "frames/s, \(rate(now.report.messages - last.messages)) messages/s, drops \(now.report.drops), "
                + "resumes \(now.report.resumes), wrong \(now.report.faults.total)")
    }

    private func say(_ line: String) { (isJSON ? StandardStream.error : .output).write(line + "\n") }
}
