internal import Glibc

/// What a plain TCP connect comes to.
public enum PortAnswer: Sendable {
    /// Somebody listens, and has said something.
    case open
    /// The machine is there, and nobody listens.
    case refused
    /// The connection was made, and ended at once: whoever listened may be just ending.
    case closed
    /// Nothing can be said: no way, no answer, no such name.
    case unknown
}

/// Asks whether anybody listens somewhere who speaks first.
public enum PortProbe {
    /// Only on the loop; `done` is called there, once, unless the loop ends.
    /// - Parameter timeoutMs: then nothing can be said.
    public static func run(
        host: String, port: UInt16, on loop: EventLoop, timeoutMs: Int64, done: @escaping (PortAnswer) -> Void
    ) {
        AddressLookup.run(host: host, port: port, on: loop) { address in
            guard let address else { return done(.unknown) }
            let attempt = ProbeAttempt(loop: loop, done: done)
            attempt.begin(address, timeoutMs: timeoutMs)
        }
    }
}

/// One probe. Keeps itself until it is done.
private final class ProbeAttempt {
    private let loop: EventLoop
    private var done: ((PortAnswer) -> Void)?
    private var timer: LoopTimer?
    private var connector: SocketConnector?
    private var watch: DescriptorWatch?
    private var socket: Int32 = -1

    init(loop: EventLoop, done: @escaping (PortAnswer) -> Void) {
        self.loop = loop
        self.done = done
    }

    func begin(_ address: SocketAddress, timeoutMs: Int64) {
        timer = LoopTimer(loop: loop) { self.finish(.unknown) }
        timer?.schedule(afterMs: timeoutMs)
        connector = SocketConnector(loop: loop, address: address) { socket, error in
            self.connected(socket, error)
        }
        connector?.start()
    }

    private func connected(_ socket: Int32, _ error: Int32) {
        guard socket >= 0 else { return finish(error == ECONNREFUSED ? .refused : .unknown) }
        self.socket = socket
        guard done != nil else { return finish(.unknown) }
        watch = DescriptorWatch(loop: loop, descriptor: socket) { _ in self.readable() }
        watch?.watch(.readable)
        if watch == nil { finish(.unknown) }
    }

    private func readable() {
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, Int32(MSG_DONTWAIT))
        if count > 0 { return finish(.open) }
        if count < 0, errno == EAGAIN { return }
        finish(.closed)
    }

    private func finish(_ answer: PortAnswer) {
        watch?.close()
        watch = nil
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
        let connector = connector
        self.connector = nil
        timer?.cancel()
        timer = nil
        let done = done
        self.done = nil
        connector?.cancel()
        done?(answer)
    }
}
