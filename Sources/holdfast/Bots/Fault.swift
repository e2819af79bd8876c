/// What can be wrong with what a bot receives.
enum Fault: String, CaseIterable, Sendable {
    // Frames.
    case frameGap
    case frameRepeated
    /// Two members saw different contents, or streams of different length, of what must be the same.
    case frameDiffers
    case frameWithoutFrameSync
    case framesNotKept

    // Inputs.
    /// An input in a frame that its player never sent, or with other contents.
    case inputForged
    case inputRepeated
    case inputLost

    // Custom messages.
    case messageForged
    case messageRepeated
    case messageOutOfOrder
    case messageLost
    /// Given back to its sender.
    case messageEchoed

    // The room's stream.
    case seqNotGrowing
    case seqMissing
    /// Two members saw different events at one position.
    case eventDiffers
    /// Positions that were told to everyone are missing.
    case eventLost
    case eventBeforeReply
    case eventOutsideRoom

    // Requests and connections.
    case unexpectedReply
    case callFailed
    case tooManyRefused
    case unreadable
    /// A link that the server, or the network, ended.
    case linkLost
    /// The server ended the link and said why.
    case disconnected
    /// A drop was not followed by a resume of the run.
    case runLost
    /// A resume could not go on with the room's events.
    case streamRestarted
    case roomLost
    /// Matching spread the players over more rooms than needed.
    case matchSpread

    /// The client's machine told the application something else than what came.
    case clientWrong
    /// Something did not happen in time.
    case stuck
}

/// What was wrong, counted; the first lines in words.
struct FaultLog: Sendable {
    static let linesKept = 40
    private(set) var counts: [Fault: Int] = [:]
    private var lines: [String] = []
    private var taken = 0

    var total: Int { counts.values.reduce(0, +) }

    mutating func add(_ fault: Fault, _ who: String, _ text: @autoclosure () -> String) {
        counts[fault, default: 0] += 1
        // One kind must not crowd out the others.
        guard taken + lines.count < Self.linesKept, counts[fault, default: 0] <= 8 else { return }
        lines.append("\(fault.rawValue) \(who): \(text())")
    }

    /// The lines that were not taken yet.
    mutating func takeLines() -> [String] {
        taken += lines.count
        defer { lines = [] }
        return lines
    }

    mutating func merge(_ other: FaultLog) { counts.merge(other.counts, uniquingKeysWith: +) }
}

/// What bots found and measured, on one loop.
struct BotReport: Sendable {
    var faults = FaultLog()
    /// The histograms take only what happens in the measured span.
    var isMeasuring = false

    var frames = 0
    var messages = 0
    var inputsSent = 0
    var messagesSent = 0
    var inputsRefused = 0
    var messagesRefused = 0
    var bytesReceived = 0
    var drops = 0
    var resumes = 0
    /// Contents that were too old to be compared one by one; the whole streams are compared at the end.
    var uncompared = 0
    var linksLost = 0

    var inputUs = Histogram()
    var relayUs = Histogram()
    var intervalUs = Histogram()
    var resumeUs = Histogram()
    /// How late the bots' own timer was: what it adds to the rest.
    var latenessUs = Histogram()

    mutating func merge(_ other: BotReport) {
        faults.merge(other.faults)
        frames += other.frames
        messages += other.messages
        inputsSent += other.inputsSent
        messagesSent += other.messagesSent
        inputsRefused += other.inputsRefused
        messagesRefused += other.messagesRefused
        bytesReceived += other.bytesReceived
        drops += other.drops
        resumes += other.resumes
        uncompared += other.uncompared
        linksLost += other.linksLost
        inputUs.merge(other.inputUs)
        relayUs.merge(other.relayUs)
        intervalUs.merge(other.intervalUs)
        resumeUs.merge(other.resumeUs)
        latenessUs.merge(other.latenessUs)
    }
}
