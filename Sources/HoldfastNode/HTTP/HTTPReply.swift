internal import HoldfastProtocol

/// A whole answer to a plain HTTP request, before it is written. `Content-Length` and `Connection` are the server's.
struct HTTPReply: Equatable, Sendable {
    var status: Int
    var headers: [Header]
    var body: [UInt8]

    struct Header: Equatable, Sendable {
        var name: String
        var value: String
    }

    init(status: Int, type: String?, headers: [Header] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = (type.map { [Header(name: "Content-Type", value: $0)] } ?? []) + headers
        self.headers.append(Header(name: "X-Content-Type-Options", value: "nosniff"))
        self.body = body
    }

    /// The first header of that name, whatever its case.
    subscript(name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Something that changes from one moment to the next.
    static func live(_ status: Int, type: String = ContentType.text, _ text: String) -> HTTPReply {
        HTTPReply(
            status: status, type: type, headers: [Header(name: "Cache-Control", value: "no-store")],
            body: Array(text.utf8))
    }

    /// An error as auth.md has it: `{"error":{"code":…,"message":…}}`.
    static func error(_ status: Int, _ code: ErrorCode, _ message: String, headers: [Header] = []) -> HTTPReply {
        let text = "{\"error\":{\"code\":\(code.rawValue),\"message\":\(JSONText.quoted(message))}}"
        return HTTPReply(
            status: status, type: ContentType.json,
            headers: headers + [Header(name: "Cache-Control", value: "no-store")], body: Array(text.utf8))
    }

    static func redirect(to path: String) -> HTTPReply {
        HTTPReply(status: 307, type: nil, headers: [Header(name: "Location", value: path)])
    }
}
