import HoldfastProtocol
import Testing

@testable import HoldfastReplication

/// Registration, listing and watching (design, rule 8).
@Suite struct CoordinatorMachineTests {
    private struct Scene {
        var machine: CoordinatorMachine
        var asked: [(id: UInt64, request: CoordinatorRequest)] = []
        var told: [CoordinatorMachine.Effect] = []
        var nowMs: Int64 = 1_000

        init(shards: Int = 2) {
            var settings = CoordinatorMachine.Settings()
            settings.shards = shards
            machine = CoordinatorMachine(
                claim: NodeClaim(name: "a", incarnation: nil, roles: .all, host: "", isDraining: false, mark: 7),
                settings: settings)
            call { $0.register(nowMs: $1, into: &$2) }
        }

        mutating func call(_ work: (inout CoordinatorMachine, Int64, inout [CoordinatorMachine.Effect]) -> Void) {
            var effects: [CoordinatorMachine.Effect] = []
            work(&machine, nowMs, &effects)
            for effect in effects {
                if case .ask(let id, let request) = effect { asked.append((id, request)) } else { told.append(effect) }
            }
        }

        /// Answers the oldest request that is open.
        mutating func answer(_ answer: CoordinatorAnswer) {
            let id = asked.isEmpty ? 0 : asked.removeFirst().id
            call { $0.answered(id, answer, nowMs: $1, into: &$2) }
        }

        mutating func leaveUnanswered() {
            let id = asked.isEmpty ? 0 : asked.removeFirst().id
            call { $0.unanswered(id, nowMs: $1, into: &$2) }
        }

        /// As it is to be registered, with the lease and the revision that it goes by.
        var claim: (claim: NodeClaim, lease: UInt64, after: UInt64)? {
            guard case .register(let claim, let lease, let after)? = asked.first?.request else { return nil }
            return (claim, lease, after)
        }

        var isReplaced: Bool { told.contains { if case .replaced = $0 { true } else { false } } }

        var broken: [Bool] {
            told.compactMap { if case .recordsBroken(let isBroken) = $0 { isBroken } else { nil } }
        }
    }

    private static let own = NodeInfo(id: NodeID(name: "a", incarnation: 5))

    private static func record(_ revision: UInt64, epoch: UInt64 = 1) -> VersionedRecord {
        VersionedRecord(ShardRecord(generation: 1, epoch: epoch, primary: own.id, rules: 1), revision: revision)
    }

    private func joined(shards: Int = 2) -> Scene {
        var scene = Scene(shards: shards)
        scene.answer(.granted(lease: 3))
        scene.answer(.registered(Self.own, lease: 3, revision: 5))
        return scene
    }

    // MARK: Registration

    @Test func theFirstRegistrationMakesTheNode() {
        let scene = joined()
        #expect(scene.machine.node == Self.own.id)
        guard case .list? = scene.asked.first?.request else {
            Issue.record("it does not list what is there")
            return
        }
    }

    @Test func aRegistrationThatWasNotHeardOfIsKnownByItsMark() {
        var scene = Scene()
        scene.answer(.granted(lease: 3))
        scene.leaveUnanswered()
        scene.answer(.granted(lease: 4))
        let standing = NodeRegistration(info: Self.own, lease: 3, revision: 5, mark: 7)
        scene.answer(.registrationLost(standing))
        #expect(scene.claim?.lease == 4)
        #expect(scene.claim?.after == 5, "it replaces its own, whose lease nobody keeps alive")
    }

    @Test func aProcessBeforeThisOneIsReplaced() {
        var scene = Scene()
        scene.answer(.granted(lease: 3))
        let old = NodeInfo(id: NodeID(name: "a", incarnation: 2))
        scene.answer(.registrationLost(NodeRegistration(info: old, lease: 1, revision: 2, mark: 6)))
        #expect(scene.claim?.after == 2)
        #expect(!scene.isReplaced)
    }

    @Test func aNewerProcessOfTheNameEndsThisOne() {
        var scene = joined()
        scene.asked = []
        scene.call { $0.register(nowMs: $1, into: &$2) }
        scene.answer(.granted(lease: 9))
        let newer = NodeInfo(id: NodeID(name: "a", incarnation: 8))
        scene.answer(.registrationLost(NodeRegistration(info: newer, lease: 8, revision: 8, mark: 9)))
        #expect(scene.isReplaced)
        #expect(scene.asked.isEmpty)
    }

    @Test func aLostLeaseBringsTheSameNodeBack() {
        var scene = joined()
        scene.asked = []
        scene.nowMs += 1_500
        scene.call { $0.tick(nowMs: $1, into: &$2) }
        scene.answer(.kept(false))
        scene.answer(.granted(lease: 6))
        #expect(scene.claim?.claim.incarnation == 5)
    }

    @Test func aDrainIsToldAlsoWhenItComesDuringARegistration() {
        var scene = Scene()
        scene.answer(.granted(lease: 3))
        scene.call { $0.drain(nowMs: $1, into: &$2) }
        scene.answer(.registered(Self.own, lease: 3, revision: 5))
        scene.answer(.granted(lease: 4))
        scene.asked.removeAll { if case .register = $0.request { false } else { true } }
        #expect(scene.claim?.claim.isDraining == true)
    }

    // MARK: Records

    @Test func missingRecordsAreNoJudge() {
        var scene = joined()
        scene.answer(.listing([Self.record(6), nil], [Self.own], revision: 6))
        #expect(scene.broken == [true])
        scene.call { $0.changed([.init(revision: 7, change: .record(.init(number: 1), Self.record(7)))], into: &$2) }
        #expect(scene.broken == [true, false])
    }

    @Test func recordsOlderThanSeenAreNoJudge() {
        var scene = joined(shards: 1)
        scene.answer(.listing([Self.record(6)], [Self.own], revision: 6))
        scene.call { $0.changed([.init(revision: 9, change: .record(.init(number: 0), Self.record(9)))], into: &$2) }
        scene.asked = []
        scene.call { $0.watchEnded(nowMs: $1, into: &$2) }
        scene.answer(.listing([Self.record(6)], [Self.own], revision: 7))
        #expect(scene.broken == [true])
        // It looks at everything again until that is over.
        scene.asked = []
        scene.nowMs += 3_000
        scene.call { $0.tick(nowMs: $1, into: &$2) }
        scene.asked.removeAll { if case .list = $0.request { false } else { true } }
        scene.answer(.listing([Self.record(9)], [Self.own], revision: 10))
        #expect(scene.broken == [true, false])
    }

    @Test func anAnswerThatIsOlderThanWhatCameMeanwhileIsNoLoss() {
        var scene = joined(shards: 1)
        // It was asked for before the change that a peer's word or a watch has told since.
        scene.call { $0.changed([.init(revision: 9, change: .record(.init(number: 0), Self.record(9)))], into: &$2) }
        scene.answer(.listing([Self.record(6)], [Self.own], revision: 7))
        #expect(scene.broken == [])
    }

    @Test func aRecordThatHasComeSinceTheListingWasTakenIsNotMissing() {
        var scene = joined()
        scene.answer(.listing([nil, nil], [Self.own], revision: 5))
        scene.asked = []
        scene.nowMs += 3_000
        scene.call { $0.tick(nowMs: $1, into: &$2) }
        scene.asked.removeAll { if case .list = $0.request { false } else { true } }
        for number in 0..<2 {
            let revision = UInt64(6 + number)
            let change = CoordinatorChange.record(.init(number: number), Self.record(revision))
            scene.call { $0.changed([.init(revision: revision, change: change)], into: &$2) }
        }
        // Of the middle of the bootstrap.
        scene.answer(.listing([Self.record(6), nil], [Self.own], revision: 6))
        #expect(scene.broken == [true, false])
    }

    @Test func aWatchGoesOnAfterWhatWasListed() {
        var scene = joined(shards: 1)
        scene.answer(.listing([Self.record(6)], [Self.own], revision: 8))
        guard case .watch(after: 8)? = scene.asked.last?.request else {
            Issue.record("no watch after 8")
            return
        }
        scene.asked = [scene.asked.removeLast()]
        scene.answer(.compacted)
        guard case .list? = scene.asked.last?.request else {
            Issue.record("what is not kept any more has to be listed")
            return
        }
    }
}
