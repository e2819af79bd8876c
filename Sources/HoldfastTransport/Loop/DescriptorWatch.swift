import CUV

/// Tells when a descriptor that belongs to somebody else (a library) can be read or written. Loop-confined; kept alive
/// by its handle until `close`.
///
/// `@unchecked Sendable`: touched only on its loop.
final class DescriptorWatch: LoopResource, @unchecked Sendable {
    struct Events: OptionSet {
        let rawValue: Int32
        static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
        static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
    }

    private let handle: UnsafeMutablePointer<uv_poll_t>
    private var ready: ((Events) -> Void)?

    /// Nil: the loop has ended, or the system cannot watch this.
    init?(loop: EventLoop, descriptor: Int32, ready: @escaping (Events) -> Void) {
        loop.preconditionCurrent()
        handle = .allocate(capacity: 1)
        self.ready = ready
        super.init()
        guard loop.acceptsHandles, uv_poll_init(loop.uv, handle, descriptor) == 0 else {
            handle.deallocate()
            return nil
        }
        LoopResource.attach(self, to: handle.asHandle)
    }

    func watch(_ events: Events) {
        guard ready != nil else { return }
        uv_poll_start(handle, events.rawValue) { handle, status, events in
            guard let handle, let resource = LoopResource.of(handle.asHandle) else { return }
            // An error is found by whoever reads.
            let came = status < 0 ? [.readable, .writable] : Events(rawValue: events)
            unsafeDowncast(resource, to: DescriptorWatch.self).ready?(came)
        }
    }

    /// To be called before the descriptor is closed.
    func close() {
        guard ready != nil else { return }
        ready = nil
        LoopResource.close(handle.asHandle)
    }

    override func loopWillStop() { close() }
}
