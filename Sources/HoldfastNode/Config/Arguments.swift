/// A mistake on the command line; the program prints the message and ends with status 2.
public struct UsageError: Error, Equatable, Sendable {
    /// One line for people.
    public var message: String

    /// An error with its message.
    public init(_ message: String) { self.message = message }
}

/// The arguments of one subcommand: `--name value`, `--name=value` and `--flag`, each at most once, in any order.
public struct Arguments: Sendable {
    /// One option that a subcommand knows.
    public struct Option: Equatable, Sendable {
        /// Without the dashes.
        public var name: String
        /// What the value is called in the help; nil for a flag, which takes none.
        public var value: String?
        /// One line for people.
        public var help: String

        /// An option with a value.
        public static func value(_ name: String, _ value: String, _ help: String) -> Option {
            Option(name: name, value: value, help: help)
        }

        /// An option that is there or not.
        public static func flag(_ name: String, _ help: String) -> Option {
            Option(name: name, value: nil, help: help)
        }
    }

    private var given: [String: String] = [:]
    /// Whether `--help` or `-h` was among them; the rest is not looked at then.
    public private(set) var wantsHelp = false

    /// Reads `words`, the command line after the subcommand. Throws for an unknown or repeated option, a missing
    /// value, a value for a flag, and a word that belongs to no option.
    public init(_ words: [String], options: [Option]) throws(UsageError) {
        if words.contains("--help") || words.contains("-h") {
            wantsHelp = true
            return
        }
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { throw UsageError("unexpected argument '\(word)'") }
            let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts.first ?? "")
            guard let option = options.first(where: { $0.name == name }) else {
                throw UsageError("unknown option '--\(name)'")
            }
            var value = parts.count == 2 ? String(parts[1]) : nil
            if option.value == nil {
                guard value == nil else { throw UsageError("--\(name) takes no value") }
                value = ""
            } else if value == nil {
                value = rest.popFirst()
            }
            guard let value else { throw UsageError("--\(name) needs a value: --\(name) \(option.value ?? "")") }
            guard given.updateValue(value, forKey: name) == nil else { throw UsageError("--\(name) is given twice") }
        }
    }

    /// Whether the flag `name` was given.
    public func flag(_ name: String) -> Bool { given[name] != nil }

    /// The value of `name`, or nil.
    public func string(_ name: String) -> String? { given[name] }

    /// The value of `name`, which has to be there.
    public func required(_ name: String) throws(UsageError) -> String {
        guard let value = given[name] else { throw UsageError("--\(name) is needed") }
        return value
    }

    /// The whole number of `name` within `range`, or nil when it was not given.
    public func int(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
        guard let text = given[name] else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw UsageError("--\(name): a whole number from \(range.lowerBound) to \(range.upperBound), got '\(text)'")
        }
        return number
    }

    /// The number of `name` within `range`, or nil when it was not given. `5%` is 0.05.
    public func double(_ name: String, in range: ClosedRange<Double>) throws(UsageError) -> Double? {
        guard let text = given[name] else { return nil }
        let percent = text.hasSuffix("%")
        let number = Double(percent ? String(text.dropLast()) : text).map { percent ? $0 / 100 : $0 }
        guard let number, range.contains(number) else {
            throw UsageError("--\(name): a number from \(range.lowerBound) to \(range.upperBound), got '\(text)'")
        }
        return number
    }

    /// The options as aligned lines of help.
    public static func help(_ options: [Option]) -> String {
        let heads = options.map { "  --\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
        let width = (heads.map(\.count).max() ?? 0) + 2
        return zip(heads, options).map { head, option in
            head + String(repeating: " ", count: width - head.count) + option.help
        }.joined(separator: "\n")
    }
}
