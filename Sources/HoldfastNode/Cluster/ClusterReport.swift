internal import HoldfastProtocol
internal import HoldfastReplication

/// Values of a node's `/metrics`.
struct MetricsText {
    private var values: [Substring: Double] = [:]

    init(_ text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            values[line[..<space]] = Double(line[line.index(after: space)...])
        }
    }

    func whole(_ name: String) -> Int? { values[name[...]].map { Int($0) } }
}

/// One node of it.
struct NodeRow {
    let node: String
    let roles: String
    /// serving, draining, or silent: its address does not answer.
    let condition: String
    let primaries: Int
    let backups: Int
    let uncommitted: Int?
    let links: Int?
    let players: Int?
    let rooms: Int?
    let url: String

    init(_ info: NodeInfo, _ records: [VersionedRecord?], metrics: MetricsText?) {
        node = info.id.text
        roles = info.roles.names.joined(separator: ",")
        condition = metrics == nil ? "silent" : info.isDraining ? "draining" : "serving"
        primaries = records.count { $0?.record.primary == info.id }
        backups = records.count { $0?.record.backups.contains(info.id) ?? false }
        uncommitted = metrics?.whole("holdfast_entries_uncommitted")
        links = metrics?.whole("holdfast_links")
        players = metrics?.whole("holdfast_players")
        rooms = metrics?.whole("holdfast_rooms")
        url = info.contact.url
    }
}

/// Its shards.
struct ShardSummary {
    let shards: Int
    let missing: Int
    /// With one replica.
    let sole: Int
    /// Whose primary is not registered.
    let headless: Int
    let handingOver: Int
    /// Begun anew, because all replicas were lost.
    let begunAnew: Int
    let greatestEpoch: UInt64

    init(_ records: [VersionedRecord?], nodes: [NodeInfo]) {
        let present = records.compactMap { $0?.record }
        let registered = Set(nodes.map(\.id))
        shards = records.count
        missing = records.count - present.count
        sole = present.count { $0.backups.isEmpty }
        headless = present.count { !registered.contains($0.primary) }
        handingOver = present.count { $0.handover != nil }
        begunAnew = present.count { $0.generation > 1 }
        greatestEpoch = present.map(\.epoch).max() ?? 0
    }
}

/// A cluster as `holdfast status` shows it.
public struct ClusterReport: Sendable {
    let rows: [NodeRow]
    let shards: ShardSummary

    /// Whether every shard has a record, and its primary is registered.
    public var isWhole: Bool { shards.missing == 0 && shards.headless == 0 }

    private static func text(_ number: Int?, _ none: String) -> String { number.map(String.init) ?? none }

    /// For people.
    public var table: String {
        var lines = [["NODE", "ROLES", "STATE", "PRIMARY", "BACKUP", "LAG", "LINKS", "PLAYERS", "ROOMS", "URL"]]
        for row in rows {
            let numbers = [row.primaries, row.backups, row.uncommitted, row.links, row.players, row.rooms]
            lines.append([row.node, row.roles, row.condition] + numbers.map { Self.text($0, "-") } + [row.url])
        }
        let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let body = lines.map { line in
            zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
        }
        return body.joined(separator: "\n") + "\n\(shards.shards) shards: \(shards.missing) without a record, "
            + "\(shards.headless) whose primary is not registered, \(shards.sole) with one replica, "
            + "\(shards.handingOver) handing over, \(shards.begunAnew) begun anew; epochs to "
            + "\(shards.greatestEpoch)\n"
    }

    /// The same, as one line of JSON.
    public var json: String {
        let nodes = rows.map { row in
            let texts = [("node", row.node), ("roles", row.roles), ("state", row.condition), ("url", row.url)]
            let numbers = [
                ("primaries", row.primaries), ("backups", row.backups), ("lag", row.uncommitted), ("links", row.links),
                ("players", row.players), ("rooms", row.rooms),
            ]
            let members =
                texts.map { "\"\($0)\":\(JSONText.quoted($1))" }
                + numbers.map { "\"\($0)\":\(Self.text($1, "null"))" }
            return "{\(members.joined(separator: ","))}"
        }
        return "{\"nodes\":[\(nodes.joined(separator: ","))],\"shards\":{\"count\":\(shards.shards),"
            + "\"missing\":\(shards.missing),\"headless\":\(shards.headless),\"sole\":\(shards.sole),"
            + "\"handingOver\":\(shards.handingOver),\"begunAnew\":\(shards.begunAnew),"
            + "\"greatestEpoch\":\(shards.greatestEpoch)}}\n"
    }
}
