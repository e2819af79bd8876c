import HoldfastProtocol
import HoldfastSimulator
import Testing

/// A dialogue of some clients with a server, message by message, as the checker is shown it. Players a, b, c; device 3
/// is a second one of a.
struct Talk {
    var checker = ClientChecker(
        project: "sim", players: ["a", "b", "c"], owners: [0, 1, 2, 0],
        limits: Limits(), layout: ShardLayout(entityShards: 4, matchShards: 1))
    var nowMs: Int64 = 10_000
    private var lastLink: UInt32 = 0
    /// By device.
    private(set) var link: [Int: SimLink] = [:]
    private var ids: [Int: UInt32] = [:]

    static let names = ["a", "b", "c", "a"]

    var found: [Int] { checker.violations.map(\.invariant) }

    func what() -> String { checker.violations.map(\.description).joined(separator: "; ") }

    // MARK: Links

    mutating func open(_ device: Int) {
        lastLink += 1
        let new = SimLink(number: lastLink)
        link[device] = new
        checker.opening(new, device: device, endpoint: 0, nowMs: nowMs)
    }

    /// A new run.
    mutating func connect(_ device: Int, run: String, room: RoomInfo? = nil, seq: UInt64 = 0) {
        open(device)
        say(device, 1, .connect(Connect(token: "sim/\(Self.names[device])")))
        hear(
            device,
            .connected(
                Connected(
                    playerId: Self.names[device], resumeToken: run, resumed: false, room: room, roomSeq: seq,
                    roomRestarted: room != nil)), id: 1)
    }

    mutating func resume(_ device: Int, _ resume: Resume, _ connected: Connected) {
        open(device)
        let id = nextId(device)
        say(device, id, .connect(Connect(resume: resume)))
        var connected = connected
        connected.playerId = Self.names[device]
        connected.resumeToken = resume.resumeToken
        connected.resumed = true
        hear(device, .connected(connected), id: id)
    }

    mutating func cut(_ device: Int) {
        guard let link = link[device] else { return }
        checker.closed(link, byClient: true, nowMs: nowMs)
    }

    // MARK: Words

    mutating func nextId(_ device: Int) -> UInt32 {
        ids[device, default: 100] += 1
        return ids[device] ?? 0
    }

    mutating func say(_ device: Int, _ id: UInt32, _ body: ClientMessage.Body) {
        guard let link = link[device] else { return }
        checker.sent(ClientMessage(id: id, body: body), on: link, nowMs: nowMs)
    }

    mutating func hear(_ device: Int, _ body: ServerMessage.Body, id: UInt32 = 0, seq: UInt64 = 0) {
        guard let link = link[device] else { return }
        checker.received(ServerMessage(id: id, seq: seq, body: body), on: link, nowMs: nowMs)
    }

    /// The same for several.
    mutating func hear(_ devices: [Int], _ seq: UInt64, _ body: ServerMessage.Body) {
        for device in devices { hear(device, body, seq: seq) }
    }

    /// Sent, and answered with ok.
    mutating func ask(_ device: Int, _ body: ClientMessage.Body, _ reply: ServerMessage.Body = .ok(Ok())) {
        let id = nextId(device)
        say(device, id, body)
        hear(device, reply, id: id)
    }

    // MARK: Scenes

    static func room(_ players: [String], online: [Bool] = [], owner: String? = nil, max: UInt32 = 3) -> RoomInfo {
        RoomInfo(
            id: "r", type: "duel", ownerId: owner ?? players.first ?? "", maxPlayerCount: max,
            players: players.enumerated().map {
                PlayerInfo(id: $1, status: online.isEmpty || online[$0] ? 1 : 0)
            })
    }

    static func info(_ id: String) -> PlayerInfo { PlayerInfo(id: id, status: 1) }

    /// Players a and b in room r, at position 2.
    static func two() -> Talk {
        var talk = Talk()
        talk.connect(0, run: "run-a")
        talk.connect(1, run: "run-b")
        talk.ask(
            0, .createRoom(CreateRoom(room: RoomConfig(maxPlayerCount: 3, type: "duel"))),
            .roomJoined(RoomJoined(room: room(["a"]), roomSeq: 1)))
        talk.ask(1, .joinRoom(JoinRoom(roomId: "r")), .roomJoined(RoomJoined(room: room(["a", "b"]), roomSeq: 2)))
        talk.hear(
            0, .playerEntered(PlayerEntered(roomId: "r", player: info("b"), roomOwnerId: "a")), seq: 2)
        return talk
    }

    /// As `two`, and frame sync 1 runs since position 3.
    static func playing() -> Talk {
        var talk = two()
        talk.ask(0, .startFrameSync(StartFrameSync()))
        let started = FrameSyncInfo(roomInfo: room(["a", "b"]), frameSyncId: 1, serverTime: 1_000, frameRate: 10)
        talk.hear([0, 1], 3, .frameSyncStarted(started))
        return talk
    }

    static func message(_ text: String, from player: String) -> ServerMessage.Body {
        .customMessageReceived(CustomMessageReceived(playerId: player, msg: text))
    }

    static func say(_ text: String, to: [String]? = nil) -> ClientMessage.Body {
        .sendCustomMessage(SendCustomMessage(msg: text, type: to == nil ? 0 : 1, receivers: to ?? []))
    }

    static func input(_ text: String, sync: UInt32 = 1) -> ClientMessage.Body {
        .sendFrameInput(SendFrameInput(payload: .data(text), frameSyncId: sync))
    }

    static func taken(_ text: String, _ id: UInt32, by player: String, at timeMs: Int64 = 1_100) -> FrameInput {
        FrameInput(playerId: player, payload: .data(text), serverTime: timeMs, id: id)
    }

    static func frame(_ id: UInt32, _ inputs: [FrameInput] = []) -> ServerMessage.Body {
        .frame(Frame(id: id, inputs: inputs))
    }

    static func status(_ number: Int, of device: Int) -> Int32 { Int32(device << 20 | number) }
}

/// Plays a scene and expects these violations, or none.
func expect(
    _ invariants: [Int], from scene: Talk = .two(), location: SourceLocation = #_sourceLocation,
    _ play: (inout Talk) -> Void
) {
    var talk = scene
    #expect(talk.found == [], "\(talk.what())", sourceLocation: location)
    play(&talk)
    #expect(talk.found == invariants, "\(talk.what())", sourceLocation: location)
}
