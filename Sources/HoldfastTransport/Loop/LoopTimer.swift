import CUV

/// A one-shot timer of a loop that can be set again and again, by absolute deadlines: what repeats does not drift.
/// Never fires early; late by the loop's own delay and up to 1 ms.
///
/// Loop-confined, but may be made and let go anywhere. Letting go of it cancels it. The closure should hold its owner
/// weakly.
public final class LoopTimer {
    private let loop: EventLoop
    private let fire: () -> Void
    private var core: TimerCore?

    /// A timer that is not set.
    /// - Parameter fire: called on the loop at the deadline; may set the timer again.
    public init(loop: EventLoop, _ fire: @escaping () -> Void) {
        self.loop = loop
        self.fire = fire
    }

    deinit {
        guard let core else { return }
        if loop.isCurrent {
            core.close()
        } else {
            loop.execute { core.close() }
        }
    }

    /// Sets (or resets) the timer. A deadline that has passed fires in the next round of the loop, never within this
    /// call.
    /// - Parameter deadlineMs: on the clock of `EventLoop.nowMs`.
    public func schedule(atMs deadlineMs: Int64) {
        loop.preconditionCurrent()
        guard loop.acceptsHandles else { return }
        let core = self.core ?? TimerCore(loop: loop, fire: fire)
        self.core = core
        core.arm(deadlineMs)
    }

    /// Sets the timer `ms` milliseconds from now.
    public func schedule(afterMs ms: Int64) {
        schedule(atMs: loop.nowMs + ms)
    }

    /// Unsets the timer; nothing if it is not set. It will not fire any more, also if the deadline has passed.
    public func cancel() {
        loop.preconditionCurrent()
        core?.disarm()
    }

    /// The deadline while the timer is set.
    public var deadlineMs: Int64? { core?.deadlineMs }
}

/// The part that lives as long as the libuv handle.
///
/// `@unchecked Sendable`: touched only on the loop (`LoopTimer.deinit` sends it there).
private final class TimerCore: LoopResource, @unchecked Sendable {
    private let loop: EventLoop
    private var fire: (() -> Void)?
    private let handle: UnsafeMutablePointer<uv_timer_t>
    private(set) var deadlineMs: Int64?
    /// The deadline had passed when it was set.
    private var isOverdue = false
    /// A hook of the loop will call `runOverdue`.
    private var isQueued = false
    private var isClosed = false

    init(loop: EventLoop, fire: @escaping () -> Void) {
        self.loop = loop
        self.fire = fire
        handle = .allocate(capacity: 1)
        super.init()
        uv_timer_init(loop.uv, handle)
        LoopResource.attach(self, to: handle.asHandle)
    }

    func arm(_ deadlineMs: Int64) {
        guard !isClosed else { return }
        self.deadlineMs = deadlineMs
        let wait = deadlineMs - loop.nowMs
        isOverdue = wait <= 0
        guard !isOverdue else {
            // Not by libuv: it would run a timer that is set anew in its own callback before it looks at any socket.
            uv_timer_stop(handle)
            guard !isQueued else { return }
            isQueued = true
            loop.afterBatch { self.runOverdue() }
            return
        }
        // libuv counts from the time at which it last woke.
        uv_update_time(loop.uv)
        uv_timer_start(
            handle,
            { handle in
                guard let handle, let core = LoopResource.of(handle.asHandle) else { return }
                unsafeDowncast(core, to: TimerCore.self).fired()
            }, UInt64(wait), 0)
    }

    private func runOverdue() {
        isQueued = false
        if isOverdue { fired() }
    }

    func disarm() {
        deadlineMs = nil
        isOverdue = false
        guard !isClosed else { return }
        uv_timer_stop(handle)
    }

    private func fired() {
        guard let deadlineMs else { return }
        guard loop.nowMs >= deadlineMs else {
            arm(deadlineMs)
            return
        }
        self.deadlineMs = nil
        fire?()
    }

    func close() {
        guard !isClosed else { return }
        isClosed = true
        deadlineMs = nil
        fire = nil
        LoopResource.close(handle.asHandle)
    }

    override func loopWillStop() {
        close()
    }
}
