#if os(Linux)
    import HoldfastClient
    import HoldfastProtocol
    import HoldfastTransport
    import Testing

    /// The shell over real sockets: that it carries out what the machine orders.
    @Suite(.timeLimit(.minutes(1))) struct ShellTests {
        private func client(
            of server: ServerOnLoop, _ encoding: Encoding = .protobuf, capacity: Int = 8_192,
            token: @escaping @Sendable () async throws -> String = { "T" }
        ) -> HoldfastClient {
            var configuration = HoldfastClient.Configuration(endpoints: [server.url])
            configuration.encoding = encoding
            configuration.eventCapacity = capacity
            return HoldfastClient(configuration: configuration, token: token)
        }

        /// Reads until the event is one that `isLast` chooses.
        private func read(
            _ events: inout ClientEvents.Iterator, until isLast: (ClientEvent) -> Bool
        ) async -> [ClientEvent] {
            var list: [ClientEvent] = []
            while let event = await events.next() {
                list.append(event)
                if isLast(event) { break }
            }
            return list
        }

        @Test(arguments: Encoding.allCases)
        func playsAndComesBack(encoding: Encoding) async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            let client = client(of: server, encoding)
            var events = client.events.makeAsyncIterator()
            let connected = try await client.connect()
            #expect(connected.resumeToken == "R1")
            #expect(client.room?.id == "r")
            #expect(client.playerId == "me")
            try await client.sendCustomMessage("hello")
            #expect(server.read { $0.executed["hello"] } == 1)
            _ = await read(&events) { if case .frameSyncStarted = $0 { true } else { false } }
            let id = client.sendFrameInput("up")
            _ = try await client.ping()
            server.act { $0.seal() }
            let first = await read(&events) { if case .frame = $0 { true } else { false } }
            guard case .frame(let frame, _)? = first.last else {
                throw HoldfastError(code: .serverError, message: "no frame")
            }
            #expect(frame.inputs.map(\.id) == [id])

            server.cut()
            _ = await read(&events) { if case .reconnecting = $0 { true } else { false } }
            server.act { server in
                server.say()
                server.seal()
                server.seal()
            }
            let back = await read(&events) { if case .frame(let frame, _) = $0 { frame.id == 3 } else { false } }
            let frames = back.compactMap { if case .frame(let frame, _) = $0 { frame.id } else { nil } }
            #expect(frames == [2, 3])
            #expect(
                back.contains { if case .customMessageReceived(let message) = $0 { message.msg == "1" } else { false } }
            )
            #expect(back.contains { if case .reconnected = $0 { true } else { false } })
        }

        @Test func asksForAnotherTokenWhenTheRunIsOver() async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            let asked = Locked(0)
            let client = client(of: server) {
                asked.withLock { count in
                    count += 1
                    return "T\(count)"
                }
            }
            var events = client.events.makeAsyncIterator()
            try await client.connect()
            server.act { $0.endRun() }
            server.cut()
            _ = await read(&events) { if case .reconnecting = $0 { true } else { false } }
            _ = await read(&events) { if case .connected = $0 { true } else { false } }
            #expect(asked.withLock { $0 } == 2)
        }

        @Test func refusesWithoutATokenAndWithoutConnect() async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            let client = client(of: server) { throw HoldfastError(code: .invalidAuthorization, message: "who?") }
            await #expect(throws: HoldfastError(code: .invalidAuthorization, message: "who?")) {
                try await client.connect()
            }
            let error = await #expect(throws: HoldfastError.self) { try await client.leaveRoom() }
            #expect(error?.code == .notConnected)
        }

        @Test func tooLargeAMessageFailsHere() async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            let client = client(of: server)
            try await client.connect()
            let huge = String(repeating: "x", count: 100_000)
            let error = await #expect(throws: HoldfastError.self) { try await client.sendCustomMessage(huge) }
            #expect(error?.code == .invalidRequest)
            try await client.sendCustomMessage("small")
            #expect(client.isOnline)
        }

        @Test func slowReaderLosesNothing() async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            let client = client(of: server, capacity: 10)
            var events = client.events.makeAsyncIterator()
            try await client.connect()
            for _ in 0..<100 { server.act { $0.say() } }
            let list = await read(&events) { event in
                if case .customMessageReceived(let message) = event { message.msg == "100" } else { false }
            }
            let said = list.compactMap { event -> String? in
                if case .customMessageReceived(let message) = event { message.msg } else { nil }
            }
            #expect(said == (1...100).map { "\($0)" })
        }

        @Test func suspendsAndResumes() async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            let client = client(of: server)
            var events = client.events.makeAsyncIterator()
            try await client.connect()
            client.suspend()
            _ = await read(&events) { if case .reconnecting = $0 { true } else { false } }
            #expect(!client.isOnline)
            server.act { $0.say() }
            client.resume()
            let list = await read(&events) { if case .customMessageReceived = $0 { true } else { false } }
            #expect(list.contains { if case .reconnected = $0 { true } else { false } })
        }

        @Test func eventsEndWithTheClient() async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            var client: HoldfastClient? = client(of: server)
            let events = try #require(client?.events)
            try await client?.connect()
            client = nil
            var count = 0
            for await _ in events { count += 1 }
            #expect(count > 0)
        }

        @Test func reconnectsFromADeadAddress() async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            var configuration = HoldfastClient.Configuration(endpoints: ["ws://127.0.0.1:1/v1/connect", server.url])
            configuration.firstEndpointIndex = 0
            let client = HoldfastClient(configuration: configuration) { "T" }
            try await client.connect()
            #expect(client.isOnline)
        }

        // MARK: callbacks

        private final class Recorder: OnlineBattleCallback {
            let list = Locked<[String]>([])
            let seen: AsyncStream<String>
            private let put: AsyncStream<String>.Continuation

            init() { (seen, put) = AsyncStream.makeStream() }

            private func add(_ text: String) {
                list.withLock { $0.append(text) }
                put.yield(text)
            }

            func onConnected(_ connected: Connected) { add("connected") }
            func onCustomMessageReceived(_ message: CustomMessageReceived) { add("said \(message.msg)") }
            func onFrameSyncStarted(_ info: FrameSyncInfo, snapshot: Snapshot?) { add("started") }
            func onFrameReceived(_ frame: Frame, isCatchUp: Bool) { add("frame \(frame.id)") }
            func onReconnecting(_ error: HoldfastError) { add("reconnecting") }
            func onReconnected(_ connected: Connected) { add("reconnected") }
            func onRequestFailed(id: UInt32, error: HoldfastError) { add("failed \(error.code)") }

            func wait(for text: String) async {
                for await seen in seen where seen == text { return }
            }
        }

        @Test func callsBackInOrder() async throws {
            let server = try ServerOnLoop()
            defer { server.stop() }
            let client = client(of: server)
            let recorder = Recorder()
            client.setCallback(recorder)
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                client.connect(
                    onSuccess: { _ in
                        // A call from within a callback.
                        client.sendCustomMessage("x", onSuccess: { done.resume() }, onFailure: { _ in done.resume() })
                    }, onFailure: { _ in done.resume() })
            }
            #expect(server.read { $0.executed["x"] } == 1)
            server.act { server in
                server.say()
                server.seal()
            }
            await recorder.wait(for: "frame 1")
            server.cut()
            await recorder.wait(for: "reconnected")
            #expect(
                recorder.list.withLock { $0 } == [
                    "connected", "started", "said 1", "frame 1", "reconnecting", "reconnected",
                ])
            let failure: HoldfastError? = await withCheckedContinuation { done in
                client.leaveRoom(onSuccess: { done.resume(returning: nil) }, onFailure: { done.resume(returning: $0) })
            }
            #expect(failure?.code == .notImplemented)
        }
    }
#endif
