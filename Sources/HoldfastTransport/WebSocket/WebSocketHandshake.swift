import COpenSSL

/// The opening handshake of RFC 6455, without a socket.
enum WebSocketHandshake {
    enum Verdict: Equatable {
        /// Not a request for a WebSocket.
        case none
        case acceptable(key: String, subprotocols: [String])
        case refused(status: Int)
    }

    private static let guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// What a server has to say to a request.
    static func judge(_ request: HTTPRequest) -> Verdict {
        let headers = request.headers
        guard headers.hasToken("upgrade", "websocket") else { return .none }
        guard request.method == "GET", request.minorVersion >= 1, headers.hasToken("connection", "upgrade") else {
            return .refused(status: 400)
        }
        guard headers["sec-websocket-version"] == "13" else { return .refused(status: 426) }
        let keys = headers.fields.filter { $0.name == "sec-websocket-key" }
        guard keys.count == 1, let key = keys.first?.value, isKey(key) else { return .refused(status: 400) }
        return .acceptable(key: key, subprotocols: headers.list("sec-websocket-protocol"))
    }

    /// 16 bytes in base64: 22 digits and two `=`.
    static func isKey(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        guard bytes.count == 24, bytes.suffix(2) == [UInt8(ascii: "="), UInt8(ascii: "=")] else { return false }
        return bytes.prefix(22).allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }

    /// The server's proof that it understood the key.
    static func accept(_ key: String) -> String {
        let text = Array((key + guid).utf8)
        var digest = [UInt8](repeating: 0, count: Int(SHA_DIGEST_LENGTH))
        SHA1(text, text.count, &digest)
        return base64(digest)
    }

    static func makeKey() -> String {
        var masks = MaskSource()
        let words = (0..<4).map { _ in masks.next() }
        return base64(words.withUnsafeBytes { Array($0) })
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var out: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let count = min(3, bytes.count - index)
            var word = 0
            for offset in 0..<3 { word = word << 8 | (offset < count ? Int(bytes[index + offset]) : 0) }
            for digit in 0..<4 {
                out.append(digit <= count ? digits[word >> (18 - 6 * digit) & 63] : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: out, as: UTF8.self)
    }
}
