import HoldfastModel
import HoldfastProtocol
import HoldfastReplication

/// The gateway's shell: sockets, their machines, and what shards have for them.
extension SimProcess {
    private func endpoint(of socket: SimLink) -> SimEndpoint? {
        endpoints.first { $0.socket == socket }
    }

    private func endpoint(of link: Link) -> SimEndpoint? {
        endpoints.first { $0.link == link }
    }

    private func surroundings() -> ConnectionMachine.Surroundings {
        .init(nowMs: nowMs, wallMs: wallMs, tokens: SimTokens.shared, node: name)
    }

    // MARK: Sockets

    func opened(_ socket: SimLink) {
        guard isServing, let gateway = host?.gateway else {
            world.closeFromServer(socket)
            return
        }
        lastLink += 1
        let encoding: Encoding = socket.number % 2 == 0 ? .json : .protobuf
        let link = Link(gateway: gateway, number: lastLink, encoding: encoding)
        endpoints.append(SimEndpoint(socket: socket, link: link, limits: world.limits, nowMs: nowMs))
        world.accepted(socket, serial)
    }

    func received(_ message: ClientMessage, on socket: SimLink) {
        guard let endpoint = endpoint(of: socket) else { return }
        endpoint.lastReceivedMs = nowMs
        world.trace.mix(UInt64(socket.number) << 32 | UInt64(message.id))
        var decoded = DecodedClientMessage(unreadable: WireError(""))
        decoded.id = message.id
        decoded.idWasRead = true
        if case .connect? = message.body { decoded.bodyName = "connect" }
        decoded.message = .success(message)
        let around = surroundings()
        step(endpoint) { $0.receive(decoded, budgets: &$1, around) }
    }

    func active(_ socket: SimLink) { endpoint(of: socket)?.lastReceivedMs = nowMs }

    func closed(_ socket: SimLink) {
        guard let endpoint = endpoint(of: socket) else { return }
        step(endpoint) { machine, _ in machine.socketEnded() }
        endpoint.isOpen = false
        endpoints.removeAll { $0 === endpoint }
    }

    func drained(_ socket: SimLink) {
        if let endpoint = endpoint(of: socket) { pullIfDrained(endpoint) }
    }

    func sweepLinks() {
        nextSweepMs = nowMs + 100
        let nowMs = nowMs
        for endpoint in endpoints {
            pullIfDrained(endpoint)
            step(endpoint) { machine, _ in machine.tick(nowMs: nowMs) }
            guard endpoint.isOpen else { continue }
            let heartbeatMs = Int64(world.limits.value.heartbeatMs)
            if nowMs >= endpoint.nextPingMs {
                endpoint.nextPingMs = nowMs + heartbeatMs
                world.sendToClient(.ping, on: endpoint.socket, bytes: 0, isLive: false)
            }
            if nowMs - endpoint.lastReceivedMs > 2 * heartbeatMs {
                world.closeFromServer(endpoint.socket)
                closed(endpoint.socket)
            }
        }
    }

    func drainLinks() {
        for endpoint in endpoints { end(endpoint, .draining, "this node is leaving") }
    }

    private func end(_ endpoint: SimEndpoint, _ code: ErrorCode, _ why: String) {
        step(endpoint) { machine, _ in machine.end(code, why) }
    }

    // MARK: Machines

    private func step(
        _ endpoint: SimEndpoint, _ change: (inout ConnectionMachine, inout PlayerBudgets) -> [ConnectionMachine.Output]
    ) {
        guard endpoint.isOpen else { return }
        let player = endpoint.machine.charged
        var spent = player.flatMap { budgets[$0] } ?? PlayerBudgets(world.limits.value)
        let outputs = change(&endpoint.machine, &spent)
        if let player { budgets[player] = spent }
        for output in outputs { carryOut(output, endpoint) }
    }

    private func carryOut(_ output: ConnectionMachine.Output, _ endpoint: SimEndpoint) {
        switch output {
        case .send(let message): world.sendToClient(.message(message), on: endpoint.socket, bytes: 100, isLive: false)
        case .sendFrames(let id, let frames): send(frames, id: id, endpoint)
        case .route(let command): host?.submit(command, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
        case .close:
            endpoint.isOpen = false
            world.closeFromServer(endpoint.socket)
            endpoints.removeAll { $0 === endpoint }
        }
    }

    // MARK: From the shards

    func deliver(_ item: GatewayItem) {
        switch item {
        case .deliver(let link, let delivery):
            if let endpoint = endpoint(of: link) { deliver(delivery, endpoint) }
        case .stream(let room, let links, let except, let message):
            for link in links where link != except {
                if let endpoint = endpoint(of: link) { stream(message, of: room, endpoint) }
            }
        }
    }

    private func mayPass(_ word: RoomOrder<StreamMessage>.Word, _ endpoint: SimEndpoint) -> Bool {
        switch endpoint.order.judge(word, seat: endpoint.machine.seat, ended: endpoint.machine.endedClaims) {
        case .pass: return true
        case .hold, .drop: return false
        case .giveUp:
            end(endpoint, .serverError, "the end of the seat before did not come")
            return false
        }
    }

    private func deliver(_ delivery: Delivery, _ endpoint: SimEndpoint) {
        guard endpoint.isOpen, mayPass(.delivery(delivery), endpoint) else { return }
        if case .replay(_, let messages, let atHead) = delivery {
            for message in messages { replay(message, endpoint) }
            endpoint.wantsMore = !atHead
            pullIfDrained(endpoint)
            return
        }
        let around = surroundings()
        step(endpoint) { $0.deliver(delivery, budgets: &$1, around) }
        switch delivery {
        case .unseated, .seatLost: break
        default: return
        }
        for word in endpoint.order.release() {
            switch word {
            case .delivery(let delivery): deliver(delivery, endpoint)
            case .stream(let message, let room): stream(message, of: room, endpoint)
            }
        }
    }

    private func stream(_ message: StreamMessage, of room: String, _ endpoint: SimEndpoint) {
        guard endpoint.isOpen, mayPass(.stream(message, room: room), endpoint) else { return }
        let bytes = message.protobuf.count
        guard world.sendToClient(.message(message.message), on: endpoint.socket, bytes: bytes, isLive: true) else {
            world.dropQueued(endpoint.socket)
            endpoint.wantsMore = false
            end(endpoint, .slowConsumer, "the live queue of this link overflowed")
            return
        }
    }

    private func replay(_ message: ReplayMessage, _ endpoint: SimEndpoint) {
        switch message {
        case .frames(let frames): send(frames, id: 0, endpoint)
        case .event(let protobuf):
            do {
                let message = try Encoding.protobuf.decode(ServerMessage.self, from: protobuf)
                world.sendToClient(.message(message), on: endpoint.socket, bytes: protobuf.count, isLive: false)
            } catch {
                world.report(Violation(5, "a kept message cannot be read: \(error.message)"))
            }
        }
    }

    private func send(_ frames: StoredFrames, id: UInt32, _ endpoint: SimEndpoint) {
        do {
            let bytes = try Encoding.protobuf.encode(
                storedFrames: frames.frames, firstKept: frames.firstKept, partial: frames.partial,
                frameSyncId: frames.frameSyncID, id: id, seq: frames.seq)
            let message = try Encoding.protobuf.decode(ServerMessage.self, from: bytes)
            world.sendToClient(.message(message), on: endpoint.socket, bytes: bytes.count, isLive: false)
        } catch {
            world.report(Violation(5, "kept frames cannot be read: \(error)"))
        }
    }

    private func pullIfDrained(_ endpoint: SimEndpoint) {
        guard endpoint.wantsMore, endpoint.isOpen, world.isDrained(endpoint.socket), let seat = endpoint.machine.seat,
            let player = endpoint.machine.player
        else { return }
        endpoint.wantsMore = false
        let pull = ShardCommand.room(seat.room, .pull(player: player.id, seat.claim, endpoint.link))
        host?.submit(pull, nowMs: nowMs, wallMs: wallMs, into: &hostEffects)
    }

    // MARK: Lost shards

    /// The links whose player or seat lives in this shard end; their clients come back for what they lack.
    func lost(_ shard: ShardID, _ why: LinksLoss) {
        for endpoint in endpoints {
            let awaits = endpoint.order.waits(forRoomIn: shard, of: world.setup.layout)
            step(endpoint) { machine, _ in machine.shardLost(shard, why, awaits: awaits) }
        }
    }

    /// Its sender is told 1.
    func emptied(_ command: ShardCommand) {
        guard let (link, id) = command.asker, let endpoint = endpoint(of: link) else { return }
        let body = ServerMessage.Body.error(
            ErrorReply(code: ErrorCode.serverError.rawValue, message: "it was not done"))
        deliver(.reply(id: id, body, .nowhere), endpoint)
    }
}

/// A token is "project/player".
struct SimTokens: TokenChecking {
    static let shared = SimTokens()

    func check(_ token: String, nowS: Int64) -> Result<VerifiedToken, WireError> {
        guard let player = claimedPlayer(of: token) else { return .failure(WireError("the token is bad")) }
        return .success(VerifiedToken(player: player, name: player.id, avatar: ""))
    }

    func claimedPlayer(of token: String) -> PlayerKey? {
        let parts = token.split(separator: "/")
        guard parts.count == 2 else { return nil }
        return PlayerKey(project: String(parts[0]), id: String(parts[1]))
    }
}
