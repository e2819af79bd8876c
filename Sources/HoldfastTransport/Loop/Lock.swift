import CUV
import Glibc

/// A mutex over `pthread_mutex_t`, which the thread sanitizer understands (it sees false races in
/// `Synchronization.Mutex`). Not recursive. Hold it for a few instructions only: loops wait for it.
///
/// `@unchecked Sendable`: the only state is the mutex itself, made for use from any thread.
public final class Lock: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// A free lock.
    public init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let result = pthread_mutex_init(mutex, nil)
        precondition(result == 0, "pthread_mutex_init failed: \(result)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Waits until the lock is free and takes it.
    @inline(__always)
    public func lock() {
        let result = pthread_mutex_lock(mutex)
        assert(result == 0)
    }

    /// Gives back a lock that this thread holds.
    @inline(__always)
    public func unlock() {
        let result = pthread_mutex_unlock(mutex)
        assert(result == 0)
    }

    /// Runs `body` with the lock held.
    @inline(__always)
    public func withLock<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> R {
        lock()
        defer { unlock() }
        return try body()
    }
}

/// A value that is only reachable with its lock held.
///
/// `@unchecked Sendable`: every access to `value` is inside `withLock`.
public final class Locked<Value: Sendable>: @unchecked Sendable {
    private let guardian = Lock()
    private var value: Value

    /// Keeps `value` behind a lock.
    public init(_ value: Value) {
        self.value = value
    }

    /// Runs `body` on the value with the lock held.
    public func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
        guardian.lock()
        defer { guardian.unlock() }
        return try body(&value)
    }
}
