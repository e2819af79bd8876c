/// The clocks of one process: a monotonic one that began anywhere and runs a little fast or slow, and a wall clock that
/// may be set.
public struct SimClock: Sendable {
    /// Simulated time from which `monotonicUs` counts on.
    private var sinceUs: Int64
    private var baseUs: Int64
    public private(set) var driftPPM: Int64
    /// Wall time is monotonic time plus this.
    public private(set) var wallOffsetMs: Int64

    /// - Parameters:
    ///   - bootUs: what the monotonic clock shows at `nowUs`.
    ///   - wallMs: what the wall clock shows then.
    public init(nowUs: Int64, bootUs: Int64, driftPPM: Int64, wallMs: Int64) {
        sinceUs = nowUs
        baseUs = bootUs
        self.driftPPM = driftPPM
        wallOffsetMs = wallMs - bootUs / 1000
    }

    private static let million: Int64 = 1_000_000

    public func monotonicUs(atUs nowUs: Int64) -> Int64 {
        baseUs + (nowUs - sinceUs) * (Self.million + driftPPM) / Self.million
    }

    public func monotonicMs(atUs nowUs: Int64) -> Int64 { monotonicUs(atUs: nowUs) / 1000 }

    public func wallMs(atUs nowUs: Int64) -> Int64 { monotonicMs(atUs: nowUs) + wallOffsetMs }

    /// The first simulated time at which the monotonic clock shows this.
    public func timeUs(ofMs ms: Int64) -> Int64 {
        let ahead = ms * 1000 - baseUs
        guard ahead > 0 else { return sinceUs }
        let rate = Self.million + driftPPM
        return sinceUs + (ahead * Self.million + rate - 1) / rate
    }

    public mutating func setDrift(ppm: Int64, nowUs: Int64) {
        baseUs = monotonicUs(atUs: nowUs)
        sinceUs = nowUs
        driftPPM = ppm
    }

    public mutating func stepWall(byMs ms: Int64) { wallOffsetMs += ms }
}
