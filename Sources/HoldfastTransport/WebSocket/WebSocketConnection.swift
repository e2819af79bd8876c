/// Takes what happens on a WebSocket. All calls come on the connection's loop, never from within a method of the
/// connection that the owner calls: an actor pinned to that loop can enter itself with `assumeIsolated` in each of
/// them.
public protocol WebSocketHandler: AnyObject {
    /// A complete message. The bytes are valid in this call only; text is valid UTF-8.
    func received(message: UnsafeRawBufferPointer, kind: WebSocketKind, on connection: WebSocketConnection)

    /// The peer broke a rule. Nothing more is received; `send` still works. The owner should send what it has to say
    /// and call
    /// `close(code: fault.closeCode)`; after 5 s the connection does that by itself.
    func faulted(_ fault: WebSocketFault, on connection: WebSocketConnection)

    /// The send queue fell to 16 KiB or less after it had been above. Does nothing by default.
    func drained(_ connection: WebSocketConnection)

    /// The connection has ended; exactly once, and the last call. The connection lets go of the handler then.
    func closed(_ end: WebSocketEnd, on connection: WebSocketConnection)
}

extension WebSocketHandler {
    /// Nothing by default.
    public func drained(_ connection: WebSocketConnection) {}
}

/// How a WebSocket ended.
public enum WebSocketEnd: Sendable, Equatable {
    /// The peer sent a close frame first: its code (1005: none) and reason.
    case peer(code: UInt16, reason: String)
    /// The peer ended the stream without a close frame.
    case eof
    /// The socket broke, with this `errno` value.
    case reset(Int32)
    /// This side ended it: `close`, `abort`, or the loop stopped.
    case local
}

/// What both ends of a WebSocket can set.
public struct WebSocketOptions: Sendable {
    /// The largest message that is received, over all its fragments, in bytes (at least 125). A larger one is a fault.
    public var maxMessageBytes = 96 * 1024
    /// How long `close` waits for the peer before it aborts, in ms.
    public var closeTimeoutMs: Int64 = 2000

    /// The defaults.
    public init() {}
}

/// One WebSocket connection, of a server or a client. Loop-confined: each method traps off its loop.
/// While it is open, it is kept alive by its loop, and it keeps its handler.
///
/// What is sent within one batch of the loop leaves in one system call at its end. The queue has no limit of its own:
/// the owner looks at `queuedBytes` and ends a link that does not read.
///
/// `@unchecked Sendable`: touched only on its loop, checked at each public entry.
public final class WebSocketConnection: @unchecked Sendable {
    enum State {
        /// Next: faulted, closing, closed.
        case open
        /// The peer broke a rule; what comes is dropped. Next: closing, closed.
        case faulted
        /// Our close frame is queued; waits for the peer's. Next: closed.
        case closing
        case closed
    }

    /// The loop that carries it.
    public let loop: EventLoop
    /// The peer's address without port.
    public let remoteAddress: String
    /// What both sides agreed on.
    public let subprotocol: String?
    /// When the last bytes came, whatever they were (pongs too), on the clock of `EventLoop.nowMs`.
    public private(set) var lastReceivedMs: Int64

    private let channel: SocketChannel
    private let receiver: WebSocketReceiver
    private let options: WebSocketOptions
    private var masks: MaskSource?
    private var handler: (any WebSocketHandler)?
    private var state = State.open
    private var latePong: PreparedFrame?
    private var timer: LoopTimer?
    /// Tells the server (or nobody) that the connection ended.
    var onEnd: (() -> Void)?

    /// Takes over a channel after the handshake. The caller sets the handler and then calls `start`.
    init(channel: SocketChannel, isServer: Bool, subprotocol: String?, options: WebSocketOptions) {
        loop = channel.loop
        remoteAddress = channel.remoteAddress
        self.subprotocol = subprotocol
        self.channel = channel
        self.options = options
        receiver = WebSocketReceiver(isServer: isServer, maxMessageBytes: options.maxMessageBytes)
        masks = isServer ? nil : MaskSource()
        lastReceivedMs = loop.nowMs
        receiver.sink = self
    }

    /// Begins to deliver, first bytes that came right behind the handshake.
    func start(handler: any WebSocketHandler, early: [UInt8]) {
        self.handler = handler
        channel.delegate = self
        channel.resumeReading()
        guard !early.isEmpty else { return }
        loop.afterBatch { [weak self] in
            early.withUnsafeBytes { self?.receiver.feed($0) }
        }
    }

    /// Whether `send` still makes sense: not closing, not closed.
    public var isOpen: Bool { state == .open || state == .faulted }

    /// Bytes that wait to leave.
    public var queuedBytes: Int {
        loop.preconditionCurrent()
        return channel.queuedBytes
    }

    /// Queues a message. Nothing when closing or closed.
    public func send(_ frame: PreparedFrame) {
        loop.preconditionCurrent()
        guard isOpen else { return }
        put(frame)
    }

    /// Drops what is queued and has not begun to leave.
    public func dropQueued() {
        loop.preconditionCurrent()
        channel.dropUnsent()
    }

    /// Queues an empty ping; the pong shows in `lastReceivedMs`.
    public func ping() {
        loop.preconditionCurrent()
        guard isOpen else { return }
        put(WebSocketConnection.emptyPing)
    }

    /// Ends the connection in order: a close frame after what is queued, then waits for the peer's (at most
    /// `closeTimeoutMs` in all), then `closed(.local)`. Nothing is received any more. Only the first call counts.
    /// - Parameters:
    ///   - code: 1000…4999 as RFC 6455 has it.
    ///   - reason: cut at 123 bytes.
    ///   - afterFlush: false drops what is queued and has not begun to leave.
    public func close(code: UInt16 = 1000, reason: String = "", afterFlush: Bool = true) {
        loop.preconditionCurrent()
        guard isOpen else { return }
        let wasFaulted = state == .faulted
        state = .closing
        if !afterFlush { channel.dropUnsent() }
        put(WebSocketConnection.closeFrame(code: code, reason: reason))
        if wasFaulted {
            // The peer's close frame would not be understood: the end of its stream will do.
            timer = nil
            channel.finish(lingerMs: options.closeTimeoutMs)
        } else {
            channel.resumeReading()
            loop.afterBatch { [weak self] in self?.receiver.resume() }
            setTimer(options.closeTimeoutMs) { $0.channel.abort() }
        }
    }

    /// Ends the connection now; what is queued is lost. `closed(.local)` follows.
    public func abort() {
        loop.preconditionCurrent()
        guard state != .closed else { return }
        channel.abort()
    }

    /// Stops to take bytes from the socket, so that the peer has to wait. Up to 4 KiB of messages may still be
    /// delivered. The end of the connection is not noticed meanwhile.
    public func pauseReading() {
        loop.preconditionCurrent()
        guard state == .open else { return }
        receiver.pause()
        channel.pauseReading()
    }

    /// Takes bytes again, at the end of the batch.
    public func resumeReading() {
        loop.preconditionCurrent()
        guard state == .open else { return }
        loop.afterBatch { [weak self] in
            guard let self, state == .open else { return }
            receiver.resume()
            if !receiver.isPaused { channel.resumeReading() }
        }
    }

    // MARK: Inside

    private static let emptyPing = PreparedFrame(opcode: 9, payload: UnsafeRawBufferPointer(start: nil, count: 0))

    private static func closeFrame(code: UInt16, reason: String) -> PreparedFrame {
        // 1005 stands for "no code" and never goes over the wire.
        guard code != 1005 else {
            return PreparedFrame(opcode: 8, payload: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        var text = reason
        while text.utf8.count > 123 { text.removeLast() }
        let payload = [UInt8(code >> 8), UInt8(code & 255)] + Array(text.utf8)
        return payload.withUnsafeBytes { PreparedFrame(opcode: 8, payload: $0) }
    }

    @inline(__always)
    private func put(_ frame: PreparedFrame) {
        if masks == nil {
            channel.send(frame)
        } else if let key = masks?.next() {
            channel.send(frame.masked(with: key))
        }
    }

    private func setTimer(_ ms: Int64, _ fire: @escaping (WebSocketConnection) -> Void) {
        let timer = LoopTimer(loop: loop) { [weak self] in
            if let self { fire(self) }
        }
        timer.schedule(afterMs: ms)
        self.timer = timer
    }

    /// The owner learns of the end at the end of the batch: never from within one of its own calls.
    private func end(_ end: WebSocketEnd) {
        guard state != .closed else { return }
        state = .closed
        timer = nil
        latePong = nil
        receiver.stop()
        let handler = self.handler
        let onEnd = self.onEnd
        self.handler = nil
        self.onEnd = nil
        loop.afterBatch {
            onEnd?()
            handler?.closed(end, on: self)
        }
    }
}

extension WebSocketConnection: ChannelDelegate {
    func channelReceived(_ bytes: UnsafeRawBufferPointer) {
        lastReceivedMs = loop.nowMs
        receiver.feed(bytes)
    }

    func channelEnded(_ end: ChannelEnd) {
        switch (end, state) {
        case (_, .closed): break
        case (.eof, .closing):
            self.end(.local)
            channel.finish(lingerMs: options.closeTimeoutMs)
        case (.eof, .open), (.eof, .faulted):
            self.end(.eof)
            channel.abort()
        case (.closed(let code), .open), (.closed(let code), .faulted):
            self.end(code == 0 ? .local : .reset(code))
        case (.closed, .closing): self.end(.local)
        }
    }

    func channelDrained() {
        if let pong = latePong {
            latePong = nil
            put(pong)
        }
        if isOpen { handler?.drained(self) }
    }
}

extension WebSocketConnection: WebSocketReceiverSink {
    func receiverFound(message: UnsafeRawBufferPointer, kind: WebSocketKind) {
        guard state == .open else { return }
        handler?.received(message: message, kind: kind, on: self)
    }

    func receiverFound(ping: UnsafeRawBufferPointer) {
        guard state == .open else { return }
        let pong = PreparedFrame(opcode: 10, payload: ping)
        // Who pings without reading gets one answer when it reads again (RFC 6455, 5.5.3).
        if channel.isHigh {
            latePong = pong
        } else {
            put(pong)
        }
    }

    func receiverFound(close code: UInt16, reason: String) {
        switch state {
        case .closed: break
        case .closing, .faulted:
            end(.local)
            channel.finish(lingerMs: options.closeTimeoutMs)
        case .open:
            put(WebSocketConnection.closeFrame(code: code, reason: ""))
            end(.peer(code: code, reason: reason))
            channel.finish(lingerMs: options.closeTimeoutMs)
        }
    }

    func receiverFound(fault: WebSocketFault) {
        switch state {
        case .closed, .faulted: break
        case .closing:
            end(.local)
            channel.finish(lingerMs: options.closeTimeoutMs)
        case .open:
            state = .faulted
            setTimer(5000) { $0.close(code: fault.closeCode) }
            handler?.faulted(fault, on: self)
        }
    }
}
