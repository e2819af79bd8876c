/// Messages around frames that are kept in Protobuf: a frame is encoded once, however often it is sent.
extension Encoding {
    /// `ServerMessage` with a `frame` body around one `Frame` in Protobuf.
    /// - Throws: when the stored bytes are no frame; in Protobuf they are not looked at.
    public func encode(storedFrame frame: [UInt8], seq: UInt64) throws(WireError) -> [UInt8] {
        switch self {
        case .json:
            let frame = try Encoding.protobuf.decode(Frame.self, from: frame)
            return encode(ServerMessage(seq: seq, body: .frame(frame)))
        case .protobuf:
            var writer = ProtobufWriter()
            writer.bytes.reserveCapacity(frame.count + 32)
            var seq = seq
            try writer.envelope(2, "seq", &seq)
            writer.blob(24, frame)
            return writer.bytes
        }
    }

    /// `ServerMessage` with a `frames` body around `Frame`s in Protobuf.
    /// - Throws: when the stored bytes are no frames; in Protobuf they are not looked at.
    public func encode(
        storedFrames frames: some Collection<[UInt8]>, firstKept: UInt32, partial: Bool, frameSyncId: UInt32,
        id: UInt32 = 0, seq: UInt64 = 0
    ) throws(WireError) -> [UInt8] {
        var head = ServerMessage(id: id, seq: seq)
        var rest = Frames(firstKept: firstKept, partial: partial, frameSyncId: frameSyncId)
        switch self {
        case .json:
            for frame in frames { rest.frames.append(try Encoding.protobuf.decode(Frame.self, from: frame)) }
            head.body = .frames(rest)
            return encode(head)
        case .protobuf:
            var writer = ProtobufWriter()
            writer.bytes.reserveCapacity(frames.reduce(64) { $0 + $1.count + 4 })
            try head.visit(&writer)
            let start = writer.open(26)
            for frame in frames { writer.blob(1, frame) }
            try rest.visit(&writer)
            writer.close(start)
            return writer.bytes
        }
    }
}
