internal import HoldfastProtocol

/// Frame inputs: sent once, and again after a resume until a frame shows them.
extension ClientMachine {
    mutating func sendInput(_ input: SendFrameInput, id: UInt32, nowMs: Int64) {
        guard let frames, phase != .idle else {
            let code: ErrorCode = phase == .idle ? .notConnected : .frameSyncNotRunning
            deliver(.requestFailed(id: id, HoldfastError(code: code, message: "no frame sync to send an input to")))
            return
        }
        guard inputs.items.count < options.pendingInputs else {
            let message = "\(inputs.items.count) inputs are in no frame yet, the limit is \(options.pendingInputs)"
            deliver(.requestFailed(id: id, HoldfastError(code: .tooManyFrameInputs, message: message)))
            return
        }
        var body = input
        if body.frameSyncId == 0 { body.frameSyncId = frames.info.frameSyncId }
        inputs.append(InputQueue.Item(id: id, body: body))
        pumpInputs(nowMs: nowMs)
    }

    mutating func pumpInputs(nowMs: Int64) {
        guard case .online(let link) = phase, let last = frames?.last else { return }
        if let heldUntilMs = inputs.heldUntilMs, nowMs >= heldUntilMs { inputs.heldUntilMs = nil }
        while let item = inputs.next(lastFrame: last) {
            effects.append(.send(link, ClientMessage(id: item.id, body: .sendFrameInput(item.body))))
        }
    }

    mutating func resendInputs(running: FrameSyncInfo?, nowMs: Int64) {
        // When another one runs, the end of ours is among the events to come.
        let isSame = running?.frameSyncId == frames?.info.frameSyncId
        inputs.resume(after: isSame ? running?.frameId ?? 0 : .max, allowance: options.inputsPerFrame)
        pumpInputs(nowMs: nowMs)
    }

    /// An error that answers an input. True when that is settled here, without the application.
    mutating func inputFailed(_ id: UInt32, _ error: ErrorReply, nowMs: Int64) -> Bool {
        guard inputs.items.contains(where: { $0.id == id }) else { return false }
        if error.code == ErrorCode.serverError.rawValue, error.retryAfterMs > 0 {
            inputs.rewind(to: id, untilMs: nowMs + Int64(error.retryAfterMs), allowance: options.inputsPerFrame)
            return true
        }
        inputs.remove(id)
        return false
    }
}
