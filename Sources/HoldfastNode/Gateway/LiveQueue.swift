/// How much of a link's send queue is live: told as it happened, and bounded. Replies and what is read of the past
/// follow the socket's pace and do not count (rooms.md, "Slow or dead readers").
struct LiveQueue: Sendable {
    /// All bytes ever queued.
    private var queuedEver = 0
    /// Ranges of those that are not live, oldest first; each may still be in the queue.
    private var others: [Range<Int>] = []

    mutating func add(_ bytes: Int, isLive: Bool, queued: Int) {
        if queued == 0 { others.removeAll(keepingCapacity: true) }
        let start = queuedEver
        queuedEver += bytes
        guard !isLive else { return }
        if others.count >= 64 { others.removeAll { $0.upperBound <= start - queued } }
        if let last = others.last, last.upperBound == start {
            others[others.count - 1] = last.lowerBound..<queuedEver
        } else {
            others.append(start..<queuedEver)
        }
    }

    /// Bytes of the queue that are not live.
    /// - Parameter queued: bytes that have not left yet.
    mutating func otherBytes(queued: Int) -> Int {
        let left = queuedEver - queued
        if let keep = others.firstIndex(where: { $0.upperBound > left }) {
            if keep > 0 { others.removeFirst(keep) }
        } else {
            others.removeAll(keepingCapacity: true)
        }
        return others.reduce(0) { $0 + $1.upperBound - max($1.lowerBound, left) }
    }

    mutating func liveBytes(queued: Int) -> Int {
        others.isEmpty ? queued : max(0, queued - otherBytes(queued: queued))
    }
}
