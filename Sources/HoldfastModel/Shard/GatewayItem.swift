public import HoldfastProtocol

/// What a shard has for the links of one gateway.
public enum GatewayItem: Sendable {
    case deliver(Link, Delivery)
    /// A message of a room's stream: one for all of the gateway's links that listen, whatever their number.
    case stream(room: String, links: [Link], except: Link?, StreamMessage)
}

/// What leaves a shard. Every effect belongs to an entry of its log, and leaves when that is committed.
public typealias ShardEffect = MachineEffect<ShardCommand, GatewayItem>

/// A shard's word to one link.
public enum Delivery: Sendable {
    indirect case attached(id: UInt32, Attachment)
    case attachRefused(id: UInt32, AttachRefusal)
    case reply(id: UInt32, ServerMessage.Body, ReplyPlace)
    /// A request of an earlier link was decided; its outcome is remembered with the player, and told when it is sent
    /// again.
    case settled(id: UInt32)
    indirect case joined(id: UInt32, RoomJoined, SeatView)
    /// The reply to `getFrames`.
    indirect case frames(id: UInt32, StoredFrames)
    /// More of a stream's past. Until `atHead`, the link asks for the rest when its socket has taken this.
    case replay(room: String, [ReplayMessage], atHead: Bool)
    /// The link reads so slowly that what it needs next is not kept any more, or that the room ends before it got
    /// there: it ends with 37, and a resume tells what is left to tell.
    case lagging
    /// The seat is gone; its memory is now the player's.
    case unseated(Claim)
    /// The claim, or the seat that it had become, ended with a shard that was lost: nothing more comes of it. These
    /// calls are answered with the error, as far as they are open.
    indirect case seatLost(Claim, calls: [UInt32], ErrorReply)
    case disconnected(id: UInt32)
    /// Another connection of the player began a new run.
    case replaced
    /// Whether the link still waits for its `connect`, which would replace another one; answered by `attachConfirmed`.
    case confirmAttach(id: UInt32)
    /// The run goes on at another link.
    case takenOver
}

public enum AttachRefusal: Sendable {
    case resumeDead
    case otherPlayer
}

/// Where the outcome of a request is remembered.
public enum ReplyPlace: Sendable {
    case player
    case seat
    /// A read, or an error that is not remembered.
    case nowhere
}

/// What a gateway knows of its player's place in a room.
public struct SeatView: Sendable, Equatable {
    public let room: RoomKey
    public let claim: Claim
}

/// The shard's part of `connected`.
public struct Attachment: Sendable {
    public var resumed: Bool
    public var resumeToken: String
    public var room: RoomInfo?
    public var roomSeq: UInt64 = 0
    public var roomRestarted = false
    public var frameSync: FrameSyncInfo?
    public var snapshot: Snapshot?
    public var seat: SeatView?
    public var requests: RequestDigest
    public var seatRequests: [UInt32] = []
    public var isSeatForgetful = false
    /// The event that ended the seat while nobody could see it.
    public var ended: ServerMessage.Body?
}

/// A message of a room's stream, encoded once in Protobuf, as it is also kept.
public struct StreamMessage: Sendable {
    public let message: ServerMessage
    public let protobuf: [UInt8]
}

/// A part of a room's past, as it is kept: in Protobuf.
public enum ReplayMessage: Sendable {
    /// A whole ServerMessage.
    case event([UInt8])
    case frames(StoredFrames)
}

/// What a `frames` message is made of.
public struct StoredFrames: Sendable {
    /// Each a Frame.
    public var frames: [[UInt8]] = []
    public var firstKept: UInt32 = 0
    public var partial = false
    public var frameSyncID: UInt32 = 0
    public var seq: UInt64 = 0
}

/// The links that listen to a room, by gateway.
public struct LinkGroups: Sendable {
    public struct Group: Sendable {
        public let gateway: GatewayID
        public internal(set) var links: [Link]
    }
    public internal(set) var groups: [Group] = []

    public var isEmpty: Bool { groups.isEmpty }

    mutating func add(_ link: Link) {
        if let i = groups.firstIndex(where: { $0.gateway == link.gateway }) {
            groups[i].links.append(link)
        } else {
            groups.append(Group(gateway: link.gateway, links: [link]))
        }
    }
}

/// What an entity sees of the entry that it takes part in, and where its effects go.
struct EntryContext {
    /// Shard time.
    let nowMs: Int64
    /// Since 1970, for showing.
    let wallMs: Int64
    /// Names what begins with this entry: grows with each, and no other generation of the shard has it.
    let index: UInt64
    var randomness: EntryRandomness
    let limits: SharedLimits
    var effects: [ShardEffect] = []

    init(_ place: EntryPlace, firstNumber: UInt64, limits: SharedLimits) {
        nowMs = place.timeMs
        wallMs = place.wallMs
        index = firstNumber &+ place.index
        randomness = EntryRandomness(place.random.0, place.random.1)
        self.limits = limits
    }

    mutating func send(_ command: ShardCommand) { effects.append(.command(command)) }
    mutating func deliver(_ link: Link?, _ delivery: Delivery) {
        if let link { effects.append(.deliver(link.gateway, .deliver(link, delivery))) }
    }
}

/// The limits, shared by all machines of a node instead of copied with each entry.
public final class SharedLimits: Sendable {
    public let value: Limits
    /// Which shards share a log.
    public let layout: ShardLayout
    private let rooms: [String: Int]
    /// For tests of checkers only.
    let mutations: ModelMutations

    /// - Parameter rooms: by project key, for those whose limit of rooms is another than `roomsPerProject`.
    /// - Parameter layout: which shards share a log.
    public init(
        _ value: Limits, rooms: [String: Int] = [:], layout: ShardLayout = .standard, mutations: ModelMutations = []
    ) {
        self.value = value
        self.mutations = mutations
        self.rooms = rooms
        self.layout = layout
    }

    /// The most rooms that a project may have at a time.
    func rooms(of project: String) -> Int { rooms[project] ?? value.roomsPerProject }
}
