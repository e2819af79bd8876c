internal import HoldfastProtocol

/// A fast hash of what a message says, the same for both encodings. Not against forgers.
struct ContentHash {
    private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func add(_ number: UInt64) {
        value = (value ^ number) &* 0x9FB2_1C65_1E98_DF25
        value ^= value >> 32
    }

    mutating func add<Bytes: Sequence>(_ bytes: Bytes) where Bytes.Element == UInt8 {
        var word: UInt64 = 0
        var count: UInt64 = 0
        for byte in bytes {
            word = word << 8 | UInt64(byte)
            count += 1
            if count & 7 == 0 {
                add(word)
                word = 0
            }
        }
        add(word)
        add(count)
    }

    mutating func add(_ text: String) { add(text.utf8) }

    static func of(_ bytes: [UInt8]) -> UInt64 {
        var hash = ContentHash()
        hash.add(bytes)
        return hash.value
    }

    static func of(_ frame: Frame) -> UInt64 {
        var hash = ContentHash()
        hash.add(UInt64(frame.id))
        for input in frame.inputs {
            hash.add(input.playerId)
            hash.add(UInt64(bitPattern: input.serverTime))
            hash.add(UInt64(input.id))
            switch input.payload {
            case .data(let text)?:
                hash.add(1)
                hash.add(text)
            case .dataBytes(let bytes)?:
                hash.add(2)
                hash.add(bytes)
            case nil: hash.add(3)
            }
        }
        hash.add(UInt64(frame.inputs.count))
        for change in frame.changes {
            hash.add(change.playerId)
            hash.add(UInt64(change.kind))
        }
        return hash.value
    }

    static func of(_ message: CustomMessageReceived) -> UInt64 {
        var hash = ContentHash()
        hash.add(message.playerId)
        hash.add(message.msg)
        return hash.value
    }

    /// Any other event.
    static func of(_ body: ServerMessage.Body) -> UInt64 {
        var hash = ContentHash()
        hash.add(Encoding.protobuf.encode(ServerMessage(body: body)))
        return hash.value
    }
}

/// Numbers from a seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func chance(_ part: Double) -> Bool { Double(next() >> 11) < part * Double(1 << 53) }
    mutating func below(_ bound: Int64) -> Int64 { bound <= 1 ? 0 : Int64(next() % UInt64(bound)) }
}

/// What bots send: made of the sender's number and the message's, so that whoever receives it can tell that it is
/// genuine.
enum Content {
    static func input(of sender: Int, number: UInt32, bytes: Int) -> [UInt8] {
        var numbers = SeededNumbers(seed: UInt64(sender) << 32 | UInt64(number))
        var content: [UInt8] = []
        content.reserveCapacity(bytes + 8)
        while content.count < bytes {
            let number = numbers.next()
            for shift in stride(from: UInt64(0), to: 64, by: 8) {
                content.append(UInt8(truncatingIfNeeded: number >> shift))
            }
        }
        content.removeLast(content.count - bytes)
        return content
    }

    /// The shortest custom message that holds what it has to.
    static let minMessageBytes = 40

    /// `NUMBER SENT-AT-µs SENDER xxx…`
    static func message(of sender: Int, number: UInt32, sentUs: Int64, bytes: Int) -> String {
        let head = "\(number) \(sentUs) \(sender) "
        return head + String(repeating: "x", count: max(0, bytes - head.utf8.count))
    }

    /// Nil: no bot of this sender wrote that.
    static func read(message: String, of sender: Int, bytes: Int) -> (number: UInt32, sentUs: Int64)? {
        guard message.utf8.count == bytes else { return nil }
        let parts = message.utf8.split(separator: UInt8(ascii: " "), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let number = decimal(parts[0]), let sentUs = decimal(parts[1]),
            decimal(parts[2]) == Int64(sender), let number = UInt32(exactly: number),
            parts[3].allSatisfy({ $0 == UInt8(ascii: "x") })
        else { return nil }
        return (number, sentUs)
    }

    private static func decimal(_ digits: Substring.UTF8View) -> Int64? {
        guard (1...18).contains(digits.count) else { return nil }
        var value: Int64 = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            value = value * 10 + Int64(digit - 48)
        }
        return value
    }
}
