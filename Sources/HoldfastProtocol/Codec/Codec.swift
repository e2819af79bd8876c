extension Encoding {
    /// The bytes of one WebSocket message, or of any message of the schema.
    public func encode<M: WireMessage>(_ message: M) -> [UInt8] { write(message) }

    // The envelopes and the frame are what travels; a caller in another module gets code made for them.

    /// The bytes of one WebSocket message to a client.
    public func encode(_ message: ServerMessage) -> [UInt8] { write(message) }

    /// The bytes of one WebSocket message to a server.
    public func encode(_ message: ClientMessage) -> [UInt8] { write(message) }

    /// The bytes of a frame, to be kept.
    public func encode(_ message: Frame) -> [UInt8] { write(message) }

    @inline(__always)
    private func write<M: WireMessage>(_ message: M) -> [UInt8] {
        var message = message
        do {
            switch self {
            case .json:
                var writer = JSONWriter()
                writer.bytes.reserveCapacity(Self.usualBytes)
                try writer.object(&message)
                return writer.bytes
            case .protobuf:
                var writer = ProtobufWriter()
                writer.bytes.reserveCapacity(Self.usualBytes)
                try message.visit(&writer)
                return writer.bytes
            }
        } catch {
            preconditionFailure("a writer has nothing to refuse: \(error.message)")
        }
    }

    /// What most messages fit into, so that writing one allocates once.
    private static var usualBytes: Int { 256 }

    /// Reads one message; unknown fields are passed over.
    /// - Throws: why the bytes are not such a message: what answers them with 11.
    public func decode<M: WireMessage>(
        _ type: M.Type, from bytes: [UInt8], limits: Limits = Limits()
    ) throws(WireError) -> M {
        try read(type, bytes, limits)
    }

    /// Reads one message to a client.
    /// - Throws: why the bytes are not such a message.
    public func decode(
        _ type: ServerMessage.Type, from bytes: [UInt8], limits: Limits = Limits()
    ) throws(WireError) -> ServerMessage {
        try read(type, bytes, limits)
    }

    @inline(__always)
    private func read<M: WireMessage>(_ type: M.Type, _ bytes: [UInt8], _ limits: Limits) throws(WireError) -> M {
        var message = M()
        switch self {
        case .json:
            var reader = JSONReader(try JSONDocument(scanning: bytes, depth: limits.jsonDepth))
            try reader.readRoot(&message)
        case .protobuf:
            var reader = ProtobufReader(bytes)
            try reader.readMessage(&message)
        }
        return message
    }

    /// Reads one message out of a buffer that stays the caller's.
    /// - Throws: why the bytes are not such a message: what answers them with 11.
    public func decode<M: WireMessage>(
        _ type: M.Type, from bytes: UnsafeRawBufferPointer, limits: Limits = Limits()
    ) throws(WireError) -> M {
        try decode(type, from: [UInt8](bytes), limits: limits)
    }
}

/// A client's message, and what could be read of one that is broken, so that it can be answered.
public struct DecodedClientMessage: Sendable {
    /// The id that the answer carries; 0 when there was none or it could not be read.
    public var id: UInt32 = 0
    /// False when the message is broken in a way that hides its id: the error that answers it carries none. An absent
    /// id counts as read, and asks for no answer.
    public var idWasRead = false
    /// The name of the body in JSON, as `createRoom`, also when the body is broken. Nil: no known body was met; a
    /// message that is whole then is answered 16.
    public var bodyName: String?
    /// The text was not UTF-8, which closes the link.
    public var isNotUTF8 = false
    public var message: Result<ClientMessage, WireError>

    public var isConnect: Bool { bodyName == "connect" }

    /// A message of which nothing can be read.
    public init(unreadable error: WireError) { message = .failure(error) }
}

extension Encoding {
    /// Reads a client's message and keeps what could be read of a broken one: the id (JSON: of a text that is one JSON
    /// value; Protobuf: when it stands before the fault) and the name of the body.
    public func decodeClientMessage(
        from bytes: [UInt8], limits: Limits = Limits()
    ) -> DecodedClientMessage {
        switch self {
        case .json: Self.decodeJSON(bytes, limits)
        case .protobuf: Self.decodeProtobuf(bytes)
        }
    }

    /// The same out of a buffer that stays the caller's.
    public func decodeClientMessage(
        from bytes: UnsafeRawBufferPointer, limits: Limits = Limits()
    ) -> DecodedClientMessage {
        decodeClientMessage(from: [UInt8](bytes), limits: limits)
    }

    private static func decodeProtobuf(_ bytes: [UInt8]) -> DecodedClientMessage {
        var message = ClientMessage()
        var reader = ProtobufReader(bytes)
        var result: Result<ClientMessage, WireError>
        do {
            try reader.readMessage(&message)
            result = .success(message)
        } catch {
            result = .failure(error)
        }
        var decoded = DecodedClientMessage(message: result)
        decoded.id = reader.id ?? 0
        if case .success = result { decoded.idWasRead = true } else { decoded.idWasRead = reader.id != nil }
        decoded.bodyName = reader.bodyName.map { "\($0)" }
        return decoded
    }

    private static func decodeJSON(_ bytes: [UInt8], _ limits: Limits) -> DecodedClientMessage {
        var scanner = JSONScanner(bytes)
        scanner.scan(depth: limits.jsonDepth)
        if let fault = scanner.fault {
            var decoded = DecodedClientMessage(message: .failure(fault))
            decoded.isNotUTF8 = scanner.notUTF8
            return decoded
        }
        let document = JSONDocument(bytes: bytes, nodes: scanner.nodes)
        var message = ClientMessage()
        var reader = JSONReader(document)
        do {
            try document.check(tooDeep: scanner.tooDeep, depth: limits.jsonDepth)
            try reader.readRoot(&message)
            var decoded = DecodedClientMessage(id: message.id, idWasRead: true, message: .success(message))
            decoded.bodyName = reader.bodyName.map { "\($0)" }
            return decoded
        } catch {
            var decoded = DecodedClientMessage(message: .failure(error))
            decoded.keepEnvelope(of: document)
            return decoded
        }
    }
}

extension DecodedClientMessage {
    fileprivate init(id: UInt32, idWasRead: Bool, message: Result<ClientMessage, WireError>) {
        self.init(message: message)
        self.id = id
        self.idWasRead = idWasRead
    }

    fileprivate init(message: Result<ClientMessage, WireError>) { self.message = message }

    /// Looks once more for the id and the body, passing over whatever is wrong.
    fileprivate mutating func keepEnvelope(of document: JSONDocument) {
        if let id = document.envelopeId() { (self.id, idWasRead) = (id, true) }
        var probe = JSONReader(document, probing: true)
        var envelope = ClientMessage()
        do { try probe.readRoot(&envelope) } catch { return }
        bodyName = probe.bodyName.map { "\($0)" }
    }
}
