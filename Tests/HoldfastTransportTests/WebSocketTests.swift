import Testing

@testable import HoldfastTransport

/// Both ends of WebSockets over real sockets.
@Suite(.timeLimit(.minutes(2))) struct WebSocketTests {
    @Test func aFaultLeavesTimeForLastWords() async throws {
        let world = try World()
        defer { world.stop() }
        let faults: [(bytes: [UInt8], fault: WebSocketFault)] = [
            (Wire.frame(1, [97], isMasked: false), .protocolError),
            (Wire.frame(1, [0xFF]), .invalidUTF8),
            (Wire.frame(2, [UInt8](repeating: 0, count: 96 * 1024 + 1)), .messageTooLarge),
            (
                Wire.frame(2, [UInt8](repeating: 0, count: 60_000), isFinal: false)
                    + Wire.frame(0, [UInt8](repeating: 0, count: 60_000)), .messageTooLarge
            ),
        ]
        for item in faults {
            let peer = try RawPeer(port: world.port)
            try peer.upgrade()
            // Much more is on the way than the server looks at: it must not answer with a reset.
            peer.send(item.bytes + [UInt8](repeating: 0x55, count: 200_000))
            #expect(try peer.takeFrame() == (0x81, Array("last words".utf8)))
            let code = item.fault.closeCode
            #expect(try peer.takeFrame() == (0x88, [UInt8(code >> 8), UInt8(code & 255)]))
            #expect(!peer.read())
            peer.endSending()
            let server = try #require(await world.accepted.next())
            #expect(await server.next() == .fault(item.fault))
            #expect(await server.next() == .closed(.local))
        }
    }

    @Test func aFaultThatNobodySeesToIsClosed() async throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade("/keep")
        peer.send(Wire.frame(3))
        let server = try #require(await world.accepted.next())
        #expect(await server.next() == .fault(.protocolError))
        #expect(try peer.takeFrame() == (0x88, [3, 234]))
    }

    @Test func pingsAreAnsweredBetweenFragments() throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade()
        peer.send(Wire.frame(1, [97], isFinal: false) + Wire.frame(9, [1, 2, 3]) + Wire.frame(0, [98]))
        #expect(try peer.takeFrame() == (0x8A, [1, 2, 3]))
        #expect(try peer.takeFrame() == (0x81, [97, 98]))
    }

    @Test func largeMessagesInManyFragments() async throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade()
        var generator = SplitMix(state: 7)
        let payload = (0..<(96 * 1024)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var bytes: [UInt8] = []
        var rest = payload[...]
        var opcode: UInt8 = 2
        while !rest.isEmpty {
            let piece = Array(rest.prefix(Int.random(in: 0...3000, using: &generator)))
            rest = rest.dropFirst(piece.count)
            bytes += Wire.frame(opcode, piece, isFinal: rest.isEmpty)
            if !rest.isEmpty { bytes += Wire.frame(10) }
            opcode = 0
        }
        peer.send(bytes)
        let echo = try peer.takeFrame()
        #expect(echo.first == 0x82)
        #expect(echo.payload == payload)
    }

    @Test func thePeerClosesFirst() async throws {
        let world = try World()
        defer { world.stop() }
        for (bytes, end, answer) in [
            (Wire.close(1000, "done"), WebSocketEnd.peer(code: 1000, reason: "done"), [UInt8(3), 232]),
            (Wire.close(4321), .peer(code: 4321, reason: ""), [16, 225]),
            (Wire.frame(8), .peer(code: 1005, reason: ""), []),
        ] {
            let peer = try RawPeer(port: world.port)
            try peer.upgrade()
            // What follows a close frame is not looked at.
            peer.send(bytes + Wire.text("late"))
            #expect(try peer.takeFrame() == (0x88, answer))
            #expect(!peer.read())
            let server = try #require(await world.accepted.next())
            #expect(await server.next() == .closed(end))
        }
    }

    @Test func thePeerGoesWithoutAWord() async throws {
        let world = try World()
        defer { world.stop() }
        var peer: RawPeer? = try RawPeer(port: world.port)
        try peer?.upgrade()
        let first = try #require(await world.accepted.next())
        peer = nil
        #expect(await first.next() == .closed(.eof))

        peer = try RawPeer(port: world.port)
        try peer?.upgrade()
        let second = try #require(await world.accepted.next())
        peer?.resetOnClose()
        peer = nil
        guard case .closed(.reset) = await second.next() else {
            Issue.record("not a reset")
            return
        }
    }

    @Test func aHalfOpenPeerEndsTheWebSocket() async throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade()
        peer.send(Wire.text("last"))
        peer.endSending()
        let server = try #require(await world.accepted.next())
        #expect(await server.next() == .text("last"))
        #expect(await server.next() == .closed(.eof))
    }

    @Test func closeComesAfterWhatIsQueuedOrInsteadOfIt() async throws {
        let world = try World()
        defer { world.stop() }
        for isAfter in [true, false] {
            let peer = try RawPeer(port: world.port)
            try peer.upgrade()
            let server = try #require(await world.accepted.next())
            server.onLoop {
                $0.send(PreparedFrame(text: "queued"))
                $0.close(code: 4000, reason: "why", afterFlush: isAfter)
                $0.send(PreparedFrame(text: "too late"))
                $0.close(code: 4001)
            }
            if isAfter { #expect(try peer.takeFrame() == (0x81, Array("queued".utf8))) }
            #expect(try peer.takeFrame() == (0x88, [15, 160] + Array("why".utf8)))
            peer.send(Wire.text("ignored") + Wire.close(4000))
            #expect(await server.next() == .closed(.local))
            #expect(!peer.read())
        }
    }

    @Test func closeDoesNotWaitForEver() async throws {
        var options = WebSocketOptions()
        options.closeTimeoutMs = 50
        let world = try World(webSocketOptions: options)
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade()
        let server = try #require(await world.accepted.next())
        server.close(1000)
        #expect(await server.next() == .closed(.local))
        #expect(try peer.takeFrame().first == 0x88)
        #expect(!peer.read())
    }

    @Test func abortIsReportedOnceAndAfterwards() async throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade()
        let server = try #require(await world.accepted.next())
        server.onLoop { connection in
            connection.abort()
            connection.abort()
            connection.close()
            connection.send(PreparedFrame(text: "no"))
            server.seen.put(.text("after the call"))
        }
        #expect(await server.next() == .text("after the call"))
        #expect(await server.next() == .closed(.local))
        #expect(peer.readAll().isEmpty)
    }

    @Test func everythingSentInABatchLeavesInOneCall() async throws {
        let world = try World(loops: 1)
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade()
        let server = try #require(await world.accepted.next())
        let frame = PreparedFrame(text: String(repeating: "x", count: 100))
        let counts = Inbox<UInt64>()
        server.onLoop { connection in
            counts.put(connection.loop.writeCalls)
            for _ in 0..<20 { connection.send(frame) }
            connection.loop.execute { for _ in 0..<20 { connection.send(frame) } }
            connection.loop.afterBatch { for _ in 0..<20 { connection.send(frame) } }
        }
        for _ in 0..<60 { #expect(try peer.takeFrame().payload.count == 100) }
        server.onLoop { counts.put($0.loop.writeCalls) }
        let before = try #require(await counts.next())
        let after = try #require(await counts.next())
        #expect(after - before == 1)
    }

    @Test func aPeerThatDoesNotReadHoldsNobodyUp() async throws {
        let world = try World(loops: 1)
        defer { world.stop() }
        let slow = try RawPeer(port: world.port, receiveBuffer: 4096)
        try slow.upgrade()
        let slowServer = try #require(await world.accepted.next())
        let quick = try RawPeer(port: world.port)
        try quick.upgrade()
        let frame = PreparedFrame(.binary, payload: [UInt8](repeating: 1, count: 64 * 1024))
        let queued = Inbox<Int>()
        slowServer.onLoop { connection in
            for _ in 0..<256 { connection.send(frame) }
            connection.loop.execute {
                connection.loop.afterBatch {
                    // After the flush of this batch.
                    connection.loop.execute { queued.put(connection.queuedBytes) }
                }
            }
        }
        quick.send(Wire.text("still there?"))
        #expect(try quick.takeFrame().payload == Array("still there?".utf8))
        #expect(try #require(await queued.next()) > 1024 * 1024)
        for _ in 0..<256 { #expect(try slow.takeFrame().payload.count == 64 * 1024) }
        #expect(await slowServer.next() == .drained)
        slowServer.onLoop { queued.put($0.queuedBytes) }
        #expect(await queued.next() == 0)
    }

    @Test func pingsOfAPeerThatDoesNotReadAreBounded() async throws {
        let world = try World(loops: 1)
        defer { world.stop() }
        let peer = try RawPeer(port: world.port, receiveBuffer: 4096)
        try peer.upgrade()
        let server = try #require(await world.accepted.next())
        let flood = (0..<2000).flatMap { _ in Wire.frame(9, [UInt8](repeating: 1, count: 125)) }
        // 13 MB of pings; the answers do not fit into the sockets' buffers.
        for _ in 0..<50 { #expect(peer.send(flood)) }
        peer.send(Wire.frame(9, [42]) + Wire.text("end"))
        var seen = await server.next()
        while seen == .drained { seen = await server.next() }
        #expect(seen == .text("end"))
        let queued = Inbox<Int>()
        server.onLoop { queued.put($0.queuedBytes) }
        #expect(try #require(await queued.next()) < 64 * 1024)
        var last = (first: UInt8(0), payload: [UInt8]())
        repeat { last = try peer.takeFrame() } while last.payload != [42]
        #expect(last.first == 0x8A)
    }

    @Test func aPausedConnectionHoldsMessagesBack() async throws {
        let world = try World(loops: 1)
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade("/")
        let server = try #require(await world.accepted.next())
        let paused = Inbox<Void>()
        server.onLoop {
            $0.pauseReading()
            paused.put(())
        }
        await paused.next()
        peer.send(Wire.text("one") + Wire.text("two"))
        server.onLoop {
            server.seen.put(.text("nothing yet"))
            $0.resumeReading()
        }
        #expect(await server.next() == .text("nothing yet"))
        #expect(await server.next() == .text("one"))
        #expect(await server.next() == .text("two"))
    }

    @Test func aPongCountsAsASignOfLife() async throws {
        let world = try World(loops: 1)
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade()
        let server = try #require(await world.accepted.next())
        let times = Inbox<Int64>()
        server.onLoop {
            times.put($0.lastReceivedMs)
            $0.ping()
        }
        #expect(try peer.takeFrame() == (0x89, []))
        let first = try #require(await times.next())
        while EventLoop.nowMs <= first + 1 { await Task.yield() }
        peer.send(Wire.frame(10) + Wire.text("sync"))
        #expect(await server.next() == .text("sync"))
        server.onLoop { times.put($0.lastReceivedMs) }
        #expect(try #require(await times.next()) > first)
    }

    @Test func earlyFramesBehindTheHandshakeAreNotLost() async throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send(Array(RawPeer.upgradeRequest().utf8) + Wire.text("early"))
        #expect(try peer.takeHead().hasPrefix("HTTP/1.1 101 "))
        #expect(try peer.takeFrame().payload == Array("early".utf8))
    }

    @Test func aStoppingLoopEndsItsConnections() async throws {
        let world = try World()
        let clients = try await (world.connect(), world.connect())
        let servers = [try #require(await world.accepted.next()), try #require(await world.accepted.next())]
        let silent = try RawPeer(port: world.port)
        let half = try RawPeer(port: world.port)
        half.send("GET / HT")
        world.stop()
        for recorder in servers + [clients.0, clients.1] {
            var seen = await recorder.next()
            if seen == .drained { seen = await recorder.next() }
            guard case .closed = seen else {
                Issue.record("\(String(describing: seen))")
                continue
            }
        }
        #expect(silent.readAll().isEmpty && half.readAll().isEmpty)
    }

    @Test func closeAllSaysGoodbye() async throws {
        let world = try World()
        defer { world.stop() }
        let client = try await world.connect()
        world.server?.closeAll(code: 1012, reason: "restart")
        #expect(await client.next() == .closed(.peer(code: 1012, reason: "restart")))
        let server = try #require(await world.accepted.next())
        #expect(await server.next() == .closed(.local))
        #expect(throws: (any Error).self) {
            let late = try RawPeer(port: world.port)
            try late.upgrade()
        }
    }
}

/// A small seeded generator.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
