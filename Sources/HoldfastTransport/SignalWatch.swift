internal import CUV
internal import Glibc

/// The signals that ask a process to end.
public enum TerminationSignal: Int32, Sendable, CaseIterable {
    case interrupt = 2
    case terminate = 15
}

/// Takes the signals that ask this process to end, instead of dying of them.
public final class SignalWatch: Sendable {
    private let loop: EventLoop
    private let cores: [SignalCore]

    /// Watches until `close` or the end of the loop.
    /// - Parameter handler: called on the loop, for each signal that comes.
    public init(loop: EventLoop, _ handler: @escaping @Sendable (TerminationSignal) -> Void) {
        self.loop = loop
        let cores = TerminationSignal.allCases.map { SignalCore(signal: $0, handler: handler) }
        self.cores = cores
        loop.execute { for core in cores { core.open(on: loop) } }
    }

    /// From now on the signals do again what the system has for them. Any thread.
    public func close() {
        loop.execute { for core in self.cores { core.close() } }
    }
}

/// One signal's handle.
///
/// `@unchecked Sendable`: touched only on the loop.
private final class SignalCore: LoopResource, @unchecked Sendable {
    private let signal: TerminationSignal
    private let handler: @Sendable (TerminationSignal) -> Void
    private var handle: UnsafeMutablePointer<uv_signal_t>?

    init(signal: TerminationSignal, handler: @escaping @Sendable (TerminationSignal) -> Void) {
        self.signal = signal
        self.handler = handler
    }

    func open(on loop: EventLoop) {
        guard loop.acceptsHandles else { return }
        let handle = UnsafeMutablePointer<uv_signal_t>.allocate(capacity: 1)
        guard uv_signal_init(loop.uv, handle) == 0 else {
            handle.deallocate()
            return
        }
        LoopResource.attach(self, to: handle.asHandle)
        self.handle = handle
        uv_signal_start(
            handle,
            { handle, _ in
                guard let handle, let core = LoopResource.of(handle.asHandle) else { return }
                unsafeDowncast(core, to: SignalCore.self).came()
            }, signal.rawValue)
    }

    private func came() { handler(signal) }

    func close() {
        guard let handle else { return }
        self.handle = nil
        LoopResource.close(handle.asHandle)
    }

    override func loopWillStop() { close() }
}
