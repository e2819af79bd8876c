import HoldfastProtocol
import Testing

@testable import HoldfastClient

/// Plays a dialogue with a machine: lines at the margin are inputs, indented ones what it orders. `run` plays the
/// inputs again and gives back the whole text as it really went, to be compared.
struct Dialogue {
    var machine: ClientMachine
    var oracle = Oracle()
    var nowMs: Int64 = 0
    private var armedAtMs: Int64?
    private var link = LinkID(0)
    private var connectId: UInt32 = 0
    private var lines: [String] = []

    init(endpoints: Int = 1, jitter: Bool = false, _ change: (inout ClientOptions) -> Void = { _ in }) {
        var options = ClientOptions()
        options.endpointCount = endpoints
        if !jitter { options.firstDelayMs = 0 }
        change(&options)
        machine = ClientMachine(options: options, seed: 1)
    }

    static func check(
        _ golden: String, endpoints: Int = 1, at location: SourceLocation = #_sourceLocation,
        _ change: (inout ClientOptions) -> Void = { _ in }
    ) throws {
        var dialogue = Dialogue(endpoints: endpoints, change)
        let actual = try dialogue.run(golden)
        #expect(actual == golden, "it really went:\n\(actual)", sourceLocation: location)
    }

    mutating func run(_ text: String) throws -> String {
        lines = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("  ") { continue }
            lines.append(String(line))
            let words = line.split(separator: " ").map(String.init)
            guard let first = words.first, !first.hasPrefix("//") else { continue }
            try play(first, Array(words.dropFirst()))
        }
        return lines.joined(separator: "\n")
    }

    private mutating func play(_ kind: String, _ words: [String]) throws {
        switch kind {
        case "app": try app(words)
        case "token": try give(words[0] == "fails" ? .tokenFailed(.network("no token")) : .token(words[0]))
        case "link":
            switch words[0] {
            case "up": try give(.linkOpened(link))
            case "down": try give(.linkClosed(link, reason: "closed"))
            case "ping": try give(.linkActive(link, atMs: nowMs))
            case "garbage": try give(.malformed(link, reason: "garbage"))
            default: throw Oracle.Illegal(description: "no such link line: \(words)")
            }
        case "srv": try give(.received(link, ServerLine(words, connectId: connectId).message))
        case "late": try give(.received(LinkID(link.number - 1), ServerLine(words, connectId: connectId).message))
        case "wait": try wait(Int64(words[0]) ?? 0)
        case "room":
            let room = machine.room
            lines.append("  " + (room.map(Render.room) ?? "none"))
        default: throw Oracle.Illegal(description: "no such line: \(kind) \(words)")
        }
    }

    private mutating func app(_ words: [String]) throws {
        switch words[0] {
        case "sleep": try give(.sleep(.network("asleep")))
        case "wake": try give(.wake)
        default:
            var effects: [ClientEffect] = []
            let id = machine.call(Self.body(words), nowMs: nowMs, into: &effects)
            try oracle.called(id)
            try carryOut(effects)
        }
    }

    mutating func give(_ input: ClientInput) throws {
        oracle.saw(input)
        try carryOut(machine.handle(input, nowMs: nowMs))
    }

    private mutating func wait(_ ms: Int64) throws {
        let untilMs = nowMs + ms
        while let dueMs = armedAtMs, dueMs <= untilMs {
            nowMs = max(nowMs, dueMs)
            armedAtMs = nil
            let before = lines.count
            lines.append("  at \(nowMs)")
            try give(.deadline)
            if lines.count == before + 1 { lines.removeLast() }
        }
        nowMs = untilMs
    }

    private mutating func carryOut(_ effects: [ClientEffect]) throws {
        for effect in effects {
            try oracle.check(effect)
            switch effect {
            case .armDeadline(let atMs):
                guard atMs >= nowMs else { throw Oracle.Illegal(description: "arms \(atMs) at \(nowMs)") }
                armedAtMs = atMs
                continue
            case .openLink(let opened, _): link = opened
            case .send(_, let message): if case .connect? = message.body { connectId = message.id }
            default: break
            }
            lines.append("  " + Render.effect(effect))
        }
    }

    private static func body(_ words: [String]) -> ClientMessage.Body {
        let argument = words.count > 1 ? words[1] : ""
        switch words[0] {
        case "connect": return .connect(Connect())
        case "disconnect": return .disconnect(Disconnect())
        case "create": return .createRoom(CreateRoom(room: RoomConfig(maxPlayerCount: 4, type: argument)))
        case "match": return .matchRoom(MatchRoom(timeoutMs: UInt32(argument) ?? 0))
        case "cancelMatch": return .cancelMatch(CancelMatch())
        case "list": return .getRoomList(GetRoomList())
        case "join": return .joinRoom(JoinRoom(roomId: argument))
        case "leave": return .leaveRoom(LeaveRoom())
        case "say": return .sendCustomMessage(SendCustomMessage(msg: argument))
        case "start": return .startFrameSync(StartFrameSync())
        case "input": return .sendFrameInput(SendFrameInput(payload: .data(argument)))
        case "hash": return .reportFrameHash(ReportFrameHash(frameId: UInt32(argument) ?? 0, hash: [1]))
        case "frames": return .getFrames(GetFrames(first: 1, last: UInt32(argument) ?? 0))
        default: fatalError("no such call: \(words)")
        }
    }
}
