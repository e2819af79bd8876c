public import HoldfastProtocol

/// Where shards should be: rendezvous hashing with bounded load and host labels. Equal input gives equal output,
/// whatever the order of the nodes; a node's places follow from its name, so that a restarted process gets them back.
public enum Placement {
    /// For each shard that has a log the nodes that should hold it, the primary first.
    ///
    /// Each node has at most about 1.25 times the mean, as primary and as member. Two replicas are on different hosts
    /// where there are any: a host with few nodes then gets more than the mean. Match shards go to matchmakers, with
    /// room nodes behind them when there are fewer than `replicas`. Draining nodes get nothing unless nobody else is
    /// there.
    ///
    /// - Parameters:
    ///   - nodes: those that live; of several incarnations of a name only the newest counts.
    ///   - replicas: fewer when there are fewer nodes.
    public static func wanted(layout: ShardLayout, nodes: [NodeInfo], replicas: Int) -> [ShardID: [NodeID]] {
        let all = newest(nodes)
        var result: [ShardID: [NodeID]] = [:]
        result.reserveCapacity(layout.count)
        let homes = layout.homes
        place(
            homes.filter { !layout.isMatch($0) }, tiers: tiers(all, of: .room, standIn: nil, replicas: replicas),
            replicas: replicas, into: &result)
        place(
            homes.filter { layout.isMatch($0) },
            tiers: tiers(all, of: .matchmaker, standIn: .room, replicas: replicas), replicas: replicas, into: &result)
        return result
    }

    /// All nodes that may hold a shard, in the order in which they stand in for wanted ones that cannot.
    public static func standIns(for shard: ShardID, layout: ShardLayout, nodes: [NodeInfo]) -> [NodeID] {
        let isMatch = layout.isMatch(shard)
        let tiers = tiers(
            newest(nodes), of: isMatch ? .matchmaker : .room, standIn: isMatch ? .room : nil, replicas: .max)
        return tiers.flatMap { tier in
            tier.map { (score: score($0.seed, shard), id: $0.info.id) }
                .sorted { $0.score != $1.score ? $0.score > $1.score : $0.id < $1.id }
                .map(\.id)
        }
    }

    struct Candidate {
        let info: NodeInfo
        let seed: UInt64
        /// Equal for candidates that fail together.
        let host: String
    }

    private static func newest(_ nodes: [NodeInfo]) -> [NodeInfo] {
        var result: [NodeInfo] = []
        for node in nodes.sorted(by: { $0.id < $1.id }) {
            if result.last?.id.name == node.id.name { result.removeLast() }
            result.append(node)
        }
        return result
    }

    /// The candidates, those first that are to be used up before the next ones get anything.
    private static func tiers(
        _ nodes: [NodeInfo], of role: NodeRoles, standIn: NodeRoles?, replicas: Int
    ) -> [[Candidate]] {
        for isDraining in [false, true] {
            let able = nodes.filter { $0.isDraining == isDraining }
            let first = able.filter { $0.roles.contains(role) }
            var others: [NodeInfo] = []
            if let standIn, first.count < replicas {
                others = able.filter { $0.roles.contains(standIn) && !$0.roles.contains(role) }
            }
            let tiers = [first, others].filter { !$0.isEmpty }
            if !tiers.isEmpty { return tiers.map { $0.map(candidate) } }
        }
        return []
    }

    private static func candidate(_ info: NodeInfo) -> Candidate {
        var hash = StableHash()
        hash.mix(info.id.name.utf8)
        // A label and a name are never equal.
        let host = info.host.isEmpty ? "n" + info.id.name : "h" + info.host
        return Candidate(info: info, seed: hash.value, host: host)
    }

    /// The finalizer of MurmurHash3 (https://github.com/aappleby/smhasher), over name and shard.
    static func score(_ seed: UInt64, _ shard: ShardID) -> UInt64 {
        var value = seed ^ (UInt64(truncatingIfNeeded: shard.number + 1) &* 0x9e37_79b9_7f4a_7c15)
        value = (value ^ (value >> 33)) &* 0xff51_afd7_ed55_8ccd
        value = (value ^ (value >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return value ^ (value >> 33)
    }

    private static func place(
        _ shards: [ShardID], tiers: [[Candidate]], replicas: Int, into result: inout [ShardID: [NodeID]]
    ) {
        guard replicas > 0 else { return }
        var rows = PlacementRows(shards: shards)
        var left = replicas
        for tier in tiers where left > 0 {
            let count = min(left, tier.count)
            rows.fill(from: tier, places: count)
            left -= count
        }
        for (row, shard) in shards.enumerated() { result[shard] = rows.chosen[row].map(\.info.id) }
    }
}
