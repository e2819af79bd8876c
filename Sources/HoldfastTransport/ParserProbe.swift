/// The parsers of outside bytes without sockets, for the fuzz targets: they feed the same bytes in different pieces
/// and compare what was found.
@_spi(Fuzzing) public enum ParserProbe {
    /// Gives a WebSocket's receiver these bytes and tells what it finds, a line each.
    /// - Parameters:
    ///   - limit: the largest message.
    ///   - pieces: how many bytes come at a time (at least one); repeated.
    ///   - pauses: whether each message pauses the receiver.
    public static func webSocket(
        _ bytes: UnsafeRawBufferPointer, isServer: Bool, limit: Int, pieces: [UInt8], pauses: Bool
    ) -> [String] {
        let sink = ReceiverTranscript()
        let receiver = WebSocketReceiver(isServer: isServer, maxMessageBytes: limit)
        receiver.sink = sink
        if pauses { sink.onMessage = { receiver.pause() } }
        split(bytes, pieces) { piece in
            receiver.feed(piece)
            var rounds = 0
            while receiver.isPaused && rounds <= bytes.count {
                receiver.resume()
                rounds += 1
            }
            precondition(!receiver.isPaused, "a receiver that cannot go on")
            return !receiver.isDone
        }
        sink.onMessage = nil
        return sink.lines
    }

    /// Gives a server's request parser these bytes and tells what it finds, a line each.
    public static func http(_ bytes: UnsafeRawBufferPointer, pieces: [UInt8]) -> [String] {
        let parser = HTTPRequestParser(headerBytes: 2048, bodyBytes: 4096)
        var lines: [String] = []
        split(bytes, pieces) { piece in
            var rest = piece
            while !rest.isEmpty {
                let (taken, outcome) = parser.feed(rest)
                precondition(taken <= rest.count)
                rest = UnsafeRawBufferPointer(rebasing: rest[taken...])
                switch outcome {
                case .needsMore: precondition(rest.isEmpty)
                case .request(let request):
                    precondition(request.body.count <= 4096)
                    lines.append("\(request) \(WebSocketHandshake.judge(request))")
                    _ = request.pathParts
                    _ = request.queryValue("a")
                case .refused(let status):
                    lines.append("refused \(status)")
                    return false
                }
            }
            return true
        }
        return lines
    }

    /// Gives a client's parser of the answer to its handshake these bytes and tells what it finds.
    public static func answer(_ bytes: UnsafeRawBufferPointer, pieces: [UInt8]) -> [String] {
        var head = HTTPResponseHead()
        var taken = 0
        var lines: [String] = []
        split(bytes, pieces) { piece in
            taken += piece.count
            switch head.feed(piece) {
            case .needsMore: return true
            case .bad: lines.append("bad")
            case .complete(let early): lines.append("\(head.status) \(head.headers.fields) \(taken - early.count)")
            }
            return false
        }
        return lines
    }

    private static func split(
        _ bytes: UnsafeRawBufferPointer, _ pieces: [UInt8], _ body: (UnsafeRawBufferPointer) -> Bool
    ) {
        var rest = bytes
        var index = 0
        while !rest.isEmpty {
            let size = pieces.isEmpty ? rest.count : min(rest.count, max(1, Int(pieces[index % pieces.count])))
            guard body(UnsafeRawBufferPointer(rebasing: rest[..<size])) else { return }
            rest = UnsafeRawBufferPointer(rebasing: rest[size...])
            index += 1
        }
    }
}

private final class ReceiverTranscript: WebSocketReceiverSink {
    var lines: [String] = []
    var onMessage: (() -> Void)?

    func receiverFound(message: UnsafeRawBufferPointer, kind: WebSocketKind) {
        if kind == .text {
            precondition(String(validating: message, as: UTF8.self) != nil, "a text that is no text")
        }
        lines.append("\(kind) \(Array(message))")
        onMessage?()
    }

    func receiverFound(ping: UnsafeRawBufferPointer) { lines.append("ping \(Array(ping))") }

    func receiverFound(close code: UInt16, reason: String) { lines.append("close \(code) \(reason)") }

    func receiverFound(fault: WebSocketFault) { lines.append("\(fault)") }
}
