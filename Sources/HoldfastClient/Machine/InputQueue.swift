internal import HoldfastProtocol

/// Frame inputs that no frame has shown yet, in the order of their ids.
struct InputQueue: Sendable {
    struct Item: Sendable {
        let id: UInt32
        let body: SendFrameInput
        /// Sent on an earlier link: a refusal may have been lost with it.
        var wasSent = false
    }

    private(set) var items: [Item] = []
    /// So many of `items`, from the first, are sent on this link.
    private(set) var sentCount = 0
    /// Not nil: after a resume, so many more may be sent before the next frame, lest the room refuses them (29).
    private(set) var allowance: Int?
    /// Sending again waits for this frame, which shows whether there is anything to send again.
    private(set) var gate: UInt32 = 0
    /// Sending waits for this time, as the server asked.
    var heldUntilMs: Int64?

    mutating func append(_ item: Item) { items.append(item) }

    mutating func remove(_ id: UInt32) {
        guard let index = items.firstIndex(where: { $0.id == id }) else { return }
        items.remove(at: index)
        if index < sentCount { sentCount -= 1 }
    }

    /// The next to be sent, if one may be.
    mutating func next(lastFrame: UInt32) -> Item? {
        guard sentCount < items.count, heldUntilMs == nil, lastFrame >= gate else { return nil }
        if let allowance {
            if allowance == 0 { return nil }
            self.allowance = allowance - 1
        }
        defer {
            sentCount += 1
            if sentCount == items.count { allowance = nil }
        }
        return items[sentCount]
    }

    mutating func frameCame(allowance: Int) {
        if self.allowance != nil { self.allowance = allowance }
    }

    /// A frame shows this one. Those before it will never be in one (the server takes only growing ids); returned are
    /// those of which nobody will say so any more.
    mutating func shown(_ id: UInt32) -> [Item] {
        guard let index = items.firstIndex(where: { $0.id == id }), index < sentCount || items[index].wasSent else {
            return []
        }
        let lost = items[..<index].filter(\.wasSent)
        items.removeFirst(index + 1)
        sentCount = max(0, sentCount - index - 1)
        if sentCount >= items.count { allowance = nil }
        return lost
    }

    /// Everything sent and not shown has to be sent again, from `id` on.
    mutating func rewind(to id: UInt32, untilMs: Int64, allowance: Int) {
        guard let index = items.firstIndex(where: { $0.id == id }), index < sentCount else { return }
        sentCount = index
        heldUntilMs = untilMs
        self.allowance = allowance
    }

    mutating func linkIsGone() {
        for index in items.indices.prefix(sentCount) { items[index].wasSent = true }
        sentCount = 0
        heldUntilMs = nil
        allowance = nil
    }

    mutating func resume(after gate: UInt32, allowance: Int) {
        self.gate = gate
        self.allowance = items.isEmpty ? nil : allowance
    }

    /// Removes and returns what was ever sent.
    mutating func takeSent() -> [Item] {
        let lost = items.enumerated().filter { $0.offset < sentCount || $0.element.wasSent }.map(\.element)
        let kept = items.enumerated().filter { $0.offset >= sentCount && !$0.element.wasSent }.map(\.element)
        items = kept
        sentCount = 0
        return lost
    }

    /// Empties the queue and returns those of which the server will not say that they came too late.
    mutating func takeUncertain() -> [Item] {
        let lost = items.enumerated().filter { $0.offset >= sentCount }.map(\.element)
        self = InputQueue()
        return lost
    }
}
