internal import HoldfastTransport

/// Writes events as lines of JSON to standard error: a fixed event name and fields, never payloads, tokens or secrets.
/// May be called from anywhere; never waits. An event that repeats too often is counted, and the next line of its kind
/// says how many were left out (`suppressed`).
public struct Log: Sendable {
    /// Where a line goes; false when it was dropped.
    typealias Sink = @Sendable (_ line: String) -> Bool

    private let least: LogLevel
    private let now: @Sendable () -> Int64
    private let sink: Sink
    private let throttle: Locked<LogThrottle>
    /// Lines that nobody read in time.
    public let dropped: Counter

    /// A log that writes events of `least` and above to standard error.
    public init(least: LogLevel = .info) {
        self.init(least: least, now: { WallClock.nowMs }, sink: { StandardStream.error.writeNow($0) })
    }

    init(
        least: LogLevel, now: @escaping @Sendable () -> Int64, throttle: LogThrottle = LogThrottle(),
        sink: @escaping Sink
    ) {
        self.least = least
        self.now = now
        self.sink = sink
        self.throttle = Locked(throttle)
        dropped = Counter()
    }

    /// Of interest only while looking for a fault.
    public func debug(_ event: StaticString, _ fields: (name: String, value: LogValue)...) {
        write(.debug, event, fields)
    }

    /// Something that happens in a good day.
    public func info(_ event: StaticString, _ fields: (name: String, value: LogValue)...) {
        write(.info, event, fields)
    }

    /// Something that should not happen but is dealt with.
    public func warning(_ event: StaticString, _ fields: (name: String, value: LogValue)...) {
        write(.warning, event, fields)
    }

    /// Something that somebody has to look after.
    public func error(_ event: StaticString, _ fields: (name: String, value: LogValue)...) {
        write(.error, event, fields)
    }

    private func write(_ level: LogLevel, _ event: StaticString, _ fields: [(name: String, value: LogValue)]) {
        guard level >= least else { return }
        let name = "\(event)"
        let timeMs = now()
        // The sink is called with the lock held, so that lines neither mix nor wait for each other's room.
        let written = throttle.withLock { throttle in
            switch throttle.handle(name, nowMs: timeMs) {
            case .drop: return true
            case .write(suppressed: 0): return sink(LogLine.text(level, name, fields, timeMs: timeMs))
            case .write(let suppressed):
                let fields = [("suppressed", LogValue.number(suppressed))] + fields
                return sink(LogLine.text(level, name, fields, timeMs: timeMs))
            }
        }
        if !written { dropped.add() }
    }
}
