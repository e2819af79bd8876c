import HoldfastProtocol
import Testing

/// What can be told of a client's message that is broken.
@Suite struct ClientMessageTests {
    private func json(_ text: String) -> DecodedClientMessage {
        Encoding.json.decodeClientMessage(from: Array(text.utf8))
    }

    @Test func aWholeMessageIsDecoded() throws {
        let decoded = json(#"{"id":7,"ping":{"clientTime":"3"}}"#)
        #expect(try decoded.message.get() == ClientMessage(id: 7, body: .ping(Ping(clientTime: 3))))
        #expect(decoded.id == 7 && decoded.idWasRead && decoded.bodyName == "ping" && !decoded.isConnect)
    }

    @Test(
        arguments: [
            (#"{"id":7,"ping":5}"#, 7, "ping"), (#"{"ping":5,"id":7}"#, 7, "ping"),
            (#"{"ping":{"clientTime":1.5},"id":"7"}"#, 7, "ping"),
            (#"{"connect":{"token":5}}"#, 0, "connect"), (#"{"id":null,"connect":[]}"#, 0, "connect"),
            (#"{"id":7,"x":1,"x":2,"leaveRoom":{}}"#, 7, "leaveRoom"), (#"{"id":7,"ping":{},"connect":{}}"#, 7, "ping"),
            (#"{"id":7,"x":{"y":1,"y":2}}"#, 7, nil), (#"{"id":7.0,"create_room":{"room":1}}"#, 7, "createRoom"),
        ] as [(String, UInt32, String?)])
    func aBrokenBodyKeepsTheId(text: String, id: UInt32, body: String?) {
        let decoded = json(text)
        #expect(throws: WireError.self) { try decoded.message.get() }
        #expect(decoded.id == id && decoded.idWasRead && decoded.bodyName == body)
        #expect(decoded.isConnect == (body == "connect"))
    }

    @Test(
        arguments: [
            (#"{"id":-1,"connect":{}}"#, "connect"), (#"{"id":1.5,"ping":{}}"#, "ping"),
            (#"{"id":4294967296,"ping":{}}"#, "ping"),
            (#"{"id":{},"ping":{}}"#, "ping"), (#"{"id":1,"id":2,"ping":{}}"#, "ping"), (#"{"id":7,"ping":{}"#, nil),
            (#"[{"id":7}]"#, nil),
            ("", nil), (#"{"id":7,"ping":{}} x"#, nil),
        ] as [(String, String?)])
    func anIdThatCannotBeToldIsNotGuessed(text: String, body: String?) {
        let decoded = json(text)
        #expect(throws: WireError.self) { try decoded.message.get() }
        #expect(decoded.id == 0 && !decoded.idWasRead && decoded.bodyName == body)
    }

    @Test func noKnownBodyIsAWholeMessage() throws {
        for text in [#"{"id":7,"fly":{}}"#, #"{"id":7}"#, #"{"id":7,"ping":null}"#] {
            let decoded = json(text)
            #expect(try decoded.message.get() == ClientMessage(id: 7))
            #expect(decoded.bodyName == nil)
        }
        let unknown = Encoding.protobuf.decodeClientMessage(from: [0x08, 7, 0xfa, 0x3e, 1, 0xff])
        #expect(try unknown.message.get() == ClientMessage(id: 7))
        #expect(unknown.bodyName == nil && unknown.idWasRead)
    }

    @Test func protobufKeepsWhatStandsBeforeTheFault() throws {
        // id 7, then connect { token: <not UTF-8> }
        let broken = Encoding.protobuf.decodeClientMessage(from: [0x08, 7, 0x12, 3, 0x0a, 1, 0xff])
        #expect(broken.id == 7 && broken.idWasRead && broken.isConnect)
        guard case .failure(let fault) = broken.message else {
            Issue.record("not refused")
            return
        }
        #expect(fault.message == "connect.token: expected UTF-8, got 1 bytes that are not")
        // The same with the id behind it.
        let late = Encoding.protobuf.decodeClientMessage(from: [0x12, 3, 0x0a, 1, 0xff, 0x08, 7])
        #expect(late.id == 0 && !late.idWasRead && late.isConnect)
    }
}
