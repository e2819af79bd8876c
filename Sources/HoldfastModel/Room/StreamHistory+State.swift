import HoldfastProtocol

extension StreamHistory: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(version: 1)
        writer.put(forgottenSeq)
        writer.put(fixed: sum.value)
        writer.put(events)
        writer.put(frames)
    }

    init(from reader: inout StateReader) throws(StateError) {
        try reader.version(1, of: "StreamHistory")
        forgottenSeq = try reader.number()
        sum = StableHash(value: try reader.fixed())
        events = try SegmentedLog(from: &reader)
        frames = try SegmentedLog(from: &reader)
        // Places are searched for by halving.
        var last: UInt64 = forgottenSeq
        for i in events.startIndex..<events.endIndex {
            try StateError.check(events[i].seq > last, "StreamHistory: events out of order")
            last = events[i].seq
            eventBytes += events[i].protobuf.count
        }
        for i in frames.startIndex..<frames.endIndex {
            try StateError.check(
                i == frames.startIndex || frames[i].follows(frames[i - 1]), "StreamHistory: frames out of order")
            frameBytes += frames[i].protobuf.count
        }
    }

    /// What tells two histories apart, without what they keep.
    func digest(into hash: inout StableHash) {
        hash.mix(whole: sum.value)
        hash.mix(whole: forgottenSeq)
        for end in [events.startIndex, events.endIndex, frames.startIndex, frames.endIndex] {
            hash.mix(whole: UInt64(end))
        }
    }
}

extension StreamHistory.SealedFrame {
    fileprivate func follows(_ other: Self) -> Bool {
        guard seq > other.seq else { return false }
        return frameSyncID != other.frameSyncID ? frameSyncID > other.frameSyncID : id == other.id + 1
    }
}

extension StreamHistory.Event: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(seq)
        writer.put(timeMs)
        writer.put(audience)
        writer.put(protobuf)
    }

    init(from reader: inout StateReader) throws(StateError) {
        seq = try reader.counter()
        timeMs = try reader.time()
        audience = try reader.value()
        protobuf = try reader.data()
    }
}

extension StreamHistory.SealedFrame: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(seq)
        writer.put(frameSyncID)
        writer.put(id)
        writer.put(inputBytes)
        writer.put(protobuf)
    }

    init(from reader: inout StateReader) throws(StateError) {
        seq = try reader.counter()
        frameSyncID = try reader.uint32()
        id = try reader.uint32()
        inputBytes = Int(try reader.uint32())
        protobuf = try reader.data()
        try StateError.check(id < .max, "SealedFrame: no frame can follow")
    }
}

extension Audience: StateCodable {
    func encode(into writer: inout StateWriter) {
        switch self {
        case .everyone: writer.put(kind: 0)
        case .everyoneBut(let player):
            writer.put(kind: 1)
            writer.put(player)
        case .only(let players):
            writer.put(kind: 2)
            writer.put(players)
        }
    }

    init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .everyone
        case 1: self = .everyoneBut(try reader.text())
        case 2: self = .only(try reader.values())
        default: throw .unknown(kind, of: "Audience")
        }
    }
}

/// Where the segments begin is nobody's business, and is not written.
extension SegmentedLog: StateCodable where Element: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(Int64(startIndex))
        writer.put(count)
        for position in startIndex..<endIndex { writer.put(self[position]) }
    }

    init(from reader: inout StateReader) throws(StateError) {
        self.init(startIndex: try reader.int(in: 0...(1 << 60)))
        for _ in 0..<(try reader.count()) { append(try reader.value()) }
    }
}
