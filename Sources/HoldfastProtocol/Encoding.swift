/// The two encodings of the client protocol; one for a whole connection, picked by WebSocket subprotocol.
public enum Encoding: String, Sendable, CaseIterable {
    /// The canonical JSON mapping, in text frames. Also what no offered subprotocol means.
    case json = "holdfast.v1.json"
    /// Protobuf, in binary frames.
    case protobuf = "holdfast.v1.protobuf"
}
