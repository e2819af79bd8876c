import HoldfastProtocol

/// Bytes from a client or a server on a Protobuf connection: refused, or sound in both encodings.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = UnsafeRawBufferPointer(start: data, count: count)
    let decoded = Encoding.protobuf.decodeClientMessage(from: bytes)
    if case .success(let message) = decoded.message {
        check(message, decoded)
        if let body = message.body { _ = RequestRules.violation(of: body, limits: Limits()) }
    }
    do {
        let message = try Encoding.protobuf.decode(ServerMessage.self, from: bytes)
        for encoding in Encoding.allCases {
            let copy = try encoding.decode(ServerMessage.self, from: encoding.encode(message))
            precondition(copy == message)
        }
    } catch {
        precondition(!error.message.isEmpty && error.message.utf8.count < 4096)
    }
    return 0
}

private func check(_ message: ClientMessage, _ decoded: DecodedClientMessage) {
    precondition(decoded.idWasRead && decoded.id == message.id && (decoded.bodyName == nil) == (message.body == nil))
    for encoding in Encoding.allCases {
        let copy = encoding.decodeClientMessage(from: encoding.encode(message))
        precondition((try? copy.message.get()) == message && copy.bodyName == decoded.bodyName)
    }
}
