import HoldfastProtocol

@testable import holdfast

/// A room with the players a, b and c and their checkers, for streams that a test makes up. The sender is always a.
struct Scene {
    static let frameRate = 20
    static let messageBytes = 48

    let ledger = RoomLedger(
        roomId: "room", frameRate: Scene.frameRate, eventsPerSecond: 200, messageBytes: Scene.messageBytes)
    var members: [String: MemberChecker] = [:]
    var report = BotReport()
    /// The room's newest position.
    var seq: UInt64 = 0

    static let names = ["a", "b", "c"]

    var faults: [Fault: Int] { report.faults.counts }

    init() {
        for (number, name) in Self.names.enumerated() {
            members[name] = MemberChecker(name: name, isSpectator: false)
            _ = ledger.add(sender: name, number: number)
        }
    }

    // MARK: raw

    mutating func send(_ message: ServerMessage, to name: String) {
        members[name]?.received(message, nowUs: 1, ledger: ledger, report: &report)
    }

    mutating func send(_ body: ServerMessage.Body, seq: UInt64, to name: String) {
        send(ServerMessage(seq: seq, body: body), to: name)
    }

    mutating func send(_ frame: Frame, seq: UInt64, to name: String) { send(.frame(frame), seq: seq, to: name) }

    // MARK: coming

    mutating func connect() {
        for name in Self.names { greet(name) }
    }

    private mutating func greet(_ name: String) {
        members[name]?.linkOpened()
        members[name]?.sent(ClientMessage(id: 1, body: .connect(Connect())), isAgain: false)
        send(ServerMessage(id: 1, body: .connected(Connected(playerId: name))), to: name)
    }

    mutating func join() {
        connect()
        seq = 1
        for name in Self.names { seat(name, nil) }
    }

    private mutating func seat(_ name: String, _ frameSync: FrameSyncInfo?) {
        members[name]?.sent(ClientMessage(id: 2, body: .joinRoom(JoinRoom())), isAgain: false)
        let joined = RoomJoined(room: RoomInfo(id: "room"), roomSeq: seq, frameSync: frameSync)
        send(ServerMessage(id: 2, body: .roomJoined(joined)), to: name)
    }

    mutating func enter(_ name: String, isSpectator: Bool, frameSync: FrameSyncInfo?) {
        members[name] = MemberChecker(name: name, isSpectator: isSpectator)
        greet(name)
        seat(name, frameSync)
    }

    mutating func start() {
        join()
        seq += 1
        for name in Self.names { send(.frameSyncStarted(FrameSyncInfo(frameSyncId: 1)), seq: seq, to: name) }
    }

    // MARK: playing

    /// The next position of the room is this frame's; only `names` get it.
    mutating func frame(_ id: UInt32, inputs: [FrameInput] = [], to names: [String] = Scene.names) {
        seq += 1
        for name in names { send(Frame(id: id, inputs: inputs), seq: seq, to: name) }
    }

    /// `frames` in place of the empty ones with the ids.
    mutating func batch(
        _ ids: [UInt32], frames: [Frame] = [], firstKept: UInt32 = 1, seq: UInt64, to name: String
    ) {
        let list = frames + ids.map { Frame(id: $0) }
        send(.frames(Frames(frames: list, firstKept: firstKept, frameSyncId: 1)), seq: seq, to: name)
    }

    /// a sends an input.
    mutating func input(id: UInt32, of name: String) -> FrameInput {
        let content = Content.input(of: 0, number: id, bytes: 32)
        members[name]?.sent(input: id, atUs: 1)
        ledger.sent(input: id, content: content, by: 0)
        return FrameInput(playerId: name, payload: .dataBytes(content), id: id)
    }

    /// a sends its next message, which takes a position; `names` and `also` get it.
    mutating func message(_ number: UInt32, to names: [String], also: [String]) {
        _ = ledger.nextMessage(by: 0)
        seq += 1
        for name in names + also { messageEvent(number, seq: seq, to: name) }
    }

    mutating func messageEvent(_ number: UInt32, seq: UInt64, to name: String) {
        let text = Content.message(of: 0, number: number, sentUs: 1, bytes: Scene.messageBytes)
        send(.customMessageReceived(CustomMessageReceived(playerId: "a", msg: text)), seq: seq, to: name)
    }

    // MARK: drops

    mutating func cut(_ name: String) { members[name]?.linkOpened() }

    mutating func resume(_ name: String, restarted: Bool = false) {
        members[name]?.linkOpened()
        let connected = Connected(
            playerId: name, resumed: true, room: RoomInfo(id: "room"), roomSeq: seq, roomRestarted: restarted)
        send(ServerMessage(id: 3, body: .connected(connected)), to: name)
    }

    // MARK: ends

    mutating func play() {
        start()
        frame(1, inputs: [input(id: 20, of: "a"), input(id: 21, of: "a")])
        message(1, to: ["b", "c"], also: [])
        message(2, to: ["b", "c"], also: [])
        frame(2, inputs: [input(id: 22, of: "a")])
        end()
    }

    /// Stop, dismissal, and the checks at the end.
    mutating func end() {
        let all = members.keys.sorted()
        seq += 1
        for name in all { send(.frameSyncStopped(FrameSyncStopped(frameSyncId: 1)), seq: seq, to: name) }
        seq += 1
        for name in all { send(.roomDismissed(RoomDismissed(roomId: "room")), seq: seq, to: name) }
        for name in all { members[name]?.finish(ledger: ledger, report: &report) }
    }

    /// What the comparison of the whole streams finds.
    func compared() -> [Fault: Int] {
        var report = BotReport()
        MemberChecker.compare(
            members.values.sorted { $0.name < $1.name }.filter { $0.name != "c" }, roomId: "room", report: &report)
        return report.faults.counts
    }
}
