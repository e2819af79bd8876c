import HoldfastTransport
import Testing

@Suite struct EchoTests {
    @Test(.timeLimit(.minutes(1)))
    func clientAndServerTalk() async throws {
        let world = try World()
        defer { world.stop() }
        let client = try await world.connect(subprotocols: ["a", "b"])
        #expect(client.connection.subprotocol == "a")
        client.send("hello")
        #expect(await client.next() == .text("hello"))
        client.close(1000)
        #expect(await client.next() == .closed(.local))
        let server = try #require(await world.accepted.next())
        #expect(await server.next() == .text("hello"))
        #expect(await server.next() == .closed(.peer(code: 1000, reason: "")))
    }
}
