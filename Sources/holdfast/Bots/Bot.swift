internal import HoldfastClient
internal import HoldfastProtocol
internal import HoldfastTransport

/// One client: the SDK's machine, its link, and what checks them. Confined to its loop.
final class Bot {
    enum Role { case player, spectator, idle, seeker }

    /// What it is about, apart from the connection.
    enum Stage {
        /// Next: connecting.
        case waiting
        /// Next: connected.
        case connecting
        /// In no room. Next: entering (idle bots stay).
        case connected
        /// Next: inRoom.
        case entering
        case inRoom
        /// `disconnect` is asked for. Next: gone.
        case leaving
        case gone
    }

    let index: Int
    let number: Int
    let name: String
    let role: Role
    /// The room that it is planned for, among those of its loop.
    let group: Int
    let encoding: Encoding

    var stage = Stage.waiting
    var machine: ClientMachine
    var checker: MemberChecker
    var ledger: RoomLedger?
    /// Its place among the ledger's senders.
    var sender = 0
    var room: Int?

    var effects: [ClientEffect] = []
    var isPerforming = false
    var link: LinkID?
    var connection: WebSocketConnection?
    var attempt: WebSocketAttempt?
    /// Requests below this were sent on an earlier link.
    var firstFreshId: UInt32 = 0
    var lastId: UInt32 = 0

    var calls: [UInt32: (ClientReply) -> Void] = [:]
    /// So many frame inputs it made.
    var inputs: UInt32 = 0

    // Its agenda, on the loop's clock.
    var startMs: Int64 = .max
    var machineMs: Int64 = .max
    var messageMs: Int64 = .max
    var wakeMs: Int64 = .max
    var inputMs: [Int64] = []
    var inputCredit = 0.0
    /// When the last live frame came that inputs were made for.
    var lastLiveMs: Int64 = 0
    /// The last frame that the machine delivered.
    var deliveredFrame: UInt32 = 0
    /// When a frame was delivered last; 0: none was.
    var frameUs: Int64 = 0
    /// When a seeker began to look for the match that it has not found yet; 0: it does not look.
    var soughtUs: Int64 = 0
    /// Not before this does it look again: calls have a budget.
    var seekMs: Int64 = 0
    /// When the link was cut; 0: it is not.
    var cutUs: Int64 = 0

    init(
        index: Int, number: Int, name: String, role: Role, group: Int, encoding: Encoding, endpoints: Int, seed: UInt64
    ) {
        self.index = index
        self.number = number
        self.name = name
        self.role = role
        self.group = group
        self.encoding = encoding
        var options = ClientOptions()
        options.endpointCount = endpoints
        options.client = "holdfast-bots"
        machine = ClientMachine(options: options, seed: seed ^ UInt64(number) << 20, firstEndpoint: number)
        checker = MemberChecker(name: name, isSpectator: role == .spectator)
    }

    var dueMs: Int64 {
        min(min(startMs, machineMs), min(messageMs, wakeMs), inputMs.min() ?? .max)
    }

    /// The same room as others see it.
    var isOwner: Bool { machine.room?.ownerId == name }
}

/// Brings what happens on one socket to its bot.
final class BotLink: WebSocketHandler, Sendable {
    private let owner: BotLoop
    private let bot: Int
    private let link: LinkID
    private let encoding: Encoding

    init(owner: BotLoop, bot: Int, link: LinkID, encoding: Encoding) {
        self.owner = owner
        self.bot = bot
        self.link = link
        self.encoding = encoding
    }

    func received(message: UnsafeRawBufferPointer, kind: WebSocketKind, on connection: WebSocketConnection) {
        let bytes = message.count
        do {
            let decoded = try encoding.decode(ServerMessage.self, from: [UInt8](message))
            owner.assumeIsolated { $0.received(decoded, bytes: bytes, bot: bot, link: link) }
        } catch {
            owner.assumeIsolated { $0.unreadable(error.message, bot: bot, link: link) }
        }
    }

    func faulted(_ fault: WebSocketFault, on connection: WebSocketConnection) {
        owner.assumeIsolated { $0.unreadable("\(fault)", bot: bot, link: link) }
        connection.close(code: fault.closeCode)
    }

    func closed(_ end: WebSocketEnd, on connection: WebSocketConnection) {
        owner.assumeIsolated { $0.closed("\(end)", bot: bot, link: link) }
    }
}
