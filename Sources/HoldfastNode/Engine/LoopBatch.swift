internal import HoldfastModel
internal import HoldfastProtocol
internal import HoldfastReplication
internal import HoldfastTransport

typealias Host = ShardHost<ShardMachine>

/// One message of a stream in the encodings that are in use.
struct StreamFrames: Sendable {
    var json: PreparedFrame?
    var protobuf: PreparedFrame?
}

/// The frames of a message of a room's stream, once they are made.
struct EncodedStream: Sendable {
    let room: String
    let seq: UInt64
    var frames: StreamFrames
}

/// What one loop has for another: numbered, so that a hole or a repeat cannot pass unseen.
struct LoopBatch: Sendable {
    let from: Int
    let number: UInt64
    let messages: [Host.Message]
    /// Of the streams among the messages, in their order, so that each is encoded once for all loops.
    let encoded: [EncodedStream]
}

/// What comes to a loop from other threads.
enum LoopInput: Sendable {
    case batch(LoopBatch)
    /// What another node has sent, in order; before it something may have been lost.
    case peer(NodeID, isReset: Bool, [Host.Message])
    case view(MembershipView)
    case records([(ShardID, VersionedRecord?)])
    case swapEnded(ShardID, SwapResult)
}
