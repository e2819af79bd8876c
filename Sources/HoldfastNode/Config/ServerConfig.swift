public import HoldfastProtocol

/// Everything that a node can be told: the config file's fields, with the flags laid over them.
public struct ServerConfig: Equatable, Sendable {
    /// Where certificate and key lie, both PEM files.
    public struct TLS: Equatable, Sendable {
        /// The certificate, followed by those between it and the root.
        public var certificate: String
        /// The private key.
        public var key: String

        /// Paths of the two files.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// The project of `--dev`.
    public static let devProject = ProjectSecrets(key: "dev", secrets: ["holdfast-dev-secret"])
    /// Projects of one node.
    public static let projectLimit = 1000
    /// The longest project key, in bytes.
    public static let projectKeyBytes = 64
    /// The longest secret, in bytes.
    public static let secretBytes = 1024
    /// The largest config file that is read, in bytes.
    public static let fileBytes = 1024 * 1024

    /// The address to listen on: an IP address or `localhost`.
    public var listen = "127.0.0.1"
    /// The port for HTTP and WebSocket; 0 lets the system pick one.
    public var port: UInt16 = 7350
    /// Absent: no TLS.
    public var tls: TLS?
    /// The projects that are served.
    public var projects: [ProjectSecrets] = []
    /// Limits of the protocol and the node.
    public var limits = Limits()
    /// Event loops; 0 is one for each core.
    public var loops = 0
    /// Whether the demo and its tokens are served. Loopback only.
    public var dev = false
    /// Absent: the node is a cluster of its own.
    public var cluster: ClusterConfig?

    /// Where clients reach it, unless it is told otherwise.
    var url: String { "\(tls == nil ? "http" : "https")://\(Node.hostInURL(listen)):\(port)" }

    /// A config with every default: without projects, so it starts only with `dev`.
    public init() {}

    /// Whether only this machine can reach what listens on `address`.
    static func isLoopback(_ address: String) -> Bool {
        if address == "localhost" || address == "::1" { return true }
        let parts = address.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt8(part) : nil
        }
        return parts.count == 4 && numbers.count == 4 && numbers[0] == 127
    }
}

/// Why a node does not start as it was told. The message names the field, what it may be and what came; it never
/// holds a secret.
public struct ConfigError: Error, Equatable, Sendable {
    /// One line for people.
    public var message: String

    /// An error with its message.
    public init(_ message: String) { self.message = message }
}

/// What the flags of `holdfast serve` say; nil where nothing was said.
public struct ServeFlags: Equatable, Sendable {
    public var dev = false
    public var listen: String?
    public var port: UInt16?
    public var tlsCertificate: String?
    public var tlsKey: String?
    public var cluster = ClusterFlags()

    /// Flags that say nothing.
    public init() {}
}

extension ServerConfig {
    /// The config of the file's bytes (nil: no file) with the flags over it, checked as a whole.
    public static func resolve(file: [UInt8]?, flags: ServeFlags) throws(ConfigError) -> ServerConfig {
        var config = ServerConfig()
        if let file { config = try ConfigReader.read(file) }
        config.dev = flags.dev
        if let listen = flags.listen { config.listen = listen }
        if let port = flags.port { config.port = port }
        if flags.tlsCertificate != nil || flags.tlsKey != nil {
            let certificate = flags.tlsCertificate ?? config.tls?.certificate
            let key = flags.tlsKey ?? config.tls?.key
            guard let certificate, let key else {
                throw ConfigError("TLS needs both --tls-certificate and --tls-key; only one was given")
            }
            config.tls = TLS(certificate: certificate, key: key)
        }
        config.cluster = try flags.cluster.over(config.cluster)
        try config.finish()
        return config
    }

    private mutating func finish() throws(ConfigError) {
        if dev {
            guard Self.isLoopback(listen) else {
                throw ConfigError(
                    "--dev hands out tokens to anyone, so it listens on loopback only (127.0.0.1, ::1), not on "
                        + "'\(listen)'; leave out --dev and name your projects in a config file (--config FILE)")
            }
            if !projects.contains(where: { $0.key == Self.devProject.key }) { projects.append(Self.devProject) }
        }
        guard !projects.isEmpty else {
            throw ConfigError(
                "no project is configured: try `holdfast serve --dev`, or start with --config FILE, where FILE holds "
                    + #"{"projects":[{"key":"my-game","secret":"..."}]}"#)
        }
        if cluster != nil, port == 0 {
            throw ConfigError("port: a node of a cluster needs a fixed one, for the others are told of it")
        }
        for (name, value, bound) in [
            ("listPage", limits.listPageDefault, limits.listPage),
            ("frameRate", limits.frameRateDefault, limits.frameRate),
        ] where value > bound {
            throw ConfigError("limits.\(name)Default: at most limits.\(name) (\(bound)), got \(value)")
        }
    }
}
