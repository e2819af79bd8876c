internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

/// The links of one node: numbers what it sends to each other one, and judges what comes. Loop-confined.
final class ClusterLinks: LinkReceiver {
    /// Where a node listens, as its registration says.
    struct Address: Equatable {
        let host: String
        let port: UInt16

        /// Nil: it is not `tcp://host:port`.
        init?(_ endpoint: String) {
            guard endpoint.hasPrefix("tcp://"), let colon = endpoint.lastIndex(of: ":"),
                let port = UInt16(endpoint[endpoint.index(after: colon)...])
            else { return nil }
            let name = endpoint.dropFirst("tcp://".count)
            guard name.startIndex < colon else { return nil }
            host = String(name[..<colon]).trimmingBrackets
            self.port = port
        }
    }

    /// One of the two ways to a peer.
    private final class Way {
        let sender: LinkSender
        var number: UInt64 = 0

        init(_ sender: LinkSender) { self.sender = sender }
    }

    private struct Peer {
        var info: NodeInfo
        /// Live and bulk.
        var ways: [Way?] = [nil, nil]
        /// Of what it sends to this node.
        var orders = [LinkOrder(), LinkOrder()]
        /// What is to be sent with the next flush.
        var waiting = StateWriter()
    }

    /// Before its own registration is known, a node has nothing to say.
    var own: NodeID?
    /// Words of a peer; something before them may have been lost.
    var received: ((NodeID, _ isReset: Bool, [NodeWord]) -> Void)?
    /// A connection to a peer has ended.
    var ended: ((NodeID) -> Void)?

    private let hub: LinkHub
    private let log: Log
    private let isSecure: Bool
    private var peers: [NodeID: Peer] = [:]
    private var due: [NodeID] = []

    init(loop: EventLoop, config: ClusterConfig, log: Log) throws(LinkError) {
        self.log = log
        isSecure = config.linkKeys != nil
        hub = try LinkHub(loop: loop, options: LinkOptions(bind: config.link, keys: config.linkKeys))
        try hub.listen(self)
    }

    /// Where others connect.
    var endpoint: String { hub.endpoint }

    // MARK: Who there is

    /// These are registered. Others stay known until they are forgotten: one that has lost its registration goes on.
    func know(_ nodes: [NodeInfo]) {
        for info in nodes where info.id != own {
            if peers[info.id]?.info.contact == info.contact {
                peers[info.id]?.info = info
            } else {
                peers[info.id] = Peer(info: info)
            }
        }
    }

    /// Ends the links with those that will never come back.
    func forget(_ isGone: (NodeID) -> Bool) {
        for id in peers.keys.filter(isGone) { peers[id] = nil }
    }

    func address(of peer: NodeID) -> Address? { peers[peer].flatMap { Address($0.info.contact.link) } }

    // MARK: Out

    func send(_ heartbeat: Heartbeat, to peer: NodeID) {
        guard peers[peer] != nil else { return }
        if peers[peer]?.waiting.bytes.isEmpty ?? false { due.append(peer) }
        peers[peer]?.waiting.put(NodeWord.heartbeat(heartbeat))
    }

    func flush() {
        for peer in due {
            guard let words = peers[peer]?.waiting.bytes, !words.isEmpty else { continue }
            peers[peer]?.waiting.removeAll()
            send(PeerParcel(to: peer, isBulk: false, words: words))
        }
        due.removeAll(keepingCapacity: true)
    }

    /// What a link has no room for is lost: its number is missing, so that the receiver asks for everything again.
    func send(_ parcel: PeerParcel) {
        guard let own, let way = way(to: parcel.to, isBulk: parcel.isBulk) else { return }
        way.number += 1
        let batch = PeerBatch(
            from: own, toIncarnation: parcel.to.incarnation, isBulk: parcel.isBulk, session: 1, number: way.number,
            words: parcel.words)
        var writer = StateWriter(capacity: parcel.words.count + 128)
        writer.put(batch)
        if !way.sender.send(writer.bytes) {
            log.warning("link.full", ("peer", .text(parcel.to.text)), ("bulk", .flag(parcel.isBulk)))
        }
    }

    private func way(to peer: NodeID, isBulk: Bool) -> Way? {
        guard let found = peers[peer] else { return nil }
        let place = isBulk ? 1 : 0
        if let way = found.ways[place] { return way }
        do {
            let sender = try hub.open(to: found.info.contact.link, key: found.info.contact.linkKey) {
                [weak self] isConnected in
                self?.told(peer, isBulk: isBulk, isConnected)
            }
            let way = Way(sender)
            peers[peer]?.ways[place] = way
            return way
        } catch {
            log.error("link.failed", ("peer", .text(peer.text)), ("why", .text(error.description)))
            return nil
        }
    }

    private func told(_ peer: NodeID, isBulk: Bool, _ isConnected: Bool) {
        log.info(
            isConnected ? "link.connected" : "link.ended", ("peer", .text(peer.text)), ("bulk", .flag(isBulk)))
        if !isConnected { ended?(peer) }
    }

    // MARK: In

    func mayConnect(key: String, address: String) -> Bool {
        let isKnown = peers.values.contains { $0.info.contact.linkKey == key }
        if !isKnown { log.warning("link.strangerRefused", ("address", .text(address)), ("key", .text(key))) }
        return isKnown
    }

    func handshakeFailed(address: String) {
        log.warning("link.handshakeFailed", ("address", .text(address)))
    }

    func received(_ message: [UInt8], key: String?) {
        guard let own else { return }
        do throws(StateError) {
            var reader = StateReader(message)
            let batch = try reader.value(PeerBatch.self)
            try reader.finish()
            // Another process had this name, or an older one still sends.
            guard batch.toIncarnation == own.incarnation, let peer = peers[batch.from] else { return }
            guard !isSecure || peer.info.contact.linkKey == key else {
                log.warning("link.wrongKey", ("peer", .text(batch.from.text)))
                return
            }
            take(batch)
        } catch {
            log.warning("link.unreadable", ("why", .text(error.message)))
        }
    }

    private func take(_ batch: PeerBatch) {
        let verdict = peers[batch.from]?.orders[batch.isBulk ? 1 : 0].judge(
            sender: batch.from.incarnation, session: batch.session, number: batch.number)
        guard let verdict, verdict != .drop else { return }
        var words: [NodeWord] = []
        var reader = StateReader(batch.words)
        var isReset = verdict == .takeAfterReset
        do throws(StateError) {
            while !reader.isAtEnd { words.append(try reader.value()) }
        } catch {
            // What cannot be read is lost, and is asked for again like anything else that is.
            log.warning("link.unreadable", ("peer", .text(batch.from.text)), ("why", .text(error.message)))
            isReset = true
        }
        if isReset { log.info("link.reset", ("peer", .text(batch.from.text))) }
        received?(batch.from, isReset, words)
    }

    func close() {
        hub.close()
        peers = [:]
    }
}

extension String {
    /// `[::1]` as `::1`.
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
