import CUV
import Glibc

/// What a socket call says.
public struct SocketError: Error, Equatable, CustomStringConvertible {
    /// What was tried.
    public let action: String
    /// The `errno` value.
    public let code: Int32

    /// For logs.
    public var description: String { "\(action): \(String(cString: strerror(code)))" }

    static func last(_ action: String) -> SocketError { SocketError(action: action, code: errno) }
}

/// An IPv4 or IPv6 address with a port.
struct SocketAddress {
    private var storage = sockaddr_storage()
    private var size: socklen_t

    /// From a numeric address (brackets of IPv6 may stand); nil for names.
    init?(numeric host: String, port: UInt16) {
        let bare = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        var four = sockaddr_in()
        if inet_pton(AF_INET, bare, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            size = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
            return
        }
        var six = sockaddr_in6()
        guard inet_pton(AF_INET6, bare, &six.sin6_addr) == 1 else { return nil }
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
    }

    /// From what a system call filled in.
    init(storage: sockaddr_storage, size: socklen_t) {
        self.storage = storage
        self.size = size
    }

    static func isNumeric(_ host: String) -> Bool {
        SocketAddress(numeric: host, port: 0) != nil
    }

    var family: Int32 { Int32(storage.ss_family) }

    /// Without the port.
    var host: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        withUnsafeBytes(of: storage) { raw in
            guard let base = raw.baseAddress else { return }
            if family == AF_INET {
                var address = raw.load(as: sockaddr_in.self).sin_addr
                inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
            } else if family == AF_INET6 {
                var address = base.load(as: sockaddr_in6.self).sin6_addr
                inet_ntop(AF_INET6, &address, &text, socklen_t(text.count))
            }
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var port: UInt16 {
        withUnsafeBytes(of: storage) { raw in
            if family == AF_INET { return UInt16(bigEndian: raw.load(as: sockaddr_in.self).sin_port) }
            if family == AF_INET6 { return UInt16(bigEndian: raw.load(as: sockaddr_in6.self).sin6_port) }
            return 0
        }
    }

    /// Lends the address to a system call.
    func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, size) }
        }
    }

    /// Lets a system call fill in an address; nil if it fails.
    static func filled(_ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) -> (
        SocketAddress, Int32
    )? {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &size) }
        }
        return result < 0 ? nil : (SocketAddress(storage: storage, size: size), result)
    }
}

/// The few socket calls that more than one file needs.
enum SocketCall {
    static func setOption(_ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// What the kernel takes of a connection before it is on its way, in bytes. Left to itself it takes megabytes, and
    /// the owner of a connection learns too late that nobody reads.
    private static let unsentBytes: Int32 = 128 * 1024

    /// Non-blocking, closed on exec, without delay: what every connection is.
    static func prepareConnection(_ socket: Int32) {
        prepare(socket)
        setOption(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        setOption(socket, Int32(IPPROTO_TCP), TCP_NOTSENT_LOWAT, unsentBytes)
    }

    static func prepare(_ socket: Int32) {
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
    }

    static func makeStream(family: Int32) -> Int32 {
        Glibc.socket(family, Int32(SOCK_STREAM.rawValue), 0)
    }
}
