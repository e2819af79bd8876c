import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// What traces say. Only ever called when somebody reads them.
func describe(_ words: [PeerWord]) -> String {
    words.map { word in
        switch word {
        case .heartbeat: "heartbeat"
        case .message(let message): describe(message)
        }
    }.joined(separator: "; ")
}

func describe(_ message: SimHost.Message) -> String {
    switch message {
    case .replica(let shard, let generation, let epoch, let message):
        return "s\(shard.number) g\(generation) e\(epoch) \(describe(message))"
    case .commands(let shard, let generation, let source, let first, let commands):
        return "commands \(first)+\(commands.count) for s\(shard.number) g\(generation) from \(source)"
    case .commandsTaken(let shard, let generation, let source, let through):
        return "s\(shard.number) g\(generation) took commands through \(through) of \(source)"
    case .commandsRefused(let shard, let source, let why):
        return "s\(shard.number) refuses commands of \(source): \(why)"
    case .items(let shard, let generation, let gateway, let session, let first, let items):
        return "items \(first)+\(items.count) of s\(shard.number) g\(generation) for \(gateway) session \(session)"
    case .itemsTaken(let gateway, let session, let shard, let generation, let through):
        return "\(gateway) session \(session) took items through \(through) of s\(shard.number) g\(generation)"
    }
}

private func describe(_ message: ReplicaMessage) -> String {
    switch message {
    case .prepare(let first, _, let entries, let committed):
        return "prepare \(first)+\(entries.count), committed \(committed)"
    case .ack(let last, _, _): return "ack \(last)"
    case .start(let record): return "start \(record.record.epoch)"
    case .position(let last, _, let first, let tail): return "position \(last), tail \(first)+\(tail.count)"
    case .refuse(let record): return "refuse, knows \(record.map { "\($0.record.epoch)" } ?? "none")"
    case .invite: return "invite"
    case .offer(let last, _): return "offer \(last)"
    case .snapshot(let index, _, let part, let parts, let bytes):
        return "snapshot \(index), part \(part) of \(parts), \(bytes.count) bytes"
    case .release(_, let last): return "release \(last)"
    }
}

extension MembershipView {
    var text: String {
        func names(_ set: Set<NodeID>) -> String { set.sorted().map { "\($0)" }.joined(separator: " ") }
        return "nodes \(nodes.map { "\($0.id)" }.joined(separator: " ")), dead [\(names(dead))], silent "
            + "[\(names(silent))], lost [\(names(lost))]\(mayTell ? "" : ", may not tell")"
            + (maySwap ? "" : ", may not swap")
    }
}
