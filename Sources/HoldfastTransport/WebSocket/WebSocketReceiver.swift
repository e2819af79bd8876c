import CUV
import CWSlay
import Glibc

/// Why a peer's bytes are not acceptable.
public enum WebSocketFault: Sendable, Equatable {
    /// A message, over all its fragments, is larger than the limit.
    case messageTooLarge
    /// A text message (or a close reason) is not UTF-8.
    case invalidUTF8
    /// Anything else against RFC 6455: no mask, reserved bits or opcodes, broken fragments, …
    case protocolError

    /// The close code that RFC 6455 has for it.
    public var closeCode: UInt16 {
        switch self {
        case .messageTooLarge: 1009
        case .invalidUTF8: 1007
        case .protocolError: 1002
        }
    }
}

/// Takes what a `WebSocketReceiver` finds.
protocol WebSocketReceiverSink: AnyObject {
    /// A complete message, valid in this call only.
    func receiverFound(message: UnsafeRawBufferPointer, kind: WebSocketKind)
    /// A ping to be answered with the same bytes, valid in this call only.
    func receiverFound(ping: UnsafeRawBufferPointer)
    /// The peer's close frame (1005: without a code). Nothing follows.
    func receiverFound(close code: UInt16, reason: String)
    /// Nothing follows.
    func receiverFound(fault: WebSocketFault)
}

/// What stands in a close frame (RFC 6455, 5.5.1 and 7.4).
struct CloseFrame: Equatable {
    /// 1005: no code.
    let code: UInt16
    let reason: String

    struct Bad: Error, Equatable {
        let fault: WebSocketFault
    }

    static func parse(_ payload: UnsafeRawBufferPointer) -> Result<CloseFrame, Bad> {
        guard !payload.isEmpty else { return .success(CloseFrame(code: 1005, reason: "")) }
        guard payload.count >= 2 else { return .failure(Bad(fault: .protocolError)) }
        let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
        // In this order, because wslay sees a broken reason while it comes in.
        guard let reason = String(validating: payload.dropFirst(2), as: UTF8.self) else {
            return .failure(Bad(fault: .invalidUTF8))
        }
        guard isAllowed(code) else { return .failure(Bad(fault: .protocolError)) }
        return .success(CloseFrame(code: code, reason: reason))
    }

    private static func isAllowed(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}

/// Takes a peer's bytes apart into messages, over wslay's event API. Sends nothing: what wslay would answer is thrown
/// away and left to the owner. No socket, no clock. Loop-confined.
///
/// wslay's `user_data` is an unretained pointer to this object: wslay calls back only within `feed`, which holds it.
final class WebSocketReceiver {
    private var context: wslay_event_context_ptr?
    private let isServer: Bool
    private let maxMessageBytes: Int
    weak var sink: (any WebSocketReceiverSink)?
    private var input = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Bytes that came while paused.
    private var kept: [UInt8] = []
    /// The fragments so far of a message that did not come in one piece.
    private var message: [UInt8] = []
    private var messageKind = WebSocketKind.text
    /// The payload of the current data frame, if it came in one piece: not copied. Valid until wslay reads on.
    private var whole = UnsafeRawBufferPointer(start: nil, count: 0)
    private var frameIsControl = false
    private var frameIsLast = true
    private var framePayload = 0
    private var isTooLarge = false
    /// What came of a close frame's payload.
    private var closePayload: [UInt8]?
    private var isFeeding = false
    /// A fault or a close frame came: all further bytes are dropped.
    private(set) var isDone = false
    /// While set, messages wait (but those that wslay has already taken in: at most 4 KiB).
    private(set) var isPaused = false

    /// - Parameter maxMessageBytes: of a message over all fragments; at least 125.
    init(isServer: Bool, maxMessageBytes: Int) {
        self.isServer = isServer
        self.maxMessageBytes = max(125, maxMessageBytes)
        var callbacks = WebSocketReceiver.callbacks
        let me = Unmanaged.passUnretained(self).toOpaque()
        let result =
            isServer
            ? wslay_event_context_server_init(&context, &callbacks, me)
            : wslay_event_context_client_init(&context, &callbacks, me)
        precondition(result == 0, "no memory for a WebSocket")
        wslay_event_config_set_no_buffering(context, 1)
        wslay_event_config_set_max_recv_msg_length(context, UInt64(self.maxMessageBytes))
    }

    deinit {
        wslay_event_context_free(context)
    }

    /// Bytes that came. Calls the sink; the sink may call `stop`, `pause`, but not `feed`.
    func feed(_ bytes: UnsafeRawBufferPointer) {
        guard !isDone, !bytes.isEmpty else { return }
        guard !isPaused else {
            kept.append(contentsOf: bytes)
            return
        }
        run(bytes)
    }

    /// Ends it: nothing is found any more.
    func stop() {
        isDone = true
        kept = []
        wslay_event_shutdown_read(context)
    }

    func pause() {
        isPaused = true
    }

    /// Goes on, first with what was kept.
    func resume() {
        guard isPaused else { return }
        isPaused = false
        guard !isFeeding, !isDone, !kept.isEmpty else { return }
        let bytes = kept
        kept = []
        bytes.withUnsafeBytes { run($0) }
    }

    private func run(_ bytes: UnsafeRawBufferPointer) {
        isFeeding = true
        input = bytes
        let result = wslay_event_recv(context)
        let rest = input
        input = UnsafeRawBufferPointer(start: nil, count: 0)
        isFeeding = false
        guard !isDone else { return }
        discardAnswers()
        if let closePayload, closePayload.count == framePayload {
            isDone = true
            // wslay 1.1.1 takes close frames with one byte, does not always look at the reason, and knows no codes over
            // 1011.
            switch closePayload.withUnsafeBytes({ CloseFrame.parse($0) }) {
            case .success(let frame): sink?.receiverFound(close: frame.code, reason: frame.reason)
            case .failure(let error): sink?.receiverFound(fault: error.fault)
            }
        } else if let closePayload, !closePayload.isEmpty, wslay_event_get_read_enabled(context) == 0 {
            // wslay 1.1.1 mistakes a reason that comes in pieces for broken UTF-8 and stops: the code counts, if it
            // came.
            isDone = true
            let known = closePayload.count >= 2 ? closePayload.prefix(2) : []
            switch known.withUnsafeBytes({ CloseFrame.parse($0) }) {
            case .success(let frame): sink?.receiverFound(close: frame.code, reason: "")
            case .failure(let error): sink?.receiverFound(fault: error.fault)
            }
        } else if result != 0 || isTooLarge || wslay_event_get_read_enabled(context) == 0 {
            isDone = true
            sink?.receiverFound(fault: isTooLarge ? .messageTooLarge : faultOfAnswer())
        } else if !rest.isEmpty {
            kept.append(contentsOf: rest)
            if !isPaused { resumeKept() }
        }
    }

    /// `pause` and `resume` came within one `feed`.
    private func resumeKept() {
        isPaused = true
        resume()
    }

    /// wslay queues pongs and close frames: they are taken off without being sent.
    private func discardAnswers() {
        if wslay_event_want_write(context) != 0 { wslay_event_send(context) }
    }

    /// The code of the close frame that wslay wanted to send tells what it found.
    private func faultOfAnswer() -> WebSocketFault {
        switch Int32(wslay_event_get_status_code_sent(context)) {
        case Int32(WSLAY_CODE_MESSAGE_TOO_BIG.rawValue): .messageTooLarge
        case Int32(WSLAY_CODE_INVALID_FRAME_PAYLOAD_DATA.rawValue): .invalidUTF8
        default: .protocolError
        }
    }

    // MARK: Callbacks of wslay

    private func provide(_ target: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
        let count = min(count, input.count)
        guard count > 0, !isPaused, let target, let source = input.baseAddress else {
            wslay_event_set_error(context, Int32(WSLAY_ERR_WOULDBLOCK.rawValue))
            return -1
        }
        UnsafeMutableRawPointer(target).copyMemory(from: source, byteCount: count)
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }

    private func frameStarted(_ frame: wslay_event_on_frame_recv_start_arg) {
        frameIsControl = frame.opcode & 8 != 0
        framePayload = Int(clamping: frame.payload_length)
        if frame.opcode == 8 { closePayload = [] }
        guard !frameIsControl else { return }
        if frame.opcode != 0 {
            messageKind = frame.opcode == 1 ? .text : .binary
            message.removeAll(keepingCapacity: message.capacity <= 16_384)
        }
        whole = UnsafeRawBufferPointer(start: nil, count: 0)
        frameIsLast = frame.fin != 0
        if framePayload > maxMessageBytes - message.count {
            isTooLarge = true
            wslay_event_shutdown_read(context)
        }
    }

    private func chunkCame(_ chunk: wslay_event_on_frame_recv_chunk_arg) {
        let bytes = UnsafeRawBufferPointer(start: chunk.data, count: chunk.data_length)
        closePayload?.append(contentsOf: bytes)
        guard !frameIsControl, !isTooLarge else { return }
        if frameIsLast && message.isEmpty && bytes.count == framePayload {
            whole = bytes
            return
        }
        if message.isEmpty && frameIsLast { message.reserveCapacity(framePayload) }
        message.append(contentsOf: bytes)
    }

    private func messageCame(_ arg: wslay_event_on_msg_recv_arg) {
        guard !isDone, !isTooLarge else { return }
        switch wslay_opcode(UInt32(arg.opcode)) {
        case WSLAY_PING:
            sink?.receiverFound(ping: UnsafeRawBufferPointer(start: arg.msg, count: arg.msg_length))
        case WSLAY_TEXT_FRAME, WSLAY_BINARY_FRAME:
            if message.isEmpty {
                sink?.receiverFound(message: whole, kind: messageKind)
            } else {
                message.withUnsafeBytes { sink?.receiverFound(message: $0, kind: messageKind) }
            }
            whole = UnsafeRawBufferPointer(start: nil, count: 0)
        default: break
        }
    }

    private static func of(_ data: UnsafeMutableRawPointer?) -> WebSocketReceiver? {
        guard let data else { return nil }
        return Unmanaged<WebSocketReceiver>.fromOpaque(data).takeUnretainedValue()
    }

    private static var callbacks: wslay_event_callbacks {
        wslay_event_callbacks(
            recv_callback: { _, target, count, _, data in
                WebSocketReceiver.of(data)?.provide(target, count) ?? -1
            },
            send_callback: { _, _, count, _, _ in count },
            genmask_callback: { _, target, count, _ in
                // Only for answers that are thrown away.
                if let target { memset(target, 0, count) }
                return 0
            },
            on_frame_recv_start_callback: { _, arg, data in
                if let arg { WebSocketReceiver.of(data)?.frameStarted(arg.pointee) }
            },
            on_frame_recv_chunk_callback: { _, arg, data in
                if let arg { WebSocketReceiver.of(data)?.chunkCame(arg.pointee) }
            },
            on_frame_recv_end_callback: nil,
            on_msg_recv_callback: { _, arg, data in
                if let arg { WebSocketReceiver.of(data)?.messageCame(arg.pointee) }
            })
    }
}
