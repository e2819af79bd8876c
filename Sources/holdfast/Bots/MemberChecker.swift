internal import HoldfastProtocol

/// Checks everything that one connection after another brings to one bot, message by message, against `rooms.md` and
/// against what the others in the room got.
struct MemberChecker {
    struct SentInput {
        let id: UInt32
        let sentUs: Int64
    }

    struct Missing: Hashable {
        let sender: Int
        let number: UInt32
    }

    enum Cause { case start, stop, dismiss }

    static let requestsKept = 1024
    static let missingKept = 4096

    let name: String
    let isSpectator: Bool

    // The link.
    private var isGreeted = false
    /// Requests sent on this link and not answered.
    private var open: Set<UInt32> = []
    private var causes: [UInt32: Cause] = [:]
    private var lastFrameUs: Int64 = 0

    // The room.
    var roomId: String?
    private(set) var isOver = false
    /// The last position seen.
    private(set) var seq: UInt64 = 0
    private var joinedSeq: UInt64 = 0
    /// Positions that did not come: events that were for others.
    private var holes: UInt64 = 0
    /// The stream began anew at a resume: what came since cannot be counted.
    private var isRestarted = false

    // Frames.
    private(set) var isFrameSyncRunning = false
    private(set) var lastFrame: UInt32 = 0
    /// Frames up to here have their position before `joinedSeq`.
    private var frameBase: UInt32 = 0
    private(set) var rolling = ContentHash()

    // Inputs and messages.
    private(set) var inputs: [SentInput] = []
    private var lastShown: UInt32 = 0
    /// By sender: the next number expected; 0: none came yet.
    private var expected: [UInt32] = []
    private var missing: Set<Missing> = []

    init(name: String, isSpectator: Bool) {
        self.name = name
        self.isSpectator = isSpectator
    }

    // MARK: what the bot does

    mutating func linkOpened() {
        isGreeted = false
        open.removeAll(keepingCapacity: true)
        causes.removeAll()
        lastFrameUs = 0
    }

    /// - Parameter isAgain: sent before on another link.
    mutating func sent(_ message: ClientMessage, isAgain: Bool) {
        guard open.count < Self.requestsKept else { return }
        switch message.body {
        case .sendFrameInput?, .reportFrameHash?: return
        case .startFrameSync?: if !isAgain { causes[message.id] = .start }
        case .stopFrameSync?: if !isAgain { causes[message.id] = .stop }
        case .dismissRoom?: if !isAgain { causes[message.id] = .dismiss }
        default: break
        }
        open.insert(message.id)
    }

    mutating func sent(input id: UInt32, atUs: Int64) { inputs.append(SentInput(id: id, sentUs: atUs)) }

    /// The server said that it did not take it. False: no input of ours.
    mutating func refused(input id: UInt32) -> Bool {
        guard let index = inputs.firstIndex(where: { $0.id == id }) else { return false }
        inputs.remove(at: index)
        return true
    }

    // MARK: what comes

    mutating func received(
        _ message: ServerMessage, nowUs: Int64, ledger: RoomLedger?, report: inout BotReport
    ) {
        guard let body = message.body else {
            report.faults.add(.unreadable, name, "a message without a body, id \(message.id)")
            return
        }
        if !isGreeted {
            greeted(message, body, &report)
            return
        }
        if message.id != 0 {
            reply(message.id, body, &report)
            return
        }
        switch body {
        case .disconnected, .serviceError, .error: return
        case .playerKicked where message.seq == 0, .roomDismissed where message.seq == 0: return
        default: break
        }
        guard roomId != nil, !isOver, let ledger else {
            report.faults.add(.eventOutsideRoom, name, "position \(message.seq): \(kind(of: body))")
            return
        }
        switch body {
        case .frame(let frame): live(frame, seq: message.seq, nowUs, ledger, &report)
        case .frames(let batch): past(batch, seq: message.seq, nowUs, ledger, &report)
        default: event(body, seq: message.seq, nowUs, ledger, &report)
        }
    }

    private mutating func greeted(_ message: ServerMessage, _ body: ServerMessage.Body, _ report: inout BotReport) {
        switch body {
        case .connected(let connected):
            isGreeted = true
            open.remove(message.id)
            came(connected, &report)
        case .error, .disconnected: open.remove(message.id)
        default:
            report.faults.add(.eventOutsideRoom, name, "\(kind(of: body)) before connected")
        }
    }

    private mutating func came(_ connected: Connected, _ report: inout BotReport) {
        guard let roomId, !isOver else { return }
        guard connected.room?.id == roomId else {
            report.faults.add(.roomLost, name, "connected has room '\(connected.room?.id ?? "")', not '\(roomId)'")
            self.roomId = nil
            return
        }
        if connected.roomRestarted {
            report.faults.add(.streamRestarted, name, "position \(seq), now \(connected.roomSeq)")
            isRestarted = true
            seq = connected.roomSeq
            frameBase = connected.frameSync?.frameId ?? 0
        } else if connected.roomSeq < seq {
            report.faults.add(.seqNotGrowing, name, "connected has roomSeq \(connected.roomSeq) after \(seq)")
        }
    }

    private mutating func reply(_ id: UInt32, _ body: ServerMessage.Body, _ report: inout BotReport) {
        causes[id] = nil
        if open.remove(id) == nil {
            // Inputs are answered by errors only.
            if case .error = body, inputs.contains(where: { $0.id == id }) { return }
            report.faults.add(.unexpectedReply, name, "id \(id): \(kind(of: body))")
            return
        }
        guard case .roomJoined(let joined) = body, let room = joined.room else { return }
        if let roomId {
            // Answered again after a resume: the room is known from `connected`.
            if roomId != room.id { report.faults.add(.roomLost, name, "joined '\(room.id)' while in '\(roomId)'") }
            return
        }
        roomId = room.id
        seq = joined.roomSeq
        joinedSeq = joined.roomSeq
        if joined.roomSeq == 0 { report.faults.add(.seqMissing, name, "roomJoined without roomSeq") }
        guard let running = joined.frameSync else { return }
        isFrameSyncRunning = true
        frameBase = running.frameId
    }

    // MARK: positions

    /// - Parameter count: so many positions the message fills.
    private mutating func advance(to next: UInt64, filling count: UInt64, _ report: inout BotReport) {
        guard next != 0 else {
            report.faults.add(.seqMissing, name, "after position \(seq)")
            return
        }
        guard next >= seq + count else {
            report.faults.add(.seqNotGrowing, name, "\(next) after \(seq), for \(count) messages")
            seq = max(seq, next)
            return
        }
        holes += next - seq - count
        seq = next
    }

    private mutating func event(
        _ body: ServerMessage.Body, seq next: UInt64, _ nowUs: Int64, _ ledger: RoomLedger, _ report: inout BotReport
    ) {
        let isNew = next > seq
        advance(to: next, filling: 1, &report)
        guard isNew else { return }
        let hash: UInt64
        if case .customMessageReceived(let message) = body {
            hash = ContentHash.of(message)
            took(message, nowUs, ledger, &report)
        } else {
            hash = ContentHash.of(body)
        }
        count(ledger.got(eventAt: next, hash: hash, body: body, who: name, faults: &report.faults), &report)
        switch body {
        case .frameSyncStarted:
            early(.start, &report)
            isFrameSyncRunning = true
            frameBase = 0
        case .frameSyncStopped:
            early(.stop, &report)
            isFrameSyncRunning = false
        case .roomDismissed:
            early(.dismiss, &report)
            isOver = true
        default: break
        }
    }

    private func early(_ cause: Cause, _ report: inout BotReport) {
        guard causes.values.contains(cause) else { return }
        report.faults.add(.eventBeforeReply, name, "\(cause) of its own")
    }

    private func count(_ verdict: RoomLedger.Verdict, _ report: inout BotReport) {
        if case .tooOld = verdict { report.uncompared += 1 }
    }

    // MARK: frames

    private mutating func live(
        _ frame: Frame, seq next: UInt64, _ nowUs: Int64, _ ledger: RoomLedger, _ report: inout BotReport
    ) {
        let isNew = next > seq
        advance(to: next, filling: 1, &report)
        if lastFrameUs != 0, report.isMeasuring { report.intervalUs.add(nowUs - lastFrameUs) }
        lastFrameUs = nowUs
        let hash = take(frame, nowUs, ledger, &report)
        guard isNew else { return }
        count(ledger.got(eventAt: next, hash: hash, body: nil, who: name, faults: &report.faults), &report)
    }

    private mutating func past(
        _ batch: Frames, seq next: UInt64, _ nowUs: Int64, _ ledger: RoomLedger, _ report: inout BotReport
    ) {
        guard let first = batch.frames.first, let last = batch.frames.last else { return }
        if first.id > lastFrame + 1, batch.firstKept == first.id {
            report.faults.add(.framesNotKept, name, "\(lastFrame + 1) to \(first.id - 1)")
            lastFrame = first.id - 1
            isRestarted = true
        }
        let filling = batch.frames.reduce(UInt64(0)) { $0 + ($1.id > frameBase ? 1 : 0) }
        if last.id > frameBase {
            advance(to: next, filling: filling, &report)
        } else if next != 0 {
            report.faults.add(
                .seqNotGrowing, name, "frames up to \(last.id), of before the join, with position \(next)")
        }
        lastFrameUs = 0
        for frame in batch.frames { _ = take(frame, nowUs, ledger, &report) }
    }

    /// - Returns: the hash of what is in it.
    private mutating func take(
        _ frame: Frame, _ nowUs: Int64, _ ledger: RoomLedger, _ report: inout BotReport
    ) -> UInt64 {
        let hash = ContentHash.of(frame)
        report.frames += 1
        if !isFrameSyncRunning { report.faults.add(.frameWithoutFrameSync, name, "frame \(frame.id)") }
        guard frame.id > lastFrame else {
            report.faults.add(.frameRepeated, name, "frame \(frame.id) after \(lastFrame)")
            return hash
        }
        if frame.id != lastFrame + 1 { report.faults.add(.frameGap, name, "frame \(frame.id) after \(lastFrame)") }
        lastFrame = frame.id
        rolling.add(hash)
        count(ledger.got(frame, hash: hash, who: name, faults: &report.faults), &report)
        guard !isSpectator else { return hash }
        for input in frame.inputs where input.playerId == name { own(input, in: frame.id, nowUs, ledger, &report) }
        return hash
    }

    private mutating func own(
        _ input: FrameInput, in frame: UInt32, _ nowUs: Int64, _ ledger: RoomLedger, _ report: inout BotReport
    ) {
        guard let index = inputs.firstIndex(where: { $0.id == input.id }) else {
            let fault = input.id <= lastShown ? Fault.inputRepeated : .inputForged
            report.faults.add(fault, name, "input \(input.id) in frame \(frame), the last was \(lastShown)")
            return
        }
        for lost in inputs[..<index] {
            report.faults.add(.inputLost, name, "input \(lost.id); frame \(frame) has the later \(input.id)")
        }
        let sentUs = inputs[index].sentUs
        inputs.removeFirst(index + 1)
        lastShown = input.id
        if report.isMeasuring, let own = ledger.index(of: name), ledger.senders[own].disturbedUs < sentUs {
            report.inputUs.add(nowUs - sentUs)
        }
    }

    // MARK: custom messages

    private mutating func took(
        _ message: CustomMessageReceived, _ nowUs: Int64, _ ledger: RoomLedger, _ report: inout BotReport
    ) {
        report.messages += 1
        guard message.playerId != name else {
            report.faults.add(.messageEchoed, name, "'\(message.msg.prefix(24))'")
            return
        }
        guard let index = ledger.index(of: message.playerId),
            let (number, sentUs) = Content.read(
                message: message.msg, of: ledger.senders[index].number, bytes: ledger.messageBytes),
            number >= 1, number <= ledger.senders[index].messages
        else {
            report.faults.add(.messageForged, name, "'\(message.msg.prefix(24))' of '\(message.playerId)'")
            return
        }
        while expected.count <= index { expected.append(0) }
        let next = expected[index] == 0 && (isSpectator || isRestarted) ? number : max(1, expected[index])
        if number < next {
            let isLate = missing.remove(Missing(sender: index, number: number)) != nil
            let fault = isLate ? Fault.messageOutOfOrder : .messageRepeated
            report.faults.add(fault, name, "number \(number) of \(message.playerId), expected \(next)")
            return
        }
        for skipped in next..<number where missing.count < Self.missingKept {
            missing.insert(Missing(sender: index, number: skipped))
        }
        expected[index] = number + 1
        // A latency is of both ends' undisturbed links.
        guard report.isMeasuring, ledger.senders[index].disturbedUs < sentUs, disturbedUs < sentUs else { return }
        report.relayUs.add(nowUs - sentUs)
    }

    /// When this bot's link was last cut or opened.
    var disturbedUs: Int64 = 0

    // MARK: the end

    /// Everything has come: the room was dismissed, after all was answered.
    func finish(ledger: RoomLedger, report: inout BotReport) {
        for input in inputs { report.faults.add(.inputLost, name, "input \(input.id) is in no frame") }
        for (index, sender) in ledger.senders.enumerated() where sender.name != name {
            let next = index < expected.count ? expected[index] : 0
            let isLate = next == 0 && (isSpectator || isRestarted)
            if !isLate, sender.messages >= max(1, next) {
                for number in max(1, next)...sender.messages where !sender.refused.contains(number) {
                    report.faults.add(.messageLost, name, "number \(number) of \(sender.name)")
                }
            }
            for lost in missing where lost.sender == index && !sender.refused.contains(lost.number) {
                report.faults.add(.messageLost, name, "number \(lost.number) of \(sender.name)")
            }
        }
        guard !isRestarted else { return }
        var others: UInt64 = 0
        if let own = ledger.index(of: name) {
            let sender = ledger.senders[own]
            others += UInt64(sender.messages) - UInt64(sender.refused.count)
            others += UInt64(sender.presence.count { $0 > joinedSeq })
        }
        guard holes != others else { return }
        report.faults.add(.eventLost, name, "\(holes) positions did not come, \(others) were for others")
    }

    /// Whether all members saw the same frames, from the first to the last.
    static func compare(_ members: [MemberChecker], roomId: String, report: inout BotReport) {
        let whole = members.filter { !$0.isRestarted }
        guard let model = whole.first else { return }
        for member in whole.dropFirst()
        where member.lastFrame != model.lastFrame || member.rolling.value != model.rolling.value {
            report.faults.add(
                .frameDiffers, member.name,
                "room \(roomId): \(member.lastFrame) frames, \(model.name) has \(model.lastFrame), or other contents")
        }
    }

    private func kind(of body: ServerMessage.Body) -> String {
        String("\(body)".prefix { $0 != "(" })
    }
}
