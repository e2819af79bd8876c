import HoldfastProtocol

/// A server with one room and one client, just enough of `rooms.md` to see whether a machine keeps its side: runs,
/// resume by seq and by frame, answers remembered, inputs taken once, at most 5 a frame.
struct MiniServer {
    enum Entry {
        case event(UInt64, ServerMessage.Body)
        case frame(UInt64, Frame)

        var seq: UInt64 {
            switch self {
            case .event(let seq, _), .frame(let seq, _): seq
            }
        }
    }

    private(set) var runNumber = 0
    private var answers: [UInt32: ServerMessage.Body] = [:]
    private var lastInputId: UInt32 = 0
    private var seq: UInt64 = 0
    private var log: [Entry] = []
    private var openInputs: [FrameInput] = []
    private var isAttached = false
    /// What the link's stream has sent.
    private(set) var frameId: UInt32 = 0
    /// How often each message of the client's was taken, over all runs.
    private(set) var executed: [String: Int] = [:]
    private(set) var sealed: [String] = []
    private(set) var saidCount = 0
    /// Every so many calls get 1 with `retryAfterMs` first.
    var refusesEvery = 0
    private var callCount = 0
    var outbox: [ServerMessage] = []

    init() {
        append(.playerEntered(PlayerEntered(player: PlayerInfo(id: "me", status: 1))))
        append(.frameSyncStarted(FrameSyncInfo(frameSyncId: 1)))
    }

    private var room: RoomInfo { RoomInfo(id: "r", ownerId: "me", players: [PlayerInfo(id: "me", status: 1)]) }
    private var info: FrameSyncInfo { FrameSyncInfo(frameSyncId: 1, frameId: frameId) }

    private mutating func append(_ body: ServerMessage.Body) {
        seq += 1
        log.append(.event(seq, body))
        if isAttached { outbox.append(ServerMessage(seq: seq, body: body)) }
    }

    mutating func say() {
        saidCount += 1
        append(.customMessageReceived(CustomMessageReceived(playerId: "b", msg: "\(saidCount)")))
    }

    mutating func seal() {
        frameId += 1
        seq += 1
        let frame = Frame(id: frameId, inputs: openInputs)
        for input in openInputs { if case .data(let text)? = input.payload { sealed.append(text) } }
        openInputs = []
        log.append(.frame(seq, frame))
        if isAttached { outbox.append(ServerMessage(seq: seq, body: .frame(frame))) }
    }

    mutating func detach() {
        isAttached = false
        outbox = []
    }

    /// The resume window is over.
    mutating func endRun() {
        runNumber += 1
        detach()
    }

    mutating func take(_ message: ClientMessage) {
        func answer(_ body: ServerMessage.Body) { outbox.append(ServerMessage(id: message.id, body: body)) }
        switch message.body {
        case .connect(let connect)?: take(connect, id: message.id)
        case .sendCustomMessage(let say)?:
            callCount += 1
            if let known = answers[message.id] {
                answer(known)
            } else if refusesEvery > 0, callCount.isMultiple(of: refusesEvery) {
                answer(.error(ErrorReply(code: 1, message: "later", retryAfterMs: 20)))
            } else {
                executed[say.msg, default: 0] += 1
                answers[message.id] = .ok(Ok())
                answer(.ok(Ok()))
            }
        case .sendFrameInput(let input)?:
            guard message.id > lastInputId else { return }
            guard openInputs.count < 5 else {
                answer(.error(ErrorReply(code: 29, message: "too many")))
                return
            }
            lastInputId = message.id
            let payload: FrameInput.Payload
            switch input.payload {
            case .data(let text)?: payload = .data(text)
            case .dataBytes(let bytes)?: payload = .dataBytes(bytes)
            case nil: payload = .data("")
            }
            openInputs.append(FrameInput(playerId: "me", payload: payload, id: message.id))
        case .getFrames?: answer(.error(ErrorReply(code: 33, message: "not kept")))
        case .ping(let ping)?: answer(.pong(Pong(clientTime: ping.clientTime)))
        default: answer(.error(ErrorReply(code: 16, message: "no")))
        }
    }

    private mutating func take(_ connect: Connect, id: UInt32) {
        if let resume = connect.resume, resume.resumeToken != "R\(runNumber)" {
            outbox.append(ServerMessage(id: id, body: .error(ErrorReply(code: 39, message: "expired"))))
            return
        }
        let resume = connect.resume
        if resume == nil {
            runNumber += 1
            answers = [:]
            lastInputId = 0
        }
        let isRestarted = resume?.roomId != "r" || resume?.roomSeq == 0
        var connected = Connected(
            playerId: "me", resumeToken: "R\(runNumber)", resumed: resume != nil, heartbeatMs: 5000, room: room)
        connected.roomSeq = seq
        connected.roomRestarted = isRestarted
        connected.frameSync = info
        outbox.append(ServerMessage(id: id, body: .connected(connected)))
        isAttached = true
        let from = isRestarted ? seq : resume?.roomSeq ?? seq
        let afterFrame = resume?.frameSyncId == 1 ? resume?.frameId ?? 0 : 0
        replay(events: from, frames: afterFrame, isRestarted: isRestarted)
    }

    /// What was missed: events by seq, frames by id, in one order, frames in batches.
    private mutating func replay(events from: UInt64, frames afterFrame: UInt32, isRestarted: Bool) {
        var batch: [Frame] = []
        var batchSeq: UInt64 = 0
        func flush(_ outbox: inout [ServerMessage]) {
            if batch.isEmpty { return }
            let body = ServerMessage.Body.frames(Frames(frames: batch, firstKept: 1, frameSyncId: 1))
            outbox.append(ServerMessage(seq: batchSeq > from ? batchSeq : 0, body: body))
            batch = []
        }
        for entry in log {
            switch entry {
            case .frame(let seq, let frame):
                if frame.id <= afterFrame { continue }
                batch.append(frame)
                batchSeq = seq
                if batch.count == 7 { flush(&outbox) }
            case .event(let seq, let body):
                if seq <= from { continue }
                flush(&outbox)
                outbox.append(ServerMessage(seq: seq, body: body))
            }
        }
        flush(&outbox)
    }
}
