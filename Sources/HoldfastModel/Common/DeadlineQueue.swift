/// The next deadline of each key, earliest first; equal times in the order in which they were set. A binary heap whose
/// outdated nodes are passed over when they come up.
public struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    private struct Node: Sendable {
        let timeMs: Int64
        let order: UInt64
        let key: Key
    }

    private var heap: [Node] = []
    private var current: [Key: (timeMs: Int64, order: UInt64)] = [:]
    private var order: UInt64 = 0

    public init() {}

    public var isEmpty: Bool { current.isEmpty }

    /// Sets the key's deadline; nil: it has none.
    public mutating func set(_ timeMs: Int64?, for key: Key) {
        guard let timeMs else {
            current[key] = nil
            return
        }
        if let known = current[key], known.timeMs == timeMs { return }
        order += 1
        current[key] = (timeMs, order)
        heap.append(Node(timeMs: timeMs, order: order, key: key))
        siftUp(heap.count - 1)
        if heap.count > 64, heap.count > 4 * current.count { rebuild() }
    }

    /// The earliest deadline.
    public mutating func next() -> (timeMs: Int64, key: Key)? {
        while let top = heap.first {
            if let known = current[top.key], known.order == top.order { return (top.timeMs, top.key) }
            removeTop()
        }
        return nil
    }

    /// Takes the earliest deadline if it is not after `nowMs`.
    public mutating func take(at nowMs: Int64) -> (timeMs: Int64, key: Key)? {
        guard let due = next(), due.timeMs <= nowMs else { return nil }
        removeTop()
        current[due.key] = nil
        return due
    }

    private mutating func rebuild() {
        let live = heap.filter { node in current[node.key].map { $0.order == node.order } ?? false }
        heap = []
        for node in live {
            heap.append(node)
            siftUp(heap.count - 1)
        }
    }

    private func isBefore(_ a: Node, _ b: Node) -> Bool {
        a.timeMs != b.timeMs ? a.timeMs < b.timeMs : a.order < b.order
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(heap[child], heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func removeTop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return }
            let right = left + 1
            let child = right < heap.count && isBefore(heap[right], heap[left]) ? right : left
            guard isBefore(heap[child], heap[parent]) else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
