internal import Foundation
internal import HoldfastProtocol
internal import HoldfastReplication

/// A call of etcd's v3 JSON API.
struct EtcdCall: Sendable, Equatable {
    /// `/v3/kv/txn`.
    let path: String
    let body: [UInt8]
}

/// Why an answer of etcd is none.
struct EtcdError: Error, Equatable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// One change of a record.
struct EtcdSwap: Sendable, Equatable {
    let shard: ShardID
    let from: UInt64
    let to: ShardRecord
}

/// Requests as etcd's JSON, and its answers (https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway/): keys and values in
/// base64, 64-bit numbers as strings, what is false or 0 left out.
struct EtcdCodec: Sendable {
    /// Changes in one transaction; etcd's own limit is 128.
    static let swapsAtOnce = 100

    let keys: EtcdKeys
    let layout: ShardLayout
    /// Seconds.
    var leaseS = 5

    // MARK: Requests

    /// Of swaps and reads, which travel together, there are calls for many.
    func call(for request: CoordinatorRequest) -> EtcdCall {
        switch request {
        case .grant: call("lease/grant", "{\"TTL\":\(leaseS)}")
        case .keepAlive(let lease): call("lease/keepalive", "{\"ID\":\"\(lease)\"}")
        case .revoke(let lease): call("lease/revoke", "{\"ID\":\"\(lease)\"}")
        case .register(let claim, let lease, let after):
            transaction([
                compared(
                    keys.key(ofNode: claim.name), revision: after,
                    put: EtcdValue.text(of: claim), lease: lease)
            ])
        case .list:
            transaction([range(prefix: keys.shards), range(prefix: keys.nodes), range(prefix: keys.orders)])
        case .listNodes:
            transaction([
                range(prefix: keys.nodes),
                range(prefix: keys.shards, ",\"sort_order\":\"DESCEND\",\"sort_target\":\"MOD\",\"limit\":\"1\""),
            ])
        case .read(let shard): call(forReading: [shard])
        case .swap(let shard, let from, let to): call(for: [EtcdSwap(shard: shard, from: from, to: to)])
        case .watch(let after): watch(after: after)
        }
    }

    /// At most `swapsAtOnce`, of different shards. Each is won or lost by itself.
    func call(for swaps: [EtcdSwap]) -> EtcdCall {
        transaction(
            swaps.map { swap in
                compared(keys.key(of: swap.shard), revision: swap.from, put: EtcdValue.text(of: swap.to), lease: 0)
            })
    }

    /// At most `swapsAtOnce`.
    func call(forReading shards: [ShardID]) -> EtcdCall {
        transaction(shards.map { range(key: keys.key(of: $0)) })
    }

    /// Of each read, in order; nil: there is none.
    func records(_ count: Int, status: Int, body: [UInt8]) throws(EtcdError) -> [VersionedRecord?] {
        let value = try Self.value(body)
        guard status == 200 else { throw Self.error(status, value) }
        var records: [VersionedRecord?] = []
        for response in try Self.responses(value, count) {
            records.append(try Self.entries(response).first.map(record))
        }
        return records
    }

    /// Asks whether the first records were written once.
    var hasBootstrapped: EtcdCall { transaction([range(key: keys.bootstrapped)]) }

    /// That they are, for ever.
    var bootstrapDone: EtcdCall { transaction([compared(keys.bootstrapped, revision: 0, put: "{}", lease: 0)]) }

    func put(_ key: String) -> EtcdCall {
        call("kv/put", "{\"key\":\"\(base64(key.utf8))\",\"value\":\"\(base64("{}".utf8))\"}")
    }

    func delete(_ key: String) -> EtcdCall { call("kv/deleterange", "{\"key\":\"\(base64(key.utf8))\"}") }

    func isThere(status: Int, body: [UInt8]) throws(EtcdError) -> Bool {
        let value = try Self.value(body)
        guard status == 200 else { throw Self.error(status, value) }
        return try !Self.entries(try Self.responses(value, 1)[0]).isEmpty
    }

    /// Writes the first records of shards that have none.
    func bootstrap(_ records: [(shard: ShardID, record: ShardRecord)]) -> EtcdCall {
        transaction(
            records.map { compared(keys.key(of: $0.shard), revision: 0, put: EtcdValue.text(of: $0.record), lease: 0) })
    }

    func watch(after revision: UInt64) -> EtcdCall {
        call(
            "watch",
            "{\"create_request\":{\"key\":\"\(base64(keys.prefix.utf8))\",\"range_end\":"
                + "\"\(base64(EtcdKeys.end(ofPrefix: keys.prefix)))\",\"start_revision\":\"\(revision + 1)\","
                + "\"prev_kv\":true}}")
    }

    private func call(_ path: String, _ body: String) -> EtcdCall {
        EtcdCall(path: "/v3/" + path, body: Array(body.utf8))
    }

    private func transaction(_ operations: [String]) -> EtcdCall {
        call("kv/txn", "{\"success\":[\(operations.joined(separator: ","))]}")
    }

    /// An operation that is a transaction of its own: it writes the key if that was last changed at the revision, else
    /// it reads it.
    private func compared(_ key: String, revision: UInt64, put value: String, lease: UInt64) -> String {
        let key = base64(key.utf8)
        return "{\"request_txn\":{\"compare\":[{\"key\":\"\(key)\",\"target\":\"MOD\",\"result\":\"EQUAL\","
            + "\"mod_revision\":\"\(revision)\"}],\"success\":[{\"request_put\":{\"key\":\"\(key)\",\"value\":"
            + "\"\(base64(value.utf8))\"\(lease > 0 ? ",\"lease\":\"\(lease)\"" : "")}}],"
            + "\"failure\":[{\"request_range\":{\"key\":\"\(key)\"}}]}}"
    }

    private func range(prefix: String, _ more: String = "") -> String {
        "{\"request_range\":{\"key\":\"\(base64(prefix.utf8))\",\"range_end\":"
            + "\"\(base64(EtcdKeys.end(ofPrefix: prefix)))\"\(more)}}"
    }

    private func range(key: String) -> String { "{\"request_range\":{\"key\":\"\(base64(key.utf8))\"}}" }

    private func base64(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    // MARK: Answers

    /// - Throws: when it is no answer to this: another member may have one.
    func answer(to request: CoordinatorRequest, status: Int, body: [UInt8]) throws(EtcdError) -> CoordinatorAnswer {
        let value = try Self.value(body)
        guard status == 200 else {
            if status == 404, case .register = request, Self.isLeaseGone(value) { return .leaseGone }
            if status == 404, case .keepAlive = request, Self.isLeaseGone(value) { return .kept(false) }
            if status == 404, case .revoke = request { return .none }
            throw Self.error(status, value)
        }
        switch request {
        case .grant:
            // A lease's number may be larger than one that is reckoned with.
            guard let lease = Self.optionalNumber(value["ID"]) else { throw EtcdError("a grant without a lease") }
            return .granted(lease: lease)
        case .keepAlive:
            // Of a stream of one.
            let result = value["result"] ?? value
            return .kept(Self.optionalNumber(result["TTL"]) ?? 0 > 0)
        case .revoke: return .none
        case .register(let claim, let lease, _): return try registered(claim, lease, value)
        case .list: return try listing(value)
        case .listNodes:
            let parts = try Self.responses(value, 2)
            let newest = try Self.entries(parts[1]).first?.revision ?? 0
            return .nodes(try nodes(parts[0]), revision: try Self.revision(value), newest: newest)
        case .read(let shard): return .record(shard, try records(1, status: status, body: body)[0])
        case .swap(let shard, _, _): return .swapped(shard, try swapResults(1, value)[0])
        case .watch: throw EtcdError("a watch has no single answer")
        }
    }

    /// Of each swap, in order.
    func swapResults(_ count: Int, _ value: JSONValue) throws(EtcdError) -> [SwapResult] {
        let revision = try Self.revision(value)
        var results: [SwapResult] = []
        for response in try Self.responses(value, count) {
            let inner = response["response_txn"] ?? .null
            if inner["succeeded"] == .bool(true) {
                results.append(.won(revision: revision))
            } else if let entry = try Self.entries(try Self.responses(inner, 1)[0]).first {
                results.append(.lost(try record(entry)))
            } else {
                // The key is gone: nobody can say.
                results.append(.inDoubt)
            }
        }
        return results
    }

    private func registered(
        _ claim: NodeClaim, _ lease: UInt64, _ value: JSONValue
    ) throws(EtcdError) -> CoordinatorAnswer {
        let inner = try Self.responses(value, 1)[0]["response_txn"] ?? .null
        let revision = try Self.revision(value)
        if inner["succeeded"] == .bool(true) {
            return .registered(claim.info(at: revision), lease: lease, revision: revision)
        }
        guard let entry = try Self.entries(try Self.responses(inner, 1)[0]).first else { return .registrationLost(nil) }
        return .registrationLost(try registration(entry))
    }

    private func listing(_ value: JSONValue) throws(EtcdError) -> CoordinatorAnswer {
        let parts = try Self.responses(value, 3)
        var records = [VersionedRecord?](repeating: nil, count: layout.count)
        for entry in try Self.entries(parts[0]) {
            guard let shard = keys.shard(ofKey: entry.key, in: layout) else { continue }
            records[shard.number] = try record(entry)
        }
        let orders = try Self.entries(parts[2]).compactMap { keys.order(ofKey: $0.key) }
        return .listing(records, try nodes(parts[1]), orders: orders, revision: try Self.revision(value))
    }

    private func nodes(_ part: JSONValue) throws(EtcdError) -> [NodeInfo] {
        var nodes: [NodeInfo] = []
        for entry in try Self.entries(part) { nodes.append(try registration(entry).info) }
        return nodes.sorted { $0.id < $1.id }
    }

    private func record(_ entry: Entry) throws(EtcdError) -> VersionedRecord {
        guard let record = EtcdValue.record(entry.value) else { throw EtcdError("\(entry.key) holds no record") }
        return VersionedRecord(record, revision: entry.revision)
    }

    private func registration(_ entry: Entry) throws(EtcdError) -> NodeRegistration {
        guard let name = keys.node(ofKey: entry.key),
            let found = EtcdValue.registration(
                entry.value, name: name, revision: entry.revision, lease: entry.lease)
        else { throw EtcdError("\(entry.key) holds no node") }
        return found
    }

    // MARK: Watching

    enum WatchWord: Sendable {
        case created
        case events([CoordinatorEvent])
        case compacted
        /// What has changed cannot be told one by one: everything has to be listed again.
        case unclear(String)
    }

    /// One message of a watch's stream.
    func watchWord(_ line: [UInt8]) throws(EtcdError) -> WatchWord {
        let value = try Self.value(line)
        guard let result = value["result"] else {
            throw EtcdError("the watch says \(String(decoding: line.prefix(200), as: UTF8.self))")
        }
        if Self.optionalNumber(result["compact_revision"]) ?? 0 > 0 { return .compacted }
        if result["canceled"] == .bool(true) { return .unclear("canceled") }
        if result["created"] == .bool(true) { return .created }
        guard case .array(let list)? = result["events"] else { return .events([]) }
        var events: [CoordinatorEvent] = []
        for item in list {
            guard let kv = item["kv"] else { return .unclear("an event without a key") }
            let entry = try Entry(kv)
            let isDeleted = item["type"] == .string("DELETE")
            if let shard = keys.shard(ofKey: entry.key, in: layout) {
                if isDeleted { return .unclear("\(entry.key) was deleted") }
                events.append(.init(revision: entry.revision, change: .record(shard, try record(entry))))
            } else if keys.node(ofKey: entry.key) != nil, isDeleted {
                guard let before = item["prev_kv"] else { return .unclear("\(entry.key) was deleted") }
                let gone = try registration(Entry(before))
                events.append(.init(revision: entry.revision, change: .unregistered(gone.info.id)))
            } else if keys.node(ofKey: entry.key) != nil {
                events.append(.init(revision: entry.revision, change: .registered(try registration(entry).info)))
            } else if let order = keys.order(ofKey: entry.key), !isDeleted {
                events.append(.init(revision: entry.revision, change: .ordered(order)))
            }
        }
        return .events(events)
    }

    // MARK: etcd's forms

    /// A key with its value.
    private struct Entry {
        let key: String
        let value: [UInt8]
        let revision: UInt64
        let lease: UInt64

        init(_ kv: JSONValue) throws(EtcdError) {
            key = String(decoding: try EtcdCodec.bytes(kv["key"]), as: UTF8.self)
            value = kv["value"] == nil ? [] : try EtcdCodec.bytes(kv["value"])
            revision = try EtcdCodec.number(kv["mod_revision"])
            lease = EtcdCodec.optionalNumber(kv["lease"]) ?? 0
        }
    }

    static func value(_ body: [UInt8]) throws(EtcdError) -> JSONValue {
        do { return try StrictJSON.parse(body, maxDepth: 32) } catch {
            throw EtcdError("no JSON (\(error.reason)): \(String(decoding: body.prefix(200), as: UTF8.self))")
        }
    }

    private static func bytes(_ value: JSONValue?) throws(EtcdError) -> [UInt8] {
        guard case .string(let text)? = value, let data = Data(base64Encoded: text) else {
            throw EtcdError("no base64 where some belongs")
        }
        return Array(data)
    }

    private static func optionalNumber(_ value: JSONValue?) -> UInt64? {
        switch value {
        case .string(let text): UInt64(text)
        case .integer(let number): UInt64(exactly: number)
        default: nil
        }
    }

    private static func number(_ value: JSONValue?) throws(EtcdError) -> UInt64 {
        guard let number = optionalNumber(value), number <= 1 << 62 else { throw EtcdError("a number is missing") }
        return number
    }

    private static func revision(_ value: JSONValue) throws(EtcdError) -> UInt64 {
        try number(value["header"]?["revision"])
    }

    private static func responses(_ value: JSONValue, _ count: Int) throws(EtcdError) -> [JSONValue] {
        guard case .array(let responses)? = value["responses"], responses.count == count else {
            throw EtcdError("not \(count) responses")
        }
        return responses
    }

    private static func entries(_ response: JSONValue) throws(EtcdError) -> [Entry] {
        guard case .array(let list)? = response["response_range"]?["kvs"] else { return [] }
        var entries: [Entry] = []
        for kv in list { entries.append(try Entry(kv)) }
        return entries
    }

    private static func isLeaseGone(_ value: JSONValue) -> Bool {
        guard case .string(let message)? = value["message"] ?? value["error"] else { return false }
        return message.contains("lease not found")
    }

    private static func error(_ status: Int, _ value: JSONValue) -> EtcdError {
        guard case .string(let message)? = value["message"] ?? value["error"] else {
            return EtcdError("HTTP \(status)")
        }
        return EtcdError("HTTP \(status): \(message)")
    }
}
