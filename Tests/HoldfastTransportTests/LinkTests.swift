import Synchronization
import Testing

@testable import HoldfastTransport

/// A node's end of its links, on a loop of its own.
private actor Peer: LinkReceiver {
    struct Word: Equatable, Sendable {
        let bytes: [UInt8]
        let key: String?
    }

    let loop: EventLoop
    let keys: CurveKeys?
    let words = Inbox<Word>()
    let refused = Inbox<String>()
    let failed = Inbox<Bool>()
    let connections = Inbox<Bool>()
    private nonisolated let known: Locked<Set<String>>
    private var hub: LinkHub?
    private var ways: [LinkSender] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop, keys: CurveKeys?, known: Set<String> = []) {
        self.loop = loop
        self.keys = keys
        self.known = Locked(known)
    }

    func listen(at endpoint: String = "tcp://127.0.0.1:*", queued: Int32 = 1_000) throws -> String {
        var options = LinkOptions(bind: endpoint, keys: keys)
        options.queued = queued
        let hub = try LinkHub(loop: loop, options: options)
        try hub.listen(self)
        self.hub = hub
        return hub.endpoint
    }

    /// - Returns: the number of the way.
    func open(to endpoint: String, key: String) throws -> Int {
        guard let hub else { return -1 }
        ways.append(
            try hub.open(to: endpoint, key: key) { [connections] isConnected in connections.put(isConnected) })
        return ways.count - 1
    }

    func send(_ bytes: [UInt8], on way: Int) -> Bool { ways[way].send(bytes) }

    func end() {
        ways = []
        hub?.close()
        hub = nil
    }

    nonisolated func mayConnect(key: String, address: String) -> Bool {
        let isKnown = known.withLock { $0.contains(key) }
        if !isKnown { refused.put(key) }
        return isKnown
    }

    nonisolated func received(_ message: [UInt8], key: String?) { words.put(Word(bytes: message, key: key)) }

    nonisolated func handshakeFailed(address: String) { failed.put(true) }
}

@Suite struct LinkTests {
    private func withLoop(_ body: (EventLoop) async throws -> Void) async throws {
        let loop = EventLoop(name: "test")
        loop.start()
        defer { loop.stop() }
        try await body(loop)
    }

    private func keys() throws -> CurveKeys { try #require(CurveKeys.make()) }

    @Test func aMessageComesWithTheKeyOfWhoSentIt() async throws {
        try await withLoop { loop in
            let (first, second) = (try keys(), try keys())
            let a = Peer(loop, keys: first)
            let b = Peer(loop, keys: second, known: [first.publicKey])
            let endpoint = try await b.listen()
            _ = try await a.listen()
            let way = try await a.open(to: endpoint, key: second.publicKey)
            for number in UInt8(0)..<200 { #expect(await a.send([number], on: way)) }
            for number in UInt8(0)..<200 {
                #expect(await b.words.next() == Peer.Word(bytes: [number], key: first.publicKey))
            }
            #expect(await a.connections.next() == true)
            // The end of a peer is seen at once.
            await b.end()
            #expect(await a.connections.next() == false)
            await a.end()
        }
    }

    @Test func aStrangerIsRefused() async throws {
        try await withLoop { loop in
            let (first, second) = (try keys(), try keys())
            let stranger = Peer(loop, keys: first)
            let b = Peer(loop, keys: second)
            let endpoint = try await b.listen()
            _ = try await stranger.listen()
            let way = try await stranger.open(to: endpoint, key: second.publicKey)
            _ = await stranger.send([1], on: way)
            #expect(await b.refused.next() == first.publicKey)
            await stranger.end()
            await b.end()
        }
    }

    @Test func whoHasTheWrongKeyOfTheServerIsHeardOf() async throws {
        try await withLoop { loop in
            let (first, second, third) = (try keys(), try keys(), try keys())
            let a = Peer(loop, keys: first)
            let b = Peer(loop, keys: second, known: [first.publicKey])
            let endpoint = try await b.listen()
            _ = try await a.listen()
            _ = try await a.open(to: endpoint, key: third.publicKey)
            #expect(await b.failed.next() == true)
            await a.end()
            await b.end()
        }
    }

    @Test func whoSpeaksInTheClearIsHeardOf() async throws {
        try await withLoop { loop in
            let second = try keys()
            let a = Peer(loop, keys: nil)
            let b = Peer(loop, keys: second)
            let endpoint = try await b.listen()
            _ = try await a.listen()
            _ = try await a.open(to: endpoint, key: "")
            #expect(await b.failed.next() == true)
            await a.end()
            await b.end()
        }
    }

    @Test func linksWithoutKeysAreThereWhereNobodyAsksForMore() async throws {
        try await withLoop { loop in
            let (a, b) = (Peer(loop, keys: nil), Peer(loop, keys: nil))
            let endpoint = try await b.listen()
            _ = try await a.listen()
            let way = try await a.open(to: endpoint, key: "")
            #expect(await a.send([7], on: way))
            #expect(await b.words.next() == Peer.Word(bytes: [7], key: nil))
            await a.end()
            await b.end()
        }
    }

    @Test func aWayThatIsFullRefuses() async throws {
        try await withLoop { loop in
            let a = Peer(loop, keys: nil)
            _ = try await a.listen(queued: 5)
            // Nobody listens there: port 1 of this machine.
            let way = try await a.open(to: "tcp://127.0.0.1:1", key: "")
            var taken = 0
            for _ in 0..<100 where await a.send([1], on: way) { taken += 1 }
            #expect((1..<100).contains(taken))
            await a.end()
        }
    }

    // MARK: Keys

    @Test func keysAreOnePair() throws {
        let (first, second) = (try keys(), try keys())
        #expect(CurveKeys(publicKey: first.publicKey, secretKey: first.secretKey) == first)
        #expect(CurveKeys(publicKey: first.publicKey, secretKey: second.secretKey) == nil)
        #expect(CurveKeys(publicKey: "short", secretKey: first.secretKey) == nil)
        #expect(!CurveKeys.isKey(String(repeating: "~", count: 40)), "no character of Z85")
    }

    // MARK: Probes

    private func probe(_ loop: EventLoop, port: UInt16, timeoutMs: Int64 = 400) async -> PortAnswer {
        await withCheckedContinuation { continuation in
            loop.execute {
                PortProbe.run(host: "127.0.0.1", port: port, on: loop, timeoutMs: timeoutMs) {
                    continuation.resume(returning: $0)
                }
            }
        }
    }

    @Test func aProbeTellsALivingPeerFromAClosedPort() async throws {
        try await withLoop { loop in
            let b = Peer(loop, keys: nil)
            let endpoint = try await b.listen()
            let port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
            #expect(await probe(loop, port: port) == .open)
            await b.end()
            #expect(await probe(loop, port: 1) == .refused)
        }
    }

    @Test func whoAcceptsAndSaysNothingMayBeThere() async throws {
        try await withLoop { loop in
            let silent = try SilentServer()
            defer { silent.close() }
            #expect(await probe(loop, port: silent.port, timeoutMs: 50) == .unknown)
        }
    }
}
