import HoldfastProtocol
import Testing

@testable import HoldfastReplication

/// Dialogues of one shard's hosts with each other and with a gateway (design, rules 9 and 10).
@Suite struct ShardHostTests {
    typealias Host = ShardHost<Diary>

    static let shard = ShardID(number: 0)
    static let a = NodeID(name: "a", incarnation: 1)
    static let b = NodeID(name: "b", incarnation: 2)
    static let c = NodeID(name: "c", incarnation: 3)
    static let d = NodeID(name: "d", incarnation: 4)
    static let source = ChannelSource.gateway(GatewayID(incarnation: 3, loop: 0), session: 1)

    /// Three hosts; what they send stays here until a test hands it on.
    struct Scene {
        var hosts: [NodeID: Host] = [:]
        var sent: [(from: NodeID, to: NodeID, message: Host.Message)] = []
        var swaps: [(by: NodeID, shard: ShardID, from: UInt64, to: ShardRecord)] = []
        var nowMs: Int64 = 1_000

        init(shards: Int = 1, nodes: [NodeID] = [a, b, c, d]) {
            let view = MembershipView(nodes: nodes.map { NodeInfo(id: $0) })
            for node in nodes where node != c {
                hosts[node] = Host(
                    node: node, layout: ShardLayout(entityShards: shards, matchShards: 1), configuration: true,
                    settings: ReplicationSettings(), generator: ReplicaRandom(seed: node.incarnation))
                call(node) { $0.membershipChanged(view, nowMs: $1, wallMs: $1, into: &$2) }
            }
        }

        mutating func call(_ node: NodeID, _ work: (inout Host, Int64, inout [Host.Effect]) -> Void) {
            guard var host = hosts[node] else { return }
            var effects: [Host.Effect] = []
            work(&host, nowMs, &effects)
            hosts[node] = host
            for effect in effects {
                switch effect {
                case .send(let peer, let message, _): sent.append((node, peer, message))
                case .swap(let shard, let from, let to): swaps.append((node, shard, from, to))
                default: break
                }
            }
        }

        mutating func see(_ record: ShardRecord, of shard: ShardID = shard, revision: UInt64, at node: NodeID) {
            let seen = VersionedRecord(record, revision: revision)
            call(node) { $0.recordSeen(shard, seen, nowMs: $1, wallMs: $1, into: &$2) }
        }

        /// A command of the gateway at c.
        mutating func command(_ number: UInt64, to node: NodeID) {
            let message = Host.Message.commands(
                to: shard, generation: 1, from: source, first: number, [Diary.Command(number)])
            call(node) { $0.receive(message, from: c, nowMs: $1, wallMs: $1, into: &$2) }
        }

        /// Hands on the oldest message from one to another.
        mutating func pass(_ from: NodeID, _ to: NodeID) {
            guard let i = sent.firstIndex(where: { $0.from == from && $0.to == to }) else { return }
            let message = sent.remove(at: i).message
            call(to) { $0.receive(message, from: from, nowMs: $1, wallMs: $1, into: &$2) }
        }

        mutating func passAll() {
            while let next = sent.first(where: { $0.to != c }) { pass(next.from, next.to) }
        }

        /// Time passes, all messages arrive, and all swaps are won.
        mutating func advance(ms: Int64) {
            let endMs = nowMs + ms
            while nowMs < endMs {
                nowMs += 50
                for node in hosts.keys.sorted() { call(node) { $0.tick(nowMs: $1, wallMs: $1, into: &$2) } }
                passAll()
                while let swap = swaps.popLast() {
                    let won = SwapResult.won(revision: swap.from + 1)
                    call(swap.by) { $0.swapEnded(swap.shard, won, nowMs: $1, wallMs: $1, into: &$2) }
                    for node in hosts.keys where node != swap.by {
                        see(swap.to, of: swap.shard, revision: swap.from + 1, at: node)
                    }
                    passAll()
                }
            }
        }

        /// Up to which number the gateway was told that its commands are taken.
        func told(by node: NodeID) -> UInt64? {
            sent.reduce(nil) { newest, sent in
                guard sent.from == node, sent.to == c, case .commandsTaken(_, _, _, let through) = sent.message
                else { return newest }
                return max(newest ?? 0, through)
            }
        }

        /// The sessions with which the gateway was refused.
        func sessions(toldBy node: NodeID) -> [UInt64] {
            sent.compactMap {
                guard $0.from == node, $0.to == c, case .commandsRefused(_, _, .session(let session)) = $0.message
                else { return nil }
                return session
            }
        }

        /// The shards of which a node has asked the one at c to become a replica.
        func invited(by node: NodeID) -> Set<ShardID> {
            Set(
                sent.compactMap {
                    guard $0.from == node, $0.to == c, case .replica(let shard, _, _, .invite) = $0.message else {
                        return nil
                    }
                    return shard
                })
        }

        mutating func seeSilent(_ silent: Set<NodeID>, at node: NodeID) {
            let view = MembershipView(nodes: [a, b, c, d].map { NodeInfo(id: $0) }, silent: silent)
            call(node) { $0.membershipChanged(view, nowMs: $1, wallMs: $1, into: &$2) }
        }
    }

    private static let record = ShardRecord(generation: 1, epoch: 1, primary: a, backups: [b, d], rules: 1)

    /// a is the primary and has been given a command.
    private func begun() -> Scene {
        var scene = Scene()
        for node in Self.record.members { scene.see(Self.record, revision: 1, at: node) }
        scene.passAll()
        scene.command(1, to: Self.a)
        return scene
    }

    @Test func aCommandIsTakenWhenItIsCommitted() {
        var scene = begun()
        scene.pass(Self.a, Self.b)
        scene.pass(Self.b, Self.a)
        #expect(scene.told(by: Self.a) ?? 0 == 0)
        scene.passAll()
        #expect(scene.told(by: Self.a) == 1)
    }

    /// Who greets all channels of a shard when its epoch has begun says nothing of what came since.
    @Test func aNewPrimaryTellsNothingThatIsNotCommitted() {
        var scene = begun()
        // b has the command and d lacks it when a is replaced.
        scene.pass(Self.a, Self.b)
        scene.sent = []
        let record = ShardRecord(generation: 1, epoch: 2, primary: Self.b, backups: [Self.d], rules: 1)
        for node in record.members { scene.see(record, revision: 2, at: node) }
        // d says where its log ends: b begins, and sends what d lacks.
        scene.pass(Self.b, Self.d)
        scene.pass(Self.d, Self.b)
        scene.command(2, to: Self.b)
        #expect(scene.told(by: Self.b) ?? 0 == 0)
        scene.pass(Self.b, Self.d)
        scene.pass(Self.d, Self.b)
        #expect(scene.told(by: Self.b) == 1)
        scene.passAll()
        #expect(scene.told(by: Self.b) == 2)
    }

    /// Until then another primary may go on with the session that this one has ended.
    @Test func aGatewayHearsOfItsNewSessionWhenThatIsCommitted() {
        var scene = begun()
        scene.passAll()
        scene.seeSilent([Self.c], at: Self.a)
        scene.seeSilent([], at: Self.a)
        scene.command(2, to: Self.a)
        scene.nowMs += 300
        scene.call(Self.a) { $0.tick(nowMs: $1, wallMs: $1, into: &$2) }
        #expect(scene.sessions(toldBy: Self.a).isEmpty)
        scene.passAll()
        scene.command(2, to: Self.a)
        #expect(scene.sessions(toldBy: Self.a) == [2])
        // It hears it without saying anything, too.
        scene.nowMs += 300
        scene.call(Self.a) { $0.tick(nowMs: $1, wallMs: $1, into: &$2) }
        #expect(scene.sessions(toldBy: Self.a) == [2, 2])
    }

    /// More shards than are brought up at a time: each makes room for another when it is done.
    @Test func allShardsGetTheirReplicas() {
        var scene = Scene(shards: 9, nodes: [Self.a, Self.b])
        let homes = ShardLayout(entityShards: 9, matchShards: 1).homes
        for home in homes {
            let alone = ShardRecord(generation: 1, epoch: 1, primary: Self.a, rules: 1)
            for node in [Self.a, Self.b] { scene.see(alone, of: home, revision: 1, at: node) }
        }
        scene.advance(ms: 5_000)
        for home in homes {
            #expect(scene.hosts[Self.a]?.route(of: home)?.record.members.count == 2, "shard \(home.number)")
        }
    }

    /// A transfer has also ended when another is the primary: this node does not balance that shard any more.
    @Test func shardsThatWentElsewhereMakeRoom() {
        // The other node never answers.
        var scene = Scene(shards: 5, nodes: [Self.a, Self.c])
        let homes = ShardLayout(entityShards: 5, matchShards: 1).homes
        for home in homes {
            let alone = ShardRecord(generation: 1, epoch: 1, primary: Self.a, rules: 1)
            scene.see(alone, of: home, revision: 1, at: Self.a)
        }
        scene.advance(ms: 500)
        let first = scene.invited(by: Self.a)
        #expect(first.count == ReplicationSettings().transfersAtOnce)
        for home in first {
            let elsewhere = ShardRecord(generation: 2, epoch: 1, primary: Self.c, rules: 1)
            scene.see(elsewhere, of: home, revision: 2, at: Self.a)
        }
        scene.advance(ms: 500)
        #expect(scene.invited(by: Self.a) == Set(homes))
    }
}
