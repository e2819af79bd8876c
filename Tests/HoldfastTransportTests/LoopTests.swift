import Glibc
import Synchronization
import Testing

@testable import HoldfastTransport

private actor Counter {
    let loop: EventLoop
    private(set) var value = 0
    private var timer: LoopTimer?

    init(_ loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func add() -> Bool {
        value += 1
        return loop.isCurrent
    }

    func later(_ done: @escaping @Sendable () -> Void) {
        let timer = LoopTimer(loop: loop) { [weak self] in
            self?.assumeIsolated { $0.value += 10 }
            done()
        }
        timer.schedule(afterMs: 1)
        self.timer = timer
    }
}

@Suite struct LoopTests {
    func withLoop(_ body: (EventLoop) async throws -> Void) async rethrows {
        let loop = EventLoop(name: "test")
        loop.start()
        defer { loop.stop() }
        try await body(loop)
    }

    func run<Value: Sendable>(on loop: EventLoop, _ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: work()) }
        }
    }

    @Test func workOfEachThreadStaysInOrder() async {
        await withLoop { loop in
            let seen = Locked<[[Int]]>([[], [], [], []])
            await withTaskGroup(of: Void.self) { group in
                for thread in 0..<4 {
                    group.addTask {
                        for number in 0..<5000 {
                            loop.execute { seen.withLock { $0[thread].append(number) } }
                        }
                    }
                }
            }
            await run(on: loop) {}
            #expect(seen.withLock { $0 } == Array(repeating: Array(0..<5000), count: 4))
        }
    }

    @Test func workThatMakesWorkDoesNotStarveOrLose() async {
        await withLoop { loop in
            let count = Locked(0)
            let done = Inbox<Void>()
            @Sendable func again(_ left: Int) {
                count.withLock { $0 += 1 }
                if left == 0 { done.put(()) } else { loop.execute { again(left - 1) } }
            }
            loop.execute { again(10_000) }
            await done.next()
            #expect(count.withLock { $0 } == 10_001)
        }
    }

    @Test func pinnedActorsRunOnTheLoop() async {
        await withLoop { loop in
            let counter = Counter(loop)
            #expect(await counter.add())
            let isAssumed = await run(on: loop) { counter.assumeIsolated { $0.add() } }
            #expect(isAssumed)
            let fired = Inbox<Void>()
            await counter.later { fired.put(()) }
            await fired.next()
            #expect(await counter.value == 12)
        }
    }

    @Test func twoActorsOnTwoLoopsCallEachOther() async {
        let group = EventLoopGroup(count: 2)
        group.start()
        defer { group.stop() }
        let counters = group.loops.map { Counter($0) }
        await withTaskGroup(of: Bool.self) { tasks in
            for number in 0..<400 { tasks.addTask { await counters[number & 1].add() } }
            for await isPinned in tasks { #expect(isPinned) }
        }
        let values = (await counters[0].value, await counters[1].value)
        #expect(values == (200, 200))
    }

    @Test func aTaskCanPreferTheLoop() async {
        await withLoop { loop in
            let isThere = await Task(executorPreference: loop) { loop.isCurrent }.value
            #expect(isThere)
        }
    }

    @Test func hooksRunAfterTheBatchAndOnce() async {
        await withLoop { loop in
            let seen = Locked<[String]>([])
            let done = Inbox<Void>()
            loop.execute {
                loop.afterBatch {
                    seen.withLock { $0.append("hook") }
                    done.put(())
                }
                loop.execute { seen.withLock { $0.append("second") } }
                seen.withLock { $0.append("first") }
            }
            await done.next()
            await run(on: loop) {}
            #expect(seen.withLock { $0 } == ["first", "second", "hook"])
        }
    }

    @Test func timersFireByDeadlineAndNeverEarly() async {
        await withLoop { loop in
            let fired = Inbox<(Int, Bool)>()
            let timers = Locked<[SendableTimer]>([])
            loop.execute {
                let start = loop.nowMs
                for (index, delay) in [30, 10, 20, 0, -5, 10].enumerated() {
                    let deadline = start + Int64(delay)
                    let timer = LoopTimer(loop: loop) { fired.put((index, loop.nowMs >= deadline)) }
                    timer.schedule(atMs: deadline)
                    timers.withLock { $0.append(SendableTimer(timer)) }
                }
            }
            var order: [Int] = []
            for _ in 0..<6 {
                guard let (index, isInTime) = await fired.next() else { break }
                #expect(isInTime)
                order.append(index)
            }
            #expect(Set(order.prefix(2)) == [3, 4])
            #expect(order.suffix(4) == [1, 5, 2, 0])
            timers.withLock { $0 = [] }
        }
    }

    @Test func aTimerThatIsAlwaysLateLeavesRoomForOthers() async {
        await withLoop { loop in
            let done = Inbox<Int>()
            let kept = Locked<[SendableTimer]>([])
            let isEnding = Locked(false)
            loop.execute {
                var count = 0
                weak var itself: LoopTimer?
                let timer = LoopTimer(loop: loop) {
                    count += 1
                    if isEnding.withLock({ $0 }) { done.put(count) } else { itself?.schedule(atMs: 0) }
                }
                itself = timer
                timer.schedule(atMs: 0)
                #expect(count == 0, "never within the call")
                kept.withLock { $0 = [SendableTimer(timer)] }
            }
            // Work from outside and another timer still get their turn.
            await run(on: loop) {}
            await run(on: loop) {
                let other = LoopTimer(loop: loop) { isEnding.withLock { $0 = true } }
                other.schedule(afterMs: 2)
                kept.withLock { $0.append(SendableTimer(other)) }
            }
            #expect(await done.next().map { $0 > 1 } == true)
            kept.withLock { $0 = [] }
        }
    }

    @Test func timersCanBeSetAgainCancelledAndDropped() async {
        await withLoop { loop in
            let fired = Inbox<String>()
            let kept = Locked<[SendableTimer]>([])
            loop.execute {
                let cancelled = LoopTimer(loop: loop) { fired.put("cancelled") }
                cancelled.schedule(afterMs: 1)
                cancelled.cancel()
                #expect(cancelled.deadlineMs == nil)
                let dropped = LoopTimer(loop: loop) { fired.put("dropped") }
                dropped.schedule(afterMs: 1)
                var count = 0
                weak var itself: LoopTimer?
                let start = loop.nowMs
                let repeated = LoopTimer(loop: loop) {
                    count += 1
                    fired.put("round \(count)")
                    if count < 3 { itself?.schedule(atMs: start + Int64(count + 1) * 5) }
                }
                itself = repeated
                repeated.schedule(afterMs: 1000)
                repeated.schedule(atMs: start + 5)
                kept.withLock { $0 = [SendableTimer(cancelled), SendableTimer(repeated)] }
            }
            for round in 1...3 { #expect(await fired.next() == "round \(round)") }
            kept.withLock { $0 = [] }
        }
    }

    @Test func aTimerMayBeLetGoAnywhereAndAfterItsLoop() async {
        let loop = EventLoop(name: "test")
        loop.start()
        let timers = await run(on: loop) {
            (0..<2).map { _ in
                let timer = LoopTimer(loop: loop) {}
                timer.schedule(afterMs: 1_000_000)
                return SendableTimer(timer)
            }
        }
        var left = timers
        left.removeLast()
        loop.stop()
        left.removeAll()
    }

    @Test func stopTakesWhatWaitsAndDropsWhatComes() {
        let count = Locked(0)
        let loop = EventLoop(name: "test")
        loop.start()
        for _ in 0..<1000 { loop.execute { count.withLock { $0 += 1 } } }
        loop.stop()
        #expect(count.withLock { $0 } == 1000)
        loop.execute { count.withLock { $0 += 1 } }
        loop.stop()
        #expect(count.withLock { $0 } == 1000)
    }

    @Test func aLoopThatNeverRanCanGo() {
        let loop = EventLoop(name: "test")
        loop.stop()
        _ = EventLoop(name: "another")
    }

    @Test func theClockIsTheSameForAll() async {
        await withLoop { loop in
            let before = EventLoop.nowMicroseconds
            let there = await run(on: loop) { loop.nowMicroseconds }
            #expect(before <= there && there <= EventLoop.nowMicroseconds)
            #expect(loop.nowMs == EventLoop.nowMs || loop.nowMs >= before / 1000)
        }
    }
}

/// Carries a timer out of a loop so that a test can let it go. Guard: the tests only drop it.
struct SendableTimer: @unchecked Sendable {
    let timer: LoopTimer
    init(_ timer: LoopTimer) { self.timer = timer }
}
