internal import Foundation
internal import HoldfastProtocol
internal import HoldfastReplication

/// Where a cluster's keys lie in etcd, and how what stands in them is written. People can read it: `etcdctl get`.
struct EtcdKeys: Sendable, Equatable {
    /// Of a cluster's name, in bytes.
    static let nameBytes = 64

    /// `/holdfast/NAME/`.
    let prefix: String

    init(cluster: String) {
        prefix = "/holdfast/\(cluster)/"
    }

    var shards: String { prefix + "shards/" }
    var nodes: String { prefix + "nodes/" }
    var orders: String { prefix + "orders/" }
    /// Written once, with the first records.
    var bootstrapped: String { prefix + "bootstrapped" }

    func key(of shard: ShardID) -> String {
        let digits = String(shard.number)
        return shards + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    func key(ofNode name: String) -> String { nodes + name }

    func shard(ofKey key: String, in layout: ShardLayout) -> ShardID? {
        guard key.hasPrefix(shards), let number = Int(key.dropFirst(shards.count)), (0..<layout.count).contains(number)
        else { return nil }
        return ShardID(number: number)
    }

    func node(ofKey key: String) -> String? {
        key.hasPrefix(nodes) ? String(key.dropFirst(nodes.count)) : nil
    }

    func key(of order: NodeOrder) -> String {
        switch order {
        case .drain(let node): orders + "drain/" + node.text
        case .forget(let node): orders + "forget/" + node.text
        }
    }

    func order(ofKey key: String) -> NodeOrder? {
        guard key.hasPrefix(orders) else { return nil }
        let parts = key.dropFirst(orders.count).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let node = NodeID(text: String(parts[1])) else { return nil }
        return parts[0] == "drain" ? .drain(node) : parts[0] == "forget" ? .forget(node) : nil
    }

    /// The end of the range of all keys that begin with `prefix`.
    static func end(ofPrefix prefix: String) -> [UInt8] {
        var end = Array(prefix.utf8)
        while let last = end.popLast() {
            if last < 0xFF { return end + [last + 1] }
        }
        return [0]
    }
}

extension NodeID {
    /// `name#incarnation`, as keys and people have it.
    var text: String { "\(name)#\(incarnation)" }

    /// Nil: it is not of that form.
    init?(text: String) {
        let parts = text.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, let incarnation = UInt64(parts[1]) else { return nil }
        self.init(name: String(parts[0]), incarnation: incarnation)
    }
}

/// The values of keys.
enum EtcdValue {
    static func text(of record: ShardRecord) -> String {
        var members = [
            "\"generation\":\(record.generation)", "\"epoch\":\(record.epoch)",
            "\"primary\":\(JSONText.quoted(record.primary.text))",
            "\"backups\":[\(record.backups.map { JSONText.quoted($0.text) }.joined(separator: ","))]",
        ]
        if let handover = record.handover { members.append("\"handover\":\(JSONText.quoted(handover.text))") }
        members.append("\"rules\":\(record.rules)")
        return "{\(members.joined(separator: ","))}"
    }

    /// Nil: it is no record.
    static func record(_ text: [UInt8]) -> ShardRecord? {
        guard let value = try? StrictJSON.parse(text), let generation = counter(value["generation"]),
            let epoch = counter(value["epoch"]), let primary = node(value["primary"]),
            case .array(let list)? = value["backups"], let rules = counter(value["rules"]),
            let rules = UInt32(exactly: rules)
        else { return nil }
        let backups = list.compactMap(node)
        let handover = value["handover"].map(node)
        guard backups.count == list.count, handover != .some(nil) else { return nil }
        return ShardRecord(
            generation: generation, epoch: epoch, primary: primary, backups: backups, handover: handover ?? nil,
            rules: rules)
    }

    static func text(of claim: NodeClaim) -> String {
        var members: [String] = []
        if let incarnation = claim.incarnation { members.append("\"incarnation\":\(incarnation)") }
        members += [
            "\"roles\":[\(claim.roles.names.map(JSONText.quoted).joined(separator: ","))]",
            "\"host\":\(JSONText.quoted(claim.host))", "\"link\":\(JSONText.quoted(claim.contact.link))",
            "\"linkKey\":\(JSONText.quoted(claim.contact.linkKey))", "\"url\":\(JSONText.quoted(claim.contact.url))",
            "\"draining\":\(claim.isDraining)", "\"mark\":\"\(claim.mark)\"",
        ]
        return "{\(members.joined(separator: ","))}"
    }

    /// Nil: it is no node.
    static func registration(_ text: [UInt8], name: String, revision: UInt64, lease: UInt64) -> NodeRegistration? {
        guard let value = try? StrictJSON.parse(text), case .array(let list)? = value["roles"],
            let mark = string(value["mark"]).flatMap({ UInt64($0) })
        else { return nil }
        var roles: NodeRoles = []
        for case .string(let name) in list { roles.formUnion(NodeRoles(name: name) ?? []) }
        let incarnation = value["incarnation"].map(counter)
        guard incarnation != .some(nil) else { return nil }
        let info = NodeInfo(
            id: NodeID(name: name, incarnation: (incarnation ?? nil) ?? revision), roles: roles,
            host: string(value["host"]) ?? "",
            contact: NodeContact(
                link: string(value["link"]) ?? "", linkKey: string(value["linkKey"]) ?? "",
                url: string(value["url"]) ?? ""), isDraining: value["draining"] == .bool(true))
        return NodeRegistration(info: info, lease: lease, revision: revision, mark: mark)
    }

    private static func string(_ value: JSONValue?) -> String? {
        if case .string(let text)? = value { text } else { nil }
    }

    private static func node(_ value: JSONValue?) -> NodeID? { string(value).flatMap(NodeID.init(text:)) }

    /// As far as a machine may reckon with it.
    private static func counter(_ value: JSONValue?) -> UInt64? {
        guard case .integer(let number)? = value, (0...(1 << 62)).contains(number) else { return nil }
        return UInt64(number)
    }
}

extension NodeRoles {
    private static let byName: [(name: String, role: NodeRoles)] = [
        ("gateway", .gateway), ("room", .room), ("matchmaker", .matchmaker),
    ]

    /// As configs and registrations have them.
    var names: [String] { Self.byName.filter { contains($0.role) }.map(\.name) }

    init?(name: String) {
        guard let known = Self.byName.first(where: { $0.name == name }) else { return nil }
        self = known.role
    }
}
