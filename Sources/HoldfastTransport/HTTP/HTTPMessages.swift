/// Header fields in the order in which they came. Names are lower case.
public struct HTTPHeaders: Sendable, Equatable {
    /// All, in order; a name may stand more than once.
    public private(set) var fields: [(name: String, value: String)] = []

    /// None.
    public init() {}

    /// These; names are made lower case.
    public init(_ fields: [(String, String)]) {
        for field in fields { add(field.0, field.1) }
    }

    /// Puts one at the end.
    public mutating func add(_ name: String, _ value: String) {
        fields.append((name.lowercased(), value))
    }

    /// The first value of a name (in lower case).
    public subscript(_ name: String) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// All values of a name (in lower case), split at commas, without the blanks around them.
    public func list(_ name: String) -> [String] {
        fields.filter { $0.name == name }.flatMap { field in
            field.value.split(separator: ",").map { Text.trimmed($0) }.filter { !$0.isEmpty }
        }
    }

    /// Whether the comma-separated list of a name has this token, whatever its case.
    public func hasToken(_ name: String, _ token: String) -> Bool {
        list(name).contains { $0.lowercased() == token }
    }

    public static func == (left: HTTPHeaders, right: HTTPHeaders) -> Bool {
        left.fields.elementsEqual(right.fields) { $0.name == $1.name && $0.value == $1.value }
    }
}

/// One complete request.
public struct HTTPRequest: Sendable, Equatable {
    /// As sent: `GET`, `POST`, …
    public var method: String
    /// The path of the target, not percent-decoded; begins with `/` (or is `*`).
    public var path: String
    /// What stands behind `?`, not decoded; nil without `?`.
    public var query: String?
    /// All header fields.
    public var headers: HTTPHeaders
    /// The whole body.
    public var body: [UInt8]
    /// Whether the connection may live on after the answer.
    public var keepsAlive: Bool
    /// The HTTP version is 1.minor.
    public var minorVersion: Int
    /// The peer's address without port.
    public var remoteAddress: String

    /// A request, as a test would make it.
    public init(
        method: String = "GET", path: String = "/", query: String? = nil, headers: HTTPHeaders = HTTPHeaders(),
        body: [UInt8] = [], keepsAlive: Bool = true, minorVersion: Int = 1, remoteAddress: String = ""
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
        self.keepsAlive = keepsAlive
        self.minorVersion = minorVersion
        self.remoteAddress = remoteAddress
    }

    /// The query's first value of a name, percent-decoded and with `+` as blank; nil if it is not there or is not
    /// UTF-8.
    public func queryValue(_ name: String) -> String? {
        for part in (query ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = pair.first, Text.percentDecoded(key, plusIsBlank: true) == name else { continue }
            return pair.count == 2 ? Text.percentDecoded(pair[1], plusIsBlank: true) : ""
        }
        return nil
    }

    /// The path split at `/` and percent-decoded; nil if a part is not UTF-8 or badly encoded.
    public var pathParts: [String]? {
        var parts: [String] = []
        for part in path.split(separator: "/") {
            guard let decoded = Text.percentDecoded(part, plusIsBlank: false) else { return nil }
            parts.append(decoded)
        }
        return parts
    }
}

/// One complete answer. `content-length` and `connection` are added by the server.
public struct HTTPResponse: Sendable {
    /// 200, 404, …
    public var status: Int
    /// Further header fields. Control characters in values are sent as blanks.
    public var headers: HTTPHeaders
    /// The whole body; left out for HEAD.
    public var body: [UInt8]

    /// An answer of bytes.
    public init(_ status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// An answer of text with a content type.
    public init(_ status: Int, text: String, contentType: String = "text/plain; charset=utf-8") {
        self.init(status, headers: HTTPHeaders([("content-type", contentType)]), body: Array(text.utf8))
    }

    /// The bytes on the wire.
    func serialized(isHead: Bool, closes: Bool, sendsLength: Bool = true) -> PreparedFrame {
        var head = "HTTP/1.1 \(status) \(HTTPStatus.reason(status))\r\n"
        for field in headers.fields {
            head += "\(Text.headerSafe(field.name)): \(Text.headerSafe(field.value))\r\n"
        }
        if sendsLength {
            head += "content-length: \(body.count)\r\n"
            head += closes ? "connection: close\r\n" : "connection: keep-alive\r\n"
        }
        head += "\r\n"
        var bytes = Array(head.utf8)
        if !isHead { bytes += body }
        return bytes.withUnsafeBytes { PreparedFrame(raw: $0) }
    }
}
