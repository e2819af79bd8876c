import HoldfastProtocol
import HoldfastReplication

/// A few nodes with their clocks, the links between them, and a coordinator with leases, in one thread. What changes in
/// the nodes' views is written down, a line each.
struct MembershipScene {
    struct Process {
        var machine: MembershipMachine
        let info: NodeInfo
        /// Added to the world's time for its own clock.
        let offsetMs: Int64
        var isRunning = true
        var pausedUntilMs: Int64 = 0
        /// The view as it was when it was last written down.
        var seen: MembershipView
        var renewedMs: Int64
        var isRegistered = true
        /// What came while it stood still.
        var waiting: [Event] = []
    }

    enum Event {
        case heartbeat(from: NodeID, to: NodeID, Heartbeat)
        case probed(by: NodeID, NodeID, isRefused: Bool)
        case linkEnded(at: NodeID, with: NodeID)
        case listing(at: NodeID, [NodeInfo], revision: UInt64, askedMs: Int64)
    }

    var nowMs: Int64 = 0
    var processes: [Process] = []
    /// Cut from the first to the second.
    var cuts: Set<[String]> = []
    /// Cut off from the coordinator.
    var away: Set<String> = []
    var lines: [String] = []
    var leaseMs: Int64 = 6_000
    private var revision: UInt64 = 0
    private var sequence = 0
    private var events: [(atMs: Int64, sequence: Int, event: Event)] = []
    private var settings = MembershipSettings()

    init(_ names: String, settings: MembershipSettings = MembershipSettings()) {
        self.settings = settings
        for name in names.split(separator: " ") { start(String(name)) }
        run(for: 2_000)
        lines = []
    }

    func id(_ name: String) -> NodeID {
        processes.last { $0.info.id.name == name }?.info.id ?? NodeID(name: name, incarnation: 0)
    }

    func view(_ name: String) -> MembershipView { processes[at(name)].machine.view }

    /// As its own host would ask, at this moment.
    func mayTell(_ name: String) -> Bool {
        let process = processes[at(name)]
        return process.machine.view.mayTell(atMs: nowMs + process.offsetMs)
    }

    private func at(_ name: String) -> Int { processes.lastIndex { $0.info.id.name == name } ?? 0 }

    // MARK: What happens

    mutating func start(_ name: String) {
        revision += 1
        let info = NodeInfo(id: NodeID(name: name, incarnation: revision), host: "h-\(name)")
        let offset = Int64(revision) * 1_000_000
        for at in processes.indices where processes[at].info.id.name == name { processes[at].isRegistered = false }
        let machine = MembershipMachine(own: info, settings: settings, nowMs: nowMs + offset)
        processes.append(
            Process(
                machine: machine, info: info, offsetMs: offset, seen: machine.view, renewedMs: nowMs))
        announce()
    }

    mutating func kill(_ name: String) {
        let dead = at(name)
        processes[dead].isRunning = false
        for other in processes where other.isRunning {
            schedule(2, .linkEnded(at: other.info.id, with: processes[dead].info.id))
        }
    }

    /// The machine is gone: nobody refuses anything.
    mutating func vanish(_ name: String) {
        processes[at(name)].isRunning = false
        for other in processes where other.info.id.name != name { cut(name, other.info.id.name) }
    }

    mutating func pause(_ name: String, for ms: Int64) { processes[at(name)].pausedUntilMs = nowMs + ms }

    mutating func cut(_ a: String, _ b: String, oneWay: Bool = false) {
        cuts.insert([a, b])
        if !oneWay { cuts.insert([b, a]) }
    }

    mutating func heal() { cuts = [] }

    mutating func forget(_ name: String, at other: String) {
        let node = id(name)
        input(at(other)) { $0.forget(node, nowMs: $1, into: &$2) }
    }

    mutating func name(_ nodes: [NodeID], at other: String) {
        input(at(other)) { $0.named(Set(nodes), nowMs: $1, into: &$2) }
    }

    // MARK: How it goes on

    mutating func run(for ms: Int64) {
        let endMs = nowMs + ms
        while nowMs < endMs {
            if nowMs % 1_000 == 0 { askCoordinator() }
            for at in processes.indices where isAwake(at) { wake(at) }
            while let first = events.first, first.atMs <= nowMs {
                events.removeFirst()
                carryOut(first.event)
            }
            var nextMs = min(endMs, nowMs / 1_000 * 1_000 + 1_000)
            if let first = events.first { nextMs = min(nextMs, first.atMs) }
            for at in processes.indices where processes[at].isRunning {
                let dueMs = processes[at].machine.nextDeadlineMs() - processes[at].offsetMs
                nextMs = min(nextMs, max(dueMs, processes[at].pausedUntilMs))
            }
            nowMs = max(nowMs + 1, nextMs)
        }
    }

    private func isAwake(_ at: Int) -> Bool { processes[at].isRunning && nowMs >= processes[at].pausedUntilMs }

    private mutating func wake(_ at: Int) {
        if processes[at].machine.nextDeadlineMs() <= nowMs + processes[at].offsetMs {
            input(at) { $0.tick(nowMs: $1, into: &$2) }
        }
        let waiting = processes[at].waiting
        processes[at].waiting = []
        for event in waiting { carryOut(event) }
    }

    private mutating func schedule(_ inMs: Int64, _ event: Event) {
        sequence += 1
        let atMs = nowMs + inMs
        let place = events.lastIndex { $0.atMs <= atMs }.map { $0 + 1 } ?? 0
        events.insert((atMs, sequence, event), at: place)
    }

    private mutating func carryOut(_ event: Event) {
        let target: NodeID
        switch event {
        case .heartbeat(_, let to, _): target = to
        case .probed(let by, _, _): target = by
        case .linkEnded(let at, _), .listing(let at, _, _, _): target = at
        }
        guard let at = processes.firstIndex(where: { $0.info.id == target }), processes[at].isRunning else { return }
        guard isAwake(at) else {
            processes[at].waiting.append(event)
            return
        }
        switch event {
        case .heartbeat(let from, _, let beat): input(at) { $0.heartbeat(from: from, beat, nowMs: $1, into: &$2) }
        case .probed(_, let node, let isRefused):
            if isRefused { input(at) { $0.refused(node, nowMs: $1, into: &$2) } }
        case .linkEnded(_, let node): input(at) { $0.linkEnded(with: node, nowMs: $1, into: &$2) }
        case .listing(_, let nodes, let revision, let askedMs):
            input(at) {
                $0.registrations(nodes, revision: revision, askedAtMs: askedMs, nowMs: $1, into: &$2)
            }
        }
    }

    private mutating func input(
        _ at: Int, _ body: (inout MembershipMachine, Int64, inout [MembershipMachine.Effect]) -> Void
    ) {
        var effects: [MembershipMachine.Effect] = []
        body(&processes[at].machine, nowMs + processes[at].offsetMs, &effects)
        let own = processes[at].info.id
        for effect in effects {
            switch effect {
            case .send(let to, let beat):
                if !cuts.contains([own.name, to.name]) { schedule(2, .heartbeat(from: own, to: to, beat)) }
            case .probe(let node):
                guard let other = processes.first(where: { $0.info.id == node }) else { continue }
                if cuts.contains([own.name, node.name]) || cuts.contains([node.name, own.name]) { continue }
                schedule(1, .probed(by: own, node, isRefused: !other.isRunning))
            case .changed: note(at)
            }
        }
    }

    // MARK: The coordinator

    private func listing() -> [NodeInfo] { processes.filter(\.isRegistered).map(\.info) }

    private mutating func announce() {
        for at in processes.indices where isAwake(at) && !away.contains(processes[at].info.id.name) {
            let process = processes[at]
            let asked = nowMs + process.offsetMs
            schedule(3, .listing(at: process.info.id, listing(), revision: revision, askedMs: asked))
        }
    }

    private mutating func askCoordinator() {
        var isChanged = false
        for at in processes.indices {
            let process = processes[at]
            if isAwake(at), !away.contains(process.info.id.name) {
                processes[at].renewedMs = nowMs
                let isReplaced = processes.contains {
                    $0.info.id.name == process.info.id.name && $0.info.id.incarnation > process.info.id.incarnation
                }
                if !process.isRegistered && !isReplaced {
                    processes[at].isRegistered = true
                    isChanged = true
                }
            } else if process.isRegistered, nowMs - process.renewedMs > leaseMs {
                processes[at].isRegistered = false
                isChanged = true
            }
        }
        if isChanged { revision += 1 }
        announce()
    }

    // MARK: What is written down

    private mutating func note(_ at: Int) {
        let old = processes[at].seen
        let new = processes[at].machine.view
        processes[at].seen = new
        let who = "\(nowMs) \(processes[at].info.id.name)"
        func differ(_ word: String, _ before: Set<NodeID>, _ after: Set<NodeID>) {
            for node in after.subtracting(before).sorted() { lines.append("\(who): \(word) \(text(node))") }
            for node in before.subtracting(after).sorted() { lines.append("\(who): no longer \(word) \(text(node))") }
        }
        differ("listed", Set(old.nodes.map(\.id)), Set(new.nodes.map(\.id)))
        differ("dead", old.dead, new.dead)
        differ("silent", old.silent, new.silent)
        differ("lost", old.lost, new.lost)
        if old.maySwap != new.maySwap { lines.append("\(who): \(new.maySwap ? "may" : "must not") swap") }
        if old.mayTell != new.mayTell { lines.append("\(who): \(new.mayTell ? "may" : "must not") tell") }
    }

    private func text(_ node: NodeID) -> String {
        let isNewest = id(node.name) == node
        return isNewest ? node.name : "old \(node.name)"
    }
}
