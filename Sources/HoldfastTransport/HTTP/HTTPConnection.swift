/// One connection of a server while it speaks HTTP: requests one after another, each answered before the next is looked
/// at. Kept alive by its channel. Loop-confined.
///
/// `@unchecked Sendable`: touched only on its loop.
final class HTTPConnection: ChannelDelegate, @unchecked Sendable {
    /// Answers that wait for a client that sends requests without reading.
    private static let maxQueuedBytes = 256 * 1024
    private static let lingerMs: Int64 = 2000

    let loop: EventLoop
    private let channel: SocketChannel
    private let seat: ServerSeat
    private let parser: HTTPRequestParser
    private var pending: [UInt8] = []
    /// A request is with the handler.
    private var isBusy = false
    private var isProcessing = false
    /// Nothing more is read: an error was answered, or the last answer was given.
    private var isEnding = false
    private var sawEOF = false
    private var stage = HTTPRequestParser.Stage.idle
    private var hasAnswered = false
    private var timer: LoopTimer?

    init(channel: SocketChannel, seat: ServerSeat) {
        loop = channel.loop
        self.channel = channel
        self.seat = seat
        parser = HTTPRequestParser(headerBytes: seat.options.headerBytes, bodyBytes: seat.options.bodyBytes)
    }

    func start() {
        channel.delegate = self
        let timer = LoopTimer(loop: loop) { [weak self] in self?.timedOut() }
        timer.schedule(afterMs: seat.options.headerTimeoutMs)
        self.timer = timer
        channel.start()
    }

    /// Ends it: a request in the handler's hands is lost.
    func close() {
        isEnding = true
        channel.finish(lingerMs: HTTPConnection.lingerMs)
    }

    /// Ends it, after the answer to a request that is in the handler's hands.
    func closeWhenIdle() {
        if !isBusy { close() }
    }

    // MARK: Channel

    func channelReceived(_ bytes: UnsafeRawBufferPointer) {
        guard !isEnding else { return }
        guard !isBusy, !isProcessing, pending.isEmpty else {
            pending.append(contentsOf: bytes)
            channel.pauseReading()
            return
        }
        process(bytes)
        setReading()
    }

    func channelEnded(_ end: ChannelEnd) {
        switch end {
        case .eof:
            sawEOF = true
            // A client may end its side and wait for the answer.
            if !isBusy && pending.isEmpty { close() }
        case .closed:
            isEnding = true
            timer = nil
            pending = []
            seat.forget(self)
        }
    }

    func channelDrained() {
        processPending()
    }

    private func timedOut() {
        guard !isEnding else {
            channel.abort()
            return
        }
        if stage == .body {
            refuse(408)
        } else {
            channel.abort()
        }
    }

    private func setReading() {
        if pending.isEmpty {
            channel.resumeReading()
        } else {
            channel.pauseReading()
        }
    }

    // MARK: Requests

    private func processPending() {
        guard !isProcessing, !isBusy, !isEnding, channel.isOpen else { return }
        while !pending.isEmpty, !isBusy, !isEnding, channel.queuedBytes <= HTTPConnection.maxQueuedBytes {
            let bytes = pending
            pending = []
            bytes.withUnsafeBytes { process($0) }
        }
        guard !isEnding else { return }
        setReading()
        if sawEOF && !isBusy && pending.isEmpty { close() }
    }

    private func process(_ bytes: UnsafeRawBufferPointer) {
        isProcessing = true
        defer { isProcessing = false }
        var rest = bytes
        while !rest.isEmpty && !isEnding {
            let (taken, outcome) = parser.feed(rest)
            rest = UnsafeRawBufferPointer(rebasing: rest[min(taken, rest.count)...])
            switch outcome {
            case .needsMore:
                watch()
            case .refused(let status):
                refuse(status)
            case .request(let request):
                // What follows waits, in front of what comes later.
                isBusy = true
                timer?.cancel()
                stage = .idle
                pending = Array(rest) + pending
                rest = UnsafeRawBufferPointer(start: nil, count: 0)
                handOver(request)
            }
        }
    }

    /// Sets the time limit for what is awaited now.
    private func watch() {
        if parser.wantsContinue {
            parser.wantsContinue = false
            Array("HTTP/1.1 100 Continue\r\n\r\n".utf8).withUnsafeBytes { channel.send(PreparedFrame(raw: $0)) }
        }
        let options = seat.options
        guard parser.stage != stage else { return }
        // The first header's time runs since the connection was made.
        let isFirstHeader = stage == .idle && timer?.deadlineMs != nil && !hasAnswered
        stage = parser.stage
        switch stage {
        case .idle: break
        case .header: if !isFirstHeader { timer?.schedule(afterMs: options.headerTimeoutMs) }
        case .body: timer?.schedule(afterMs: options.bodyTimeoutMs)
        }
    }

    private func handOver(_ request: HTTPRequest) {
        var request = request
        request.remoteAddress = channel.remoteAddress
        switch WebSocketHandshake.judge(request) {
        case .none:
            seat.handler.handle(
                request, HTTPExchange(connection: self, request: request, key: nil, subprotocols: nil))
        case .acceptable(let key, let subprotocols):
            seat.handler.handle(
                request, HTTPExchange(connection: self, request: request, key: key, subprotocols: subprotocols))
        case .refused(let status):
            let headers = status == 426 ? HTTPHeaders([("sec-websocket-version", "13")]) : HTTPHeaders()
            respond(HTTPResponse(status, headers: headers), to: request)
        }
    }

    private func refuse(_ status: Int) {
        guard !isEnding else { return }
        channel.send(HTTPResponse(status).serialized(isHead: false, closes: true))
        close()
    }

    /// The answer to the request that is in the handler's hands.
    func respond(_ response: HTTPResponse, to request: HTTPRequest) {
        guard isBusy, !isEnding else { return }
        let closes = !request.keepsAlive || request.headers["upgrade"] != nil || seat.isClosing
        channel.send(response.serialized(isHead: request.method == "HEAD", closes: closes))
        isBusy = false
        hasAnswered = true
        guard !closes else {
            close()
            return
        }
        timer?.schedule(afterMs: seat.options.idleTimeoutMs)
        guard !isProcessing else {
            if !pending.isEmpty || sawEOF { loop.afterBatch { [weak self] in self?.processPending() } }
            return
        }
        processPending()
    }

    func upgrade(
        _ response: HTTPResponse, _ subprotocol: String?, _ options: WebSocketOptions,
        _ makeHandler: (WebSocketConnection) -> any WebSocketHandler
    ) -> WebSocketConnection? {
        guard isBusy, !isEnding, !sawEOF, channel.isOpen else { return nil }
        isEnding = true
        timer = nil
        channel.send(response.serialized(isHead: false, closes: false, sendsLength: false))
        let connection = WebSocketConnection(
            channel: channel, isServer: true, subprotocol: subprotocol, options: options)
        seat.replace(self, by: connection)
        let handler = makeHandler(connection)
        let early = pending
        pending = []
        connection.start(handler: handler, early: early)
        return connection
    }
}
