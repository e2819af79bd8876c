import Glibc
import Testing

@testable import HoldfastTransport

/// A certificate for `127.0.0.1`, made for the run by the `openssl` program.
struct TestCertificate {
    let certificate: String
    let key: String

    static let shared = TestCertificate()

    private init() {
        // Made anew by each run, in the package's own folder of things that were made.
        let folder = ".build/tls-tests"
        mkdir(".build", 0o755)
        mkdir(folder, 0o700)
        certificate = folder + "/certificate.pem"
        key = folder + "/key.pem"
        let arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key, "-out",
            certificate,
        ]
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        pointers.append(nil)
        var process = pid_t()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        if posix_spawnp(&process, "openssl", &actions, nil, pointers, environ) == 0 { waitpid(process, nil, 0) }
        posix_spawn_file_actions_destroy(&actions)
        for pointer in pointers { free(pointer) }
    }

    func world(loops: Int = 2) throws -> World {
        var options = HTTPServerOptions()
        options.tls = try TLSContext(certificateFile: certificate, keyFile: key)
        return try World(loops: loops, options: options)
    }
}

@Suite(.timeLimit(.minutes(2))) struct TLSTests {
    let certificate = TestCertificate.shared

    @Test func clientAndServerTalk() async throws {
        let world = try certificate.world()
        defer { world.stop() }
        let client = try await world.connect(tls: TLSContext(trust: .file(certificate.certificate)))
        client.send("secret")
        #expect(await client.next() == .text("secret"))
        for count in [16_384, 16_385, 96 * 1024] {
            let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            client.onLoop { $0.send(PreparedFrame(.binary, payload: payload)) }
            var seen = await client.next()
            while seen == .drained { seen = await client.next() }
            #expect(seen == .binary(payload))
        }
        client.close(1000)
        #expect(await client.next() == .closed(.local))
        let server = try #require(await world.accepted.next())
        var seen: Seen? = nil
        repeat {
            seen = await server.next()
            if case .closed(let end) = seen { #expect(end == .peer(code: 1000, reason: "")) }
        } while seen.map { if case .closed = $0 { false } else { true } } ?? false
    }

    @Test func trustIsAsked() async throws {
        let world = try certificate.world()
        defer { world.stop() }
        await #expect(throws: WebSocketConnectError.self) { try await world.connect(tls: TLSContext(trust: .system)) }
        let client = try await world.connect(tls: TLSContext(trust: .anybody))
        client.send("x")
        #expect(await client.next() == .text("x"))
        let wrongName: WebSocketConnectError? = await withCheckedContinuation { continuation in
            var options = WebSocketClientOptions()
            options.tls = try? TLSContext(trust: .file(certificate.certificate))
            WebSocketClient.connect(
                to: "wss://127.0.0.2:\(world.port)/", on: world.group.loops[0], options: options,
                opened: { connection in
                    continuation.resume(returning: nil)
                    return Recorder(connection)
                }, failed: { continuation.resume(returning: $0) })
        }
        #expect(wrongName != nil)
    }

    @Test func whoDoesNotSpeakTLSIsTurnedAway() async throws {
        let world = try certificate.world()
        defer { world.stop() }
        let plain = try RawPeer(port: world.port)
        plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let bytes = plain.readAll()
        #expect(bytes.first == 21 || bytes.isEmpty, "an alert or nothing")
        while world.server?.connectionCount != 0 { await Task.yield() }
    }

    @Test func aSlowReaderOverTLSHoldsNobodyUp() async throws {
        let world = try certificate.world(loops: 1)
        defer { world.stop() }
        let tls = try TLSContext(trust: .file(certificate.certificate))
        let slow = try await world.connect(path: "/", tls: tls)
        let slowServer = try #require(await world.accepted.next())
        let quick = try await world.connect(tls: tls)
        slow.onLoop { $0.pauseReading() }
        let frame = PreparedFrame(.binary, payload: [UInt8](repeating: 9, count: 64 * 1024))
        slowServer.onLoop { connection in for _ in 0..<256 { connection.send(frame) } }
        quick.send("there?")
        #expect(await quick.next() == .text("there?"))
        slow.onLoop { $0.resumeReading() }
        for _ in 0..<256 { #expect(await slow.next() == .binary([UInt8](repeating: 9, count: 64 * 1024))) }
        slowServer.close(1000)
        #expect(await slow.next() == .closed(.peer(code: 1000, reason: "")))
    }

    @Test func manyFramesOfABatchShareARecord() async throws {
        let world = try certificate.world(loops: 1)
        defer { world.stop() }
        let client = try await world.connect(path: "/", tls: TLSContext(trust: .anybody))
        let server = try #require(await world.accepted.next())
        let counts = Inbox<UInt64>()
        server.onLoop { connection in
            counts.put(connection.loop.writeCalls)
            for number in 0..<50 { connection.send(PreparedFrame(text: "\(number)")) }
        }
        for number in 0..<50 { #expect(await client.next() == .text("\(number)")) }
        server.onLoop { counts.put($0.loop.writeCalls) }
        let before = try #require(await counts.next())
        #expect(try #require(await counts.next()) - before == 1)
    }

    @Test func badFilesAreErrors() {
        #expect(throws: TLSError.self) { try TLSContext(certificateFile: "/none", keyFile: certificate.key) }
        #expect(throws: TLSError.self) {
            try TLSContext(certificateFile: certificate.certificate, keyFile: certificate.certificate)
        }
        #expect(throws: TLSError.self) { try TLSContext(trust: .file("/none")) }
    }
}
