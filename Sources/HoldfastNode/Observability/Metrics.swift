internal import Synchronization

/// A number that only grows. Cheap to bump from any loop: one relaxed atomic addition.
public final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    init() {}

    /// Adds `amount`, which is not negative.
    public func add(_ amount: Int = 1) { count.wrappingAdd(amount, ordering: .relaxed) }

    /// What was counted so far.
    public var value: Int { count.load(ordering: .relaxed) }
}

/// A number that goes up and down.
public final class Gauge: Sendable {
    private let current = Atomic<Int>(0)

    init() {}

    /// Adds `amount`, which may be negative.
    public func add(_ amount: Int) { current.wrappingAdd(amount, ordering: .relaxed) }

    /// Replaces the value.
    public func set(_ value: Int) { current.store(value, ordering: .relaxed) }

    /// The value now.
    public var value: Int { current.load(ordering: .relaxed) }
}

/// How values are spread: counts by upper bound. Values and bounds are whole numbers of a small unit (microseconds,
/// bytes); the text divides them by `scale`, since Prometheus wants seconds.
public final class Histogram: Sendable {
    let bounds: [Int]
    let scale: Double
    private let counts: [Counter]
    private let total = Atomic<Int>(0)

    init(bounds: [Int], scale: Double) {
        self.bounds = bounds
        self.scale = scale
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts `value` in the first bucket whose bound is not below it.
    public func observe(_ value: Int) {
        var low = 0
        var high = bounds.count
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < value { low = middle + 1 } else { high = middle }
        }
        counts[low].add()
        total.wrappingAdd(value, ordering: .relaxed)
    }

    /// Values in each bucket, the one without a bound last, and their sum.
    var snapshot: (counts: [Int], sum: Int) { (counts.map(\.value), total.load(ordering: .relaxed)) }
}

/// Every metric of a node by name, and their text for Prometheus. Filled while the node is put together and not after,
/// so that scraping needs no lock and a label can never grow without bound.
public struct MetricsRegistry: Sendable {
    /// Names and values of labels, in the order in which they are written.
    public typealias Labels = [(name: String, value: String)]

    private enum Source: Sendable {
        case counter(Counter)
        case gauge(Gauge)
        case histogram(Histogram)
        case computed(@Sendable () -> Double)
    }

    private struct Series: Sendable {
        var labels: [String]
        var source: Source
    }

    private struct Family: Sendable {
        var name: String
        var kind: String
        var help: String
        var series: [Series]
    }

    private var families: [Family] = []

    /// A registry without metrics.
    public init() {}

    /// Adds a counter; its name ends in `_total`.
    public mutating func counter(_ name: String, _ help: String, _ labels: Labels = []) -> Counter {
        let counter = Counter()
        add(name, "counter", help, labels, .counter(counter))
        return counter
    }

    /// Adds a gauge.
    public mutating func gauge(_ name: String, _ help: String, _ labels: Labels = []) -> Gauge {
        let gauge = Gauge()
        add(name, "gauge", help, labels, .gauge(gauge))
        return gauge
    }

    /// What a computed metric is to Prometheus.
    public enum Kind: String, Sendable {
        case gauge
        case counter
    }

    /// Adds a metric that is computed when somebody looks, on whatever thread that is.
    public mutating func computed(
        _ name: String, _ help: String, _ labels: Labels = [], kind: Kind = .gauge,
        _ value: @escaping @Sendable () -> Double
    ) {
        add(name, kind.rawValue, help, labels, .computed(value))
    }

    /// Adds a histogram with ascending `bounds`. With `scale` 1,000,000 it observes microseconds and tells seconds.
    public mutating func histogram(
        _ name: String, _ help: String, bounds: [Int], scale: Double = 1, _ labels: Labels = []
    ) -> Histogram {
        let histogram = Histogram(bounds: bounds, scale: scale)
        add(name, "histogram", help, labels, .histogram(histogram))
        return histogram
    }

    private mutating func add(_ name: String, _ kind: String, _ help: String, _ labels: Labels, _ source: Source) {
        let series = Series(labels: labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }, source: source)
        if let index = families.firstIndex(where: { $0.name == name }) {
            families[index].series.append(series)
        } else {
            families.append(Family(name: name, kind: kind, help: help, series: [series]))
        }
    }

    /// Type of the text, for the HTTP answer.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// All metrics in Prometheus's text format 0.0.4.
    public func text() -> String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind)\n"
            for series in family.series {
                switch series.source {
                case .counter(let counter): Self.write(family.name, series.labels, "\(counter.value)", to: &text)
                case .gauge(let gauge): Self.write(family.name, series.labels, "\(gauge.value)", to: &text)
                case .computed(let value): Self.write(family.name, series.labels, Self.written(value()), to: &text)
                case .histogram(let histogram): Self.write(family.name, series.labels, histogram, to: &text)
                }
            }
        }
        return text
    }

    private static func write(_ name: String, _ labels: [String], _ value: String, to text: inout String) {
        text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels.joined(separator: ","))} \(value)\n"
    }

    private static func write(_ name: String, _ labels: [String], _ histogram: Histogram, to text: inout String) {
        let (counts, sum) = histogram.snapshot
        var below = 0
        for (index, count) in counts.enumerated() {
            below += count
            let bound = index < histogram.bounds.count ? "\(Double(histogram.bounds[index]) / histogram.scale)" : "+Inf"
            write("\(name)_bucket", labels + ["le=\"\(bound)\""], "\(below)", to: &text)
        }
        write("\(name)_sum", labels, written(Double(sum) / histogram.scale), to: &text)
        write("\(name)_count", labels, "\(below)", to: &text)
    }

    /// Whole numbers without a fraction.
    private static func written(_ value: Double) -> String { Int(exactly: value).map { "\($0)" } ?? "\(value)" }

    private static func escaped(_ value: String) -> String {
        var result = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
