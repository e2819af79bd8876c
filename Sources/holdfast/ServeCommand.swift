internal import HoldfastNode
internal import HoldfastTransport

/// `holdfast serve`: runs a node until it is told to end.
enum ServeCommand {
    static let subcommand = Subcommand(
        name: "serve", summary: "runs a node",
        options: [
            .value("config", "FILE", "the config file, JSON"),
            .flag("dev", "serves the demo and hands out tokens to anyone; loopback only"),
            .value("listen", "ADDRESS", "the IP address to listen on (127.0.0.1)"),
            .value("port", "N", "the port for HTTP and WebSocket; 0 picks a free one (7350)"),
            .value("tls-certificate", "FILE", "speaks TLS with this certificate chain, PEM"),
            .value("tls-key", "FILE", "and its private key, PEM"),
            .value("node-id", "NAME", "takes part in a cluster under this name, which no other node has"),
            .value("roles", "A,B", "of gateway, room and matchmaker (all three)"),
            .value("etcd", "URL,URL", "etcd's members, http://HOST:PORT"),
            .value("link", "tcp://ADDRESS:PORT", "where links of other nodes come in"),
            .value("link-advertise", "tcp://HOST:PORT", "where others find that (the same)"),
            .value("link-keys", "FILE", "keys of holdfast keys (new ones at each start)"),
            .flag("insecure-links", "links are neither encrypted nor authenticated"),
            .value("advertise", "URL", "where clients and operators find this node (where it listens)"),
            .value("cluster", "NAME", "clusters with different names can share an etcd (main)"),
            .value("host-label", "NAME", "what fails together with this node: replicas go to different ones"),
            .value("replicas", "N", "how many nodes hold each shard (2)"),
            .flag("bootstrap", "writes the first records of a new cluster; does nothing to an old one"),
        ], run: run)

    private static func run(_ arguments: Arguments) async throws -> Int32 {
        var flags = ServeFlags()
        flags.dev = arguments.flag("dev")
        flags.listen = arguments.string("listen")
        flags.port = try arguments.int("port", in: 0...65535).map { UInt16($0) }
        flags.tlsCertificate = arguments.string("tls-certificate")
        flags.tlsKey = arguments.string("tls-key")
        flags.cluster = try clusterFlags(arguments)
        let file = try arguments.string("config").map(ConfigFile.read)
        let config = try ServerConfig.resolve(file: file, flags: flags)

        ignoreBrokenPipes()
        let node = try await Node.start(config: config)
        await node.watchSignals()
        StandardStream.output.write("holdfast: listening on \(node.url)\n")
        if config.dev { StandardStream.output.write("holdfast: the demo is at \(node.url)/demo/\n") }
        await node.run()
        return 0
    }

    private static func clusterFlags(_ arguments: Arguments) throws -> ClusterFlags {
        func list(_ name: String) -> [String]? {
            arguments.string(name)?.split(separator: ",").map(String.init)
        }
        var flags = ClusterFlags()
        flags.node = arguments.string("node-id")
        flags.roles = list("roles")
        flags.etcd = list("etcd")?.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        flags.link = arguments.string("link")
        flags.linkAdvertised = arguments.string("link-advertise")
        flags.insecureLinks = arguments.flag("insecure-links")
        flags.url = arguments.string("advertise")
        flags.cluster = arguments.string("cluster")
        flags.host = arguments.string("host-label")
        flags.replicas = try arguments.int("replicas", in: 1...5)
        flags.bootstraps = arguments.flag("bootstrap")
        if let path = arguments.string("link-keys") {
            flags.linkKeys = try LinkKeyFile.read(String(decoding: ConfigFile.read(path), as: UTF8.self), name: path)
        }
        return flags
    }
}
