import CUV
import Glibc

/// Connects one TCP socket without blocking. Loop-confined; kept alive by its handle.
///
/// `@unchecked Sendable`: touched only on its loop.
final class SocketConnector: LoopResource, @unchecked Sendable {
    private let loop: EventLoop
    private let address: SocketAddress
    private var done: ((Int32, Int32) -> Void)?
    private var socket: Int32 = -1
    private var poll: UnsafeMutablePointer<uv_poll_t>?

    /// - Parameter done: gets the connected socket, or -1 and an `errno` value. Once, unless cancelled.
    init(loop: EventLoop, address: SocketAddress, done: @escaping (Int32, Int32) -> Void) {
        self.loop = loop
        self.address = address
        self.done = done
    }

    func start() {
        socket = SocketCall.makeStream(family: address.family)
        guard socket >= 0 else { return finish(errno) }
        SocketCall.prepareConnection(socket)
        let result = address.withPointer { connect(socket, $0, $1) }
        guard result == 0 || errno == EINPROGRESS else { return finish(errno) }
        let handle = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        guard loop.acceptsHandles, uv_poll_init(loop.uv, handle, socket) == 0 else {
            handle.deallocate()
            return finish(ECANCELED)
        }
        LoopResource.attach(self, to: handle.asHandle)
        poll = handle
        uv_poll_start(handle, Int32(UV_WRITABLE.rawValue)) { handle, _, _ in
            guard let handle, let resource = LoopResource.of(handle.asHandle) else { return }
            unsafeDowncast(resource, to: SocketConnector.self).ready()
        }
    }

    func cancel() {
        done = nil
        finish(ECANCELED)
    }

    override func loopWillStop() {
        finish(ECANCELED)
    }

    private func ready() {
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size)
        finish(error)
    }

    private func finish(_ error: Int32) {
        if let poll { LoopResource.close(poll.asHandle) }
        poll = nil
        let done = self.done
        self.done = nil
        let socket = self.socket
        self.socket = -1
        guard error == 0, let done else {
            if socket >= 0 { Glibc.close(socket) }
            done?(-1, error)
            return
        }
        // The channel makes a handle of its own on the same socket: this one must be out of the loop's tables, which it
        // is, since `uv_close` takes a poll handle out at once.
        done(socket, 0)
    }
}

/// Asks the system for a name's address, on libuv's thread pool.
enum AddressLookup {
    /// Holds the answer's way until it comes: libuv calls back exactly once, also when the loop stops.
    private final class Request {
        let done: (SocketAddress?) -> Void
        init(_ done: @escaping (SocketAddress?) -> Void) { self.done = done }
    }

    /// Only on the loop; `done` is called there, once.
    static func run(host: String, port: UInt16, on loop: EventLoop, done: @escaping (SocketAddress?) -> Void) {
        let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
        let holder = Unmanaged.passRetained(Request(done)).toOpaque()
        uv_req_set_data(UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self), holder)
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        let result = uv_getaddrinfo(
            loop.uv, request,
            { request, status, list in
                guard let request else { return }
                AddressLookup.answered(request, status == 0 ? list : nil)
                uv_freeaddrinfo(list)
            }, host, String(port), &hints)
        if result != 0 { answered(request, nil) }
    }

    private static func answered(
        _ request: UnsafeMutablePointer<uv_getaddrinfo_t>, _ list: UnsafeMutablePointer<addrinfo>?
    ) {
        let base = UnsafeMutableRawPointer(request).assumingMemoryBound(to: uv_req_t.self)
        let holder = uv_req_get_data(base).map { Unmanaged<Request>.fromOpaque($0).takeRetainedValue() }
        request.deallocate()
        var storage = sockaddr_storage()
        guard let entry = list?.pointee, let address = entry.ai_addr,
            Int(entry.ai_addrlen) <= MemoryLayout<sockaddr_storage>.size
        else {
            holder?.done(nil)
            return
        }
        withUnsafeMutableBytes(of: &storage) { target in
            target.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen)))
        }
        holder?.done(SocketAddress(storage: storage, size: entry.ai_addrlen))
    }
}
