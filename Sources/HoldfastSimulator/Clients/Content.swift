import HoldfastProtocol

/// What simulated clients put into their requests: every one is different, so that whatever is done twice, or though it
/// was refused, shows.
struct Content: Hashable, Sendable {
    enum Kind: UInt8, Sendable {
        case message = 109  // m
        case status = 115  // s
        case properties = 112  // p
        case roomName = 114  // r
        case input = 105  // i
    }

    let kind: Kind
    /// The client that said it.
    let device: Int
    /// Counts from 1 for each client.
    let number: Int

    var text: String { "\(Character(UnicodeScalar(kind.rawValue)))\(device).\(number)" }

    /// As a custom status.
    var status: Int32 { Int32(truncatingIfNeeded: device << 20 | number) }

    init(_ kind: Kind, device: Int, number: Int) {
        self.kind = kind
        self.device = device
        self.number = number
    }

    /// Nil: nobody here wrote that.
    init?(_ text: String) {
        var bytes = text.utf8.makeIterator()
        guard let first = bytes.next(), let kind = Kind(rawValue: first) else { return nil }
        var device = 0
        var number = 0
        var isBehindPoint = false
        while let byte = bytes.next() {
            if byte == UInt8(ascii: "."), !isBehindPoint {
                isBehindPoint = true
                continue
            }
            guard (48...57).contains(byte), number < 1_000_000, device < 1_000_000 else { return nil }
            if isBehindPoint { number = number * 10 + Int(byte - 48) } else { device = device * 10 + Int(byte - 48) }
        }
        guard number > 0 else { return nil }
        self.init(kind, device: device, number: number)
    }

    init?(status: Int32) {
        guard status > 0 else { return nil }
        self.init(.status, device: Int(status >> 20), number: Int(status & 0xFFFFF))
    }

    /// What a request says that nobody else says.
    init?(of body: ClientMessage.Body) {
        switch body {
        case .sendCustomMessage(let message): self.init(message.msg)
        case .updatePlayerCustomStatus(let update): self.init(status: update.status)
        case .updatePlayerCustomProperties(let update): self.init(update.properties)
        case .updateRoomProperties(let update): self.init(update.name ?? "")
        default: return nil
        }
    }

    /// What an event says that comes of one request only.
    init?(of event: ServerMessage.Body) {
        switch event {
        case .customMessageReceived(let message): self.init(message.msg)
        case .playerCustomStatusChanged(let changed): self.init(status: changed.status)
        case .playerCustomPropertiesChanged(let changed): self.init(changed.properties)
        case .roomPropertiesChanged(let changed): self.init(changed.name)
        default: return nil
        }
    }

    init?(of input: FrameInput) {
        guard case .data(let text)? = input.payload else { return nil }
        self.init(text)
    }

    init?(of input: SendFrameInput) {
        guard case .data(let text)? = input.payload else { return nil }
        self.init(text)
    }
}
