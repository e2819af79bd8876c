import HoldfastProtocol
import Testing

@Suite struct RoundTripTests {
    @Test(arguments: Encoding.allCases)
    func everyMessageComesBackAsItWent(encoding: Encoding) throws {
        for type in Schema.messages {
            for seed in 0..<40 { try roundTrip(type, encoding, UInt64(seed)) }
        }
    }

    private func roundTrip<M: WireMessage>(_ type: M.Type, _ encoding: Encoding, _ seed: UInt64) throws {
        let message = try RandomMessage.make(type, seed: seed)
        let bytes = encoding.encode(message)
        #expect(try encoding.decode(M.self, from: bytes) == message, "\(type) seed \(seed)")
        #expect(encoding.encode(message) == bytes, "\(type) seed \(seed)")
    }

    /// The overloads for the envelopes and any message write the same.
    @Test(arguments: Encoding.allCases)
    func envelopesAreWrittenAsAnyMessage(encoding: Encoding) throws {
        func any<M: WireMessage>(_ message: M) -> [UInt8] { encoding.encode(message) }
        let server = try RandomMessage.make(ServerMessage.self, seed: 5)
        let client = try RandomMessage.make(ClientMessage.self, seed: 5)
        #expect(any(server) == encoding.encode(server))
        #expect(any(client) == encoding.encode(client))
        let buffer = encoding.encode(server)
        let copy = try buffer.withUnsafeBytes { raw in try encoding.decode(ServerMessage.self, from: raw) }
        #expect(copy == server)
    }

    @Test func jsonCutAnywhereIsRefused() throws {
        for seed in 0..<30 {
            let bytes = Encoding.json.encode(try RandomMessage.make(ClientMessage.self, seed: UInt64(seed)))
            for length in 0..<bytes.count {
                #expect(throws: WireError.self) {
                    try Encoding.json.decode(ClientMessage.self, from: Array(bytes[..<length]))
                }
                #expect(!Encoding.json.decodeClientMessage(from: Array(bytes[..<length])).idWasRead)
            }
        }
    }

    /// A cut between two fields is a message; one inside a field is none.
    @Test func protobufCutAnywhereIsRefusedOrAShorterMessage() throws {
        for seed in 0..<60 {
            let message = try RandomMessage.make(ClientMessage.self, seed: UInt64(seed))
            let bytes = Encoding.protobuf.encode(message)
            let head = Encoding.protobuf.encode(ClientMessage(id: message.id)).count
            for length in 0..<bytes.count where length != 0 && length != head {
                let decoded = Encoding.protobuf.decodeClientMessage(from: Array(bytes[..<length]))
                #expect(throws: WireError.self) { try decoded.message.get() }
                if length > head, message.id != 0 { #expect(decoded.id == message.id) }
            }
        }
    }

    /// Whatever a mutation makes of a message: it is refused, or read as something that comes back as it went.
    @Test(arguments: Encoding.allCases)
    func mutatedMessagesAreRefusedOrSound(encoding: Encoding) throws {
        var random = SeededGenerator(seed: 1)
        for seed in 0..<1500 {
            var bytes = encoding.encode(try RandomMessage.make(ClientMessage.self, seed: UInt64(seed % 50)))
            Mutation.apply(to: &bytes, &random)
            let decoded = encoding.decodeClientMessage(from: bytes)
            guard case .success(let message) = decoded.message else { continue }
            #expect(decoded.idWasRead && decoded.id == message.id)
            #expect((decoded.bodyName == nil) == (message.body == nil))
            #expect(try encoding.decode(ClientMessage.self, from: encoding.encode(message)) == message)
        }
    }
}
