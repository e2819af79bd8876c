internal import HoldfastTransport

/// Time limits of a node's end, kept on one of its loops.
actor Deadline {
    private let loop: EventLoop
    private var last: LoopTimer?
    private var check: LoopTimer?

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Calls `reached` on the loop unless it is cancelled before.
    init(loop: EventLoop, afterMs: Int64, _ reached: @escaping @Sendable () -> Void) {
        self.loop = loop
        let atMs = EventLoop.nowMs + afterMs
        loop.execute { self.assumeIsolated { $0.begin(atMs: atMs, reached) } }
    }

    private func begin(atMs: Int64, _ reached: @escaping @Sendable () -> Void) {
        let timer = LoopTimer(loop: loop) { reached() }
        timer.schedule(atMs: atMs)
        last = timer
    }

    /// Returns when `holds` does, which nothing tells of, or after `atMostMs`.
    func until(_ holds: @escaping @Sendable () -> Bool, atMostMs: Int64) async {
        let endMs = EventLoop.nowMs + atMostMs
        let gate = Gate()
        look(holds, endMs: endMs, gate)
        await gate.wait()
    }

    private func look(_ holds: @escaping @Sendable () -> Bool, endMs: Int64, _ gate: Gate) {
        if holds() || EventLoop.nowMs >= endMs {
            check = nil
            gate.open()
            return
        }
        let timer = LoopTimer(loop: loop) { [weak self] in
            guard let self else { return }
            assumeIsolated { $0.look(holds, endMs: endMs, gate) }
        }
        timer.schedule(afterMs: 10)
        check = timer
    }

    func cancel() {
        last?.cancel()
        last = nil
        check = nil
    }
}
