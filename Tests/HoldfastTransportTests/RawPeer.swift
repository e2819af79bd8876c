import Glibc

/// A plain blocking socket of a test: says exactly the bytes it is told to.
final class RawPeer {
    private let socket: Int32
    private(set) var received: [UInt8] = []

    struct Failure: Error {}

    init(port: UInt16, receiveBuffer: Int32? = nil) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw Failure() }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var size = receiveBuffer {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            Glibc.close(socket)
            throw Failure()
        }
    }

    deinit {
        Glibc.close(socket)
    }

    /// Sends all; false when the other side is gone or took nothing for 20 s.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Takes in what comes next; false at the end of the stream (or after 20 s, or a reset).
    func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        received += buffer[..<count]
        return true
    }

    /// Reads to the end of the stream.
    func readAll() -> [UInt8] {
        while read() {}
        return received
    }

    /// Reads until `count` bytes are there and takes them off.
    func take(_ count: Int) throws -> [UInt8] {
        while received.count < count { guard read() else { throw Failure() } }
        defer { received.removeFirst(count) }
        return Array(received[..<count])
    }

    /// Reads up to an empty line and takes it off.
    func takeHead() throws -> String {
        let end: [UInt8] = [13, 10, 13, 10]
        while true {
            if let index = received.indices.dropLast(3).first(where: { received[$0..<($0 + 4)].elementsEqual(end) }) {
                return String(decoding: try take(index + 4), as: UTF8.self)
            }
            guard read() else { throw Failure() }
        }
    }

    /// One answer with a `content-length`: status line and body.
    func takeResponse() throws -> (head: String, body: String) {
        let head = try takeHead()
        let length = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
        let count = length.flatMap { Int($0.dropFirst(16)) } ?? 0
        return (head, String(decoding: try take(count), as: UTF8.self))
    }

    /// One unmasked frame of a server: first byte and payload.
    func takeFrame() throws -> (first: UInt8, payload: [UInt8]) {
        let head = try take(2)
        var count = Int(head[1])
        if count == 126 { count = try take(2).reduce(0) { $0 << 8 | Int($1) } }
        if count == 127 { count = try take(8).reduce(0) { $0 << 8 | Int($1) } }
        return (head[0], try take(count))
    }

    /// Whether the other side has closed; waits at most so long.
    func hasEnded(withinMs ms: Int32) -> Bool {
        var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, ms) > 0 else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK)) <= 0
    }

    func endSending() {
        shutdown(socket, Int32(SHUT_WR))
    }

    /// Closes with a reset instead of an orderly end, when let go.
    func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Asks for a WebSocket and takes the answer, which must be 101.
    func upgrade(_ path: String = "/echo", extra: String = "") throws {
        send(RawPeer.upgradeRequest(path, extra: extra))
        guard try takeHead().hasPrefix("HTTP/1.1 101 ") else { throw Failure() }
    }

    static func upgradeRequest(
        _ path: String = "/echo", version: String = "13", key: String = "dGhlIHNhbXBsZSBub25jZQ==", extra: String = ""
    ) -> String {
        "GET \(path) HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
            + "Sec-WebSocket-Version: \(version)\r\nSec-WebSocket-Key: \(key)\r\n\(extra)\r\n"
    }
}

/// Frames as a client sends them, also wrong ones.
enum Wire {
    static func frame(
        _ opcode: UInt8, _ payload: [UInt8] = [], isFinal: Bool = true, reserved: UInt8 = 0, isMasked: Bool = true
    ) -> [UInt8] {
        let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]
        var bytes = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode]
        let maskBit: UInt8 = isMasked ? 0x80 : 0
        switch payload.count {
        case ..<126: bytes.append(maskBit | UInt8(payload.count))
        case ..<65_536: bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 255)]
        default: bytes += [maskBit | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
        }
        guard isMasked else { return bytes + payload }
        return bytes + mask + payload.enumerated().map { $0.element ^ mask[$0.offset & 3] }
    }

    static func text(_ text: String) -> [UInt8] { frame(1, Array(text.utf8)) }

    static func close(_ code: UInt16, _ reason: String = "") -> [UInt8] {
        frame(8, [UInt8(code >> 8), UInt8(code & 255)] + Array(reason.utf8))
    }
}
