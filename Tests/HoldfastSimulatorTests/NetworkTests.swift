import HoldfastProtocol
import HoldfastReplication
import Testing

@testable import HoldfastSimulator

@Suite struct NetworkTests {
    private let a = NodeID(name: "n0", incarnation: 5)
    private let b = NodeID(name: "n1", incarnation: 6)
    private let word = [PeerWord.heartbeat(Heartbeat(sentAtMs: 1))]

    private func network() -> SimNetwork { SimNetwork(slots: 2, random: SimRandom(seed: 3)) }

    private func send(_ network: inout SimNetwork, nowUs: Int64, isBulk: Bool = false) -> [(
        atUs: Int64, packet: Packet
    )] {
        network.send(word, from: a, slot: 0, to: b, at: 1, isBulk: isBulk, nowUs: nowUs)
    }

    private func condition(_ change: (inout SimNetwork.Condition) -> Void) -> [SimNetwork.Condition] {
        var conditions = Array(repeating: SimNetwork.Condition(), count: 4)
        change(&conditions[1])
        return conditions
    }

    private func expect(
        _ network: inout SimNetwork, _ packet: Packet, _ nowUs: Int64, _ verdict: LinkOrder.Verdict,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let found = network.judge(packet, nowUs: nowUs)
        #expect(found == verdict, sourceLocation: location)
    }

    @Test func aSessionKeepsItsOrder() {
        var network = network()
        var lastUs: Int64 = 0
        for i in 0..<500 {
            let arrivals = send(&network, nowUs: Int64(i))
            #expect(arrivals.count == 1)
            for arrival in arrivals {
                #expect(arrival.atUs > lastUs)
                lastUs = arrival.atUs
                expect(&network, arrival.packet, arrival.atUs, .take)
            }
        }
    }

    @Test func aRepeatAndAHoleAreSeen() {
        var network = network()
        let packets = (0..<4).flatMap { send(&network, nowUs: Int64($0)).map(\.packet) }
        expect(&network, packets[0], 9, .take)
        expect(&network, packets[0], 9, .drop)
        expect(&network, packets[2], 9, .takeAfterReset)
        expect(&network, packets[1], 9, .drop)
        expect(&network, packets[3], 9, .take)
    }

    @Test func whatIsSentIntoACutIsLostAndTheLinkIsMadeAnew() throws {
        var network = network()
        let before = send(&network, nowUs: 0)
        expect(&network, before[0].packet, 1_000, .take)
        let cut = network.set(condition { $0.isCut = true }, nowUs: 2_000)
        #expect(cut.down.isEmpty)
        let lost = send(&network, nowUs: 3_000)
        #expect(lost.isEmpty)
        let early = network.reconnect(from: 0, to: 1)
        #expect(early == nil, "still cut")
        let healed = network.set(condition { _ in }, nowUs: 4_000)
        #expect(healed.down.map { [$0.from, $0.to] } == [[0, 1]])
        let unmade = send(&network, nowUs: 4_001)
        #expect(unmade.isEmpty, "not before it is made anew")
        let reconnected = network.reconnect(from: 0, to: 1)
        let made = try #require(reconnected)
        #expect(made.live && made.incarnation == 6)
        let after = send(&network, nowUs: 5_000)
        expect(&network, after[0].packet, 6_000, .takeAfterReset)
        expect(&network, before[0].packet, 6_001, .drop)
    }

    @Test func aCutThatLinksOutliveLosesNothing() {
        var network = network()
        _ = network.set(
            condition {
                $0.isCut = true
                $0.keeps = true
            }, nowUs: 0)
        let held = send(&network, nowUs: 1) + send(&network, nowUs: 2)
        #expect(held.isEmpty)
        let healed = network.set(condition { _ in }, nowUs: 9_000)
        #expect(healed.down.isEmpty)
        #expect(healed.released.count == 2)
        for arrival in healed.released { expect(&network, arrival.packet, arrival.atUs, .take) }
    }

    @Test func aBreakLosesASuffix() {
        var network = network()
        let sent = (0..<200).flatMap { send(&network, nowUs: Int64($0) * 20) }
        network.breakLink(from: 0, to: 1, nowUs: 2_000)
        var verdicts: [Bool] = []
        for arrival in sent { verdicts.append(network.judge(arrival.packet, nowUs: arrival.atUs) == .take) }
        let kept = verdicts.prefix { $0 }.count
        #expect(kept > 0 && kept < verdicts.count)
        #expect(verdicts.dropFirst(kept).allSatisfy { !$0 })
        let lost = send(&network, nowUs: 5_000)
        #expect(lost.isEmpty)
    }

    @Test func aLossyLinkTellsNobody() {
        var network = network()
        _ = network.set(
            condition {
                $0.lost = 300
                $0.repeated = 200
            }, nowUs: 0)
        var arrivals = 0
        for i in 0..<1_000 {
            for arrival in send(&network, nowUs: Int64(i)) {
                arrivals += 1
                expect(&network, arrival.packet, arrival.atUs, .take)
            }
        }
        #expect((750...1_050).contains(arrivals))
        _ = network.set(condition { _ in }, nowUs: 2_000)
        let after = send(&network, nowUs: 2_001)
        expect(&network, after[0].packet, 3_000, .take)
    }

    @Test func aNewProcessIsAnotherPeer() {
        var network = network()
        let old = send(&network, nowUs: 0)
        network.processEnded(1)
        let newer = NodeID(name: "n1", incarnation: 9)
        let arrivals = network.send(word, from: a, slot: 0, to: newer, at: 1, isBulk: false, nowUs: 10)
        #expect(arrivals.first?.packet.toIncarnation == 9)
        expect(&network, arrivals[0].packet, 100, .take)
        let late = send(&network, nowUs: 20)
        #expect(late.isEmpty, "nothing goes to the process before")
        #expect(old.first?.packet.toIncarnation == 6)
    }
}
