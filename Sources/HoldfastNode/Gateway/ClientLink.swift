internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

/// One client's WebSocket: the shell around its `ConnectionMachine`. Pinned to the loop of its socket.
actor ClientLink {
    let link: Link
    private let node: NodeLoop
    private let socket: WebSocketConnection
    private var machine: ConnectionMachine
    private var live = LiveQueue()
    /// The room has more of the past for this link when its socket has taken what it has.
    private var wantsMore = false
    private var isPaused = false
    private var order = RoomOrder<PreparedFrame>()
    private var nextPingMs: Int64
    /// While this side does not read, that its queue falls is the sign of life.
    private var progress: (queued: Int, atMs: Int64) = (0, 0)
    private let connectedMs: Int64

    nonisolated var unownedExecutor: UnownedSerialExecutor { socket.loop.asUnownedSerialExecutor() }

    init(link: Link, node: NodeLoop, socket: WebSocketConnection, nowMs: Int64) {
        self.link = link
        self.node = node
        self.socket = socket
        connectedMs = nowMs
        nextPingMs = nowMs + Int64(node.shared.limits.value.heartbeatMs)
        machine = ConnectionMachine(link: link, limits: node.shared.limits, nowMs: nowMs)
    }

    /// Above this many bytes of replies that the client does not read, its requests wait.
    private static let unreadReplies = 512 * 1024
    /// Below this, more of the past is asked for.
    private static let lowWater = 64 * 1024

    private func surroundings() -> ConnectionMachine.Surroundings {
        .init(
            nowMs: socket.loop.nowMs, wallMs: node.shared.wallMs, tokens: node.shared.tokens,
            node: node.shared.node.name)
    }

    // MARK: From the client

    private func take(_ decoded: DecodedClientMessage) {
        node.shared.counters.received.add()
        let around = surroundings()
        carryOut(withBudgets(decoded) { machine, budgets in machine.receive(decoded, budgets: &budgets, around) })
    }

    private nonisolated func decode(_ bytes: UnsafeRawBufferPointer, _ kind: WebSocketKind) -> DecodedClientMessage {
        guard (kind == .text) == (link.encoding == .json) else {
            let why = "this connection speaks \(link.encoding.rawValue): a frame of the other kind came"
            return DecodedClientMessage(unreadable: WireError(why))
        }
        return link.encoding.decodeClientMessage(from: bytes, limits: node.shared.limits.value)
    }

    private func withBudgets(
        _ decoded: DecodedClientMessage?,
        _ step: (inout ConnectionMachine, inout PlayerBudgets) -> [ConnectionMachine.Output]
    ) -> [ConnectionMachine.Output] {
        let ledger = node.shared.budgets
        // Inputs have no budget of their own; everything else is rare enough for a lock.
        var isInput = false
        if case .success(let message)? = decoded?.message, case .sendFrameInput? = message.body { isInput = true }
        guard !isInput, let player = machine.charged else {
            var none = ledger.none
            return step(&machine, &none)
        }
        var budgets = ledger.take(player)
        let outputs = step(&machine, &budgets)
        ledger.put(budgets, of: player, nowMs: socket.loop.nowMs)
        return outputs
    }

    // MARK: From the shards

    func deliver(_ delivery: Delivery) {
        guard mayPass(.delivery(delivery)) else { return }
        if case .replay(_, let messages, let atHead) = delivery {
            for message in messages { replay(message) }
            wantsMore = !atHead
            pullIfDrained()
            return
        }
        let around = surroundings()
        carryOut(withBudgets(nil) { machine, budgets in machine.deliver(delivery, budgets: &budgets, around) })
        switch delivery {
        case .unseated, .seatLost: break
        default: return
        }
        for word in order.release() {
            switch word {
            case .delivery(let delivery): deliver(delivery)
            case .stream(let frame, let room): stream(frame, of: room)
            }
        }
    }

    private func mayPass(_ word: RoomOrder<PreparedFrame>.Word) -> Bool {
        switch order.judge(word, seat: machine.seat, ended: machine.endedClaims) {
        case .pass: return true
        case .hold, .drop: return false
        case .giveUp:
            carryOut(machine.end(.serverError, "the end of the seat before did not come"))
            return false
        }
    }

    /// A message of the room's stream, as it happens.
    func stream(_ frame: PreparedFrame, of room: String) {
        guard mayPass(.stream(frame, room: room)) else { return }
        let queued = socket.queuedBytes
        live.add(frame.byteCount, isLive: true, queued: queued)
        socket.send(frame)
        let limit = node.shared.limits.value.sendQueueBytes
        guard queued + frame.byteCount > limit, live.liveBytes(queued: socket.queuedBytes) > limit else { return }
        node.shared.counters.slowConsumers.add()
        socket.dropQueued()
        live = LiveQueue()
        wantsMore = false
        carryOut(machine.end(.slowConsumer, "the live queue of this link overflowed"))
    }

    private func replay(_ message: ReplayMessage) {
        switch message {
        case .event(let protobuf):
            if link.encoding == .protobuf {
                send(protobuf, isReply: false)
                return
            }
            do {
                let message = try Encoding.protobuf.decode(ServerMessage.self, from: protobuf)
                send(link.encoding.encode(message), isReply: false)
            } catch {
                failReplay(error)
            }
        case .frames(let frames): send(id: 0, frames)
        }
    }

    private func send(id: UInt32, _ frames: StoredFrames) {
        do {
            send(
                try link.encoding.encode(
                    storedFrames: frames.frames, firstKept: frames.firstKept, partial: frames.partial,
                    frameSyncId: frames.frameSyncID, id: id, seq: frames.seq), isReply: id != 0)
        } catch {
            failReplay(error)
        }
    }

    /// What is kept was encoded here, so this is a fault of ours: the client comes back for what it lacks.
    private func failReplay(_ error: WireError) {
        node.shared.log.error("gateway.keptMessageUnreadable", ("why", .text(error.message)))
        carryOut(machine.end(.serverError, "a kept message could not be read"))
    }

    // MARK: To the client

    /// - Parameter isReply: what a client asks for and does not read makes its requests wait.
    private func send(_ payload: [UInt8], isReply: Bool = true) {
        let frame = PreparedFrame(link.encoding == .json ? .text : .binary, payload: payload)
        live.add(frame.byteCount, isLive: false, queued: socket.queuedBytes)
        socket.send(frame)
        node.shared.counters.sent.add()
        if isReply, !isPaused, socket.queuedBytes > Self.unreadReplies,
            live.otherBytes(queued: socket.queuedBytes) > Self.unreadReplies
        {
            isPaused = true
            socket.pauseReading()
        }
    }

    private func carryOut(_ outputs: [ConnectionMachine.Output]) {
        for output in outputs {
            switch output {
            case .send(let message): send(link.encoding.encode(message))
            case .sendFrames(let id, let frames): send(id: id, frames)
            case .route(let command): node.assumeIsolated { $0.submit(command) }
            case .close(let code): socket.close(code: code)
            }
        }
    }

    private func pullIfDrained() {
        guard wantsMore, socket.queuedBytes <= Self.lowWater, let seat = machine.seat, let player = machine.player
        else { return }
        wantsMore = false
        let pull = ShardCommand.room(seat.room, .pull(player: player.id, seat.claim, link))
        node.assumeIsolated { $0.submit(pull) }
    }

    // MARK: Time and ends

    func tick(nowMs: Int64) {
        pullIfDrained()
        carryOut(machine.tick(nowMs: nowMs))
        let heartbeatMs = Int64(node.shared.limits.value.heartbeatMs)
        if nowMs >= nextPingMs {
            nextPingMs = nowMs + heartbeatMs
            if socket.isOpen { socket.ping() }
        }
        if isPaused, socket.queuedBytes < progress.queued { progress.atMs = nowMs }
        progress.queued = socket.queuedBytes
        if nowMs - max(socket.lastReceivedMs, connectedMs, progress.atMs) > 2 * heartbeatMs, socket.isOpen {
            node.shared.counters.silent.add()
            socket.abort()
        }
    }

    /// Tells the client that this node leaves.
    func drain() {
        carryOut(machine.end(.draining, "this node is leaving"))
    }

    /// What this link has with a shard is void.
    func lose(_ shard: ShardID, _ why: LinksLoss) {
        let awaits = order.waits(forRoomIn: shard, of: node.shared.limits.layout)
        carryOut(machine.shardLost(shard, why, awaits: awaits))
    }

    /// A request is not done, and never will be: nodes died of it.
    func refuse(_ id: UInt32) {
        let error = ErrorReply(code: ErrorCode.serverError.rawValue, message: "this request could not be done")
        deliver(.reply(id: id, .error(error), .nowhere))
    }

    private func faulted(_ fault: WebSocketFault) {
        let why =
            switch fault {
            case .messageTooLarge: "a message is over \(node.shared.limits.value.messageBytes) bytes"
            case .invalidUTF8: "text that is not UTF-8"
            case .protocolError: "WebSocket framing is broken"
            }
        carryOut(machine.broken(why, webSocketCode: fault.closeCode))
    }

    private func ended() {
        carryOut(machine.socketEnded())
        node.assumeIsolated { $0.forget(self.link) }
    }

    private func drained() {
        if isPaused {
            isPaused = false
            socket.resumeReading()
        }
        pullIfDrained()
    }
}

extension ClientLink: WebSocketHandler {
    nonisolated func received(
        message: UnsafeRawBufferPointer, kind: WebSocketKind, on connection: WebSocketConnection
    ) {
        let decoded = decode(message, kind)
        assumeIsolated { $0.take(decoded) }
    }

    nonisolated func faulted(_ fault: WebSocketFault, on connection: WebSocketConnection) {
        assumeIsolated { $0.faulted(fault) }
    }

    nonisolated func drained(_ connection: WebSocketConnection) {
        assumeIsolated { $0.drained() }
    }

    nonisolated func closed(_ end: WebSocketEnd, on connection: WebSocketConnection) {
        assumeIsolated { $0.ended() }
    }
}
