import Foundation
import HoldfastProtocol
import HoldfastTransport
import Testing

@testable import HoldfastNode

/// The program as a process: what it prints, and the statuses with which it ends.
@Suite(.timeLimit(.minutes(1))) struct ProgramTests {
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String
    }

    /// Lies beside the tests' own program.
    static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "holdfast")

    /// A running program whose first line has been read.
    final class Running: Sendable {
        let output = Pipe()
        let errors = Pipe()
        let process = Process()
        let ended = Gate()

        init(_ arguments: [String]) throws {
            process.executableURL = ProgramTests.program
            process.arguments = arguments
            process.standardOutput = output
            process.standardError = errors
            process.terminationHandler = { [ended] _ in ended.open() }
            try process.run()
        }

        func firstLine() throws -> String {
            var line = Data()
            while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8)
            {
                line += byte
            }
            return String(decoding: line, as: UTF8.self)
        }

        func outcome() async throws -> Outcome {
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            let errors = try errors.fileHandleForReading.readToEnd() ?? Data()
            await ended.wait()
            return Outcome(
                status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
                output: String(decoding: text, as: UTF8.self), errors: String(decoding: errors, as: UTF8.self))
        }
    }

    func run(_ arguments: String...) async throws -> Outcome { try await Running(arguments).outcome() }

    @Test func helpAndVersion() async throws {
        #expect(try await run("--version").output == "holdfast \(holdfastVersion)\n")
        let help = try await run("--help")
        #expect(help.status == 0 && help.output.contains("serve") && help.output.contains("token"))
        #expect(try await run("serve", "--help").output.contains("--tls-certificate FILE"))
        let nothing = try await run()
        #expect(nothing.status == 2 && nothing.output.isEmpty && nothing.errors == help.output)
    }

    @Test func mistakesEndWithTwo() async throws {
        for arguments in [["dance"], ["serve", "--colour"], ["serve"], ["serve", "--port", "x"], ["token"]] {
            let outcome = try await Running(arguments).outcome()
            #expect(outcome.status == 2 && outcome.output.isEmpty, "\(arguments)")
            #expect(outcome.errors.hasPrefix("holdfast: "), "\(outcome.errors)")
        }
        #expect(try await run("serve", "--config", "/nowhere.json").errors.contains("/nowhere.json"))
        #expect(try await run("serve", "--dev", "--listen", "0.0.0.0").errors.contains("loopback"))
    }

    @Test func tokensAreGood() async throws {
        let made = try await run("token", "--player", "ada", "--name", "Ada", "--ttl", "60")
        #expect(made.status == 0)
        let verifier = TokenVerifier(projects: [ServerConfig.devProject], limits: Limits())
        let token = made.output.trimmingCharacters(in: .newlines)
        let claims = try verifier.verify(token, nowS: WallClock.nowS, scope: .battle).get()
        #expect(claims.player == "ada" && claims.name == "Ada" && claims.expiresAtS == claims.issuedAtS + 60)
        #expect(try await run("token", "--player", "é").status == 2)
        #expect(try await run("token", "--player", "a", "--project", "acme").status == 2)
        #expect(try await run("token", "--player", "a", "--project", "acme", "--secret", "s").status == 0)
        #expect(try await run("token", "--scope", "admin").status == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalEndsItCleanly(signal: Int32) async throws {
        let running = try Running(["serve", "--dev", "--port", "0"])
        let line = try running.firstLine()
        #expect(line.hasPrefix("holdfast: listening on http://127.0.0.1:"))
        kill(running.process.processIdentifier, signal)
        let outcome = try await running.outcome()
        #expect(outcome.status == 0)
        for line in outcome.errors.split(separator: "\n") {
            #expect(throws: Never.self, "\(line)") { try StrictJSON.parse(Array(line.utf8)) }
        }
        #expect(outcome.errors.contains("\"event\":\"node.stopped\""))
    }

    @Test func aTakenPortIsAFailure() async throws {
        let running = try Running(["serve", "--dev", "--port", "0"])
        let port = try running.firstLine().split(separator: ":").last.map(String.init) ?? ""
        let second = try await run("serve", "--dev", "--port", port)
        #expect(
            second.status == 1 && second.errors.hasPrefix("holdfast: cannot listen on 127.0.0.1:\(port)"),
            "\(second.errors)")
        running.process.terminate()
        _ = try await running.outcome()
    }

    /// Whoever starts the program and goes away must not take it down.
    @Test func aClosedOutputDoesNotEndIt() async throws {
        let running = try Running(["serve", "--dev", "--port", "0"])
        _ = try running.firstLine()
        try running.output.fileHandleForReading.close()
        try running.errors.fileHandleForReading.close()
        kill(running.process.processIdentifier, SIGTERM)
        await running.ended.wait()
        #expect(running.process.terminationReason == .exit && running.process.terminationStatus == 0)
    }
}
