import HoldfastProtocol

/// A fast sum of what a message says. Not against forgers.
struct ContentSum {
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

    static func of(_ frame: Frame) -> UInt64 {
        var sum = ContentSum()
        sum.add(UInt64(frame.id))
        for input in frame.inputs {
            sum.add(input.playerId)
            sum.add(UInt64(bitPattern: input.serverTime))
            sum.add(UInt64(input.id))
            switch input.payload {
            case .data(let text)?: sum.add(text)
            case .dataBytes(let bytes)?: sum.add(bytes)
            case nil: sum.add(3)
            }
        }
        sum.add(UInt64(frame.inputs.count))
        for change in frame.changes {
            sum.add(change.playerId)
            sum.add(UInt64(change.kind))
        }
        return sum.value
    }

    /// Any other event of a stream.
    static func of(_ body: ServerMessage.Body) -> UInt64 {
        var sum = ContentSum()
        if case .customMessageReceived(let message) = body {
            sum.add(message.playerId)
            sum.add(message.msg)
        } else {
            sum.add(Encoding.protobuf.encode(ServerMessage(body: body)))
        }
        return sum.value
    }
}
