import HoldfastProtocol

extension FrameSyncMachine: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(version: 1)
        writer.put(message: told.started)
        writer.put(startedMs)
        writer.put(endsAtMs)
        writer.put(sealed)
        // How much of it each player put there follows from the inputs.
        writer.put(list: inputs) { $0.put(message: $1) }
        writer.put(list: changes) { $0.put(message: $1) }
        writer.put(Int64(intervals))
        writer.put(tick)
        writer.put(message: snapshot)
        writer.put(list: reports.sorted { $0.key < $1.key }) { writer, report in
            writer.put(report.key)
            writer.put(list: report.value.hashes) { $0.put(message: $1) }
            writer.put(report.value.told)
        }
    }

    init(from reader: inout StateReader) throws(StateError) {
        try reader.version(1, of: "FrameSyncMachine")
        let started = try reader.message(FrameSyncInfo.self)
        told = Told(started)
        id = started.frameSyncId
        rate = Int64(max(1, started.frameRate))
        startedMs = try reader.time()
        endsAtMs = try reader.time()
        sealed = try reader.uint32()
        inputs = try reader.list { (reader) throws(StateError) in try reader.message() }
        changes = try reader.list { (reader) throws(StateError) in try reader.message() }
        intervals = try reader.int(in: 0...(1 << 40))
        tick = Int64(try reader.int(in: 0...(1 << 40)))
        snapshot = try reader.optionalMessage()
        let known = try reader.list { (reader) throws(StateError) in
            let frame = try reader.uint32()
            let hashes = try reader.list { (reader) throws(StateError) in try reader.message(FrameHash.self) }
            return (frame: frame, reports: Reports(hashes: hashes, told: try reader.bool()))
        }
        try StateError.check(known.map(\.frame).isStrictlyGrowing, "FrameSyncMachine: reports out of order")
        reports = Dictionary(uniqueKeysWithValues: known.map { ($0.frame, $0.reports) })
        try StateError.check(
            sealed < .max && rate <= 1000 && snapshot?.frameId ?? 0 <= sealed, "FrameSyncMachine: out of bounds")
        for input in inputs {
            taken[input.playerId, default: 0] += 1
            inputBytes += Self.size(of: input)
        }
    }

    /// What `frameBytesPerReply` counts of an input.
    private static func size(of input: FrameInput) -> Int {
        switch input.payload {
        case .data(let text): text.utf8.count
        case .dataBytes(let bytes): bytes.count
        case nil: 0
        }
    }
}
