import COpenSSL

/// What went wrong with certificates or keys. Never carries key material.
public struct TLSError: Error, Equatable, CustomStringConvertible {
    /// What was tried.
    public let action: String
    /// What OpenSSL says.
    public let detail: String

    /// Both.
    public var description: String { "\(action): \(detail)" }

    /// Takes the newest error of OpenSSL on this thread and forgets the rest.
    static func last(_ action: String) -> TLSError {
        let code = ERR_peek_last_error()
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(code, &text, text.count)
        ERR_clear_error()
        let detail = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return TLSError(action: action, detail: code == 0 ? "unknown" : String(decoding: detail, as: UTF8.self))
    }
}

/// Whom a TLS client believes.
public enum TLSTrust: Sendable, Equatable {
    /// The system's certificate authorities; the name must fit.
    case system
    /// The certificates in this PEM file; the name must fit.
    case file(String)
    /// Anybody. For tests only.
    case anybody
}

/// Certificates, keys and rules of TLS (1.2 or newer, ALPN `http/1.1`), shared by all connections.
///
/// `@unchecked Sendable`: written in the initializers only; OpenSSL counts references to an SSL_CTX with atomics.
public final class TLSContext: @unchecked Sendable {
    let context: OpaquePointer
    let isServer: Bool
    private let checksPeer: Bool

    /// For a server.
    /// - Parameters:
    ///   - certificateFile: PEM, the server's certificate first, then its chain.
    ///   - keyFile: PEM.
    public init(certificateFile: String, keyFile: String) throws(TLSError) {
        guard let context = SSL_CTX_new(TLS_server_method()) else { throw .last("TLS context") }
        self.context = context
        isServer = true
        checksPeer = false
        prepare()
        guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
            throw .last("certificate \(certificateFile)")
        }
        guard SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1 else {
            throw .last("key \(keyFile)")
        }
        guard SSL_CTX_check_private_key(context) == 1 else { throw .last("key and certificate") }
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, out, outLength, offered, offeredLength, _ in
                guard let out, let outLength else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                return TLSContext.alpn.withUnsafeBufferPointer { own in
                    // The result points into `offered`: `own` is only searched.
                    var chosen: UnsafeMutablePointer<UInt8>?
                    let found = SSL_select_next_proto(
                        &chosen, outLength, offered, offeredLength, own.baseAddress, UInt32(own.count))
                    guard found == OPENSSL_NPN_NEGOTIATED else { return SSL_TLSEXT_ERR_ALERT_FATAL }
                    out.pointee = UnsafePointer(chosen)
                    return SSL_TLSEXT_ERR_OK
                }
            }, nil)
    }

    /// For clients.
    public init(trust: TLSTrust) throws(TLSError) {
        guard let context = SSL_CTX_new(TLS_client_method()) else { throw .last("TLS context") }
        self.context = context
        isServer = false
        checksPeer = trust != .anybody
        prepare()
        SSL_CTX_set_alpn_protos(context, TLSContext.alpn, UInt32(TLSContext.alpn.count))
        switch trust {
        case .anybody: SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
        case .system:
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
            guard SSL_CTX_set_default_verify_paths(context) == 1 else { throw .last("system certificates") }
        case .file(let file):
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
            guard SSL_CTX_load_verify_locations(context, file, nil) == 1 else { throw .last("certificates \(file)") }
        }
    }

    deinit {
        SSL_CTX_free(context)
    }

    private static let alpn: [UInt8] = [8] + Array("http/1.1".utf8)

    private func prepare() {
        _ = holdfast_ssl_ctx_min_tls12(context)
        holdfast_ssl_ctx_modes(context)
    }

    /// A session for one connection. Nil when memory is short.
    /// - Parameter host: for clients: whose certificate it must be.
    func makeSession(host: String?) -> TLSSession? {
        guard let ssl = SSL_new(context) else { return nil }
        guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            return nil
        }
        holdfast_bio_never_eof(input)
        holdfast_bio_never_eof(output)
        SSL_set_bio(ssl, input, output)
        if isServer {
            SSL_set_accept_state(ssl)
        } else {
            SSL_set_connect_state(ssl)
            if let host {
                let isAddress = SocketAddress.isNumeric(host)
                if !isAddress { _ = holdfast_ssl_host_name(ssl, host) }
                if checksPeer {
                    let isSet =
                        isAddress
                        ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) : SSL_set1_host(ssl, host)
                    guard isSet == 1 else {
                        SSL_free(ssl)
                        return nil
                    }
                }
            }
        }
        return TLSSession(ssl: ssl, input: input, output: output)
    }
}

/// One TLS connection over memory: ciphertext in and out, plaintext in and out. Loop-confined.
final class TLSSession {
    enum ReadResult: Equatable {
        case plaintext(Int)
        case wantsMore
        /// The peer said that it will send no more.
        case ended
        case failed
    }

    private let ssl: OpaquePointer
    // Owned by `ssl`.
    private let input: OpaquePointer
    private let output: OpaquePointer
    private(set) var isReady = false
    private var hasFailed = false
    /// Why the handshake failed, for logs.
    private(set) var failure: TLSError?

    init(ssl: OpaquePointer, input: OpaquePointer, output: OpaquePointer) {
        self.ssl = ssl
        self.input = input
        self.output = output
    }

    deinit {
        SSL_free(ssl)
    }

    /// Ciphertext that came.
    func feed(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        // A memory BIO takes everything.
        BIO_write(input, base, Int32(bytes.count))
    }

    /// Goes on with the handshake or takes plaintext. To be called until it wants more.
    func read(into target: UnsafeMutableRawBufferPointer) -> ReadResult {
        guard !hasFailed else { return .failed }
        ERR_clear_error()
        if !isReady {
            let result = SSL_do_handshake(ssl)
            guard result == 1 else { return outcome(result) }
            isReady = true
        }
        let count = SSL_read(ssl, target.baseAddress, Int32(target.count))
        return count > 0 ? .plaintext(Int(count)) : outcome(count)
    }

    private func outcome(_ result: Int32) -> ReadResult {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wantsMore
        case SSL_ERROR_ZERO_RETURN: return .ended
        default:
            hasFailed = true
            failure = .last("TLS")
            return .failed
        }
    }

    /// Encrypts at most 16 KiB; false when the session is broken.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard isReady, !hasFailed, !bytes.isEmpty else { return false }
        ERR_clear_error()
        // A memory BIO takes everything, so that a write of one record is never partial.
        return SSL_write(ssl, bytes.baseAddress, Int32(bytes.count)) == Int32(bytes.count)
    }

    /// What is to be sent, if anything.
    func takeCiphertext() -> PreparedFrame? {
        let pending = holdfast_bio_pending(output)
        guard pending > 0 else { return nil }
        return PreparedFrame(rawCount: pending) { target in
            BIO_read(output, target.baseAddress, Int32(target.count))
        }
    }

    /// Queues the alert that says that nothing follows.
    func sayEnd() {
        guard isReady, !hasFailed else { return }
        SSL_shutdown(ssl)
        ERR_clear_error()
    }
}
