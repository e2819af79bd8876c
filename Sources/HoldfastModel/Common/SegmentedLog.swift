/// An append-only list whose oldest elements can go: kept in segments, so that neither end ever copies the whole.
/// Positions are absolute and never reused.
struct SegmentedLog<Element: Sendable>: Sendable {
    private static var segmentSize: Int { 600 }

    private var segments: [[Element]] = []
    /// The position of the first segment's first element.
    private var base = 0
    /// The position of the oldest element.
    private(set) var startIndex = 0
    private(set) var endIndex = 0

    var isEmpty: Bool { startIndex == endIndex }
    var count: Int { endIndex - startIndex }
    var first: Element? { isEmpty ? nil : self[startIndex] }
    var last: Element? { isEmpty ? nil : self[endIndex - 1] }

    init() {}

    /// An empty one whose first element will stand at this position.
    init(startIndex: Int) {
        base = startIndex
        self.startIndex = startIndex
        endIndex = startIndex
    }

    /// - Precondition: `startIndex <= position < endIndex`.
    subscript(position: Int) -> Element {
        let offset = position - base
        return segments[offset / Self.segmentSize][offset % Self.segmentSize]
    }

    mutating func append(_ element: Element) {
        if (endIndex - base) % Self.segmentSize == 0 {
            var segment: [Element] = []
            segment.reserveCapacity(segments.isEmpty ? 8 : Self.segmentSize)
            segments.append(segment)
        }
        segments[segments.count - 1].append(element)
        endIndex += 1
    }

    mutating func removeFirst() {
        guard !isEmpty else { return }
        startIndex += 1
        if startIndex - base == Self.segmentSize {
            segments.removeFirst()
            base += Self.segmentSize
        }
        if isEmpty { removeAll() }
    }

    mutating func removeAll() {
        segments = []
        base = endIndex
        startIndex = endIndex
    }

    /// The first position at which `predicate` holds, when it holds for all after it too.
    func firstPosition(where predicate: (Element) -> Bool) -> Int {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
