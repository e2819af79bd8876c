public import HoldfastProtocol

/// What each node sends to each other one a few times a second.
public struct Heartbeat: Hashable, Sendable {
    /// A node that the sender does not hear.
    public struct Unheard: Hashable, Sendable {
        public let node: NodeID
        /// For how long, in time during which the sender was on time.
        public let forMs: Int64

        public init(node: NodeID, forMs: Int64) {
            self.node = node
            self.forMs = forMs
        }
    }

    /// By the sender's clock, which only the sender understands.
    public var sentAtMs: Int64
    /// The greatest `sentAtMs` that came from the receiver: what the sender had heard when it sent this.
    public var echoMs: Int64?
    /// Sorted by node; only what the sender itself observed while on time.
    public var unheard: [Unheard]

    public init(sentAtMs: Int64, echoMs: Int64? = nil, unheard: [Unheard] = []) {
        self.sentAtMs = sentAtMs
        self.echoMs = echoMs
        self.unheard = unheard
    }
}

extension Heartbeat: StateCodable {
    public func encode(into writer: inout StateWriter) {
        writer.put(sentAtMs)
        writer.put(echoMs) { $0.put($1) }
        writer.put(list: unheard) {
            $0.put($1.node)
            $0.put($1.forMs)
        }
    }

    public init(from reader: inout StateReader) throws(StateError) {
        sentAtMs = try reader.time()
        echoMs = try reader.optional { (reader) throws(StateError) in try reader.time() }
        unheard = try reader.list { (reader) throws(StateError) in
            let node = try reader.value(NodeID.self)
            return Unheard(node: node, forMs: try reader.time())
        }
    }
}
