/// The next deadline of each key, earliest first; equal times in the order in which they were set. A binary heap whose
/// outdated nodes are passed over when they come up.
public struct DeadlineQueue<Key: Hashable & Sendable>: Sendable {
    @usableFromInline
    struct Node: Sendable {
        @usableFromInline let timeMs: Int64
        @usableFromInline let order: UInt64
        @usableFromInline let key: Key

        @usableFromInline
        init(timeMs: Int64, order: UInt64, key: Key) {
            self.timeMs = timeMs
            self.order = order
            self.key = key
        }
    }

    @usableFromInline var heap: [Node] = []
    @usableFromInline var current: [Key: (timeMs: Int64, order: UInt64)] = [:]
    @usableFromInline var order: UInt64 = 0
    /// Whether the top of the heap is known to be in force.
    @usableFromInline var isTopChecked = false

    @inlinable
    public init() {}

    @inlinable
    public var isEmpty: Bool { current.isEmpty }

    /// Sets the key's deadline; nil: it has none.
    @inlinable
    public mutating func set(_ timeMs: Int64?, for key: Key) {
        guard let timeMs else {
            if current.removeValue(forKey: key) != nil { isTopChecked = false }
            return
        }
        if let known = current[key], known.timeMs == timeMs { return }
        order += 1
        current[key] = (timeMs, order)
        isTopChecked = false
        heap.append(Node(timeMs: timeMs, order: order, key: key))
        siftUp(heap.count - 1)
        if heap.count > 64, heap.count > 4 * current.count { rebuild() }
    }

    /// The earliest deadline, and all keys that have one: for those who only look.
    public var earliestMs: Int64? { current.values.lazy.map(\.timeMs).min() }
    public var keys: [Key] { Array(current.keys) }

    /// The earliest deadline.
    @inlinable
    public mutating func next() -> (timeMs: Int64, key: Key)? {
        while let top = heap.first {
            if isTopChecked { return (top.timeMs, top.key) }
            if let known = current[top.key], known.order == top.order {
                isTopChecked = true
                return (top.timeMs, top.key)
            }
            removeTop()
        }
        return nil
    }

    /// Takes the earliest deadline if it is not after `nowMs`.
    @inlinable
    public mutating func take(at nowMs: Int64) -> (timeMs: Int64, key: Key)? {
        guard let due = next(), due.timeMs <= nowMs else { return nil }
        removeTop()
        isTopChecked = false
        current[due.key] = nil
        return due
    }

    @inlinable
    mutating func rebuild() {
        let live = heap.filter { node in current[node.key].map { $0.order == node.order } ?? false }
        heap = []
        for node in live {
            heap.append(node)
            siftUp(heap.count - 1)
        }
    }

    @inlinable
    func isBefore(_ a: Node, _ b: Node) -> Bool {
        a.timeMs != b.timeMs ? a.timeMs < b.timeMs : a.order < b.order
    }

    @inlinable
    mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard isBefore(heap[child], heap[parent]) else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    @inlinable
    mutating func removeTop() {
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
