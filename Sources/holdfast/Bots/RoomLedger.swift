internal import HoldfastProtocol

/// What the members of one room say that they sent and got, so that it can be compared. Confined to the loop that
/// carries all of them.
final class RoomLedger {
    /// One who sends.
    struct Sender {
        let name: String
        /// The bot's number, of which its contents are made.
        let number: Int
        /// Its inputs' contents, by id.
        var inputs = Recent(capacity: 256)
        /// So many custom messages it sent, numbered from 1.
        var messages: UInt32 = 0
        /// Numbers of those that the server refused.
        var refused: Set<UInt32> = []
        /// Latencies count only for what was sent after this.
        var disturbedUs: Int64 = 0
        /// Where the stream told the others that this one went or came.
        var presence: [UInt64] = []
    }

    enum Verdict {
        case first
        case same
        case differs
        /// Forgotten already.
        case tooOld
    }

    /// Hashes by position, the newest `capacity` of them.
    struct Recent {
        private var entries: [(position: UInt64, hash: UInt64)]

        init(capacity: Int) { entries = Array(repeating: (0, 0), count: max(16, capacity)) }

        /// Nil: nothing is known of that position, or not any more.
        func hash(at position: UInt64) -> UInt64? {
            let known = entries[Int(position % UInt64(entries.count))]
            return known.position == position ? known.hash : nil
        }

        mutating func put(_ hash: UInt64, at position: UInt64) -> Verdict {
            let index = Int(position % UInt64(entries.count))
            let known = entries[index]
            if known.position == position { return known.hash == hash ? .same : .differs }
            if known.position > position { return .tooOld }
            entries[index] = (position, hash)
            return .first
        }
    }

    static let presenceKept = 4096

    let messageBytes: Int
    private(set) var roomId: String
    private(set) var senders: [Sender] = []
    private var indices: [String: Int] = [:]
    private var frames: Recent
    private var events: Recent

    /// - Parameter eventsPerSecond: about as many positions as the room's stream has in a second, frames included.
    init(roomId: String, frameRate: Int, eventsPerSecond: Int, messageBytes: Int) {
        self.roomId = roomId
        self.messageBytes = messageBytes
        frames = Recent(capacity: frameRate * 90)
        events = Recent(capacity: min(16_384, eventsPerSecond * 30))
    }

    /// A bot will send under this name.
    func add(sender name: String, number: Int) -> Int {
        if let index = indices[name] { return index }
        indices[name] = senders.count
        senders.append(Sender(name: name, number: number))
        return senders.count - 1
    }

    func index(of name: String) -> Int? { indices[name] }

    // MARK: what is sent

    func sent(input id: UInt32, content: [UInt8], by index: Int) {
        _ = senders[index].inputs.put(ContentHash.of(content), at: UInt64(id))
    }

    func nextMessage(by index: Int) -> UInt32 {
        senders[index].messages += 1
        return senders[index].messages
    }

    func refused(message number: UInt32, by index: Int) { senders[index].refused.insert(number) }

    func disturbed(_ index: Int, atUs: Int64) { senders[index].disturbedUs = atUs }

    // MARK: what came

    func got(_ frame: Frame, hash: UInt64, who: String, faults: inout FaultLog) -> Verdict {
        let verdict = frames.put(hash, at: UInt64(frame.id))
        switch verdict {
        case .differs: faults.add(.frameDiffers, who, "frame \(frame.id) in room \(roomId)")
        case .first: for input in frame.inputs { check(input, in: frame.id, who: who, faults: &faults) }
        case .same, .tooOld: break
        }
        return verdict
    }

    private func check(_ input: FrameInput, in frame: UInt32, who: String, faults: inout FaultLog) {
        guard let index = indices[input.playerId] else {
            faults.add(.inputForged, who, "frame \(frame) has an input of '\(input.playerId)', who plays not here")
            return
        }
        let sender = senders[index]
        let isGenuine =
            if case .dataBytes(let bytes)? = input.payload {
                sender.inputs.hash(at: UInt64(input.id)) == ContentHash.of(bytes)
            } else {
                false
            }
        guard isGenuine else {
            faults.add(.inputForged, who, "frame \(frame): input \(input.id) of \(sender.name) was not sent so")
            return
        }
    }

    /// - Parameter body: nil for a live frame, which is looked at apart.
    func got(eventAt seq: UInt64, hash: UInt64, body: ServerMessage.Body?, who: String, faults: inout FaultLog)
        -> Verdict
    {
        let verdict = events.put(hash, at: seq)
        switch verdict {
        case .differs: faults.add(.eventDiffers, who, "position \(seq) in room \(roomId)")
        case .first: if let body { note(body, at: seq) }
        case .same, .tooOld: break
        }
        return verdict
    }

    private func note(_ body: ServerMessage.Body, at seq: UInt64) {
        let name: String
        switch body {
        case .playerEntered(let event): name = event.player?.id ?? ""
        case .playerLeft(let event): name = event.playerId
        case .playerOffline(let event): name = event.playerId
        case .playerOnline(let event): name = event.playerId
        default: return
        }
        guard let index = indices[name], senders[index].presence.count < Self.presenceKept else { return }
        senders[index].presence.append(seq)
    }
}
