import HoldfastProtocol
import HoldfastReplication
import Testing

struct SplitMixGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}

private func node(
    _ name: String, _ incarnation: UInt64 = 1, _ roles: NodeRoles = .all, host: String = "", isDraining: Bool = false
) -> NodeInfo {
    NodeInfo(id: NodeID(name: name, incarnation: incarnation), roles: roles, host: host, isDraining: isDraining)
}

private func nodes(_ count: Int, _ roles: NodeRoles = .all) -> [NodeInfo] {
    (0..<count).map { node("n\($0)", UInt64($0 + 1), roles) }
}

private func place(
    _ nodes: [NodeInfo], replicas: Int = 2, layout: ShardLayout = .standard
) -> [ShardID: [NodeID]] {
    Placement.wanted(layout: layout, nodes: nodes, replicas: replicas)
}

/// Members and primaries of entity shards, by node.
private func loads(
    _ wanted: [ShardID: [NodeID]], _ layout: ShardLayout = .standard, isMatch: Bool = false
) -> (members: [NodeID: Int], primaries: [NodeID: Int]) {
    var members: [NodeID: Int] = [:]
    var primaries: [NodeID: Int] = [:]
    for (shard, list) in wanted where layout.isMatch(shard) == isMatch {
        for id in list { members[id, default: 0] += 1 }
        if let first = list.first { primaries[first, default: 0] += 1 }
    }
    return (members, primaries)
}

private func randomCluster(_ random: inout SplitMixGenerator) -> [NodeInfo] {
    let count = Int.random(in: 1...12, using: &random)
    let hosts = Int.random(in: 0...4, using: &random)
    return (0..<count).map { at in
        let roles: [NodeRoles] = [.all, .all, .room, .matchmaker, [.room, .gateway], .gateway]
        return node(
            "n\(Int.random(in: 0...99, using: &random))-\(at)", UInt64.random(in: 1...9, using: &random),
            roles.randomElement(using: &random) ?? .all,
            host: hosts == 0 ? "" : "h\(Int.random(in: 1...hosts, using: &random))",
            isDraining: Int.random(in: 0..<6, using: &random) == 0)
    }
}

@Suite struct PlacementTests {
    @Test func theOrderOfNodesDoesNotMatter() {
        var random = SplitMixGenerator(state: 1)
        for _ in 0..<60 {
            let cluster = randomCluster(&random)
            let layout = ShardLayout(entityShards: Int.random(in: 1...60, using: &random), matchShards: 5)
            let replicas = Int.random(in: 1...3, using: &random)
            let first = place(cluster, replicas: replicas, layout: layout)
            #expect(first == place(cluster.shuffled(using: &random), replicas: replicas, layout: layout))
        }
    }

    @Test(arguments: [3, 5, 10, 50], [2, 3])
    func loadIsBounded(count: Int, replicas: Int) {
        let wanted = place(nodes(count), replicas: replicas)
        for (isMatch, shards) in [(false, 1024), (true, 64)] {
            let (members, primaries) = loads(wanted, isMatch: isMatch)
            let mean = Double(shards * replicas) / Double(count)
            #expect(members.values.allSatisfy { Double($0) <= (1.25 * mean).rounded(.up) })
            #expect(members.values.reduce(0, +) == shards * replicas)
            let share = Double(shards) / Double(count)
            #expect(primaries.values.allSatisfy { Double($0) <= (1.25 * share).rounded(.up) })
        }
    }

    @Test func replicasAreDifferentNodesAndAsManyAsThereAre() {
        var random = SplitMixGenerator(state: 2)
        for _ in 0..<200 {
            let cluster = randomCluster(&random)
            let layout = ShardLayout(entityShards: 20, matchShards: 6)
            let replicas = Int.random(in: 1...3, using: &random)
            let wanted = place(cluster, replicas: replicas, layout: layout)
            let rooms = cluster.filter { $0.roles.contains(.room) }
            let able = rooms.contains { !$0.isDraining } ? rooms.filter { !$0.isDraining } : rooms
            for shard in layout.homes {
                let list = wanted[shard] ?? []
                #expect(Set(list).count == list.count)
                if !layout.isMatch(shard) {
                    #expect(list.count == min(replicas, able.count))
                    #expect(list.allSatisfy { id in able.contains { $0.id == id } })
                }
            }
        }
    }

    @Test func twoReplicasAreOnTwoHostsWhereThereAreTwo() {
        var random = SplitMixGenerator(state: 3)
        for _ in 0..<100 {
            let count = Int.random(in: 2...12, using: &random)
            let cluster = (0..<count).map { node("n\($0)", host: "h\(Int.random(in: 0...3, using: &random))") }
            let hosts = Set(cluster.map(\.host)).count
            let replicas = Int.random(in: 2...3, using: &random)
            let wanted = place(cluster, replicas: replicas, layout: ShardLayout(entityShards: 64, matchShards: 8))
            for list in wanted.values {
                let used = Set(list.map { id in cluster.first { $0.id == id }?.host })
                #expect(used.count == min(replicas, hosts, count))
            }
        }
    }

    @Test func aHostWithOneNodeHoldsAReplicaOfMostWhenAllOthersShareTheOther() {
        let cluster = [node("a", host: "x"), node("b", host: "x"), node("c", host: "y")]
        let (members, primaries) = loads(place(cluster))
        #expect(members[cluster[2].id] == 1024)
        #expect((400...640).contains(members[cluster[0].id] ?? 0))
        #expect((primaries[cluster[2].id] ?? 0) <= 427)
    }

    @Test(arguments: [3, 10, 30])
    func aNodeMoreOrLessMovesAboutItsShare(count: Int) {
        let few = place(nodes(count))
        let many = place(nodes(count + 1))
        var moved = 0
        var movedPrimaries = 0
        for (shard, list) in few {
            let other = many[shard] ?? []
            moved += list.filter { !other.contains($0) }.count
            movedPrimaries += list.first == other.first ? 0 : 1
        }
        let share = Double(2 * 1088) / Double(count + 1)
        #expect(Double(moved) < 1.6 * share, "moved \(moved), its share is \(share)")
        #expect(Double(movedPrimaries) < 1.6 * share / 2, "moved \(movedPrimaries) primaries of \(share / 2)")
    }

    @Test func aRestartedProcessGetsItsPlacesBack() {
        let before = nodes(5)
        let restarted = NodeID(name: "n2", incarnation: 77)
        let after = before.map { $0.id.name == "n2" ? NodeInfo(id: restarted) : $0 }
        let expected = place(before).mapValues { $0.map { $0.name == "n2" ? restarted : $0 } }
        #expect(place(after) == expected)
        #expect(place(after + [before[2]]) == expected, "an older incarnation does not count")
    }

    @Test func drainingNodesGetNothingUnlessNobodyElseIsThere() {
        let cluster = [node("a"), node("b", isDraining: true), node("c")]
        for list in place(cluster).values { #expect(Set(list.map(\.name)) == ["a", "c"]) }
        let last = [node("a", isDraining: true), node("b", isDraining: true)]
        for list in place(last).values { #expect(Set(list.map(\.name)) == ["a", "b"]) }
    }

    @Test func matchShardsAreOnMatchmakersAndRoomNodesStandIn() {
        let layout = ShardLayout(entityShards: 10, matchShards: 10)
        let rooms = (0..<3).map { node("r\($0)", 1, .room) }
        let one = place(rooms + [node("m", 1, .matchmaker)], layout: layout)
        for (shard, list) in one {
            #expect(layout.isMatch(shard) ? list.first?.name == "m" : list.allSatisfy { $0.name != "m" })
            #expect(list.count == 2)
        }
        let two = place(rooms + [node("m", 1, .matchmaker), node("k", 1, .matchmaker)], layout: layout)
        for (shard, list) in two where layout.isMatch(shard) { #expect(Set(list.map(\.name)) == ["m", "k"]) }
        for list in place(rooms, layout: layout).values { #expect(list.count == 2) }
    }

    @Test func nobodyIsThere() {
        #expect(place([]).values.allSatisfy { $0.isEmpty })
        #expect(place(nodes(3, .gateway)).values.allSatisfy { $0.isEmpty })
        #expect(place(nodes(3), replicas: 0).isEmpty)
    }
}
