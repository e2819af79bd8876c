/// What a channel has sent and its receiver has not taken yet, by number (design, rule 9): numbers begin at 1 and have
/// no holes.
struct Outbox<Element: Sendable>: Sendable {
    struct Item: Sendable {
        /// Of the log entry that it belongs to; 0 at a gateway, which has no log.
        let index: UInt64
        let element: Element
    }

    fileprivate var items: [Item] = []
    /// Where the oldest stands in `items`; what is before it has been taken.
    fileprivate var head = 0
    /// Of the oldest.
    private(set) var first: UInt64 = 1

    init() {}

    init(first: UInt64, _ items: [Item]) {
        self.first = first
        self.items = items
    }

    var isEmpty: Bool { head == items.count }
    var count: Int { items.count - head }
    /// The number of the newest; one less than `first` when there is none.
    var last: UInt64 { first + UInt64(count) - 1 }
    var all: ArraySlice<Item> { items[head...] }

    /// - Returns: its number.
    @discardableResult
    mutating func append(_ element: Element, index: UInt64 = 0) -> UInt64 {
        items.append(Item(index: index, element: element))
        return last
    }

    /// Uses up a number for something that is taken at once.
    /// - Precondition: there is nothing in it.
    @discardableResult
    mutating func skip() -> UInt64 {
        precondition(isEmpty)
        first += 1
        return first - 1
    }

    /// - Returns: nil when there is none with this number (any more).
    subscript(number: UInt64) -> Item? {
        guard number >= first, number <= last else { return nil }
        return items[head + Int(number - first)]
    }

    /// The items from a number on.
    func from(_ number: UInt64) -> ArraySlice<Item> {
        guard number <= last else { return [] }
        return items[(head + Int(max(number, first) - first))...]
    }

    /// Forgets those up to a number.
    mutating func take(through number: UInt64) {
        guard number >= first, !isEmpty else { return }
        let taken = Int(min(number, last) - first) + 1
        head += taken
        first += UInt64(taken)
        if head == items.count {
            items.removeAll(keepingCapacity: items.capacity <= 1024)
            head = 0
        } else if head > 64, head * 2 > items.count {
            items.removeFirst(head)
            head = 0
        }
    }
}

extension Outbox {
    /// Puts nothing in the place of an item.
    /// - Returns: what was there.
    mutating func empty<Wrapped>(_ number: UInt64) -> Wrapped? where Element == Wrapped? {
        guard let item = self[number] else { return nil }
        items[head + Int(number - first)] = Item(index: item.index, element: nil)
        return item.element
    }
}
