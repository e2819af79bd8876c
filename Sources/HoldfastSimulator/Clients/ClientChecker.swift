import HoldfastModel
public import HoldfastProtocol

/// What must hold of what clients are told (`spec/simulation.md`: 5, 6, 7 and the told parts of 8, 9, 11, 12, 14, 16),
/// at each client and between them. It is fed with every message that a client sends and gets, and knows nothing of
/// nodes but what the world tells it. Times are the simulation's own, in milliseconds.
///
/// It keeps sums and positions of what was told, no messages; over the bounds of its tables it compares less.
public struct ClientChecker: Sendable {
    /// What was found, oldest first; not more than `violationsKept`.
    public private(set) var violations: [Violation] = []
    public static let violationsKept = 20
    /// Cheaper to ask than `violations`.
    public var isClean: Bool { violations.isEmpty }

    /// How far a node's clock may be from the world's over the length of a window.
    public var clockSlackMs: Int64 = 150
    let offlineAfterMs: Int64
    let resumeWindowMs: Int64
    let rememberedRequests: Int
    /// No presence deadline comes sooner after a failover.
    static let holdOffMs: Int64 = 2_500
    /// What a slow reader has not read yet may be so old.
    static let unreadMs: Int64 = 4_000
    static let contentsKept = 200_000
    static let roomsKept = 20_000

    let project: String
    let players: [String]
    /// By device: its player.
    let owners: [Int]
    let layout: ShardLayout
    let homes: [ShardID]
    private var playerNumbers: [String: Int] = [:]

    /// By number of the link.
    var links: [CheckedLink?] = []
    var runs: [CheckedRun] = []
    private var runNumbers: [String: Int] = [:]
    var rooms: [RoomTruth] = []
    private var roomNumbers: [String: Int] = [:]
    var contents: [Content: CheckedContent] = [:]
    /// By device, by number less one.
    var inputs: [[CheckedInput]]
    /// By device: its newest link.
    var newestLink: [SimLink?]
    /// By player: when a `leaveRoom` or `disconnect` of it was sent last, and a connect with a token.
    var leaveSentMs: [Int64]
    var tokenConnects: [[(link: SimLink, atMs: Int64)]]
    /// By home: when its epochs started.
    var epochs: [ShardID: [Int64]] = [:]
    var lost: [ShardID: Int64] = [:]
    private(set) var nowMs: Int64 = 0

    /// - Parameter owners: by device, the number of its player in `players`.
    public init(project: String, players: [String], owners: [Int], limits: Limits, layout: ShardLayout) {
        self.project = project
        self.players = players
        self.owners = owners
        self.layout = layout
        homes = players.map { layout.home(of: PlayerKey(project: project, id: $0).shard) }
        offlineAfterMs = Int64(min(limits.offlineAfterMs, limits.resumeWindowMs))
        resumeWindowMs = Int64(limits.resumeWindowMs)
        rememberedRequests = limits.rememberedRequests
        inputs = Array(repeating: [], count: owners.count)
        newestLink = Array(repeating: nil, count: owners.count)
        leaveSentMs = Array(repeating: .min / 2, count: players.count)
        tokenConnects = Array(repeating: [], count: players.count)
        for (number, player) in players.enumerated() { playerNumbers[player] = number }
    }

    mutating func found(_ invariant: Int, _ what: String, nowMs: Int64) {
        time(nowMs)
        violate(invariant, what)
    }

    mutating func time(_ atMs: Int64) { nowMs = max(nowMs, atMs) }

    mutating func violate(_ invariant: Int, _ what: String) {
        guard violations.count < Self.violationsKept else { return }
        violations.append(Violation(invariant, "\(nowMs) ms, \(what)"))
    }

    // MARK: What the world tells

    /// The home began anew, empty: what lived there is lost. To be told before any client can hear of it.
    public mutating func shardLost(_ home: ShardID, nowMs: Int64) {
        self.nowMs = max(self.nowMs, nowMs)
        lost[home] = nowMs
        for index in rooms.indices where rooms[index].home == home { rooms[index].isLost = true }
        for index in runs.indices where homes[runs[index].player] == home { runs[index].isLost = true }
    }

    /// A new primary of the home opened.
    public mutating func epochStarted(_ home: ShardID, nowMs: Int64) {
        var list = epochs[home] ?? []
        list.append(nowMs)
        if list.count > 64 { list.removeFirst() }
        epochs[home] = list
    }

    /// The gateway there, or the way to it from clients or nodes, is not well: what its links show of who is connected
    /// is not exact.
    public mutating func disturbed(endpoint: Int, nowMs: Int64) {
        for index in links.indices where links[index]?.endpoint == endpoint {
            if links[index]?.isClosed == false { links[index]?.isDisturbed = true }
        }
    }

    /// As `disturbed(endpoint:nowMs:)`, for one link: its client does not read, say.
    public mutating func disturbed(_ link: SimLink) { update(link) { $0.isDisturbed = true } }

    // MARK: What clients do

    public mutating func opening(_ link: SimLink, device: Int, endpoint: Int, nowMs: Int64) {
        self.nowMs = nowMs
        while links.count <= link.index { links.append(nil) }
        links[link.index] = CheckedLink(link: link, device: device, player: owners[device], endpoint: endpoint)
        newestLink[device] = link
    }

    public mutating func closed(_ link: SimLink, byClient: Bool, nowMs: Int64) {
        self.nowMs = nowMs
        update(link) {
            if $0.isClosed { return }
            $0.isClosed = true
            $0.closedMs = nowMs
            $0.isCutByClient = byClient
            $0.owed = [:]
            $0.inputs = []
            $0.unplaced = []
        }
    }

    public mutating func sent(_ message: ClientMessage, on link: SimLink, nowMs: Int64) {
        self.nowMs = nowMs
        guard let body = message.body, var view = take(link) else { return }
        defer { put(view) }
        switch body {
        case .connect(let connect): sent(connect, id: message.id, on: &view)
        case .ping, .reportFrameHash: break
        case .disconnect:
            leaveSentMs[view.player] = nowMs
            if view.run >= 0 { runs[view.run].isEnding = true }
            view.owed[message.id, default: 0] += 1
        case .sendFrameInput(let input): sent(input, id: message.id, on: &view)
        default:
            if case .leaveRoom = body { leaveSentMs[view.player] = nowMs }
            sent(request: body, id: message.id, on: &view)
        }
    }

    private mutating func sent(_ connect: Connect, id: UInt32, on view: inout CheckedLink) {
        view.connectId = id
        view.connectMs = nowMs
        view.resume = connect.resume
        view.owed[id, default: 0] += 1
        if !connect.token.isEmpty {
            tokenConnects[view.player].append((view.link, nowMs))
            if tokenConnects[view.player].count > 64 { tokenConnects[view.player].removeFirst() }
        }
    }

    // MARK: What clients hear

    public mutating func received(_ message: ServerMessage, on link: SimLink, nowMs: Int64) {
        self.nowMs = nowMs
        guard var view = take(link) else { return }
        defer { put(view) }
        if view.isClosed { return }
        guard let body = message.body else {
            violate(5, "\(name(view)) got a message without a body")
            return
        }
        switch body {
        // A gateway says these by itself, also one that no shard has heard for long.
        case .error, .pong, .disconnected: break
        // What comes on a link that is not well may be as old as that.
        default: if view.run >= 0, !view.isDisturbed { runs[view.run].lastHeardMs = nowMs }
        }
        if case .disconnected(let last) = body {
            disconnected(last, on: &view)
        } else if !view.isConnected {
            handshake(message, body, on: &view)
        } else if message.id != 0 {
            reply(message.id, body, on: &view)
        } else {
            event(message, body, on: &view)
        }
    }

    private mutating func disconnected(_ last: Disconnected, on view: inout CheckedLink) {
        switch ErrorCode(rawValue: last.code) {
        case .replaced:
            let began = view.isConnected && view.run >= 0 ? runs[view.run].begunMs : view.connectMs
            if !mayHaveBegunRun(view.player, since: began, besides: view.link) {
                violate(12, "\(name(view)) was replaced, and nobody else connected")
            }
        case .serverError:
            // A shard that counted the link's node as lost ends it so, too.
            if lost.isEmpty, !view.isDisturbed {
                violate(4, "\(name(view)) is told that something is lost, which is not so")
            }
        case .success:
            if view.run >= 0 {
                if !runs[view.run].isEnding { violate(6, "\(name(view)) got a goodbye that it did not ask for") }
                runs[view.run].isOver = true
            }
        default: break
        }
        let mayReconnect = ErrorCode(rawValue: last.code)?.mayReconnect ?? false
        if last.mayReconnect != mayReconnect { violate(5, "\(name(view)): mayReconnect is wrong for \(last.code)") }
    }

    /// Whether another connect of the player may have begun a run after the one that began then. One that was not
    /// answered by then may be done at any time.
    func mayHaveBegunRun(_ player: Int, since atMs: Int64, besides link: SimLink) -> Bool {
        tokenConnects[player].contains { connect in
            guard connect.link != link else { return false }
            return connect.atMs >= atMs
                || connect.atMs >= nowMs - 20_000 && links[connect.link.index]?.connectedMs ?? .max >= atMs
        }
    }

    // MARK: Names and numbers

    /// Takes a link out of the table, so that it can be changed beside the rest. To be put back.
    mutating func take(_ link: SimLink) -> CheckedLink? {
        guard link.index < links.count, let view = links[link.index] else { return nil }
        links[link.index] = nil
        return view
    }

    mutating func put(_ view: CheckedLink) { links[view.link.index] = view }

    private mutating func update(_ link: SimLink, _ change: (inout CheckedLink) -> Void) {
        guard var view = take(link) else { return }
        change(&view)
        put(view)
    }

    func name(_ view: CheckedLink) -> String { "\(players[view.player])/\(view.device) on link \(view.link.number)" }

    /// −1: no player of ours.
    func number(ofPlayer id: String) -> Int { playerNumbers[id] ?? -1 }

    func run(of resumeToken: String) -> Int? { runNumbers[resumeToken] }

    mutating func add(_ run: CheckedRun) -> Int {
        runNumbers[run.resumeToken] = runs.count
        runs.append(run)
        return runs.count - 1
    }

    /// −1: too many to be kept.
    mutating func number(ofRoom id: String) -> Int {
        if let known = roomNumbers[id] { return known }
        guard rooms.count < Self.roomsKept else { return -1 }
        roomNumbers[id] = rooms.count
        let home = layout.home(of: RoomKey(project: project, id: id).shard)
        rooms.append(RoomTruth(id: id, number: rooms.count, home: home))
        return rooms.count - 1
    }
}
