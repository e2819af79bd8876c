import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// Both ends of each channel (invariant 10): what was accepted was sent, and what was forgotten was accepted, at all
/// replicas that may go on with it.
extension ClusterChecker {
    func checkChannels(_ world: SimWorld) -> Violation? {
        let ends = homes.map { replicaEnds(of: $0, world) }
        for sender in homes {
            for receiver in homes {
                let found = checkChannel(
                    sender, ends[sender.number], receiver, ends[receiver.number])
                if let found { return found }
            }
        }
        for slot in slots {
            guard let node = slot.node, let host = world.process(of: node)?.host else { continue }
            for shard in homes {
                let (generation, end) = host.gatewayEnd(with: shard)
                for replica in ends[shard.number] where replica.generation == generation {
                    let its = replica.gateways.first { $0.other == host.gateway }
                    if let why = Self.fault(gateway: end, shard: its) {
                        return Violation(10, "\(node.short) and \(shard.short) at \(replica.node.short): \(why)")
                    }
                }
            }
        }
        return nil
    }

    /// The channel ends of one listed replica.
    struct ReplicaEnds {
        let node: NodeID
        let generation: UInt64
        let shards: [ChannelView<ShardID>]
        let gateways: [ChannelView<GatewayID>]

        /// A channel that was never used is as new as the other side's first generation.
        func end(with shard: ShardID) -> ChannelView<ShardID> {
            shards.first { $0.other == shard }
                ?? ChannelView(other: shard, life: 1, accepted: 0, first: 1, last: 0)
        }
    }

    private func replicaEnds(of shard: ShardID, _ world: SimWorld) -> [ReplicaEnds] {
        guard let record = truths[shard.number].record?.record else { return [] }
        return listed(shard).compactMap { slot, node in
            guard let glance = slots[slot].glances[shard.number], glance.generation == record.generation,
                let process = world.slots[slot].process
            else { return nil }
            return ReplicaEnds(
                node: node, generation: glance.generation, shards: process.host?.shardChannels(of: shard) ?? [],
                gateways: process.host?.gatewayChannels(of: shard) ?? [])
        }
    }

    private func checkChannel(
        _ sender: ShardID, _ senders: [ReplicaEnds], _ receiver: ShardID, _ receivers: [ReplicaEnds]
    ) -> Violation? {
        for from in senders {
            let sent = from.end(with: receiver)
            for to in receivers {
                let taken = to.end(with: sender)
                guard sent.life == to.generation, taken.life == from.generation else { continue }
                if let why = Self.fault(sent: (sent.first, sent.last), accepted: taken.accepted) {
                    return Violation(
                        10, "\(sender.short) at \(from.node.short) to \(receiver.short) at \(to.node.short): \(why)")
                }
            }
        }
        return nil
    }

    static func fault(sent: (first: UInt64, last: UInt64), accepted: UInt64) -> String? {
        // Only with a mutation.
        if accepted == .max { return nil }
        if accepted > sent.last { return "\(accepted) is accepted, and \(sent.last) is the last that was sent" }
        if sent.first > accepted + 1 {
            return "all before \(sent.first) has left the outbox, and only \(accepted) is accepted"
        }
        return nil
    }

    static func fault(gateway: ChannelView<ShardID>, shard: ChannelView<GatewayID>?) -> String? {
        guard let shard else {
            if gateway.first == 1, gateway.accepted == 0 { return nil }
            return "the shard does not know the gateway, of which all before \(gateway.first) was accepted, and which "
                + "has \(gateway.accepted)"
        }
        guard gateway.life == shard.life else { return nil }
        if let why = fault(sent: (gateway.first, gateway.last), accepted: shard.accepted) { return "commands: \(why)" }
        return fault(sent: (shard.first, shard.last), accepted: gateway.accepted).map { "items: \($0)" }
    }

    /// Nothing was sent but what belongs to an entry that was told (invariants 1 and 2).
    func checkSent(_ effects: [SimHost.Effect], by slot: Int, _ world: SimWorld) -> Violation? {
        for effect in effects {
            guard case .send(_, let message, _) = effect else { continue }
            let shard: ShardID
            let generation: UInt64
            let number: UInt64
            let index: UInt64?
            switch message {
            case .items(let from, let its, let gateway, _, let first, let items):
                (shard, generation, number) = (from, its, first + UInt64(items.count) - 1)
                index = world.slots[slot].process?.host?.entry(of: number, from: from, for: gateway)
            case .commands(let receiver, _, .shard(let from, let its), let first, let commands):
                (shard, generation, number) = (from, its, first + UInt64(commands.count) - 1)
                index = world.slots[slot].process?.host?.entry(of: number, from: from, for: receiver)
            case .replica, .commands, .commandsTaken, .commandsRefused, .itemsTaken: continue
            }
            // Nil: it has been taken in this very step, or another life of the shard has begun.
            guard let index, let told = slots[slot].glances[shard.number]?.told, told.generation == generation,
                index > told.index
            else { continue }
            return Violation(
                1,
                "\(shard.short): \(slots[slot].node?.short ?? "") sent number \(number), which belongs to entry "
                    + "\(index), and entries to \(told.index) are told "
                    + "(\(slots[slot].glances[shard.number]?.short ?? ""))")
        }
        return nil
    }
}
