internal import HoldfastProtocol

/// Whether a node takes part.
enum NodeReadiness: String, Sendable {
    case starting
    case ready
    case draining
}

/// Decides what a request gets. A value: time, readiness and metrics are the caller's.
struct NodeRouter: Sendable {
    /// A request without its body; header names are looked up in lower case.
    struct Request {
        var method: String
        var target: String
        var headers: [String: String] = [:]
        /// The port on which it came.
        var port: UInt16 = 7350
    }

    /// Where the request goes.
    enum Route: Equatable {
        /// A WebSocket handshake for clients.
        case connect
        /// The text of the metrics, without its body for HEAD.
        case metrics
        case reply(HTTPReply)
    }

    let dev: Bool
    let secure: Bool
    let assets: StaticAssets
    /// Signs the tokens of `/dev/token`; nil without `--dev`.
    let devProject: ProjectSecrets?
    let limits: Limits
    /// The address to listen on as it stands in a URL; what a client is told when the request names no host and port.
    let host: String

    /// The header fields that decide anything, in lower case.
    static let readHeaders = ["host", "if-none-match"]

    /// Lifetime of a token that the demo gets, in seconds.
    static let devTokenLifetimeS: Int64 = 24 * 3600

    func route(_ request: Request, readiness: NodeReadiness, nowS: Int64) -> Route {
        guard let target = RequestTarget(request.target) else {
            return .reply(.error(400, .invalidRequest, "the request's target is no path"))
        }
        guard let route = found(target, request, readiness: readiness, nowS: nowS) else {
            return .reply(.error(404, .notImplemented, "nothing is at this path"))
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return .reply(
                .error(
                    405, .invalidRequest, "this path takes GET only",
                    headers: [HTTPReply.Header(name: "Allow", value: "GET, HEAD")]))
        }
        return route
    }

    private func found(
        _ target: RequestTarget, _ request: Request, readiness: NodeReadiness, nowS: Int64
    ) -> Route? {
        switch target.path {
        case "/v1/connect":
            return .connect
        case "/healthz":
            return .reply(.live(200, "ok\n"))
        case "/readyz":
            return .reply(.live(readiness == .ready ? 200 : 503, readiness.rawValue + "\n"))
        case "/metrics":
            return .metrics
        case "/", "/demo":
            return dev ? .reply(.redirect(to: "/demo/")) : nil
        case "/dev/token":
            return devProject.map { .reply(devToken(target, request, project: $0, nowS: nowS)) }
        default:
            let isSDK = target.path.hasPrefix("/sdk/")
            guard isSDK || dev && target.path.hasPrefix("/demo/"), let asset = assets[target.path] else { return nil }
            return .reply(StaticAssets.reply(asset, ifNoneMatch: request.headers["if-none-match"], shared: isSDK))
        }
    }

    private func devToken(
        _ target: RequestTarget, _ request: Request, project: ProjectSecrets, nowS: Int64
    ) -> HTTPReply {
        let claims = Claims(
            project: project.key, player: target["player"] ?? "", issuedAtS: nowS,
            expiresAtS: nowS + min(Self.devTokenLifetimeS, limits.tokenLifetimeS), name: target["name"] ?? "",
            avatar: target["avatar"] ?? "")
        let token = TokenSigner.sign(claims, secret: project.secrets.first ?? "")
        // The verifier knows what may be in a token; what it refuses is not handed out.
        if case .failure(let error) = TokenVerifier(projects: [project], limits: limits).verify(token, nowS: nowS) {
            return .error(400, .invalidRequest, error.message)
        }
        let named = request.headers["host"].flatMap { Self.isAuthority($0) ? $0 : nil }
        let host = named ?? "\(self.host):\(request.port)"
        let url = "\(secure ? "wss" : "ws")://\(host)/v1/connect"
        return .live(
            200, type: ContentType.json, "{\"token\":\(JSONText.quoted(token)),\"url\":\(JSONText.quoted(url))}")
    }

    /// Whether `host` is a host with a port, so that it can stand in a URL. Without one it is no browser that came
    /// here, unless somebody forwards port 80.
    private static func isAuthority(_ host: String) -> Bool {
        let port = host.split(separator: ":").last.flatMap { UInt16($0) }
        return port != nil && !host.hasPrefix(":") && host.contains(":") && (1...255).contains(host.utf8.count)
            && host.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                case UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"): true
                default: false
                }
            }
    }
}
