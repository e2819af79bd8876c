internal import HoldfastTransport

/// Makes tokens. It signs what it is given: whether the claims are within their limits is the verifier's to say.
public enum TokenSigner {
    /// The JWT of `claims`, signed with HS256. Empty and absent claims are left out.
    public static func sign(_ claims: Claims, secret: String) -> String {
        var members = ["\"iss\":\(JSONText.quoted(claims.project))"]
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { members.append("\"\(name)\":\(JSONText.quoted(value))") }
        }
        add("sub", claims.player)
        members.append("\"iat\":\(claims.issuedAtS)")
        members.append("\"exp\":\(claims.expiresAtS)")
        members.append("\"scope\":\(JSONText.quoted(claims.scope.rawValue))")
        add("name", claims.name)
        add("avatar", claims.avatar)
        add("session_id", claims.sessionID)
        add("role", claims.role)
        add("connection_data", claims.connectionData)
        return sign(
            header: #"{"alg":"HS256","typ":"JWT"}"#, payload: "{\(members.joined(separator: ","))}", secret: secret)
    }

    /// Signs any text, so that tests can make tokens that `sign(_:secret:)` would not.
    static func sign(header: String, payload: String, secret: String) -> String {
        let signed = Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(payload.utf8))
        return signed + "." + Base64URL.encode(HMACSHA256.authenticate(Array(signed.utf8), key: Array(secret.utf8)))
    }
}
