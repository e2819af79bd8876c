import HoldfastProtocol
import HoldfastReplication

/// What was ever told of one shard, and who was ever listed (invariants 1, 2 and 4). It is shown what is seen, and
/// knows nothing else.
struct ShardTruth {
    /// What was told of a generation. The hash of the log at the newest entry stands for all before it.
    struct Life {
        var told: UInt64 = 0
        var hash: UInt64?
        var by: NodeID
    }

    let shard: ShardID
    private(set) var record: VersionedRecord?
    private var byEpoch: [UInt64: ShardRecord] = [:]
    private var lives: [UInt64: Life] = [:]
    /// The newest generation of which anything was told, and in which epoch that was.
    private var newest: (generation: UInt64, epoch: UInt64) = (0, 0)

    init(_ shard: ShardID) {
        self.shard = shard
    }

    /// Of the current generation: the last entry that was told.
    var life: Life? { record.flatMap { lives[$0.record.generation] } }

    // MARK: Telling

    /// Effects have left from a node.
    /// - Parameter hashAt: of that node's log.
    mutating func tell(_ point: ToldPoint, by node: NodeID, hashAt: (UInt64) -> UInt64?) -> Violation? {
        guard point.index > 0 else { return nil }
        let what = "\(shard.short): \(node.short) tells \(point.index) of g\(point.generation) e\(point.epoch)"
        if point.generation > newest.generation {
            newest = (point.generation, point.epoch)
        } else if point.generation == newest.generation {
            newest.epoch = max(newest.epoch, point.epoch)
        } else if point.index > lives[point.generation]?.told ?? 0 {
            // What others had told as well may come late, as from a slow network: a primary that was paused when it was
            // replaced tells on waking what it had been acknowledged. That the replicas after it are lost may be proven
            // sooner than it knows.
            return Violation(2, "\(what), though g\(newest.generation) has told in e\(newest.epoch)")
        }
        guard let record = byEpoch[point.epoch] else {
            return Violation(2, "\(what), an epoch that no record ever had")
        }
        guard record.primary == node, record.generation == point.generation else {
            return Violation(2, "\(what), whose record is \(record.short)")
        }
        guard var life = lives[point.generation] else {
            lives[point.generation] = Life(told: point.index, hash: hashAt(point.index), by: node)
            return nil
        }
        let common = min(life.told, point.index)
        if common == life.told, let hash = life.hash, let own = hashAt(common), own != hash {
            return Violation(
                2, "\(what): its log has \(own) at \(common), and \(life.by.short) told with \(hash) there")
        }
        if point.index > life.told {
            life.told = point.index
            life.hash = hashAt(point.index)
            life.by = node
            lives[point.generation] = life
        }
        return nil
    }

    /// Whether a living replica that the current record lists has all that was told.
    func check(member node: NodeID, _ glance: ReplicaGlance?, hashAt: (UInt64) -> UInt64?) -> Violation? {
        guard let record = record?.record, let life = lives[record.generation], record.lists(node) else { return nil }
        var what: String {
            "\(shard.short): \(life.by.short) told \(life.told) of g\(record.generation), the record is "
                + "\(record.short), and \(node.short) "
        }
        guard let glance, glance.generation == record.generation else {
            return Violation(1, what + "has nothing of it (\(glance?.short ?? "no replica"))")
        }
        guard glance.last >= life.told else { return Violation(1, what + "ends at \(glance.last)") }
        if let hash = life.hash, let own = hashAt(life.told), own != hash {
            return Violation(1, what + "has \(own) there, not \(hash)")
        }
        return nil
    }

    // MARK: Records

    /// Who saw to a change of the record, and what is left of the replicas that were listed before it.
    struct Change {
        /// Nil: the operator, or nobody knows.
        let by: NodeID?
        /// Whether a process lives, or may come back to life.
        let lives: (NodeID) -> Bool
    }

    mutating func changed(_ seen: VersionedRecord, _ change: Change) -> Violation? {
        defer {
            record = seen
            byEpoch[seen.record.epoch] = seen.record
        }
        guard let before = record?.record else {
            let next = seen.record
            guard next.generation == 1, next.epoch == 1, next.handover == nil else {
                return Violation(4, "\(shard.short): the first record is \(next.short)")
            }
            return nil
        }
        guard let why = Self.fault(before, seen.record, change) else { return nil }
        let by = change.by?.short ?? "nobody known"
        return Violation(4, "\(shard.short): \(by) made \(seen.record.short) of \(before.short): \(why)")
    }

    /// Why one record cannot follow another.
    static func fault(_ old: ShardRecord, _ new: ShardRecord, _ change: Change) -> String? {
        let members = new.members
        if new.epoch != old.epoch + 1 { return "the epoch does not go up by one" }
        if new.rules < old.rules { return "the rules get older" }
        if Set(members).count != members.count { return "a node is listed twice" }
        if new.generation != old.generation { return faultOfGeneration(old, new, change) }
        if !old.lists(new.primary) { return "the primary was not listed" }
        let added = members.filter { !old.lists($0) }
        if added.count > 1 { return "more than one is added" }
        if let handover = new.handover, !new.backups.contains(handover) { return "who hands over is no backup" }
        guard let by = change.by else { return nil }
        if !old.lists(by) { return "who made it was not listed" }
        return faultOfMaker(by, old, new, isAdding: !added.isEmpty)
    }

    private static func faultOfMaker(
        _ by: NodeID, _ old: ShardRecord, _ new: ShardRecord, isAdding: Bool
    ) -> String? {
        let acting = old.handover ?? old.primary
        let dropped = old.members.filter { !new.lists($0) }
        if by == acting {
            if new.primary == by { return nil }
            // A hand-over changes nothing else.
            if new.handover != by { return "the primary steps down without handing over" }
            return isAdding || !dropped.isEmpty ? "a hand-over changes the members" : nil
        }
        if isAdding { return "a backup adds a member" }
        if new.primary != by { return "a backup makes another one the primary" }
        if new.handover != nil { return "a backup replaces the primary, and the hand-over stays" }
        return nil
    }

    private static func faultOfGeneration(_ old: ShardRecord, _ new: ShardRecord, _ change: Change) -> String? {
        if new.generation != old.generation + 1 { return "the generation does not go up by one" }
        if !new.backups.isEmpty || new.handover != nil { return "a new generation begins with more than one" }
        if let by = change.by, new.primary != by { return "a new generation begins at another node" }
        if let living = (old.members + (old.handover.map { [$0] } ?? [])).first(where: change.lives) {
            return "\(living.short) lives"
        }
        return nil
    }
}
