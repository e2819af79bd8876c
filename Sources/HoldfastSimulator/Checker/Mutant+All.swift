import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

extension Mutant {
    public static var all: [Mutant] { twelve + reserve }

    public static func named(_ name: String) -> Mutant? { all.first { $0.name == name } }

    /// Those of `spec/simulation.md`, in its order.
    public static let twelve: [Mutant] = [
        // 1: a backup acknowledges what follows something that it lacks.
        Mutant("gap", [1, 3], replica: .gap) { draw in
            draw.losses(6, lost: [100, 300])
            draw.crashes(3, downMs: [300, 1_000])
        },
        // 2: lower epochs are acknowledged.
        Mutant("oldEpoch", [1, 2], replica: .oldEpoch) { draw in
            draw.setup.nodes = draw.random.pick([3, 4])
            // The one that wakes must not hear of what it missed before it goes on.
            for _ in 0..<2 {
                let node = draw.node()
                let atMs = draw.time(FaultPlan.firstFaultMs...10_000)
                let ms = draw.random.from(2_500...5_000)
                draw.add(atMs: atMs, .storeCut(node: node, forMs: ms + 2_000))
                draw.add(atMs: atMs + 1, .pause(node: node, forMs: ms))
            }
        },
        // 3: acknowledgements of another epoch count.
        Mutant("ackEpoch", [1, 3], replica: .ackEpoch) { draw in
            // A backup that is dropped forgets all, comes again soon, and its old words come late.
            draw.setup.nodes = 2
            draw.setup.clients = draw.random.from(1...3)
            draw.setup.replication.keptStateMs = 0
            draw.setup.replication.keptEntries = 0
            draw.setup.replication.stuckMs = 150
            draw.setup.replication.backOff.firstMs = 1
            for from in 0..<2 {
                for atMs in [3_000, 9_000] {
                    let least = draw.random.from(10...80)
                    draw.add(
                        atMs: atMs,
                        .slowLink(from: from, to: 1 - from, forMs: 6_000, leastMs: least, mostMs: least + 100))
                    draw.add(
                        atMs: atMs, .lossyLink(from: from, to: 1 - from, forMs: 6_000, lost: 300, repeated: 500))
                }
            }
        },
        // 4: a learner is listed before it has caught up.
        Mutant("addEarly", [1, 4], replica: .addEarly) { draw in
            draw.crashes(4, downMs: [1, 300, 1_000])
        },
        // 5: no joint rule while the adding swap is in doubt.
        Mutant("noJoint", [1], replica: .noJoint) { draw in
            draw.crashes(4, downMs: [1, 300, 1_000])
            draw.losses(3, lost: [100, 300])
            draw.doubts(3)
        },
        // 5: doubt ends by reading the old record.
        Mutant("doubtRead", [1], replica: .doubtRead) { draw in
            draw.crashes(4, downMs: [1, 300, 1_000])
            draw.losses(2, lost: [100, 300])
            draw.doubts(4)
        },
        // 6: the primary tells alone when it has sent the drop of a backup.
        Mutant("soleAssume", [1, 2], replica: .soleAssume) { draw in
            draw.setup.nodes = draw.random.pick([2, 3])
            for _ in 0..<4 {
                let mask = 1 << draw.node()
                let ms = draw.random.from(1_200...3_000)
                draw.add(atMs: draw.time(), .partition(mask: mask, forMs: ms, oneWay: false, keepsLinks: false))
            }
            draw.doubts(1)
        },
        // 7: with three replicas: new indexes before positions are collected.
        Mutant("noReconcile", [1, 2, 3], replica: .noReconcile) { draw in
            draw.setup.replicas = 3
            draw.losses(6, lost: [100, 300])
            draw.crashes(3, downMs: [300, 1_000])
        },
        // 8: records name nodes without incarnation.
        Mutant("noIncarnation", [1, 4], world: .noIncarnation) { draw in
            draw.crashes(3, downMs: [1, 20, 80])
        },
        // 9: silence is counted through one's own stall, and nobody suspects itself.
        Mutant("ownStall", [13], world: .ownStall) { draw in
            draw.setup.nodes = 2
            let node = draw.node()
            for i in 0..<8 {
                let atMs = FaultPlan.firstFaultMs + i * 1_500 + draw.random.below(300)
                draw.add(atMs: atMs, .pause(node: node, forMs: draw.random.from(800...1_000)))
            }
        },
        // 10: how far a channel was accepted is not replicated.
        Mutant("acceptedOutside", [6, 7, 8, 10], replica: .acceptedOutside) { draw in
            draw.losses(3, lost: [100, 300])
            draw.crashes(4, downMs: [300, 1_000])
        },
        // 11: replies of the tail are not sent again.
        Mutant("tailReplies", [6, 16], replica: .tailReplies) { draw in
            draw.losses(3, lost: [100, 300])
            draw.crashes(4, downMs: [300, 1_000])
        },
        // 12: deadlines in the node's monotonic clock.
        Mutant("nodeClock", [11], replica: .nodeClock) { draw in
            draw.crashes(2, downMs: [300, 1_000])
        },
    ]

    /// Others of that page, and of what was built beyond it.
    public static let reserve: [Mutant] = [
        Mutant("toldEarly", [1, 2], replica: .toldEarly) { draw in draw.crashes(2, downMs: [300, 1_000]) },
        Mutant("outboxOnSend", [8, 10, 16], replica: .outboxOnSend) { draw in
            draw.losses(3, lost: [100, 300])
            draw.crashes(2, downMs: [300, 1_000])
        },
        Mutant("snapshotWithoutChannels", [3, 10], replica: .snapshotWithoutChannels) { draw in
            draw.crashes(3, downMs: [300, 1_000])
        },
        Mutant("noFence", [2], replica: .noFence) { draw in
            draw.setup.replicas = 1
            draw.quietAtMs = 45_000
            draw.endMs = 57_000
            let node = draw.node()
            draw.add(atMs: 4_000, .partition(mask: 1 << node, forMs: 40_000, oneWay: false, keepsLinks: false))
            draw.add(atMs: 4_000, .storeCut(node: node, forMs: 40_000))
        },
        Mutant("baseForgotten", [1], replica: .baseForgotten) { draw in
            draw.losses(4, lost: [100, 300])
            draw.crashes(4, downMs: [1, 300, 1_000])
            draw.doubts(1)
        },
        Mutant("baseUnchecked", [1, 3], replica: .baseUnchecked) { draw in
            draw.losses(4, lost: [100, 300])
            draw.pauses(4, 1_100...4_000)
        },
        Mutant("snapshotAhead", [1, 3], replica: .snapshotAhead) { draw in
            draw.setup.replicas = 3
            draw.setup.nodes = 4
            draw.losses(4, lost: [100, 300])
            draw.crashes(4, downMs: [1, 300, 1_000])
        },
        Mutant("lateClose", [6, 12, 15], model: .lateClose) { draw in
            // What a node has to say of links that broke comes later than these players' next links, at other nodes.
            for atMs in [4_000, 8_000, 12_000] {
                let node = draw.node()
                for peer in 0..<draw.setup.nodes where peer != node {
                    draw.add(atMs: atMs, .slowLink(from: node, to: peer, forMs: 3_000, leastMs: 500, mostMs: 800))
                }
                draw.add(atMs: atMs + 1_000, .clientLinksBreak(node: node, broken: 1_000, silently: false))
            }
        },
        Mutant("freedEarly", [8], model: .freedEarly) { draw in draw.losses(2, lost: [100]) },
        Mutant("unsorted", [3], model: .unsorted) { draw in
            draw.setup.layout = ShardLayout(entityShards: 1, matchShards: 1)
            draw.setup.clients = 9
            draw.crashes(4, downMs: [300, 1_000])
        },
        Mutant("presenceNotHeld", [11], model: .presenceNotHeld) { draw in
            draw.setup.clients = 9
            draw.crashes(4, downMs: [300, 1_000])
        },
        Mutant("blindSwap", [2, 4], world: .blindSwap) { draw in
            draw.pauses(3, 1_000...3_000)
            draw.doubts(2)
        },
    ]
}
