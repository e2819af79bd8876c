internal import CZeroMQ

/// A node's pair of CURVE keys (Curve25519), each as 40 characters of Z85.
public struct CurveKeys: Equatable, Sendable {
    public let publicKey: String
    public let secretKey: String

    /// Nil: these are not two keys, or not of one pair.
    public init?(publicKey: String, secretKey: String) {
        guard Self.isKey(publicKey), Self.isKey(secretKey), Self.publicKey(of: secretKey) == publicKey else {
            return nil
        }
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    private init(made publicKey: String, _ secretKey: String) {
        self.publicKey = publicKey
        self.secretKey = secretKey
    }

    /// A new pair. Nil: this libzmq has no CURVE.
    public static func make() -> CurveKeys? {
        var publicKey = [CChar](repeating: 0, count: 41)
        var secretKey = publicKey
        guard zmq_curve_keypair(&publicKey, &secretKey) == 0 else { return nil }
        return CurveKeys(made: text(publicKey), text(secretKey))
    }

    /// Whether it has the form of a key.
    public static func isKey(_ text: String) -> Bool {
        var raw = [UInt8](repeating: 0, count: 32)
        return text.utf8.count == 40 && zmq_z85_decode(&raw, text) != nil
    }

    private static func publicKey(of secretKey: String) -> String? {
        var publicKey = [CChar](repeating: 0, count: 41)
        return zmq_curve_public(&publicKey, secretKey) == 0 ? text(publicKey) : nil
    }

    /// A raw key of 32 bytes.
    static func text(ofRaw raw: [UInt8]) -> String? {
        guard raw.count == 32 else { return nil }
        var encoded = [CChar](repeating: 0, count: 41)
        return zmq_z85_encode(&encoded, raw, 32) == nil ? nil : text(encoded)
    }

    private static func text(_ characters: [CChar]) -> String {
        String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
