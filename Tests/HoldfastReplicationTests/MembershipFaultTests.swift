import HoldfastProtocol
import HoldfastReplication
import Testing

/// Whole clusters through random faults, from a seed.
@Suite struct MembershipFaultTests {
    /// Invariant 13: with faults at one node only, nobody who may swap holds anything against any other.
    @Test(arguments: 0..<12)
    func withFaultsAtOneNodeTheOthersStay(seed: Int) {
        var random = SplitMixGenerator(state: UInt64(seed))
        let names = Array(["a", "b", "c", "d", "e"].prefix(Int.random(in: 3...5, using: &random)))
        var scene = MembershipScene(names.joined(separator: " "))
        for _ in 0..<12 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: scene.pause("a", for: Int64.random(in: 100...9_000, using: &random))
            case 1:
                for other in names.dropFirst() { scene.cut("a", other, oneWay: Bool.random(using: &random)) }
            case 2: for other in names.dropFirst() { scene.cut(other, "a", oneWay: true) }
            case 3: scene.away = scene.away.isEmpty ? ["a"] : []
            default: scene.heal()
            }
            for _ in 0..<40 {
                scene.run(for: 100)
                for name in names {
                    let view = scene.view(name)
                    let gone = view.dead.union(view.silent).union(view.lost)
                    if name == "a" {
                        #expect(!view.maySwap || gone.isEmpty, "seed \(seed) at \(scene.nowMs): a, \(gone)")
                    } else {
                        #expect(gone.isSubset(of: [scene.id("a")]), "seed \(seed) at \(scene.nowMs): \(name), \(gone)")
                        #expect(view.maySwap, "seed \(seed) at \(scene.nowMs): \(name)")
                    }
                }
            }
        }
    }

    /// Rule 8: when a node is held for lost, it has been out of touch, or begins another touch.
    @Test(arguments: 0..<16)
    func whoIsLostTellsNothing(seed: Int) {
        var random = SplitMixGenerator(state: UInt64(seed + 1_000))
        let names = Array(["a", "b", "c", "d", "e"].prefix(Int.random(in: 2...5, using: &random)))
        var scene = MembershipScene(names.joined(separator: " "))
        var held: Set<[NodeID]> = []
        var touchMs: [NodeID: Int64] = [:]
        var touch: [NodeID: UInt64] = [:]
        for _ in 0..<10 {
            for _ in 0..<3 { randomFault(names, in: &scene, using: &random) }
            for _ in 0..<Int.random(in: 20...450, using: &random) {
                scene.run(for: 100)
                let running = scene.processes.filter(\.isRunning)
                for process in running where process.machine.view.touch != touch[process.info.id] {
                    touch[process.info.id] = process.machine.view.touch
                    touchMs[process.info.id] = scene.nowMs
                }
                for judge in running {
                    for other in running where other.info.id != judge.info.id {
                        let pair = [judge.info.id, other.info.id]
                        guard judge.machine.view.lost.contains(other.info.id) else {
                            held.remove(pair)
                            continue
                        }
                        guard held.insert(pair).inserted else { continue }
                        let nowMs = scene.nowMs
                        let tells = other.machine.view.mayTell(atMs: nowMs + other.offsetMs)
                        let isNew = nowMs - (touchMs[other.info.id] ?? 0) < 2_000
                        #expect(!tells || isNew, "seed \(seed) at \(nowMs): \(pair)")
                    }
                }
            }
        }
    }

    private func randomFault(
        _ names: [String], in scene: inout MembershipScene, using random: inout SplitMixGenerator
    ) {
        func any() -> String { names.randomElement(using: &random) ?? "a" }
        switch Int.random(in: 0..<9, using: &random) {
        case 0: scene.pause(any(), for: Int64.random(in: 100...70_000, using: &random))
        case 1:
            let far = names.filter { _ in Bool.random(using: &random) }
            for a in far { for b in names where !far.contains(b) { scene.cut(a, b) } }
        case 2: scene.cut(any(), any(), oneWay: Bool.random(using: &random))
        case 3: scene.away.insert(any())
        case 4: scene.away = Set(names.filter { _ in Bool.random(using: &random) })
        case 5: scene.away = []
        case 6: scene.kill(any())
        case 7:
            let name = any()
            scene.kill(name)
            scene.start(name)
        default: scene.heal()
        }
    }

    /// Invariant 16: ten seconds after the last fault all agree that all is well.
    @Test(arguments: 0..<8)
    func afterTheLastFaultAllIsWell(seed: Int) {
        var random = SplitMixGenerator(state: UInt64(seed + 2_000))
        let names = Array(["a", "b", "c", "d", "e"].prefix(Int.random(in: 2...5, using: &random)))
        var scene = MembershipScene(names.joined(separator: " "))
        for _ in 0..<8 {
            for _ in 0..<2 { randomFault(names, in: &scene, using: &random) }
            scene.run(for: Int64.random(in: 100...20_000, using: &random))
        }
        scene.heal()
        scene.away = []
        for at in scene.processes.indices { scene.processes[at].pausedUntilMs = scene.nowMs }
        for name in names {
            scene.kill(name)
            scene.start(name)
        }
        scene.run(for: 10_000)
        for name in names {
            let view = scene.view(name)
            #expect(view.mayTell && view.maySwap && view.silent.isEmpty, "seed \(seed): \(name)")
            #expect(view.living.map(\.id.name) == names, "seed \(seed): \(name)")
        }
    }

    @Test func equalSeedsMakeEqualLines() {
        func lines() -> [String] {
            var random = SplitMixGenerator(state: 5)
            var scene = MembershipScene("a b c d")
            for _ in 0..<15 {
                randomFault(["a", "b", "c", "d"], in: &scene, using: &random)
                scene.run(for: Int64.random(in: 100...9_000, using: &random))
            }
            return scene.lines
        }
        let first = lines()
        #expect(!first.isEmpty && first == lines())
    }
}
