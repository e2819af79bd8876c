public import HoldfastProtocol

/// The outcomes of a run's last executed requests, so that a request sent again is answered and not done again
/// (rooms.md, "Each run remembers"). A player's memory and that of its seat are two of these: calls to the room are
/// remembered with the seat, which gives them back when it ends.
public struct RequestMemory: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        case done
        case error(ErrorReply)
        /// A call that led to this claim: `roomJoined` is built anew.
        case joined(Claim)
    }

    var executed: [(id: UInt32, outcome: Outcome)] = []
    /// Whether any outcome has been forgotten.
    var isForgetful = false

    public static func == (a: RequestMemory, b: RequestMemory) -> Bool {
        a.isForgetful == b.isForgetful && a.executed.count == b.executed.count
            && zip(a.executed, b.executed).allSatisfy { $0.id == $1.id && $0.outcome == $1.outcome }
    }

    func outcome(of id: UInt32) -> Outcome? {
        id == 0 ? nil : executed.last { $0.id == id }?.outcome
    }

    mutating func remember(_ id: UInt32, _ outcome: Outcome, limit: Int) {
        guard id != 0 else { return }
        executed.append((id, outcome))
        trim(limit)
    }

    private mutating func trim(_ limit: Int) {
        guard executed.count > limit else { return }
        executed.removeFirst(executed.count - limit)
        isForgetful = true
    }

    mutating func replace(_ old: Outcome, with new: Outcome) {
        for i in executed.indices where executed[i].outcome == old { executed[i].outcome = new }
    }

    /// Takes over what a seat remembered. Ids grow within a run, so their order is that of the calls.
    mutating func merge(_ other: RequestMemory, limit: Int) {
        executed += other.executed
        executed.sort { $0.id < $1.id }
        isForgetful = isForgetful || other.isForgetful
        trim(limit)
    }

    var ids: [UInt32] { executed.map(\.id) }

    func ids(of outcome: Outcome) -> [UInt32] { executed.filter { $0.outcome == outcome }.map(\.id) }

    /// The reply that an outcome is told by; nil for `joined`.
    static func reply(_ outcome: Outcome) -> ServerMessage.Body? {
        switch outcome {
        case .done: .done
        case .error(let error): .error(error)
        case .joined: nil
        }
    }

    static func outcome(_ body: ServerMessage.Body) -> Outcome {
        if case .error(let error) = body { .error(error) } else { .done }
    }

    /// Whether an outcome is one that a run remembers.
    static func keeps(_ body: ServerMessage.Body) -> Bool {
        guard case .error(let error) = body else { return true }
        switch ErrorCode(rawValue: error.code) {
        case .rateLimited, .invalidRequest, .requestInProgress, .notImplemented: return false
        case .serverError: return error.retryAfterMs == 0
        default: return true
        }
    }
}

/// What a gateway must know of a run's requests when it takes the run over.
public struct RequestDigest: Sendable, Equatable {
    public struct Open: Sendable, Equatable {
        public let id: UInt32
        public let isSeatCall: Bool
    }
    /// Remembered with the player, oldest first.
    public var executed: [UInt32] = []
    public var open: [Open] = []
    /// Whether any outcome of the run has been forgotten.
    public var forgetful = false
}
