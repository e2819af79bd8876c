import HoldfastProtocol

extension ErrorReply {
    init(_ code: ErrorCode, _ message: String, retryAfterMs: UInt32 = 0) {
        self.init(code: code.rawValue, message: message, retryAfterMs: retryAfterMs)
    }
}

extension ServerMessage.Body {
    static func failure(_ code: ErrorCode, _ message: String) -> Self { .error(ErrorReply(code, message)) }
    static var done: Self { .ok(Ok()) }
}
