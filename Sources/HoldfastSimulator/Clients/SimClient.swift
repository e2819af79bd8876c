import HoldfastClient
import HoldfastProtocol

/// One device of a player: the SDK's own machine, and who plays with it.
struct SimClient: Sendable {
    enum Mode: Equatable, Sendable {
        case playing
        /// The machine sleeps, or has been lost with its process.
        case away(untilMs: Int64)
        /// Not wanted until then: replaced, given up, or a second device at rest.
        case idle(untilMs: Int64)
    }

    let device: Int
    let player: String
    let isSecond: Bool
    let settings: SimClientSettings
    var machine: ClientMachine
    var random: ClientRandom
    var mode = Mode.idle(untilMs: 0)
    var isQuiet = false
    /// In quiet, whether this one is to be connected.
    var isWanted = true

    var finale: Finale?

    /// At the very end, when the matching is counted.
    enum Finale: Sendable {
        case leaving(untilMs: Int64)
        case matching(sinceMs: Int64)
    }

    static let finaleSize: UInt32 = 3

    /// The machine's link, and what it is in the world.
    var machineLink: LinkID?
    var link: SimLink?
    var nextCallMs: Int64 = 0
    var readsAgainMs: Int64?

    // What it knows of its own calls.
    var seatCall: UInt32?
    var isMatching = false
    /// What the server thinks is not what the machine thinks, after requests that were sent behind its back.
    var isConfused = false
    private var numbers: [Content.Kind: Int] = [:]
    /// Requests that were answered for good in this run, the newest last.
    var done: [ClientMessage] = []
    /// Sent and not answered.
    var sent: [ClientMessage] = []
    var framesWanted: UInt32 = 0

    init(device: Int, player: String, isSecond: Bool, settings: SimClientSettings, seed: UInt64) {
        self.device = device
        self.player = player
        self.isSecond = isSecond
        self.settings = settings
        random = ClientRandom(seed: seed)
        machine = Self.machine(settings, &random)
    }

    private static func machine(_ settings: SimClientSettings, _ random: inout ClientRandom) -> ClientMachine {
        var options = ClientOptions()
        options.endpointCount = settings.endpoints
        options.openTimeoutMs = 2_000
        options.handshakeTimeoutMs = 3_000
        options.maxDelayMs = 1_000
        options.callTimeoutMs = 120_000
        return ClientMachine(options: options, seed: random.next(), firstEndpoint: random.below(settings.endpoints))
    }

    /// The process is gone, and with it all that it knew.
    mutating func restart() {
        machine = Self.machine(settings, &random)
        machineLink = nil
        link = nil
        readsAgainMs = nil
        isConfused = false
        forgetRun()
    }

    mutating func forgetRun() {
        seatCall = nil
        isMatching = false
        done = []
        sent = []
    }

    mutating func content(_ kind: Content.Kind) -> Content {
        let number = numbers[kind, default: 0] + 1
        numbers[kind] = number
        return Content(kind, device: device, number: number)
    }

    var nextDeadlineMs: Int64 {
        var next = machine.nextDeadlineMs ?? .max
        switch mode {
        case .playing: if !isQuiet || machine.isIdle && isWanted { next = min(next, nextCallMs) }
        case .away(let untilMs), .idle(let untilMs): next = min(next, untilMs)
        }
        if case .leaving(let untilMs)? = finale { next = min(next, untilMs) }
        return min(next, readsAgainMs ?? .max)
    }

    // MARK: What the machine tells

    mutating func heard(_ event: ClientEvent, nowMs: Int64) -> [ClientMessage.Body] {
        switch event {
        case .connected: forgetRun()
        case .disconnected:
            forgetRun()
            mode = .idle(untilMs: nowMs + (isQuiet ? 300 : random.between(200, isSecond ? 12_000 : 3_000)))
        case .frameSyncStarted:
            framesWanted = UInt32(random.between(Int64(settings.leastFrames), Int64(settings.mostFrames)))
        case .frame(let frame, let isCatchUp):
            if !isCatchUp, !isQuiet { return frameCalls(frame.id) }
        default: break
        }
        return []
    }

    mutating func completed(_ id: UInt32, _ reply: ClientReply) {
        if id == seatCall {
            seatCall = nil
            isMatching = false
        }
        guard let index = sent.firstIndex(where: { $0.id == id }) else { return }
        let message = sent.remove(at: index)
        if case .failure(let error) = reply {
            switch error.code {
            // Not remembered: sent again it would be done.
            case .rateLimited, .invalidRequest, .requestInProgress, .notImplemented, .serverError, .networkError: return
            default: break
            }
        }
        done.append(message)
        if done.count > 6 { done.removeFirst() }
    }

    /// A message of the machine's goes out.
    /// - Returns: whether it goes out twice.
    mutating func sends(_ message: ClientMessage) -> Bool {
        switch message.body {
        case .connect, .disconnect, .ping, .getFrames, .getRoomList, nil: return false
        case .sendFrameInput, .reportFrameHash: break
        default:
            if !sent.contains(where: { $0.id == message.id }) { sent.append(message) }
            if sent.count > 64 { sent.removeFirst() }
        }
        return !isQuiet && random.chance(settings.repeatChance)
    }
}
