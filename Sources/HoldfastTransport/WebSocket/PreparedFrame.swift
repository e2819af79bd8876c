import CUV
import Glibc

/// What a WebSocket message carries.
public enum WebSocketKind: Sendable, Equatable {
    /// UTF-8.
    case text
    /// Any bytes.
    case binary

    var opcode: UInt8 {
        switch self {
        case .text: 1
        case .binary: 2
        }
    }
}

/// One complete WebSocket message as it goes over the wire from server to client: header and unmasked payload, in one
/// piece of memory. Built once, sent to any number of connections without copying (a client connection masks a copy).
///
/// `@unchecked Sendable`: the memory is written in the initializers only and freed with the last reference.
public final class PreparedFrame: @unchecked Sendable {
    private let base: UnsafeMutableRawPointer
    /// Bytes on the wire, header included.
    public let byteCount: Int
    private let payloadStart: Int
    let opcode: UInt8

    /// A frame of these payload bytes. Text must be valid UTF-8; that is not checked here.
    public convenience init(_ kind: WebSocketKind, payload: UnsafeRawBufferPointer) {
        self.init(opcode: kind.opcode, payload: payload)
    }

    /// A frame of these payload bytes. Text must be valid UTF-8; that is not checked here.
    public convenience init(_ kind: WebSocketKind, payload: [UInt8]) {
        self.init(opcode: kind.opcode, payload: payload)
    }

    /// A text frame.
    public convenience init(text: String) {
        self.init(opcode: WebSocketKind.text.opcode, payload: Array(text.utf8))
    }

    private convenience init(opcode: UInt8, payload: [UInt8]) {
        let header = FrameHeader(opcode: opcode, payloadCount: payload.count, mask: nil)
        self.init(opcode: opcode, header: header)
        payload.withUnsafeBytes { fillPayload($0) }
    }

    /// Any unmasked, unfragmented frame, also a control frame.
    convenience init(opcode: UInt8, payload: UnsafeRawBufferPointer) {
        self.init(opcode: opcode, header: FrameHeader(opcode: opcode, payloadCount: payload.count, mask: nil))
        fillPayload(payload)
    }

    private init(opcode: UInt8, header: FrameHeader) {
        self.opcode = opcode
        payloadStart = header.count
        byteCount = header.count + header.payloadCount
        base = .allocate(byteCount: byteCount, alignment: 1)
        header.write(to: base)
    }

    /// Part of initialization: before anybody else has the frame.
    private func fillPayload(_ payload: UnsafeRawBufferPointer) {
        guard let source = payload.baseAddress else { return }
        (base + payloadStart).copyMemory(from: source, byteCount: payload.count)
    }

    /// The payload, valid inside `body` only.
    public func withPayload<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: base + payloadStart, count: byteCount - payloadStart))
    }

    /// Bytes to send as they are: an HTTP response, ciphertext.
    init(raw: UnsafeRawBufferPointer) {
        opcode = 0
        payloadStart = 0
        byteCount = raw.count
        base = .allocate(byteCount: max(1, byteCount), alignment: 1)
        if let source = raw.baseAddress { base.copyMemory(from: source, byteCount: raw.count) }
    }

    /// Raw bytes of a known number, written by `fill`.
    init(rawCount: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        opcode = 0
        payloadStart = 0
        byteCount = rawCount
        base = .allocate(byteCount: max(1, rawCount), alignment: 1)
        fill(UnsafeMutableRawBufferPointer(start: base, count: rawCount))
    }

    deinit {
        base.deallocate()
    }

    /// All bytes; valid as long as the frame.
    @inline(__always)
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: byteCount)
    }

    /// The same message as a client must send it: with a mask.
    func masked(with key: UInt32) -> PreparedFrame {
        withPayload { payload in
            let header = FrameHeader(opcode: opcode, payloadCount: payload.count, mask: key)
            return PreparedFrame(rawCount: header.count + payload.count) { target in
                guard let base = target.baseAddress else { return }
                header.write(to: base)
                withUnsafeBytes(of: key) { key in
                    for index in 0..<payload.count {
                        target[header.count + index] = payload[index] ^ key[index & 3]
                    }
                }
            }
        }
    }
}

/// The header of an unfragmented frame (RFC 6455, 5.2).
struct FrameHeader {
    let opcode: UInt8
    let payloadCount: Int
    /// In memory order.
    let mask: UInt32?

    var count: Int {
        let length = payloadCount < 126 ? 2 : payloadCount < 65_536 ? 4 : 10
        return length + (mask == nil ? 0 : 4)
    }

    func write(to target: UnsafeMutableRawPointer) {
        let maskBit: UInt8 = mask == nil ? 0 : 0x80
        target.storeBytes(of: 0x80 | opcode, as: UInt8.self)
        var end = 2
        if payloadCount < 126 {
            target.storeBytes(of: maskBit | UInt8(payloadCount), toByteOffset: 1, as: UInt8.self)
        } else if payloadCount < 65_536 {
            target.storeBytes(of: maskBit | 126, toByteOffset: 1, as: UInt8.self)
            target.storeBytes(of: UInt16(payloadCount).bigEndian, toByteOffset: 2, as: UInt16.self)
            end = 4
        } else {
            target.storeBytes(of: maskBit | 127, toByteOffset: 1, as: UInt8.self)
            target.storeBytes(of: UInt64(payloadCount).bigEndian, toByteOffset: 2, as: UInt64.self)
            end = 10
        }
        if let mask { target.storeBytes(of: mask, toByteOffset: end, as: UInt32.self) }
    }
}
