#if os(Linux)
    import Foundation
    import HoldfastClient
    import HoldfastProtocol
    import Testing

    /// The SDK against the real program: two players meet, play, drop and come back.
    @Suite(.timeLimit(.minutes(1)), .serialized) struct LiveTests {
        /// `holdfast serve --dev` for the length of a test.
        private final class Node: Sendable {
            let address: String
            private let process = Process()

            init() throws {
                // Lies beside the tests' own program.
                process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
                    .deletingLastPathComponent().appending(path: "holdfast")
                process.arguments = ["serve", "--dev", "--port", "0"]
                let output = Pipe()
                process.standardOutput = output
                process.standardError = FileHandle.nullDevice
                try process.run()
                var line = Data()
                while let byte = try output.fileHandleForReading.read(upToCount: 1), !byte.isEmpty,
                    byte != Data("\n".utf8)
                {
                    line += byte
                }
                address = String(decoding: line, as: UTF8.self).components(separatedBy: "http://").last ?? ""
            }

            func stop() { process.terminate() }

            func client(_ player: String, _ encoding: Encoding) -> HoldfastClient {
                struct Answer: Decodable { var token: String }
                var configuration = HoldfastClient.Configuration(endpoints: ["ws://\(address)/v1/connect"])
                configuration.encoding = encoding
                let page = URL(string: "http://\(address)/dev/token?player=\(player)")
                return HoldfastClient(configuration: configuration) {
                    let data = try Data(contentsOf: #require(page))
                    return try JSONDecoder().decode(Answer.self, from: data).token
                }
            }
        }

        /// A player that keeps every frame.
        private struct Player {
            let client: HoldfastClient
            var events: ClientEvents.Iterator
            var frames: [Frame] = []
            var told: [ClientEvent] = []

            init(_ client: HoldfastClient) {
                self.client = client
                events = client.events.makeAsyncIterator()
            }

            /// Follows the events until one fits.
            mutating func follow(until isLast: (ClientEvent) -> Bool) async throws {
                while let event = await events.next() {
                    if case .frame(let frame, _) = event { frames.append(frame) } else { told.append(event) }
                    if isLast(event) { return }
                    if case .disconnected(let error) = event { throw error }
                }
                throw HoldfastError(code: .networkError, message: "the events ended")
            }

            mutating func follow(throughFrame last: UInt32) async throws {
                if let known = frames.last?.id, known >= last { return }
                try await follow { if case .frame(let frame, _) = $0 { frame.id >= last } else { false } }
            }

            func shown(_ id: UInt32) -> Int {
                let inputs = frames.flatMap(\.inputs)
                return inputs.count { $0.playerId == client.playerId && $0.id == id }
            }
        }

        @Test(arguments: Encoding.allCases)
        func twoMeetAndPlay(encoding: Encoding) async throws {
            let node = try Node()
            defer { node.stop() }
            var ada = Player(node.client("ada", encoding))
            var bob = Player(node.client("bob", .protobuf))
            try await ada.client.connect()
            try await bob.client.connect()
            let config = RoomConfig(maxPlayerCount: 2, type: "duel", frameRate: 30, allowLateJoin: true)
            let other = bob.client
            async let bobs = other.matchRoom(config, timeoutMs: 20_000)
            let room = try await ada.client.matchRoom(config, timeoutMs: 20_000)
            #expect(try await bobs.room?.id == room.room?.id)
            let owner = room.room?.ownerId == "ada" ? ada.client : bob.client
            try await owner.updateRoomProperties(name: "arena")
            try await ada.client.updatePlayerCustomStatus(7)
            try await ada.client.sendCustomMessage("hi bob", to: ["bob"])
            try await owner.startFrameSync()
            try await ada.follow { if case .frameSyncStarted = $0 { true } else { false } }
            try await bob.follow { if case .frameSyncStarted = $0 { true } else { false } }
            #expect(bob.told.contains(.customMessageReceived(CustomMessageReceived(playerId: "ada", msg: "hi bob"))))
            #expect(bob.client.room?.name == "arena")
            #expect(bob.client.room?.players.first { $0.id == "ada" }?.customStatus == 7)
            #expect(ada.client.frameSync?.seed == bob.client.frameSync?.seed)

            // Ada drops in the middle of it, with inputs and a call in flight, twice.
            var inputs: [UInt32] = []
            for round in 1...2 {
                try await ada.follow(throughFrame: ada.client.frameSync == nil ? 0 : UInt32(round * 8))
                inputs.append(ada.client.sendFrameInput("a\(round)"))
                let client = ada.client
                async let said: Void = client.sendCustomMessage("round \(round)")
                client.suspend()
                inputs.append(ada.client.sendFrameInput("b\(round)"))
                client.resume()
                try await said
                try await ada.follow { if case .reconnected = $0 { true } else { false } }
            }
            let last = (ada.frames.last?.id ?? 0) + 20
            try await ada.follow(throughFrame: last)
            try await bob.follow(throughFrame: last)
            #expect(ada.frames.map(\.id) == Array(1...UInt32(ada.frames.count)))
            let count = min(ada.frames.count, bob.frames.count)
            #expect(
                Array(ada.frames.prefix(count)) == Array(bob.frames.prefix(count)), "everybody sees the same frames")
            for id in inputs { #expect(ada.shown(id) == 1, "input \(id) is in one frame") }
            let rounds = bob.told.compactMap {
                if case .customMessageReceived(let message) = $0 { message.msg } else { nil }
            }
            #expect(rounds == ["hi bob", "round 1", "round 2"])
            let history = try await bob.client.getFrames(first: 1, last: 5)
            #expect(history.frames == Array(bob.frames.prefix(5)))

            try await bob.client.putSnapshot(frameId: last - 5, state: [1, 2, 3])
            try await ada.client.leaveRoom()
            try await ada.follow { if case .roomLeft = $0 { true } else { false } }
            try await bob.follow { if case .playerLeft(let event) = $0 { event.playerId == "ada" } else { false } }
            // Late join, from the snapshot.
            ada.frames = []
            ada.told = []
            try await ada.client.joinRoom(room.room?.id ?? "")
            try await ada.follow(throughFrame: last + 10)
            #expect(ada.frames.first?.id == last - 4)
            let seen = Dictionary(uniqueKeysWithValues: bob.frames.map { ($0.id, $0) })
            for frame in ada.frames where seen[frame.id] != nil { #expect(seen[frame.id] == frame) }
            try await bob.client.disconnect()
            try await ada.follow { if case .playerLeft(let event) = $0 { event.playerId == "bob" } else { false } }
            #expect(ada.client.room?.ownerId == "ada")
            try await ada.client.disconnect()
            try await ada.follow { if case .disconnected(let error) = $0 { error.code == .success } else { false } }
        }

        @Test func theSamePlayerTwice() async throws {
            let node = try Node()
            defer { node.stop() }
            var first = Player(node.client("ada", .protobuf))
            let second = node.client("ada", .json)
            try await first.client.connect()
            try await first.client.createRoom(RoomConfig(maxPlayerCount: 2, type: "duel"))
            let connected = try await second.connect()
            #expect(!connected.resumed && connected.room != nil)
            try await first.follow { if case .disconnected(let error) = $0 { error.code == .replaced } else { false } }
            let error = await #expect(throws: HoldfastError.self) { try await first.client.leaveRoom() }
            #expect(error?.code == .notConnected)
            try await second.leaveRoom()
        }

        @Test func theNodeGoesAway() async throws {
            let node = try Node()
            var player = Player(node.client("ada", .protobuf))
            try await player.client.connect()
            node.stop()
            try await player.follow { if case .reconnecting = $0 { true } else { false } }
            let failure: HoldfastError? = await withCheckedContinuation { done in
                player.client.sendCustomMessage(
                    "anybody?", onSuccess: { done.resume(returning: nil) }, onFailure: { done.resume(returning: $0) })
                player.client.disconnect(onSuccess: {}, onFailure: { _ in })
            }
            #expect(failure?.code == .networkError)
        }
    }
#endif
