import HoldfastProtocol
import Testing

@testable import HoldfastNode

/// Whatever bytes come from outside, a parser of the node ends with a value or an error, and a changed token is
/// refused.
@Suite struct MutationTests {
    /// A generator that gives the same numbers each time.
    struct Sequence {
        var state: UInt64

        mutating func next(below bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }

        /// `seed` with one to four bytes changed, taken out or put in.
        mutating func mutation(of seed: [UInt8]) -> [UInt8] {
            var bytes = seed
            for _ in 0...next(below: 4) {
                let at = next(below: max(1, bytes.count))
                switch next(below: 4) {
                case 0 where !bytes.isEmpty: bytes[at] = UInt8(next(below: 256))
                case 1 where !bytes.isEmpty: bytes.remove(at: at)
                case 2: bytes.insert(seed[next(below: seed.count)], at: min(at, bytes.count))
                default: bytes.removeLast(min(bytes.count, next(below: 8)))
                }
            }
            return bytes
        }
    }

    static let rounds = 5000

    @Test(arguments: [UInt64(1), 2, 3])
    func tokens(seed: UInt64) {
        let nowS: Int64 = 1_750_000_000
        let claims = Claims(project: "dev", player: "ada", issuedAtS: nowS, expiresAtS: nowS + 60, name: "Ada")
        let token = Array(TokenSigner.sign(claims, secret: "holdfast-dev-secret").utf8)
        let verifier = TokenVerifier(projects: [ServerConfig.devProject], limits: Limits())
        var numbers = Sequence(state: seed)
        for _ in 0..<Self.rounds {
            let changed = numbers.mutation(of: token)
            if changed == token { continue }
            let result = verifier.verify(String(decoding: changed, as: UTF8.self), nowS: nowS)
            #expect(throws: TokenError.self) { try result.get() }
        }
    }

    /// The claims are changed before they are signed: what a project's own, faulty backend may send.
    @Test(arguments: [UInt64(1), 2, 3])
    func signedPayloads(seed: UInt64) {
        let payload = Array(
            #"{"iss":"dev","sub":"ada","iat":1750000000,"exp":1.75000006e9,"scope":"session.connect","session_id":"s"}"#
                .utf8)
        let limits = Limits()
        let verifier = TokenVerifier(projects: [ServerConfig.devProject], limits: limits)
        var numbers = Sequence(state: seed)
        var good = 0
        for _ in 0..<Self.rounds {
            let changed = String(decoding: numbers.mutation(of: payload), as: UTF8.self)
            let token = TokenSigner.sign(header: #"{"alg":"HS256"}"#, payload: changed, secret: "holdfast-dev-secret")
            guard case .success(let claims) = verifier.verify(token, nowS: 1_750_000_000) else { continue }
            good += 1
            #expect(claims.project == "dev" && claims.expiresAtS - claims.issuedAtS <= limits.tokenLifetimeS)
            #expect((1...64).contains(claims.player.utf8.count))
        }
        #expect(good > 0)
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func requests(seed: UInt64) {
        let targets = ["/dev/token?player=ada&name=A%C3%A9+b", "/sdk/../sdk/holdfast.js?x", "/v1/connect#x"]
        let router = NodeRouterTests.router()
        var numbers = Sequence(state: seed)
        for target in targets {
            for _ in 0..<Self.rounds {
                let changed = String(decoding: numbers.mutation(of: Array(target.utf8)), as: UTF8.self)
                let request = NodeRouter.Request(method: "GET", target: changed, headers: ["host": changed])
                if case .reply(let reply) = router.route(request, readiness: .ready, nowS: 0) {
                    #expect([200, 307, 400, 404].contains(reply.status))
                }
            }
        }
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func configs(seed: UInt64) {
        let file = Array(
            (#"{"port":7350,"tls":{"certificate":"a","key":"b"},"#
                + #""projects":[{"key":"a","secret":"b"}],"limits":{"listPage":5}}"#).utf8)
        var numbers = Sequence(state: seed)
        for _ in 0..<500 {
            let changed = numbers.mutation(of: file)
            do throws(ConfigError) {
                _ = try ServerConfig.resolve(file: changed, flags: ServeFlags())
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
    }
}
