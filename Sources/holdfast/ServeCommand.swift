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
        ], run: run)

    private static func run(_ arguments: Arguments) async throws -> Int32 {
        var flags = ServeFlags()
        flags.dev = arguments.flag("dev")
        flags.listen = arguments.string("listen")
        flags.port = try arguments.int("port", in: 0...65535).map { UInt16($0) }
        flags.tlsCertificate = arguments.string("tls-certificate")
        flags.tlsKey = arguments.string("tls-key")
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
}
