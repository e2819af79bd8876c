import HoldfastProtocol
import Testing

@Suite struct ProtobufReaderTests {
    private func read<M: WireMessage>(_ type: M.Type, _ bytes: [UInt8]) throws -> M {
        try Encoding.protobuf.decode(type, from: bytes)
    }

    @Test func knownBytes() throws {
        let message = ClientMessage(id: 150, body: .ping(Ping(clientTime: -1)))
        let bytes: [UInt8] = [0x08, 0x96, 0x01, 0x22, 11, 0x08] + [UInt8](repeating: 0xff, count: 9) + [0x01]
        #expect(Encoding.protobuf.encode(message) == bytes)
        #expect(try read(ClientMessage.self, bytes) == message)
        #expect(Encoding.protobuf.encode(UpdateRoomProperties(name: "")) == [0x0a, 0])
        #expect(Encoding.protobuf.encode(PlayerInfo()) == [])
        #expect(Encoding.protobuf.encode(SendFrameInput(payload: .data(""))) == [0x0a, 0])
        #expect(
            Encoding.protobuf.encode(BattleRequested(results: ["b": 0, "a": -1])).starts(with: [
                0x12, 14, 0x0a, 1, 0x61,
            ]))
    }

    /// A nested length of one, two and three bytes, and at each edge.
    @Test(arguments: [0, 1, 122, 123, 124, 125, 126, 127, 128, 129, 16_370, 16_377, 16_380, 16_384, 70_000])
    func nestedLengthsOfAnySize(size: Int) throws {
        let put = PutSnapshot(state: [UInt8](repeating: 7, count: size))
        let message = ClientMessage(id: 1, body: .putSnapshot(put))
        let bytes = Encoding.protobuf.encode(message)
        #expect(try read(ClientMessage.self, bytes) == message)
        let body = Encoding.protobuf.encode(put)
        #expect(bytes == [0x08, 1, 0xe2, 0x01] + varint(body.count) + body)
    }

    private func varint(_ value: Int) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7f) | 0x80] + varint(value >> 7)
    }

    @Test func varintsAreCutToTheirField() throws {
        let wide: [UInt8] = [0x81, 0x80, 0x80, 0x80, 0x70]  // 0x7_0000_0001
        #expect(try read(GetRoomList.self, [0x18] + wide).limit == 1)
        #expect(try read(UpdatePlayerCustomStatus.self, [0x08] + wide).status == 1)
        #expect(try read(UpdatePlayerCustomStatus.self, [0x08, 0xff, 0xff, 0xff, 0xff, 0x0f]).status == -1)
        #expect(try read(JoinRoom.self, [0x18, 0x80, 0x80, 0x80, 0x80, 0x10]).asSpectator)
        #expect(try read(JoinRoom.self, [0x18, 0x80, 0x00]).asSpectator == false)
        // Bits over 64 are dropped, more than ten bytes are a fault.
        let ten = [UInt8](repeating: 0xff, count: 9)
        #expect(try read(SessionPosition.self, [0x10] + ten + [0x7f]).seq == .max)
        #expect(throws: WireError.self) { try read(SessionPosition.self, [0x10] + ten + [0x80, 0x00]) }
    }

    @Test func theLastScalarWinsAndMessagesMerge() throws {
        #expect(try read(GetRoomList.self, [0x18, 1, 0x18, 2, 0x12, 1, 0x61, 0x12, 1, 0x62]).limit == 2)
        #expect(try read(GetRoomList.self, [0x12, 1, 0x61, 0x12, 1, 0x62]).offset == "b")
        let first = Encoding.protobuf.encode(CreateRoom(room: RoomConfig(maxPlayerCount: 4, matchParams: ["a": "1"])))
        let second = Encoding.protobuf.encode(
            CreateRoom(room: RoomConfig(type: "duel", matchParams: ["a": "2", "b": "3"])))
        let room = RoomConfig(maxPlayerCount: 4, type: "duel", matchParams: ["a": "2", "b": "3"])
        #expect(try read(CreateRoom.self, first + second).room == room)
        // The same body twice goes on too.
        let one = Encoding.protobuf.encode(
            ClientMessage(body: .sendCustomMessage(SendCustomMessage(msg: "m", receivers: ["a"]))))
        let two = Encoding.protobuf.encode(
            ClientMessage(id: 4, body: .sendCustomMessage(SendCustomMessage(receivers: ["b"]))))
        let merged = SendCustomMessage(msg: "m", receivers: ["a", "b"])
        #expect(try read(ClientMessage.self, one + two) == ClientMessage(id: 4, body: .sendCustomMessage(merged)))
    }

    @Test func theLastPayloadWinsAndTwoBodiesAreRefused() throws {
        let twice = Encoding.protobuf.encode(Frame(inputs: [FrameInput(payload: .data("x"))]))
        var input = Array(twice[2...])
        input += [0x1a, 1, 9]
        let frame = try read(Frame.self, [0x12, UInt8(input.count)] + input)
        #expect(frame.inputs == [FrameInput(payload: .dataBytes([9]))])
        #expect(throws: WireError.self) { try read(ClientMessage.self, [0x22, 0, 0x7a, 0]) }
    }

    @Test func aMapEntryMayLackItsParts() throws {
        #expect(try read(BattleRequested.self, [0x12, 0]).results == ["": 0])
        #expect(try read(BattleRequested.self, [0x12, 2, 0x10, 5]).results == ["": 5])
        #expect(try read(BattleRequested.self, [0x12, 7, 0x10, 5, 0x0a, 1, 0x61, 0x10, 6]).results == ["a": 6])
        #expect(try read(RoomConfig.self, [0x2a, 5, 0x0a, 1, 0x61, 0x18, 1]).matchParams == ["a": ""])
    }

    @Test(
        arguments: [
            [0xf8, 0x3f, 0x80, 0x01], [0xf9, 0x3f, 1, 2, 3, 4, 5, 6, 7, 8], [0xfa, 0x3f, 2, 0xff, 0xff],
            [0xfd, 0x3f, 1, 2, 3, 4],
            [0xfb, 0x3f, 0xfc, 0x3f], [0xfb, 0x3f, 0x08, 1, 0x0b, 0x0c, 0x12, 1, 0xff, 0xfc, 0x3f],
            // Known fields with another wire type.
            [0x0a, 1, 0x61], [0x0d, 1, 2, 3, 4], [0x09, 1, 2, 3, 4, 5, 6, 7, 8], [0x0b, 0x0c], [0x22 & 0xf8, 5],
        ] as [[UInt8]])
    func unknownFieldsAreSkipped(bytes: [UInt8]) throws {
        #expect(try read(ClientMessage.self, bytes + [0x08, 3]) == ClientMessage(id: 3))
        #expect(try read(ClientMessage.self, [0x08, 3] + bytes) == ClientMessage(id: 3))
        for length in 1..<bytes.count {
            #expect(throws: WireError.self) { try read(ClientMessage.self, Array(bytes[..<length])) }
        }
    }

    @Test(
        arguments: [
            [0x00], [0x00, 0x01], [0x02, 0x00], [0x0e, 1], [0x0f, 1], [0x0c], [0x08], [0x08, 0x80], [0x80], [0x12],
            [0x12, 0x80], [0x12, 2, 0x0a],
            [0x12, 0xff, 0xff, 0xff, 0xff, 0x0f], [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
            [0x80, 0x80, 0x80, 0x80, 0x10, 0], [0x88, 0x80, 0x80, 0x80, 0x80, 0x00, 0x01], [0x0b], [0x0b, 0x14],
            [0xfb, 0x3f, 0x0c],
            // A nested message that ends inside a field, although the bytes go on.
            [0x22, 1, 0x08, 0x05], [0x12, 2, 0x0a, 1, 0x61], [0x22, 1, 0x0b, 0x0c],
        ] as [[UInt8]])
    func whatIsNoMessageIsRefused(bytes: [UInt8]) {
        if bytes == [0x88, 0x80, 0x80, 0x80, 0x80, 0x00, 0x01] {
            #expect((try? read(ClientMessage.self, bytes)) == ClientMessage(id: 1))
        } else {
            #expect(throws: WireError.self) { try read(ClientMessage.self, bytes) }
        }
    }

    @Test func groupsAreSkippedToALimit() throws {
        func nested(_ depth: Int) -> [UInt8] {
            [UInt8](repeating: 0x0b, count: depth) + [UInt8](repeating: 0x0c, count: depth)
        }
        #expect(try read(ClientMessage.self, nested(100) + [0x08, 1]).id == 1)
        #expect(throws: WireError.self) { try read(ClientMessage.self, nested(101)) }
        #expect(throws: WireError.self) { try read(ClientMessage.self, [UInt8](repeating: 0x0b, count: 100_000)) }
    }

    @Test func textIsUTF8() throws {
        #expect(try read(JoinSession.self, [0x0a, 2, 0xc3, 0xa9]).token == "é")
        for bad: [UInt8] in [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf4, 0x90, 0x80, 0x80]] {
            #expect(throws: WireError.self) { try read(JoinSession.self, [0x0a, UInt8(bad.count)] + bad) }
            #expect(throws: WireError.self) {
                try read(SendCustomMessage.self, [0x1a, 1, 0x61, 0x1a, UInt8(bad.count)] + bad)
            }
        }
        do {
            _ = try read(SendCustomMessage.self, [0x1a, 1, 0x61, 0x1a, 1, 0xff])
        } catch let error as WireError {
            #expect(error.message == "receivers[1]: expected UTF-8, got 1 bytes that are not")
        }
    }

    /// Merging the same body again and again takes time in the length only.
    @Test(.timeLimit(.minutes(1)))
    func aBodyInManyPieces() throws {
        let piece = Encoding.protobuf.encode(
            ClientMessage(body: .sendCustomMessage(SendCustomMessage(receivers: ["a"]))))
        var bytes: [UInt8] = []
        for _ in 0..<100_000 { bytes += piece }
        guard case .sendCustomMessage(let message) = try read(ClientMessage.self, bytes).body else {
            Issue.record("another body")
            return
        }
        #expect(message.receivers.count == 100_000)
    }
}
