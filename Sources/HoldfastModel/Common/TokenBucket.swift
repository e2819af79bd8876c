/// A token bucket that holds one second's worth and starts full, as GCRA (ITU-T I.371, the virtual scheduling form):
/// whole nanoseconds instead of a fraction that drifts, so `retryAfterMs` is exact.
public struct TokenBucket: Equatable, Sendable {
    let intervalNs: Int64
    let toleranceNs: Int64
    /// When the bucket will be full again.
    var fullAtNs: Int64 = .min / 2

    /// - Parameter perSecond: tokens that come back in a second, and the most that it holds (at least one).
    public init(perSecond: Double) {
        let interval = 1_000_000_000 / max(perSecond, 0.000_001)
        intervalNs = Int64(interval)
        toleranceNs = Int64(max(0, (max(perSecond, 1) - 1) * interval))
    }

    /// Takes one token. Nothing is taken when there is none.
    /// - Returns: nil when taken, else after how many milliseconds one will be there.
    public mutating func take(nowMs: Int64) -> UInt32? {
        if let wait = wait(nowMs: nowMs) { return wait }
        fullAtNs = max(fullAtNs, nowMs * 1_000_000) + intervalNs
        return nil
    }

    /// After how many milliseconds a token will be there; nil when there is one.
    func wait(nowMs: Int64) -> UInt32? {
        let wait = fullAtNs - toleranceNs - nowMs * 1_000_000
        return wait <= 0 ? nil : UInt32(clamping: (wait + 999_999) / 1_000_000)
    }

    /// Whether it is as full as a new one, so that nothing is lost when it is forgotten.
    public func isFull(nowMs: Int64) -> Bool { fullAtNs <= nowMs * 1_000_000 }
}
