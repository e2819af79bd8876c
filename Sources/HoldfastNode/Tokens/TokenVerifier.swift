public import HoldfastProtocol
internal import HoldfastTransport

/// A project: its key, the secrets that are valid now, and what it may use.
public struct ProjectSecrets: Equatable, Sendable {
    /// `iss` of its tokens.
    public var key: String
    /// One secret, or two while they are being changed.
    public var secrets: [String]
    /// The most rooms that it may have at a time; nil: `Limits.roomsPerProject`.
    public var rooms: Int?

    /// A project with its secrets; the first signs.
    public init(key: String, secrets: [String], rooms: Int? = nil) {
        self.key = key
        self.secrets = secrets
        self.rooms = rooms
    }
}

/// Decides whether a token is good. A value without a clock: the caller says what time it is.
public struct TokenVerifier: Sendable {
    /// The longest token that is looked at, in bytes.
    public static let tokenBytes = 8 * 1024
    /// An admin token lives at most so long, in seconds.
    public static let adminLifetimeS: Int64 = 300
    /// The longest connection data of a session token, in bytes.
    public static let connectionDataBytes = 1000
    private static let roles: Set<String> = ["subscriber", "publisher", "moderator"]

    private let secrets: [String: [[UInt8]]]
    private let limits: Limits

    /// A verifier for the tokens of `projects`, with the limits on claims in `limits`.
    public init(projects: [ProjectSecrets], limits: Limits) {
        secrets = Dictionary(
            projects.map { ($0.key, $0.secrets.map { Array($0.utf8) }) }, uniquingKeysWith: { first, _ in first })
        self.limits = limits
    }

    /// The claims of `token`, or the first check that it fails. `nowS` is the wall time in seconds since 1970. With
    /// `scope`, a token of another scope is refused; without, the caller has to look.
    public func verify(_ token: String, nowS: Int64, scope: TokenScope? = nil) -> Result<Claims, TokenError> {
        do {
            let claims = try checked(token, nowS: nowS)
            if let scope, claims.scope != scope { return .failure(.wrongScope(needed: scope, got: claims.scope)) }
            return .success(claims)
        } catch {
            return .failure(error)
        }
    }

    private func checked(_ token: String, nowS: Int64) throws(TokenError) -> Claims {
        let bytes = Array(token.utf8)
        guard bytes.count <= Self.tokenBytes else { throw .tooLong(bytes: bytes.count, limit: Self.tokenBytes) }
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .malformed("three parts with dots between them are needed") }
        let header = try Self.object(parts[0], of: "header")
        guard header["alg"] == .string("HS256") else { throw .unsupportedAlgorithm }
        guard header["crit"] == nil else { throw .malformed("crit is not supported") }
        let body = try Self.object(parts[1], of: "payload")
        let signature = Base64URL.decode(parts[2]) ?? []

        let project = try Self.string("iss", of: body)
        guard let secrets = secrets[project] else { throw .unknownProject }
        let signed = Array(bytes[..<(parts[1].endIndex)])
        var genuine = false
        for secret in secrets where constantTimeEquals(HMACSHA256.authenticate(signed, key: secret), signature) {
            genuine = true
        }
        guard genuine else { throw .badSignature }
        return try claims(of: body, project: project, nowS: nowS)
    }

    private func claims(of body: JSONValue, project: String, nowS: Int64) throws(TokenError) -> Claims {
        let scopeName = try Self.string("scope", of: body)
        guard let scope = TokenScope(rawValue: scopeName) else {
            throw .invalidClaim("scope", TokenScope.allCases.map(\.rawValue).joined(separator: ", "))
        }
        var claims = Claims(
            project: project, player: "", issuedAtS: try Self.seconds("iat", of: body),
            expiresAtS: try Self.seconds("exp", of: body), scope: scope)
        if scope != .admin || body["sub"] != nil {
            claims.player = try player(of: body)
        }
        claims.name = try optional("name", of: body, limit: limits.playerNameBytes) ?? ""
        claims.avatar = try optional("avatar", of: body, limit: limits.avatarBytes) ?? ""
        if scope == .sessionConnect {
            claims.sessionID = try Self.string("session_id", of: body)
            claims.role = try optional("role", of: body, limit: TokenVerifier.connectionDataBytes)
            if let role = claims.role, !Self.roles.contains(role) {
                throw .invalidClaim("role", "subscriber, publisher or moderator")
            }
            claims.connectionData = try optional(
                "connection_data", of: body, limit: TokenVerifier.connectionDataBytes)
        }
        try checkTimes(of: claims, notBeforeS: body["nbf"] == nil ? nil : Self.seconds("nbf", of: body), nowS: nowS)
        return claims
    }

    private func checkTimes(of claims: Claims, notBeforeS: Int64?, nowS: Int64) throws(TokenError) {
        let skewS = limits.clockSkewS
        let lifetimeS = claims.expiresAtS - claims.issuedAtS
        let limitS = claims.scope == .admin ? Self.adminLifetimeS : limits.tokenLifetimeS
        guard lifetimeS >= 0 else { throw .invalidClaim("exp", "after iat") }
        guard lifetimeS <= limitS else { throw .lifetimeOverLimit(limitS: limitS, gotS: lifetimeS) }
        let beginsS = max(claims.issuedAtS, notBeforeS ?? claims.issuedAtS)
        guard beginsS - skewS <= nowS else { throw .notYetValid(inS: beginsS - nowS, skewS: skewS) }
        guard nowS <= claims.expiresAtS + skewS else { throw .expired(agoS: nowS - claims.expiresAtS, skewS: skewS) }
    }

    private func player(of body: JSONValue) throws(TokenError) -> String {
        let player = try Self.string("sub", of: body)
        let count = player.utf8.count
        guard count <= limits.playerIdBytes else {
            throw .overLimit(claim: "sub", limit: limits.playerIdBytes, got: count)
        }
        guard count > 0, player.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .invalidClaim("sub", "1 to \(limits.playerIdBytes) bytes of printable ASCII")
        }
        return player
    }

    private func optional(_ name: String, of body: JSONValue, limit: Int) throws(TokenError) -> String? {
        guard body[name] != nil else { return nil }
        let value = try Self.string(name, of: body)
        guard value.utf8.count <= limit else { throw .overLimit(claim: name, limit: limit, got: value.utf8.count) }
        return value
    }

    static func object(_ part: some Sequence<UInt8>, of name: String) throws(TokenError) -> JSONValue {
        guard let bytes = Base64URL.decode(part) else { throw .malformed("the \(name) is not base64url") }
        let value: JSONValue
        do { value = try StrictJSON.parse(bytes) } catch {
            throw .malformed("the \(name) is not JSON: \(error.reason)")
        }
        guard case .object = value else { throw .malformed("the \(name) is not a JSON object") }
        return value
    }

    private static func string(_ name: String, of body: JSONValue) throws(TokenError) -> String {
        switch body[name] {
        case nil: throw .missingClaim(name)
        case .string(let value): return value
        default: throw .invalidClaim(name, "a string")
        }
    }

    /// A NumericDate: seconds since 1970, a fraction allowed and dropped. The bound keeps every sum of two far from
    /// overflow.
    private static func seconds(_ name: String, of body: JSONValue) throws(TokenError) -> Int64 {
        let bound: Int64 = 1 << 53
        let seconds: Int64
        switch body[name] {
        case nil: throw .missingClaim(name)
        case .integer(let value): seconds = value
        case .number(let value) where abs(value) <= Double(bound): seconds = Int64(value.rounded(.down))
        default: throw .invalidClaim(name, "a number of seconds since 1970")
        }
        guard seconds >= 0, seconds <= bound else { throw .invalidClaim(name, "a number of seconds since 1970") }
        return seconds
    }
}
