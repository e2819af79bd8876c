public import HoldfastProtocol

/// One loop's part of a node: the replicas that are pinned to it, where every shard is, and the channels between its
/// gateway's links and the shards. Pure: what it orders is an effect, and the shell carries it out.
///
/// The local case goes the same way as the distant one: a command is numbered, logged and committed, and its effects
/// come back through the same outboxes, without a message between.
public struct ShardHost<Machine: ReplicatedMachine>: Sendable {
    public typealias Message = PeerMessage<Machine.Command, Machine.Item>

    public enum Effect: Sendable {
        /// `isBulk`: must not stand before anything else.
        case send(NodeID, Message, isBulk: Bool)
        /// For the links of this loop's gateway, in order.
        case item(Machine.Item)
        /// Answered by `swapEnded`.
        case swap(ShardID, from: UInt64, to: ShardRecord)
        /// Linearizable; answered by `recordSeen`.
        case readRecord(ShardID)
        /// The links whose player or seat is in this shard have to end.
        case linksLost(ShardID, LinksLoss)
        /// This command of a link is not done, because primaries died of it; its sender is told 1.
        case emptied(Machine.Command)
        /// For a person to look at.
        case alarm(ShardID, String)
    }

    public let node: NodeID
    public let gateway: GatewayID
    let layout: ShardLayout
    let homes: [ShardID]
    let configuration: Machine.Configuration
    let settings: ReplicationSettings
    /// Which of the node's loops a shard is pinned to.
    let loops: Int
    var generator: any RandomNumberGenerator & Sendable

    /// By number of the home.
    var places: ContiguousArray<ShardPlace<Machine>>
    var view = MembershipView()
    /// The generations of shards that were lost once.
    var begunAnew: [ShardID: UInt64] = [:]
    /// By incarnation: where gateways are.
    var nodes: [UInt64: NodeID] = [:]
    /// Where shards should be, by number of the home.
    var wanted: [[NodeID]] = []
    var backOff: BackOff
    var budget: TransferBudget
    /// When replicas must be given an entry, in the node's time.
    var deadlines = DeadlineQueue<ShardID>()
    var nextSweepMs: Int64 = 0

    /// Messages from this loop to itself: done one after another, never nested.
    var local: [Message] = []
    var out: [Effect] = []
    var replicaEffects: [ReplicaEffect] = []
    var directItems: [Machine.Item] = []
    /// Entries that primaries here have made.
    public internal(set) var entries: UInt64 = 0
    var nowMs: Int64 = 0
    var wallMs: Int64 = 0

    /// - Parameters:
    ///   - loop, loops: which of how many loops of the node this is; shards are pinned by number.
    ///   - generator: what clients must not guess (room ids, resume tokens) comes from it.
    public init(
        node: NodeID, loop: Int = 0, loops: Int = 1, layout: ShardLayout, configuration: Machine.Configuration,
        settings: ReplicationSettings, generator: any RandomNumberGenerator & Sendable
    ) {
        self.node = node
        gateway = GatewayID(incarnation: node.incarnation, loop: UInt32(loop))
        self.loops = loops
        self.layout = layout
        self.configuration = configuration
        self.settings = settings
        self.generator = generator
        places = ContiguousArray(repeating: ShardPlace(), count: layout.count)
        backOff = BackOff(settings: settings.backOff)
        budget = TransferBudget(transfersAtOnce: settings.transfersAtOnce)
        homes = layout.homes
    }

    // MARK: Inputs

    /// A command of one of this gateway's links.
    public mutating func submit(_ command: Machine.Command, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]) {
        turn(nowMs, wallMs, &effects) { $0.send(command) }
    }

    /// A message of another node, or of another loop of this one.
    public mutating func receive(
        _ message: Message, from sender: NodeID, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]
    ) {
        turn(nowMs, wallMs, &effects) { $0.take(message, from: sender) }
    }

    /// What was sent to this node and from it may be lost.
    public mutating func linkReset(with peer: NodeID, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]) {
        turn(nowMs, wallMs, &effects) { $0.resendAll(to: peer) }
    }

    /// A watch or a linearizable read shows a record; nil: there is none.
    public mutating func recordSeen(
        _ shard: ShardID, _ record: VersionedRecord?, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]
    ) {
        turn(nowMs, wallMs, &effects) { host in
            if let record { host.see(record, of: shard) }
        }
    }

    public mutating func swapEnded(
        _ shard: ShardID, _ result: SwapResult, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]
    ) {
        turn(nowMs, wallMs, &effects) { $0.swapEnded(shard, result) }
    }

    public mutating func membershipChanged(
        _ view: MembershipView, nowMs: Int64, wallMs: Int64, into effects: inout [Effect]
    ) {
        turn(nowMs, wallMs, &effects) { $0.adopt(view) }
    }

    /// Time has passed: at least to `nextDeadlineMs`. Early and needless ones are harmless.
    public mutating func tick(nowMs: Int64, wallMs: Int64, into effects: inout [Effect]) {
        turn(nowMs, wallMs, &effects) { host in
            while let due = host.deadlines.take(at: nowMs) {
                host.log(.tick, in: due.key, isPatient: false)
                host.pump(due.key)
                host.workLocally()
            }
            if nowMs >= host.nextSweepMs { host.sweep() }
        }
    }

    /// When `tick` is wanted, in the node's time.
    public mutating func nextDeadlineMs() -> Int64 {
        min(deadlines.next()?.timeMs ?? .max, nextSweepMs)
    }

    // MARK: What it knows

    /// The newest record seen of a shard.
    public func route(of shard: ShardID) -> VersionedRecord? { places[shard.number].route }

    /// The replica of a shard that is here.
    func replica(of shard: ShardID) -> Replica<Machine>? { places[shard.number].replica }

    /// The machines of the replicas that are here.
    public var machines: [Machine] { places.compactMap { $0.replica?.state?.machine } }

    /// Commands of this gateway that no shard has taken yet.
    public var unsentCommands: Int { places.reduce(0) { $0 + $1.channel.outbox.count } }

    // MARK: One turn

    private mutating func turn(
        _ nowMs: Int64, _ wallMs: Int64, _ effects: inout [Effect], _ work: (inout Self) -> Void
    ) {
        self.nowMs = max(self.nowMs, nowMs)
        self.wallMs = wallMs
        swap(&out, &effects)
        work(&self)
        workLocally()
        swap(&out, &effects)
    }

    mutating func workLocally() {
        while !local.isEmpty {
            let messages = local
            local.removeAll(keepingCapacity: true)
            for message in messages { take(message, from: node) }
        }
    }

    private mutating func take(_ message: Message, from sender: NodeID) {
        switch message {
        case .replica(let shard, let generation, let epoch, let message):
            receive(message, of: shard, from: sender, generation, epoch)
        case .commands(let shard, let generation, let source, let first, let commands):
            takeCommands(commands, first, from: source, to: shard, generation, sender)
        case .commandsTaken(let shard, let generation, let source, let through):
            commandsTaken(by: shard, generation, source, through)
        case .commandsRefused(let shard, let source, let why): commandsRefused(by: shard, source, why)
        case .items(let shard, let generation, let gateway, let session, let first, let items):
            if gateway == self.gateway { takeItems(items, first, of: shard, generation, session, from: sender) }
        case .itemsTaken(let gateway, let session, let shard, let generation, let through):
            itemsTaken(by: gateway, session, of: shard, generation, through)
        }
    }

    /// To whatever loop of whatever node.
    mutating func post(_ message: Message, to receiver: NodeID, isBulk: Bool = false) {
        if receiver == node, isForThisLoop(message) {
            local.append(message)
        } else {
            out.append(.send(receiver, message, isBulk: isBulk))
        }
    }

    func isPinnedHere(_ shard: ShardID) -> Bool { shard.number % loops == Int(gateway.loop) }

    /// Which of a node's loops a message is for; the shell needs to know it too.
    public static func loop(of message: Message, loops: Int) -> Int {
        switch message {
        case .replica(let shard, _, _, _), .commands(let shard, _, _, _, _), .itemsTaken(_, _, let shard, _, _):
            shard.number % loops
        case .commandsTaken(_, _, .gateway(let gateway, _), _), .commandsRefused(_, .gateway(let gateway, _), _),
            .items(_, _, let gateway, _, _, _):
            Int(gateway.loop)
        case .commandsTaken(_, _, .shard(let shard, _), _), .commandsRefused(_, .shard(let shard, _), _):
            shard.number % loops
        }
    }

    private func isForThisLoop(_ message: Message) -> Bool {
        Self.loop(of: message, loops: loops) == Int(gateway.loop)
    }
}
