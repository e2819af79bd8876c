import CUV
import Glibc

/// What became of a channel's connection.
enum ChannelEnd: Equatable {
    /// The peer will send no more. The channel can still send.
    case eof
    /// The channel is closed: by an `errno` value, or 0 when this side closed it.
    case closed(Int32)
}

/// Takes what comes from a channel, on its loop.
protocol ChannelDelegate: AnyObject {
    /// Decrypted bytes, valid in this call only.
    func channelReceived(_ bytes: UnsafeRawBufferPointer)
    /// `eof` at most once, then `closed` exactly once.
    func channelEnded(_ end: ChannelEnd)
    /// The queue fell to the low-water mark after it had been above.
    func channelDrained()
}

/// A connected, non-blocking TCP socket on a loop, plain or TLS: coalesced writes, reads on readiness, orderly end.
/// Loop-confined. It keeps itself alive while it is open (see `LoopResource`) and its delegate too.
///
/// `@unchecked Sendable`: touched only on its loop.
final class SocketChannel: LoopResource, @unchecked Sendable {
    private enum State {
        case open
        /// `finish` was called: send the rest, then say that nothing follows, then wait for the peer to end too.
        case finishing
        case closed
    }

    static let lowWaterBytes = 16 * 1024
    /// Ciphertext that may wait before more plaintext is encrypted.
    private static let cipherBytes = 64 * 1024

    let loop: EventLoop
    let remoteAddress: String
    private let socket: Int32
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private var pollMask: Int32 = 0
    private var state = State.open
    private var tls: TLSSession?
    /// What the owner sends. With TLS: plaintext.
    private var queue = SendQueue()
    /// With TLS: what goes to the socket.
    private var cipher = SendQueue()
    private var isDirty = false
    private var isBlocked = false
    private var isPaused = false
    private var wasHigh = false
    private var sawEOF = false
    private var didShutDown = false
    private var lingerTimer: LoopTimer?
    var delegate: (any ChannelDelegate)?

    /// Takes over a connected socket; nil (and the socket is closed) if the loop takes no more.
    init?(loop: EventLoop, socket: Int32, remoteAddress: String, tls: TLSSession?) {
        self.loop = loop
        self.socket = socket
        self.remoteAddress = remoteAddress
        self.tls = tls
        poll = .allocate(capacity: 1)
        super.init()
        guard loop.acceptsHandles, uv_poll_init(loop.uv, poll, socket) == 0 else {
            poll.deallocate()
            Glibc.close(socket)
            state = .closed
            return nil
        }
        LoopResource.attach(self, to: poll.asHandle)
    }

    /// Begins to read, and with TLS as a client to shake hands. Set `delegate` before.
    func start() {
        updatePoll()
        if tls != nil {
            pumpTLS()
            markDirty()
        }
    }

    var isOpen: Bool { state != .closed }

    /// Whether the queue is above the low-water mark. Asking makes sure that `channelDrained` follows.
    var isHigh: Bool {
        if queuedBytes > SocketChannel.lowWaterBytes { wasHigh = true }
        return wasHigh
    }

    /// Bytes that wait for the socket.
    var queuedBytes: Int { queue.byteCount + cipher.byteCount }

    /// Puts a piece at the end of the queue; it leaves at the end of the batch. Nothing when finishing or closed.
    func send(_ piece: PreparedFrame) {
        guard state == .open else { return }
        queue.append(piece)
        markDirty()
    }

    /// Drops what has not begun to leave. With TLS what is encrypted still goes.
    func dropUnsent() {
        queue.dropUnsent()
    }

    func pauseReading() {
        isPaused = true
        updatePoll()
    }

    func resumeReading() {
        guard isPaused else { return }
        isPaused = false
        guard state != .closed else { return }
        updatePoll()
        // Later: this may be another channel's callback, which still uses the loop's buffer.
        if tls != nil { loop.afterBatch { self.pumpTLS() } }
    }

    /// Sends what is queued and then the end of the stream; reads and drops until the peer ends too, at most `lingerMs`
    /// longer, so that what was sent last is not lost by a reset. Then `closed(0)`.
    func finish(lingerMs: Int64) {
        guard state == .open else { return }
        state = .finishing
        isPaused = false
        let timer = LoopTimer(loop: loop) { [weak self] in self?.close(0) }
        timer.schedule(afterMs: lingerMs)
        lingerTimer = timer
        updatePoll()
        markDirty()
    }

    /// Closes now, whatever waits.
    func abort() {
        close(0)
    }

    override func loopWillStop() {
        close(0)
    }

    // MARK: Poll

    private func updatePoll() {
        guard state != .closed else { return }
        let wantsRead = !isPaused && !sawEOF
        let mask = (wantsRead ? Int32(UV_READABLE.rawValue) : 0) | (isBlocked ? Int32(UV_WRITABLE.rawValue) : 0)
        guard mask != pollMask else { return }
        pollMask = mask
        guard mask != 0 else {
            uv_poll_stop(poll)
            return
        }
        uv_poll_start(poll, mask) { handle, status, events in
            guard let handle, let resource = LoopResource.of(handle.asHandle) else { return }
            unsafeDowncast(resource, to: SocketChannel.self).ready(status, events)
        }
    }

    private func ready(_ status: Int32, _ events: Int32) {
        guard status == 0 else {
            // libuv stops to watch a socket with an error.
            pollMask = 0
            fail(EIO)
            return
        }
        if events & Int32(UV_WRITABLE.rawValue) != 0 {
            isBlocked = false
            updatePoll()
            flush()
        }
        if events & Int32(UV_READABLE.rawValue) != 0 { read() }
    }

    /// The connection is broken. What the peer had sent before is still taken in: it may tell why.
    private func fail(_ error: Int32) {
        for _ in 0..<16 where state != .closed && !isPaused && !sawEOF { read() }
        close(error)
    }

    private func close(_ error: Int32) {
        guard state != .closed else { return }
        state = .closed
        queue.removeAll()
        cipher.removeAll()
        lingerTimer = nil
        LoopResource.close(poll.asHandle)
        Glibc.close(socket)
        tls = nil
        let delegate = self.delegate
        self.delegate = nil
        delegate?.channelEnded(.closed(error))
    }

    // MARK: Reading

    private func read() {
        guard state != .closed, !isPaused, let base = loop.readBuffer.baseAddress else { return }
        let count = recv(socket, base, loop.readBuffer.count, 0)
        if count > 0 {
            received(UnsafeRawBufferPointer(start: base, count: count))
        } else if count == 0 {
            endOfStream()
        } else if errno != EAGAIN && errno != EINTR {
            close(errno)
        }
    }

    private func received(_ bytes: UnsafeRawBufferPointer) {
        guard let tls else {
            if state == .open { delegate?.channelReceived(bytes) }
            return
        }
        tls.feed(bytes)
        pumpTLS()
    }

    private func endOfStream() {
        guard !sawEOF else { return }
        sawEOF = true
        updatePoll()
        if state == .finishing && queuedBytes == 0 {
            close(0)
            return
        }
        if state == .open { delegate?.channelEnded(.eof) }
    }

    /// Takes out of the TLS session what can be had: handshake, plaintext for the delegate, ciphertext for the socket.
    private func pumpTLS() {
        guard let tls else { return }
        reading: while state != .closed && !(isPaused && tls.isReady) {
            switch tls.read(into: loop.tlsBuffer) {
            case .plaintext(let count):
                guard state == .open else { continue }
                delegate?.channelReceived(UnsafeRawBufferPointer(rebasing: loop.tlsBuffer[..<count]))
            case .wantsMore: break reading
            case .ended:
                markDirty()
                endOfStream()
                break reading
            case .failed:
                // The alert that OpenSSL made should reach the peer.
                takeCiphertext()
                _ = writeOut(&cipher)
                close(EPROTO)
                return
            }
        }
        markDirty()
    }

    // MARK: Writing

    private func markDirty() {
        guard !isDirty, state != .closed else { return }
        isDirty = true
        loop.markDirty(self)
    }

    /// Called at the end of the batch, and when the socket can take more.
    func flush() {
        isDirty = false
        guard state != .closed, !isBlocked else { return }
        if tls != nil {
            flushTLS()
        } else {
            flushPlain()
        }
        guard state != .closed else { return }
        afterFlush()
    }

    private func afterFlush() {
        let waiting = queuedBytes
        if waiting > SocketChannel.lowWaterBytes {
            wasHigh = true
        } else if wasHigh {
            wasHigh = false
            if state == .open { delegate?.channelDrained() }
        }
        guard state == .finishing, waiting == 0 else { return }
        if !didShutDown {
            didShutDown = true
            if let tls {
                tls.sayEnd()
                flushCiphertext()
                guard state != .closed else { return }
            }
            shutdown(socket, Int32(SHUT_WR))
        }
        if sawEOF { close(0) }
    }

    private func flushTLS() {
        guard let tls else { return }
        while state != .closed {
            flushCiphertext()
            let canEncrypt = tls.isReady && !isBlocked && cipher.byteCount < SocketChannel.cipherBytes
            guard state != .closed, canEncrypt, !queue.isEmpty else { return }
            let count = queue.copy(into: loop.tlsBuffer)
            guard tls.write(UnsafeRawBufferPointer(rebasing: loop.tlsBuffer[..<count])) else {
                close(EPROTO)
                return
            }
            queue.consume(count)
        }
    }

    private func takeCiphertext() {
        guard let tls, let piece = tls.takeCiphertext() else { return }
        cipher.append(piece)
    }

    private func flushPlain() {
        let error = writeOut(&queue)
        if error != 0 { fail(error) }
    }

    private func flushCiphertext() {
        takeCiphertext()
        let error = writeOut(&cipher)
        if error != 0 { fail(error) }
    }

    /// One `sendmsg` for up to 64 pieces until the kernel takes no more. Returns the `errno` of a broken connection,
    /// else 0.
    private func writeOut(_ queue: inout SendQueue) -> Int32 {
        while !queue.isEmpty {
            let (used, offered) = queue.fill(loop.vectors)
            var message = msghdr()
            message.msg_iov = loop.vectors.baseAddress
            message.msg_iovlen = used
            loop.writeCalls &+= 1
            let count = sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
            if count > 0 { queue.consume(count) }
            if count == offered { continue }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 || errno == EAGAIN else { return errno }
            isBlocked = true
            updatePoll()
            return 0
        }
        return 0
    }
}
