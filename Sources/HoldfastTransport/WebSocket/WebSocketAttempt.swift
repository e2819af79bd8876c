import CUV
import Glibc

/// One attempt of a client to open a WebSocket.
///
/// `@unchecked Sendable`: touched only on its loop; `cancel` goes there by itself.
public final class WebSocketAttempt: @unchecked Sendable {
    private enum State {
        /// Next: connecting, done.
        case resolving
        /// Next: shaking, done.
        case connecting
        /// The request is on its way. Next: done.
        case shaking
        case done
    }

    private let loop: EventLoop
    private let options: WebSocketClientOptions
    private let opened: @Sendable (WebSocketConnection) -> any WebSocketHandler
    private let failed: @Sendable (WebSocketConnectError) -> Void
    private let key = WebSocketHandshake.makeKey()
    private var state = State.resolving
    private var url: WebSocketURL?
    private var tls: TLSSession?
    private var timer: LoopTimer?
    private var connector: SocketConnector?
    private var channel: SocketChannel?
    private var response = HTTPResponseHead()

    init(
        loop: EventLoop, options: WebSocketClientOptions,
        opened: @escaping @Sendable (WebSocketConnection) -> any WebSocketHandler,
        failed: @escaping @Sendable (WebSocketConnectError) -> Void
    ) {
        self.loop = loop
        self.options = options
        self.opened = opened
        self.failed = failed
    }

    /// Gives up, if it is not done yet: `failed(.cancelled)`. Any thread.
    public func cancel() {
        loop.execute { self.fail(.cancelled) }
    }

    func start(_ text: String) {
        guard let url = WebSocketURL(text) else { return fail(.badURL) }
        self.url = url
        if url.isSecure {
            do throws(TLSError) {
                if let context = options.tls {
                    tls = context.makeSession(host: url.host)
                } else {
                    tls = try TLSContext(trust: .system).makeSession(host: url.host)
                }
            } catch {
                return fail(.tls(error.description))
            }
            guard tls != nil else { return fail(.tls("no session")) }
        }
        // The timer holds the attempt until it is done.
        let timer = LoopTimer(loop: loop) { self.fail(.timeout) }
        timer.schedule(afterMs: options.connectTimeoutMs)
        self.timer = timer
        if let address = SocketAddress(numeric: url.host, port: url.port) {
            connect(address)
        } else {
            AddressLookup.run(host: url.host, port: url.port, on: loop) { [self] address in
                guard state == .resolving else { return }
                guard let address else { return fail(.unknownHost) }
                connect(address)
            }
        }
    }

    private func connect(_ address: SocketAddress) {
        state = .connecting
        connector = SocketConnector(loop: loop, address: address) { [weak self] socket, error in
            guard let self, state == .connecting else {
                if socket >= 0 { close(socket) }
                return
            }
            connector = nil
            guard socket >= 0 else { return fail(error == ECANCELED ? .cancelled : .socket(error)) }
            shake(socket, address)
        }
        connector?.start()
    }

    private func shake(_ socket: Int32, _ address: SocketAddress) {
        guard let url, let channel = SocketChannel(loop: loop, socket: socket, remoteAddress: address.host, tls: tls)
        else { return fail(.cancelled) }
        state = .shaking
        self.channel = channel
        channel.delegate = self
        var head = "GET \(url.target) HTTP/1.1\r\nhost: \(url.authority)\r\nupgrade: websocket\r\n"
        head += "connection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: \(key)\r\n"
        if !options.subprotocols.isEmpty {
            head += "sec-websocket-protocol: \(Text.headerSafe(options.subprotocols.joined(separator: ", ")))\r\n"
        }
        for field in options.headers.fields {
            head += "\(Text.headerSafe(field.name)): \(Text.headerSafe(field.value))\r\n"
        }
        head += "\r\n"
        Array(head.utf8).withUnsafeBytes { channel.send(PreparedFrame(raw: $0)) }
        channel.start()
    }

    private func fail(_ error: WebSocketConnectError) {
        guard state != .done else { return }
        state = .done
        timer = nil
        connector?.cancel()
        connector = nil
        let channel = self.channel
        self.channel = nil
        channel?.delegate = nil
        channel?.abort()
        failed(error)
    }

    private func succeed(_ head: HTTPResponseHead, early: [UInt8]) {
        guard let channel else { return }
        guard head.status == 101 else { return fail(.refused(status: head.status)) }
        let subprotocol = head.headers["sec-websocket-protocol"]
        let isGood =
            head.headers.hasToken("upgrade", "websocket") && head.headers.hasToken("connection", "upgrade")
            && head.headers["sec-websocket-accept"] == WebSocketHandshake.accept(key)
            && head.headers["sec-websocket-extensions"] == nil
            && subprotocol.map { options.subprotocols.contains($0) } ?? true
        guard isGood else { return fail(.badAnswer) }
        state = .done
        timer = nil
        self.channel = nil
        let connection = WebSocketConnection(
            channel: channel, isServer: false, subprotocol: subprotocol, options: options.webSocket)
        connection.start(handler: opened(connection), early: early)
    }
}

extension WebSocketAttempt: ChannelDelegate {
    func channelReceived(_ bytes: UnsafeRawBufferPointer) {
        guard state == .shaking else { return }
        switch response.feed(bytes) {
        case .needsMore: break
        case .bad: fail(.badAnswer)
        case .complete(let early): succeed(response, early: early)
        }
    }

    func channelEnded(_ end: ChannelEnd) {
        switch end {
        case .eof: fail(.badAnswer)
        case .closed(EPROTO) where tls != nil:
            fail(.tls(tls?.failure?.detail ?? "handshake failed"))
        case .closed(0): fail(.cancelled)
        case .closed(let code): fail(.socket(code))
        }
    }

    func channelDrained() {}
}

/// The head of an answer to an upgrade request; bounded, strict.
struct HTTPResponseHead {
    enum Progress: Equatable {
        case needsMore
        case bad
        /// With what followed the head.
        case complete([UInt8])
    }

    private(set) var status = 0
    private(set) var headers = HTTPHeaders()
    private var bytes: [UInt8] = []
    private static let limit = 16 * 1024

    mutating func feed(_ more: UnsafeRawBufferPointer) -> Progress {
        let from = max(0, bytes.count - 3)
        bytes.append(contentsOf: more)
        let end: [UInt8] = [13, 10, 13, 10]
        var index = from
        while index + 4 <= min(bytes.count, HTTPResponseHead.limit) {
            if bytes[index..<(index + 4)].elementsEqual(end) {
                let early = Array(bytes[(index + 4)...])
                let text = String(decoding: bytes[..<index], as: UTF8.self)
                return parse(text) ? .complete(early) : .bad
            }
            index += 1
        }
        return bytes.count >= HTTPResponseHead.limit ? .bad : .needsMore
    }

    private mutating func parse(_ text: String) -> Bool {
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
        guard !lines.isEmpty else { return false }
        let words = lines.removeFirst().split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard words.count >= 2, words[0] == "HTTP/1.1", words[1].utf8.count == 3, let status = Int(words[1]) else {
            return false
        }
        self.status = status
        for line in lines {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { return false }
            headers.add(String(line[..<colon]), Text.trimmed(line[line.index(after: colon)...]))
        }
        return true
    }
}
