import HoldfastProtocol

/// What one loop knows of one shard: its record, a replica of it if there is one here, and this gateway's end of its
/// channels.
struct ShardPlace<Machine: ReplicatedMachine>: Sendable {
    /// The newest record seen.
    var route: VersionedRecord?
    var replica: Replica<Machine>?
    /// Effects of entries up to here have left, and in which epoch.
    var told: ToldPoint?
    /// Commands that are in the log and whose sender has not been told yet, oldest first.
    var untold = Outbox<Untold>()
    /// Up to where receivers have said that they took items, though no entry says so yet.
    private var taken: [ShardState<Machine>.Target: Taken] = [:]
    /// How far each channel's oldest item was when it was last looked at.
    var stalls: [ShardState<Machine>.Target: UInt64] = [:]
    var nextResendMs: Int64 = 0
    /// When gateways that were lost are looked for.
    var nextGatewaysMs: Int64 = 0
    /// Which gateways that were lost and are back know of it, by the session that they were told.
    var informed: [GatewayID: UInt64] = [:]
    /// All channels were told how far they have come, since this replica became the primary.
    var isGreeted = false
    /// Shards that did not take what this one sent, for want of a primary.
    var refusedBy: Set<ShardID> = []
    /// Not before this a lost shard is begun anew once more.
    var nextBeginningMs: Int64 = 0
    var isBeginning = false
    var channel = GatewayEnd<Machine.Command>()

    private struct Taken: Sendable {
        /// The gateway's session, the other shard's generation.
        let life: UInt64
        let through: UInt64
    }

    mutating func noteTaken(_ target: ShardState<Machine>.Target, life: UInt64, through: UInt64) {
        if let known = taken[target], known.life > life || known.life == life && known.through >= through { return }
        taken[target] = Taken(life: life, through: through)
    }

    /// The number from which on a channel's items are to be sent again.
    func oldest(_ target: ShardState<Machine>.Target, life: UInt64, first: UInt64) -> UInt64 {
        guard let known = taken[target], known.life == life else { return first }
        return max(first, known.through + 1)
    }

    struct Untold: Sendable {
        let index: UInt64
        let source: ChannelSource
        let number: UInt64
    }

    /// The replica has become the primary, or ceases to be it: nothing is known of what has arrived where.
    mutating func beginTelling() {
        untold = Outbox()
        taken = [:]
        stalls = [:]
        refusedBy = []
        informed = [:]
        isGreeted = false
    }

    /// As of the last `refresh`, which follows each call of the replica.
    private(set) var facts = ReplicaFacts()

    mutating func refresh() { facts = replica?.facts() ?? ReplicaFacts() }

    // These change nothing. They are `mutating` because a replica that is looked at in place need not be copied, with
    // all that is in it.

    mutating func currentRecord() -> ShardRecord? { route?.record }
    mutating func currentPrimary() -> NodeID? { route?.record.primary }
    mutating func accepted(of source: ChannelSource) -> UInt64? { replica?.state?.accepted(of: source) }
    mutating func session(of gateway: GatewayID) -> UInt64 { replica?.state?.session(of: gateway) ?? 1 }
    /// Whether that a gateway has this session is committed: before, another primary may go on with the one before.
    mutating func isSessionCommitted(of gateway: GatewayID) -> Bool {
        facts.isSettled && facts.committed >= replica?.state?.sessionStart(of: gateway) ?? 0
    }

    mutating func knownGeneration(of shard: ShardID) -> UInt64 { replica?.state?.knownGeneration(of: shard) ?? 1 }
}

/// A gateway's end of its channels to and from one shard (design, rules 9 and 10).
struct GatewayEnd<Command: Sendable>: Sendable {
    /// Of the shard.
    var generation: UInt64 = 1
    var session: UInt64 = 1
    /// Not taken yet; nil: emptied.
    var outbox = Outbox<Command?>()
    /// Up to here the present primary was sent them.
    var sent: UInt64 = 0
    /// When the oldest was last seen to go, or to be sent.
    var progressMs: Int64 = 0
    /// The newest item that came, in order.
    var received: UInt64 = 0
    /// Up to here the shard was told.
    var reported: UInt64 = 0
    /// This gateway began the session, and the shard has said nothing in it yet.
    var isUnheard = false
    /// The links here were told that the shard cannot be reached.
    var isCutOff = false
    /// Commands that primaries seem to have died of, by number, until the shard says that it has passed them over. One
    /// that was done after all was answered by the shard.
    var emptied: [UInt64: Command] = [:]
    /// The oldest command, if primaries died while it was first in line.
    var suspect: (number: UInt64, deaths: Int) = (0, 0)

    init() {}

    init(generation: UInt64, session: UInt64) {
        self.generation = generation
        self.session = session
    }
}

/// What is asked of a replica at every step.
struct ReplicaFacts: Sendable {
    /// There is a replica here.
    var isHere = false
    var isPrimary = false
    /// A primary that takes commands.
    var isOpen = false
    var isStarted = false
    /// As far as the record is concerned.
    var mayTell = false
    var isAlone = false
    var committed: UInt64 = 0
    var last: UInt64 = 0
    /// The newest entry when this epoch began.
    var startedIndex: UInt64 = 0
    var generation: UInt64?

    /// All is committed that was in the log when this epoch began.
    var isSettled: Bool { mayTell && committed >= startedIndex }
}

extension Replica {
    // `mutating` as is said at `ShardPlace`.

    mutating func learning() -> NodeID? { learner }

    /// Whom this backup would replace as the primary, were it gone.
    mutating func toReplace() -> NodeID? { isSwapping ? nil : overseen }

    mutating func hash(at index: UInt64) -> UInt64? { log.hash(at: index) }

    mutating func facts() -> ReplicaFacts {
        ReplicaFacts(
            isHere: true, isPrimary: role == .primary, isOpen: isOpen, isStarted: isStarted, mayTell: mayTell,
            isAlone: isAlone, committed: committed, last: last, startedIndex: lead.startedIndex,
            generation: state?.ownGeneration())
    }
}
