internal import Foundation

/// The runtime finds none when a preloaded library has changed the environment before it looks (libfaketime does).
func arguments() -> [String] {
    guard CommandLine.arguments.isEmpty, let words = FileManager.default.contents(atPath: "/proc/self/cmdline") else {
        return CommandLine.arguments
    }
    return words.split(separator: 0, omittingEmptySubsequences: false).dropLast()
        .map { String(decoding: $0, as: UTF8.self) }
}

exit(await Program.run(Array(arguments().dropFirst())))
