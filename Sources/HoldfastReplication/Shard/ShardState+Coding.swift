public import HoldfastProtocol

/// A shard's state as bytes, for a new replica, and as a sum, to compare replicas by.
extension ShardState {
    private static var version: UInt8 { 1 }

    public func encode(into writer: inout StateWriter) {
        writer.put(Self.version)
        writer.put(home)
        writer.put(generation)
        if mutations.contains(.snapshotWithoutChannels) {
            var bare = self
            bare.gateways = [:]
            bare.peers = [:]
            bare.encodeFrame(into: &writer)
        } else {
            encodeFrame(into: &writer)
        }
        machine.encode(into: &writer)
    }

    /// - Throws: when the bytes are not the state of such a shard.
    public init(
        from reader: inout StateReader, home: ShardID, generation: UInt64, layout: ShardLayout, outboxLimit: Int,
        configuration: Machine.Configuration
    ) throws(StateError) {
        let version = try reader.byte()
        guard version == Self.version else { throw StateError("shard state of version \(version)") }
        let written: ShardID = try reader.value()
        guard written == home else { throw StateError("state of shard \(written.number), not of \(home.number)") }
        let its = try reader.number()
        guard its == generation else { throw StateError("state of generation \(its), not of \(generation)") }
        self.home = home
        self.generation = generation
        self.layout = layout
        self.outboxLimit = outboxLimit
        timeMs = try reader.optional { (reader) throws(StateError) in try reader.int64() }
        wallOffsetMs = try reader.int64()
        for _ in 0..<(try reader.count()) {
            let gateway: GatewayID = try reader.value()
            var channel = GatewayChannel(session: try reader.number())
            channel.isLost = try reader.bool()
            channel.accepted = try reader.number()
            channel.outbox = try Self.outbox(&reader)
            gateways[gateway] = channel
        }
        for _ in 0..<(try reader.count()) {
            let shard: ShardID = try reader.value()
            var peer = PeerChannel(generation: try reader.number())
            peer.accepted = try reader.number()
            peer.outbox = try Self.outbox(&reader)
            peers[shard] = peer
        }
        machine = try Machine(from: &reader, configuration: configuration)
    }

    /// Equal for equal states.
    public func digest() -> UInt64 {
        var hash = StableHash()
        var writer = StateWriter()
        encodeFrame(into: &writer)
        hash.mix(writer.bytes)
        machine.digest(into: &hash)
        return hash.value
    }

    /// Everything but the machine.
    private func encodeFrame(into writer: inout StateWriter) {
        writer.put(timeMs) { $0.put($1) }
        writer.put(wallOffsetMs)
        writer.put(gateways.count)
        for (gateway, channel) in gateways.sorted(by: { $0.key < $1.key }) {
            writer.put(gateway)
            writer.put(channel.session)
            writer.put(channel.isLost)
            writer.put(mutations.contains(.acceptedOutside) ? 0 : channel.accepted)
            Self.put(channel.outbox, &writer)
        }
        writer.put(peers.count)
        for (shard, peer) in peers.sorted(by: { $0.key < $1.key }) {
            writer.put(shard)
            writer.put(peer.generation)
            writer.put(mutations.contains(.acceptedOutside) ? 0 : peer.accepted)
            Self.put(peer.outbox, &writer)
        }
    }

    private static func put<Element: StateCodable>(_ outbox: Outbox<Element>, _ writer: inout StateWriter) {
        writer.put(outbox.first)
        writer.put(list: outbox.all) {
            $0.put($1.index)
            $0.put($1.element)
        }
    }

    private static func outbox<Element: StateCodable>(
        _ reader: inout StateReader
    ) throws(StateError) -> Outbox<Element> {
        let first = try reader.number()
        guard first > 0, first < UInt64.max / 2 else { throw StateError("an outbox from number \(first)") }
        let items = try reader.list { (reader) throws(StateError) in
            Outbox<Element>.Item(index: try reader.number(), element: try reader.value())
        }
        return Outbox(first: first, items)
    }
}
