/// What is to happen, by time; of equal times in the order in which it was added. What is outdated when it comes up is
/// for the taker to see: nothing is removed early.
public struct Agenda<Event> {
    /// Small, so that sifting moves little; the event itself stays in its slot.
    private struct Node {
        let timeUs: Int64
        let order: UInt64
        let slot: Int32

        @inline(__always)
        func isBefore(_ other: Node) -> Bool {
            timeUs != other.timeUs ? timeUs < other.timeUs : order < other.order
        }
    }

    private var heap: [Node] = []
    private var slots: [Event?] = []
    private var free: [Int32] = []
    private var order: UInt64 = 0

    public init() {}

    public var count: Int { heap.count }
    public var nextTimeUs: Int64? { heap.first?.timeUs }

    public mutating func add(_ event: Event, atUs timeUs: Int64) {
        order += 1
        let slot: Int32
        if let used = free.popLast() {
            slot = used
            slots[Int(used)] = event
        } else {
            slot = Int32(slots.count)
            slots.append(event)
        }
        heap.append(Node(timeUs: timeUs, order: order, slot: slot))
        siftUp()
    }

    public mutating func take() -> (timeUs: Int64, event: Event)? {
        guard let top = heap.first, let last = heap.popLast() else { return nil }
        if !heap.isEmpty { siftDown(last) }
        guard let event = slots[Int(top.slot)].take() else { return nil }
        free.append(top.slot)
        return (top.timeUs, event)
    }

    private mutating func siftUp() {
        var child = heap.count - 1
        let node = heap[child]
        while child > 0 {
            let parent = (child - 1) >> 2
            guard node.isBefore(heap[parent]) else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = node
    }

    /// Puts a node into the place of the one that was taken from the top.
    private mutating func siftDown(_ node: Node) {
        var parent = 0
        let count = heap.count
        while true {
            let first = parent << 2 + 1
            guard first < count else { break }
            var least = first
            for child in (first + 1)..<max(first + 1, min(first + 4, count)) where heap[child].isBefore(heap[least]) {
                least = child
            }
            guard heap[least].isBefore(node) else { break }
            heap[parent] = heap[least]
            parent = least
        }
        heap[parent] = node
    }
}
