internal import HoldfastNode
internal import HoldfastProtocol
internal import HoldfastTransport

/// `holdfast token`: prints a token that lets a player in, or a backend call the HTTP API.
enum TokenCommand {
    static let subcommand = Subcommand(
        name: "token", summary: "makes a token",
        options: [
            .value("player", "ID", "the player, 1 to 64 bytes of printable ASCII (not needed for --scope admin)"),
            .value("project", "KEY", "the project (the only one of the config file, or dev)"),
            .value("secret", "SECRET", "the project's secret (that of project dev)"),
            .value("config", "FILE", "takes the project's secret from a config file instead"),
            .value("scope", "SCOPE", "battle, session.connect or admin (battle)"),
            .value("name", "NAME", "what others see, at most 64 bytes"),
            .value("avatar", "URL", "a picture, at most 512 bytes"),
            .value("session", "ID", "the session, for --scope session.connect"),
            .value("role", "ROLE", "subscriber, publisher or moderator, for a session"),
            .value("ttl", "SECONDS", "how long it is good (86400; for --scope admin 300)"),
        ], run: run)

    private static func run(_ arguments: Arguments) async throws -> Int32 {
        let scopeName = arguments.string("scope") ?? TokenScope.battle.rawValue
        guard let scope = TokenScope(rawValue: scopeName) else {
            throw UsageError(
                "--scope: \(TokenScope.allCases.map(\.rawValue).joined(separator: ", ")), got '\(scopeName)'")
        }
        var limits = Limits()
        var key = arguments.string("project") ?? ServerConfig.devProject.key
        var project = ProjectSecrets(key: key, secrets: arguments.string("secret").map { [$0] } ?? [])
        if let file = arguments.string("config") {
            guard project.secrets.isEmpty else { throw UsageError("--secret and --config exclude each other") }
            let config = try ServerConfig.resolve(file: ConfigFile.read(file), flags: ServeFlags())
            if arguments.string("project") == nil, config.projects.count == 1, let only = config.projects.first {
                key = only.key
            }
            guard let found = config.projects.first(where: { $0.key == key }) else {
                throw UsageError("\(file) has no project '\(key)'")
            }
            project = found
            limits = config.limits
        }
        if project.secrets.isEmpty {
            guard key == ServerConfig.devProject.key else { throw UsageError("--secret or --config is needed") }
            project = ServerConfig.devProject
        }
        let longestS = scope == .admin ? TokenVerifier.adminLifetimeS : limits.tokenLifetimeS
        let lifetimeS = try arguments.int("ttl", in: 1...Int(longestS)).map(Int64.init) ?? min(86_400, longestS)
        let nowS = WallClock.nowS
        let claims = Claims(
            project: key, player: arguments.string("player") ?? "", issuedAtS: nowS, expiresAtS: nowS + lifetimeS,
            scope: scope, name: arguments.string("name") ?? "", avatar: arguments.string("avatar") ?? "",
            sessionID: arguments.string("session"), role: arguments.string("role"))
        if claims.player.isEmpty && scope != .admin { throw UsageError("--player is needed") }
        let token = TokenSigner.sign(claims, secret: project.secrets.first ?? "")
        // What the server would refuse is not handed out.
        if case .failure(let error) = TokenVerifier(projects: [project], limits: limits).verify(token, nowS: nowS) {
            throw UsageError(error.message)
        }
        guard StandardStream.output.write(token + "\n") else { throw Failure(message: "standard output is closed") }
        return 0
    }
}
