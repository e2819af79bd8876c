public import HoldfastProtocol

/// Which encoding a client gets for the subprotocols that it offers (the head of holdfast.proto).
public enum SubprotocolChoice: Equatable, Sendable {
    /// `subprotocol` goes into the answer; nil when the client offered none, which means JSON.
    case accept(Encoding, subprotocol: String?)
    /// Only unknown ones were offered: HTTP 400.
    case refuse

    /// The first offered one that is known.
    public static func choose(_ offered: [String]) -> SubprotocolChoice {
        if offered.isEmpty { return .accept(.json, subprotocol: nil) }
        for name in offered {
            if let encoding = Encoding(rawValue: name) { return .accept(encoding, subprotocol: name) }
        }
        return .refuse
    }
}
