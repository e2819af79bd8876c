import Foundation
import Testing

/// The rules of the house that the compiler does not check, read off the sources.
@Suite struct TidyTests {
    struct Source {
        /// Below the package: `Sources/HoldfastModel/Room.swift`.
        let path: String
        let lines: [String]

        var isTest: Bool { path.hasPrefix("Tests/") }
        var target: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
        /// The lines without their comments, by number.
        let code: [(number: Int, text: String)]

        init(path: String, lines: [String]) {
            self.path = path
            self.lines = lines
            code = lines.enumerated().map { ($0.offset + 1, TidyTests.withoutComment($0.element)) }
        }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let sources: [Source] = ["Sources", "Tests"].flatMap { folder in
        guard
            let walk = FileManager.default.enumerator(at: root.appending(path: folder), includingPropertiesForKeys: nil)
        else { return [Source]() }
        return walk.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }.sorted { $0.path < $1.path }
            .compactMap { file in
                guard let text = try? String(contentsOf: file, encoding: .utf8) else { return nil }
                let path = String(file.path.dropFirst(root.path.hasSuffix("/") ? root.path.count : root.path.count + 1))
                return Source(path: path, lines: text.components(separatedBy: "\n"))
            }
    }

    /// What each target may import (DESIGN, "The house") besides the standard library's own modules.
    static let imports: [String: Set<String>] = [
        "HoldfastProtocol": ["Foundation"],
        "HoldfastModel": ["HoldfastProtocol"],
        "HoldfastReplication": ["HoldfastProtocol"],
        "HoldfastTransport": [
            "HoldfastProtocol", "CUV", "CWSlay", "CHTTPParser", "COpenSSL", "CZeroMQ", "CCurl", "Glibc", "Foundation",
        ],
        "HoldfastNode": [
            "HoldfastProtocol", "HoldfastModel", "HoldfastReplication", "HoldfastTransport", "Foundation",
        ],
        "HoldfastClient": ["HoldfastProtocol", "HoldfastTransport", "Foundation", "FoundationNetworking"],
        "HoldfastSimulator": ["HoldfastProtocol", "HoldfastModel", "HoldfastReplication", "HoldfastClient"],
        "holdfast": [
            "HoldfastProtocol", "HoldfastNode", "HoldfastClient", "HoldfastTransport", "HoldfastSimulator",
            "Foundation",
        ],
    ]
    static let standard: Set<String> = ["Swift", "Synchronization"]

    /// Over 120 columns, apart from the comma that the formatter puts behind, and from a test's text that is one
    /// literal.
    static func isLong(_ line: String, inTest: Bool) -> Bool {
        guard line.utf8.count > 120, line.count - (line.hasSuffix(",") ? 1 : 0) > 120 else { return false }
        let start = line.drop { $0 == " " }
        return !(inTest && (start.hasPrefix("\"") || start.hasPrefix("#\"")))
    }

    /// Cuts a line comment off, unless its slashes stand in a string.
    static func withoutComment(_ line: String) -> String {
        guard line.contains("//") else { return line }
        var inString = false
        var before: Character = " "
        for index in line.indices {
            let character = line[index]
            if character == "\"" && before != "\\" { inString.toggle() }
            if !inString && character == "/" && before == "/" { return String(line[..<line.index(before: index)]) }
            before = character
        }
        return line
    }

    /// The places where `word` stands in the code of the sources that `where` chooses.
    func places(of word: String, where applies: (Source) -> Bool) -> [String] {
        Self.sources.filter(applies).flatMap { source in
            source.code.filter { $0.text.contains(word) }.map { "\(source.path):\($0.number)" }
        }
    }

    @Test func theSourcesAreFound() {
        #expect(Self.sources.contains { $0.path == "Tests/HoldfastNodeTests/TidyTests.swift" })
        #expect(Set(Self.sources.filter { !$0.isTest }.map(\.target)).isSubset(of: Self.imports.keys))
    }

    @Test func filesAndLinesAreShort() {
        var long: [String] = []
        for source in Self.sources {
            #expect(source.lines.count <= 601, "\(source.path): \(source.lines.count - 1) lines, 600 at most")
            for (index, line) in source.lines.enumerated() where Self.isLong(line, inTest: source.isTest) {
                long.append("\(source.path):\(index + 1)")
            }
        }
        #expect(long == [], "120 columns at most")
    }

    @Test func targetsImportWhatTheHouseAllows() throws {
        let access = #"(?:(?:public|internal|private|fileprivate|package)\s+)?"#
        let kind = #"(?:(?:struct|class|enum|func|protocol|let|var|typealias)\s+)?"#
        let pattern = try Regex(#"^\s*(?:@\w+\s+)*"# + access + #"import\s+"# + kind + #"(\w+)"#)
        for source in Self.sources {
            for (number, line) in source.code {
                guard let match = line.firstMatch(of: pattern), let module = match.output[1].substring.map(String.init)
                else { continue }
                if source.isTest {
                    #expect(module != "XCTest", "\(source.path):\(number): Swift Testing only")
                } else {
                    let allowed = Self.imports[source.target, default: []].union(Self.standard)
                    #expect(allowed.contains(module), "\(source.path):\(number): \(source.target) imports \(module)")
                }
            }
        }
    }

    // The words are put together here, so that this file does not hold them itself.

    @Test(arguments: ["try" + "!", " as" + "! "])
    func noForce(word: String) {
        #expect(places(of: word) { _ in true } == [])
    }

    @Test(arguments: ["@unchecked" + " Sendable", "nonisolated" + "(unsafe)"])
    func uncheckedSharingStaysInTransport(word: String) {
        #expect(places(of: word) { !$0.isTest && $0.target != "HoldfastTransport" } == [])
    }

    @Test func onlyTransportEndsTheProcess() {
        #expect(places(of: "fatal" + "Error(") { !$0.isTest && $0.target != "HoldfastTransport" } == [])
    }

    @Test(arguments: ["Task" + " {", "Task" + ".sleep", "Task" + ".detached", "Dispatch" + "Queue"])
    func tasksBelongToShells(word: String) {
        let shells: Set<String> = ["HoldfastTransport", "HoldfastClient", "holdfast"]
        #expect(places(of: word) { !$0.isTest && !shells.contains($0.target) } == [])
    }

    @Test(arguments: ["Date" + "()", ".rand" + "om(", "System" + "RandomNumberGenerator", "UU" + "ID()"])
    func pureTargetsHaveNoClockAndNoChance(word: String) {
        let pure: Set<String> = ["HoldfastProtocol", "HoldfastModel", "HoldfastReplication", "HoldfastSimulator"]
        #expect(places(of: word) { !$0.isTest && pure.contains($0.target) } == [])
    }

    @Test func commentsAreCutOff() {
        #expect(Self.withoutComment(#"let a = "x//y" // z"#) == #"let a = "x//y" "#)
        #expect(Self.withoutComment("// all") == "")
        #expect(Self.withoutComment("a / b") == "a / b")
    }
}
