internal import HoldfastModel
internal import HoldfastTransport

/// Work for a loop: for one of its shards or one of its links.
enum LoopItem: Sendable {
    case command(ShardCommand)
    case deliver(Link, Delivery)
    /// A message of a room's stream for many links of the loop, encoded once.
    case stream(room: String, [Link], except: Link?, StreamFrames)
}

/// One message of a stream in the encodings that are in use.
struct StreamFrames: Sendable {
    var json: PreparedFrame?
    var protobuf: PreparedFrame?
}

/// What one loop has for another: numbered, so that a hole or a repeat cannot pass unseen.
struct LoopBatch: Sendable {
    let from: Int
    let number: UInt64
    let items: [LoopItem]
}
