import Glibc

/// Listens, and answers whoever connects with a text, or never.
final class SilentServer: Sendable {
    let port: UInt16
    private let socket: Int32

    init(answer: String? = nil) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, size) | listen(socket, 16) | getsockname(socket, pointer, &size)
            }
        }
        guard result == 0 else { throw RawPeer.Failure() }
        self.socket = socket
        port = UInt16(bigEndian: address.sin_port)
        guard let answer else { return }
        let bytes = Array(answer.utf8)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Answer(socket: socket, bytes: bytes)).toOpaque()
        pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Answer>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context)
        pthread_detach(thread)
    }

    func close() {
        Glibc.shutdown(socket, Int32(SHUT_RDWR))
        Glibc.close(socket)
    }

    private final class Answer {
        let socket: Int32
        let bytes: [UInt8]

        init(socket: Int32, bytes: [UInt8]) {
            self.socket = socket
            self.bytes = bytes
        }

        func run() {
            let peer = accept(socket, nil, nil)
            guard peer >= 0 else { return }
            _ = bytes.withUnsafeBytes { send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            var buffer = [UInt8](repeating: 0, count: 4096)
            while recv(peer, &buffer, buffer.count, 0) > 0 {}
            Glibc.close(peer)
        }
    }
}
