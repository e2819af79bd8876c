import HoldfastProtocol
import Testing

@Suite struct StoredFramesTests {
    @Test(arguments: Encoding.allCases)
    func storedFramesAreSentAsIfTheyHadBeenDecoded(encoding: Encoding) throws {
        for count in [0, 1, 3, 600] {
            let frames = try (0..<count).map { try RandomMessage.make(Frame.self, seed: UInt64($0)) }
            let stored = frames.map { Encoding.protobuf.encode($0) }
            let bytes = try encoding.encode(
                storedFrames: stored, firstKept: 5, partial: true, frameSyncId: 2, id: 9, seq: 1000)
            let body = Frames(frames: frames, firstKept: 5, partial: true, frameSyncId: 2)
            #expect(bytes == encoding.encode(ServerMessage(id: 9, seq: 1000, body: .frames(body))))
        }
    }

    @Test(arguments: Encoding.allCases)
    func aStoredFrameIsSentAsIfItHadBeenDecoded(encoding: Encoding) throws {
        for seed in 0..<50 {
            let frame = try RandomMessage.make(Frame.self, seed: UInt64(seed))
            let bytes = try encoding.encode(storedFrame: Encoding.protobuf.encode(frame), seq: 77)
            #expect(bytes == encoding.encode(ServerMessage(seq: 77, body: .frame(frame))))
        }
    }

    @Test func whatIsNoFrameIsNotMadeJSON() {
        #expect(throws: WireError.self) { try Encoding.json.encode(storedFrame: [0x08], seq: 1) }
    }
}
