internal import HoldfastProtocol

/// The running frame sync as the client has it.
struct FrameStream: Sendable {
    let info: FrameSyncInfo
    /// The last frame delivered; all before it were, too (or the application was told that they were skipped).
    var last: UInt32
    /// Frames up to here were sealed before the client came (back): they are the past.
    var target: UInt32
    /// Own inputs in frames up to here are of an earlier run (of another process, even, whose ids began at 1, too).
    let othersUntil: UInt32
    /// A snapshot to fall back on when frames after `last` are not kept.
    var spare: Snapshot?

    mutating func raiseTarget(to frame: UInt32) { target = max(target, frame) }
}

/// A hole in the frames, being filled.
struct FrameHeal: Sendable {
    /// The last frame wanted.
    var through: UInt32
    /// When the answer is overdue.
    var untilMs: Int64
}
