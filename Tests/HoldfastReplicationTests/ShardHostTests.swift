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
        /// What came to the links of gateways here.
        var items: [Diary.Command] = []
        var emptied: [Diary.Command] = []
        var lost: [LinksLoss] = []
        var nowMs: Int64 = 1_000

        init(
            shards: Int = 1, nodes: [NodeID] = [a, b, c, d], settings: ReplicationSettings = ReplicationSettings()
        ) {
            let view = MembershipView(nodes: nodes.map { NodeInfo(id: $0) })
            for node in nodes where node != c {
                hosts[node] = Host(
                    node: node, layout: ShardLayout(entityShards: shards, matchShards: 1), configuration: true,
                    settings: settings, generator: ReplicaRandom(seed: node.incarnation))
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
                case .item(let item): items.append(item)
                case .emptied(let command): emptied.append(command)
                case .linksLost(_, let why): lost.append(why)
                case .readRecord, .alarm: break
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

    // MARK: Failover

    @Test func roomsThatPlayAreTakenOverFirst() {
        var scene = Scene(shards: 3)
        let record = ShardRecord(generation: 1, epoch: 1, primary: Self.a, backups: [Self.b], rules: 1)
        for i in 0..<3 { scene.see(record, of: ShardID(number: i), revision: UInt64(i) + 1, at: Self.b) }
        scene.hosts[Self.b]?.places[1].replica?.state?.machine.deadlineMs = 60_000
        scene.hosts[Self.b]?.places[2].replica?.state?.machine.deadlineMs = 50
        let view = MembershipView(nodes: [Self.a, Self.b, Self.c, Self.d].map { NodeInfo(id: $0) }, dead: [Self.a])
        scene.call(Self.b) { $0.membershipChanged(view, nowMs: $1, wallMs: $1, into: &$2) }
        #expect(scene.swaps.map(\.shard.number) == [2, 1, 0])
    }

    // MARK: Emptied commands

    /// The gateway at b has a command of which two primaries seem to have died, and so sends an empty one to c.
    private func emptiedTwice() -> Scene {
        var scene = Scene()
        let records = [Self.a, Self.d, Self.c].enumerated().map { at, primary in
            ShardRecord(generation: 1, epoch: UInt64(at) + 1, primary: primary, rules: 1)
        }
        var dead: Set<NodeID> = []
        for (at, record) in records.enumerated() {
            scene.see(record, revision: UInt64(at) + 1, at: Self.b)
            if at == 0 {
                scene.call(Self.b) { $0.submit(Diary.Command(7), nowMs: $1, wallMs: $1, into: &$2) }
            }
            dead.insert(record.primary)
            let view = MembershipView(nodes: [Self.a, Self.b, Self.c, Self.d].map { NodeInfo(id: $0) }, dead: dead)
            if record.primary != Self.c {
                scene.call(Self.b) { $0.membershipChanged(view, nowMs: $1, wallMs: $1, into: &$2) }
            }
        }
        return scene
    }

    private func answer(_ scene: inout Scene, _ item: ChannelItem<Diary.Command>) {
        let gateway = GatewayID(incarnation: Self.b.incarnation, loop: 0)
        let message = Host.Message.items(
            from: Self.shard, generation: 1, to: gateway, session: 1, first: 1, [item])
        scene.call(Self.b) { $0.receive(message, from: Self.c, nowMs: $1, wallMs: $1, into: &$2) }
    }

    @Test func anEmptiedCommandIsRefusedWhenTheShardHasPassedItOver() {
        var scene = emptiedTwice()
        let isEmpty = scene.sent.contains {
            guard $0.to == Self.c, case .commands(_, _, _, 1, let commands) = $0.message else { return false }
            return commands == [nil]
        }
        #expect(isEmpty)
        #expect(scene.emptied == [], "a primary that died may have done it")
        answer(&scene, .emptied(1))
        #expect(scene.emptied == [Diary.Command(7)])
    }

    @Test func anEmptiedCommandThatWasDoneHasItsAnswerAlone() {
        var scene = emptiedTwice()
        answer(&scene, .item(Diary.Command(7)))
        #expect(scene.items == [Diary.Command(7)])
        #expect(scene.emptied == [])
    }

    @Test func aShardSaysWhatItHasPassedOver() {
        var scene = begun()
        scene.passAll()
        let message = Host.Message.commands(
            to: Self.shard, generation: 1, from: Self.source, first: 2, [nil])
        scene.call(Self.a) { $0.receive(message, from: Self.c, nowMs: $1, wallMs: $1, into: &$2) }
        scene.passAll()
        let passed = scene.sent.contains {
            guard $0.to == Self.c, case .items(_, _, _, _, _, let items) = $0.message else { return false }
            return items.contains { if case .emptied(2) = $0 { true } else { false } }
        }
        #expect(passed)
        #expect(scene.told(by: Self.a) == 2)
    }

    // MARK: Sessions that a gateway gives up

    @Test func linksEndAgainWhenTheShardHearsOfANewSession() {
        var settings = ReplicationSettings()
        settings.gatewayOutboxLimit = 2
        var scene = Scene(nodes: [Self.a, Self.b], settings: settings)
        let record = ShardRecord(generation: 1, epoch: 1, primary: Self.a, backups: [Self.b], rules: 1)
        for node in record.members { scene.see(record, revision: 1, at: node) }
        scene.passAll()
        for value in 1...3 {
            scene.call(Self.b) { $0.submit(Diary.Command(UInt64(value)), nowMs: $1, wallMs: $1, into: &$2) }
        }
        #expect(scene.lost == [.cutOff], "nothing more is taken there")
        // It has nothing to say in the new session, and lets the shard know of it all the same.
        scene.sent = []
        scene.advance(ms: 2_000)
        #expect(scene.lost == [.cutOff, .session])
    }

    /// Answers do not say which swap they are of.
    @Test func aBeginningWaitsForTheAnswerToWhatTheReplicaAsked() {
        var scene = Scene()
        let nodes = [Self.a, Self.c, Self.d].map { NodeInfo(id: $0) }
        scene.see(
            ShardRecord(generation: 1, epoch: 1, primary: Self.a, backups: [Self.b], rules: 1), revision: 10,
            at: Self.a)
        scene.seeSilent([Self.b], at: Self.a)
        #expect(scene.swaps.map(\.to.epoch) == [2], "b is dropped")
        let taken = ShardRecord(generation: 1, epoch: 2, primary: Self.b, backups: [], rules: 1)
        scene.see(taken, revision: 11, at: Self.a)
        let view = MembershipView(nodes: nodes, dead: [Self.b], lost: [Self.b])
        scene.call(Self.a) { $0.membershipChanged(view, nowMs: $1, wallMs: $1, into: &$2) }
        func pass() {
            for _ in 0..<40 {
                scene.nowMs += 50
                scene.call(Self.a) { $0.tick(nowMs: $1, wallMs: $1, into: &$2) }
            }
        }
        pass()
        #expect(scene.swaps.count == 1)
        let lost = SwapResult.lost(VersionedRecord(taken, revision: 11))
        scene.call(Self.a) { $0.swapEnded(Self.shard, lost, nowMs: $1, wallMs: $1, into: &$2) }
        pass()
        #expect(scene.swaps.map(\.to.generation) == [1, 2])
    }
}
