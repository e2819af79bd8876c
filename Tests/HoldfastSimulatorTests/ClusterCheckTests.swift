import HoldfastProtocol
import Testing

@testable import HoldfastModel
@testable import HoldfastReplication
@testable import HoldfastSimulator

/// The parts of the cluster's checker that look at one thing each.
@Suite struct ClusterCheckTests {
    // MARK: Channels (10)

    @Test func channelEnds() {
        #expect(ClusterChecker.fault(sent: (first: 1, last: 0), accepted: 0) == nil)
        #expect(ClusterChecker.fault(sent: (first: 4, last: 9), accepted: 3) == nil)
        #expect(ClusterChecker.fault(sent: (first: 4, last: 9), accepted: 9) == nil)
        #expect(ClusterChecker.fault(sent: (first: 4, last: 9), accepted: 10) != nil)
        #expect(ClusterChecker.fault(sent: (first: 4, last: 9), accepted: 2) != nil)
    }

    @Test func gatewayEnds() {
        let gateway = GatewayID(incarnation: 3, loop: 0)
        func fault(
            _ life: UInt64, _ received: UInt64, _ sent: ClosedRange<UInt64>,
            shard: (UInt64, UInt64, ClosedRange<UInt64>)?
        ) -> String? {
            ClusterChecker.fault(
                gateway: ChannelView(
                    other: ShardID(number: 0), life: life, accepted: received, first: sent.lowerBound,
                    last: sent.upperBound),
                shard: shard.map {
                    ChannelView(
                        other: gateway, life: $0.0, accepted: $0.1, first: $0.2.lowerBound, last: $0.2.upperBound)
                })
        }
        #expect(fault(1, 5, 3...8, shard: (1, 4, 4...7)) == nil)
        #expect(fault(1, 5, 3...8, shard: (2, 0, 1...1)) == nil)
        #expect(fault(1, 0, 1...8, shard: nil) == nil)
        #expect(fault(1, 5, 3...8, shard: (1, 1, 4...7)) != nil)
        #expect(fault(1, 5, 3...8, shard: (1, 9, 4...7)) != nil)
        #expect(fault(1, 5, 3...8, shard: (1, 4, 7...9)) != nil)
        #expect(fault(1, 9, 3...8, shard: (1, 4, 4...7)) != nil)
        #expect(fault(1, 0, 3...8, shard: nil) != nil)
        #expect(fault(1, 2, 1...8, shard: nil) != nil)
    }

    // MARK: States (8, 9, 12, 14)

    private func seat(
        _ player: String, _ claim: Claim, online: Bool = true, spectator: Bool = false, connection: UInt64 = 7,
        link: Link? = nil
    ) -> SeatPeek {
        SeatPeek(
            player: player, claim: claim, isSpectator: spectator, isOnline: online, connection: connection, link: link)
    }

    private func room(_ seats: [SeatPeek], owner: String = "a") -> RoomPeek {
        RoomPeek(
            key: RoomKey(project: "p", id: "r"), maximum: 2, spectatorMaximum: 1, seats: seats, owner: owner, seq: 1,
            frameSync: 0, sealed: 0)
    }

    private func player(
        _ place: PlayerPeek.Place, connection: UInt64 = 7, link: Link? = nil, attaching: Bool = false
    ) -> PlayerPeek {
        PlayerPeek(
            key: PlayerKey(project: "p", id: "a"), place: place, isAbandoned: false, hasRun: true, link: link,
            connection: connection, isOffline: false, isAttaching: attaching, openCalls: 0, remembered: 0)
    }

    @Test func rooms() {
        #expect(ClusterChecker.fault(room([seat("a", 3), seat("b", 4)])) == nil)
        #expect(ClusterChecker.fault(room([seat("a", 3, online: false), seat("b", 4, online: false)])) == nil)
        #expect(ClusterChecker.fault(room([seat("a", 3), seat("b", 4), seat("c", 5)]))?.0 == 8)
        #expect(ClusterChecker.fault(room([seat("a", 3), seat("a", 4)]))?.0 == 8)
        let spectators = [seat("a", 3), seat("x", 4, spectator: true), seat("y", 4, spectator: true)]
        #expect(ClusterChecker.fault(room(spectators))?.0 == 8)
        #expect(ClusterChecker.fault(room([seat("a", 3, online: false), seat("b", 4)]))?.0 == 9)
        #expect(ClusterChecker.fault(room([seat("b", 4)]))?.0 == 9)
    }

    @Test func seatsAndTheirPlayers() {
        let pool = PoolKey(project: "p", type: "t", maxPlayerCount: 2, params: [:])
        let own = seat("a", 5)
        for place: PlayerPeek.Place in [
            .claiming(room: "r", 5), .seated(room: "r", 5), .leaving(room: "r", 5), .matching(pool, 5),
        ] {
            #expect(ClusterChecker.fault(player(place), own, in: "r") == nil)
        }
        for place: PlayerPeek.Place in [.free, .seated(room: "r", 6), .seated(room: "q", 5), .matching(pool, 4)] {
            #expect(ClusterChecker.fault(player(place), own, in: "r")?.0 == 8)
        }
        let gateway = GatewayID(incarnation: 3, loop: 0)
        let one = Link(gateway: gateway, number: 1, encoding: .json)
        let two = Link(gateway: gateway, number: 2, encoding: .json)
        let seated = player(.seated(room: "r", 5), link: one)
        #expect(ClusterChecker.fault(seated, seat("a", 5, link: one), in: "r") == nil)
        #expect(ClusterChecker.fault(seated, seat("a", 5, connection: 6, link: two), in: "r") == nil)
        #expect(ClusterChecker.fault(seated, seat("a", 5, connection: 8), in: "r")?.0 == 12)
        #expect(ClusterChecker.fault(seated, seat("a", 5, link: two), in: "r")?.0 == 12)
    }

    @Test func atRest() {
        let pool = PoolKey(project: "p", type: "t", maxPlayerCount: 2, params: [:])
        let own = seat("a", 5)
        let its = (room: room([own]), seat: own)
        #expect(ClusterChecker.faultAtRest(player(.free), nil, isWaiting: false) == nil)
        #expect(ClusterChecker.faultAtRest(player(.seated(room: "r", 5)), its, isWaiting: false) == nil)
        #expect(ClusterChecker.faultAtRest(player(.matching(pool, 5)), nil, isWaiting: true) == nil)
        #expect(ClusterChecker.faultAtRest(player(.free), its, isWaiting: false)?.0 == 8)
        #expect(ClusterChecker.faultAtRest(player(.seated(room: "r", 6)), its, isWaiting: false)?.0 == 8)
        #expect(ClusterChecker.faultAtRest(player(.seated(room: "r", 5)), nil, isWaiting: false)?.0 == 8)
        #expect(ClusterChecker.faultAtRest(player(.leaving(room: "r", 5)), its, isWaiting: false)?.0 == 8)
        #expect(ClusterChecker.faultAtRest(player(.matching(pool, 5)), nil, isWaiting: false)?.0 == 14)
        #expect(ClusterChecker.faultAtRest(player(.free, attaching: true), nil, isWaiting: false)?.0 == 15)
        let link = Link(gateway: GatewayID(incarnation: 3, loop: 0), number: 1, encoding: .json)
        #expect(
            ClusterChecker.faultAtRest(player(.seated(room: "r", 5), link: link), its, isWaiting: false)?.0 == 12)
    }

    // MARK: Healthy nodes (13)

    @Test func whoIsWellStays() {
        let nodes = (0..<4).map { NodeID(name: "n\($0)", incarnation: UInt64($0 + 2)) }
        func record(_ epoch: UInt64, _ members: Int...) -> ShardRecord {
            ShardRecord(
                generation: 1, epoch: epoch, primary: nodes[members[0]], backups: members.dropFirst().map { nodes[$0] },
                rules: 1)
        }
        var plan = FaultPlan(faults: [.init(atMs: 1, .pause(node: 1, forMs: 4_000))])
        func fault(_ old: ShardRecord, _ new: ShardRecord, by node: Int) -> String? {
            ClusterChecker.faultOfHealth(old, new, by: nodes[node], plan: plan)
        }
        #expect(fault(record(1, 0, 1), record(2, 0), by: 0) == nil)
        #expect(fault(record(1, 1, 0), record(2, 0), by: 0) == nil)
        #expect(fault(record(1, 0, 1, 2), record(2, 0, 1), by: 0) == nil)
        #expect(fault(record(1, 1, 0), record(2, 1), by: 1) != nil)
        #expect(fault(record(1, 0, 1, 2), record(2, 2, 1), by: 2) != nil)
        plan.faults = []
        #expect(fault(record(1, 0, 1), record(2, 0), by: 0) != nil)
        #expect(fault(record(1, 0, 1), record(2, 0, 1), by: 0) != nil)
        #expect(fault(record(1, 0, 1), record(2, 0, 1, 2), by: 0) == nil)
        plan.faults = [.init(atMs: 1, .crash(node: 1, downMs: 5)), .init(atMs: 9, .crash(node: 2, downMs: 5))]
        #expect(fault(record(1, 0, 3), record(2, 0), by: 0) == nil)
    }

    @Test func whoIsHandedAShardWhileItIsCutOffDropsWhoIsSilent() {
        let nodes = (0..<4).map { NodeID(name: "n\($0)", incarnation: UInt64($0 + 2)) }
        func fault(cutOff node: Int) -> String? {
            let cut = Fault.partition(mask: 1 << node, forMs: 500, oneWay: true, keepsLinks: false)
            let old = ShardRecord(
                generation: 1, epoch: 4, primary: nodes[1], backups: [nodes[3]], handover: nodes[3], rules: 1)
            let new = ShardRecord(generation: 1, epoch: 5, primary: nodes[1], backups: [], rules: 1)
            return ClusterChecker.faultOfHealth(
                old, new, by: nodes[1], plan: FaultPlan(faults: [.init(atMs: 1, cut)]))
        }
        #expect(fault(cutOff: 1) == nil)
        #expect(fault(cutOff: 2) != nil)
    }

    @Test func pausesAreMeasured() {
        var service = ShardService()
        let node = NodeID(name: "n0", incarnation: 2)
        #expect(service.set(nil, isKill: false, nowUs: 0) == nil)
        #expect(service.set(node, isKill: false, nowUs: 1_000) == nil)
        #expect(service.set(nil, isKill: true, nowUs: 5_000) == nil)
        #expect(service.set(nil, isKill: false, nowUs: 6_000) == nil)
        let pause = service.set(node, isKill: false, nowUs: 305_000)
        #expect(pause?.ms == 300)
        #expect(pause?.isKill == true)
    }
}
