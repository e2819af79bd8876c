/// Every limit that the spec names, with the spec's value as default. The config file's `limits` object overrides
/// them by these very names. Sizes are bytes of UTF-8 unless a name says otherwise.
public struct Limits: Codable, Equatable, Sendable {
    // Connections, runs and resume
    /// A link on which no `connect` came within this gets `disconnected` 13.
    public var connectTimeoutMs: UInt32 = 10_000
    /// How often the server pings. A link on which nothing came for twice this is dropped.
    public var heartbeatMs: UInt32 = 5_000
    /// How long a dropped run can be resumed, and its seat is held.
    public var resumeWindowMs: UInt32 = 60_000
    /// How long after a drop the player still counts as online.
    public var offlineAfterMs: UInt32 = 2_000
    /// After a failover or a stall nobody is told as offline or gone, and no window ends, within this.
    public var presenceGraceMs: UInt32 = 2_500
    /// Outcomes that a run remembers; the oldest goes.
    public var rememberedRequests: Int = 64
    /// Requests of one run that may be open at a time; one more gets 3.
    public var openRequests: Int = 64
    /// A request that is not finished within this is answered 1 with `retryAfterMs`.
    public var requestTimeoutMs: UInt32 = 5_000
    /// One WebSocket message; a larger one closes the link (11).
    public var messageBytes: Int = 96 * 1024
    /// Malformed messages in a row that close a link (11).
    public var malformedInARow: Int = 20
    /// Nesting of JSON.
    public var jsonDepth: Int = 32
    public var clientBytes: Int = 128
    /// The live send queue of a connection; over it the link ends with 37.
    public var sendQueueBytes: Int = 1024 * 1024
    /// Links of one node; one more is refused with HTTP 503.
    public var connectionsPerNode: Int = 100_000

    // Rooms
    public var playersPerRoom: UInt32 = 20
    public var spectatorsPerRoom: UInt32 = 100_000
    public var roomTypeBytes: Int = 32
    public var roomNameBytes: Int = 64
    public var customPropertiesBytes: Int = 2048
    public var passwordBytes: Int = 64
    public var matchParams: Int = 3
    public var matchParamKeyBytes: Int = 32
    public var matchParamValueBytes: Int = 64
    public var bansPerRoom: Int = 100
    /// Rooms of one project; one more gets 19.
    public var roomsPerProject: Int = 100_000
    /// The events of a room that are kept for resumes: this long, at most so many bytes.
    public var eventHistoryMs: UInt32 = 90_000
    public var eventHistoryBytes: Int = 8 * 1024 * 1024

    // Messages, matching, list
    public var customMessageBytes: Int = 2048
    public var receivers: Int = 20
    public var matchTimeoutMs: UInt32 = 300_000
    /// Callers that may wait in one pool; one more gets 3.
    public var waitingPerPool: Int = 10_000
    public var listPageDefault: UInt32 = 20
    public var listPage: UInt32 = 100

    // Frame sync
    public var frameRateDefault: UInt32 = 15
    public var frameRate: UInt32 = 60
    public var frameInputBytes: Int = 1024
    public var inputsPerFrame: Int = 5
    public var frameSyncMs: UInt32 = 1_800_000
    /// Frame sync stops so long after the last online player went offline.
    public var nobodyOnlineMs: UInt32 = 10_000
    /// Frames kept of a frame sync: so many bytes at most; of a stopped one this long.
    public var frameHistoryBytes: Int = 32 * 1024 * 1024
    public var stoppedFramesMs: UInt32 = 90_000
    /// One `frames` message.
    public var framesPerReply: Int = 600
    public var frameBytesPerReply: Int = 256 * 1024
    public var hashBytes: Int = 32
    /// Hash reports for frames older than this many frames are ignored.
    public var hashWindowFrames: UInt32 = 600
    public var snapshotBytes: Int = 64 * 1024

    // Budgets: a bucket holds one second's worth and starts full
    public var messagesPerSecond: Double = 15
    public var roomCallsPerSecond: Double = 10
    public var getFramesPerSecond: Double = 5
    public var snapshotsPerSecond: Double = 1
    /// Times the room's frame rate.
    public var hashReportsPerFrame: Double = 2
    public var battleCallsPerSecond: Double = 5
    public var linkMessagesPerSecond: Double = 500

    // Tokens
    public var playerIdBytes: Int = 64
    public var playerNameBytes: Int = 64
    public var avatarBytes: Int = 512
    public var tokenLifetimeS: Int64 = 30 * 24 * 3600
    public var clockSkewS: Int64 = 60

    public init() {}
}

extension Limits {
    /// Reads the values that are present; the others keep their default. An unknown name is an error, so that a typing
    /// mistake in a config file does not pass in silence.
    public init(from decoder: any Decoder) throws {
        self.init()
        let known = JSONLimits.names(of: self)
        let container = try decoder.container(keyedBy: JSONLimits.Key.self)
        for key in container.allKeys where !known.contains(key.stringValue) {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "limits has no field '\(key.stringValue)'")
        }
        try override(from: container)
    }

    private mutating func override(from container: KeyedDecodingContainer<JSONLimits.Key>) throws {
        func read<T: Decodable & Comparable & Numeric>(_ name: String, _ value: inout T) throws {
            guard let given = try container.decodeIfPresent(T.self, forKey: JSONLimits.Key(name)) else { return }
            guard given > 0 else {
                throw DecodingError.dataCorruptedError(
                    forKey: JSONLimits.Key(name), in: container, debugDescription: "limits.\(name) must be above 0")
            }
            value = given
        }
        try read("connectTimeoutMs", &connectTimeoutMs)
        try read("heartbeatMs", &heartbeatMs)
        try read("resumeWindowMs", &resumeWindowMs)
        try read("offlineAfterMs", &offlineAfterMs)
        try read("presenceGraceMs", &presenceGraceMs)
        try read("rememberedRequests", &rememberedRequests)
        try read("openRequests", &openRequests)
        try read("requestTimeoutMs", &requestTimeoutMs)
        try read("messageBytes", &messageBytes)
        try read("malformedInARow", &malformedInARow)
        try read("jsonDepth", &jsonDepth)
        try read("clientBytes", &clientBytes)
        try read("sendQueueBytes", &sendQueueBytes)
        try read("connectionsPerNode", &connectionsPerNode)
        try read("playersPerRoom", &playersPerRoom)
        try read("spectatorsPerRoom", &spectatorsPerRoom)
        try read("roomTypeBytes", &roomTypeBytes)
        try read("roomNameBytes", &roomNameBytes)
        try read("customPropertiesBytes", &customPropertiesBytes)
        try read("passwordBytes", &passwordBytes)
        try read("matchParams", &matchParams)
        try read("matchParamKeyBytes", &matchParamKeyBytes)
        try read("matchParamValueBytes", &matchParamValueBytes)
        try read("bansPerRoom", &bansPerRoom)
        try read("roomsPerProject", &roomsPerProject)
        try read("eventHistoryMs", &eventHistoryMs)
        try read("eventHistoryBytes", &eventHistoryBytes)
        try read("customMessageBytes", &customMessageBytes)
        try read("receivers", &receivers)
        try read("matchTimeoutMs", &matchTimeoutMs)
        try read("waitingPerPool", &waitingPerPool)
        try read("listPageDefault", &listPageDefault)
        try read("listPage", &listPage)
        try read("frameRateDefault", &frameRateDefault)
        try read("frameRate", &frameRate)
        try read("frameInputBytes", &frameInputBytes)
        try read("inputsPerFrame", &inputsPerFrame)
        try read("frameSyncMs", &frameSyncMs)
        try read("nobodyOnlineMs", &nobodyOnlineMs)
        try read("frameHistoryBytes", &frameHistoryBytes)
        try read("stoppedFramesMs", &stoppedFramesMs)
        try read("framesPerReply", &framesPerReply)
        try read("frameBytesPerReply", &frameBytesPerReply)
        try read("hashBytes", &hashBytes)
        try read("hashWindowFrames", &hashWindowFrames)
        try read("snapshotBytes", &snapshotBytes)
        try read("messagesPerSecond", &messagesPerSecond)
        try read("roomCallsPerSecond", &roomCallsPerSecond)
        try read("getFramesPerSecond", &getFramesPerSecond)
        try read("snapshotsPerSecond", &snapshotsPerSecond)
        try read("hashReportsPerFrame", &hashReportsPerFrame)
        try read("battleCallsPerSecond", &battleCallsPerSecond)
        try read("linkMessagesPerSecond", &linkMessagesPerSecond)
        try read("playerIdBytes", &playerIdBytes)
        try read("playerNameBytes", &playerNameBytes)
        try read("avatarBytes", &avatarBytes)
        try read("tokenLifetimeS", &tokenLifetimeS)
        try read("clockSkewS", &clockSkewS)
    }
}

enum JSONLimits {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The names of all limits, read off the struct itself.
    static func names(of limits: Limits) -> Set<String> {
        var names: Set<String> = []
        for child in Mirror(reflecting: limits).children { if let label = child.label { names.insert(label) } }
        return names
    }
}
