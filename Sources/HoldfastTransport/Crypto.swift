internal import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
public enum HMACSHA256 {
    /// Length of a code, in bytes.
    public static let byteCount = 32

    /// The authentication code of `message` under `key`: always `byteCount` bytes. Any key length is taken.
    public static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        // HMAC takes a null key for "the key of the call before": an empty key has to be a pointer all the same.
        let key = key.isEmpty ? [0] : key
        var code = [UInt8](repeating: 0, count: byteCount)
        let done = key.withUnsafeBufferPointer { key in
            message.withUnsafeBufferPointer { message in
                HMAC(EVP_sha256(), key.baseAddress, Int32(key.count), message.baseAddress, message.count, &code, nil)
            }
        }
        guard done != nil else { fatalError("OpenSSL has no HMAC-SHA256") }
        return code
    }
}

/// SHA-256 of bytes at hand.
public enum SHA256Digest {
    /// The digest of `bytes`: 32 bytes.
    public static func of(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        guard done == 1 else { fatalError("OpenSSL has no SHA-256") }
        return digest
    }
}

/// Compares without telling by its time where the two differ; lengths are no secret.
public func constantTimeEquals(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}

/// `count` bytes that nobody can guess. Traps when the system has no randomness: nothing safe could be done then.
public func secureRandomBytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    guard RAND_bytes(&bytes, Int32(count)) == 1 else { fatalError("OpenSSL has no randomness") }
    return bytes
}
