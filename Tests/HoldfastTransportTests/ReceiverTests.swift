import Testing

@testable import HoldfastTransport

/// What a receiver finds.
enum Found: Equatable {
    case message(WebSocketKind, [UInt8])
    case ping([UInt8])
    case close(UInt16, String)
    case fault(WebSocketFault)
}

final class FoundSink: WebSocketReceiverSink {
    var found: [Found] = []
    var onMessage: (() -> Void)?

    func receiverFound(message: UnsafeRawBufferPointer, kind: WebSocketKind) {
        found.append(.message(kind, Array(message)))
        onMessage?()
    }

    func receiverFound(ping: UnsafeRawBufferPointer) { found.append(.ping(Array(ping))) }

    func receiverFound(close code: UInt16, reason: String) { found.append(.close(code, reason)) }

    func receiverFound(fault: WebSocketFault) { found.append(.fault(fault)) }
}

/// Feeds bytes in pieces of a size and tells what was found.
func receive(_ bytes: [UInt8], pieces: Int, isServer: Bool = true, limit: Int = 1000) -> [Found] {
    let sink = FoundSink()
    let receiver = WebSocketReceiver(isServer: isServer, maxMessageBytes: limit)
    receiver.sink = sink
    var rest = bytes[...]
    while !rest.isEmpty {
        rest.prefix(pieces).withUnsafeBytes { receiver.feed($0) }
        rest = rest.dropFirst(pieces)
    }
    return sink.found
}

@Suite struct ReceiverTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        let expected: [Found]
        var testDescription: String { name }

        init(_ name: String, _ bytes: [UInt8], _ expected: Found...) {
            self.name = name
            self.bytes = bytes
            self.expected = expected
        }
    }

    static let big = [UInt8](repeating: 65, count: 999)
    /// Computed, because the leak sanitizer takes the bytes of a global table for lost.
    static var cases: [Case] {
        [
            Case("text", Wire.text("hi"), .message(.text, Array("hi".utf8))),
            Case("empty text", Wire.text(""), .message(.text, [])),
            Case("binary", Wire.frame(2, [0, 255]), .message(.binary, [0, 255])),
            Case("two", Wire.text("a") + Wire.text("b"), .message(.text, [97]), .message(.text, [98])),
            Case(
                "fragments with a ping between",
                Wire.frame(1, [97], isFinal: false) + Wire.frame(9, [1]) + Wire.frame(0, [], isFinal: false)
                    + Wire.frame(0, [98]), .ping([1]), .message(.text, [97, 98])),
            Case(
                "a character split over fragments", Wire.frame(1, [0xC3], isFinal: false) + Wire.frame(0, [0xA9]),
                .message(.text, [0xC3, 0xA9])),
            Case(
                "an empty first fragment", Wire.frame(2, [], isFinal: false) + Wire.frame(0, [7]),
                .message(.binary, [7])),
            Case("as large as may be", Wire.frame(2, big + [66]), .message(.binary, big + [66])),
            Case("pong", Wire.frame(10, [1, 2]) + Wire.text("x"), .message(.text, [120])),
            Case("close", Wire.close(1001, "bye") + Wire.text("x"), .close(1001, "bye")),
            Case("close without a code", Wire.frame(8), .close(1005, "")),
            Case("close of an application", Wire.close(4000), .close(4000, "")),
            Case("close of a service", Wire.close(1012, "later"), .close(1012, "later")),
            Case(
                "close in the midst of a message", Wire.frame(1, [97], isFinal: false) + Wire.close(1000),
                .close(1000, "")),
            Case("too large", Wire.frame(2, big + [1, 2]), .fault(.messageTooLarge)),
            Case(
                "too large over fragments", Wire.frame(2, big, isFinal: false) + Wire.frame(0, [1, 2]),
                .fault(.messageTooLarge)),
            Case(
                "too large by fragments and a control frame",
                Wire.frame(2, big, isFinal: false) + Wire.frame(9, [1]) + Wire.frame(0, [1, 2]), .ping([1]),
                .fault(.messageTooLarge)),
            Case(
                "huge length", [0x82, 0xFF, 0x7F, 255, 255, 255, 255, 255, 255, 255, 1, 2, 3, 4, 0],
                .fault(.messageTooLarge)),
            Case(
                "length with the top bit", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4], .fault(.protocolError)),
            Case("length not in the shortest form", [0x82, 0xFE, 0, 1, 0, 0, 0, 0, 9], .fault(.protocolError)),
            Case("not UTF-8", Wire.frame(1, [0xFF]), .fault(.invalidUTF8)),
            Case("a surrogate", Wire.frame(1, [0xED, 0xA0, 0x80]), .fault(.invalidUTF8)),
            Case("ends within a character", Wire.frame(1, [0xC3]), .fault(.invalidUTF8)),
            Case("close reason not UTF-8", Wire.frame(8, [3, 232, 0xFF]), .fault(.invalidUTF8)),
            Case("unmasked", Wire.frame(1, [97], isMasked: false), .fault(.protocolError)),
            Case("reserved bit", Wire.frame(1, [97], reserved: 4), .fault(.protocolError)),
            Case("reserved opcode", Wire.frame(3, [97]), .fault(.protocolError)),
            Case("reserved control opcode", Wire.frame(11, [97]), .fault(.protocolError)),
            Case("continuation of nothing", Wire.frame(0, [97]), .fault(.protocolError)),
            Case(
                "a new message within one", Wire.frame(1, [97], isFinal: false) + Wire.text("b"), .fault(.protocolError)
            ),
            Case("fragmented ping", Wire.frame(9, [], isFinal: false), .fault(.protocolError)),
            Case("long ping", Wire.frame(9, [UInt8](repeating: 0, count: 126)), .fault(.protocolError)),
            Case("close with one byte", Wire.frame(8, [3]), .fault(.protocolError)),
            Case("close with a forbidden code", Wire.close(1005), .fault(.protocolError)),
            Case("close with a code that is too small", Wire.close(999), .fault(.protocolError)),
        ]
    }

    @Test(arguments: cases) func rule(_ item: Case) {
        for pieces in [1, 2, 3, 7, item.bytes.count] {
            #expect(receive(item.bytes, pieces: pieces) == item.expected, "in pieces of \(pieces)")
        }
    }

    @Test func aCloseReasonInPiecesIsNoFault() {
        // wslay may lose the reason, and the code if its two bytes come apart.
        let bytes = Wire.close(1000, String(repeating: "é", count: 50))
        for pieces in 1...bytes.count {
            guard case .close(let code, let reason) = receive(bytes, pieces: pieces).first else {
                Issue.record("in pieces of \(pieces)")
                continue
            }
            #expect(code == 1000 || (code == 1005 && pieces == 7))
            #expect(reason.isEmpty || reason.count == 50)
        }
    }

    @Test func aClientWantsNoMasks() {
        #expect(receive(Wire.frame(1, [97], isMasked: false), pieces: 1, isServer: false) == [.message(.text, [97])])
        #expect(receive(Wire.frame(1, [97]), pieces: 1, isServer: false) == [.fault(.protocolError)])
    }

    @Test func pausedMessagesWaitAndNoneIsLost() {
        let sink = FoundSink()
        let receiver = WebSocketReceiver(isServer: true, maxMessageBytes: 1000)
        receiver.sink = sink
        sink.onMessage = { receiver.pause() }
        let bytes = (0..<200).flatMap { Wire.frame(2, [UInt8](repeating: UInt8($0), count: 100)) }
        bytes.withUnsafeBytes { receiver.feed($0) }
        #expect(sink.found.count < 60)
        while receiver.isPaused && sink.found.count < 200 {
            let before = sink.found.count
            receiver.resume()
            #expect(sink.found.count > before)
        }
        #expect(sink.found == (0..<200).map { .message(.binary, [UInt8](repeating: UInt8($0), count: 100)) })
    }

    @Test func stopWithinAMessageIsTheLast() {
        let sink = FoundSink()
        let receiver = WebSocketReceiver(isServer: true, maxMessageBytes: 1000)
        receiver.sink = sink
        sink.onMessage = { receiver.stop() }
        (Wire.text("a") + Wire.text("b") + Wire.close(1000)).withUnsafeBytes { receiver.feed($0) }
        #expect(sink.found == [.message(.text, [97])])
    }
}
