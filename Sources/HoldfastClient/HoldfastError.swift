public import HoldfastProtocol

/// Why a call failed or a connection ended: a code of `errors.md`, from the server or local to the SDK.
public struct HoldfastError: Error, Equatable, Sendable {
    /// The code; `serverError` for a number that this SDK does not know (then `number` has it).
    public var code: ErrorCode
    /// The number as it stood on the wire.
    public var number: Int32
    /// For a developer to read; names the field and the limit.
    public var message: String
    /// With `rateLimited`: after how many milliseconds a new try is worth it; 0: nothing known.
    public var retryAfterMs: UInt32

    /// An error with a known code.
    public init(code: ErrorCode, message: String, retryAfterMs: UInt32 = 0) {
        self.code = code
        self.number = code.rawValue
        self.message = message
        self.retryAfterMs = retryAfterMs
    }

    /// An error with a number from the wire.
    public init(number: Int32, message: String, retryAfterMs: UInt32 = 0) {
        self.code = ErrorCode(rawValue: number) ?? .serverError
        self.number = number
        self.message = message
        self.retryAfterMs = retryAfterMs
    }

    init(_ reply: ErrorReply) {
        self.init(number: reply.code, message: reply.message, retryAfterMs: reply.retryAfterMs)
    }

    init(_ last: Disconnected) { self.init(number: last.code, message: last.message) }
}

extension HoldfastError: CustomStringConvertible {
    /// `roomFull (23): …`.
    public var description: String { "\(code) (\(number)): \(message)" }
}
