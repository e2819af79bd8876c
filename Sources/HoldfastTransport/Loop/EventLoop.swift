import CUV
import Glibc
import Synchronization

/// One libuv loop on a thread of its own, and a Swift serial executor: actors are pinned to it by returning
/// `loop.asUnownedSerialExecutor()` as `unownedExecutor` (and by keeping a strong reference to the loop).
///
/// From callbacks of this module (timers, sockets, `execute`) such actors are entered by `assumeIsolated`, without a
/// hop. Work from elsewhere comes through one locked mailbox that is drained in batches, with one wake a batch.
///
/// Everything called "loop-confined" in this module may be touched only on the loop's thread; the public entry points
/// of such types check that and trap.
///
/// `@unchecked Sendable`: `inbox`, `wakePending` and `state` are guarded by `lock`; all other mutable state is confined
/// to the loop's thread (before `start`: to the thread that makes the loop).
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
    enum Item {
        case job(UnownedJob)
        case work(@Sendable () -> Void)
    }

    enum State {
        /// Made, no thread. Next: running, stopped.
        case idle
        /// The thread runs. Next: stopping.
        case running
        /// `stop` was called; the mailbox still takes work. Next: stopped.
        case stopping
        /// The mailbox drops whatever comes.
        case stopped
    }

    /// For logs and the thread's name.
    public let name: String
    let uv: UnsafeMutablePointer<uv_loop_t>
    private let async: UnsafeMutablePointer<uv_async_t>
    private let prepare: UnsafeMutablePointer<uv_prepare_t>
    private let lock = Lock()
    private var inbox: ContiguousArray<Item> = []
    private var wakePending = false
    private var state = State.idle
    private let threadID = Atomic<UInt>(0)
    private var thread = pthread_t()

    // Confined to the loop's thread.
    private var spare: ContiguousArray<Item> = []
    private var hooks: [() -> Void] = []
    private var dirty: ContiguousArray<SocketChannel> = []
    private(set) var acceptsHandles = true
    /// System calls that sent something or tried to, since the start.
    var writeCalls: UInt64 = 0
    /// Scratch memory for one read; valid only within one callback.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    /// Scratch memory for TLS plaintext in both directions; valid only within one callback.
    let tlsBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16_384, alignment: 16)
    /// Scratch memory for one `sendmsg`.
    let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: 64)

    /// A loop that does nothing before `start`.
    /// - Parameter name: at most 15 bytes are seen by the system.
    public init(name: String) {
        self.name = name
        uv = .allocate(capacity: 1)
        async = .allocate(capacity: 1)
        prepare = .allocate(capacity: 1)
        vectors.initialize(repeating: iovec())
        precondition(uv_loop_init(uv) == 0, "no event loop")
        precondition(uv_async_init(uv, async, { EventLoop.of($0)?.woken() }) == 0, "no wake handle")
        uv_prepare_init(uv, prepare)
        uv_prepare_start(prepare) { EventLoop.of($0)?.beforePoll() }
        // libuv leaves it as it was; nil marks the loop's own handles.
        uv_handle_set_data(async.asHandle, nil)
        uv_handle_set_data(prepare.asHandle, nil)
        uv_loop_set_data(uv, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        precondition(state == .stopped || state == .idle, "an event loop must be stopped before it is let go")
        if state == .idle { closeOwnHandles() }
        uv_loop_close(uv)
        async.deallocate()
        prepare.deallocate()
        uv.deallocate()
        readBuffer.deallocate()
        tlsBuffer.deallocate()
        vectors.deallocate()
    }

    // MARK: Life

    /// Starts the thread. Once only.
    public func start() {
        let isFirst = lock.withLock { () -> Bool in
            guard state == .idle else { return false }
            state = .running
            return true
        }
        precondition(isFirst, "an event loop starts once")
        // The thread owns one reference until it ends: the loop's `data` is an unretained pointer to the same object.
        let context = Unmanaged.passRetained(self).toOpaque()
        let result = pthread_create(&thread, nil, { EventLoop.threadMain($0) }, context)
        precondition(result == 0, "no thread: \(result)")
        while threadID.load(ordering: .acquiring) == 0 { sched_yield() }
    }

    /// Ends the loop: takes what is in the mailbox, closes all sockets and timers (connections get their `closed`),
    /// ends and joins the thread. Work that comes later is dropped: no task may still need an actor of this loop. Not
    /// on the loop itself.
    public func stop() {
        precondition(!isCurrent, "a loop cannot wait for itself")
        let before = lock.withLock { () -> State in
            let before = state
            switch before {
            case .running:
                state = .stopping
                uv_async_send(async)
            case .idle: state = .stopped
            case .stopping, .stopped: break
            }
            return before
        }
        switch before {
        case .running: pthread_join(thread, nil)
        case .idle: closeOwnHandles()
        case .stopping, .stopped: break
        }
    }

    /// Whether the calling thread is the loop's.
    @inline(__always)
    public var isCurrent: Bool {
        threadID.load(ordering: .relaxed) == UInt(pthread_self())
    }

    /// Traps when the calling thread is not the loop's.
    @inline(__always)
    public func preconditionCurrent() {
        precondition(isCurrent, "called off its event loop")
    }

    // MARK: Executor

    /// Takes a job of an actor or task; runs it on the loop, in order with `execute`.
    public func enqueue(_ job: consuming ExecutorJob) {
        put(.job(UnownedJob(job)))
    }

    /// Runs `work` on the loop, after everything that was given to it before, from whatever thread.
    public func execute(_ work: @escaping @Sendable () -> Void) {
        put(.work(work))
    }

    /// The executor to return from an actor's `unownedExecutor`.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// Lets `assumeIsolated` of pinned actors work in plain callbacks of the loop.
    public func checkIsolated() {
        preconditionCurrent()
    }

    /// The same as a question.
    public func isIsolatingCurrentContext() -> Bool? {
        isCurrent
    }

    /// Runs `work` once, on the loop, at the end of the current batch, before the sockets are flushed: frames that it
    /// sends leave with those of the batch. Only on the loop.
    public func afterBatch(_ work: @escaping () -> Void) {
        preconditionCurrent()
        hooks.append(work)
    }

    // MARK: Time

    /// Milliseconds since boot, sleep included; never goes back. Any thread.
    public var nowMs: Int64 { EventLoop.nowMs }

    /// Microseconds since boot, sleep included; never goes back. Any thread.
    public var nowMicroseconds: Int64 { EventLoop.nowMicroseconds }

    /// The same clock without a loop at hand.
    public static var nowMs: Int64 { nowMicroseconds / 1000 }

    /// The same clock without a loop at hand.
    public static var nowMicroseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}

// MARK: Inside

extension EventLoop {
    private static func of<Handle>(_ handle: UnsafeMutablePointer<Handle>?) -> EventLoop? {
        guard let handle, let loop = uv_handle_get_loop(handle.asHandle), let data = uv_loop_get_data(loop) else {
            return nil
        }
        return Unmanaged<EventLoop>.fromOpaque(data).takeUnretainedValue()
    }

    private static func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        let loop = Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue()
        holdfast_thread_name(loop.name)
        loop.threadID.store(UInt(pthread_self()), ordering: .releasing)
        uv_run(loop.uv, UV_RUN_DEFAULT)
        return nil
    }

    private func put(_ item: Item) {
        let isOnLoop = isCurrent
        lock.lock()
        guard state != .stopped else {
            lock.unlock()
            return
        }
        inbox.append(item)
        if !wakePending {
            wakePending = true
            // On the loop itself `beforePoll` comes before the next wait. The send stays under the lock: `state` tells
            // that the handle is still open.
            if !isOnLoop { uv_async_send(async) }
        }
        lock.unlock()
    }

    private func woken() {
        // The work is done in `beforePoll`, which libuv calls before each wait.
    }

    private func beforePoll() {
        let isStopping = lock.withLock { state == .stopping }
        if isStopping {
            tearDown()
            return
        }
        runBatch()
        lock.lock()
        if !inbox.isEmpty {
            wakePending = true
            uv_async_send(async)
        }
        lock.unlock()
        if !hooks.isEmpty || !dirty.isEmpty { uv_async_send(async) }
    }

    /// Everything that waits, then the hooks, then the sockets; bounded, so that sockets are read under any load.
    private func runBatch() {
        for _ in 0..<3 {
            var rounds = 0
            while rounds < 8, drain() { rounds += 1 }
            if hooks.isEmpty && dirty.isEmpty { break }
            runHooks()
            flushChannels()
        }
    }

    private func drain() -> Bool {
        var batch: ContiguousArray<Item> = []
        swap(&batch, &spare)
        lock.lock()
        swap(&batch, &inbox)
        wakePending = false
        lock.unlock()
        let isEmpty = batch.isEmpty
        let serial = asUnownedSerialExecutor()
        for item in batch {
            switch item {
            case .job(let job): job.runSynchronously(isolatedTo: serial, taskExecutor: asUnownedTaskExecutor())
            case .work(let work): work()
            }
        }
        batch.removeAll(keepingCapacity: batch.count < 65_536)
        swap(&batch, &spare)
        return !isEmpty
    }

    private func runHooks() {
        guard !hooks.isEmpty else { return }
        var current: [() -> Void] = []
        swap(&current, &hooks)
        for hook in current { hook() }
    }

    /// A channel has something to write at the end of the batch. Each is marked at most once.
    @inline(__always)
    func markDirty(_ channel: SocketChannel) {
        dirty.append(channel)
    }

    private func flushChannels() {
        var index = 0
        while index < dirty.count {
            let channel = dirty[index]
            channel.flush()
            index += 1
        }
        dirty.removeAll(keepingCapacity: true)
    }

    private func tearDown() {
        runBatch()
        for _ in 0..<100 {
            // Callbacks of what closes may open other things or send work.
            var found = 0
            withUnsafeMutablePointer(to: &found) { found in
                uv_walk(
                    uv,
                    { handle, found in
                        guard let handle, uv_is_closing(handle) == 0, let resource = LoopResource.of(handle) else {
                            return
                        }
                        found?.assumingMemoryBound(to: Int.self).pointee += 1
                        resource.loopWillStop()
                    }, found)
            }
            runBatch()
            if found == 0 { break }
        }
        acceptsHandles = false
        lock.withLock {
            state = .stopped
            inbox.removeAll()
        }
        hooks.removeAll()
        dirty.removeAll()
        uv_close(async.asHandle, nil)
        uv_close(prepare.asHandle, nil)
    }

    private func closeOwnHandles() {
        uv_close(async.asHandle, nil)
        uv_close(prepare.asHandle, nil)
        uv_run(uv, UV_RUN_DEFAULT)
    }
}
