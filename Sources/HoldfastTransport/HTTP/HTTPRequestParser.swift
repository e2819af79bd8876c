import CHTTPParser

/// Takes a connection's bytes apart into requests, one at a time, over http-parser. No socket, no clock.
/// Loop-confined. It outlives each call into http-parser, whose `data` is an unretained pointer to it.
final class HTTPRequestParser {
    enum Outcome: Equatable {
        /// All bytes are taken in, and no request is complete.
        case needsMore
        /// A request is complete; what follows it was not taken in.
        case request(HTTPRequest)
        /// The bytes are not acceptable; answer with this status and close. The parser takes nothing more.
        case refused(Int)
    }

    enum Stage: Equatable {
        /// Not one byte of a request came.
        case idle
        case header
        case body
    }

    private enum Field { case none, name, value }

    let headerBytes: Int
    let bodyBytes: Int
    private let parser: UnsafeMutablePointer<http_parser>
    private let settings: UnsafeMutablePointer<http_parser_settings>
    private(set) var stage = Stage.idle
    /// The header is complete and the client waits for `100 Continue` before it sends the body. Taken by the owner.
    var wantsContinue = false

    private var target: [UInt8] = []
    private var name: [UInt8] = []
    private var value: [UInt8] = []
    private var lastField = Field.none
    private var headers = HTTPHeaders()
    private var body: [UInt8] = []
    private var headerCount = 0
    private var refusal: Int?
    private var isComplete = false
    private var keepsAlive = false

    init(headerBytes: Int = 16 * 1024, bodyBytes: Int = 1024 * 1024) {
        self.headerBytes = headerBytes
        self.bodyBytes = bodyBytes
        parser = .allocate(capacity: 1)
        settings = .allocate(capacity: 1)
        http_parser_init(parser, HTTP_REQUEST)
        http_parser_settings_init(settings)
        parser.pointee.data = Unmanaged.passUnretained(self).toOpaque()
        setCallbacks()
    }

    deinit {
        parser.deallocate()
        settings.deallocate()
    }

    /// Takes in bytes up to the end of one request. Returns how many were taken.
    func feed(_ bytes: UnsafeRawBufferPointer) -> (taken: Int, outcome: Outcome) {
        if let refusal { return (0, .refused(refusal)) }
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return (0, .needsMore) }
        http_parser_pause(parser, 0)
        let taken = http_parser_execute(parser, settings, base.assumingMemoryBound(to: CChar.self), bytes.count)
        if let refusal { return (taken, .refused(refusal)) }
        if isComplete { return (taken, takeRequest()) }
        if taken != bytes.count || parser.pointee.http_errno != HPE_OK.rawValue {
            return (taken, refuse(parser.pointee.http_errno == HPE_HEADER_OVERFLOW.rawValue ? 431 : 400))
        }
        return (taken, .needsMore)
    }

    private func refuse(_ status: Int) -> Outcome {
        refusal = status
        return .refused(status)
    }

    private func takeRequest() -> Outcome {
        defer { reset() }
        let minor = Int(parser.pointee.http_minor)
        guard parser.pointee.http_major == 1 else { return refuse(505) }
        guard let text = String(validating: target, as: UTF8.self), text.hasPrefix("/") || text == "*" else {
            return refuse(400)
        }
        guard minor == 0 || headers.fields.count(where: { $0.name == "host" }) == 1 else { return refuse(400) }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let method = http_method_str(http_method(rawValue: parser.pointee.method)).map { String(cString: $0) } ?? ""
        return .request(
            HTTPRequest(
                method: method, path: parts.first.map(String.init) ?? "/",
                query: parts.count > 1 ? String(parts[1]) : nil, headers: headers, body: body, keepsAlive: keepsAlive,
                minorVersion: minor))
    }

    private func reset() {
        isComplete = false
        stage = .idle
        target = []
        headers = HTTPHeaders()
        body = []
        headerCount = 0
        wantsContinue = false
        lastField = .none
    }

    private func endField() {
        guard lastField == .value else { return }
        headerCount += 4  // ": " and the end of the line
        headers.add(String(decoding: name, as: UTF8.self), Text.trimmed(Substring(decoding: value, as: UTF8.self)))
        name.removeAll(keepingCapacity: true)
        value.removeAll(keepingCapacity: true)
        lastField = .none
    }

    // MARK: Callbacks of http-parser; anything but 0 ends the parsing.

    private func began() -> Int32 {
        stage = .header
        return 0
    }

    private func more(of keyPath: ReferenceWritableKeyPath<HTTPRequestParser, [UInt8]>, _ bytes: UnsafeRawBufferPointer)
        -> Int32
    {
        self[keyPath: keyPath].append(contentsOf: bytes)
        headerCount += bytes.count
        guard headerCount > headerBytes else { return 0 }
        refusal = 431
        return 1
    }

    private func headerEnded() -> Int32 {
        endField()
        stage = .body
        // Only WebSocket is ever spoken instead of HTTP, and the owner decides that by the headers.
        if parser.pointee.method != HTTP_CONNECT.rawValue { parser.pointee.upgrade = 0 }
        if headers.hasToken("upgrade", "websocket"), headers.hasToken("connection", "upgrade") {
            parser.pointee.upgrade = 1
        }
        keepsAlive = http_should_keep_alive(parser) != 0
        let length = parser.pointee.content_length
        if length != UInt64.max && length > UInt64(bodyBytes) {
            refusal = 413
            return 1
        }
        wantsContinue = headers.hasToken("expect", "100-continue")
        return 0
    }

    private func moreBody(_ bytes: UnsafeRawBufferPointer) -> Int32 {
        guard body.count + bytes.count <= bodyBytes else {
            refusal = 413
            return 1
        }
        body.append(contentsOf: bytes)
        return 0
    }

    private func ended() -> Int32 {
        // Fields behind a chunked body are dropped.
        lastField = .none
        isComplete = true
        http_parser_pause(parser, 1)
        return 0
    }

    private static func of(_ parser: UnsafeMutablePointer<http_parser>?) -> HTTPRequestParser? {
        guard let data = parser?.pointee.data else { return nil }
        return Unmanaged<HTTPRequestParser>.fromOpaque(data).takeUnretainedValue()
    }

    private func setCallbacks() {
        settings.pointee.on_message_begin = { HTTPRequestParser.of($0)?.began() ?? 1 }
        settings.pointee.on_url = { parser, at, length in
            HTTPRequestParser.of(parser)?.more(of: \.target, UnsafeRawBufferPointer(start: at, count: length)) ?? 1
        }
        settings.pointee.on_header_field = { parser, at, length in
            guard let me = HTTPRequestParser.of(parser) else { return 1 }
            me.endField()
            me.lastField = .name
            return me.more(of: \.name, UnsafeRawBufferPointer(start: at, count: length))
        }
        settings.pointee.on_header_value = { parser, at, length in
            guard let me = HTTPRequestParser.of(parser) else { return 1 }
            me.lastField = .value
            return me.more(of: \.value, UnsafeRawBufferPointer(start: at, count: length))
        }
        settings.pointee.on_headers_complete = { HTTPRequestParser.of($0)?.headerEnded() ?? 1 }
        settings.pointee.on_body = { parser, at, length in
            HTTPRequestParser.of(parser)?.moreBody(UnsafeRawBufferPointer(start: at, count: length)) ?? 1
        }
        settings.pointee.on_message_complete = { HTTPRequestParser.of($0)?.ended() ?? 1 }
    }
}
