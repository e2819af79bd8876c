import Foundation
import HoldfastProtocol
import HoldfastTransport
import Testing

@testable import HoldfastNode

/// The rules of auth.md about tokens, each at its exact edge.
@Suite struct TokenTests {
    static let nowS: Int64 = 1_750_000_000
    static let secret = "holdfast-dev-secret"
    let verifier = TokenVerifier(
        projects: [
            ProjectSecrets(key: "dev", secrets: [secret]),
            ProjectSecrets(key: "acme", secrets: ["new secret", "old secret"]),
        ], limits: Limits())

    /// The claims of a good token, as JSON texts by name, with changes; nil leaves a claim out.
    func token(_ changes: [String: String?] = [:], secret: String = TokenTests.secret) -> String {
        var claims: [String: String?] = [
            "iss": #""dev""#, "sub": #""ada""#, "iat": "\(Self.nowS)", "exp": "\(Self.nowS + 3600)",
            "scope": #""battle""#,
        ]
        for (name, value) in changes { claims[name] = .some(value) }
        let members = claims.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }
        return TokenSigner.sign(
            header: #"{"alg":"HS256"}"#, payload: "{\(members.joined(separator: ","))}", secret: secret)
    }

    func quoted(_ count: Int) -> String { "\"" + String(repeating: "a", count: count) + "\"" }

    func error(_ token: String, nowS: Int64 = TokenTests.nowS, scope: TokenScope? = nil) -> TokenError? {
        switch verifier.verify(token, nowS: nowS, scope: scope) {
        case .success: nil
        case .failure(let error): error
        }
    }

    @Test func aSignedTokenIsReadBack() throws {
        let claims = Claims(
            project: "dev", player: "a b~", issuedAtS: Self.nowS, expiresAtS: Self.nowS + 60, name: "Ada \"é\u{1}",
            avatar: "https://example.org/a.png")
        let token = TokenSigner.sign(claims, secret: Self.secret)
        #expect(try verifier.verify(token, nowS: Self.nowS, scope: .battle).get() == claims)
    }

    /// The example of RFC 7515, appendix A.1, whose key and signature others computed.
    @Test func theSignatureIsTheOneOfTheStandard() throws {
        let key = try #require(
            Base64URL.decode(
                "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow".utf8))
        let signed =
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9."
            + "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let code = HMACSHA256.authenticate(Array(signed.utf8), key: key)
        #expect(Base64URL.encode(code) == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    }

    @Test(arguments: ["iss", "sub", "iat", "exp", "scope"])
    func aMissingOrNullClaimIsNamed(claim: String) {
        #expect(error(token([claim: nil])) == .missingClaim(claim))
        #expect(error(token([claim: "null"])) == .missingClaim(claim))
        #expect(TokenError.missingClaim(claim).message.contains(claim))
    }

    @Test(arguments: [("iss", "1"), ("sub", "{}"), ("iat", #""1750000000""#), ("exp", "true"), ("name", "7")])
    func aClaimOfAnotherTypeIsNamed(claim: String, value: String) {
        guard case .invalidClaim(claim, _) = error(token([claim: value])) else {
            Issue.record("\(claim) = \(value) gave \(String(describing: error(token([claim: value]))))")
            return
        }
    }

    @Test func theSubjectIsOneTo64BytesOfPrintableASCII() {
        #expect(error(token(["sub": quoted(1)])) == nil)
        #expect(error(token(["sub": quoted(64)])) == nil)
        #expect(error(token(["sub": quoted(65)])) == .overLimit(claim: "sub", limit: 64, got: 65))
        #expect(error(token(["sub": #""a !~""#])) == nil)
        for bad in [#""""#, #""é""#, #""a\u007f""#, #""a\n""#, #""\u0000""#] {
            #expect(error(token(["sub": bad])) == .invalidClaim("sub", "1 to 64 bytes of printable ASCII"))
        }
    }

    @Test func nameAndAvatarAreCountedInBytes() {
        #expect(error(token(["name": quoted(64), "avatar": quoted(512)])) == nil)
        #expect(error(token(["name": quoted(65)])) == .overLimit(claim: "name", limit: 64, got: 65))
        #expect(error(token(["avatar": quoted(513)])) == .overLimit(claim: "avatar", limit: 512, got: 513))
        let twoBytesEach = "\"" + String(repeating: "é", count: 33) + "\""
        #expect(error(token(["name": twoBytesEach])) == .overLimit(claim: "name", limit: 64, got: 66))
        #expect(error(token(["name": "null", "avatar": "null"])) == nil)
    }

    @Test func thirtyDaysPassAndASecondMoreDoesNot() {
        let longestS: Int64 = 30 * 24 * 3600
        #expect(error(token(["exp": "\(Self.nowS + longestS)"])) == nil)
        #expect(
            error(token(["exp": "\(Self.nowS + longestS + 1)"]))
                == .lifetimeOverLimit(limitS: longestS, gotS: longestS + 1))
        guard case .invalidClaim("exp", _) = error(token(["exp": "\(Self.nowS - 1)"])) else {
            Issue.record("an end before the beginning passed")
            return
        }
    }

    @Test func sixtySecondsOfSkewAreTolerated() {
        #expect(error(token(), nowS: Self.nowS + 3600 + 60) == nil)
        #expect(error(token(), nowS: Self.nowS + 3600 + 61) == .expired(agoS: 61, skewS: 60))
        #expect(error(token(), nowS: Self.nowS - 60) == nil)
        #expect(error(token(), nowS: Self.nowS - 61) == .notYetValid(inS: 61, skewS: 60))
        #expect(error(token(["nbf": "\(Self.nowS + 60)"])) == nil)
        #expect(error(token(["nbf": "\(Self.nowS + 61)"])) == .notYetValid(inS: 61, skewS: 60))
    }

    @Test func timesMayBeWrittenAsFractionsAndPowers() throws {
        let fractions = token(["iat": "1.75e9", "exp": "1750003600.75"])
        let claims = try verifier.verify(fractions, nowS: Self.nowS).get()
        #expect(claims.issuedAtS == 1_750_000_000)
        #expect(claims.expiresAtS == 1_750_003_600)
        for bad in ["1e300", "-1", "99999999999999999999", "9007199254740993", "-1e18"] {
            guard case .invalidClaim("exp", _) = error(token(["exp": bad])) else {
                Issue.record("exp \(bad) passed")
                continue
            }
        }
        guard case .malformed = error(token(["exp": "1e999"])) else {
            Issue.record("exp 1e999 passed")
            return
        }
    }

    @Test(arguments: ["none", "HS384", "RS256", "hs256", ""])
    func anotherAlgorithmIsRefusedEvenWhenSigned(algorithm: String) {
        let payload = #"{"iss":"dev","sub":"ada","iat":1750000000,"exp":1750003600,"scope":"battle"}"#
        let forged = TokenSigner.sign(header: #"{"alg":"\#(algorithm)"}"#, payload: payload, secret: Self.secret)
        #expect(error(forged) == .unsupportedAlgorithm)
        #expect(error(TokenSigner.sign(header: "{}", payload: payload, secret: Self.secret)) == .unsupportedAlgorithm)
        let unsigned = forged.split(separator: ".").dropLast().joined(separator: ".") + "."
        #expect(error(unsigned) == .unsupportedAlgorithm)
    }

    @Test func signaturesAndProjects() {
        #expect(error(token(secret: "another")) == .badSignature)
        #expect(error(token(["iss": #""acme""#])) == .badSignature, "another project's secret")
        #expect(error(token(["iss": #""nobody""#])) == .unknownProject)
        #expect(error(token(["iss": #""acme""#], secret: "new secret")) == nil)
        #expect(error(token(["iss": #""acme""#], secret: "old secret")) == nil)
        let good = token()
        let parts = good.split(separator: ".").map(String.init)
        #expect(error("\(parts[0]).\(parts[1]).") == .badSignature)
        #expect(error("\(parts[0]).\(parts[1]).\(parts[2].dropLast(4))") == .badSignature)
        let otherBody = Base64URL.encode(
            Array(#"{"iss":"dev","sub":"eve","iat":1750000000,"exp":1750003600,"scope":"battle"}"#.utf8))
        #expect(error("\(parts[0]).\(otherBody).\(parts[2])") == .badSignature)
    }

    @Test(arguments: [
        "", ".", "..", "a.b", "a.b.c.d", "e30.e30", "e30=.e30.AAAA", "e3 0.e30.", "!!.e30.", "bnVsbA.e30.AAAA",
        "W10.e30.AAAA",
    ])
    func whatIsNoTokenIsRefused(text: String) {
        switch error(text) {
        case .malformed, .unsupportedAlgorithm: break
        case let other: Issue.record("\(text): \(String(describing: other))")
        }
    }

    @Test func ambiguousJSONIsRefused() {
        let header = #"{"alg":"HS256"}"#
        let payloads = [
            #"{"iss":"dev","sub":"ada","sub":"eve","iat":1750000000,"exp":1750003600,"scope":"battle"}"#,
            #"{"iss":"dev","sub":"ada","iat":1750000000,"exp":1750003600,"scope":"battle"} x"#,
            #"{"iss":"dev","name":"\ud800","sub":"ada","iat":1750000000,"exp":1750003600,"scope":"battle"}"#,
            #"["dev"]"#, "", String(repeating: "[", count: 3000),
        ]
        for payload in payloads {
            guard case .malformed = error(TokenSigner.sign(header: header, payload: payload, secret: Self.secret))
            else {
                Issue.record("passed: \(payload)")
                continue
            }
        }
    }

    @Test func aHugeTokenIsNotLookedAt() {
        let fits = token(["x": quoted(100)])
        #expect(error(fits) == nil)
        let huge = token(["x": quoted(8 * 1024)])
        #expect(error(huge) == .tooLong(bytes: huge.utf8.count, limit: 8192))
        #expect(
            error(String(repeating: "a", count: 8192)) == .malformed("three parts with dots between them are needed"))
        #expect(error(String(repeating: "a", count: 8193)) == .tooLong(bytes: 8193, limit: 8192))
    }

    @Test func scopes() {
        #expect(error(token(["scope": #""everything""#])) != nil)
        #expect(error(token(["scope": #""admin""#, "exp": "\(Self.nowS + 300)", "sub": nil])) == nil)
        #expect(
            error(token(["scope": #""admin""#, "exp": "\(Self.nowS + 301)", "sub": nil]))
                == .lifetimeOverLimit(limitS: 300, gotS: 301))
        #expect(
            error(token(["scope": #""admin""#, "exp": "\(Self.nowS + 300)"]), scope: .battle)
                == .wrongScope(needed: .battle, got: .admin))
        #expect(error(token(["scope": #""session.connect""#])) == .missingClaim("session_id"))
        #expect(error(token(["scope": #""session.connect""#, "session_id": #""s1""#])) == nil)
        #expect(error(token(["scope": #""session.connect""#, "session_id": #""s1""#, "role": #""king""#])) != nil)
        let data = ["scope": #""session.connect""#, "session_id": #""s1""#]
        #expect(error(token(data.merging(["connection_data": quoted(1000)]) { $1 })) == nil)
        #expect(
            error(token(data.merging(["connection_data": quoted(1001)]) { $1 }))
                == .overLimit(claim: "connection_data", limit: 1000, got: 1001))
    }

    @Test func everyTruncationAndEveryChangedByteIsRefused() {
        let good = Array(token().utf8)
        for count in 0..<good.count {
            #expect(error(String(decoding: good[..<count], as: UTF8.self)) != nil)
        }
        for index in good.indices {
            var changed = good
            changed[index] = changed[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            #expect(error(String(decoding: changed, as: UTF8.self)) != nil, "byte \(index)")
        }
    }

    @Test func messagesNeverHoldAPartOfTheToken() {
        let marked = [
            token(["sub": #""MARK\u0001""#]), token(["scope": #""MARK""#]), token(["iss": #""MARK""#]),
            TokenSigner.sign(header: #"{"alg":"MARK"}"#, payload: "{}", secret: "x"),
            TokenSigner.sign(header: #"{"alg":"HS256"}"#, payload: #"{"MARK""#, secret: "x"),
            token(["MARK": "1", "name": quoted(65)]),
        ]
        for token in marked {
            let message = error(token)?.message ?? ""
            #expect(!message.isEmpty && !message.contains("MARK"), "\(message)")
        }
    }
}

@Suite struct Base64URLTests {
    @Test func roundTripOfEveryLength() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 89 &+ 200) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
        #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    }

    @Test(arguments: ["A", "AAAAA", "AB", "AAB", "AA==", "A+", "A/", "Aé"])
    func otherTextsAreRefused(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}
