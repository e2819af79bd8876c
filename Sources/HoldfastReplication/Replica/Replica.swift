import HoldfastProtocol

/// One shard at one node: the log, its replicas, and who leads them (PacificA, Lin et al. 2008; design, Safety 2–8).
/// Pure: time and records come as arguments, what is to be done leaves as effects.
///
/// Its user sends the messages, carries out the swaps (one at a time, each answered by one `swapEnded`), shows it every
/// record it comes to know, calls `tick` at `nextTickMs`, and lets effects of entries leave while `isStarted`, up to
/// `committed`, and not else.
struct Replica<Machine: ReplicatedMachine>: Sendable {
    enum Role: Sendable {
        /// Not a replica. There may be a state from earlier, as a base for becoming one.
        case none
        /// A primary makes it a backup.
        case learner
        case backup
        /// Maybe not started yet, and maybe no longer so in the newest record.
        case primary
    }

    let shard: ShardID
    let node: NodeID
    let layout: ShardLayout
    let configuration: Machine.Configuration
    let settings: ReplicationSettings

    var role = Role.none
    /// The adopted one; nil when this is no member.
    var record: VersionedRecord?
    /// The newest seen, which may list others, or hand over and not be adopted yet.
    var newest: VersionedRecord?
    /// A hand-over that has been decided and not been carried out, as seen by the members of the old epoch.
    var handover: VersionedRecord?
    var log = ReplicaLog(generation: 0)
    /// Every listed replica has the entries up to here. Its effects may leave if this is a started primary in touch.
    var committed: UInt64 = 0
    /// After the newest entry. Its user takes `releases` out of it, and changes nothing else.
    var state: ShardState<Machine>?
    /// Nobody else has the state after the newest entry, or ever had: that was made alone.
    var isPrivate = false
    /// Whether this node may ask for swaps (design, rule 14). Set by its user; when false, everything that needs a
    /// swap waits.
    var maySwap = true

    var lead = Lead()
    var attempt: Attempt?
    var swap: Swap?
    var releasing: Releasing?
    /// Shard time less this node's time.
    var offsetMs: Int64 = 0
    /// The newest one taken here that has not been sent, and at a primary those that acknowledgements may compare to.
    var digests: [StateDigest] = []
    var hasNewDigest = false
    /// Time of the call in hand, or of the last one.
    var nowMs: Int64 = .min / 2
    var wallMs: Int64 = 0
    /// When a reading was asked for last.
    var readMs: Int64 = .min / 2
    /// When this ceased to be a replica.
    var retiredMs: Int64 = 0

    init(
        shard: ShardID, node: NodeID, layout: ShardLayout, configuration: Machine.Configuration,
        settings: ReplicationSettings
    ) {
        self.shard = shard
        self.node = node
        self.layout = layout
        self.configuration = configuration
        self.settings = settings
    }

    /// The index of the newest entry.
    var last: UInt64 { log.last }
    var hash: UInt64 { log.hash }

    /// A started primary: nobody else tells. False from the release of a hand-over on.
    var isStarted: Bool { role == .primary && lead.isStarted }
    var startedEpoch: UInt64? { isStarted ? record?.record.epoch : nil }

    /// Takes commands: started, not frozen by its own hand-over, and not too far ahead of its backups.
    var isOpen: Bool { isStarted && !lead.isFrozen && log.last - committed < settings.tailLimit }

    /// Whether effects may leave, as far as the record is concerned.
    var mayTell: Bool { isStarted && !lead.isUnconfirmed }

    /// The only replica, and nobody is becoming another.
    var isAlone: Bool { role == .primary && lead.backups.isEmpty && lead.learner == nil }

    /// Who is becoming a backup, at a primary.
    var learner: NodeID? { lead.learner?.peer.node }
    /// Whether the learner may be listed already: it cannot be abandoned until that is known.
    var isJoint: Bool { lead.learner?.isJoint ?? false }
    /// Whether a hand-over by this primary is under way: decided, and not released yet.
    var isHandingOver: Bool { lead.isFrozen }
    /// Whether a swap is being carried out or in doubt.
    var isSwapping: Bool { swap != nil }

    /// The member whose loss this backup would see to by `replacePrimary`: the primary, or who hands over to this one.
    var overseen: NodeID? {
        guard role == .backup, let base = handover ?? record else { return nil }
        return base.record.primary == node ? record?.record.primary : base.record.primary
    }

    /// In whose epoch this replica answers; 0 when it knows of none.
    var epoch: UInt64 {
        switch role {
        case .none: newest?.record.epoch ?? 0
        case .learner: attempt?.record.record.epoch ?? 0
        case .backup, .primary: record?.record.epoch ?? 0
        }
    }

    /// Of the newest record; nothing of an older generation is kept. 0 when it knows of none.
    var generation: UInt64 { newest?.record.generation ?? 0 }

    // MARK: What a primary has

    struct Lead: Sendable {
        var isStarted = false
        /// The newest entry when this epoch started here.
        var startedIndex: UInt64 = 0
        /// When this epoch's record was adopted.
        var adoptedMs: Int64 = 0
        /// In the record's order.
        var backups: [Peer] = []
        var learner: Learner?
        var positions: [NodeID: Position] = [:]
        /// Backups that are to be dropped.
        var unwanted: [NodeID] = []
        /// Its own hand-over has been decided.
        var isFrozen = false
        /// Entries up to here have been sent to all that keep up.
        var flushed: UInt64 = 0
        /// Since when patient entries wait.
        var patientMs: Int64?
        var receipts: [ChannelReceipt] = []
        var receiptsMs: Int64?
        /// No swap of its own accord before this.
        var swapMs: Int64 = .min
        /// Logs differ: nothing is started, so that nothing is taken back.
        var isHalted = false
        /// This node was out of touch: others may have begun the shard anew, and nothing is told in this epoch any
        /// more.
        var isUnconfirmed = false
    }

    /// A replica as its primary sees it.
    struct Peer: Sendable {
        let node: NodeID
        /// It has the log up to here, as it said in this epoch; nil: it has said nothing yet.
        var acked: UInt64?
        /// Sent up to here.
        var sent: UInt64
        /// `sent` when this epoch began: what it lacks of that has been lost.
        var sentBefore: UInt64 = 0
        var resendMs: Int64
        /// An answer that reaches this index is due.
        var awaited: UInt64?
        var stuckMs: Int64
    }

    struct Position: Sendable {
        let last: UInt64
        let hash: UInt64
        let tailFirst: UInt64
        let tail: [[UInt8]]
    }

    struct Learner: Sendable {
        enum Phase: Sendable {
            case invited
            /// Parts from `next` on are to be sent.
            case snapshot(Snapshot, next: Int)
            /// What it has goes on with this log.
            case fed
        }

        struct Snapshot: Sendable {
            let index: UInt64
            let hash: UInt64
            let bytes: [UInt8]
        }

        var peer: Peer
        var phase = Phase.invited
        /// It has no entries up to here as such.
        var base: UInt64 = 0
        var dueMs: Int64
        /// When something came last that brought it on.
        var heardMs: Int64
        /// The swap that adds it has been asked for.
        var isJoint = false
    }

    /// What a learner has: one attempt of one primary in one epoch.
    struct Attempt: Sendable {
        let feeder: NodeID
        let record: VersionedRecord
        /// The log here is known to be a part of the feeder's.
        var isFed = false
        var parts: [Int: [UInt8]] = [:]
        var partsIndex: UInt64 = 0
        var partsHash: UInt64 = 0
        var partsBytes = 0
        /// What came before its state did, in order of arrival.
        var early: [Early] = []
        var earlyEntries = 0

        struct Early: Sendable {
            let first: UInt64
            let hashBefore: UInt64
            let entries: [[UInt8]]
            let committed: UInt64
        }
    }

    /// A swap that has been asked for (design, rule 4).
    struct Swap: Sendable {
        let from: UInt64
        let to: ShardRecord
        /// It has been answered, by not knowing.
        var isInDoubt = false
        /// The revision has moved: it has been carried out or never will be. The answer may still be on its way.
        var isSettled = false
        /// When to try again, in doubt.
        var retryMs: Int64 = 0
        /// Asked for after this node was out of touch: if it wins, nobody had begun the shard anew by then.
        var confirms = false
    }

    /// A former primary that has released its shard, until the new one says something.
    struct Releasing: Sendable {
        let record: VersionedRecord
        let last: UInt64
        var dueMs: Int64
    }
}

enum ReplicaEffect: Sendable {
    /// - Parameters:
    ///   - generation, epoch: they go with the message.
    case send(NodeID, generation: UInt64, epoch: UInt64, ReplicaMessage, isBulk: Bool)
    /// Answered by one `swapEnded`, always.
    case swap(from: UInt64, to: ShardRecord)
    /// A linearizable reading is wanted, to be shown by `see`.
    case readRecord
    /// Takes commands from here on. Everything in its outboxes stands in `state.releases` anew.
    case opened
    /// Takes no commands any more; if it `isStarted`, what is committed may still leave.
    case closed
    /// This backup has left an entry unanswered for too long; said again and again while it does.
    case stuck(NodeID)
    /// Something that cannot be, unless a program, a machine or a coordinator is broken.
    case alarm(String)
}
