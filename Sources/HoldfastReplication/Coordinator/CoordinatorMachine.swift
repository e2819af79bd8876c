public import HoldfastProtocol

/// A process's dealings with the coordinator: it registers and keeps that alive, lists what is there and watches it,
/// and passes on swaps and reads. Pure; one a process; times are the node's own boot-time clock in milliseconds.
///
/// A shell carries out `ask`, and answers each by `answered` or, when no answer has come for a while, by `unanswered`:
/// the request may then still be carried out. It must not say so at once where nobody can be reached: most requests are
/// made again without a pause.
public struct CoordinatorMachine: Sendable {
    public enum Effect: Sendable {
        case ask(id: UInt64, CoordinatorRequest)
        /// Once: the process is registered, and this node from now on.
        case joined(NodeInfo)
        /// For `MembershipMachine.registrations`.
        case nodes([NodeInfo], revision: UInt64, askedAtMs: Int64)
        case record(ShardID, VersionedRecord?)
        /// All nodes that records name, when records have come; for `MembershipMachine.named`.
        case named(Set<NodeID>)
        /// Records are missing, or older than what was seen before; or they are not any more.
        case recordsBroken(Bool)
        case swapped(ShardID, SwapResult)
        /// An operator's; again with each listing.
        case ordered(NodeOrder)
        /// Once: everything that was there has been told.
        case listed
        /// A newer process has the name; this one has to end.
        case replaced
    }

    /// In milliseconds.
    public struct Settings: Sendable {
        public var keepAliveMs: Int64 = 1_500
        /// Between two listings of the nodes, besides what the watch tells; see `MembershipMachine`.
        public var listingMs: Int64 = 3_000
        /// How many records there are.
        public var shards = ShardID.count

        public init() {}
    }

    private struct OpenRequest: Sendable {
        let id: UInt64
        let request: CoordinatorRequest
        let atMs: Int64
        /// What had been seen when it was asked: an answer knows at least that.
        let revision: UInt64
    }

    private let settings: Settings
    /// As it is to be registered; `incarnation` is set when it is known.
    private var claim: NodeClaim
    public private(set) var node: NodeID?
    public private(set) var lease: UInt64 = 0

    private var lastID: UInt64 = 0
    private var open: [OpenRequest] = []
    private var isRegistering = false
    /// The one that a registration is being put under.
    private var newLease: UInt64 = 0
    /// Of the name's registration, as far as it was seen.
    private var registrationRevision: UInt64 = 0
    private var registered: [NodeInfo] = []
    /// The newest that were seen, by number of the home.
    private var records: [VersionedRecord?] = []
    private var areRecordsNew = false
    /// As the last listing had it; who has come since is taken out.
    private var missing: Set<ShardID> = []
    private var areRecordsOlder = false
    private var areRecordsBroken = false
    /// Up to here it has heard of changes.
    private var revision: UInt64 = 0
    private var watchOpenedMs: Int64 = 0
    /// A change that a listing has shown, and the watch has not told.
    private var watchIsDue: UInt64?
    private var keepAliveAtMs: Int64 = .max
    private var listingAtMs: Int64 = .max
    private var isListing = false
    private var hasListed = false

    public init(claim: NodeClaim, settings: Settings = Settings()) {
        self.claim = claim
        self.settings = settings
    }

    public var nextDeadlineMs: Int64 { min(keepAliveAtMs, listingAtMs) }

    public mutating func tick(nowMs: Int64, into effects: inout [Effect]) {
        if keepAliveAtMs <= nowMs { keepAlive(nowMs, &effects) }
        guard listingAtMs <= nowMs else { return }
        if areRecordsBroken {
            listingAtMs = nowMs + settings.listingMs
            list(nowMs, &effects)
        } else {
            listNodes(nowMs, &effects)
        }
    }

    private mutating func ask(_ request: CoordinatorRequest, _ nowMs: Int64, _ effects: inout [Effect]) {
        lastID += 1
        open.append(OpenRequest(id: lastID, request: request, atMs: nowMs, revision: revision))
        effects.append(.ask(id: lastID, request))
    }

    private mutating func close(_ id: UInt64) -> OpenRequest? {
        open.firstIndex { $0.id == id }.map { open.remove(at: $0) }
    }

    // MARK: What the node wants

    /// Registers, or registers again: under a new lease, in place of what stood there as far as this process knows.
    /// That a request was not answered does not mean that it is not carried out, maybe much later: what has come of it
    /// is seen before another one is made, and none takes effect when its lease is gone.
    public mutating func register(nowMs: Int64, into effects: inout [Effect]) {
        guard !isRegistering else { return }
        isRegistering = true
        ask(.grant, nowMs, &effects)
    }

    /// Lets everybody know that this node's shards are to go elsewhere.
    public mutating func drain(nowMs: Int64, into effects: inout [Effect]) {
        claim.isDraining = true
        register(nowMs: nowMs, into: &effects)
    }

    /// The registration ends at once, as the last thing that this process asks for.
    public mutating func leave(nowMs: Int64, into effects: inout [Effect]) {
        ask(.revoke(lease: lease), nowMs, &effects)
    }

    public mutating func swap(
        _ shard: ShardID, from: UInt64, to: ShardRecord, nowMs: Int64, into effects: inout [Effect]
    ) {
        ask(.swap(shard, from: from, to: to), nowMs, &effects)
    }

    public mutating func read(_ shard: ShardID, nowMs: Int64, into effects: inout [Effect]) {
        ask(.read(shard), nowMs, &effects)
    }

    // MARK: What comes from the coordinator

    public mutating func answered(
        _ id: UInt64, _ answer: CoordinatorAnswer, nowMs: Int64, into effects: inout [Effect]
    ) {
        // A late answer of a request that was given up: what it says is still true, but nobody waits for it.
        guard let asked = close(id) else { return }
        switch answer {
        case .granted(let lease): register(under: lease, nowMs, &effects)
        case .registered(let info, let lease, let revision): registered(info, lease, revision, nowMs, &effects)
        case .registrationLost(let now): registrationLost(now, nowMs, &effects)
        case .leaseGone:
            isRegistering = false
            register(nowMs: nowMs, into: &effects)
        case .kept(let isAlive): if !isAlive { register(nowMs: nowMs, into: &effects) }
        case .listing(let records, let nodes, let orders, let revision):
            judge(records, revision, asked)
            listed(records, nodes, revision, askedAtMs: asked.atMs, nowMs, &effects)
            for order in orders { effects.append(.ordered(order)) }
        case .nodes(let nodes, let revision, let newest):
            see(nodes, revision, askedAtMs: asked.atMs, &effects)
            doubtWatch(newest, nowMs, &effects)
        case .record(let shard, let record):
            see(shard, record, &effects)
            name(&effects)
        case .swapped(let shard, let result): effects.append(.swapped(shard, result))
        case .watching: watchOpenedMs = asked.atMs
        case .compacted: list(nowMs, &effects)
        case .none: break
        }
    }

    public mutating func unanswered(_ id: UInt64, nowMs: Int64, into effects: inout [Effect]) {
        guard let asked = close(id) else { return }
        switch asked.request {
        case .grant, .register:
            isRegistering = false
            register(nowMs: nowMs, into: &effects)
        case .keepAlive: keepAlive(nowMs, &effects)
        case .revoke: break
        case .listNodes: listNodes(nowMs, &effects)
        case .list, .watch:
            isListing = false
            list(nowMs, &effects)
        case .read(let shard): read(shard, nowMs: nowMs, into: &effects)
        case .swap(let shard, _, _): effects.append(.swapped(shard, .inDoubt))
        }
    }

    public mutating func changed(_ events: [CoordinatorEvent], into effects: inout [Effect]) {
        var areNodesNew = false
        for event in events {
            // After a new listing, a watch may repeat what that had.
            guard event.revision > revision else { continue }
            switch event.change {
            case .record(let shard, let record): see(shard, record, &effects)
            case .registered(let info):
                registered.removeAll { $0.id.name == info.id.name }
                registered.append(info)
                areNodesNew = true
            case .unregistered(let id):
                registered.removeAll { $0.id == id }
                areNodesNew = true
            case .ordered(let order): effects.append(.ordered(order))
            }
        }
        revision = max(revision, events.last?.revision ?? 0)
        name(&effects)
        guard areNodesNew else { return }
        registered.sort { $0.id < $1.id }
        // What a watch brings was asked for when it was opened.
        see(registered, revision, askedAtMs: watchOpenedMs, &effects)
    }

    /// The watch has ended, or can no longer be trusted.
    public mutating func watchEnded(nowMs: Int64, into effects: inout [Effect]) {
        if node != nil { list(nowMs, &effects) }
    }

    // MARK: Registration

    private mutating func register(under lease: UInt64, _ nowMs: Int64, _ effects: inout [Effect]) {
        newLease = lease
        ask(.register(claim, lease: lease, after: registrationRevision), nowMs, &effects)
    }

    private mutating func registrationLost(_ now: NodeRegistration?, _ nowMs: Int64, _ effects: inout [Effect]) {
        registrationRevision = now?.revision ?? 0
        if let now, now.mark == claim.mark {
            // An earlier request of this process.
            if now.lease == newLease { return registered(now.info, now.lease, now.revision, nowMs, &effects) }
        } else if let now, let node, now.info.id.incarnation > node.incarnation {
            effects.append(.replaced)
            return
        }
        register(under: newLease, nowMs, &effects)
    }

    private mutating func registered(
        _ info: NodeInfo, _ lease: UInt64, _ revision: UInt64, _ nowMs: Int64, _ effects: inout [Effect]
    ) {
        isRegistering = false
        registrationRevision = revision
        self.lease = lease
        keepAliveAtMs = nowMs + settings.keepAliveMs
        // It was on its way when the drain began.
        if claim.isDraining != info.isDraining { register(nowMs: nowMs, into: &effects) }
        guard node == nil else { return }
        node = info.id
        claim.incarnation = info.id.incarnation
        effects.append(.joined(info))
        list(nowMs, &effects)
    }

    private mutating func keepAlive(_ nowMs: Int64, _ effects: inout [Effect]) {
        keepAliveAtMs = nowMs + settings.keepAliveMs
        ask(.keepAlive(lease: lease), nowMs, &effects)
    }

    // MARK: Listing

    private mutating func list(_ nowMs: Int64, _ effects: inout [Effect]) {
        guard !isListing else { return }
        isListing = true
        ask(.list, nowMs, &effects)
    }

    private mutating func listNodes(_ nowMs: Int64, _ effects: inout [Effect]) {
        listingAtMs = nowMs + settings.listingMs
        ask(.listNodes, nowMs, &effects)
    }

    /// A watch at a member that lags, or was cut off, ends by itself late or never: what a listing knew must have been
    /// told by the time of the next one.
    private mutating func doubtWatch(_ newest: UInt64, _ nowMs: Int64, _ effects: inout [Effect]) {
        let wasDue = watchIsDue
        watchIsDue = newest > revision ? newest : nil
        guard let wasDue, wasDue > revision else { return }
        watchIsDue = nil
        list(nowMs, &effects)
    }

    private mutating func listed(
        _ records: [VersionedRecord?], _ nodes: [NodeInfo], _ revision: UInt64, askedAtMs: Int64, _ nowMs: Int64,
        _ effects: inout [Effect]
    ) {
        isListing = false
        listingAtMs = nowMs + settings.listingMs
        see(nodes, revision, askedAtMs: askedAtMs, &effects)
        for (number, record) in records.enumerated() { see(ShardID(number: number), record, &effects) }
        name(&effects)
        self.revision = max(self.revision, revision)
        ask(.watch(after: revision), nowMs, &effects)
        if !hasListed {
            hasListed = true
            effects.append(.listed)
        }
    }

    private mutating func see(
        _ nodes: [NodeInfo], _ revision: UInt64, askedAtMs: Int64, _ effects: inout [Effect]
    ) {
        if revision >= self.revision { registered = nodes }
        effects.append(.nodes(nodes, revision: revision, askedAtMs: askedAtMs))
    }
    // MARK: Records

    private mutating func see(_ shard: ShardID, _ record: VersionedRecord?, _ effects: inout [Effect]) {
        effects.append(.record(shard, record))
        guard let record, shard.number >= 0, shard.number < settings.shards else { return }
        while records.count <= shard.number { records.append(nil) }
        guard record.revision > records[shard.number]?.revision ?? 0 else { return }
        records[shard.number] = record
        areRecordsNew = true
        missing.remove(shard)
    }

    /// After the records that came together.
    private mutating func name(_ effects: inout [Effect]) {
        tellWhetherBroken(&effects)
        guard areRecordsNew else { return }
        areRecordsNew = false
        effects.append(.named(records.reduce(into: []) { if let record = $1?.record { $0.formUnion(record.members) } }))
    }

    /// A coordinator that has lost what it had shown is no judge (design, rule 8).
    private mutating func judge(_ listing: [VersionedRecord?], _ revision: UInt64, _ asked: OpenRequest) {
        missing = Set(
            listing.indices.filter { number in
                // What has come while the listing was on its way is newer than that.
                let seen = number < records.count ? records[number]?.revision ?? 0 : 0
                return listing[number] == nil && seen <= revision
            }.map(ShardID.init(number:)))
        areRecordsOlder = revision < asked.revision
        for (seen, now) in zip(records, listing) {
            guard let seen, let now, seen.revision <= asked.revision else { continue }
            areRecordsOlder = areRecordsOlder || now.revision < seen.revision
        }
    }

    private mutating func tellWhetherBroken(_ effects: inout [Effect]) {
        let isBroken = areRecordsOlder || !missing.isEmpty
        guard isBroken != areRecordsBroken else { return }
        areRecordsBroken = isBroken
        effects.append(.recordsBroken(isBroken))
    }
}
