import Testing

@testable import HoldfastTransport

@Suite(.timeLimit(.minutes(2))) struct HTTPTests {
    @Test func oneConnectionManyRequests() throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        for number in 0..<3 {
            peer.send("GET /\(number)?a=1 HTTP/1.1\r\nHost: x\r\n\r\n")
            let (head, body) = try peer.takeResponse()
            #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && head.contains("connection: keep-alive"))
            #expect(body == "GET /\(number) 0")
        }
        peer.send("POST /p HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc")
        let (head, body) = try peer.takeResponse()
        #expect(head.contains("connection: close") && body == "POST /p 3")
        #expect(!peer.read())
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        // Every answer comes later, from another thread than the loop's.
        let elsewhere = EventLoop(name: "elsewhere")
        elsewhere.start()
        defer { elsewhere.stop() }
        let world = try World { request, exchange in
            elsewhere.execute { exchange.respond(HTTPResponse(200, text: request.path)) }
        }
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send((0..<50).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined())
        for number in 0..<50 { #expect(try peer.takeResponse().body == "/\(number)") }
    }

    @Test func aRequestInSinglesBytesIsTheSame() async throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        let text =
            "POST /a/b%20c?x=%C3%A9&y=1+2&z HTTP/1.1\r\nHost: x\r\nX-Thing:  one , two \r\nx-thing: three\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n"
        for byte in text.utf8 { peer.send([byte]) }
        #expect(try peer.takeResponse().body == "POST /a/b%20c 5")
        let request = try #require(await world.requests.next())
        #expect(request.body == Array("abcde".utf8))
        #expect(request.pathParts == ["a", "b c"])
        #expect(request.queryValue("x") == "é" && request.queryValue("y") == "1 2" && request.queryValue("z") == "")
        #expect(request.queryValue("none") == nil)
        #expect(request.headers.list("x-thing") == ["one", "two", "three"])
        #expect(request.remoteAddress == "127.0.0.1")
    }

    struct Bad: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        let status: Int
        var testDescription: String { name }
    }

    static let long = String(repeating: "x", count: 17_000)
    static let bad: [Bad] = [
        Bad(name: "no HTTP", text: "hello there\r\n\r\n", status: 400),
        Bad(name: "no host", text: "GET / HTTP/1.1\r\n\r\n", status: 400),
        Bad(name: "two hosts", text: "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", status: 400),
        Bad(name: "version 2", text: "GET / HTTP/2.0\r\nHost: a\r\n\r\n", status: 505),
        Bad(name: "target without slash", text: "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", status: 400),
        Bad(name: "long header", text: "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)\r\n\r\n", status: 431),
        Bad(name: "long target", text: "GET /\(long) HTTP/1.1\r\n", status: 431),
        Bad(
            name: "many headers",
            text: "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "abc: def\r\n", count: 2000) + "\r\n", status: 431
        ),
        Bad(name: "endless header", text: "GET / HTTP/1.1\r\nHost: a\r\nX: \(long)", status: 431),
        Bad(name: "large body", text: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n\r\n", status: 413),
        Bad(
            name: "large chunks",
            text: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + String(repeating: "4000\r\n" + String(repeating: "y", count: 0x4000) + "\r\n", count: 70), status: 413
        ),
        Bad(
            name: "two lengths", text: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
            status: 400),
        Bad(
            name: "length and chunks",
            text: "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            status: 400),
        Bad(
            name: "bad chunk", text: "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            status: 400),
        Bad(name: "old version", text: RawPeer.upgradeRequest(version: "8"), status: 426),
        Bad(name: "short key", text: RawPeer.upgradeRequest(key: "dGhlIHNhbXBsZQ=="), status: 400),
        Bad(name: "no base64", text: RawPeer.upgradeRequest(key: "dGhlIHNhbXBsZSBub25j!Q=="), status: 400),
        Bad(
            name: "two keys", text: RawPeer.upgradeRequest(extra: "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"),
            status: 400),
        Bad(
            name: "upgrade by POST",
            text: RawPeer.upgradeRequest(extra: "Content-Length: 0\r\n").replacing(
                "GET", with: "POST", maxReplacements: 1),
            status: 400),
        Bad(
            name: "upgrade of 1.0", text: RawPeer.upgradeRequest().replacing("HTTP/1.1", with: "HTTP/1.0"), status: 400),
        Bad(name: "refused by the handler", text: RawPeer.upgradeRequest("/refused"), status: 401),
    ]

    @Test(arguments: bad) func aBadRequestIsAnsweredAndEnds(_ item: Bad) throws {
        let world = try World { _, exchange in exchange.respond(HTTPResponse(401)) }
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send(item.text)
        let (head, _) = try peer.takeResponse()
        #expect(head.hasPrefix("HTTP/1.1 \(item.status) "))
        #expect(head.contains("connection: close"))
        if item.status == 426 { #expect(head.contains("sec-websocket-version: 13")) }
        #expect(!peer.read())
    }

    @Test func anotherUpgradeIsIgnored() throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send("GET /x HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n")
        #expect(try peer.takeResponse().body == "GET /x 0")
    }

    @Test func whoIsSlowWithTheHeaderIsCutOff() throws {
        var options = HTTPServerOptions()
        options.headerTimeoutMs = 150
        let world = try World(options: options)
        defer { world.stop() }
        let silent = try RawPeer(port: world.port)
        let dripping = try RawPeer(port: world.port)
        let start = EventLoop.nowMs
        // Each byte comes in time; all together do not.
        for byte in "GET / HTTP/1.1\r\n".utf8 {
            guard dripping.send([byte]) else { break }
            while EventLoop.nowMs < start + 150 && !dripping.hasEnded(withinMs: 20) {}
        }
        #expect(dripping.readAll().isEmpty)
        #expect(silent.readAll().isEmpty)
    }

    @Test func whoIsSlowWithTheBodyIsTold() throws {
        var options = HTTPServerOptions()
        options.bodyTimeoutMs = 50
        let world = try World(options: options)
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc")
        #expect(try peer.takeResponse().head.hasPrefix("HTTP/1.1 408 "))
        #expect(!peer.read())
    }

    @Test func anIdleConnectionEnds() throws {
        var options = HTTPServerOptions()
        options.idleTimeoutMs = 50
        let world = try World(options: options)
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try peer.takeResponse().body == "GET / 0")
        #expect(!peer.read())
    }

    @Test func headHasNoBodyAndHeadersCannotBeSplit() throws {
        let world = try World { _, exchange in
            exchange.respond(HTTPResponse(204, headers: HTTPHeaders([("x", "a\r\nevil: 1")]), body: [1, 2, 3]))
        }
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try peer.takeHead()
        #expect(head.contains("content-length: 3\r\n") && head.contains("x: a  evil: 1\r\n"))
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try peer.takeHead().hasPrefix("HTTP/1.1 204 "))
    }

    @Test func aForgottenRequestIsAnswered500() throws {
        let world = try World { _, _ in }
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try peer.takeResponse().head.hasPrefix("HTTP/1.1 500 "))
    }

    @Test func onlyTheFirstAnswerCounts() throws {
        let world = try World { _, exchange in
            exchange.respond(HTTPResponse(200, text: "one"))
            exchange.respond(HTTPResponse(200, text: "two"))
            #expect(exchange.acceptWebSocket(subprotocol: nil) { Recorder($0) } == nil)
        }
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try peer.takeResponse().body == "one")
        #expect(try peer.takeResponse().body == "one")
        #expect(!peer.read())
    }

    @Test func whoWaitsForContinueIsToldSo() throws {
        let world = try World()
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send("PUT /c HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try peer.takeHead() == "HTTP/1.1 100 Continue\r\n\r\n")
        peer.send("ab")
        #expect(try peer.takeResponse().body == "PUT /c 2")
    }

    @Test func whoEndsItsSideStillGetsTheAnswer() throws {
        let elsewhere = EventLoop(name: "elsewhere")
        elsewhere.start()
        defer { elsewhere.stop() }
        let world = try World { request, exchange in
            elsewhere.execute { exchange.respond(HTTPResponse(200, text: request.path)) }
        }
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        peer.send("GET /half HTTP/1.1\r\nHost: a\r\n\r\n")
        peer.endSending()
        #expect(try peer.takeResponse().body == "/half")
        #expect(!peer.read())
    }

    @Test func aLateAnswerToOneWhoIsGoneDoesNoHarm() async throws {
        let held = Inbox<HTTPExchange>()
        let world = try World { _, exchange in held.put(exchange) }
        defer { world.stop() }
        var peer: RawPeer? = try RawPeer(port: world.port)
        peer?.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let exchange = try #require(await held.next())
        peer?.resetOnClose()
        peer = nil
        while world.server?.connectionCount != 0 { await Task.yield() }
        exchange.respond(HTTPResponse(200))
    }

    @Test func closingWaitsForAnswersThatAreDue() async throws {
        let held = Inbox<HTTPExchange>()
        let world = try World(loops: 1) { _, exchange in held.put(exchange) }
        defer { world.stop() }
        let idle = try RawPeer(port: world.port)
        let peer = try RawPeer(port: world.port)
        peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        let exchange = try #require(await held.next())
        world.server?.closeAll()
        #expect(idle.readAll().isEmpty)
        exchange.respond(HTTPResponse(200, text: "last"))
        let (head, body) = try peer.takeResponse()
        #expect(head.contains("connection: close") && body == "last")
        #expect(!peer.read())
    }

    @Test func manyClientsAreSpreadAndCounted() async throws {
        let world = try World(loops: 2)
        defer { world.stop() }
        let peers = try (0..<10).map { _ in try RawPeer(port: world.port) }
        for peer in peers { try peer.upgrade() }
        var perLoop: [ObjectIdentifier: Int] = [:]
        for _ in peers {
            let recorder = try #require(await world.accepted.next())
            perLoop[ObjectIdentifier(recorder.connection.loop), default: 0] += 1
        }
        #expect(Array(perLoop.values) == [5, 5])
        #expect(world.server?.connectionCount == 10)
    }

    @Test func aFullServerTakesNoMore() throws {
        var options = HTTPServerOptions()
        options.maxConnections = 1
        let world = try World(options: options)
        defer { world.stop() }
        let peer = try RawPeer(port: world.port)
        try peer.upgrade()
        #expect(try RawPeer(port: world.port).readAll().isEmpty)
    }

    @Test func aTakenPortIsAnError() throws {
        let world = try World()
        defer { world.stop() }
        var options = HTTPServerOptions()
        options.port = world.port
        #expect(throws: SocketError.self) {
            try HTTPServer(group: world.group, options: options, handler: world).start()
        }
        options.host = "nowhere"
        #expect(throws: SocketError.self) {
            try HTTPServer(group: world.group, options: options, handler: world).start()
        }
    }
}
