import HoldfastProtocol
import HoldfastReplication

/// How violations name things.
extension NodeID {
    var short: String { "\(name)#\(incarnation)" }
}

extension ShardID {
    var short: String { "s\(number)" }
}

extension ShardRecord {
    var short: String {
        "g\(generation) e\(epoch) \(primary.short)" + backups.map { " " + $0.short }.joined()
            + (handover.map { " (handed over by \($0.short))" } ?? "")
    }
}

extension ReplicaGlance {
    var short: String {
        "\(role) g\(generation) e\(epoch), last \(last), committed \(committed)"
            + (isStarted ? ", started" : "") + (isOpen ? ", open" : "")
    }
}
