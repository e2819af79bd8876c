/// What a token allows.
public enum TokenScope: String, Sendable, CaseIterable {
    /// Rooms, matching, frame sync and battles.
    case battle
    /// One session with signals.
    case sessionConnect = "session.connect"
    /// The HTTP API of the project.
    case admin
}

/// The claims of a token. Those that the verifier hands out are within every limit.
public struct Claims: Equatable, Sendable {
    /// `iss`: the key of the project.
    public var project: String
    /// `sub`: the player. Empty only for an admin token.
    public var player: String
    /// `iat`, seconds since 1970.
    public var issuedAtS: Int64
    /// `exp`, seconds since 1970.
    public var expiresAtS: Int64
    /// `scope`.
    public var scope: TokenScope
    /// `name`; empty when the token has none.
    public var name: String
    /// `avatar`; empty when the token has none.
    public var avatar: String
    /// `session_id`: of a session token only.
    public var sessionID: String?
    /// `role`: of a session token only.
    public var role: String?
    /// `connection_data`: of a session token only.
    public var connectionData: String?

    /// Claims of a token to be made.
    public init(
        project: String, player: String, issuedAtS: Int64, expiresAtS: Int64, scope: TokenScope = .battle,
        name: String = "", avatar: String = "", sessionID: String? = nil, role: String? = nil,
        connectionData: String? = nil
    ) {
        self.project = project
        self.player = player
        self.issuedAtS = issuedAtS
        self.expiresAtS = expiresAtS
        self.scope = scope
        self.name = name
        self.avatar = avatar
        self.sessionID = sessionID
        self.role = role
        self.connectionData = connectionData
    }
}

/// Why a token is refused. The messages name the claim and its limit; they never hold a part of the token.
public enum TokenError: Error, Equatable, Sendable {
    case tooLong(bytes: Int, limit: Int)
    case malformed(String)
    case unsupportedAlgorithm
    case missingClaim(String)
    case invalidClaim(String, String)
    case overLimit(claim: String, limit: Int, got: Int)
    case lifetimeOverLimit(limitS: Int64, gotS: Int64)
    case unknownProject
    case badSignature
    case notYetValid(inS: Int64, skewS: Int64)
    case expired(agoS: Int64, skewS: Int64)
    case wrongScope(needed: TokenScope, got: TokenScope)

    /// Which check failed, for the message of error 12 or 1004.
    public var message: String {
        switch self {
        case .tooLong(let bytes, let limit): "token: at most \(limit) bytes, got \(bytes)"
        case .malformed(let what): "token malformed: \(what)"
        case .unsupportedAlgorithm: "token: alg must be HS256"
        case .missingClaim(let name): "token: claim \(name) is missing"
        case .invalidClaim(let name, let rule): "token: claim \(name) must be \(rule)"
        case .overLimit(let claim, let limit, let got): "token: claim \(claim): at most \(limit) bytes, got \(got)"
        case .lifetimeOverLimit(let limitS, let gotS): "token: exp - iat: at most \(limitS) s, got \(gotS)"
        case .unknownProject: "token: iss names no project of this server"
        case .badSignature: "token: signature is wrong"
        case .notYetValid(let inS, let skewS):
            "token: not yet valid, begins in \(inS) s (\(skewS) s of clock skew are tolerated)"
        case .expired(let agoS, let skewS): "token: expired \(agoS) s ago (\(skewS) s of clock skew are tolerated)"
        case .wrongScope(let needed, let got): "token: scope \(needed.rawValue) is needed, got \(got.rawValue)"
        }
    }
}
