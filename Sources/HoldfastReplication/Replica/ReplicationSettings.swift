/// Timings and limits of replicas, channels and suspicion, equal at all nodes of a cluster.
public struct ReplicationSettings: Hashable, Sendable {
    // MARK: Replicas

    /// A primary repeats what a replica has not answered after this long; it also paces repeated swaps and readings.
    public var resendMs: Int64 = 100
    /// A backup that leaves an entry unacknowledged this long is stuck (design, rule 14). A little longer than silence
    /// takes: a primary that is itself not heard must know that by then, or it would drop healthy backups.
    public var stuckMs: Int64 = 1_250
    /// A new primary goes on without those that have not told it their position after this long (rule 5).
    public var positionMs: Int64 = 200
    /// A replica that was not called for this long, though it waited for others, was held up itself: it holds the
    /// silence of that time against nobody. More than `resendMs`.
    public var stallMs: Int64 = 250
    /// Patient entries wait this long for one that is not.
    public var patientMs: Int64 = 50
    /// States are compared at each entry whose index is a multiple of this.
    public var digestEvery: UInt64 = 256
    /// Entries above what is committed; a primary that has more takes no commands until some are committed.
    public var tailLimit: UInt64 = 10_000
    /// Entries kept below what is committed, for those that come back, and how many bytes of them at most.
    public var keptEntries = 4096
    public var keptBytes = 256 * 1024
    /// Entries in one `prepare`, and their bytes (one entry may be larger).
    public var prepareEntries = 256
    public var prepareBytes = 256 * 1024
    public var snapshotPartBytes = 64 * 1024
    /// Parts of a snapshot that are sent at once, and how long after them the next are.
    public var snapshotPartsAtOnce = 8
    public var snapshotPaceMs: Int64 = 10
    /// Of a whole snapshot; a learner refuses larger ones.
    public var snapshotBytes = 1 << 30
    /// A learner that has not acknowledged a snapshot after this long is asked anew.
    public var learnerRetryMs: Int64 = 3_000
    /// An attempt to make somebody a backup ends when nothing has come from it for this long.
    public var learnerGiveUpMs: Int64 = 15_000
    /// A node that is no replica any more keeps the state this long, in case it becomes one again.
    public var keptStateMs: Int64 = 60_000
    /// The version of the rules that this program runs.
    public var rules: UInt32 = 1

    // MARK: Channels

    /// A gateway that leaves more than this many items of a shard untaken counts as lost.
    public var outboxLimit = 100_000
    /// What a channel's receiver has not taken after this long is sent again.
    public var channelResendMs: Int64 = 250
    /// Receipts wait this long for an entry that takes them along, then they get one of their own.
    public var receiptFlushMs: Int64 = 1_000
    /// A gateway that cannot reach a living primary for this long gives its links there up (rule 10).
    public var cutOffMs: Int64 = 3_000

    /// Of gateways that were lost and may come back, so many of the newest are remembered.
    public var lostGatewaysKept = 1_024
    /// Commands of one gateway that a shard has not taken; with more the links there are given up.
    public var gatewayOutboxLimit = 20_000
    /// Items or commands of one channel that are sent again at once.
    public var resendAtOnce = 256
    /// How often everything is looked at that has no time of its own.
    public var sweepMs: Int64 = 50

    // MARK: Placement

    /// How many nodes hold each shard, when there are so many.
    public var replicas = 2
    /// Shards that one node brings up at others at a time.
    public var transfersAtOnce = 4
    public var backOff = BackOff.Settings()

    /// For tests of checkers only.
    public var mutations: ReplicaMutations = []

    public init() {}
}

/// Deliberate mistakes. They exist so that those who check replicas (random walks, the simulator) can be shown to find
/// them; no program sets any.
public struct ReplicaMutations: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// A backup acknowledges entries whose predecessors it lacks.
    public static let gap = ReplicaMutations(rawValue: 1 << 0)
    /// A replica acknowledges entries of lower epochs that it has an index for.
    public static let oldEpoch = ReplicaMutations(rawValue: 1 << 1)
    /// A primary counts acknowledgements of other epochs.
    public static let ackEpoch = ReplicaMutations(rawValue: 1 << 2)
    /// A learner is listed before it has caught up.
    public static let addEarly = ReplicaMutations(rawValue: 1 << 3)
    /// The learner's acknowledgements do not count while it may be listed.
    public static let noJoint = ReplicaMutations(rawValue: 1 << 4)
    /// Doubt about the adding swap ends when the old record is read.
    public static let doubtRead = ReplicaMutations(rawValue: 1 << 5)
    /// A primary takes the drop of a backup as won when it has been asked for.
    public static let soleAssume = ReplicaMutations(rawValue: 1 << 6)
    /// A new primary starts without asking for positions.
    public static let noReconcile = ReplicaMutations(rawValue: 1 << 7)
    /// A learner's condition forgets the index at which the epoch started (and positions do not count as
    /// acknowledgements, which would make up for it).
    public static let baseForgotten = ReplicaMutations(rawValue: 1 << 8)
    /// What a learner has is taken for a part of the log without comparing hashes.
    public static let baseUnchecked = ReplicaMutations(rawValue: 1 << 9)
    /// A learner is listed though backups may lack entries that its snapshot has in it.
    public static let snapshotAhead = ReplicaMutations(rawValue: 1 << 10)
    /// How far a channel has been accepted is known to the primary alone, and a new one takes whatever comes first.
    public static let acceptedOutside = ReplicaMutations(rawValue: 1 << 13)
    /// Replies in the outboxes are not sent again by a new primary.
    public static let tailReplies = ReplicaMutations(rawValue: 1 << 14)
    /// Shard time is the time of whichever node is the primary.
    public static let nodeClock = ReplicaMutations(rawValue: 1 << 15)
    /// Effects leave when their entry is made, not when it is committed.
    public static let toldEarly = ReplicaMutations(rawValue: 1 << 16)
    /// What has been sent leaves the outbox.
    public static let outboxOnSend = ReplicaMutations(rawValue: 1 << 17)
    /// Channels do not stand in snapshots.
    public static let snapshotWithoutChannels = ReplicaMutations(rawValue: 1 << 18)
    /// Effects leave also while the node is out of touch.
    public static let noFence = ReplicaMutations(rawValue: 1 << 19)
}
