import HoldfastProtocol

extension RoomMachine: StateCodable {
    func encode(into writer: inout StateWriter) {
        encodeAllButHistory(into: &writer)
        writer.put(history)
    }

    /// The room's own part of a digest: what it keeps of its stream stands in it by a sum.
    func digest(into hash: inout StableHash, by writer: inout StateWriter) {
        writer.removeAll()
        encodeAllButHistory(into: &writer)
        hash.mix(long: writer.bytes)
        history.digest(into: &hash)
    }

    private func encodeAllButHistory(into writer: inout StateWriter) {
        writer.put(version: 1)
        writer.put(key)
        writer.put(pool)
        writer.put(createdMs)
        writer.put(message: config)
        writer.put(players)
        writer.put(list: spectators.sortedByBytes()) { $0.put($1.value) }
        writer.put(sorted: memories) { $0.put($1) }
        writer.put(ownerID)
        writer.put(bans)
        writer.put(isClosed)
        writer.put(seq)
        // Who listens follows from the members.
        writer.put(frameSync)
        writer.put(lastFrameSyncID)
        writer.put(nobodyOnlineSinceMs)
        writer.put(nobodyOnlineMs)
        writer.put(list: stoppedSyncs) { writer, sync in
            writer.put(sync.id)
            writer.put(sync.dropAtMs)
        }
        writer.put(advert)
        writer.put(listing)
        writer.put(listedAtMs)
        writer.put(listAtMs)
    }

    init(from reader: inout StateReader) throws(StateError) {
        try reader.version(1, of: "RoomMachine")
        key = try reader.value()
        pool = try reader.optional()
        createdMs = try reader.time()
        config = try reader.roomConfig()
        players = try reader.values()
        spectators = try Self.spectators(from: &reader)
        memories = try reader.sorted { (reader) throws(StateError) in try reader.value() }
        ownerID = try reader.text()
        bans = try reader.values()
        isClosed = try reader.bool()
        seq = try reader.counter()
        frameSync = try reader.optional()
        lastFrameSyncID = try reader.uint32()
        nobodyOnlineSinceMs = try reader.optional { (reader) throws(StateError) in try reader.time() }
        nobodyOnlineMs = try reader.time()
        stoppedSyncs = try reader.list { (reader) throws(StateError) in
            let id = try reader.uint32()
            return (id, try reader.time())
        }
        advert = try reader.optional()
        listing = try reader.optional()
        listedAtMs = try reader.int64()
        listAtMs = try reader.optional { (reader) throws(StateError) in try reader.time() }
        history = try reader.value()
        try check()
    }

    private static func spectators(from reader: inout StateReader) throws(StateError) -> [String: RoomMember] {
        let members = try reader.values(RoomMember.self)
        try StateError.check(
            members.map { ExactText($0.player) }.isStrictlyGrowing, "RoomMachine: spectators out of order")
        let spectators = Dictionary(members.map { ($0.player, $0) }) { first, _ in first }
        // Texts that look alike are one key.
        try StateError.check(spectators.count == members.count, "RoomMachine: a spectator twice")
        return spectators
    }

    private func check() throws(StateError) {
        try StateError.check(lastFrameSyncID < .max, "RoomMachine: no frame sync can follow")
        // It has never been listed, or was at some time.
        try StateError.check(listedAtMs >= .min / 2 && listedAtMs <= 1 << 52, "RoomMachine: no time of listing")
        // An earlier one would be put off for ever.
        try StateError.check(
            listAtMs ?? .max >= listedAtMs + Self.listEveryMs, "RoomMachine: to be listed before it may be")
        let newest = max(
            history.events.last?.seq ?? history.forgottenSeq, history.frames.last?.seq ?? 0, history.forgottenSeq)
        try StateError.check(newest <= seq, "RoomMachine: its history is ahead of it")
    }
}

extension RoomMember: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(player)
        writer.put(claim)
        writer.put(isSpectator)
        writer.put(customStatus)
        writer.put(customProperties)
        writer.put(online)
        writer.put(connection)
        writer.put(link)
        writer.put(reading)
        writer.put(joinedSeq)
        writer.put(baseSeq)
        writer.put(rejoins)
        writer.put(snapshotBudget)
        writer.put(hashBudget)
        writer.put(lastInput)
    }

    init(from reader: inout StateReader) throws(StateError) {
        player = try reader.text()
        claim = try reader.number()
        isSpectator = try reader.bool()
        customStatus = try reader.int32()
        customProperties = try reader.text()
        online = try reader.bool()
        connection = try reader.number()
        link = try reader.optional()
        reading = try reader.value()
        joinedSeq = try reader.number()
        baseSeq = try reader.number()
        rejoins = try reader.values()
        snapshotBudget = try reader.value()
        hashBudget = try reader.value()
        lastInput = try reader.uint32()
    }
}

extension RoomMember.Reading: StateCodable {
    func encode(into writer: inout StateWriter) {
        switch self {
        case .nothing: writer.put(kind: 0)
        case .past(let cursor):
            writer.put(kind: 1)
            writer.put(cursor.seq)
            writer.put(cursor.frame)
        case .live: writer.put(kind: 2)
        }
    }

    init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .nothing
        case 1:
            let seq = try reader.number()
            self = .past(StreamCursor(seq: seq, frame: try reader.int()))
        case 2: self = .live
        default: throw .unknown(kind, of: "RoomMember.Reading")
        }
    }
}
