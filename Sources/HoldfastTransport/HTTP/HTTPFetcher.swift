import CCurl

/// A request to another server.
public struct FetchRequest: Sendable {
    public var url: String
    /// With `application/json`; a GET without one.
    public var body: [UInt8]?
    /// Until the whole answer is here; nil: it may take for ever.
    public var timeoutMs: Int?
    public var connectTimeoutMs = 1_000
    /// Of an answer, or of what has come of a streamed one at a time.
    public var answerBytes = 16 << 20
    public var trust = FetchTrust()

    public init(url: String, body: [UInt8]? = nil, timeoutMs: Int?) {
        self.url = url
        self.body = body
        self.timeoutMs = timeoutMs
    }
}

/// Files for TLS, in PEM; nil: what the system has.
public struct FetchTrust: Sendable, Equatable {
    public var authorities: String?
    public var certificate: String?
    public var key: String?

    public init(authorities: String? = nil, certificate: String? = nil, key: String? = nil) {
        self.authorities = authorities
        self.certificate = certificate
        self.key = key
    }
}

public struct FetchReply: Sendable {
    public let status: Int
    public let body: [UInt8]
}

/// No answer, or not a whole one.
public struct FetchError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String
}

/// Requests to other servers, by libcurl, which keeps connections open between them. Loop-confined.
public final class HTTPFetcher {
    private let loop: EventLoop
    private let multi: OpaquePointer
    private var watches: [Int32: DescriptorWatch] = [:]
    private var transfers: [OpaquePointer: FetchTransfer] = [:]
    private var timer: LoopTimer?

    public init(loop: EventLoop) {
        loop.preconditionCurrent()
        self.loop = loop
        _ = Self.isReady
        guard let multi = curl_multi_init() else { preconditionFailure("no memory for libcurl") }
        self.multi = OpaquePointer(multi)
        let context = Unmanaged.passUnretained(self).toOpaque()
        holdfast_curl_multi_socket(
            multi,
            { _, socket, what, context, _ in
                guard let context else { return 0 }
                Unmanaged<HTTPFetcher>.fromOpaque(context).takeUnretainedValue().watch(socket, what)
                return 0
            }, context)
        holdfast_curl_multi_timer(
            multi,
            { _, ms, context in
                guard let context else { return 0 }
                Unmanaged<HTTPFetcher>.fromOpaque(context).takeUnretainedValue().setTimer(ms)
                return 0
            }, context)
        timer = LoopTimer(loop: loop) { [weak self] in self?.act(on: CURL_SOCKET_TIMEOUT, 0) }
    }

    deinit {
        // What ends now must not reach back here.
        holdfast_curl_multi_socket(UnsafeMutableRawPointer(multi), nil, nil)
        holdfast_curl_multi_timer(UnsafeMutableRawPointer(multi), nil, nil)
        for transfer in transfers.values { transfer.end(in: multi) }
        curl_multi_cleanup(UnsafeMutableRawPointer(multi))
        for watch in watches.values { watch.close() }
    }

    private static let isReady: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Never calls `done` before it returns.
    /// - Parameters:
    ///   - chunk: gets the body as it comes; the reply has none then.
    ///   - done: called once, unless the fetch is cancelled.
    @discardableResult
    public func fetch(
        _ request: FetchRequest, chunk: (([UInt8]) -> Void)? = nil,
        done: @escaping (Result<FetchReply, FetchError>) -> Void
    ) -> Fetch {
        loop.preconditionCurrent()
        guard let transfer = FetchTransfer(request, chunk: chunk, done: done) else {
            loop.afterBatch { done(.failure(FetchError(description: "no memory for a request"))) }
            return Fetch {}
        }
        let easy = transfer.easy
        transfers[easy] = transfer
        curl_multi_add_handle(UnsafeMutableRawPointer(multi), UnsafeMutableRawPointer(easy))
        return Fetch { [weak self, weak transfer] in
            guard let self, let transfer, self.transfers.removeValue(forKey: transfer.easy) != nil else { return }
            transfer.end(in: self.multi)
        }
    }

    // MARK: What libcurl asks for

    private func watch(_ socket: Int32, _ what: Int32) {
        if what == CURL_POLL_REMOVE {
            watches.removeValue(forKey: socket)?.close()
            return
        }
        let watch =
            watches[socket]
            ?? DescriptorWatch(loop: loop, descriptor: socket) { [weak self] events in
                var mask: Int32 = 0
                if events.contains(.readable) { mask |= CURL_CSELECT_IN }
                if events.contains(.writable) { mask |= CURL_CSELECT_OUT }
                self?.act(on: socket, mask)
            }
        watches[socket] = watch
        var events: DescriptorWatch.Events = []
        if what & CURL_POLL_IN != 0 { events.insert(.readable) }
        if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
        watch?.watch(events)
    }

    private func setTimer(_ ms: Int) {
        if ms < 0 { timer?.cancel() } else { timer?.schedule(afterMs: Int64(ms)) }
    }

    private func act(on socket: Int32, _ mask: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(UnsafeMutableRawPointer(multi), socket, mask, &running)
        // Whoever is told may want to fetch something, which libcurl does not allow within its callbacks.
        for transfer in transfers.values.filter(\.hasChunk) { transfer.tellChunk() }
        var left: Int32 = 0
        while let message = curl_multi_info_read(UnsafeMutableRawPointer(multi), &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = holdfast_curl_done_result(message)
            guard let transfer = transfers.removeValue(forKey: OpaquePointer(easy)) else { continue }
            let result = transfer.result(code)
            transfer.end(in: multi)
            transfer.done(result)
        }
    }
}

/// A request under way.
public struct Fetch {
    private let stop: () -> Void

    init(_ stop: @escaping () -> Void) { self.stop = stop }

    /// Nothing more is told of it. It may have been carried out.
    public func cancel() { stop() }
}

/// One request, with libcurl's handle of it.
final class FetchTransfer {
    let easy: OpaquePointer
    let done: (Result<FetchReply, FetchError>) -> Void
    private let chunk: (([UInt8]) -> Void)?
    private let request: FetchRequest
    private var headers: UnsafeMutablePointer<curl_slist>?
    private var answer: [UInt8] = []

    init?(
        _ request: FetchRequest, chunk: (([UInt8]) -> Void)?,
        done: @escaping (Result<FetchReply, FetchError>) -> Void
    ) {
        guard let handle = curl_easy_init() else { return nil }
        easy = OpaquePointer(handle)
        self.request = request
        self.chunk = chunk
        self.done = done
        holdfast_curl_set_text(handle, CURLOPT_URL, request.url)
        holdfast_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
        holdfast_curl_set_long(handle, CURLOPT_NOSIGNAL, 1)
        // The coordinator is never behind the proxy that the environment may name.
        holdfast_curl_set_text(handle, CURLOPT_NOPROXY, "*")
        holdfast_curl_set_long(handle, CURLOPT_TCP_NODELAY, 1)
        holdfast_curl_set_long(handle, CURLOPT_CONNECTTIMEOUT_MS, request.connectTimeoutMs)
        if let ms = request.timeoutMs { holdfast_curl_set_long(handle, CURLOPT_TIMEOUT_MS, ms) }
        if let body = request.body {
            headers = curl_slist_append(nil, "Content-Type: application/json")
            // Without it libcurl waits a second for a leave to send more than 1 MB.
            headers = curl_slist_append(headers, "Expect:")
            holdfast_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers)
            holdfast_curl_set_long(handle, CURLOPT_POSTFIELDSIZE, body.count)
            body.withUnsafeBytes { bytes in
                _ = holdfast_curl_set_pointer(
                    handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
            }
        }
        let files = [
            (CURLOPT_CAINFO, request.trust.authorities), (CURLOPT_SSLCERT, request.trust.certificate),
            (CURLOPT_SSLKEY, request.trust.key),
        ]
        for case (let option, let file?) in files { holdfast_curl_set_text(handle, option, file) }
        holdfast_curl_set_write(handle) { bytes, size, count, context in
            guard let bytes, let context else { return 0 }
            let raw = UnsafeRawBufferPointer(start: bytes, count: size * count)
            return Unmanaged<FetchTransfer>.fromOpaque(context).takeUnretainedValue().take(raw) ? raw.count : 0
        }
        // It lives in the fetcher's table as long as libcurl has the handle.
        holdfast_curl_set_pointer(handle, CURLOPT_WRITEDATA, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        curl_easy_cleanup(UnsafeMutableRawPointer(easy))
        curl_slist_free_all(headers)
    }

    var hasChunk: Bool { chunk != nil && !answer.isEmpty }

    func tellChunk() {
        let bytes = answer
        answer = []
        chunk?(bytes)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard answer.count + bytes.count <= request.answerBytes else { return false }
        answer.append(contentsOf: bytes)
        return true
    }

    func result(_ code: CURLcode) -> Result<FetchReply, FetchError> {
        guard code == CURLE_OK else {
            return .failure(FetchError(description: String(cString: curl_easy_strerror(code))))
        }
        var status = 0
        holdfast_curl_status(UnsafeMutableRawPointer(easy), &status)
        return .success(FetchReply(status: status, body: answer))
    }

    func end(in multi: OpaquePointer) {
        curl_multi_remove_handle(UnsafeMutableRawPointer(multi), UnsafeMutableRawPointer(easy))
    }
}
