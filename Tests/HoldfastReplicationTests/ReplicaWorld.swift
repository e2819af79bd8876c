import HoldfastProtocol

@testable import HoldfastReplication

/// A machine that remembers all that was done to it, place by place.
struct Diary: ReplicatedMachine {
    struct Command: ReplicatedCommand, Hashable {
        var value: UInt64
        var isPatient = false

        init(_ value: UInt64, isPatient: Bool = false) {
            self.value = value
            self.isPatient = isPatient
        }

        var shard: ShardID { ShardID(number: 0) }
        var drawsRandomness: Bool { false }

        func encode(into writer: inout StateWriter) {
            writer.put(value)
            writer.put(isPatient)
        }

        init(from reader: inout StateReader) throws(StateError) {
            value = try reader.number()
            isPatient = try reader.bool()
        }
    }

    var pages: [UInt64] = []
    /// Set by tests; no part of the state.
    var deadlineMs: Int64?

    init(configuration: Bool) {}

    init(from reader: inout StateReader, configuration: Bool) throws(StateError) {
        pages = try reader.list { (reader) throws(StateError) in try reader.fixed() }
    }

    func encode(into writer: inout StateWriter) { writer.put(list: pages) { $0.put(fixed: $1) } }

    func digest(into hash: inout StableHash) {
        for page in pages { hash.mix(page) }
    }

    mutating func apply(
        _ step: MachineStep<Command>, at place: EntryPlace, into effects: inout [MachineEffect<Command, Command>]
    ) {
        var hash = StableHash()
        hash.mix(place.index)
        hash.mix(UInt64(bitPattern: place.timeMs))
        switch step {
        case .command(let command):
            hash.mix(command.value)
            if !command.isPatient { effects.append(.deliver(GatewayID(incarnation: 1, loop: 0), command)) }
        case .tick: hash.mix(1 as UInt8)
        case .epochStart: hash.mix(2 as UInt8)
        case .shardLost, .gatewayLost: hash.mix(3 as UInt8)
        }
        pages.append(hash.value)
    }

    mutating func nextDeadlineMs() -> Int64? { deadlineMs }
}

/// SplitMix64.
struct ReplicaRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 1 }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}

/// One shard, its nodes, the network between them, and the coordinator: what they do to each other is chosen by whoever
/// drives it. After each call it checks that nothing told is taken back.
struct ReplicaWorld {
    typealias Replica = HoldfastReplication.Replica<Diary>

    struct Node {
        let id: NodeID
        var isAlive = true
        var replica: Replica
        /// Of its clock.
        let aheadMs: Int64
        /// It has told up to here, in this generation.
        var told: UInt64 = 0
        var toldGeneration: UInt64 = 0
        /// Readings that it waits for.
        var readings = 0
    }

    struct Envelope {
        let from: Int
        let to: Int
        let generation: UInt64
        let epoch: UInt64
        let message: ReplicaMessage
    }

    struct Swap {
        let by: Int
        let from: UInt64
        let to: ShardRecord
        /// Its asker has been told that nobody knows.
        var isInDoubt = false
    }

    static let shard = ShardID(number: 0)
    static let gateway = GatewayID(incarnation: 1, loop: 0)

    var nodes: [Node] = []
    var net: [Envelope] = []
    var swaps: [Swap] = []
    /// Answers that have not arrived, one for each asker at most.
    var answers: [(to: Int, SwapResult)] = []
    var record: VersionedRecord
    var settings: ReplicationSettings
    var nowMs: Int64 = 1_000
    private var incarnations: UInt64 = 0

    /// By index, in the present generation.
    var told: [UInt64] = []
    var tellers: [UInt64: Int] = [:]
    var stuck: [(by: Int, NodeID)] = []
    var alarms: [String] = []
    /// Whether an alarm is a fault.
    var isQuiet = true
    var fault: String?
    var counts: [String: Int] = [:]
    var trace: [String]?

    init(names: [String], members: Int, settings: ReplicationSettings, isTraced: Bool = false) {
        self.settings = settings
        record = VersionedRecord(
            ShardRecord(generation: 1, epoch: 1, primary: NodeID(name: "", incarnation: 0), rules: 1), revision: 1)
        if isTraced { trace = [] }
        for (i, name) in names.enumerated() { boot(name, aheadMs: Int64(i) * 1_000_003) }
        record = VersionedRecord(
            ShardRecord(
                generation: 1, epoch: 1, primary: nodes[0].id, backups: nodes[1..<members].map(\.id), rules: 1),
            revision: 1)
    }

    mutating func boot(_ name: String, aheadMs: Int64) {
        incarnations += 1
        let id = NodeID(name: name, incarnation: incarnations)
        nodes.append(
            Node(
                id: id,
                replica: Replica(
                    shard: Self.shard, node: id, layout: ShardLayout(entityShards: 1, matchShards: 1),
                    configuration: true, settings: settings),
                aheadMs: aheadMs))
    }

    func index(of id: NodeID) -> Int? { nodes.firstIndex { $0.id == id } }
    func isAlive(_ id: NodeID) -> Bool { nodes.contains { $0.id == id && $0.isAlive } }
    var living: [Int] { nodes.indices.filter { nodes[$0].isAlive } }

    mutating func note(_ line: (Self) -> String) {
        guard trace != nil else { return }
        let text = "\(nowMs) \(line(self))"
        trace?.append(text)
    }

    mutating func count(_ what: String) { counts[what, default: 0] += 1 }

    mutating func fail(_ reason: String) {
        note { _ in "FAULT \(reason)" }
        if fault == nil { fault = reason }
    }

    // MARK: Calls

    /// Calls a replica, carries its effects to where they wait, and looks at what it has become.
    mutating func with(
        _ i: Int, _ why: String, _ call: (inout Replica, Int64, inout [ReplicaEffect]) -> Void
    ) {
        with(i, { _ in why }, call)
    }

    mutating func with(
        _ i: Int, _ why: (Self) -> String, _ call: (inout Replica, Int64, inout [ReplicaEffect]) -> Void
    ) {
        guard nodes[i].isAlive else { return }
        note { "\($0.name(i)): \(why($0))" }
        var effects: [ReplicaEffect] = []
        let wasStarted = nodes[i].replica.isStarted
        call(&nodes[i].replica, nowMs + nodes[i].aheadMs, &effects)
        if nodes[i].replica.isStarted, !wasStarted {
            note { "\($0.name(i)) starts epoch \($0.nodes[i].replica.epoch) at \($0.nodes[i].replica.last)" }
            count("starts")
        }
        for effect in effects { carry(effect, of: i) }
        tell(i)
        compare()
    }

    private mutating func carry(_ effect: ReplicaEffect, of i: Int) {
        switch effect {
        case .send(let id, let generation, let epoch, let message, _):
            guard let to = index(of: id) else { return }
            net.append(Envelope(from: i, to: to, generation: generation, epoch: epoch, message: message))
            count(message.kind)
        case .swap(let from, let to):
            note { "\($0.name(i)) asks to swap \(from) to \($0.text(to))" }
            swaps.append(Swap(by: i, from: from, to: to))
            count("swaps")
        case .readRecord: nodes[i].readings += 1
        case .opened: count("opened")
        case .closed: count("closed")
        case .stuck(let id): stuck.append((i, id))
        case .alarm(let reason):
            alarms.append(reason)
            if isQuiet { fail("alarm at \(name(i)): \(reason)") }
        }
    }

    mutating func deliver(_ k: Int, isKept: Bool = false, isLost: Bool = false) {
        let envelope = net[k]
        if !isKept {
            net[k] = net[net.count - 1]
            net.removeLast()
        }
        if !isLost { deliver(envelope) }
    }

    mutating func deliver(_ envelope: Envelope) {
        let sender = nodes[envelope.from].id
        with(envelope.to, { "from \($0.name(envelope.from)) e\(envelope.epoch) \($0.text(envelope.message))" }) {
            $0.receive(
                envelope.message, from: sender, generation: envelope.generation, epoch: envelope.epoch, nowMs: $1,
                wallMs: 1_700_000_000_000 + $1, into: &$2)
        }
    }

    mutating func show(_ i: Int, _ shown: VersionedRecord? = nil) {
        let shown = shown ?? record
        nodes[i].readings = 0
        with(i, { "sees \($0.text(shown))" }) { $0.see(shown, nowMs: $1, wallMs: 1_700_000_000_000 + $1, into: &$2) }
    }

    mutating func tick(_ i: Int) {
        with(i, "tick") { $0.tick(nowMs: $1, wallMs: 1_700_000_000_000 + $1, into: &$2) }
    }

    /// Logs a command, if this is an open primary.
    mutating func command(_ i: Int, _ value: UInt64, isPatient: Bool = false) {
        guard nodes[i].replica.isOpen else { return }
        let source = ChannelSource.gateway(Self.gateway, session: 1)
        let number = (nodes[i].replica.state?.accepted(of: source) ?? 0) + 1
        with(i, "logs \(value)\(isPatient ? " patiently" : "")") {
            $0.append(
                .command(source, number: number, Diary.Command(value, isPatient: isPatient)), random: (0, 0),
                isPatient: isPatient, nowMs: $1, into: &$2)
        }
        count("commands")
    }

    // MARK: The coordinator

    /// - Parameter reply: whether the asker hears of it.
    mutating func carryOut(_ k: Int, isLost: Bool = false, isAnswered: Bool = true) {
        let swap = swaps.remove(at: k)
        var result = SwapResult.inDoubt
        if !isLost {
            if record.revision == swap.from {
                replace(by: swap.to, "by \(name(swap.by))")
                result = .won(revision: record.revision)
            } else {
                result = .lost(record)
            }
        }
        guard !swap.isInDoubt else { return }
        answers.append((swap.by, isAnswered ? result : .inDoubt))
    }

    mutating func doubt(_ k: Int) {
        guard !swaps[k].isInDoubt else { return }
        swaps[k].isInDoubt = true
        answers.append((swaps[k].by, .inDoubt))
    }

    mutating func answer(_ k: Int) {
        let (to, result) = answers.remove(at: k)
        if result == .inDoubt { count("doubts") }
        with(to, "swap: \(result)") { $0.swapEnded(result, nowMs: $1, wallMs: 1_700_000_000_000 + $1, into: &$2) }
    }

    mutating func replace(by next: ShardRecord, _ why: String) {
        let before = record.record
        record = VersionedRecord(next, revision: record.revision + 1)
        note { "record \($0.text($0.record)) \(why)" }
        if next.epoch != before.epoch + 1 { fail("epoch \(next.epoch) after \(before.epoch)") }
        if Set(next.members).count != next.members.count { fail("listed twice: \(text(record))") }
        if next.generation != before.generation {
            told = []
            tellers = [:]
            count("generations")
        }
        if next.handover != nil { count("handovers") }
        if next.members.count > before.members.count { count("added") }
        if next.members.count < before.members.count { count("dropped") }
        check("record change")
    }

    /// All replicas are lost: the shard begins anew.
    mutating func beginAnew(primary: Int, backups: [Int]) {
        replace(
            by: ShardRecord(
                generation: record.record.generation + 1, epoch: record.record.epoch + 1, primary: nodes[primary].id,
                backups: backups.map { nodes[$0].id }, rules: 1), "anew")
    }

    mutating func crash(_ i: Int) {
        note { "\($0.name(i)) dies" }
        count("crashes")
        nodes[i].isAlive = false
        boot(nodes[i].id.name, aheadMs: nodes[i].aheadMs &+ 77)
    }

    // MARK: Dialogues

    /// Everything that has been sent arrives, and what is answered to it.
    /// - Parameter isLost: what does not arrive.
    mutating func settle(swaps carries: Bool = true, losing isLost: (Envelope) -> Bool = { _ in false }) {
        for _ in 0..<1_000 {
            if carries, !swaps.isEmpty {
                carryOut(0)
            } else if !answers.isEmpty {
                answer(0)
            } else if let i = living.first(where: { nodes[$0].readings > 0 }) {
                show(i)
            } else if net.isEmpty {
                return
            } else {
                let envelope = net.removeFirst()
                if !isLost(envelope) { deliver(envelope) }
            }
        }
        fail("never ends")
    }

    /// Time passes, in steps of 10 ms, with a tick wherever one is due.
    mutating func pass(
        _ milliseconds: Int64, swaps: Bool = true, losing isLost: (Envelope) -> Bool = { _ in false }
    ) {
        for _ in 0..<milliseconds / 10 {
            nowMs += 10
            for i in living {
                if let due = nodes[i].replica.nextTickMs(), due <= nowMs + nodes[i].aheadMs { tick(i) }
            }
            settle(swaps: swaps, losing: isLost)
        }
    }

    /// All see the record, and the primary starts.
    mutating func begin() {
        for i in living { show(i) }
        settle()
    }

    // MARK: Checks

    /// What a started primary has committed leaves it.
    private mutating func tell(_ i: Int) {
        let replica = nodes[i].replica
        if replica.generation != nodes[i].toldGeneration {
            nodes[i].toldGeneration = replica.generation
            nodes[i].told = 0
        }
        guard replica.mayTell, replica.committed > nodes[i].told, let pages = replica.state?.machine.pages else {
            return
        }
        // A primary that was left behind is not in touch by the time at which a shard may begin anew (rule 8).
        guard replica.generation == record.record.generation else { return }
        if let teller = tellers[replica.epoch], teller != i {
            return fail("\(name(i)) and \(name(teller)) tell in epoch \(replica.epoch)")
        }
        tellers[replica.epoch] = i
        for index in nodes[i].told + 1...replica.committed {
            guard index <= pages.count else { return fail("\(name(i)) has committed \(index) of \(pages.count)") }
            let page = pages[Int(index) - 1]
            if index <= told.count {
                if told[Int(index) - 1] != page { return fail("two truths at \(index): \(name(i)) e\(replica.epoch)") }
            } else {
                told.append(page)
            }
        }
        note { "\($0.name(i)) tells \($0.nodes[i].told + 1)...\(replica.committed)" }
        nodes[i].told = replica.committed
        check("told by \(name(i)) in epoch \(replica.epoch)")
    }

    /// Everything told is held by every living replica of the current record.
    private mutating func check(_ why: String) {
        for id in record.record.members {
            guard let i = index(of: id), nodes[i].isAlive else { continue }
            let pages = nodes[i].replica.state?.machine.pages ?? []
            if !pages.starts(with: told) {
                fail(
                    "taken back (\(why)): \(name(i)) (\(nodes[i].replica.role)) has \(pages.count) of \(told.count)"
                        + " told, in \(text(record))")
            }
        }
    }

    /// Among the living replicas of the current record one log is a prefix of the other, with equal hashes.
    private mutating func compare() {
        let listed = record.record.members.compactMap { index(of: $0) }.filter {
            nodes[$0].isAlive && nodes[$0].replica.state?.generation == record.record.generation
        }
        for (k, i) in listed.enumerated() {
            for j in listed.dropFirst(k + 1) {
                let (one, other) = (nodes[i].replica, nodes[j].replica)
                guard let a = one.state?.machine.pages, let b = other.state?.machine.pages else { continue }
                let common = min(a.count, b.count)
                if a.prefix(common) != b.prefix(common) { fail("logs of \(name(i)) and \(name(j)) differ") }
                if one.last == other.last, one.hash != other.hash { fail("hashes of \(name(i)) and \(name(j)) differ") }
            }
        }
    }

    // MARK: Texts

    func name(_ i: Int) -> String { text(nodes[i].id) }
    func text(_ id: NodeID) -> String { id.short }

    func text(_ record: VersionedRecord) -> String { "r\(record.revision) \(text(record.record))" }

    func text(_ record: ShardRecord) -> String {
        "g\(record.generation) e\(record.epoch) \(text(record.primary)) \(record.backups.map { text($0) })"
            + (record.handover.map { " from \(text($0))" } ?? "")
    }

    func text(_ message: ReplicaMessage) -> String {
        switch message {
        case .prepare(let first, _, let entries, let committed):
            "prepare \(first)..<\(first + UInt64(entries.count)), committed \(committed)"
        case .ack(let last, _, _): "ack \(last)"
        case .start(let record): "start \(text(record))"
        case .position(let last, _, let first, _): "position \(last), tail from \(first)"
        case .refuse(let record): "refuse \(record.map { text($0) } ?? "")"
        case .invite: "invite"
        case .offer(let last, _): "offer \(last)"
        case .snapshot(let index, _, let part, let parts, _): "snapshot \(index), \(part + 1)/\(parts)"
        case .release(_, let last): "release \(last)"
        }
    }

    var summary: String {
        nodes.indices.filter { nodes[$0].isAlive }.map { i in
            let replica = nodes[i].replica
            return "\(name(i)) \(replica.role) e\(replica.epoch) last \(replica.last) committed \(replica.committed)"
                + (replica.isStarted ? " started" : "") + (replica.isHandingOver ? " frozen" : "")
                + (replica.swap.map { " swap \($0)" } ?? "") + (replica.learner.map { " learner \(text($0))" } ?? "")
        }.joined(separator: " | ") + " in \(text(record))"
    }
}

extension ReplicaMessage {
    var kind: String {
        switch self {
        case .prepare: "prepare"
        case .ack: "ack"
        case .start: "start"
        case .position: "position"
        case .refuse: "refuse"
        case .invite: "invite"
        case .offer: "offer"
        case .snapshot: "snapshot"
        case .release: "release"
        }
    }
}

extension NodeID {
    var short: String { "\(name)\(incarnation)" }
}
