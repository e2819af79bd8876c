/// Makes the schedule of a failure small: faults are left out, first halves, then one by one, while the same invariant
/// still fails.
public struct Shrinker {
    /// Runs it makes at most.
    public var maxRuns: Int
    private let run: (FaultPlan) -> Outcome

    public init(maxRuns: Int = 150, run: @escaping (FaultPlan) -> Outcome) {
        self.maxRuns = maxRuns
        self.run = run
    }

    /// - Parameter failure: an outcome with a violation.
    /// - Returns: the smallest that was found, and how many runs it took.
    public func shrink(_ failure: Outcome) -> (outcome: Outcome, runs: Int) {
        guard let invariant = failure.violation?.invariant else { return (failure, 0) }
        var best = failure
        var runs = 0
        func holds(_ plan: FaultPlan) -> Bool {
            guard runs < maxRuns else { return false }
            runs += 1
            let outcome = run(plan)
            guard outcome.violation?.invariant == invariant else { return false }
            best = outcome
            return true
        }
        var size = max(1, best.plan.faults.count / 2)
        while size >= 1, runs < maxRuns {
            var start = 0
            var isSmaller = false
            while start < best.plan.faults.count {
                var plan = best.plan
                plan.faults.removeSubrange(start..<min(start + size, plan.faults.count))
                if holds(plan) { isSmaller = true } else { start += size }
                if runs >= maxRuns { break }
            }
            if size == 1, !isSmaller { break }
            size = max(1, size / 2)
        }
        for i in best.plan.faults.indices {
            guard let shorter = best.plan.faults[i].fault.halved else { continue }
            var plan = best.plan
            plan.faults[i].fault = shorter
            _ = holds(plan)
        }
        return (best, runs)
    }
}

extension Fault {
    /// The same for half as long; nil: it has no length.
    fileprivate var halved: Fault? {
        switch self {
        case .pause(let node, let ms): .pause(node: node, forMs: ms / 2)
        case .slow(let node, let ms, let turn): .slow(node: node, forMs: ms / 2, turnMs: turn)
        case .partition(let mask, let ms, let oneWay, let keeps):
            .partition(mask: mask, forMs: ms / 2, oneWay: oneWay, keepsLinks: keeps)
        case .storeCut(let node, let ms): .storeCut(node: node, forMs: ms / 2)
        case .storeAway(let ms, let stops): .storeAway(forMs: ms / 2, stops: stops)
        default: nil
        }
    }
}
