import Foundation
import HoldfastProtocol
import Testing

/// The messages in Swift against the schema's own text.
@Suite struct SchemaTests {
    @Test func everyMessageStandsInTheSchema() throws {
        let schema = try ProtoFile.schema()
        #expect(Set(Schema.messages.map(Schema.name)) == Set(schema.messages.keys))
        #expect(Schema.messages.count == schema.messages.count)
    }

    @Test func everyFieldHasTheSchemasNumberNameAndType() throws {
        let schema = try ProtoFile.schema()
        for type in Schema.messages {
            let expected = try #require(schema.messages[Schema.name(type)])
            #expect(
                try FieldList.of(type).sorted { $0.number < $1.number } == expected.sorted { $0.number < $1.number },
                "\(Schema.name(type))")
        }
    }

    /// Readers accept both names of a field and tell them apart by rule, and count fields in 128 bits.
    @Test func namesAndNumbersSuitTheReaders() throws {
        for (message, fields) in try ProtoFile.schema().messages {
            for field in fields {
                #expect((1..<128).contains(field.number), "\(message).\(field.name)")
                #expect(field.name.allSatisfy { $0.isASCII && $0.isLetter }, "\(message).\(field.name)")
            }
            #expect(Set(fields.map(\.name)).count == fields.count, "\(message)")
        }
    }

    /// What is shown when a oneof is written is what is asked for when it is read.
    @Test func oneofsWriteWhatTheyRead() throws {
        for seed in 0..<400 {
            let message = try RandomMessage.make(ServerMessage.self, seed: UInt64(seed))
            let text = String(decoding: Encoding.json.encode(message), as: UTF8.self)
            if let body = message.body {
                let name = try #require(Mirror(reflecting: body).children.first?.label)
                #expect(text.contains("\"\(name)\":"))
            }
        }
    }
}

/// As much of a .proto file as this schema uses.
struct ProtoFile {
    var messages: [String: [FieldFacts]] = [:]

    static let url = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Sources/HoldfastProtocol/holdfast.proto").standardized

    static func schema() throws -> ProtoFile { try ProtoFile(String(contentsOf: url, encoding: .utf8)) }

    init(_ text: String) throws {
        let lines = text.split(separator: "\n").map { line in
            line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? String(line)
        }
        let body = lines.joined(separator: " ").replacing(/reserved [0-9]+;/, with: "")
        let field = /(?:(optional|repeated) )?(map<\w+, *\w+>|\w+) +(\w+) = ([0-9]+);/
        for match in body.matches(of: /message (\w+) \{((?:[^{}]|oneof \w+ \{[^}]*\})*)\}/) {
            var fields: [FieldFacts] = []
            let content = String(match.2)
            let oneofs = content.matches(of: /oneof \w+ \{([^}]*)\}/).map(\.range)
            for found in content.matches(of: field) {
                let label = found.1.map { "\($0) " } ?? ""
                fields.append(
                    FieldFacts(
                        number: Int(found.4) ?? 0, name: Self.lowerCamel(String(found.3)), type: label + found.2,
                        oneof: oneofs.contains { $0.contains(found.range.lowerBound) }))
            }
            messages[String(match.1)] = fields
        }
    }

    private static func lowerCamel(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
