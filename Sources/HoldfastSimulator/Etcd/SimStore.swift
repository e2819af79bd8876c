internal import HoldfastProtocol
public import HoldfastReplication

/// The coordinator's content: one linearizable store of shard records and registrations with revisions and leases, as
/// etcd keeps it. What comes between it and the nodes is `StoreFront`'s.
public struct SimStore: Sendable {
    struct Lease: Sendable {
        let id: UInt64
        var endsUs: Int64
    }

    static let leaseUs: Int64 = 5_000_000

    public private(set) var revision: UInt64 = 1
    /// By number of the home.
    public private(set) var records: [VersionedRecord?]
    /// By name.
    private(set) var registrations: [NodeRegistration] = []
    private(set) var leases: [Lease] = []
    private var lastLease: UInt64 = 0
    /// All changes after `compactedThrough`.
    private(set) var history: [CoordinatorEvent] = []
    private(set) var compactedThrough: UInt64 = 1
    public private(set) var swapsWon = 0
    /// For tests of checkers only.
    var mutations: WorldMutations = []
    private var firstIncarnations: [String: UInt64] = [:]
    public private(set) var swapsLost = 0

    init(shards: Int) {
        records = Array(repeating: nil, count: shards)
    }

    /// Registered nodes, sorted by id.
    public var nodes: [NodeInfo] { registrations.map(\.info) }

    private mutating func commit(_ change: CoordinatorChange) {
        history.append(CoordinatorEvent(revision: revision, change: change))
    }

    // MARK: Requests

    mutating func apply(_ request: CoordinatorRequest, nowUs: Int64) -> CoordinatorAnswer {
        switch request {
        case .grant:
            lastLease += 1
            leases.append(Lease(id: lastLease, endsUs: nowUs + Self.leaseUs))
            return .granted(lease: lastLease)
        case .register(let own, let lease, let after): return register(own, lease, after: after, nowUs)
        case .keepAlive(let id):
            guard let i = leases.firstIndex(where: { $0.id == id }), leases[i].endsUs > nowUs else {
                return .kept(false)
            }
            leases[i].endsUs = nowUs + Self.leaseUs
            return .kept(true)
        case .revoke(let id):
            end(lease: id)
            return .none
        case .list: return .listing(records, nodes, orders: [], revision: revision)
        case .listNodes:
            return .nodes(nodes, revision: revision, newest: records.reduce(0) { max($0, $1?.revision ?? 0) })
        case .read(let shard): return .record(shard, records[shard.number])
        case .swap(let shard, let from, let to): return .swapped(shard, swap(shard, from, to))
        case .watch(let after): return after < compactedThrough ? .compacted : .watching
        }
    }

    private mutating func register(
        _ own: NodeClaim, _ lease: UInt64, after: UInt64, _ nowUs: Int64
    ) -> CoordinatorAnswer {
        guard leases.contains(where: { $0.id == lease && $0.endsUs > nowUs }) else { return .leaseGone }
        let place = registrations.firstIndex { $0.info.id.name == own.name }
        guard place.map({ registrations[$0].revision }) ?? 0 == after else {
            return .registrationLost(place.map { registrations[$0] })
        }
        revision += 1
        let info = own.info(at: revision)
        let registration = NodeRegistration(info: info, lease: lease, revision: revision, mark: own.mark)
        if let place {
            registrations[place] = registration
        } else {
            registrations.append(registration)
            registrations.sort { $0.info.id < $1.info.id }
        }
        commit(.registered(info))
        return .registered(info, lease: lease, revision: revision)
    }

    private mutating func swap(_ shard: ShardID, _ from: UInt64, _ to: ShardRecord) -> SwapResult {
        guard let now = records[shard.number] else { return .inDoubt }
        guard now.revision == from || mutations.contains(.blindSwap) else {
            swapsLost += 1
            return .lost(now)
        }
        swapsWon += 1
        put(shard, to)
        return .won(revision: revision)
    }

    private mutating func put(_ shard: ShardID, _ record: ShardRecord) {
        revision += 1
        let versioned = VersionedRecord(record, revision: revision)
        records[shard.number] = versioned
        commit(.record(shard, versioned))
    }

    // MARK: From the operator

    /// Makes the records that are missing.
    mutating func bootstrap(_ wanted: [ShardID: [NodeID]], rules: UInt32) {
        for shard in wanted.keys.sorted() where records[shard.number] == nil {
            guard let nodes = wanted[shard], let primary = nodes.first else { continue }
            put(
                shard,
                ShardRecord(
                    generation: 1, epoch: 1, primary: primary, backups: Array(nodes.dropFirst()), rules: rules))
        }
    }

    mutating func compact() {
        compactedThrough = revision
        history = []
    }

    // MARK: Leases

    /// Ends what has run out.
    mutating func endLeases(nowUs: Int64) {
        for lease in leases where lease.endsUs <= nowUs { end(lease: lease.id) }
    }

    private mutating func end(lease id: UInt64) {
        leases.removeAll { $0.id == id }
        guard let place = registrations.firstIndex(where: { $0.lease == id }) else { return }
        let gone = registrations.remove(at: place)
        revision += 1
        commit(.unregistered(gone.info.id))
    }

    var nextLeaseEndUs: Int64? { leases.lazy.map(\.endsUs).min() }

    /// A new leader gives every lease its whole time again.
    mutating func renewLeases(nowUs: Int64) {
        for i in leases.indices { leases[i].endsUs = max(leases[i].endsUs, nowUs + Self.leaseUs) }
    }

    /// The coordinator's clock stood still for so long.
    mutating func shiftLeases(byUs us: Int64) {
        for i in leases.indices { leases[i].endsUs += us }
    }

    /// The changes after a revision.
    func changes(after revision: UInt64) -> ArraySlice<CoordinatorEvent> {
        var start = history.endIndex
        while start > 0, history[start - 1].revision > revision { start -= 1 }
        return history[start...]
    }
}
