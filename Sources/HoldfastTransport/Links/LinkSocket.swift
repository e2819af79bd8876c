import CZeroMQ

/// Why a link could not be had.
public struct LinkError: Error, Equatable, Sendable, CustomStringConvertible {
    public let description: String

    init(_ action: String) {
        description = "\(action): \(String(cString: zmq_strerror(zmq_errno())))"
    }
}

/// One ZeroMQ socket. Its descriptor is edge-triggered and tells of the socket's inner life only: whoever is woken by
/// it reads until nothing is left.
struct LinkSocket: ~Copyable {
    private let raw: UnsafeMutableRawPointer

    init(_ context: UnsafeMutableRawPointer, _ type: Int32) throws(LinkError) {
        guard let raw = zmq_socket(context, type) else { throw LinkError("making a link socket") }
        self.raw = raw
    }

    deinit { zmq_close(raw) }

    // MARK: Options

    func set(_ option: Int32, _ value: Int32) throws(LinkError) {
        var value = value
        guard zmq_setsockopt(raw, option, &value, MemoryLayout<Int32>.size) == 0 else {
            throw LinkError("link option \(option)")
        }
    }

    func set(_ option: Int32, long value: Int64) throws(LinkError) {
        var value = value
        guard zmq_setsockopt(raw, option, &value, MemoryLayout<Int64>.size) == 0 else {
            throw LinkError("link option \(option)")
        }
    }

    func set(_ option: Int32, _ text: String) throws(LinkError) {
        guard zmq_setsockopt(raw, option, text, text.utf8.count) == 0 else {
            throw LinkError("link option \(option)")
        }
    }

    private func number(_ option: Int32) -> Int32 {
        var value: Int32 = 0
        var size = MemoryLayout<Int32>.size
        return zmq_getsockopt(raw, option, &value, &size) == 0 ? value : 0
    }

    var descriptor: Int32 { number(ZMQ_FD) }
    var isReadable: Bool { number(ZMQ_EVENTS) & ZMQ_POLLIN != 0 }

    /// Where it is bound, with the port that the system chose.
    var lastEndpoint: String {
        var text = [CChar](repeating: 0, count: 256)
        var size = text.count
        guard zmq_getsockopt(raw, ZMQ_LAST_ENDPOINT, &text, &size) == 0 else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func bind(_ endpoint: String) throws(LinkError) {
        guard zmq_bind(raw, endpoint) == 0 else { throw LinkError("binding \(endpoint)") }
    }

    func connect(_ endpoint: String) throws(LinkError) {
        guard zmq_connect(raw, endpoint) == 0 else { throw LinkError("connecting to \(endpoint)") }
    }

    func monitor(_ endpoint: String, _ events: Int32) throws(LinkError) {
        guard zmq_socket_monitor(raw, endpoint, events) == 0 else { throw LinkError("watching a link") }
    }

    // MARK: Messages

    /// - Returns: false when its queue is full.
    func send(_ bytes: [UInt8], more: Bool = false) -> Bool {
        zmq_send(raw, bytes, bytes.count, ZMQ_DONTWAIT | (more ? ZMQ_SNDMORE : 0)) >= 0
    }

    /// The next message's frames, and the sender's name if it was authenticated; nil: there is none.
    func receive() -> (frames: [[UInt8]], user: String?)? {
        var frames: [[UInt8]] = []
        var user: String?
        var message = zmq_msg_t()
        zmq_msg_init(&message)
        defer { zmq_msg_close(&message) }
        repeat {
            guard zmq_msg_recv(&message, raw, ZMQ_DONTWAIT) >= 0 else { return nil }
            frames.append(
                Array(UnsafeRawBufferPointer(start: zmq_msg_data(&message), count: zmq_msg_size(&message))))
            if user == nil, let name = zmq_msg_gets(&message, "User-Id") { user = String(cString: name) }
        } while zmq_msg_more(&message) != 0
        return (frames, user)
    }
}
