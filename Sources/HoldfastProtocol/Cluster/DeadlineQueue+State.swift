extension DeadlineQueue {
    /// All deadlines in the order in which they fire: what is set anew in this order is the same queue.
    public var inFiringOrder: [(timeMs: Int64, key: Key)] {
        current.sorted { a, b in
            a.value.timeMs != b.value.timeMs ? a.value.timeMs < b.value.timeMs : a.value.order < b.value.order
        }
        .map { (timeMs: $0.value.timeMs, key: $0.key) }
    }
}

extension DeadlineQueue: StateCodable where Key: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(list: inFiringOrder) { writer, deadline in
            writer.put(deadline.timeMs)
            writer.put(deadline.key)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        self.init()
        var last = Int64.min
        for _ in 0..<(try reader.count()) {
            let time = try reader.time()
            let key = try reader.value(Key.self)
            guard time >= last, current[key] == nil else { throw StateError("deadlines out of order") }
            last = time
            set(time, for: key)
        }
    }
}
