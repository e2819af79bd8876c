/// What happened in one simulation, in numbers.
public struct SimCounters: Sendable, Equatable {
    /// By raw value of the kind.
    public var faults = [Int](repeating: 0, count: Fault.Kind.allCases.count)
    public var steps: UInt64 = 0
    public var simulatedUs: Int64 = 0
    public var entries: UInt64 = 0
    public var swaps = 0
    public var batches = 0
    public var words = 0
    public var clientMessages = 0
    public var linksOpened = 0
    public var boots = 0

    public init() {}

    public mutating func add(_ other: SimCounters) {
        for i in faults.indices { faults[i] += other.faults[i] }
        steps += other.steps
        simulatedUs += other.simulatedUs
        entries += other.entries
        swaps += other.swaps
        batches += other.batches
        words += other.words
        clientMessages += other.clientMessages
        linksOpened += other.linksOpened
        boots += other.boots
    }

    /// Kinds that were seen, with their numbers.
    public var faultText: String {
        let parts = Fault.Kind.allCases.filter { faults[$0.rawValue] > 0 }.map { "\($0) \(faults[$0.rawValue])" }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
}
