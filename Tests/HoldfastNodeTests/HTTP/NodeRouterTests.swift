import Foundation
import HoldfastProtocol
import Testing

@testable import HoldfastNode

@Suite struct NodeRouterTests {
    static let assets = StaticAssets(files: [
        "sdk/holdfast.js": Array("export {}".utf8), "sdk/holdfast.d.ts": [], "demo/index.html": Array("<p>".utf8),
        "demo/game.js": [1, 2], "secret.txt": [3],
    ])

    static func router(dev: Bool = true, secure: Bool = false) -> NodeRouter {
        NodeRouter(
            dev: dev, secure: secure, assets: assets, devProject: dev ? ServerConfig.devProject : nil,
            limits: Limits(), host: "127.0.0.1")
    }

    func reply(
        _ target: String, method: String = "GET", headers: [String: String] = [:], dev: Bool = true,
        secure: Bool = false, readiness: NodeReadiness = .ready
    ) -> HTTPReply {
        let request = NodeRouter.Request(method: method, target: target, headers: headers)
        switch Self.router(dev: dev, secure: secure).route(request, readiness: readiness, nowS: 1_750_000_000) {
        case .reply(let reply): return reply
        case .connect: return HTTPReply(status: 101, type: nil)
        case .metrics: return HTTPReply(status: 299, type: nil)
        }
    }

    @Test func fixedPaths() {
        #expect(reply("/v1/connect").status == 101)
        #expect(reply("/v1/connect?x=y").status == 101)
        #expect(reply("/metrics").status == 299)
        #expect(reply("/healthz").status == 200)
        #expect(reply("/healthz", readiness: .draining).status == 200)
        #expect(reply("/readyz").status == 200)
        #expect(reply("/readyz", readiness: .draining).status == 503)
        #expect(reply("/readyz", readiness: .starting).status == 503)
    }

    @Test func errorsAreJSON() throws {
        let missing = reply("/nothing")
        #expect(missing.status == 404 && missing["Content-Type"] == ContentType.json)
        #expect(
            String(decoding: missing.body, as: UTF8.self)
                == #"{"error":{"code":16,"message":"nothing is at this path"}}"#)
        let posted = reply("/healthz", method: "POST")
        #expect(posted.status == 405 && posted["Allow"] == "GET, HEAD")
        #expect(reply("/nothing", method: "POST").status == 404)
        #expect(reply("/v1/connect", method: "POST").status == 405)
        for bad in ["", "*", "http://example.org/healthz", "/%", "/%4", "/%zz", "/%ff", "/a%00b"] {
            #expect(reply(bad).status == 400, "\(bad)")
        }
    }

    @Test func assets() {
        let sdk = reply("/sdk/holdfast.js", dev: false)
        #expect(sdk.status == 200 && sdk.body == Array("export {}".utf8))
        #expect(sdk["Content-Type"] == "text/javascript; charset=utf-8")
        #expect(sdk["Access-Control-Allow-Origin"] == "*")
        #expect(sdk["X-Content-Type-Options"] == "nosniff")
        let page = reply("/demo/")
        #expect(page.status == 200 && page["Content-Type"] == "text/html; charset=utf-8")
        #expect(page["Content-Security-Policy"]?.hasPrefix("default-src 'self';") == true)
        #expect(reply("/demo/index.html").body == page.body)
        #expect(reply("/demo").status == 307 && reply("/demo")["Location"] == "/demo/")
        #expect(reply("/")["Location"] == "/demo/")
    }

    @Test func withoutDevThereIsNoDemo() {
        for path in ["/", "/demo", "/demo/", "/demo/game.js", "/dev/token?player=a"] {
            #expect(reply(path, dev: false).status == 404, "\(path)")
        }
    }

    @Test(arguments: [
        "/sdk/../secret.txt", "/sdk/%2e%2e/secret.txt", "/sdk/..%2fsecret.txt", "/secret.txt", "/demo/../secret.txt",
        "/sdk//etc/passwd", "/sdk/", "/sdk", "/sdk/holdfast.js/", "/demo/../../../../etc/passwd", "/sdk/holdfast.js%20",
        "/sdk/..\\secret.txt",
    ])
    func noPathLeadsOut(path: String) {
        #expect(reply(path).status == 404)
    }

    @Test func unchangedFilesAreNotSentAgain() throws {
        let first = reply("/demo/game.js")
        let tag = try #require(first["ETag"])
        #expect(first["Cache-Control"] == "no-cache")
        for header in [tag, "\"x\", \(tag)", "W/\(tag)", "*"] {
            let again = reply("/demo/game.js", headers: ["if-none-match": header])
            #expect(again.status == 304 && again.body.isEmpty && again["ETag"] == tag, "\(header)")
        }
        #expect(reply("/demo/game.js", headers: ["if-none-match": "\"x\""]).status == 200)
        #expect(reply("/demo/")["ETag"] != tag)
    }

    @Test func devTokensAreGood() throws {
        let answer = reply("/dev/token?player=ada&name=Ada+%C3%A9", headers: ["host": "localhost:7351"])
        #expect(answer.status == 200 && answer["Cache-Control"] == "no-store")
        let json = try StrictJSON.parse(answer.body)
        #expect(json["url"] == .string("ws://localhost:7351/v1/connect"))
        guard case .string(let token) = json["token"] else {
            Issue.record("no token")
            return
        }
        let verifier = TokenVerifier(projects: [ServerConfig.devProject], limits: Limits())
        let claims = try verifier.verify(token, nowS: 1_750_000_000, scope: .battle).get()
        #expect(claims.player == "ada" && claims.name == "Ada é")
    }

    @Test func devTokensHaveTheirLimits() throws {
        #expect(reply("/dev/token").status == 400)
        #expect(reply("/dev/token?player=").status == 400)
        #expect(reply("/dev/token?player=%C3%A9").status == 400)
        #expect(reply("/dev/token?player=" + String(repeating: "a", count: 65)).status == 400)
        #expect(reply("/dev/token?player=a&name=" + String(repeating: "a", count: 65)).status == 400)
        for host in ["evil\"/x:1", "127.0.0.1", ":80", "a:", "a:99999", "", "a:b:c"] {
            let strange = reply("/dev/token?player=a", headers: ["host": host], secure: true)
            #expect(try StrictJSON.parse(strange.body)["url"] == .string("wss://127.0.0.1:7350/v1/connect"), "\(host)")
        }
        let six = reply("/dev/token?player=a", headers: ["host": "[::1]:81"])
        #expect(try StrictJSON.parse(six.body)["url"] == .string("ws://[::1]:81/v1/connect"))
    }

    @Test(arguments: [
        ("a.html", "text/html; charset=utf-8"), ("a.b.JS", "text/javascript; charset=utf-8"),
        ("x/y.css", "text/css; charset=utf-8"), ("a.svg", "image/svg+xml"), ("a.d.ts", "text/plain; charset=utf-8"),
        ("a", "application/octet-stream"), ("a.b/c", "application/octet-stream"), ("a.xyz", "application/octet-stream"),
        ("a.", "application/octet-stream"),
    ])
    func contentTypes(path: String, type: String) {
        #expect(ContentType.of(path: path) == type)
    }

    @Test func targetsAreSplitAndDecoded() throws {
        let target = try #require(RequestTarget("/a%2Fb+c?x=1&y&x=2&z=a%3D+b#frag"))
        #expect(target.path == "/a/b+c")
        #expect(target["x"] == "1" && target["y"] == "" && target["z"] == "a= b" && target["q"] == nil)
    }

    /// The folder that ships with the program is found and read.
    @Test func theBundledFilesAreLoaded() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(
            at: folder.appending(path: "sdk"), withIntermediateDirectories: true)
        try Data("x".utf8).write(to: folder.appending(path: "sdk/a.js"))
        try Data("x".utf8).write(to: folder.appending(path: ".hidden"))
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "sdk/out.js"), withDestinationURL: URL(filePath: "/etc/passwd"))
        let assets = try StaticAssets.load(folder: folder)
        #expect(assets["/sdk/a.js"]?.bytes == Array("x".utf8))
        #expect(assets["/.hidden"] == nil && assets["/sdk/out.js"] == nil)
    }
}
