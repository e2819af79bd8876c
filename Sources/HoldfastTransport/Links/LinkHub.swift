import CZeroMQ

/// How a node's links are made.
public struct LinkOptions: Sendable {
    /// `tcp://host:port`; port 0 or `*`: one that is free.
    public var bind: String
    /// This node's keys; nil: links are neither encrypted nor authenticated.
    public var keys: CurveKeys?
    /// Messages to one peer that wait for the network; more are refused.
    public var queued: Int32 = 1_000
    /// Longer messages break the link.
    public var messageBytes: Int64 = 64 << 20
    /// A connection whose data was not acknowledged for so long is made anew.
    public var unacknowledgedMs: Int32 = 3_000

    public init(bind: String, keys: CurveKeys?) {
        self.bind = bind
        self.keys = keys
    }
}

/// What a node's links tell. Called on the loop of the hub.
public protocol LinkReceiver: AnyObject {
    /// Whether a peer with this key may send; asked at each connect.
    func mayConnect(key: String, address: String) -> Bool
    /// - Parameter key: the sender's; nil where there are none.
    func received(_ message: [UInt8], key: String?)
    /// A connect that came here did not get through the handshake: wrong keys, or no peer at all.
    func handshakeFailed(address: String)
}

/// One node's end of all links: a socket that only receives, and one for each way to a peer. Loop-confined.
public final class LinkHub {
    /// Where peers connect; empty before `listen`.
    public private(set) var endpoint = ""
    private let loop: EventLoop
    private let options: LinkOptions
    private let inbound: LinkSocket
    private let authenticator: LinkAuthenticator?
    private var inboundMonitor: LinkMonitor?
    private var watch: DescriptorWatch?
    private weak var receiver: (any LinkReceiver)?
    private var monitors = 0
    private var isReading = false
    /// Last: it outlives the sockets.
    private let context: LinkContext

    /// Makes what is needed; nothing comes or goes yet.
    public init(loop: EventLoop, options: LinkOptions) throws(LinkError) {
        loop.preconditionCurrent()
        self.loop = loop
        self.options = options
        let context = try LinkContext()
        authenticator = options.keys == nil ? nil : try LinkAuthenticator(context, loop)
        inbound = try LinkSocket(context.raw, ZMQ_ROUTER)
        self.context = context
        try Self.setCommon(inbound, options)
        try inbound.set(ZMQ_RCVHWM, options.queued)
        try inbound.set(ZMQ_MAXMSGSIZE, long: options.messageBytes)
        if let keys = options.keys {
            try inbound.set(ZMQ_CURVE_SERVER, 1)
            try inbound.set(ZMQ_CURVE_SECRETKEY, keys.secretKey)
            try inbound.set(ZMQ_ZAP_DOMAIN, "holdfast")
        }
    }

    /// From now on what peers send is taken. Once only.
    public func listen(_ receiver: any LinkReceiver) throws(LinkError) {
        self.receiver = receiver
        authenticator?.receiver = receiver
        try inbound.bind(options.bind)
        endpoint = inbound.lastEndpoint
        try watchSockets()
    }

    private static func setCommon(_ socket: borrowing LinkSocket, _ options: LinkOptions) throws(LinkError) {
        try socket.set(ZMQ_LINGER, 0)
        try socket.set(ZMQ_IPV6, 1)
        try socket.set(ZMQ_HANDSHAKE_IVL, 2_000)
        try socket.set(ZMQ_TCP_MAXRT, options.unacknowledgedMs)
    }

    private func watchSockets() throws(LinkError) {
        watch = DescriptorWatch(loop: loop, descriptor: inbound.descriptor) { [weak self] _ in self?.readInbound() }
        watch?.watch(.readable)
        let failures =
            ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL
            | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
        let name = nextMonitor()
        try inbound.monitor(name, failures)
        inboundMonitor = try LinkMonitor(context, name, loop) { [weak self] _, address in
            self?.receiver?.handshakeFailed(address: address)
        }
        // What came before the watch makes no edge any more.
        readInbound()
    }

    private func nextMonitor() -> String {
        monitors += 1
        return "inproc://monitor-\(monitors)"
    }

    // MARK: Coming in

    /// In one go; the rest waits for the loop's other work.
    private static let messagesAtOnce = 256

    private func readInbound() {
        guard !isReading else { return }
        isReading = true
        defer { isReading = false }
        for _ in 0..<Self.messagesAtOnce {
            guard let (frames, user) = inbound.receive() else {
                if inbound.isReadable { continue }
                return
            }
            // A routing id, and the message.
            guard frames.count == 2, user != nil || options.keys == nil else { continue }
            receiver?.received(frames[1], key: user)
        }
        loop.afterBatch { [weak self] in self?.readInbound() }
    }

    // MARK: Going out

    /// A way to a peer; it connects, and connects again, by itself.
    /// - Parameter told: the connection was made, or has ended.
    public func open(
        to endpoint: String, key: String, told: @escaping (_ isConnected: Bool) -> Void
    ) throws(LinkError) -> LinkSender {
        loop.preconditionCurrent()
        let socket = try LinkSocket(context.raw, ZMQ_DEALER)
        try Self.setCommon(socket, options)
        try socket.set(ZMQ_SNDHWM, options.queued)
        try socket.set(ZMQ_RECONNECT_IVL, 50)
        try socket.set(ZMQ_RECONNECT_IVL_MAX, 400)
        try socket.set(ZMQ_CONNECT_TIMEOUT, 1_000)
        if let keys = options.keys {
            try socket.set(ZMQ_CURVE_SERVERKEY, key)
            try socket.set(ZMQ_CURVE_PUBLICKEY, keys.publicKey)
            try socket.set(ZMQ_CURVE_SECRETKEY, keys.secretKey)
        }
        let name = nextMonitor()
        try socket.monitor(name, ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED)
        let monitor = try LinkMonitor(context, name, loop) { event, _ in
            told(event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED)
        }
        try socket.connect(endpoint)
        return LinkSender(socket, monitor, context)
    }

    /// Nothing comes in any more.
    public func close() {
        watch?.close()
        watch = nil
        inboundMonitor?.close()
        inboundMonitor = nil
        authenticator?.close()
        receiver = nil
    }
}

/// Is asked about everyone who connects, before anything of it is taken: ZAP (https://rfc.zeromq.org/spec/27).
final class LinkAuthenticator {
    private let socket: LinkSocket
    private var watch: DescriptorWatch?
    weak var receiver: (any LinkReceiver)?
    private let context: LinkContext

    init(_ context: LinkContext, _ loop: EventLoop) throws(LinkError) {
        let socket = try LinkSocket(context.raw, ZMQ_REP)
        try socket.bind("inproc://zeromq.zap.01")
        let descriptor = socket.descriptor
        self.socket = consume socket
        self.context = context
        watch = DescriptorWatch(loop: loop, descriptor: descriptor) { [weak self] _ in self?.answer() }
        watch?.watch(.readable)
    }

    func close() {
        watch?.close()
        watch = nil
    }

    private func answer() {
        while let (frames, _) = socket.receive() {
            // Version, request, domain, address, identity, mechanism, and the key.
            let isAsked = frames.count >= 7 && frames[0] == Array("1.0".utf8)
            let key = isAsked ? CurveKeys.text(ofRaw: frames[6]) : nil
            let address = isAsked ? String(decoding: frames[3], as: UTF8.self) : ""
            var user: String?
            if let key, receiver?.mayConnect(key: key, address: address) ?? false { user = key }
            // 300: it may try again, for its registration may be on its way here.
            let answer = [user == nil ? "300" : "200", user == nil ? "unknown key" : "OK", user ?? "", ""]
            let parts = [Array("1.0".utf8), frames.count > 1 ? frames[1] : []] + answer.map { Array($0.utf8) }
            for (i, part) in parts.enumerated() {
                guard socket.send(part, more: i < parts.count - 1) else { break }
            }
        }
    }
}

/// A way to one peer. Loop-confined; ends when it is let go, and drops what waits.
public final class LinkSender {
    private let socket: LinkSocket
    private let monitor: LinkMonitor
    /// Outlives its sockets.
    private let context: LinkContext

    init(_ socket: consuming LinkSocket, _ monitor: LinkMonitor, _ context: LinkContext) {
        self.socket = socket
        self.monitor = monitor
        self.context = context
    }

    deinit { monitor.close() }

    /// - Returns: false when too much waits already: it is not sent, and never will be.
    public func send(_ message: [UInt8]) -> Bool { socket.send(message) }

    /// What still waits when it is let go is sent, if that is possible within this time.
    public func linger(ms: Int32) throws(LinkError) { try socket.set(ZMQ_LINGER, ms) }
}

/// All sockets of one node. Ends, without waiting, when the last of them has gone.
final class LinkContext {
    let raw: UnsafeMutableRawPointer

    init() throws(LinkError) {
        guard let raw = zmq_ctx_new() else { throw LinkError("making links") }
        self.raw = raw
        // Each way to a peer takes four.
        zmq_ctx_set(raw, ZMQ_MAX_SOCKETS, 8_192)
    }

    deinit { zmq_ctx_term(raw) }
}

/// Hears what becomes of the connections of one socket. Loop-confined.
final class LinkMonitor {
    private let socket: LinkSocket
    private let context: LinkContext
    private var watch: DescriptorWatch?
    private var told: ((Int32, String) -> Void)?

    init(
        _ context: LinkContext, _ name: String, _ loop: EventLoop, _ told: @escaping (Int32, String) -> Void
    ) throws(LinkError) {
        let socket = try LinkSocket(context.raw, ZMQ_PAIR)
        try socket.set(ZMQ_LINGER, 0)
        try socket.connect(name)
        let descriptor = socket.descriptor
        self.socket = consume socket
        self.context = context
        self.told = told
        watch = DescriptorWatch(loop: loop, descriptor: descriptor) { [weak self] _ in self?.read() }
        watch?.watch(.readable)
        read()
    }

    func close() {
        told = nil
        watch?.close()
        watch = nil
    }

    private func read() {
        while let (frames, _) = socket.receive() {
            guard frames.count == 2, frames[0].count >= 2 else { continue }
            let event = Int32(frames[0][0]) | Int32(frames[0][1]) << 8
            told?(event, String(decoding: frames[1], as: UTF8.self))
        }
    }
}
