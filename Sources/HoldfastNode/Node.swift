internal import Foundation
internal import HoldfastProtocol
internal import HoldfastTransport

/// Why a node could not start, in one line for people.
public struct StartError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What went wrong, and with what.
    public var message: String

    /// The message alone.
    public var description: String { message }
}

/// One running process of Holdfast: loops, the HTTP server, and the engine behind it.
public final class Node: Sendable {
    /// From the request to end until the process ends, whatever still hangs, in ms.
    static let drainMs: Int64 = 9000
    /// The same in a cluster, where shards have to move; a service manager must wait a little longer.
    static let clusterDrainMs: Int64 = 25_000
    /// Of these, so long for what is open after the engine has drained.
    static let lingerMs: Int64 = 500

    /// Where it listens: `http://127.0.0.1:7350`.
    public let url: String
    private let loops: EventLoopGroup
    private let server: HTTPServer
    private let handler: NodeHTTPHandler
    private let engine: any NodeEngine
    private let log: Log
    private let endRequested: Gate
    private let watch = Locked<SignalWatch?>(nil)
    private let drainsMs: Int64

    /// Starts a node with the engine of that type. When this returns, it takes clients.
    public static func start(
        config: ServerConfig, log: Log = Log(), engine engineType: any NodeEngine.Type
    ) async throws -> Node {
        let endRequested = Gate()
        let openFiles = raiseOpenFiles()
        let options = try serverOptions(config)
        let assets = try loadAssets(dev: config.dev, log: log)
        let loops = EventLoopGroup(count: config.loops > 0 ? config.loops : EventLoopGroup.processorCount)
        loops.start()
        do {
            let parts = NodeParts(
                config: config, verifier: TokenVerifier(projects: config.projects, limits: config.limits),
                loops: loops, log: log, requestEnd: { endRequested.open() })
            var metrics = MetricsRegistry()
            addProcessMetrics(to: &metrics, log: log)
            let engine = try await engineType.start(parts, metrics: &metrics)
            let router = NodeRouter(
                dev: config.dev, secure: options.tls != nil, assets: assets,
                devProject: config.dev
                    ? config.projects.first { $0.key == ServerConfig.devProject.key } : nil,
                limits: config.limits, host: hostInURL(config.listen))
            let handler = NodeHTTPHandler(router: router, engine: engine, log: log, metrics: metrics)
            let server = HTTPServer(group: loops, options: options, handler: handler)
            handler.metrics.withLock { metrics in
                metrics.computed("holdfast_sockets_open", "Open sockets of clients, HTTP and WebSocket.") {
                    Double(server.connectionCount)
                }
            }
            let port: UInt16
            do { port = try server.start() } catch { throw StartError(message: "cannot \(error)") }
            handler.listens(on: port)
            let url = "\(options.tls == nil ? "http" : "https")://\(hostInURL(config.listen)):\(port)"
            log.info(
                "node.started", ("version", .text(holdfastVersion)), ("url", .text(url)),
                ("loops", .number(loops.loops.count)), ("dev", .flag(config.dev)), ("openFiles", .number(openFiles)))
            return Node(
                url: url, loops: loops, server: server, handler: handler, engine: engine, log: log,
                endRequested: endRequested, drainsMs: config.cluster == nil ? drainMs : clusterDrainMs)
        } catch {
            loops.stop()
            throw error
        }
    }

    private init(
        url: String, loops: EventLoopGroup, server: HTTPServer, handler: NodeHTTPHandler, engine: any NodeEngine,
        log: Log, endRequested: Gate, drainsMs: Int64
    ) {
        self.endRequested = endRequested
        self.drainsMs = drainsMs
        self.url = url
        self.loops = loops
        self.server = server
        self.handler = handler
        self.engine = engine
        self.log = log
    }

    /// From now on SIGTERM and SIGINT mean `end`, and a second one ends the process at once.
    public func watchSignals() async {
        let made = SignalWatch(loop: loops[0]) { [weak self] in self?.signalled($0) }
        watch.withLock { $0 = made }
        // The loop takes its work in order: when this comes, the watch is in place.
        let inPlace = Gate()
        loops[0].execute { inPlace.open() }
        await inPlace.wait()
    }

    /// Runs until `end` is called. When this returns, every client was told, and all loops have stopped. Once only.
    public func run() async {
        await endRequested.wait()
        await drain()
        watch.withLock { $0 }?.close()
        loops.stop()
        log.info("node.stopped")
    }

    /// Asks the node to end; `run` returns when that is done.
    public func end() { endRequested.open() }

    private func signalled(_ signal: TerminationSignal) {
        log.info("node.signal", ("signal", .number(Int(signal.rawValue))))
        if !endRequested.open() { endProcess(status: 128 + signal.rawValue) }
    }

    private func drain() async {
        log.info("node.draining", ("sockets", .number(server.connectionCount)))
        handler.drain()
        server.stopAccepting()
        let deadline = Deadline(loop: loops[0], afterMs: drainsMs) { [log] in
            log.error("node.drainTooLong")
            endProcess(status: 0)
        }
        await engine.drain()
        server.closeAll(code: 1001, reason: "leaving")
        await deadline.until({ [server] in server.connectionCount == 0 }, atMostMs: Self.lingerMs)
        await deadline.cancel()
    }
}

// MARK: Putting together

extension Node {
    private static func serverOptions(_ config: ServerConfig) throws(StartError) -> HTTPServerOptions {
        var options = HTTPServerOptions()
        options.host = config.listen == "localhost" ? "127.0.0.1" : config.listen
        options.port = config.port
        // Room for monitoring and pages beside the links of players.
        options.maxConnections = config.limits.connectionsPerNode + 1000
        guard let tls = config.tls else { return options }
        do {
            options.tls = try TLSContext(certificateFile: tls.certificate, keyFile: tls.key)
        } catch {
            throw StartError(message: "TLS with \(tls.certificate) and \(tls.key): \(error)")
        }
        return options
    }

    /// The web files lie in a folder beside the program, where the build puts it.
    private static func loadAssets(dev: Bool, log: Log) throws -> StaticAssets {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let folder = program.appending(path: "Holdfast_HoldfastNode.resources/Web")
        guard FileManager.default.fileExists(atPath: folder.path) else {
            guard !dev else {
                throw StartError(message: "the demo's files are missing: \(folder.path) has to lie beside the program")
            }
            log.warning("web.missing", ("folder", .text(folder.path)))
            return StaticAssets()
        }
        return try StaticAssets.load(folder: folder)
    }

    private static func addProcessMetrics(to metrics: inout MetricsRegistry, log: Log) {
        metrics.gauge(
            "holdfast_build_info", "Always 1; the version stands in the label.", [("version", holdfastVersion)]
        )
        .set(1)
        metrics.computed("process_cpu_seconds_total", "CPU time used, in seconds.", kind: .counter) {
            ProcessUsage.cpuSeconds
        }
        metrics.computed("process_resident_memory_bytes", "Memory in RAM.") { Double(ProcessUsage.residentBytes) }
        let startedS = Double(WallClock.nowMs) / 1000
        metrics.computed("process_start_time_seconds", "When the process started, seconds since 1970.") { startedS }
        metrics.computed("holdfast_log_dropped_total", "Log lines that nobody read in time.", kind: .counter) {
            Double(log.dropped.value)
        }
    }

    static func hostInURL(_ host: String) -> String {
        host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }
}
