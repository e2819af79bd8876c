import CUV
import Glibc

/// The time of day, which people may set; for spans of time there is the loop's clock.
public enum WallClock {
    /// Milliseconds since 1970.
    public static var nowMs: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Seconds since 1970.
    public static var nowS: Int64 { nowMs / 1000 }
}

/// The process's own output.
public enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Writes all of `text`, waiting for a slow reader. False when it is closed.
    @discardableResult
    public func write(_ text: String) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let written = bytes.withUnsafeBytes { Glibc.write(rawValue, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return false }
            bytes = bytes.dropFirst(written)
        }
        return true
    }

    /// Writes `text`, of at most 4096 bytes, if that can be done without waiting: an event loop must not stand still
    /// because nobody reads its log. False when it was dropped. Calls from several threads take turns by the caller's
    /// lock, or one that found room may wait for another's.
    public func writeNow(_ text: String) -> Bool {
        var look = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        // A pipe is writable when a page of 4096 bytes is free in it.
        guard poll(&look, 1, 0) == 1, look.revents & Int16(POLLOUT) != 0 else { return false }
        return write(text)
    }
}

/// Lets a write to a closed pipe or socket be an error where it happens, not the end of the process.
public func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
}

/// Ends the process at once: no queue is emptied, nothing is waited for.
public func endProcess(status: Int32) -> Never {
    _exit(status)
}

/// Lets the process open as many files, and so sockets, as the system allows it; the usual soft limit of 1,024 is less
/// than a node has links.
/// - Returns: how many that is.
@discardableResult
public func raiseOpenFiles() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
}

/// What the process has used of the machine.
public enum ProcessUsage {
    /// CPU time of all threads since the start, in seconds.
    public static var cpuSeconds: Double {
        var usage = rusage()
        guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
        let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(microseconds) / 1_000_000
    }

    /// Memory that is in RAM now, in bytes; 0 when the system does not say.
    public static var residentBytes: Int {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = read(file, &text, text.count)
        let pages = text.prefix(max(0, count)).split(separator: UInt8(ascii: " ")).dropFirst().first
        return (pages.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
