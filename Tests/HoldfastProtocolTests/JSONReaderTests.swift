import HoldfastProtocol
import Testing

@Suite struct JSONReaderTests {
    private func read<M: WireMessage>(_ type: M.Type, _ text: String) throws -> M {
        try Encoding.json.decode(type, from: Array(text.utf8))
    }

    private func fault(_ text: String) -> String? {
        do {
            _ = try Encoding.json.decode(ClientMessage.self, from: Array(text.utf8))
            return nil
        } catch {
            return error.message
        }
    }

    @Test(arguments: [
        "5", #""5""#, "5.0", "5e0", "5E0", "0.5e1", "50e-1", "5.000", #""5.0""#, #""5e0""#, "0.00005e+5", #""\u0035""#,
        "500000000000000000000000000000e-29",
    ])
    func oneIntegerHasManyForms(form: String) throws {
        #expect(try read(GetRoomList.self, #"{"limit":\#(form)}"#).limit == 5)
        #expect(try read(Ping.self, #"{"clientTime":\#(form)}"#).clientTime == 5)
        #expect(try read(SessionPosition.self, #"{"seq":\#(form)}"#).seq == 5)
        #expect(try read(UpdatePlayerCustomStatus.self, #"{"status":\#(form)}"#).status == 5)
    }

    @Test(arguments: [
        ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min),
        (#""9223372036854775807""#, Int64.max), ("9223372036854775.807e3", Int64.max),
        ("9007199254740993", 9_007_199_254_740_993), ("9007199254740993.0", 9_007_199_254_740_993),
        ("-0", 0), ("0e999999999", 0), ("0.000", 0), ("1e18", 1_000_000_000_000_000_000), ("-5", -5),
    ])
    func wideIntegersAreExact(form: String, value: Int64) throws {
        #expect(try read(Ping.self, #"{"clientTime":\#(form)}"#).clientTime == value)
    }

    @Test func everyWidthEndsAtItsEdge() throws {
        #expect(try read(GetRoomList.self, #"{"limit":4294967295}"#).limit == .max)
        #expect(try read(UpdatePlayerCustomStatus.self, #"{"status":-2147483648}"#).status == .min)
        #expect(try read(SessionPosition.self, #"{"seq":18446744073709551615}"#).seq == .max)
        #expect(throws: WireError.self) { try read(GetRoomList.self, #"{"limit":4294967296}"#) }
        #expect(throws: WireError.self) { try read(GetRoomList.self, #"{"limit":-1}"#) }
        #expect(throws: WireError.self) { try read(UpdatePlayerCustomStatus.self, #"{"status":2147483648}"#) }
        #expect(throws: WireError.self) { try read(UpdatePlayerCustomStatus.self, #"{"status":-2147483649}"#) }
        #expect(throws: WireError.self) { try read(SessionPosition.self, #"{"seq":18446744073709551616}"#) }
        #expect(throws: WireError.self) { try read(Ping.self, #"{"clientTime":9223372036854775808}"#) }
        #expect(throws: WireError.self) { try read(Ping.self, #"{"clientTime":-9223372036854775809}"#) }
    }

    @Test(arguments: [
        "1.5", "1e-1", "0.1", "1e999999999", "1e-999999999", "-1e999999999", "1e99999999999999999999999999", "true",
        "[]", "{}",
        #""""#, #"" 5""#, #""5 ""#, #""5x""#, #""+5""#, #""05""#, #""0x5""#, #""1.5""#, #""NaN""#, #""Infinity""#,
        #""5.""#, #""-""#,
        "100000000000000000000000000000000000000000000000001e-10",
    ])
    func whatIsNoIntegerIsRefused(form: String) {
        #expect(throws: WireError.self) { try read(GetRoomList.self, #"{"limit":\#(form)}"#) }
        #expect(throws: WireError.self) { try read(Ping.self, #"{"clientTime":\#(form)}"#) }
    }

    @Test(arguments: [
        "", " ", "{", "}", "[]", "1", #""x""#, "null", "true", #"{"id":1,}"#, "{,}", #"{"id" 1}"#, #"{id:1}"#,
        #"{'id':1}"#, "{1:1}",
        #"{"id":1}}"#, #"{"id":1} {"#, #"{"id":1}x"#, #"{"id":01}"#, #"{"id":+1}"#, #"{"id":.5}"#, #"{"id":5.}"#,
        #"{"id":1e}"#,
        #"{"id":1e+}"#, #"{"id":-}"#, #"{"id":NaN}"#, #"{"id":Infinity}"#, #"{"id":0x1}"#, #"{"id":1 2}"#,
        #"{"x":[1,]}"#, #"{"x":[,1]}"#,
        #"{"x":[1 2]}"#, #"{"x":[1}"#, #"{"x":tru}"#, #"{"x":True}"#, #"{"x":nul}"#, #"{"x":nulll}"#, #"{"x":"#,
        #"{"x"}"#,
        "{\"x\":\"\n\"}", "{\"x\":\"\t\"}", "{\"x\":\"\u{0}\"}", #"{"x":"\a"}"#, #"{"x":"\u12"}"#, #"{"x":"\u12g4"}"#,
        #"{"x":"\"}"#,
        "\u{feff}{}", "{}\u{0}", "{}//", "/**/{}", "\u{a0}{}", "\u{b}{}",
    ])
    func whatIsNoJSONIsRefused(text: String) {
        #expect(fault(text) != nil)
    }

    @Test func whitespaceIsAllowedBetweenTokens() throws {
        let text = " \t\r\n{ \"id\" : 7 , \"ping\" :\n{ \"clientTime\"\t:\r[ ] } , \"x\":[ 1 , { } , [ ] ] } \n"
        #expect(throws: WireError.self) { try read(ClientMessage.self, text) }
        let sound = text.replacing("[ ] }", with: "5 }")
        #expect(try read(ClientMessage.self, sound) == ClientMessage(id: 7, body: .ping(Ping(clientTime: 5))))
    }

    @Test(arguments: [
        #"{"x":"\ud800"}"#, #"{"x":"\udc00"}"#, #"{"x":"\ud800x"}"#, #"{"x":"\ud800\n"}"#, #"{"x":"\ud800\ud800"}"#,
        #"{"x":"\udc00\ud800"}"#,
        #"{"\ud800":1}"#, #"{"x":["\uDFFF"]}"#,
    ])
    func aLoneSurrogateIsRefusedAnywhere(text: String) {
        #expect(fault(text) != nil)
    }

    @Test func escapesAreReadInKeysAndValues() throws {
        let text = #"{"\u0074oken":"\u00e9\ud83d\ude00\"\\\/\b\f\n\r\tA\u0000"}"#
        #expect(try read(JoinSession.self, text).token == "é😀\"\\/\u{8}\u{c}\n\r\tA\u{0}")
    }

    @Test(
        arguments: [
            [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xc3], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80],
            [0xf0, 0x8f, 0xbf, 0xbf],
            [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xff], [0xe2, 0x82], [0xf0, 0x9f, 0x98],
            [0xe2, 0x28, 0xa1],
        ] as [[UInt8]])
    func whatIsNotUTF8IsRefused(bytes: [UInt8]) {
        let text = Array(#"{"id":1,"x":""#.utf8) + bytes + Array(#""}"#.utf8)
        let decoded = Encoding.json.decodeClientMessage(from: text)
        #expect(throws: WireError.self) { try decoded.message.get() }
        #expect(decoded.isNotUTF8)
        #expect(!decoded.idWasRead)
    }

    @Test func theEdgesOfUTF8AreRead() throws {
        for scalar: Unicode.Scalar in [
            "\u{7f}", "\u{80}", "\u{7ff}", "\u{800}", "\u{d7ff}", "\u{e000}", "\u{ffff}", "\u{10000}", "\u{10ffff}",
        ] {
            #expect(try read(JoinSession.self, "{\"token\":\"\(scalar)\"}").token == String(Character(scalar)))
        }
    }

    @Test func nullIsAbsent() throws {
        let text = """
            {"id":null,"createRoom":{"room":{"maxPlayerCount":null,"type":null,"matchParams":null,"hidden":null},
            "player":null},"ping":null,"connect":null}
            """
        #expect(try read(ClientMessage.self, text) == ClientMessage(body: .createRoom(CreateRoom(room: RoomConfig()))))
        #expect(try read(UpdateRoomProperties.self, #"{"name":null}"#).name == nil)
        #expect(try read(SendFrameInput.self, #"{"data":null,"dataBytes":null}"#).payload == nil)
        #expect(try read(Frame.self, #"{"inputs":null}"#) == Frame())
        #expect(throws: WireError.self) { try read(Frame.self, #"{"inputs":[null]}"#) }
        #expect(throws: WireError.self) { try read(SendCustomMessage.self, #"{"receivers":[null]}"#) }
        #expect(throws: WireError.self) { try read(RoomConfig.self, #"{"matchParams":{"a":null}}"#) }
    }

    @Test func theSchemasOwnNamesAreReadToo() throws {
        let text =
            #"{"id":1,"create_room":{"room":{"max_player_count":3,"custom_properties":"x","lockedDuringFrameSync":true}}}"#
        let room = RoomConfig(maxPlayerCount: 3, customProperties: "x", lockedDuringFrameSync: true)
        #expect(try read(ClientMessage.self, text) == ClientMessage(id: 1, body: .createRoom(CreateRoom(room: room))))
        for other in [
            "Create_room", "create_Room", "createroom", "create__room", "createRoom_", "_createRoom", "create_roo",
        ] {
            #expect(try read(ClientMessage.self, #"{"\#(other)":{}}"#).body == nil, "\(other)")
        }
    }

    @Test(arguments: [
        "AP/+", "AP_-", "AP/+====", "A", "AP/+A", "AB=", "A===", "=", "AP /", "AP/\\n", "AP*+", "AQ==x", "é",
    ])
    func bytesAreBase64(text: String) throws {
        let parsed = try? read(PutSnapshot.self, #"{"state":"\#(text)"}"#)
        #expect(parsed?.state == (["AP/+", "AP_-"].contains(text) ? [0, 0xff, 0xfe] : nil))
    }

    @Test(arguments: [
        ("", 0), ("AA", 1), ("AA==", 1), ("AAA", 2), ("AAA=", 2), ("AAAA", 3), ("AAAAAA", 4), (#"AA\u003d="#, 1),
    ])
    func paddingMayBeLeftOut(text: String, count: Int) throws {
        #expect(try read(PutSnapshot.self, #"{"state":"\#(text)"}"#).state == [UInt8](repeating: 0, count: count))
    }

    @Test func unknownFieldsAreIgnored() throws {
        let text =
            #"{"x":{"y":[1,"a",null,true,{"z":1.5e400}]},"id":2,"ping":{"when":"now","clientTime":1},"Ping":{},"":0}"#
        #expect(try read(ClientMessage.self, text) == ClientMessage(id: 2, body: .ping(Ping(clientTime: 1))))
    }

    @Test(arguments: [
        #"{"id":1,"id":1}"#, #"{"id":1,"\u0069d":1}"#, #"{"x":1,"x":2}"#, #"{"x":{"y":1,"y":1}}"#,
        #"{"x":[{"y":1,"y":1}]}"#,
        #"{"ping":{},"ping":{}}"#, #"{"ping":null,"ping":{}}"#, #"{"createRoom":{},"create_room":{}}"#,
        #"{"createRoom":null,"create_room":{}}"#,
        #"{"createRoom":{"room":{"maxPlayerCount":1,"max_player_count":1}}}"#, #"{"":1,"":1}"#,
        #"{"createRoom":{"room":{"matchParams":{"a":"1","a":"1"}}}}"#,
        "{\"createRoom\":{\"room\":{\"matchParams\":{\"\u{e9}\":\"1\",\"e\u{301}\":\"1\"}}}}",
    ])
    func aKeyTwiceIsRefused(text: String) {
        #expect(fault(text)?.contains("each key once") == true, "\(fault(text) ?? "")")
    }

    @Test func keysThatOnlyLookAlikeAreTwoKeys() throws {
        #expect(
            try read(ClientMessage.self, "{\"\u{e9}\":1,\"e\u{301}\":2,\"X\":1,\"x\":1,\"x \":1}") == ClientMessage())
    }

    @Test func aKeyTwiceIsFoundAmongMany() {
        let keys = (0..<20_000).map { "\"k\($0)\":0" }.joined(separator: ",")
        #expect(fault("{\(keys)}") == nil)
        for twice in ["k0", "k7", "k8", "k19999", #"k1234\u0035"#] {
            #expect(fault("{\(keys),\"\(twice)\":0}") != nil, "\(twice)")
        }
    }

    @Test(arguments: [
        #"{"ping":{},"leaveRoom":{}}"#, #"{"ping":{},"id":1,"connect":{}}"#, #"{"ping":{},"x":{},"create_room":{}}"#,
        #"{"sendFrameInput":{"data":"","dataBytes":""}}"#,
    ])
    func twoBodiesAreRefused(text: String) {
        #expect(fault(text)?.contains("a second one") == true)
    }

    @Test(arguments: [
        (#"{"ping":5}"#, "ping: expected an object, got the number 5"),
        (#"{"ping":[]}"#, "ping: expected an object, got an array"),
        (#"{"joinRoom":{"roomId":5}}"#, "joinRoom.roomId: expected a string, got the number 5"),
        (
            #"{"joinRoom":{"asSpectator":"true"}}"#,
            #"joinRoom.asSpectator: expected true or false, got the string "true""#
        ),
        (#"{"joinRoom":{"asSpectator":1}}"#, "joinRoom.asSpectator: expected true or false, got the number 1"),
        (
            #"{"createRoom":{"room":{"maxPlayerCount":1.5}}}"#,
            "createRoom.room.maxPlayerCount: expected a uint32 (a whole number from 0 to 4294967295), got the number 1.5"
        ),
        (
            #"{"sendCustomMessage":{"receivers":"a"}}"#,
            #"sendCustomMessage.receivers: expected an array, got the string "a""#
        ),
        (
            #"{"sendCustomMessage":{"receivers":["a",2]}}"#,
            "sendCustomMessage.receivers[1]: expected a string, got the number 2"
        ),
        (
            #"{"createRoom":{"room":{"matchParams":{"k":1}}}}"#,
            "createRoom.room.matchParams.k: expected a string, got the number 1"
        ),
        (
            #"{"createRoom":{"room":{"matchParams":[]}}}"#,
            "createRoom.room.matchParams: expected an object, got an array"
        ),
        (#"{"putSnapshot":{"state":"*"}}"#, #"putSnapshot.state: expected bytes in base64, got the string "*""#),
        (
            #"{"connect":{"resume":{"sessions":[{},3]}}}"#,
            "connect.resume.sessions[1]: expected an object, got the number 3"
        ),
        (#"{"id":1,"ping":{},"#, "not valid JSON: expected a key in quotes at byte 18, got the end of the text"),
        (#"{"x":{"y":1,"y":2}}"#, "x.y: expected each key once, got this one again"),
    ])
    func faultsNameTheFieldTheLimitAndWhatCame(text: String, message: String) {
        #expect(fault(text) == message)
    }

    @Test func whatCameIsCutInTheMessage() {
        let long = String(repeating: "é", count: 10_000)
        #expect((fault("{\"ping\":\"\(long)\"}") ?? "").utf8.count < 200)
        #expect((fault("{\"\(long)\":{\"a\":1,\"a\":1}}") ?? "").utf8.count < 200)
    }

    @Test func thirtyTwoLevelsAreTheMost() throws {
        func nested(_ levels: Int) -> String {
            #"{"id":3,"x":"# + String(repeating: "[", count: levels - 1) + String(repeating: "]", count: levels - 1)
                + "}"
        }
        #expect(try read(ClientMessage.self, nested(32)).id == 3)
        #expect(fault(nested(33))?.contains("at most 32 levels") == true)
        let objects = String(repeating: #"{"a":"#, count: 32) + "1" + String(repeating: "}", count: 32)
        #expect(fault(objects) == nil)
        #expect(fault("{\"a\":\(objects)}") != nil)
        #expect(fault(String(repeating: "[", count: 100_000)) != nil)
        #expect(fault(nested(100_000)) != nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func hugeTextsAreReadOnce() {
        let zeros = String(repeating: "0", count: 1_000_000)
        #expect(fault("{\"id\":1\(zeros)e-1000000}") == nil)
        #expect(fault("{\"id\":0.\(zeros)1}") != nil)
        #expect(fault("{\"id\":1\(zeros)}") != nil)
        #expect(fault("{\"id\":1e\(zeros)}") == nil)
        #expect(fault("{\"x\":[\(String(repeating: "{},", count: 300_000))0]}") == nil)
        let keys = (0..<100_000).map { "\"\\u006b\($0)\":0" }.joined(separator: ",")
        #expect(fault("{\(keys)}") == nil)
    }
}
