import HoldfastProtocol
import Testing

@Suite struct JSONWriterTests {
    private func text<M: WireMessage>(_ message: M) -> String {
        String(decoding: Encoding.json.encode(message), as: UTF8.self)
    }

    @Test func theEnvelopesIdAndSeqAreLeftOutAtZero() {
        #expect(text(ServerMessage(body: .ok(Ok()))) == #"{"ok":{}}"#)
        #expect(text(ServerMessage(id: 3, seq: 9, body: .ok(Ok()))) == #"{"id":3,"seq":"9","ok":{}}"#)
        #expect(text(ServerMessage()) == "{}")
    }

    @Test func scalarsListsAndMapsAreWrittenAtTheirDefault() {
        #expect(
            text(PlayerInfo(id: "p")) == #"{"id":"p","status":0,"customStatus":0,"customProperties":""}"#)
        #expect(text(Frame()) == #"{"id":0,"inputs":[],"changes":[]}"#)
        #expect(text(BattleRequested()) == #"{"results":{}}"#)
        #expect(text(PutSnapshot()) == #"{"frameId":0,"state":"","frameSyncId":0}"#)
        #expect(text(Disconnected()) == #"{"code":0,"message":"","mayReconnect":false}"#)
    }

    @Test func absentMessagesOptionalFieldsAndAlternativesAreLeftOut() {
        #expect(text(CreateRoom()) == "{}")
        #expect(text(UpdateRoomProperties()) == "{}")
        #expect(text(UpdateRoomProperties(name: "")) == #"{"name":""}"#)
        #expect(text(SendFrameInput()) == #"{"frameSyncId":0}"#)
        #expect(text(SendFrameInput(payload: .data(""))) == #"{"data":"","frameSyncId":0}"#)
        #expect(text(SendFrameInput(payload: .dataBytes([]))) == #"{"dataBytes":"","frameSyncId":0}"#)
    }

    @Test func wideIntegersAndBytesAreStrings() {
        #expect(
            text(Pong(clientTime: .min, serverTime: .max))
                == #"{"clientTime":"-9223372036854775808","serverTime":"9223372036854775807"}"#)
        #expect(text(SessionPosition(seq: .max)) == #"{"sessionId":"","seq":"18446744073709551615"}"#)
        #expect(text(UpdatePlayerCustomStatus(status: .min)) == #"{"status":-2147483648}"#)
        #expect(text(GetFrames(first: .max, last: 10)) == #"{"first":4294967295,"last":10,"frameSyncId":0}"#)
        #expect(text(FrameHash(hash: [0xfb, 0xff])) == #"{"playerId":"","hash":"+/8="}"#)
        #expect(text(FrameHash(hash: [1])) == #"{"playerId":"","hash":"AQ=="}"#)
        #expect(text(FrameHash(hash: [1, 2, 3])) == #"{"playerId":"","hash":"AQID"}"#)
    }

    @Test func stringsAreEscapedWhereTheyMustBe() {
        let all = "\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1f}\"\\/\u{7f}é😀"
        #expect(
            text(JoinSession(token: all))
                == #"{"token":"\u0000\b\t\n\u000b\f\r\u001f\"\\/"# + "\u{7f}é😀\"}")
    }

    @Test func mapsAreInTheOrderOfTheirKeysBytes() {
        let params = ["b": "1", "a": "2", "é": "3", "z": "4"]
        #expect(text(RoomConfig(matchParams: params)).contains(#""matchParams":{"a":"2","b":"1","z":"4","é":"3"}"#))
    }

    @Test func ownIsCalledSelf() {
        #expect(text(SessionInfo(own: ConnectionInfo())).hasPrefix(#"{"sessionId":"","self":{"#))
    }
}
