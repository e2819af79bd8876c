import HoldfastProtocol
import Testing

@Suite struct CodecTests {
    @Test(arguments: Encoding.allCases)
    func aMessageComesBackAsItWent(encoding: Encoding) throws {
        let message = ClientMessage(
            id: 7,
            body: .createRoom(
                CreateRoom(
                    room: RoomConfig(
                        maxPlayerCount: 4, type: "duel", name: "a \"b\"\\\n\u{1}é😀", matchParams: ["b": "2", "a": "1"],
                        hidden: true),
                    player: PlayerConfig(customStatus: -5, customProperties: String(repeating: "x", count: 300)))))
        let bytes = encoding.encode(message)
        #expect(try encoding.decode(ClientMessage.self, from: bytes) == message)
        let decoded = encoding.decodeClientMessage(from: bytes)
        #expect(decoded.id == 7 && decoded.idWasRead && decoded.bodyName == "createRoom")
        #expect(try decoded.message.get() == message)
    }

    @Test func jsonIsTheCanonicalMapping() {
        let pong = ServerMessage(id: 3, body: .pong(Pong(clientTime: -1, serverTime: 0)))
        #expect(text(pong) == #"{"id":3,"pong":{"clientTime":"-1","serverTime":"0"}}"#)
        let frame = ServerMessage(
            seq: 9, body: .frame(Frame(id: 1, inputs: [FrameInput(playerId: "p", payload: .dataBytes([0, 255]))])))
        #expect(
            text(frame)
                == #"{"seq":"9","frame":{"id":1,"inputs":[{"playerId":"p","dataBytes":"AP8=","serverTime":"0","id":0}],"changes":[]}}"#
        )
        #expect(text(ServerMessage(body: .ok(Ok()))) == #"{"ok":{}}"#)
    }

    private func text(_ message: ServerMessage) -> String {
        String(decoding: Encoding.json.encode(message), as: UTF8.self)
    }
}
