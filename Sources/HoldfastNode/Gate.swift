internal import HoldfastTransport

/// Something that happens once and that tasks can wait for.
final class Gate: Sendable {
    private enum State {
        /// Next: open.
        case closed([CheckedContinuation<Void, Never>])
        case open
    }

    private let state = Locked(State.closed([]))

    /// Lets all who wait through, and who comes later too. False when it was open already.
    @discardableResult
    func open() -> Bool {
        let waiting: [CheckedContinuation<Void, Never>]? = state.withLock { state in
            guard case .closed(let waiting) = state else { return nil }
            state = .open
            return waiting
        }
        for continuation in waiting ?? [] { continuation.resume() }
        return waiting != nil
    }

    /// Returns when the gate is open.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .closed(let waiting) = state else { return true }
                state = .closed(waiting + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }
}
