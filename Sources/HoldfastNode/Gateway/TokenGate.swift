internal import HoldfastModel
internal import HoldfastProtocol

/// The tokens of battle links, as the gateway's machine asks about them.
struct TokenGate: TokenChecking {
    let verifier: TokenVerifier

    func check(_ token: String, nowS: Int64) -> Result<VerifiedToken, WireError> {
        switch verifier.verify(token, nowS: nowS, scope: .battle) {
        case .failure(let error): .failure(WireError("connect.token: \(error.message)"))
        case .success(let claims):
            .success(
                VerifiedToken(
                    player: PlayerKey(project: claims.project, id: claims.player), name: claims.name,
                    avatar: claims.avatar))
        }
    }

    func claimedPlayer(of token: String) -> PlayerKey? {
        guard token.utf8.count <= TokenVerifier.tokenBytes else { return nil }
        let parts = Array(token.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let body = try? TokenVerifier.object(parts[1], of: "payload") else { return nil }
        guard case .string(let project)? = body["iss"], case .string(let player)? = body["sub"] else { return nil }
        return PlayerKey(project: project, id: player)
    }
}
