import HoldfastProtocol

/// Who an event of a room's stream is addressed to.
enum Audience: Sendable, Equatable {
    case everyone
    case everyoneBut(String)
    case only([String])

    func includes(_ player: String) -> Bool {
        switch self {
        case .everyone: true
        case .everyoneBut(let one): player != one
        case .only(let some): some.contains(player)
        }
    }
}

/// What is kept of a room's stream, so that who resumes or comes late gets what it missed: events for a time and up to
/// a size, frames of the running frame sync up to a size, and those of a stopped one for a time.
struct StreamHistory: Sendable {
    struct Event: Sendable {
        let seq: UInt64
        let timeMs: Int64
        let audience: Audience
        /// The whole ServerMessage, in Protobuf.
        let protobuf: [UInt8]
    }

    struct SealedFrame: Sendable {
        let seq: UInt64
        let frameSyncID: UInt32
        let id: UInt32
        /// What `frameBytesPerReply` counts: the payloads of its inputs.
        let inputBytes: Int
        /// The Frame alone, in Protobuf.
        let protobuf: [UInt8]
    }

    var events = SegmentedLog<Event>()
    var frames = SegmentedLog<SealedFrame>()
    var eventBytes = 0
    var frameBytes = 0
    /// The highest seq of an event that is not kept any more.
    var forgottenSeq: UInt64 = 0
    /// Of all that was ever kept, so that two histories can be compared without reading them.
    var sum = StableHash()

    mutating func append(_ event: Event, limits: Limits) {
        sum.mix(whole: event.seq)
        sum.mix(long: event.protobuf)
        events.append(event)
        eventBytes += event.protobuf.count
        trimEvents(nowMs: event.timeMs, limits: limits)
    }

    mutating func append(_ frame: SealedFrame, limits: Limits) {
        sum.mix(whole: frame.seq)
        sum.mix(long: frame.protobuf)
        frames.append(frame)
        frameBytes += frame.protobuf.count
        while frameBytes > limits.frameHistoryBytes, frames.count > 1 { dropFrame() }
    }

    mutating func trimEvents(nowMs: Int64, limits: Limits) {
        while let oldest = events.first,
            oldest.timeMs + Int64(limits.eventHistoryMs) < nowMs || eventBytes > limits.eventHistoryBytes
        {
            events.removeFirst()
            eventBytes -= oldest.protobuf.count
            forgottenSeq = oldest.seq
        }
    }

    /// Drops the frames of frame syncs up to this one.
    mutating func dropFrames(through frameSyncID: UInt32) {
        while let oldest = frames.first, oldest.frameSyncID <= frameSyncID { dropFrame() }
    }

    private mutating func dropFrame() {
        guard let oldest = frames.first else { return }
        frames.removeFirst()
        frameBytes -= oldest.protobuf.count
    }

    /// The oldest frame kept of a frame sync; nil when there is none.
    func firstKept(of frameSyncID: UInt32) -> UInt32? {
        let position = frames.firstPosition { $0.frameSyncID >= frameSyncID }
        guard position < frames.endIndex, frames[position].frameSyncID == frameSyncID else { return nil }
        return frames[position].id
    }

    /// One `frames` message's worth of a frame sync: so many frames and bytes of inputs; a bigger frame goes alone.
    /// - Parameters:
    ///   - position: of the first one; moved behind the last.
    ///   - isWanted: false ends the batch.
    func batch(
        from position: inout Int, of frameSyncID: UInt32, limits: Limits, while isWanted: (SealedFrame) -> Bool
    ) -> StoredFrames {
        var batch = StoredFrames(firstKept: firstKept(of: frameSyncID) ?? 0, frameSyncID: frameSyncID)
        var inputBytes = 0
        while position < frames.endIndex {
            let frame = frames[position]
            guard frame.frameSyncID == frameSyncID, isWanted(frame) else { break }
            let fits =
                batch.frames.count < limits.framesPerReply
                && inputBytes + frame.inputBytes <= limits.frameBytesPerReply
            guard fits || batch.frames.isEmpty else {
                batch.partial = true
                break
            }
            inputBytes += frame.inputBytes
            batch.frames.append(frame.protobuf)
            batch.seq = frame.seq
            position += 1
        }
        return batch
    }

    /// Where the frame stands, or the first kept after it.
    func position(of id: UInt32, in frameSyncID: UInt32) -> Int {
        frames.firstPosition {
            $0.frameSyncID > frameSyncID || $0.frameSyncID == frameSyncID && $0.id >= id
        }
    }
}
