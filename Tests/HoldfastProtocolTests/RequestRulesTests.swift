import HoldfastProtocol
import Testing

/// Every limit at its exact edge; sizes in bytes, not in characters.
@Suite struct RequestRulesTests {
    private func fault(_ body: ClientMessage.Body, _ limits: Limits = Limits()) -> String? {
        guard let refusal = RequestRules.violation(of: body, limits: limits) else { return nil }
        #expect(refusal.code == .invalidRequest)
        return refusal.message
    }

    /// `bytes` bytes of UTF-8 in fewer characters.
    private func text(_ bytes: Int) -> String {
        String(repeating: "é", count: bytes / 2) + (bytes % 2 == 0 ? "" : "x")
    }

    private func room(_ change: (inout RoomConfig) -> Void = { _ in }) -> RoomConfig {
        var room = RoomConfig(maxPlayerCount: 2, type: "duel")
        change(&room)
        return room
    }

    @Test func roomConfigs() {
        let rules: [(String, (inout RoomConfig) -> Void, (inout RoomConfig) -> Void)] = [
            ("maxPlayerCount: 1…20, got 21", { $0.maxPlayerCount = 20 }, { $0.maxPlayerCount = 21 }),
            ("maxPlayerCount: 1…20, got 0", { $0.maxPlayerCount = 1 }, { $0.maxPlayerCount = 0 }),
            ("type: 1…32 bytes, got 33", { $0.type = text(32) }, { $0.type = text(33) }),
            ("type: 1…32 bytes, got 0", { $0.type = "x" }, { $0.type = "" }),
            ("name: at most 64 bytes, got 65", { $0.name = text(64) }, { $0.name = text(65) }),
            (
                "customProperties: at most 2048 bytes, got 2049", { $0.customProperties = text(2048) },
                { $0.customProperties = text(2049) }
            ),
            (
                "matchParams: at most 3 pairs, got 4", { $0.matchParams = ["a": "", "b": "", "c": ""] },
                { $0.matchParams = ["a": "", "b": "", "c": "", "d": ""] }
            ),
            (
                "matchParams key: at most 32 bytes, got 33", { $0.matchParams = [text(32): ""] },
                { $0.matchParams = [text(33): ""] }
            ),
            (
                "matchParams.a: at most 64 bytes, got 65", { $0.matchParams = ["a": text(64)] },
                { $0.matchParams = ["a": text(65)] }
            ),
            ("frameRate: at most 60, got 61", { $0.frameRate = 60 }, { $0.frameRate = 61 }),
            (
                "maxSpectatorCount: at most 100000, got 100001", { $0.maxSpectatorCount = 100_000 },
                { $0.maxSpectatorCount = 100_001 }
            ),
        ]
        for (message, good, bad) in rules {
            #expect(fault(.createRoom(CreateRoom(room: room(good)))) == nil, "\(message)")
            #expect(fault(.matchRoom(MatchRoom(room: room(good)))) == nil, "\(message)")
            #expect(fault(.createRoom(CreateRoom(room: room(bad)))) == "createRoom.room.\(message)")
            #expect(fault(.matchRoom(MatchRoom(room: room(bad)))) == "matchRoom.room.\(message)")
        }
        #expect(fault(.createRoom(CreateRoom())) == "createRoom.room: required, got none")
        #expect(fault(.matchRoom(MatchRoom())) == "matchRoom.room: required, got none")
        #expect(fault(.createRoom(CreateRoom(room: room { $0.password = text(64) }))) == nil)
        #expect(
            fault(.createRoom(CreateRoom(room: room { $0.password = text(65) })))
                == "createRoom.room.password: at most 64 bytes, got 65")
        #expect(fault(.createRoom(CreateRoom(room: room { $0.hidden = true }))) == nil)
    }

    @Test func matches() {
        #expect(
            fault(.matchRoom(MatchRoom(room: room { $0.hidden = true })))
                == "matchRoom.room.hidden: not in a match, got true")
        #expect(
            fault(.matchRoom(MatchRoom(room: room { $0.password = "x" })))
                == "matchRoom.room.password: not in a match, got 1 bytes")
        #expect(fault(.matchRoom(MatchRoom(room: room(), timeoutMs: 300_000))) == nil)
        #expect(
            fault(.matchRoom(MatchRoom(room: room(), timeoutMs: 300_001)))
                == "matchRoom.timeoutMs: at most 300000, got 300001")
    }

    @Test func playersOfAllCalls() {
        let good = PlayerConfig(customStatus: .min, customProperties: text(2048))
        let bad = PlayerConfig(customProperties: text(2049))
        let message = "player.customProperties: at most 2048 bytes, got 2049"
        #expect(fault(.createRoom(CreateRoom(room: room(), player: good))) == nil)
        #expect(fault(.matchRoom(MatchRoom(room: room(), player: good))) == nil)
        #expect(fault(.joinRoom(JoinRoom(roomId: "r", player: good))) == nil)
        #expect(fault(.createRoom(CreateRoom(room: room(), player: bad))) == "createRoom.\(message)")
        #expect(fault(.matchRoom(MatchRoom(room: room(), player: bad))) == "matchRoom.\(message)")
        #expect(fault(.joinRoom(JoinRoom(roomId: "r", player: bad))) == "joinRoom.\(message)")
        #expect(fault(.joinRoom(JoinRoom())) == "joinRoom.roomId: required, got none")
    }

    @Test func propertiesAndTheList() {
        #expect(fault(.updateRoomProperties(UpdateRoomProperties())) == nil)
        #expect(
            fault(.updateRoomProperties(UpdateRoomProperties(name: text(64), customProperties: text(2048)))) == nil)
        #expect(
            fault(.updateRoomProperties(UpdateRoomProperties(name: text(65))))
                == "updateRoomProperties.name: at most 64 bytes, got 65")
        #expect(
            fault(.updateRoomProperties(UpdateRoomProperties(customProperties: text(2049))))
                == "updateRoomProperties.customProperties: at most 2048 bytes, got 2049")
        let properties = { UpdatePlayerCustomProperties(properties: text($0)) }
        #expect(fault(.updatePlayerCustomProperties(properties(2048))) == nil)
        #expect(
            fault(.updatePlayerCustomProperties(properties(2049)))
                == "updatePlayerCustomProperties.properties: at most 2048 bytes, got 2049")
        #expect(fault(.getRoomList(GetRoomList(limit: 100))) == nil)
        #expect(fault(.getRoomList(GetRoomList(limit: 101))) == "getRoomList.limit: at most 100, got 101")
        #expect(fault(.connect(Connect(client: text(128)))) == nil)
        #expect(fault(.connect(Connect(client: text(129)))) == "connect.client: at most 128 bytes, got 129")
    }

    @Test func customMessages() {
        func send(_ size: Int, _ type: UInt32 = 0, _ receivers: [String] = []) -> String? {
            fault(.sendCustomMessage(SendCustomMessage(msg: text(size), type: type, receivers: receivers)))
        }
        let ids = (0..<21).map { "player\($0)" }
        #expect(send(1) == nil)
        #expect(send(2048) == nil)
        #expect(send(0) == "sendCustomMessage.msg: 1…2048 bytes, got 0")
        #expect(send(2049) == "sendCustomMessage.msg: 1…2048 bytes, got 2049")
        #expect(send(1, 2) == "sendCustomMessage.type: 0 or 1, got 2")
        #expect(send(1, 0, ids) == nil, "receivers are ignored when everyone is meant")
        #expect(send(1, 1, Array(ids[..<1])) == nil)
        #expect(send(1, 1, Array(ids[..<20])) == nil)
        #expect(send(1, 1, ids) == "sendCustomMessage.receivers: 1…20 ids, got 21")
        #expect(send(1, 1) == "sendCustomMessage.receivers: 1…20 ids, got 0")
        #expect(send(1, 1, Array(ids[..<20] + ids[..<20])) == nil, "repeated ids count once")
    }

    @Test func framesHashesAndSnapshots() {
        #expect(fault(.getFrames(GetFrames(first: 1, last: 1))) == nil)
        #expect(fault(.getFrames(GetFrames(first: 0, last: 1))) == "getFrames.first: at least 1, got 0")
        #expect(fault(.getFrames(GetFrames(first: 3, last: 2))) == "getFrames.first: at most last (2), got 3")
        func hash(_ size: Int) -> String? {
            fault(.reportFrameHash(ReportFrameHash(frameId: 1, hash: [UInt8](repeating: 0, count: size))))
        }
        #expect(hash(1) == nil)
        #expect(hash(32) == nil)
        #expect(hash(0) == "reportFrameHash.hash: 1…32 bytes, got 0")
        #expect(hash(33) == "reportFrameHash.hash: 1…32 bytes, got 33")
        func state(_ size: Int) -> String? {
            fault(.putSnapshot(PutSnapshot(frameId: 1, state: [UInt8](repeating: 0, count: size))))
        }
        #expect(state(0) == nil)
        #expect(state(65_536) == nil)
        #expect(state(65_537) == "putSnapshot.state: at most 65536 bytes, got 65537")
    }

    @Test func inputsHaveACodeOfTheirOwn() {
        let inputs: [(SendFrameInput.Payload?, String?)] = [
            (nil, nil), (.data(""), nil), (.dataBytes([]), nil), (.data(text(1024)), nil),
            (.dataBytes([UInt8](repeating: 0, count: 1024)), nil),
            (.data(text(1025)), "sendFrameInput.data: at most 1024 bytes, got 1025"),
            (
                .dataBytes([UInt8](repeating: 0, count: 1025)),
                "sendFrameInput.dataBytes: at most 1024 bytes, got 1025"
            ),
        ]
        for (payload, message) in inputs {
            let input = SendFrameInput(payload: payload)
            #expect(RequestRules.violation(of: .sendFrameInput(input), limits: Limits()) == nil)
            let refusal = RequestRules.oversize(of: input, limits: Limits())
            #expect(refusal?.message == message)
            #expect(refusal == nil || refusal?.code == .frameInputTooLarge)
        }
    }

    @Test func limitsAreSettings() {
        var limits = Limits()
        limits.playersPerRoom = 30
        limits.roomTypeBytes = 3
        #expect(fault(.createRoom(CreateRoom(room: RoomConfig(maxPlayerCount: 30, type: "abc"))), limits) == nil)
        #expect(
            fault(.createRoom(CreateRoom(room: RoomConfig(maxPlayerCount: 31, type: "abc"))), limits)
                == "createRoom.room.maxPlayerCount: 1…30, got 31")
        #expect(
            fault(.createRoom(CreateRoom(room: RoomConfig(maxPlayerCount: 30, type: "abcd"))), limits)
                == "createRoom.room.type: 1…3 bytes, got 4")
    }
}
