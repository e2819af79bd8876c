public import HoldfastProtocol

extension ShardMachine {
    public init(from reader: inout StateReader, configuration: SharedLimits) throws(StateError) {
        throw StateError("no encoding yet")
    }
    public func encode(into writer: inout StateWriter) {}
    public func digest(into hash: inout StableHash) {}
}
