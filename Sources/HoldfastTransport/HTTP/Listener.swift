import CUV
import Glibc
import Synchronization

/// A listening socket on the first seat's loop. Each connection goes to the seat that has the fewest.
///
/// `@unchecked Sendable`: `poll`, `retry` and `isClosed` are touched only on the loop (the first before `start`).
final class Listener: LoopResource, @unchecked Sendable {
    let port: UInt16
    private let loop: EventLoop
    private let socket: Int32
    private let seats: [ServerSeat]
    private let maxCount: Int
    private var poll: UnsafeMutablePointer<uv_poll_t>?
    private var retry: LoopTimer?
    private var isClosed = false

    init(host: String, port: UInt16, seats: [ServerSeat], maxCount: Int) throws(SocketError) {
        guard let first = seats.first, let address = SocketAddress(numeric: host, port: port) else {
            throw SocketError(action: "address \(host)", code: EINVAL)
        }
        let socket = SocketCall.makeStream(family: address.family)
        guard socket >= 0 else { throw .last("socket") }
        SocketCall.prepare(socket)
        SocketCall.setOption(socket, SOL_SOCKET, SO_REUSEADDR, 1)
        guard address.withPointer({ bind(socket, $0, $1) }) == 0, listen(socket, 4096) == 0 else {
            let error = SocketError.last("listen on \(host):\(port)")
            Glibc.close(socket)
            throw error
        }
        self.port = SocketAddress.filled { getsockname(socket, $0, $1) }?.0.port ?? port
        self.socket = socket
        self.seats = seats
        self.maxCount = maxCount
        loop = first.loop
    }

    func start() {
        loop.execute { [self] in
            let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
            guard !isClosed, loop.acceptsHandles, uv_poll_init(loop.uv, handle, socket) == 0 else {
                handle.deallocate()
                closeNow()
                return
            }
            LoopResource.attach(self, to: handle.asHandle)
            poll = handle
            watch()
        }
    }

    func stop() {
        loop.execute { self.closeNow() }
    }

    override func loopWillStop() {
        closeNow()
    }

    private func closeNow() {
        guard !isClosed else { return }
        isClosed = true
        retry = nil
        if let poll { LoopResource.close(poll.asHandle) }
        poll = nil
        Glibc.close(socket)
    }

    private func watch() {
        guard let poll else { return }
        uv_poll_start(poll, Int32(UV_READABLE.rawValue)) { handle, _, _ in
            guard let handle, let resource = LoopResource.of(handle.asHandle) else { return }
            unsafeDowncast(resource, to: Listener.self).acceptSome()
        }
    }

    private func acceptSome() {
        for _ in 0..<64 where !isClosed {
            guard let (peer, connection) = SocketAddress.filled({ accept(socket, $0, $1) }) else {
                switch errno {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: pauseAccepting()
                default: break
                }
                return
            }
            SocketCall.prepareConnection(connection)
            hand(connection, peer.host)
        }
    }

    /// Out of descriptors: the kernel's queue waits a little, instead of a loop that spins.
    private func pauseAccepting() {
        guard let poll else { return }
        uv_poll_stop(poll)
        let timer = LoopTimer(loop: loop) { [weak self] in self?.watch() }
        timer.schedule(afterMs: 100)
        retry = timer
    }

    private func hand(_ connection: Int32, _ remoteAddress: String) {
        var total = 0
        var best: ServerSeat?
        var fewest = Int.max
        for seat in seats {
            let count = seat.count.load(ordering: .relaxed)
            total += count
            if count < fewest {
                fewest = count
                best = seat
            }
        }
        guard let best, total < maxCount else {
            Glibc.close(connection)
            return
        }
        best.count.add(1, ordering: .relaxed)
        if best.loop.isCurrent {
            best.take(socket: connection, remoteAddress: remoteAddress)
        } else {
            best.loop.execute { best.take(socket: connection, remoteAddress: remoteAddress) }
        }
    }
}
