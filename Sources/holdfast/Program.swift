internal import HoldfastNode
internal import HoldfastTransport

/// A failure that the user is told in one line; the program ends with status 1.
struct Failure: Error {
    var message: String
}

/// One subcommand of the program.
struct Subcommand: Sendable {
    var name: String
    /// One line for people.
    var summary: String
    var options: [Arguments.Option]
    /// Does the work; the result is the exit status.
    var run: @Sendable (Arguments) async throws -> Int32
}

/// Finds the subcommand and turns what it throws into messages and exit statuses: 0 done, 1 failed, 2 used wrongly.
enum Program {
    static let subcommands: [Subcommand] = [
        ServeCommand.subcommand, TokenCommand.subcommand, KeysCommand.subcommand, BotsCommand.subcommand,
        SimCommand.subcommand, ClusterCommands.status, ClusterCommands.drain, ClusterCommands.forget,
    ]

    static func run(_ words: [String]) async -> Int32 {
        guard let first = words.first else {
            StandardStream.error.write(help)
            return 2
        }
        switch first {
        case "--help", "-h", "help":
            StandardStream.output.write(help)
            return 0
        case "--version", "version":
            StandardStream.output.write("holdfast \(holdfastVersion)\n")
            return 0
        default:
            guard let subcommand = subcommands.first(where: { $0.name == first }) else {
                return refuse("'\(first)' is no subcommand", hint: "holdfast --help")
            }
            return await run(subcommand, Array(words.dropFirst()))
        }
    }

    private static func run(_ subcommand: Subcommand, _ words: [String]) async -> Int32 {
        do {
            let arguments = try Arguments(words, options: subcommand.options)
            if arguments.wantsHelp {
                StandardStream.output.write(
                    "holdfast \(subcommand.name): \(subcommand.summary)\n\n\(Arguments.help(subcommand.options))\n")
                return 0
            }
            return try await subcommand.run(arguments)
        } catch let error as UsageError {
            return refuse(error.message, hint: "holdfast \(subcommand.name) --help")
        } catch let error as ConfigError {
            return refuse(error.message, hint: nil)
        } catch let failure as Failure {
            StandardStream.error.write("holdfast: \(failure.message)\n")
            return 1
        } catch {
            StandardStream.error.write("holdfast: \(error)\n")
            return 1
        }
    }

    private static func refuse(_ message: String, hint: String?) -> Int32 {
        StandardStream.error.write("holdfast: \(message)\n" + (hint.map { "Try: \($0)\n" } ?? ""))
        return 2
    }

    private static var help: String {
        let lines = subcommands.map { "  " + $0.name.padded(to: 8) + $0.summary }
        return """
            holdfast \(holdfastVersion): rooms for online battles

            holdfast SUBCOMMAND [--OPTION VALUE]...

            \(lines.joined(separator: "\n"))

            holdfast SUBCOMMAND --help tells the options; holdfast --version the version.

            """
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
