import HoldfastProtocol
import HoldfastReplication
import Testing

private func info(_ name: String, _ incarnation: UInt64 = 1) -> NodeInfo {
    NodeInfo(id: NodeID(name: name, incarnation: incarnation))
}

/// One machine, of node "a", and the others as text.
private struct Bench {
    var machine: MembershipMachine
    var nowMs: Int64 = 0
    var effects: [MembershipMachine.Effect] = []
    private var revision: UInt64 = 10

    init(_ names: String, settings: MembershipSettings = MembershipSettings()) {
        machine = MembershipMachine(own: info("a"), settings: settings, nowMs: 0)
        list(names)
    }

    var view: MembershipView { machine.view }

    mutating func list(_ names: String, askedAtMs: Int64? = nil, revision old: UInt64? = nil) {
        revision += 1
        let nodes = names.split(separator: " ").map { text -> NodeInfo in
            let parts = text.split(separator: "/")
            return info(String(parts[0]), parts.count > 1 ? UInt64(parts[1]) ?? 1 : 1)
        }
        machine.registrations(
            nodes, revision: old ?? revision, askedAtMs: askedAtMs ?? nowMs, nowMs: nowMs, into: &effects)
    }

    mutating func beat(_ name: String, echoMs: Int64? = nil, unheard: [String: Int64] = [:], sentAtMs: Int64? = nil) {
        let list = unheard.sorted { $0.key < $1.key }.map { Heartbeat.Unheard(node: info($0.key).id, forMs: $0.value) }
        machine.heartbeat(
            from: info(name).id, Heartbeat(sentAtMs: sentAtMs ?? nowMs, echoMs: echoMs, unheard: list), nowMs: nowMs,
            into: &effects)
    }

    /// Ticks on time; each of the names is heard and answers at each heartbeat.
    mutating func run(for ms: Int64, hearing names: String = "") {
        let endMs = nowMs + ms
        while nowMs < endMs {
            nowMs = min(endMs, max(nowMs + 1, machine.nextDeadlineMs()))
            machine.tick(nowMs: nowMs, into: &effects)
            for name in names.split(separator: " ") { beat(String(name), echoMs: nowMs) }
        }
    }

    mutating func refused(_ name: String) { machine.refused(info(name).id, nowMs: nowMs, into: &effects) }
    mutating func heard(_ name: String) { machine.heard(from: info(name).id, nowMs: nowMs, into: &effects) }

    func count(_ isIt: (MembershipMachine.Effect) -> Bool) -> Int { effects.filter(isIt).count }
    func probes(of name: String) -> Int { count { $0 == .probe(info(name).id) } }
}

@Suite struct MembershipMachineTests {
    @Test func aNodeAloneTellsAndSwapsAsSoonAsItSeesTheList() {
        var machine = MembershipMachine(own: info("a"), nowMs: 5)
        #expect(!machine.view.mayTell && !machine.view.maySwap)
        var effects: [MembershipMachine.Effect] = []
        machine.registrations([info("a")], revision: 1, askedAtMs: 5, nowMs: 5, into: &effects)
        #expect(effects == [.changed])
        #expect(machine.view.mayTell(atMs: .max - 1) && machine.view.maySwap && machine.view.touch == 1)
        #expect(machine.view.nodes == [info("a")])
    }

    @Test func heartbeatsGoToEachRegisteredNodeFiveTimesASecond() {
        var bench = Bench("a b c")
        bench.effects = []
        bench.run(for: 2_000, hearing: "b c")
        for name in ["b", "c"] {
            #expect(bench.count { if case .send(info(name).id, _) = $0 { true } else { false } } == 10)
        }
        #expect(bench.count { if case .send(info("a").id, _) = $0 { true } else { false } } == 0)
    }

    @Test func aHeartbeatSaysWhatItsReceiverWasHeardToSayAndWhoIsNotHeard() {
        var bench = Bench("a b c")
        bench.run(for: 800, hearing: "b")
        bench.beat("b", sentAtMs: 12_345)
        bench.effects = []
        bench.run(for: 600)
        let beats = bench.effects.compactMap { effect -> Heartbeat? in
            if case .send(info("b").id, let beat) = effect { beat } else { nil }
        }
        #expect(beats.last?.echoMs == 12_345)
        #expect(beats.last?.unheard == [Heartbeat.Unheard(node: info("c").id, forMs: 1_201)])
    }

    @Test func aSecondNodeHasToAgreeAndItsWordMustBeFresh() {
        var bench = Bench("a b c")
        bench.run(for: 2_000, hearing: "b")
        #expect(bench.view.silent.isEmpty, "b has said nothing of c")
        bench.beat("b", echoMs: bench.nowMs - 1_500, unheard: ["c": 2_000])
        #expect(bench.view.silent.isEmpty, "b said it a while ago")
        bench.beat("b", echoMs: bench.nowMs, unheard: ["c": 900])
        #expect(bench.view.silent.isEmpty, "not for a second yet")
        bench.beat("b", echoMs: bench.nowMs, unheard: ["c": 1_000])
        #expect(bench.view.silent == [info("c").id])
        bench.heard("c")
        #expect(bench.view.silent.isEmpty)
    }

    @Test func theWordOfTheDeadIsNotAskedFor() {
        var bench = Bench("a b c")
        bench.refused("b")
        bench.run(for: 1_200)
        #expect(bench.view.silent == [info("c").id])
        #expect(bench.view.dead == [info("b").id])
        #expect(bench.view.maySwap, "it and c: a half")
    }

    @Test func aLoopThatIsLateAccusesNobody() {
        var bench = Bench("a b")
        for _ in 0..<20 {
            bench.nowMs += 700
            bench.machine.tick(nowMs: bench.nowMs, into: &bench.effects)
            #expect(bench.view.silent.isEmpty)
        }
        let words = bench.effects.contains { if case .send(_, let beat) = $0 { !beat.unheard.isEmpty } else { false } }
        #expect(!words)
        bench.run(for: 1_300)
        #expect(bench.view.silent == [info("b").id])
    }

    @Test func aNodeThatIsQuietOrLosesALinkIsTriedByAPlainConnect() {
        var bench = Bench("a b c")
        bench.run(for: 500, hearing: "b c")
        bench.machine.linkEnded(with: info("c").id, nowMs: bench.nowMs, into: &bench.effects)
        #expect(bench.probes(of: "c") == 1 && bench.probes(of: "b") == 0)
        bench.run(for: 2_000, hearing: "c")
        #expect(bench.probes(of: "b") == 3)
    }

    @Test func whoIsHeardAfterARefusedConnectIsNotDeadAndIsTriedAgain() {
        var bench = Bench("a b c")
        bench.refused("b")
        #expect(bench.view.dead == [info("b").id])
        bench.heard("b")
        #expect(bench.view.dead.isEmpty)
        #expect(bench.probes(of: "b") == 1)
        bench.refused("b")
        #expect(bench.view.dead == [info("b").id])
    }

    @Test func aNewerIncarnationProvesTheOldOneDeadAndLost() {
        var bench = Bench("a b")
        bench.list("a b/7")
        #expect(bench.view.dead == [info("b").id] && bench.view.lost == [info("b").id])
        #expect(bench.view.nodes.map(\.id) == [info("a").id, info("b", 7).id])
        bench.heard("b")
        #expect(bench.view.dead == [info("b").id], "whatever still comes from it")
    }

    @Test func whoHasASuccessorTellsAndSwapsNothing() {
        var bench = Bench("a b")
        #expect(bench.view.mayTell)
        bench.list("a/9 b")
        #expect(!bench.view.mayTell && !bench.view.maySwap)
    }

    @Test func inTouchByItsRegistrationForFifteenSecondsFromTheAsking() {
        var bench = Bench("a b c")
        bench.run(for: 1_000)
        bench.list("a b c", askedAtMs: 400)
        #expect(bench.view.mayTell(atMs: 14_999))
        #expect(!bench.view.mayTell(atMs: 15_400))
        bench.run(for: 14_399)
        #expect(bench.view.mayTell)
        bench.run(for: 1)
        #expect(!bench.view.mayTell && bench.view.touch == 1)
        bench.list("b c")
        #expect(!bench.view.mayTell, "it is not in the list")
        bench.list("a b c", askedAtMs: 400)
        #expect(!bench.view.mayTell, "too old")
        bench.list("a b c")
        #expect(bench.view.mayTell && bench.view.touch == 2)
    }

    @Test func aLapseIsNotCoveredUpByWhatComesFirstAfterIt() {
        var bench = Bench("a b c")
        bench.run(for: 200)
        bench.nowMs = 16_000
        bench.list("a b c")
        #expect(bench.view.mayTell && bench.view.touch == 2)
    }

    @Test func aPauseIsNoPartOfWhatIsSaidOfOthers() {
        var bench = Bench("a b")
        bench.run(for: 2_000)
        bench.nowMs += 40_000
        bench.effects = []
        bench.run(for: 2_000)
        var longest: Int64 = 0
        for effect in bench.effects {
            if case .send(_, let beat) = effect { longest = max(longest, beat.unheard.first?.forMs ?? 0) }
        }
        #expect((3_000...4_000).contains(longest))
    }

    @Test func inTouchByTheAnswersOfMoreThanHalfFromTheAsking() {
        var bench = Bench("a b c d e")
        bench.run(for: 20_000)
        #expect(!bench.view.mayTell)
        bench.beat("b", echoMs: 19_000)
        bench.beat("c", echoMs: 4_000)
        #expect(!bench.view.mayTell, "c answered what was asked sixteen seconds ago")
        bench.beat("d", echoMs: 18_000)
        #expect(bench.view.mayTell(atMs: 32_999) && !bench.view.mayTell(atMs: 33_000), "three of five")
        bench.list("b c d e f g", askedAtMs: 20_000)
        #expect(!bench.view.mayTell, "three of seven")
        bench.beat("e", echoMs: 19_000)
        #expect(bench.view.mayTell, "four of seven")
    }

    @Test func anAnswerFromTheFutureIsNone() {
        var bench = Bench("a b c")
        bench.run(for: 20_000)
        bench.beat("b", echoMs: 99_000)
        #expect(!bench.view.mayTell)
        #expect(bench.machine.answeredMs(by: info("b").id) == nil)
    }

    @Test func half() {
        var bench = Bench("a b c d e")
        bench.run(for: 2_000, hearing: "b")
        #expect(!bench.view.maySwap, "two of five")
        bench.refused("e")
        bench.run(for: 400, hearing: "b")
        #expect(bench.view.maySwap, "two of four")
        bench.machine.recordsBroken(true, nowMs: bench.nowMs, into: &bench.effects)
        #expect(!bench.view.maySwap)
        bench.machine.recordsBroken(false, nowMs: bench.nowMs, into: &bench.effects)
        #expect(bench.view.maySwap)
    }

    @Test func whatHalfIsKnownToHaveHeard() {
        var bench = Bench("a b c d")
        bench.beat("b", echoMs: 0)
        bench.run(for: 1_000, hearing: "c")
        #expect(bench.machine.heardByHalfMs == 1_000, "itself and c of four")
        bench.list("a b c d e")
        #expect(bench.machine.heardByHalfMs == 0, "itself, c and b of five")
        bench.list("a b")
        #expect(bench.machine.heardByHalfMs == .max, "itself of two")
    }

    @Test func strangersAreCountedAndNothingElse() {
        var bench = Bench("a b")
        bench.effects = []
        bench.heard("x")
        bench.beat("x")
        bench.refused("x")
        bench.machine.linkEnded(with: info("x").id, nowMs: 0, into: &bench.effects)
        #expect(bench.machine.ignored == 2 && bench.effects.isEmpty)
    }

    @Test func anOlderListChangesNothing() {
        var bench = Bench("a b c")
        bench.list("a b", revision: 3)
        #expect(bench.view.nodes.count == 3)
    }

    @Test func aLateHeartbeatDoesNotUndoALaterOne() {
        var bench = Bench("a b c")
        bench.run(for: 2_000, hearing: "b")
        bench.beat("b", echoMs: 2_000, unheard: ["c": 2_000], sentAtMs: 9_000)
        bench.beat("b", echoMs: 1_800, sentAtMs: 8_800)
        #expect(bench.view.silent == [info("c").id])
    }

    @Test func aNodeThatIsForgottenBeforeItIsKnownIsLostWhenARecordNamesIt() {
        var bench = Bench("a b")
        bench.machine.forget(info("x").id, nowMs: 0, into: &bench.effects)
        #expect(bench.view.lost.isEmpty)
        bench.machine.named([info("x").id, info("y").id], nowMs: 0, into: &bench.effects)
        #expect(bench.view.lost == [info("x").id])
    }

    @Test func forgottenByName() {
        var bench = Bench("a b")
        bench.list("a b/4")
        bench.machine.forget(name: "b", nowMs: 0, into: &bench.effects)
        #expect(bench.view.lost == [info("b").id, info("b", 4).id])
    }

    @Test func oldIncarnationsLeaveTheTableUnlessARecordNamesThem() {
        var settings = MembershipSettings()
        settings.dropMs = 5_000
        var bench = Bench("a b c", settings: settings)
        bench.list("a b/2 c/2")
        bench.machine.named([info("c").id], nowMs: 0, into: &bench.effects)
        bench.run(for: 6_000)
        #expect(bench.view.lost == [info("c").id])
        bench.machine.named([], nowMs: bench.nowMs, into: &bench.effects)
        bench.run(for: 400)
        #expect(bench.view.lost.isEmpty)
        #expect(bench.view.isLost(info("c").id), "the list says it as well")
    }

    @Test func theTableIsBounded() {
        var settings = MembershipSettings()
        settings.maxNodes = 2
        let bench = Bench("a b c d e", settings: settings)
        #expect(bench.view.nodes.map(\.id.name) == ["a", "b", "c"])
        #expect(bench.machine.ignored == 2)
    }

    @Test func aHeartbeatIsBytesAndBack() throws {
        let beats = [
            Heartbeat(sentAtMs: 5),
            Heartbeat(
                sentAtMs: -1, echoMs: 1 << 52,
                unheard: [.init(node: info("ü", .max).id, forMs: 3), .init(node: info("", 0).id, forMs: 0)]),
        ]
        for beat in beats {
            var writer = StateWriter()
            writer.put(beat)
            var reader = StateReader(writer.bytes)
            #expect(try Heartbeat(from: &reader) == beat)
            try reader.finish()
            for length in writer.bytes.indices {
                var short = StateReader(Array(writer.bytes[..<length]))
                #expect(throws: StateError.self) { try Heartbeat(from: &short) }
            }
        }
    }
}
