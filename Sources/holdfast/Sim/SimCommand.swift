internal import HoldfastNode
internal import HoldfastSimulator
internal import HoldfastTransport

/// `holdfast sim`: whole clusters in one thread each, from seeds, with everything that goes wrong.
enum SimCommand {
    static let subcommand = Subcommand(
        name: "sim", summary: "simulates clusters through faults and checks what they promise",
        options: [
            .value("seeds", "FROM-TO", "a campaign: each of these seeds once"),
            .value("seed", "N", "one seed"),
            .flag("trace", "with --seed: what happens, line by line"),
            .flag("shrunk", "with --seed: makes its schedule small first, if it fails, and shows that one's run"),
            .flag("plan", "with --seed: its schedule, without running it"),
            .flag("replay-twice", "runs each seed twice: both must make the same trace"),
            .value("jobs", "N", "simulations at a time (1)"),
            .value("keep-going", "N", "ends after so many failing seeds (1)"),
            .flag("gentle", "messages between nodes are lost only together with a reset of their link"),
            .flag("clients-only", "checks what clients are told, and nothing inside the nodes"),
            .value("mutant", "NAME", "a deliberate bug, or \"all\": seeds until it is found (--seeds, or 1-2000)"),
            .flag("healthy", "with --mutant: the same schedules without the bug"),
            .value("shrink", "N", "runs at most to make a failing schedule small (150)"),
        ], run: run)

    private static func run(_ arguments: Arguments) async throws -> Int32 {
        var options = SimOptions()
        options.isHarsh = !arguments.flag("gentle")
        if let name = arguments.string("mutant") { return try hunt(name, arguments) }
        let simulation =
            arguments.flag("clients-only") ? .watched(options: options) : Simulation.checked(options: options)
        if let seed = try arguments.int("seed", in: 0...Int.max) {
            return try one(UInt64(seed), simulation, arguments)
        }
        guard let seeds = try seeds(arguments) else { throw UsageError("--seeds FROM-TO or --seed N is needed") }
        let campaign = SimCampaign(
            simulation: simulation, seeds: seeds, jobs: try arguments.int("jobs", in: 1...256) ?? 1,
            failures: try arguments.int("keep-going", in: 1...1_000_000) ?? 1,
            replaysTwice: arguments.flag("replay-twice"),
            shrinkRuns: try arguments.int("shrink", in: 0...100_000) ?? 150)
        return await campaign.run() ? 0 : 1
    }

    private static func hunt(_ name: String, _ arguments: Arguments) throws -> Int32 {
        let mutants = name == "all" ? Mutant.all : [Mutant.named(name)].compactMap { $0 }
        guard !mutants.isEmpty else {
            throw UsageError("--mutant: one of \(Mutant.all.map(\.name).joined(separator: ", ")), or all")
        }
        if let seed = try arguments.int("seed", in: 0...Int.max), let mutant = mutants.first {
            let write: ((String) -> Void)? =
                arguments.flag("trace") ? { StandardStream.output.write($0 + "\n") } : nil
            let outcome = mutant.run(seed: UInt64(seed), isMutated: !arguments.flag("healthy"), write: write)
            StandardStream.output.write(SimReport.text(outcome) + "\n")
            return outcome.isClean ? 1 : 0
        }
        let seeds = try seeds(arguments) ?? 1...2_000
        var lives = 0
        for mutant in mutants {
            if arguments.flag("healthy") {
                for seed in seeds {
                    guard let found = mutant.run(seed: seed, isMutated: false).violation else { continue }
                    StandardStream.output.write("\(mutant.name) without the bug, seed \(seed): \(found)\n")
                    lives += 1
                }
            } else if let found = mutant.hunt(seeds) {
                let others = Set(found.others.map(\.invariant)).sorted()
                StandardStream.output.write(
                    "\(mutant.name): seed \(found.seed): \(found.violation)"
                        + (others.isEmpty ? "" : " (before it: \(others))") + "\n")
            } else {
                StandardStream.output.write("\(mutant.name) lives after \(seeds.count) seeds\n")
                lives += 1
            }
        }
        return lives == 0 ? 0 : 1
    }

    private static func seeds(_ arguments: Arguments) throws -> ClosedRange<UInt64>? {
        guard let text = arguments.string("seeds") else { return nil }
        let ends = text.split(separator: "-").compactMap { UInt64($0) }
        guard ends.count == 2, ends[0] <= ends[1] else { throw UsageError("--seeds: FROM-TO, got '\(text)'") }
        return ends[0]...ends[1]
    }

    private static func one(_ seed: UInt64, _ simulation: Simulation, _ arguments: Arguments) throws -> Int32 {
        if arguments.flag("plan") {
            StandardStream.output.write("\(FaultPlan(seed: seed, options: simulation.options))\n")
            return 0
        }
        let write: ((String) -> Void)? = arguments.flag("trace") ? { StandardStream.output.write($0 + "\n") } : nil
        var plan: FaultPlan?
        if arguments.flag("shrunk") {
            let runs = try arguments.int("shrink", in: 0...100_000) ?? 150
            let shrinker = Shrinker(maxRuns: runs) { simulation.run(seed: seed, plan: $0) }
            plan = shrinker.shrink(simulation.run(seed: seed)).outcome.plan
        }
        let outcome = simulation.run(seed: seed, plan: plan, write: write)
        StandardStream.output.write(SimReport.text(outcome) + "\n")
        if arguments.flag("replay-twice") {
            let again = simulation.run(seed: seed, plan: plan)
            guard again.hash == outcome.hash else {
                StandardStream.output.write("seed \(seed): two runs differ\n")
                return 1
            }
        }
        return outcome.isClean ? 0 : 1
    }
}

enum SimReport {
    static func hex(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    static func text(_ outcome: Outcome) -> String {
        let counters = outcome.counters
        var lines = [
            "seed \(outcome.seed): \(outcome.plan)",
            "\(counters.steps) steps in \(counters.simulatedUs / 1_000) ms, \(counters.boots) processes, "
                + "\(counters.entries) entries, \(counters.swaps) swaps, \(counters.batches) batches, "
                + "\(counters.linksOpened) links, \(counters.clientMessages) messages of clients",
            "faults: \(counters.faultText)",
            "trace \(hex(outcome.hash))",
        ]
        if let violation = outcome.violation {
            lines.append("FAILED at \(Double(outcome.atUs) / 1_000_000) s: \(violation)")
        } else {
            lines.append("clean")
        }
        return lines.joined(separator: "\n")
    }
}
