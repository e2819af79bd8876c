public import HoldfastProtocol

/// One message on a link between two nodes: who sends it to which process, its place among what was sent, and the words
/// themselves, encoded one after another.
public struct PeerBatch: Equatable, Sendable {
    /// The version of this format; a node drops what has another one.
    static let version: UInt8 = 1

    public let from: NodeID
    /// The process that it is for: a later one of the same name drops it.
    public let toIncarnation: UInt64
    /// The two kinds are numbered apart.
    public let isBulk: Bool
    /// Grows with each new session of the sender with this receiver; see `LinkOrder`.
    public let session: UInt64
    /// Within the session, from 1.
    public let number: UInt64
    /// `PeerWord`s.
    public let words: [UInt8]

    public init(
        from: NodeID, toIncarnation: UInt64, isBulk: Bool, session: UInt64, number: UInt64, words: [UInt8]
    ) {
        self.from = from
        self.toIncarnation = toIncarnation
        self.isBulk = isBulk
        self.session = session
        self.number = number
        self.words = words
    }
}

extension PeerBatch: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(version: Self.version)
        writer.put(from)
        writer.put(toIncarnation)
        writer.put(isBulk)
        writer.put(session)
        writer.put(number)
        writer.put(words)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        try reader.version(Self.version, of: "PeerBatch")
        from = try reader.value()
        toIncarnation = try reader.number()
        isBulk = try reader.bool()
        session = try reader.counter()
        number = try reader.counter()
        words = try reader.data()
    }
}

/// What one node says to another.
public enum PeerWord<Message: StateCodable>: StateCodable {
    case heartbeat(Heartbeat)
    case message(Message)

    public func encode(into writer: inout StateWriter) {
        switch self {
        case .heartbeat(let heartbeat):
            writer.put(kind: 0)
            writer.put(heartbeat)
        case .message(let message):
            writer.put(kind: 1)
            writer.put(message)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .heartbeat(try reader.value())
        case 1: self = .message(try reader.value())
        default: throw .unknown(kind, of: "PeerWord")
        }
    }
}

/// The receiver's end of one link: whether a batch is the next, or something before it was lost. A value; it trusts
/// numbers only to compare them.
public struct LinkOrder: Sendable {
    public enum Verdict: Sendable {
        /// It came before, or belongs to an older session.
        case drop
        case take
        /// Something before it was lost, in either direction perhaps: to be told as a link reset first.
        case takeAfterReset
    }

    /// The sending process.
    private var sender: UInt64 = 0
    private var session: UInt64 = 0
    private var number: UInt64 = 0

    public init() {}

    public mutating func judge(sender: UInt64, session: UInt64, number: UInt64) -> Verdict {
        if session < self.session { return .drop }
        if session > self.session {
            let isFirst = self.sender != sender
            self.sender = sender
            self.session = session
            self.number = number
            return isFirst && number == 1 ? .take : .takeAfterReset
        }
        guard number > self.number else { return .drop }
        let isNext = number - self.number == 1
        self.number = number
        return isNext ? .take : .takeAfterReset
    }
}
