import HoldfastTransport
import Testing

@testable import HoldfastNode

@Suite struct MetricsTests {
    @Test func theTextIsPrometheusFormat() {
        var registry = MetricsRegistry()
        let links = registry.gauge("holdfast_connections", "Open links.")
        let json = registry.counter("holdfast_messages_total", "Messages.", [("encoding", "json")])
        registry.computed("holdfast_computed", "Computed.", [("a", "q\"\\\n"), ("b", "é")]) { 7 }
        let proto = registry.counter("holdfast_messages_total", "Messages.", [("encoding", "protobuf")])
        links.add(3)
        links.add(-1)
        json.add()
        proto.add(41)
        #expect(
            registry.text() == """
                # HELP holdfast_connections Open links.
                # TYPE holdfast_connections gauge
                holdfast_connections 2
                # HELP holdfast_messages_total Messages.
                # TYPE holdfast_messages_total counter
                holdfast_messages_total{encoding="json"} 1
                holdfast_messages_total{encoding="protobuf"} 41
                # HELP holdfast_computed Computed.
                # TYPE holdfast_computed gauge
                holdfast_computed{a="q\\"\\\\\\n",b="é"} 7

                """)
    }

    @Test func histogramsCountByUpperBound() {
        var registry = MetricsRegistry()
        let delay = registry.histogram(
            "holdfast_delay_seconds", "Delay.", bounds: [100, 1000, 50_000], scale: 1_000_000, [("kind", "frame")])
        for value in [0, 100, 101, 1000, 50_000, 50_001, 1_000_000] { delay.observe(value) }
        #expect(
            registry.text() == """
                # HELP holdfast_delay_seconds Delay.
                # TYPE holdfast_delay_seconds histogram
                holdfast_delay_seconds_bucket{kind="frame",le="0.0001"} 2
                holdfast_delay_seconds_bucket{kind="frame",le="0.001"} 4
                holdfast_delay_seconds_bucket{kind="frame",le="0.05"} 5
                holdfast_delay_seconds_bucket{kind="frame",le="+Inf"} 7
                holdfast_delay_seconds_sum{kind="frame"} 1.101202
                holdfast_delay_seconds_count{kind="frame"} 7

                """)
    }

    @Test func nothingIsLostBetweenThreads() async {
        var registry = MetricsRegistry()
        let counter = registry.counter("x_total", "x")
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<10_000 { counter.add() } }
            }
        }
        #expect(counter.value == 40_000)
    }
}

@Suite struct LogTests {
    @Test func aLineIsJSONWithItsFields() throws {
        let line = LogLine.text(
            .warning, "link.dropped", [("reason", .text("a \"b\"\n")), ("count", 3), ("tls", true)],
            timeMs: 1_750_000_000_123)
        #expect(line.hasSuffix("}\n") && line.count { $0 == "\n" } == 1)
        let json = try StrictJSON.parse(Array(line.utf8))
        #expect(json["time"] == .string("2025-06-15T15:06:40.123Z"))
        #expect(json["level"] == .string("warning") && json["event"] == .string("link.dropped"))
        #expect(json["reason"] == .string("a \"b\"\n") && json["count"] == .integer(3) && json["tls"] == .bool(true))
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (1_709_251_199_999, "2024-02-29T23:59:59.999Z"), (4_102_444_800_000, "2100-01-01T00:00:00.000Z"),
    ])
    func timestamps(timeMs: Int64, text: String) {
        #expect(LogLine.timestamp(timeMs) == text)
    }

    @Test func aLineHasItsLimit() throws {
        let long = String(repeating: "é", count: 5000)
        let line = LogLine.text(.info, "x", (0..<40).map { ("field\($0)", .text(long)) }, timeMs: 0)
        #expect(line.utf8.count <= LogLine.bytes)
        #expect(throws: Never.self) { try StrictJSON.parse(Array(line.utf8)) }
    }

    @Test func repeatedEventsAreCountedNotWritten() {
        var throttle = LogThrottle(perWindow: 2, windowMs: 1000)
        #expect(throttle.handle("a", nowMs: 0) == .write(suppressed: 0))
        #expect(throttle.handle("a", nowMs: 1) == .write(suppressed: 0))
        #expect(throttle.handle("a", nowMs: 2) == .drop)
        #expect(throttle.handle("a", nowMs: 999) == .drop)
        #expect(throttle.handle("b", nowMs: 999) == .write(suppressed: 0), "another kind has its own window")
        #expect(throttle.handle("a", nowMs: 1000) == .write(suppressed: 2))
        #expect(throttle.handle("a", nowMs: 1001) == .write(suppressed: 0))
        #expect(throttle.handle("a", nowMs: 1002) == .drop)
    }
}

@Suite struct LogShellTests {
    /// Collects what a log writes.
    final class Lines: Sendable {
        let all = Locked<[String]>([])
        func log(least: LogLevel = .info, perWindow: Int = 100, taken: Bool = true) -> Log {
            let throttle = LogThrottle(perWindow: perWindow, windowMs: 1000)
            return Log(least: least, now: { 0 }, throttle: throttle) { line in
                self.all.withLock { $0.append(line) }
                return taken
            }
        }
        var events: [JSONValue] {
            all.withLock { $0 }.compactMap { line in (try? StrictJSON.parse(Array(line.utf8)))?["event"] }
        }
    }

    @Test func onlyWhatMattersIsWritten() {
        let lines = Lines()
        let log = lines.log(least: .warning)
        log.debug("a")
        log.info("b")
        log.warning("c", ("x", 1))
        log.error("d")
        #expect(lines.events == [.string("c"), .string("d")])
    }

    @Test func aFloodIsCut() {
        let lines = Lines()
        let log = lines.log(perWindow: 3)
        for _ in 0..<1000 { log.warning("flood") }
        log.warning("other")
        #expect(lines.events == [.string("flood"), .string("flood"), .string("flood"), .string("other")])
    }

    @Test func droppedLinesAreCounted() {
        let log = Lines().log(taken: false)
        log.info("a")
        log.info("b")
        #expect(log.dropped.value == 2)
    }
}
