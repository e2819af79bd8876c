import Foundation
import HoldfastProtocol
import HoldfastReplication
import Testing

@testable import HoldfastNode

/// etcd's JSON: what is asked, and what its answers mean.
@Suite struct EtcdCodecTests {
    private let codec = EtcdCodec(keys: EtcdKeys(cluster: "c"), layout: ShardLayout(entityShards: 2, matchShards: 1))
    private let node = NodeID(name: "a", incarnation: 5)

    private var record: ShardRecord {
        ShardRecord(generation: 1, epoch: 2, primary: node, backups: [NodeID(name: "b", incarnation: 6)], rules: 1)
    }

    private var claim: NodeClaim {
        NodeClaim(
            name: "a", incarnation: nil, roles: [.gateway, .room], host: "rack \"1\"",
            contact: NodeContact(link: "tcp://a:1", linkKey: "k", url: "http://a:2"), isDraining: true, mark: .max)
    }

    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private func answer(
        _ request: CoordinatorRequest, _ body: String, status: Int = 200
    ) throws(EtcdError) -> CoordinatorAnswer {
        try codec.answer(to: request, status: status, body: Array(body.utf8))
    }

    private func body(_ call: EtcdCall) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(call.body)) as? [String: Any])
    }

    // MARK: Values

    @Test func recordsComeBackAsTheyWere() {
        var handed = record
        handed.handover = NodeID(name: "b", incarnation: 6)
        for record in [record, handed] {
            #expect(EtcdValue.record(Array(EtcdValue.text(of: record).utf8)) == record)
        }
    }

    @Test func nodesComeBackAsTheyWere() {
        let found = EtcdValue.registration(
            Array(EtcdValue.text(of: claim).utf8), name: "a", revision: 12, lease: 3)
        #expect(found == NodeRegistration(info: claim.info(at: 12), lease: 3, revision: 12, mark: .max))
        var known = claim
        known.incarnation = 7
        let again = EtcdValue.registration(Array(EtcdValue.text(of: known).utf8), name: "a", revision: 12, lease: 3)
        #expect(again?.info.id == NodeID(name: "a", incarnation: 7))
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"generation":-1,"epoch":1,"primary":"a#1","backups":[],"rules":1}"#,
        #"{"generation":1,"epoch":1,"primary":"a","backups":[],"rules":1}"#,
        #"{"generation":1,"epoch":1,"primary":"a#1","backups":["b"],"rules":1}"#,
        #"{"generation":1,"epoch":1,"primary":"a#1","backups":[],"handover":"x","rules":1}"#,
        #"{"generation":1,"epoch":1,"primary":"a#1","backups":[],"rules":4294967296}"#,
        #"{"generation":1,"epoch":9223372036854775807,"primary":"a#1","backups":[],"rules":1}"#,
    ]) func whatIsNoRecordIsNone(text: String) {
        #expect(EtcdValue.record(Array(text.utf8)) == nil)
    }

    // MARK: Swaps

    @Test func eachSwapOfATransactionIsWonOrLostByItself() throws {
        let swaps = [
            EtcdSwap(shard: ShardID(number: 0), from: 3, to: record),
            EtcdSwap(shard: ShardID(number: 1), from: 4, to: record),
            EtcdSwap(shard: ShardID(number: 2), from: 5, to: record),
        ]
        let call = codec.call(for: swaps)
        #expect(call.path == "/v3/kv/txn")
        let parts = try #require(try body(call)["success"] as? [[String: [String: Any]]])
        let compare = try #require(parts[1]["request_txn"]?["compare"] as? [[String: String]])
        #expect(
            compare == [
                [
                    "key": base64("/holdfast/c/shards/0001"), "target": "MOD", "result": "EQUAL", "mod_revision": "4",
                ]
            ])
        let now = base64(EtcdValue.text(of: record))
        let key = base64("/holdfast/c/shards/0001")
        let value = try EtcdCodec.value(
            Array(
                """
                {"header":{"revision":"20"},"succeeded":true,"responses":[
                {"response_txn":{"succeeded":true,"responses":[{"response_put":{}}]}},
                {"response_txn":{"responses":[{"response_range":{"kvs":[
                {"key":"\(key)","value":"\(now)","mod_revision":"19"}]}}]}},
                {"response_txn":{"responses":[{"response_range":{}}]}}]}
                """.utf8))
        let results = try codec.swapResults(3, value)
        #expect(results == [.won(revision: 20), .lost(VersionedRecord(record, revision: 19)), .inDoubt])
        #expect(throws: EtcdError.self) { try codec.swapResults(4, value) }
    }

    @Test func readsTravelTogether() throws {
        let call = codec.call(forReading: [ShardID(number: 0), ShardID(number: 1)])
        #expect(try (body(call)["success"] as? [Any])?.count == 2)
        let now = base64(EtcdValue.text(of: record))
        let key = base64("/holdfast/c/shards/0001")
        let answer = """
            {"header":{"revision":"20"},"responses":[{"response_range":{}},{"response_range":{"kvs":[
            {"key":"\(key)","value":"\(now)","mod_revision":"19"}]}}]}
            """
        let records = try codec.records(2, status: 200, body: Array(answer.utf8))
        #expect(records == [nil, VersionedRecord(record, revision: 19)])
        #expect(throws: EtcdError.self) { try codec.records(3, status: 200, body: Array(answer.utf8)) }
    }

    // MARK: Registration

    @Test func aRegistrationIsWrittenUnderItsLease() throws {
        let request = CoordinatorRequest.register(claim, lease: 77, after: 0)
        let text = String(decoding: codec.call(for: request).body, as: UTF8.self)
        #expect(text.contains("\"lease\":\"77\"") && text.contains("\"mod_revision\":\"0\""))
        let won = try answer(
            request,
            #"{"header":{"revision":"9"},"succeeded":true,"responses":[{"response_txn":{"succeeded":true}}]}"#)
        guard case .registered(let info, lease: 77, revision: 9) = won else {
            Issue.record("\(won)")
            return
        }
        #expect(info.id == NodeID(name: "a", incarnation: 9), "the revision becomes the incarnation")
    }

    @Test func aLeaseThatIsGoneIsToldApartFromOtherFaults() throws {
        let request = CoordinatorRequest.register(claim, lease: 77, after: 0)
        let gone = #"{"error":"etcdserver: requested lease not found","code":5}"#
        guard case .leaseGone = try answer(request, gone, status: 404) else {
            Issue.record("the lease is gone")
            return
        }
        #expect(throws: EtcdError.self) { try answer(request, #"{"error":"no leader","code":14}"#, status: 503) }
        guard case .kept(false) = try answer(.keepAlive(lease: 77), #"{"result":{"ID":"77"}}"#) else {
            Issue.record("a lease without time is gone")
            return
        }
        guard case .kept(true) = try answer(.keepAlive(lease: 77), #"{"result":{"ID":"77","TTL":"5"}}"#) else {
            Issue.record("the lease lives")
            return
        }
    }

    @Test func leasesMayHaveAnyNumber() throws {
        guard
            case .granted(lease: 9_223_372_036_854_775_807) = try answer(
                .grant, #"{"ID":"9223372036854775807","TTL":"5"}"#)
        else {
            Issue.record("not the lease's number")
            return
        }
    }

    // MARK: Listing

    @Test func aListingHasWhatIsMissingAsNothing() throws {
        let value = base64(EtcdValue.text(of: record))
        let own = base64(EtcdValue.text(of: claim))
        let listing = try answer(
            .list,
            """
            {"header":{"revision":"30"},"succeeded":true,"responses":[{"response_range":{"kvs":[
            {"key":"\(base64("/holdfast/c/shards/0001"))","value":"\(value)","mod_revision":"19"},
            {"key":"\(base64("/holdfast/c/shards/9999"))","value":"\(value)","mod_revision":"19"}]}},
            {"response_range":{"kvs":[
            {"key":"\(base64("/holdfast/c/nodes/a"))","value":"\(own)","mod_revision":"12","lease":"4"}]}},
            {"response_range":{"kvs":[{"key":"\(base64("/holdfast/c/orders/drain/a#12"))","mod_revision":"13"}]}}]}
            """)
        guard case .listing(let records, let nodes, let orders, revision: 30) = listing else {
            Issue.record("\(listing)")
            return
        }
        #expect(records == [nil, VersionedRecord(record, revision: 19), nil])
        #expect(nodes == [claim.info(at: 12)])
        #expect(orders == [.drain(NodeID(name: "a", incarnation: 12))])
    }

    // MARK: Watching

    private func word(_ line: String) throws(EtcdError) -> EtcdCodec.WatchWord { try codec.watchWord(Array(line.utf8)) }

    @Test func aWatchTellsChanges() throws {
        guard case .created = try word(#"{"result":{"header":{"revision":"3"},"created":true}}"#) else {
            Issue.record("it has begun")
            return
        }
        let events = try word(
            """
            {"result":{"header":{"revision":"8"},"events":[
            {"kv":{"key":"\(base64("/holdfast/c/shards/0002"))","value":"\(base64(EtcdValue.text(of: record)))",
            "mod_revision":"7"}},
            {"type":"DELETE","kv":{"key":"\(base64("/holdfast/c/nodes/a"))","mod_revision":"8"},
            "prev_kv":{"key":"\(base64("/holdfast/c/nodes/a"))","value":"\(base64(EtcdValue.text(of: claim)))",
            "mod_revision":"5"}}]}}
            """)
        guard case .events(let changes) = events else {
            Issue.record("\(events)")
            return
        }
        #expect(changes.map(\.revision) == [7, 8])
        guard case .unregistered(NodeID(name: "a", incarnation: 5))? = changes.last?.change else {
            Issue.record("\(changes)")
            return
        }
    }

    @Test func aWatchThatCannotGoOnSaysSo() throws {
        guard case .compacted = try word(#"{"result":{"canceled":true,"compact_revision":"40"}}"#) else {
            Issue.record("compacted")
            return
        }
        let gone = #"{"result":{"events":[{"type":"DELETE","kv":{"key":"K","mod_revision":"8"}}]}}"#
            .replacingOccurrences(of: "K", with: base64("/holdfast/c/shards/0002"))
        guard case .unclear = try word(gone) else {
            Issue.record("a record is gone: nobody may go on by the old one")
            return
        }
        #expect(throws: EtcdError.self) { try word(#"{"error":{"message":"no leader"}}"#) }
    }

    @Test(arguments: ["", "{", "{}", "[]", "null", #"{"header":{}}"#, #"{"header":{"revision":"x"},"responses":[]}"#])
    func whatIsNoAnswerIsRefused(text: String) {
        let requests: [CoordinatorRequest] = [
            .grant, .register(claim, lease: 1, after: 0), .list, .listNodes, .read(ShardID(number: 0)),
            .swap(ShardID(number: 0), from: 1, to: record),
        ]
        for request in requests {
            #expect(throws: EtcdError.self, "\(request)") { try answer(request, text) }
        }
    }
}
