import HoldfastProtocol

extension PlayerMachine: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(version: 1)
        writer.put(key)
        writer.put(run)
        writer.put(place)
        writer.put(open)
        writer.put(waiting)
        writer.put(memory)
        writer.put(lastInput)
        writer.put(ended)
        writer.put(isEndTold)
        writer.put(pendingAttach)
        writer.put(replacing)
        writer.put(attaching)
        writer.put(asked)
        writer.put(verifying)
        writer.put(windowMs)
        writer.put(graceMs)
    }

    init(from reader: inout StateReader) throws(StateError) {
        try reader.version(1, of: "PlayerMachine")
        key = try reader.value()
        run = try reader.optional()
        place = try reader.value()
        open = try reader.optional()
        waiting = try reader.values()
        memory = try reader.value()
        lastInput = try reader.uint32()
        ended = try reader.optional()
        isEndTold = try reader.bool()
        pendingAttach = try reader.optional()
        replacing = try reader.values()
        attaching = try reader.optional()
        asked = try reader.optional()
        verifying = try reader.optional()
        windowMs = try reader.time()
        graceMs = try reader.time()
    }
}

extension PlayerMachine.Run: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(resumeToken)
        writer.put(link)
        writer.put(connection)
        writer.put(firstConnection)
        writer.put(droppedAtMs)
        writer.put(offlineTold)
        writer.put(name)
        writer.put(avatar)
    }

    init(from reader: inout StateReader) throws(StateError) {
        resumeToken = try reader.text()
        link = try reader.optional()
        connection = try reader.number()
        firstConnection = try reader.number()
        droppedAtMs = try reader.optional { (reader) throws(StateError) in try reader.time() }
        offlineTold = try reader.bool()
        name = try reader.text()
        avatar = try reader.text()
    }
}

extension PlayerMachine.Place: StateCodable {
    func encode(into writer: inout StateWriter) {
        switch self {
        case .free: writer.put(kind: 0)
        case .claiming(let room, let claim, let abandoned):
            writer.put(kind: 1)
            writer.put(room)
            writer.put(claim)
            writer.put(abandoned)
        case .matching(let pool, let claim, let abandoned):
            writer.put(kind: 2)
            writer.put(pool)
            writer.put(claim)
            writer.put(abandoned)
        case .seated(let room, let claim):
            writer.put(kind: 3)
            writer.put(room)
            writer.put(claim)
        case .leaving(let room, let claim):
            writer.put(kind: 4)
            writer.put(room)
            writer.put(claim)
        }
    }

    init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .free
        case 1:
            let room = try reader.text()
            let claim = try reader.number()
            self = .claiming(room: room, claim, abandoned: try reader.bool())
        case 2:
            let pool = try reader.value(PoolKey.self)
            let claim = try reader.number()
            self = .matching(pool, claim, abandoned: try reader.bool())
        case 3:
            let room = try reader.text()
            self = .seated(room: room, try reader.number())
        case 4:
            let room = try reader.text()
            self = .leaving(room: room, try reader.number())
        default: throw .unknown(kind, of: "PlayerMachine.Place")
        }
    }
}

extension PlayerMachine.OpenCall: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(id)
        writer.put(link)
        writer.put(Int64(times))
        writer.put(isLeave)
        writer.put(listener)
    }

    init(from reader: inout StateReader) throws(StateError) {
        id = try reader.uint32()
        link = try reader.value()
        // As many answers are made.
        times = try reader.int(in: 0...(1 << 20))
        isLeave = try reader.bool()
        listener = try reader.optional()
    }
}

extension PlayerMachine.RoomAttach: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(room)
        writer.put(template)
    }

    init(from reader: inout StateReader) throws(StateError) {
        room = try reader.text()
        template = try reader.value()
    }
}

extension PlayerMachine.Asked: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(call)
        writer.put(listener)
        writer.put(atMs)
        writer.put(first)
        writer.put(isCancelled)
    }

    init(from reader: inout StateReader) throws(StateError) {
        call = try reader.value()
        listener = try reader.value()
        atMs = try reader.time()
        first = try reader.number()
        isCancelled = try reader.bool()
    }
}

extension PlayerMachine.Verifying: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(call)
        writer.put(number)
    }

    init(from reader: inout StateReader) throws(StateError) {
        call = try reader.value()
        number = try reader.number()
    }
}

extension PlayerMachine.WaitingCall: StateCodable {
    func encode(into writer: inout StateWriter) {
        writer.put(link)
        writer.put(id)
        writer.put(call)
    }

    init(from reader: inout StateReader) throws(StateError) {
        link = try reader.value()
        id = try reader.uint32()
        call = try reader.value()
    }
}
