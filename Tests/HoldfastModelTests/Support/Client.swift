import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// A client as the spec has it: it numbers its requests, keeps its position in the room's stream, and finds fault with
/// what comes out of order. What it got can be read as messages or as lines (see Render.swift).
final class Client {
    let world: World
    let key: PlayerKey
    var encoding: Encoding
    var gateway: Int
    private(set) var link: Link?
    private(set) var closeCode: UInt16?
    /// Its socket is slow: more of the past is pulled only by `drain`.
    var isSlow = false
    var wantsMore = false

    /// All messages of all links, oldest first.
    private(set) var messages: [ServerMessage] = []
    private var read = 0
    private var lastID: UInt32 = 0
    /// The ids of calls to leave: nothing of the room may come after their `ok`.
    private var leaving: Set<UInt32> = []
    /// The call that led into the room.
    private var joinedBy: UInt32 = 0
    /// What is wrong with what came.
    private(set) var faults: [String] = []
    /// What was asked in this run, by id, and what was answered.
    private(set) var sent: [UInt32: ClientMessage.Body] = [:]
    private var answered: Set<UInt32> = []
    /// Answered with 1 and to be sent again.
    private var retries: [UInt32] = []
    private var timedOut: Set<UInt32> = []
    /// It resumes with a token beside, and sends again only when it knows that the run goes on.
    private var isResuming = false
    private var hasResumed = false
    /// How many answers the open link owes for each id.
    private(set) var owed: [UInt32: Int] = [:]

    private(set) var resumeToken = ""
    private(set) var position = Resume()
    /// Seqs of events, not frames, that came since the stream that this client reads began.
    private(set) var seenEvents: [UInt64] = []
    private(set) var streamBase: UInt64 = 0
    /// Of this stream.
    private(set) var frames: [Frame] = []

    init(_ world: World, _ key: PlayerKey, _ encoding: Encoding, gateway: Int) {
        self.world = world
        self.key = key
        self.encoding = encoding
        self.gateway = gateway
    }

    var id: String { key.id }
    var token: String { "\(key.project)/\(key.id)" }
    var roomID: String { position.roomId }
    var isInRoom: Bool { !position.roomId.isEmpty }

    // MARK: Links

    /// Opens a link without a word.
    func open() {
        if link != nil { halfOpen() }
        closeCode = nil
        link = world.open(self, encoding)
        owed = [:]
        retries = []
        isResuming = false
        hasResumed = false
    }

    /// A new run.
    @discardableResult
    func connect(settling: Bool = true) -> Client {
        open()
        lastID = 0
        leaving = []
        joinedBy = 0
        sent = [:]
        answered = []
        position = Resume()
        send(.connect(Connect(token: token)), settling: settling)
        return self
    }

    /// Goes on with the run, from where this client is or from elsewhere.
    func resume(from other: Resume? = nil, token: String? = nil, settling: Bool = true) {
        open()
        isResuming = token != nil
        var resume = other ?? position
        resume.resumeToken = resumeToken
        send(.connect(Connect(token: token ?? "", resume: resume)), settling: settling)
    }

    /// The socket ends without a word.
    func drop(settling: Bool = true) {
        guard let link else { return }
        self.link = nil
        world.socketEnded(link)
        if settling { world.settle() }
    }

    /// Goes away while the gateway does not know it yet.
    /// - Returns: the old link, whose late end can be told with `world.socketEnded`.
    @discardableResult
    func halfOpen() -> Link? {
        defer { link = nil }
        return link
    }

    // MARK: Saying

    @discardableResult
    func send(_ body: ClientMessage.Body?, id: UInt32? = nil, settling: Bool = true) -> UInt32 {
        let id = id ?? lastID + 1
        lastID = max(lastID, id)
        if case .leaveRoom? = body { leaving.insert(id) }
        guard let link else {
            Issue.record("\(self.id) has no link")
            return id
        }
        if id != 0 {
            owed[id, default: 0] += 1
            sent[id] = body
        }
        world.receive(ClientMessage(id: id, body: body), on: link)
        if settling { world.settle() }
        return id
    }

    /// Without an id: asks for no answer.
    func sendSilently(_ body: ClientMessage.Body?) { send(body, id: 0) }

    /// Sends and returns the one answer.
    @discardableResult
    func ask(_ body: ClientMessage.Body, id: UInt32? = nil) -> ServerMessage.Body? {
        let before = messages.count
        let id = send(body, id: id)
        let answers = messages[before...].filter { $0.id == id }
        #expect(answers.count == 1, "\(self.id) asked #\(id) and got \(answers.count) answers")
        read = messages.count
        return answers.first?.body
    }

    /// Sends and returns the code of the error that answers; 0 when it is another answer or none.
    func refusal(_ body: ClientMessage.Body, id: UInt32? = nil) -> Int32 {
        let before = messages.count
        let id = send(body, id: id)
        for message in messages[before...] where message.id == id {
            if case .error(let error)? = message.body { return error.code }
        }
        return 0
    }

    /// Sends again what was answered with 1, and after a resume what was not answered.
    /// - Returns: whether there was any.
    func sendAgain() -> Bool {
        var due = retries
        retries = []
        if hasResumed {
            hasResumed = false
            due = unanswered.map(\.id)
        }
        for id in due { send(sent[id], id: id, settling: false) }
        return !due.isEmpty
    }

    /// What a client sends again after a resume.
    var unanswered: [(id: UInt32, body: ClientMessage.Body)] {
        sent.filter { id, body in
            if case .connect = body { return false }
            return !answered.contains(id)
        }
        .map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// Inputs and hash reports are answered only when they are refused.
    func isSilentOnSuccess(_ id: UInt32) -> Bool {
        switch sent[id] {
        case .sendFrameInput?, .reportFrameHash?: true
        default: false
        }
    }

    // MARK: Hearing

    /// What came since it was last looked at.
    func new() -> [ServerMessage] {
        defer { read = messages.count }
        return Array(messages[read...])
    }

    /// What came since it was last looked at, as lines.
    func lines() -> [String] { new().map(line) }

    func forget() { read = messages.count }

    func drain() {
        guard wantsMore, let link else { return }
        wantsMore = false
        world.pull(link)
        world.settle()
    }

    func closed(_ link: Link, _ code: UInt16) {
        guard self.link == link else { return }
        closeCode = code
        self.link = nil
    }

    func take(_ message: ServerMessage, on link: Link) {
        guard self.link == link else { return }
        messages.append(message)
        if message.id != 0 {
            let left = owed[message.id, default: 0] - 1
            owed[message.id] = left
            answered.insert(message.id)
            if case .error(let error)? = message.body, error.code == 1, error.retryAfterMs > 0 {
                answered.remove(message.id)
                retries.append(message.id)
                timedOut.insert(message.id)
            }
            if left < 0, !isLateJoin(message) { faults.append("an answer too many: \(line(message))") }
        }
        if message.id == 0 || !isFrames(message) { follow(message) }
    }

    /// `roomJoined` is told even when 1 was answered in its stead: the stream that follows would mean nothing without.
    private func isLateJoin(_ message: ServerMessage) -> Bool {
        if case .roomJoined? = message.body { timedOut.contains(message.id) } else { false }
    }

    private func isOfFrames(_ message: ServerMessage) -> Bool {
        if case .frame? = message.body { true } else { isFrames(message) }
    }

    private func isFrames(_ message: ServerMessage) -> Bool {
        if case .frames? = message.body { true } else { false }
    }

    /// Whether its resume was refused with 39 and it has not connected since.
    var isRunOver: Bool {
        for message in messages.reversed() {
            switch message.body {
            case .connected?: return false
            case .error(let error)? where error.code == 39: return true
            default: continue
            }
        }
        return false
    }

    // MARK: Where it is in the stream

    private func follow(_ message: ServerMessage) {
        if message.seq != 0 { count(message) }
        switch message.body {
        case .connected(let connected): follow(connected)
        case .roomJoined(let joined):
            if joined.room?.id != position.roomId { joinedBy = message.id }
            follow(joined)
        case .frameSyncStarted(let started):
            position.frameSyncId = started.frameSyncId
            position.frameId = 0
        case .frame(let frame): follow(frame, of: position.frameSyncId, firstKept: 0)
        case .frames(let batch):
            for frame in batch.frames { follow(frame, of: batch.frameSyncId, firstKept: batch.firstKept) }
        case .playerKicked(let kicked): if kicked.playerId == id, kicked.roomId == roomID { begin("", at: 0) }
        case .serviceError: begin("", at: 0)
        case .roomDismissed(let dismissed): if dismissed.roomId == roomID { begin("", at: 0) }
        // Answers to calls in flight may come in any order: an older leave says nothing of a newer seat.
        case .ok: if leaving.contains(message.id), message.id > joinedBy { begin("", at: 0) }
        default: break
        }
    }

    private func count(_ message: ServerMessage) {
        if message.seq <= position.roomSeq {
            // Frames are resumed by their own position: a batch may stand before the last event.
            if isFrames(message) { return }
            faults.append("seq does not grow after \(position.roomSeq): \(line(message))")
        }
        if !isInRoom { faults.append("an event of a room while in none: \(line(message))") }
        if !isOfFrames(message) { seenEvents.append(message.seq) }
        position.roomSeq = max(position.roomSeq, message.seq)
    }

    private func begin(_ room: String, at seq: UInt64) {
        position.roomId = room
        position.roomSeq = seq
        position.frameSyncId = 0
        position.frameId = 0
        streamBase = seq
        seenEvents = []
        frames = []
    }

    private func follow(_ connected: Connected) {
        resumeToken = connected.resumeToken
        hasResumed = connected.resumed && isResuming
        if !connected.resumed { beginRun() }
        guard let room = connected.room else {
            begin("", at: 0)
            return
        }
        if connected.roomRestarted || room.id != position.roomId {
            let (sync, frame) = (position.frameSyncId, position.frameId)
            let isSame = room.id == position.roomId && sync != 0 && sync == connected.frameSync?.frameSyncId
            begin(room.id, at: connected.roomSeq)
            position.frameSyncId = connected.frameSync?.frameSyncId ?? 0
            position.frameId = isSame ? frame : connected.snapshot?.frameId ?? 0
        }
    }

    /// What was sent before `connected` came is of this run already.
    private func beginRun() {
        leaving = leaving.filter { owed[$0, default: 0] > 0 }
        joinedBy = 0
        sent = sent.filter { owed[$0.key, default: 0] > 0 }
        answered = []
        begin("", at: 0)
    }

    private func follow(_ joined: RoomJoined) {
        guard let room = joined.room else { return }
        if room.id == position.roomId { return }
        begin(room.id, at: joined.roomSeq)
        position.frameSyncId = joined.frameSync?.frameSyncId ?? 0
        position.frameId = joined.snapshot?.frameId ?? 0
    }

    private func follow(_ frame: Frame, of sync: UInt32, firstKept: UInt32) {
        if sync != position.frameSyncId {
            faults.append("frame \(frame.id) of frame sync \(sync) while in \(position.frameSyncId)")
            return
        }
        let isGapTold = firstKept == frame.id && firstKept > position.frameId
        if frame.id != position.frameId + 1, !isGapTold {
            faults.append("frame \(frame.id) after \(position.frameId)")
        }
        position.frameId = frame.id
        frames.append(frame)
    }
}
