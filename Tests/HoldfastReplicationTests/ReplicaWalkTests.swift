import Foundation
import HoldfastProtocol
import Testing

@testable import HoldfastReplication

/// Replicas of one shard through losses, repeats, late messages, swaps in doubt, crashes and restarts: the same walk
/// that the rules were checked with before they were built (DESIGN, Safety 3–8), on what was built.
@Suite struct ReplicaWalkTests {
    /// HOLDFAST_SEEDS=1000...1999 walks others, as many as one has time for.
    static let seeds: ClosedRange<UInt64> = {
        let bounds = (ProcessInfo.processInfo.environment["HOLDFAST_SEEDS"] ?? "1...300").split(separator: "...")
        guard bounds.count == 2, let first = UInt64(bounds[0]), let last = UInt64(bounds[1]) else { return 1...1 }
        return first...max(first, last)
    }()

    /// HOLDFAST_COUNTS=1 tells what walks went through.
    static let isCounted = ProcessInfo.processInfo.environment["HOLDFAST_COUNTS"] != nil

    @Test func nothingToldIsTakenBack() {
        var counts: [String: Int] = [:]
        var failures = 0
        for seed in Self.seeds {
            var walk = ReplicaWalk(seed: seed)
            walk.run()
            counts.merge(walk.world.counts, uniquingKeysWith: +)
            guard let fault = walk.world.fault else { continue }
            failures += 1
            if failures > 3 { break }
            Issue.record("seed \(seed): \(fault)\n  \(ReplicaWalk.trace(seed: seed).joined(separator: "\n  "))")
        }
        if Self.isCounted {
            print("walks \(Self.seeds):", counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })
        }
        // A walk in which nothing happens finds nothing.
        for what in ["starts", "added", "dropped", "handovers", "snapshot", "doubts", "refuse", "release", "crashes"] {
            #expect(counts[what, default: 0] > 0 || Self.seeds.count < 100, "no \(what)")
        }
    }

    /// With seeds near which it is found, where that is rare. `ackEpoch` takes ten thousands and has a dialogue.
    static let mutants: [(String, ReplicaMutations, from: UInt64)] = [
        ("gap", .gap, 1), ("oldEpoch", .oldEpoch, 1), ("addEarly", .addEarly, 1), ("noJoint", .noJoint, 1),
        ("doubtRead", .doubtRead, 1), ("soleAssume", .soleAssume, 1), ("noReconcile", .noReconcile, 1),
        ("baseForgotten", .baseForgotten, 1_117), ("baseUnchecked", .baseUnchecked, 1),
        ("snapshotAhead", .snapshotAhead, 1_610),
    ]

    /// A walk that does not find a mistake that was made on purpose would not find one that was not.
    @Test(arguments: mutants) func findsMutant(name: String, mutation: ReplicaMutations, from: UInt64) {
        let most = UInt64(ProcessInfo.processInfo.environment["HOLDFAST_MUTANT_SEEDS"] ?? "") ?? 5_000
        for seed in from...from + most {
            var walk = ReplicaWalk(seed: seed, mutations: mutation)
            walk.run(isHealed: false)
            guard let fault = walk.world.fault else { continue }
            if Self.isCounted { print("mutant \(name): seed \(seed): \(fault)") }
            return
        }
        Issue.record("mutant \(name) lives after \(most) seeds")
    }
}

/// Everything that it does follows from its seed.
struct ReplicaWalk {
    var world: ReplicaWorld
    private var random: ReplicaRandom
    private let wanted: Int
    private var crashes: Int
    private var value: UInt64 = 0
    /// Percentages of what may go wrong or be done.
    private let lost: Int
    private let repeated: Int
    private let forgetful: Int
    private let eager: Int
    /// A node to which messages take longer.
    private let slow: Int
    /// Of messages that arrive again, much later.
    private let held: Int
    private var late: [ReplicaWorld.Envelope] = []
    /// Backups come and go, and forget at once.
    private let isRestless: Bool
    /// Commands in all.
    private let most: UInt64

    init(seed: UInt64, mutations: ReplicaMutations = [], isTraced: Bool = false) {
        random = ReplicaRandom(seed: seed)
        lost = [0, 8, 25][random.below(3)]
        repeated = [0, 15, 30][random.below(3)]
        forgetful = [5, 40][random.below(2)]
        eager = [4, 30][random.below(2)]
        slow = random.below(5)
        isRestless = random.chance(25)
        held = isRestless ? 30 : [0, 10][random.below(2)]
        most = [8, 20, 1_000][random.below(3)]
        wanted = 2 + random.below(2)
        crashes = random.below(3)
        var settings = ReplicationSettings()
        settings.mutations = mutations
        settings.digestEvery = 4
        // Logs short enough that learners need snapshots, and messages small enough that they need several.
        settings.keptEntries = [1, 4, 100][random.below(3)]
        settings.prepareEntries = [1, 3, 100][random.below(3)]
        settings.tailLimit = [4, 100][random.below(2)]
        settings.snapshotPartBytes = [40, 200, 10_000][random.below(3)]
        settings.snapshotPartsAtOnce = 3
        settings.keptStateMs = [0, 200, 60_000][random.below(3)]
        settings.positionMs = [200, 1_000][random.below(2)]
        settings.receiptFlushMs = 300
        settings.learnerRetryMs = 300
        if isRestless { settings.keptStateMs = 0 }
        let members = random.below(4) == 0 ? 1 : wanted
        world = ReplicaWorld(
            names: Array(["A", "B", "C", "D"].prefix(wanted + 1)), members: members, settings: settings,
            isTraced: isTraced)
    }

    static func trace(seed: UInt64, mutations: ReplicaMutations = []) -> [String] {
        var walk = ReplicaWalk(seed: seed, mutations: mutations, isTraced: true)
        walk.run()
        let lines = Int(ProcessInfo.processInfo.environment["STEPS"] ?? "60") ?? 60
        return (walk.world.trace ?? []).suffix(lines) + [walk.world.summary]
    }

    mutating func run(steps: Int = 500, isHealed: Bool = true) {
        for _ in 0..<steps {
            step()
            if world.fault != nil { return }
        }
        if isHealed { heal() }
    }

    // MARK: Steps

    private mutating func step() {
        world.nowMs += random.chance(2) ? Int64(random.below(700)) : Int64(random.below(8))
        let x = random.below(1000)
        if crashes > 0, x < 8 {
            crashes -= 1
            world.crash(world.living[random.below(world.living.count)])
            if !world.record.record.members.contains(where: { world.isAlive($0) }) { beginAnew() }
        } else if !world.swaps.isEmpty, x < 120 {
            coordinate()
        } else if !late.isEmpty, x < (isRestless ? 150 : 125) {
            let envelope = late.remove(at: random.below(late.count))
            world.deliver(envelope)
        } else if !world.answers.isEmpty, x < 170 {
            world.answer(random.below(world.answers.count))
        } else if !world.net.isEmpty, x < 700 {
            let isFull = world.net.count > 60
            let k = random.below(world.net.count)
            if !isFull, world.net[k].to == slow, random.chance(80) { return }
            if random.chance(held), late.count < 20, !isRestless || world.net[k].message.kind == "ack" {
                late.append(world.net[k])
            }
            let isKept = random.chance(repeated) && !isFull
            world.deliver(k, isKept: isKept, isLost: !isKept && random.chance(lost))
        } else {
            act()
        }
    }

    private mutating func beginAnew() {
        let living = world.living.shuffled(using: &random)
        world.beginAnew(primary: living[0], backups: Array(living.dropFirst().prefix(wanted - 1)))
    }

    private mutating func coordinate() {
        let k = random.below(world.swaps.count)
        let y = random.below(100)
        if y < 15 {
            world.carryOut(k, isLost: true)
        } else if y < 40 {
            world.doubt(k)
        } else {
            world.carryOut(k, isAnswered: y < 80)
        }
    }

    private mutating func act() {
        let i = world.living[random.below(world.living.count)]
        let x = random.below(100)
        if x < 15 || x < 40 && world.nodes[i].readings > 0 { return world.show(i) }
        if x < 45 { return world.tick(i) }
        let replica = world.nodes[i].replica
        switch replica.role {
        case .none:
            if isRestless || x < 45 + forgetful { world.with(i, "forgets") { replica, _, _ in replica.forget() } }
        case .learner: break
        case .backup: if x < 45 + eager { replace(i) }
        case .primary: lead(i, x - 45)
        }
    }

    private mutating func replace(_ i: Int) {
        world.with(i, "suspects the primary") {
            $0.replacePrimary(nowMs: $1, wallMs: 1_700_000_000_000 + $1, into: &$2)
        }
    }

    private mutating func lead(_ i: Int, _ x: Int) {
        let replica = world.nodes[i].replica
        let backups = replica.record?.record.backups ?? []
        let isFull = backups.count + 1 >= wanted
        if isRestless, random.chance(30) {
            if !backups.isEmpty, isFull { return drop(i, backups[random.below(backups.count)]) }
            if replica.learner == nil { return add(i) }
        }
        switch x {
        case ..<24:
            guard value < most else { return }
            value += 1
            world.command(i, value, isPatient: random.chance(20))
        case ..<29:
            if let outbox = replica.state?.gateways[ReplicaWorld.gateway]?.outbox, !outbox.isEmpty {
                let receipt = ChannelReceipt.gateway(
                    ReplicaWorld.gateway, session: 1, through: outbox.first + UInt64(random.below(outbox.count)))
                world.with(i, "notes \(receipt)") { $0.note(receipt, nowMs: $1, into: &$2) }
            }
        case ..<35:
            if !backups.isEmpty { drop(i, backups[random.below(backups.count)]) }
        case ..<44: if !isFull, replica.learner == nil { add(i) }
        case ..<46:
            if let learner = replica.learner {
                world.with(i, "abandons \(learner.short)") { $0.abandon(learner, nowMs: $1, into: &$2) }
            }
        case ..<52:
            if !backups.isEmpty {
                let target = backups[random.below(backups.count)]
                world.with(i, "hands over to \(target.short)") {
                    $0.handOver(to: target, nowMs: $1, wallMs: 1_700_000_000_000 + $1, into: &$2)
                }
            }
        case ..<53: world.with(i, "was out of touch") { $0.confirm(nowMs: $1, into: &$2) }
        default:
            let j = random.below(world.nodes.count)
            let peer = world.nodes[j].id
            world.with(i, "link reset with \(peer.short)") {
                $0.linkReset(with: peer, nowMs: $1, wallMs: 1_700_000_000_000 + $1, into: &$2)
            }
        }
    }

    private mutating func drop(_ i: Int, _ member: NodeID) {
        world.with(i, "drops \(member.short)") {
            $0.drop(member, nowMs: $1, wallMs: 1_700_000_000_000 + $1, into: &$2)
        }
    }

    private mutating func add(_ i: Int) {
        let others = world.living.filter { !world.record.record.lists(world.nodes[$0].id) && $0 != i }
        guard !others.isEmpty else { return }
        let node = world.nodes[others[random.below(others.count)]].id
        world.with(i, "adds \(node.short)") {
            $0.add(node, nowMs: $1, wallMs: 1_700_000_000_000 + $1, into: &$2)
        }
    }

    // MARK: At rest

    /// Faults stop: the shard works again, and has all its replicas in the end.
    private mutating func heal() {
        world.note { _ in "heals" }
        var told: Int?
        for _ in 0..<600 {
            calm()
            if world.fault != nil { return }
            guard world.record.record.members.contains(where: { world.isAlive($0) }) else {
                beginAnew()
                continue
            }
            guard let i = world.index(of: world.record.record.primary), world.nodes[i].replica.isStarted,
                world.nodes[i].replica.record == world.record
            else { continue }
            if told == nil {
                value += 1
                world.command(i, value)
                if world.nodes[i].replica.isOpen || world.fault != nil { told = Int(world.nodes[i].replica.last) }
            }
            if let wish = told, world.told.count >= wish {
                if world.record.record.members.count < min(wanted, world.living.count) {
                    if world.nodes[i].replica.learner == nil { add(i) }
                } else if areEqual() {
                    return
                }
            } else if let wish = told, world.nodes[i].replica.last < wish {
                told = nil
            }
        }
        world.fail("does not come to rest: \(world.summary)")
    }

    private func areEqual() -> Bool {
        let replicas = world.record.record.members.compactMap { world.index(of: $0) }.map { world.nodes[$0].replica }
        return replicas.allSatisfy {
            $0.last == replicas[0].last && $0.hash == replicas[0].hash && $0.epoch == world.record.record.epoch
                && $0.state?.digest() == replicas[0].state?.digest()
        }
    }

    /// 10 ms in which everything arrives, and those who suspect somebody are right.
    private mutating func calm() {
        world.nowMs += 10
        for i in world.living {
            world.show(i)
            let now = world.nowMs + world.nodes[i].aheadMs
            if let due = world.nodes[i].replica.nextTickMs(), due <= now { world.tick(i) }
            let replica = world.nodes[i].replica
            if replica.role == .primary {
                for backup in replica.record?.record.backups ?? [] where !world.isAlive(backup) { drop(i, backup) }
                if let learner = replica.learner, !world.isAlive(learner) {
                    world.with(i, "abandons") { $0.abandon(learner, nowMs: $1, into: &$2) }
                }
            } else if let overseen = replica.overseen, !world.isAlive(overseen) {
                replace(i)
            }
        }
        for (i, backup) in world.stuck { drop(i, backup) }
        world.stuck = []
        while !world.swaps.isEmpty { world.carryOut(0) }
        while !world.answers.isEmpty { world.answer(0) }
        for _ in 0..<400 where !world.net.isEmpty { world.deliver(world.net.removeFirst()) }
    }
}
