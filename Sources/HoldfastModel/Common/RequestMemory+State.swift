public import HoldfastProtocol

extension RequestMemory: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(list: executed) { writer, request in
            writer.put(request.id)
            writer.put(request.outcome)
        }
        writer.put(isForgetful)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        executed = try reader.list { (reader) throws(StateError) in
            let id = try reader.uint32()
            return (id, try reader.value(Outcome.self))
        }
        isForgetful = try reader.bool()
    }
}

extension RequestMemory.Outcome: StateCodable {
    public func encode(into writer: inout StateWriter) {
        switch self {
        case .done: writer.put(kind: 0)
        case .error(let error):
            writer.put(kind: 1)
            writer.put(message: error)
        case .joined(let claim):
            writer.put(kind: 2)
            writer.put(claim)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        let kind = try reader.byte()
        switch kind {
        case 0: self = .done
        case 1: self = .error(try reader.message(ErrorReply.self))
        case 2: self = .joined(try reader.number())
        default: throw .unknown(kind, of: "RequestMemory.Outcome")
        }
    }
}

extension RequestDigest: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(executed)
        writer.put(list: open) { writer, request in
            writer.put(request.id)
            writer.put(request.isSeatCall)
        }
        writer.put(forgetful)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        executed = try reader.values()
        open = try reader.list { (reader) throws(StateError) in
            let id = try reader.uint32()
            return Open(id: id, isSeatCall: try reader.bool())
        }
        forgetful = try reader.bool()
    }
}

extension TokenBucket: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(intervalNs)
        writer.put(toleranceNs)
        writer.put(fullAtNs)
    }

    public init(from reader: inout StateReader) throws(StateError) {
        intervalNs = try reader.int64()
        toleranceNs = try reader.int64()
        fullAtNs = try reader.int64()
        // What the least and the most tokens a second make; beyond, sums with them could overflow.
        let bounds: ClosedRange<Int64> = 0...(1 << 50)
        try StateError.check(
            bounds.contains(intervalNs) && bounds.contains(toleranceNs) && fullAtNs.magnitude <= 1 << 62,
            "TokenBucket: out of bounds")
    }
}
