import Foundation
import Testing

@testable import HoldfastSimulator

/// The twelve mutants of `spec/simulation.md`: each is found by an invariant that it is known by, and its schedules are
/// clean without it. Seeds are tried in order; `HOLDFAST_MUTANT_SEEDS` says how many at most.
@Suite(.serialized) struct MutantTests {
    /// 1: a backup acknowledges index n though it lacks n − 1.
    @Test func aBackupAcknowledgesAcrossAGap() throws { try MutantHunt.expect("gap") }
    /// 2: lower epochs are acknowledged.
    @Test func lowerEpochsAreAcknowledged() throws { try MutantHunt.expect("oldEpoch") }
    /// 3: acknowledgements of another epoch count.
    @Test func acknowledgementsOfAnotherEpochCount() throws { try MutantHunt.expect("ackEpoch") }
    /// 4: a learner is listed before it has caught up.
    @Test func aLearnerIsListedEarly() throws { try MutantHunt.expect("addEarly") }
    /// 5: no joint rule while the adding swap is in doubt.
    @Test func nobodyIsJoint() throws { try MutantHunt.expect("noJoint") }
    /// 5: doubt ends by reading the old record.
    @Test func doubtEndsByReading() throws { try MutantHunt.expect("doubtRead") }
    /// 6: the primary tells alone when it has sent the drop of a backup.
    @Test func aPrimaryTakesItsSwapAsWon() throws { try MutantHunt.expect("soleAssume") }
    /// 7: with three replicas, new indexes before positions are collected.
    @Test func aPrimaryStartsWithoutPositions() throws { try MutantHunt.expect("noReconcile") }
    /// 8: records name nodes without incarnation.
    @Test func recordsNameNoIncarnations() throws { try MutantHunt.expect("noIncarnation") }
    /// 9: silence is counted through one's own stall, and there is no self-suspicion.
    @Test func aNodeHoldsItsStallAgainstOthers() throws { try MutantHunt.expect("ownStall") }
    /// 10: how far a channel was accepted is kept outside the replicated state.
    @Test func acceptedNumbersAreNotReplicated() throws { try MutantHunt.expect("acceptedOutside") }
    /// 11: a new primary sends streams again but not the replies of its tail.
    @Test func repliesOfTheTailAreLost() throws { try MutantHunt.expect("tailReplies") }
    /// 12: deadlines in the node's monotonic clock.
    @Test func deadlinesGoByTheNodesClock() throws { try MutantHunt.expect("nodeClock") }

    @Test func allHaveATest() {
        #expect(Mutant.twelve.count == 13)
        #expect(Set(Mutant.all.map(\.name)).count == Mutant.all.count)
    }
}

/// Mutants of what was built beyond that page, and those that it holds in reserve.
@Suite(.serialized) struct MutantReserveTests {
    /// These take hundreds of seeds: `holdfast sim --mutant all` hunts them in a release build.
    static let rare: Set<String> = ["baseForgotten", "snapshotAhead"]

    @Test(arguments: Mutant.reserve.map(\.name).filter { !rare.contains($0) })
    func isFound(name: String) throws { try MutantHunt.expect(name) }
}

enum MutantHunt {
    /// Of the same schedules without the bug, so many are run.
    static let healthy: UInt64 = 3

    static func expect(_ name: String) throws {
        let mutant = try #require(Mutant.named(name))
        let most = UInt64(ProcessInfo.processInfo.environment["HOLDFAST_MUTANT_SEEDS"] ?? "") ?? 200
        let found = try #require(mutant.hunt(1...most), "mutant \(name) lives after \(most) seeds")
        #expect(mutant.invariants.contains(found.violation.invariant))
        print("mutant \(name): seed \(found.seed) of those from 1: \(found.violation)")
        for seed in max(found.seed, healthy) - healthy + 1...max(found.seed, healthy) {
            let outcome = mutant.run(seed: seed, isMutated: false)
            #expect(outcome.isClean, "\(name) without the bug, seed \(seed): \(outcome.violation?.description ?? "")")
        }
    }
}
