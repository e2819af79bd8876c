import Foundation
import HoldfastProtocol
import Testing

/// Both encodings against those that protobuf's own Python classes read and write.
@Suite(.enabled(if: Protoc.isThere, "needs protoc and Python's protobuf (HOLDFAST_PYTHON names the interpreter)"))
struct ProtocTests {
    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Whether protobuf wrote the message as it is written here. Its maps have another order, so that the bytes may
    /// stand in another one.
    private static func isSame<M: WireMessage>(_ answer: String?, as message: M) -> Bool {
        guard let answer else { return false }
        let digits = Array(answer.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16)
        }
        let own = Encoding.protobuf.encode(message)
        let read = try? Encoding.protobuf.decode(M.self, from: bytes)
        return bytes.sorted() == own.sorted() && read == message
    }

    /// A message, and what is asked about it.
    private struct Case {
        var question: Protoc.Question
        var check: (Protoc.Answer) throws -> Void
    }

    private func settle(_ cases: [Case]) throws {
        let answers = try Protoc.ask(cases.map(\.question))
        try #require(answers.count == cases.count)
        for (one, answer) in zip(cases, answers) { try one.check(answer) }
    }

    @Test func everyMessageIsWrittenAndReadAsProtobufDoes() throws {
        var cases: [Case] = []
        for type in Schema.messages {
            for seed in 0..<20 { cases.append(try sound(type, UInt64(1000 + seed))) }
        }
        try settle(cases)
    }

    private func sound<M: WireMessage>(_ type: M.Type, _ seed: UInt64) throws -> Case {
        let message = try RandomMessage.make(type, seed: seed)
        let (binary, json) = (Encoding.protobuf.encode(message), Encoding.json.encode(message))
        let question = Protoc.Question(type: Schema.name(type), binary: Self.hex(binary), json: Self.hex(json))
        return Case(question: question) { answer in
            #expect(Self.isSame(answer.fromBinary, as: message), "\(type) seed \(seed)")
            #expect(Self.isSame(answer.fromJSON, as: message), "\(type) seed \(seed)")
            for text in [answer.json, answer.snakeJSON] {
                let bytes = Array(try #require(text).utf8)
                #expect(try Encoding.json.decode(M.self, from: bytes) == message, "\(type) seed \(seed)")
            }
        }
    }

    /// The same bytes are refused, and the others mean the same. Only two bodies in one message are refused here alone.
    @Test func mutatedMessagesAreJudgedAlike() throws {
        var random = SeededGenerator(seed: 11)
        var cases: [Case] = []
        for seed in 0..<3000 {
            if seed % 2 == 0 {
                cases.append(try mutated(ServerMessage.self, UInt64(seed % 200), &random))
            } else {
                cases.append(try mutated(ClientMessage.self, UInt64(seed % 200), &random))
            }
        }
        try settle(cases)
    }

    private func mutated<M: WireMessage>(
        _ type: M.Type, _ seed: UInt64, _ random: inout SeededGenerator
    ) throws -> Case {
        let message = try RandomMessage.make(type, seed: seed)
        var (binary, json) = (Encoding.protobuf.encode(message), Encoding.json.encode(message))
        Mutation.apply(to: &binary, &random)
        Mutation.apply(to: &json, &random)
        let question = Protoc.Question(type: Schema.name(type), binary: Self.hex(binary), json: Self.hex(json))
        let ours = Result { () throws(WireError) in try Encoding.protobuf.decode(M.self, from: binary) }
        let text = Result { () throws(WireError) in try Encoding.json.decode(M.self, from: json) }
        return Case(question: question) { answer in
            switch ours {
            case .success(let message):
                #expect(Self.isSame(answer.fromBinary, as: message), "\(question)")
            case .failure(let fault):
                if fault.detail.hasPrefix("expected one body") { return }
                #expect(answer.fromBinary == nil, "\(question) \(fault)")
            }
            // Python's reader of JSON is not strict, so it may take more; never something else.
            if case .success(let message) = text {
                #expect(Self.isSame(answer.fromJSON, as: message), "\(question)")
            }
        }
    }

    /// The forms that a field may take in JSON: what protobuf takes is taken here, and means the same.
    @Test func formsOfJSONAreJudgedAlike() throws {
        let forms = [
            #"{"id":"5"}"#, #"{"id":5.0}"#, #"{"id":5e0}"#, #"{"id":"5"}"#, #"{"seq":"18446744073709551615"}"#,
            #"{"seq":18446744073709551615}"#, #"{"pong":{"clientTime":"-9223372036854775808"}}"#, #"{"id":null}"#,
            #"{"pong":{"client_time":"3","serverTime":4}}"#, #"{"ok":{"x":[{}]}}"#, #"{"ok":null,"pong":{}}"#,
            #"{"desyncDetected":{"hashes":[{"hash":"-_8="},{"hash":"+/8"},{"hash":"-_8"},{"hash":""}]}}"#,
            #"{"roomJoined":{"room":{"matchParams":{"":"","a":"b"},"players":[{},{}]}}}"#,
            #"{"frame":{"inputs":[{"data":""},{"dataBytes":""},{"data_bytes":"AA"}]}}"#,
            #"{"error":{"message":"\ud83d\ude00\u0000","code":-1}}"#,
            #"{"battleRequested":{"results":{"a":"-5","b":5.0}}}"#,
        ]
        try settle(
            try forms.map { form in
                let message = try Encoding.json.decode(ServerMessage.self, from: Array(form.utf8))
                let question = Protoc.Question(type: "ServerMessage", binary: "", json: Self.hex(Array(form.utf8)))
                return Case(question: question) { answer in
                    #expect(Self.isSame(answer.fromJSON, as: message), "\(form)")
                }
            })
    }
}
