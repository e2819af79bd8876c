/// How much a log line matters.
public enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug
    case info
    case warning
    case error

    public static func < (one: LogLevel, other: LogLevel) -> Bool {
        one.rank < other.rank
    }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}

/// What a field of a log line may be. Payloads, tokens and secrets have no place in one.
public enum LogValue: Equatable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    case text(String)
    case number(Int)
    case flag(Bool)

    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int) { self = .number(value) }
    public init(booleanLiteral value: Bool) { self = .flag(value) }
}

/// One event as a line of JSON.
enum LogLine {
    /// A line is cut to so many bytes: what the system writes to a pipe in one piece.
    static let bytes = 4096
    /// A text field is cut to so many characters, and a line has so many fields at most.
    static let textCharacters = 512
    static let fields = 16

    /// The line with its line break. `timeMs` is wall time.
    static func text(
        _ level: LogLevel, _ event: String, _ fields: [(name: String, value: LogValue)], timeMs: Int64
    ) -> String {
        let head =
            "{\"time\":\"\(timestamp(timeMs))\",\"level\":\"\(level.rawValue)\",\"event\":\(JSONText.quoted(event))"
        var line = head
        for (name, value) in fields.prefix(Self.fields) {
            let json =
                switch value {
                case .text(let text): JSONText.quoted(String(text.prefix(textCharacters)))
                case .number(let number): "\(number)"
                case .flag(let flag): "\(flag)"
                }
            let field = ",\(JSONText.quoted(name)):\(json)"
            guard line.utf8.count + field.utf8.count <= bytes - 2 else { break }
            line += field
        }
        return line + "}\n"
    }

    /// ISO 8601 in UTC with milliseconds, by the calendar arithmetic of Howard Hinnant's `civil_from_days`.
    static func timestamp(_ timeMs: Int64) -> String {
        let days = Int(timeMs.floorDivided(by: 86_400_000))
        let ofDay = Int(timeMs - Int64(days) * 86_400_000)
        let shifted = days + 719_468
        let era = Int(Int64(shifted).floorDivided(by: 146_097))
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let (hour, minute) = (ofDay / 3_600_000, ofDay / 60_000 % 60)
        return padded(year, 4) + "-" + padded(month, 2) + "-" + padded(day, 2) + "T" + padded(hour, 2) + ":"
            + padded(minute, 2) + ":" + padded(ofDay / 1000 % 60, 2) + "." + padded(ofDay % 1000, 3) + "Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int64 {
    fileprivate func floorDivided(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}

/// Lets an event through so many times in a span of time and counts the rest, so that a flood from outside cannot
/// become a flood of lines.
struct LogThrottle {
    /// What to do with an event.
    enum Verdict: Equatable {
        /// Write it; `suppressed` of its kind were not written since the last one that was.
        case write(suppressed: Int)
        case drop
    }

    private struct Window {
        var beganMs: Int64
        var written = 0
        var suppressed = 0
    }

    /// Kinds of events that are told apart; more share one window. Event names are fixed, so this is not reached.
    static let kinds = 256

    let perWindow: Int
    let windowMs: Int64
    private var windows: [String: Window] = [:]

    init(perWindow: Int = 20, windowMs: Int64 = 10_000) {
        self.perWindow = perWindow
        self.windowMs = windowMs
    }

    mutating func handle(_ event: String, nowMs: Int64) -> Verdict {
        let kind = windows[event] != nil || windows.count < Self.kinds ? event : ""
        var window = windows[kind] ?? Window(beganMs: nowMs)
        defer { windows[kind] = window }
        if nowMs - window.beganMs >= windowMs || nowMs < window.beganMs {
            window = Window(beganMs: nowMs, suppressed: window.suppressed)
        }
        guard window.written < perWindow else {
            window.suppressed += 1
            return .drop
        }
        window.written += 1
        defer { window.suppressed = 0 }
        return .write(suppressed: window.suppressed)
    }
}
