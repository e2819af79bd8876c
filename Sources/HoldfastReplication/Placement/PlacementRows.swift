import HoldfastProtocol

/// Shards that ask nodes for places, round by round: first all for a primary, then all for a first backup, and so on.
///
/// In each round a shard asks the nodes in the order of its scores, and a full node keeps those with the highest
/// scores and sends the others on. What comes out is the same in whatever order they ask (stable matching), and a node
/// more or less moves little.
struct PlacementRows {
    let shards: [ShardID]
    private(set) var chosen: [[Placement.Candidate]]

    private var nodes: [Placement.Candidate] = []
    /// By number of host, for each of `nodes`.
    private var hosts: [Int] = []
    private var scores: [UInt64] = []
    /// Places taken, of each of `nodes`, and how many it may have.
    private var loads: [Int] = []
    private var limits: [Int] = []

    init(shards: [ShardID]) {
        self.shards = shards
        chosen = Array(repeating: [], count: shards.count)
    }

    mutating func fill(from tier: [Placement.Candidate], places: Int) {
        guard !shards.isEmpty else { return }
        nodes = tier
        let names = Set(tier.map(\.host)).sorted()
        hosts = tier.map { names.firstIndex(of: $0.host) ?? 0 }
        scores = []
        scores.reserveCapacity(shards.count * tier.count)
        for shard in shards { for node in tier { scores.append(Placement.score(node.seed, shard)) } }
        loads = Array(repeating: 0, count: tier.count)
        limits = memberLimits(hostCount: names.count, places: places)
        let share = Self.withSlack(shards.count, tier.count)
        var taken = Array(repeating: [Int](), count: shards.count)
        for place in 0..<places {
            let room = nodes.indices.map { at in
                place == 0 ? min(share, limits[at]) : max(0, limits[at] - loads[at])
            }
            let round = match(room: room, taken: taken)
            for row in shards.indices {
                let at = round[row] ?? leastLoaded(row, taken: taken[row])
                guard let at else { continue }
                taken[row].append(at)
                if round[row] == nil { loads[at] += 1 }
            }
            for at in round { if let at { loads[at] += 1 } }
        }
        for row in shards.indices { chosen[row] += taken[row].map { nodes[$0] } }
    }

    /// A quarter more than `sum / count`, rounded up.
    private static func withSlack(_ sum: Int, _ count: Int) -> Int { (5 * sum + 4 * count - 1) / (4 * count) }

    /// Each host gets places in proportion to its nodes, but no more of a shard than it must: the rest is for others.
    private func memberLimits(hostCount: Int, places: Int) -> [Int] {
        var sizes = Array(repeating: 0, count: hostCount)
        for host in hosts { sizes[host] += 1 }
        let perHost = (places + hostCount - 1) / hostCount
        let most = sizes.map { min(perHost, $0) * shards.count }
        var limits = Array(repeating: shards.count, count: hostCount)
        var open = Array(0..<hostCount)
        var rest = places * shards.count
        while !open.isEmpty {
            let size = open.reduce(0) { $0 + sizes[$1] }
            let full = open.filter { rest * sizes[$0] > most[$0] * size }
            if full.isEmpty {
                for host in open { limits[host] = Self.withSlack(rest, size) }
                break
            }
            for host in full {
                limits[host] = Self.withSlack(most[host], sizes[host])
                rest -= most[host]
            }
            open.removeAll { full.contains($0) }
        }
        return hosts.map { min(shards.count, limits[$0]) }
    }

    /// The node that each shard gets in this round; nil: none that has room and shares no host with those it has.
    private func match(room: [Int], taken: [[Int]]) -> [Int?] {
        var held = Array(repeating: [Int](), count: nodes.count)
        var result = [Int?](repeating: nil, count: shards.count)
        var bound = Array(repeating: UInt64.max, count: shards.count)
        var asking = Array(shards.indices.reversed())
        while let row = asking.popLast() {
            guard let at = next(row, below: bound[row], taken: taken[row], isOpen: { room[$0] > 0 }) else { continue }
            let score = scores[row * nodes.count + at]
            bound[row] = score
            held[at].append(row)
            result[row] = at
            guard held[at].count > room[at] else { continue }
            var last = 0
            for other in held[at].indices where scoreOf(held[at][other], at) < scoreOf(held[at][last], at) {
                last = other
            }
            let sent = held[at].remove(at: last)
            result[sent] = nil
            asking.append(sent)
        }
        return result
    }

    private func scoreOf(_ row: Int, _ at: Int) -> UInt64 { scores[row * nodes.count + at] }

    /// The best node that the shard has not asked yet, among those on hosts that it has no replica on while there are
    /// any such hosts.
    private func next(_ row: Int, below bound: UInt64, taken: [Int], isOpen: (Int) -> Bool) -> Int? {
        let isFree = isHostFree(row, taken: taken)
        var best: Int?
        for at in nodes.indices {
            let score = scoreOf(row, at)
            guard score < bound, score > best.map({ scoreOf(row, $0) }) ?? 0, isOpen(at) else { continue }
            guard isFree ? !isUsed(row, at, taken: taken) : !taken.contains(at) else { continue }
            best = at
        }
        return best
    }

    private func isHostFree(_ row: Int, taken: [Int]) -> Bool {
        if taken.isEmpty && chosen[row].isEmpty { return true }
        return nodes.indices.contains { !isUsed(row, $0, taken: taken) }
    }

    private func isUsed(_ row: Int, _ at: Int, taken: [Int]) -> Bool {
        taken.contains { hosts[$0] == hosts[at] } || chosen[row].contains { $0.host == nodes[at].host }
    }

    /// For a shard that found all full: another host counts more than a load, a load more than a score.
    private func leastLoaded(_ row: Int, taken: [Int]) -> Int? {
        let isFree = isHostFree(row, taken: taken)
        var best: Int?
        for at in nodes.indices where isFree ? !isUsed(row, at, taken: taken) : !taken.contains(at) {
            guard let known = best else {
                best = at
                continue
            }
            let here = loads[at] * max(1, limits[known])
            let there = loads[known] * max(1, limits[at])
            if here < there || here == there && scoreOf(row, at) > scoreOf(row, known) { best = at }
        }
        return best
    }
}
