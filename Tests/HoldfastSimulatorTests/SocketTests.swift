import HoldfastProtocol
import Testing

@testable import HoldfastSimulator

/// Opens one link, says something now and then, and notes what it hears.
private final class Talker: SimPlayers {
    var heard: [String] = []
    private var link: UInt32 = 0
    private var script: [(ms: Int64, order: (SimLink) -> ClientOrder)]
    private let endpoint: Int
    private let beginsMs: Int64

    init(endpoint: Int = 0, beginsMs: Int64 = 1_000, script: [(ms: Int64, order: (SimLink) -> ClientOrder)] = []) {
        self.endpoint = endpoint
        self.beginsMs = beginsMs
        self.script = script
    }

    private var own: SimLink { SimLink(number: link) }

    func start(nowMs: Int64, into orders: inout [ClientOrder]) {}
    func linkOpened(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        heard.append("opened")
        orders.append(.send(link, ClientMessage(id: 1, body: .connect(Connect(token: "sim/p0")))))
    }
    func linkClosed(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) { heard.append("closed") }
    func received(_ message: ServerMessage, on link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {
        switch message.body {
        case .connected: heard.append("connected")
        case .ok: heard.append("ok \(message.id)")
        case .error(let error): heard.append("error \(error.code) to \(message.id)")
        case .disconnected(let last): heard.append("disconnected \(last.code)")
        default: heard.append("other \(message.id)")
        }
    }
    func linkActive(_ link: SimLink, nowMs: Int64, into orders: inout [ClientOrder]) {}
    func tick(nowMs: Int64, into orders: inout [ClientOrder]) {
        if link == 0 {
            link = 1
            orders.append(.open(own, endpoint: endpoint))
            return
        }
        while let next = script.first, next.ms <= nowMs {
            script.removeFirst()
            orders.append(next.order(own))
        }
    }
    var nextDeadlineMs: Int64? { link == 0 ? beginsMs : script.first?.ms }
    func faultsEnded(nowMs: Int64, into orders: inout [ClientOrder]) {}
    func ended(nowMs: Int64) {}
    func finaleBegins(nowMs: Int64, into orders: inout [ClientOrder]) {}
    func finaleEnded(nowMs: Int64) {}
    func shardLost(_ home: ShardID, nowMs: Int64) {}
    func epochStarted(_ home: ShardID, nowMs: Int64) {}
    func disturbed(endpoint: Int, nowMs: Int64) {}
    var violation: Violation? { nil }
}

@Suite struct SocketTests {
    private func run(_ talker: Talker, _ faults: [FaultPlan.Scheduled], endMs: Int = 9_000) -> SimWorld {
        var setup = SimSetup()
        setup.nodes = 2
        setup.layout = ShardLayout(entityShards: 2, matchShards: 1)
        setup.heartbeatMs = 1_000
        let plan = FaultPlan(setup: setup, faults: faults, quietAtMs: endMs - 500, endMs: endMs)
        let world = SimWorld(seed: 11, plan: plan, players: talker)
        world.run()
        return world
    }

    private static func list(_ id: UInt32) -> (SimLink) -> ClientOrder {
        { .send($0, ClientMessage(id: id, body: .getRoomList(GetRoomList()))) }
    }

    @Test func aClientPlays() {
        let talker = Talker(script: [(3_000, Self.list(2)), (3_001, Self.list(3))])
        #expect(run(talker, []).violation == nil)
        #expect(talker.heard == ["opened", "connected", "other 2", "other 3"])
    }

    @Test func aCutDelaysAndKeepsTheOrder() {
        let script = (0..<8).map { (3_000 + Int64($0) * 150, Self.list(UInt32($0) + 2)) }
        let talker = Talker(script: script)
        let faults: [FaultPlan.Scheduled] = [
            .init(atMs: 3_100, .clientsCut(node: 0, forMs: 500)), .init(atMs: 3_300, .clientsCut(node: 0, forMs: 900)),
        ]
        #expect(run(talker, faults).violation == nil)
        #expect(talker.heard == ["opened", "connected"] + (2...9).map { "other \($0)" })
    }

    @Test func whoReadsAgainHearsAllInOrder() {
        let stops: [(Int64, (SimLink) -> ClientOrder)] = [
            (2_900, { .reading($0, false) }), (3_400, { .reading($0, true) }),
        ]
        let calls = (0..<8).map { (3_000 + Int64($0) * 100, Self.list(UInt32($0) + 2)) }
        let talker = Talker(script: (stops + calls).sorted { $0.0 < $1.0 })
        #expect(run(talker, []).violation == nil)
        #expect(talker.heard == ["opened", "connected"] + (2...9).map { "other \($0)" })
    }

    @Test func aDeadProcessClosesItsLinks() {
        let talker = Talker()
        _ = run(talker, [.init(atMs: 3_000, .crash(node: 0, downMs: 500))])
        #expect(talker.heard == ["opened", "connected", "closed"])
    }

    @Test func aDeadProcessSaysNothingMore() throws {
        let world = run(Talker(), [])
        let process = try #require(world.slots[1].process)
        let peer = try #require(world.slots[0].process?.node)
        world.kill(1)
        let batches = world.counters.batches
        world.transmit([], from: process, to: peer, isBulk: false)
        #expect(world.counters.batches == batches)
    }

    @Test func nobodyListensWhereNobodyIs() {
        let talker = Talker(beginsMs: 3_200)
        _ = run(talker, [.init(atMs: 3_000, .crash(node: 0, downMs: 500))])
        #expect(talker.heard == ["closed"])
    }

    @Test func aSilentBreakIsNoticedByNobodyAtOnce() {
        let talker = Talker(script: [(3_500, Self.list(2))])
        _ = run(talker, [.init(atMs: 3_000, .clientLinksBreak(node: 0, broken: 1_000, silently: true))])
        #expect(talker.heard == ["opened", "connected"])
    }

    @Test func aBreakIsNoticedAtBothEnds() {
        let talker = Talker(script: [(3_500, Self.list(2))])
        _ = run(talker, [.init(atMs: 3_000, .clientLinksBreak(node: 0, broken: 1_000, silently: false))])
        #expect(talker.heard == ["opened", "connected", "closed"])
    }

    @Test func aPausedProcessAnswersWhenItWakes() {
        let talker = Talker(script: [(3_100, Self.list(2))])
        _ = run(talker, [.init(atMs: 3_000, .pause(node: 0, forMs: 400))])
        #expect(talker.heard == ["opened", "connected", "other 2"])
    }
}
