import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// Deadlines fire in time (invariant 11).
extension ClusterChecker {
    /// How late a deadline may be when nothing is in the way: a tick.
    static let tickMs: Int64 = 60

    func checkDeadlines(_ world: SimWorld) -> Violation? {
        for shard in homes {
            let i = shard.number
            guard let holder = holder(shard), let process = world.slots[holder.slot].process else { continue }
            noteHeldUp(holder.slot, process, world)
            guard let openUs = slots[holder.slot].openSinceUs[i], let known = slots[holder.slot].known[i],
                let dueMs = process.host?.machine(of: shard)?.earliestDeadlineMs
            else { continue }
            let ableMs = max(openUs, slots[holder.slot].heldUpUs) / 1000
            let nowMs = world.nowMs + known.leadMs
            let lateMs = min(nowMs - dueMs, world.nowMs - ableMs)
            if lateMs > Self.tickMs {
                return Violation(
                    11,
                    "\(shard.short): \(holder.node.short) has been able to for \(world.nowMs - ableMs) ms, and a "
                        + "deadline at \(dueMs) has not fired at \(nowMs)")
            }
        }
        return nil
    }
}
