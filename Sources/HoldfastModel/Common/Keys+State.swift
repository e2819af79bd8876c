public import HoldfastProtocol

extension PlayerKey: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(project)
        writer.put(id)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let project = try reader.text()
        self.init(project: project, id: try reader.text())
    }
}

extension RoomKey: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(project)
        writer.put(id)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let project = try reader.text()
        self.init(project: project, id: try reader.text())
    }
}

extension ExactText: StateCodable {
    public func encode(into writer: inout StateWriter) { writer.put(text) }
    public init(from reader: inout StateReader) throws(StateError) { self.init(try reader.text()) }
}

extension MatchParam: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(key)
        writer.put(value)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        key = try reader.value()
        value = try reader.value()
    }
}

extension PoolKey: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(project)
        writer.put(type)
        writer.put(maxPlayerCount)
        writer.put(params)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        project = try reader.text()
        type = try reader.value()
        maxPlayerCount = try reader.uint32()
        params = try reader.values()
        // A pool fills rooms of this size, and keys are equal when their parameters stand in the same order.
        guard maxPlayerCount > 0 else { throw StateError("PoolKey: rooms for nobody") }
        try StateError.check(params.map(\.key).isStrictlyGrowing, "PoolKey: parameters out of order")
    }

    /// In the order in which pools are written.
    static func isOrdered(_ a: PoolKey, _ b: PoolKey) -> Bool {
        let (project, other) = (ExactText(a.project), ExactText(b.project))
        if project != other { return project < other }
        if a.type != b.type { return a.type < b.type }
        if a.maxPlayerCount != b.maxPlayerCount { return a.maxPlayerCount < b.maxPlayerCount }
        return a.params.lexicographicallyPrecedes(b.params) { $0.key != $1.key ? $0.key < $1.key : $0.value < $1.value }
    }
}

extension PlayerKey {
    /// In the order in which players are written.
    static func isOrdered(_ a: PlayerKey, _ b: PlayerKey) -> Bool {
        let (project, other) = (ExactText(a.project), ExactText(b.project))
        return project != other ? project < other : ExactText(a.id) < ExactText(b.id)
    }
}

extension RoomKey {
    /// In the order in which rooms are written.
    static func isOrdered(_ a: RoomKey, _ b: RoomKey) -> Bool {
        let (project, other) = (ExactText(a.project), ExactText(b.project))
        return project != other ? project < other : ExactText(a.id) < ExactText(b.id)
    }
}

extension Collection where Element: Comparable {
    var isStrictlyGrowing: Bool { zip(self, dropFirst()).allSatisfy { $0 < $1 } }
}

extension StateError {
    /// - Throws: this when what must hold does not.
    static func check(_ holds: Bool, _ message: @autoclosure () -> String) throws(StateError) {
        if !holds { throw StateError(message()) }
    }
}

// MARK: - Bodies of messages

extension StateWriter {
    mutating func put(body: ServerMessage.Body) { put(message: ServerMessage(body: body)) }

    /// Inputs come in numbers, so they are written without the detour over their message.
    mutating func put(body: ClientMessage.Body) {
        guard case .sendFrameInput(let input) = body else {
            put(kind: 0)
            put(message: ClientMessage(body: body))
            return
        }
        switch input.payload {
        case nil: put(kind: 1)
        case .data(let text):
            put(kind: 2)
            put(text)
        case .dataBytes(let bytes):
            put(kind: 3)
            put(bytes)
        }
        put(input.frameSyncId)
    }
}

extension StateReader {
    mutating func serverBody() throws(StateError) -> ServerMessage.Body {
        guard let body = try message(ServerMessage.self).body else { throw StateError("a message without a body") }
        return body
    }

    mutating func clientBody() throws(StateError) -> ClientMessage.Body {
        let kind = try byte()
        var input = SendFrameInput()
        switch kind {
        case 0:
            guard let body = try message(ClientMessage.self).body else { throw StateError("a message without a body") }
            return body
        case 1: break
        case 2: input.payload = .data(try text())
        case 3: input.payload = .dataBytes(try data())
        default: throw .unknown(kind, of: "ClientMessage.Body")
        }
        input.frameSyncId = try uint32()
        return .sendFrameInput(input)
    }
}

extension Dictionary where Key == String {
    /// In the order of the keys' bytes.
    func sortedByBytes() -> [(key: String, value: Value)] { sorted { ExactText($0.key) < ExactText($1.key) } }
}
