import Foundation

/// Protobuf's own Python classes for the schema, as the judge of both encodings.
struct Protoc {
    struct Question: Encodable {
        var type: String
        /// A message in Protobuf, in hexadecimal.
        var binary: String
        /// A message in JSON, as bytes in hexadecimal: mutated text need not be UTF-8.
        var json: String
    }

    struct Answer: Decodable {
        /// The Protobuf encoding of what was read out of `binary`, unknown fields left out; nil: refused.
        var fromBinary: String?
        /// The Protobuf encoding of what was read out of `json`; nil: refused.
        var fromJSON: String?
        /// What was read out of `binary`, in JSON, with lowerCamelCase names and defaults.
        var json: String?
        /// The same with the schema's names.
        var snakeJSON: String?
    }

    private static let python: String? = {
        let repository = ProtoFile.url.deletingLastPathComponent().appending(path: "../../.venv/bin/python3")
        let given = ProcessInfo.processInfo.environment["HOLDFAST_PYTHON"]
        let candidates = [given, repository.standardized.path, "python3"].compactMap(\.self)
        return candidates.first { run([$0, "-c", "import google.protobuf.json_format"]) }
    }()

    /// Whether `protoc` and Python's protobuf are on this machine.
    static let isThere = run(["protoc", "--version"]) && python != nil

    private static func run(_ command: [String], input: URL? = nil, output: URL? = nil) -> Bool {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        do {
            process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
            process.standardOutput = try output.map { try FileHandle(forWritingTo: $0) } ?? FileHandle.nullDevice
            if output == nil { process.standardError = FileHandle.nullDevice }
            try process.run()
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    struct Failure: Error {}

    static func ask(_ questions: [Question]) throws -> [Answer] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-protoc-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (input, output) = (folder.appending(path: "questions"), folder.appending(path: "answers"))
        let script = folder.appending(path: "judge.py")
        try JSONEncoder().encode(questions).write(to: input)
        try Data().write(to: output)
        try Data(judge.utf8).write(to: script)
        let schema = ProtoFile.url.deletingLastPathComponent().path
        guard run(["protoc", "--python_out=\(folder.path)", "-I", schema, "holdfast.proto"]), let python,
            run([python, script.path], input: input, output: output)
        else { throw Failure() }
        return try JSONDecoder().decode([Answer].self, from: Data(contentsOf: output))
    }

    private static let judge = """
        import json, sys
        import holdfast_pb2 as schema
        from google.protobuf import json_format
        from google.protobuf.message import DecodeError

        def to_json(message, **names):
            fields = json_format.MessageToJson.__code__.co_varnames
            defaults = "always_print_fields_with_no_presence"
            if defaults not in fields:
                defaults = "including_default_value_fields"
            return json_format.MessageToJson(message, **{defaults: True}, **names)

        answers = []
        for question in json.load(sys.stdin):
            kind = getattr(schema, question["type"])
            answer = {}
            try:
                message = kind()
                message.ParseFromString(bytes.fromhex(question["binary"]))
                message.DiscardUnknownFields()
                answer["fromBinary"] = message.SerializeToString(deterministic=True).hex()
                answer["json"] = to_json(message)
                answer["snakeJSON"] = to_json(message, preserving_proto_field_name=True)
            except DecodeError:
                pass
            try:
                text = bytes.fromhex(question["json"]).decode("utf-8")
                message = json_format.Parse(text, kind(), ignore_unknown_fields=True)
                answer["fromJSON"] = message.SerializeToString(deterministic=True).hex()
            except Exception:  # its reader raises many kinds on damaged text
                pass
            answers.append(answer)
        json.dump(answers, sys.stdout)
        """
}
