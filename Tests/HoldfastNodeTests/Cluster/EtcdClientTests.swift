import HoldfastProtocol
import HoldfastReplication
import HoldfastTransport
import Testing

@testable import HoldfastNode

/// How etcd's members are asked, with servers in their place.
@Suite struct EtcdClientTests {
    /// A member that keeps its first requests without ever answering, as a follower whose leader has just died does.
    private final class Member: HTTPHandler, Sendable {
        private let unanswered: Int
        private let kept = Locked<[HTTPExchange]>([])
        let answer: @Sendable () -> HTTPResponse

        init(unanswered: Int, answer: @escaping @Sendable () -> HTTPResponse) {
            self.unanswered = unanswered
            self.answer = answer
        }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            let isKept = kept.withLock { kept in
                guard kept.count < unanswered else { return false }
                kept.append(exchange)
                return true
            }
            if !isKept { exchange.respond(answer()) }
        }

        func forget() { kept.withLock { $0 = [] } }
    }

    private func read(from members: [Member]) async throws -> EtcdClient.Word {
        let group = EventLoopGroup(count: 1, name: "test")
        group.start()
        var endpoints: [String] = []
        var servers: [HTTPServer] = []
        for member in members {
            let server = HTTPServer(group: group, handler: member)
            endpoints.append("http://127.0.0.1:\(try server.start())")
            servers.append(server)
        }
        let codec = EtcdCodec(keys: EtcdKeys(cluster: "c"), layout: ShardLayout(entityShards: 2, matchShards: 1))
        let options = EtcdOptions(endpoints: endpoints)
        let loop = group.loops[0]
        let word = await withCheckedContinuation { continuation in
            loop.execute {
                let holder = Holder()
                holder.client = EtcdClient(loop: loop, codec: codec, options: options, log: Log(least: .error)) {
                    holder.client?.close()
                    holder.client = nil
                    continuation.resume(returning: $0)
                }
                holder.client?.ask(1, .read(ShardID(number: 0)))
            }
        }
        for server in servers { server.stopAccepting() }
        for member in members { member.forget() }
        group.stop()
        return word
    }

    private final class Holder { var client: EtcdClient? }

    private static let none = HTTPResponse(
        200, body: Array(#"{"header":{"revision":"9"},"succeeded":true,"responses":[{"response_range":{}}]}"#.utf8))

    @Test func whatAFollowerNeverAnswersIsAskedAgain() async throws {
        let member = Member(unanswered: 1) { Self.none }
        guard case .answered(1, .record(_, nil)) = try await read(from: [member, member]) else {
            Issue.record("not answered by the second attempt")
            return
        }
        let deaf = [Member(unanswered: 1) { Self.none }, Member(unanswered: 1) { Self.none }]
        guard case .answered(1, .record(_, nil)) = try await read(from: deaf) else {
            Issue.record("not answered by the third attempt, to the first member again")
            return
        }
    }

    @Test func whatNobodyAnswersIsUnanswered() async throws {
        let member = Member(unanswered: 100) { Self.none }
        guard case .unanswered(1) = try await read(from: [member, member]) else {
            Issue.record("answered by nobody")
            return
        }
    }
}
