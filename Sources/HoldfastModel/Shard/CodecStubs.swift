public import HoldfastProtocol

// Until the encodings are there; nothing but this file has to go then.

extension ShardMachine {
    public init(from reader: inout StateReader, configuration: SharedLimits) throws(StateError) {
        throw StateError("no encoding yet")
    }
    public func encode(into writer: inout StateWriter) {}
    public func digest(into hash: inout StableHash) {}
}

extension ShardCommand {
    public init(from reader: inout StateReader) throws(StateError) { throw StateError("no encoding yet") }
    public func encode(into writer: inout StateWriter) {}
}

extension GatewayItem: StateCodable {
    public init(from reader: inout StateReader) throws(StateError) { throw StateError("no encoding yet") }
    public func encode(into writer: inout StateWriter) {}
}
