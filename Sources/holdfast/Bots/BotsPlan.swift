/// What `holdfast bots` is asked to do.
struct BotsPlan: Sendable {
    enum Encodings: String, Sendable, CaseIterable { case json, protobuf, mixed }

    var urls = ["ws://127.0.0.1:7350/v1/connect"]
    var project = "dev"
    var secret = ""
    var trustsAnybody = false

    var rooms = 10
    var players = 4
    var spectators = 0
    var isMatched = false
    var idle = 0
    /// Connections that look for a match, leave it, and look for the next.
    var seekers = 0

    /// 0: no frame sync.
    var frameRate = 20
    var inputBytes = 32
    var inputsPerFrame = 1.0
    var messagesPerSecond = 1.0
    var messageBytes = 64
    /// Custom messages carry no id, so that nothing answers them.
    var isUnanswered = false

    var seconds = 10
    /// Connections opened in a second.
    var ramp = 500
    /// The part of the connections that is cut in each second.
    var drop = 0.0
    /// Links that end by themselves are no fault: nodes are being killed.
    var toleratesLoss = false
    var encodings = Encodings.mixed
    var seed: UInt64 = 1
    var loops = 1
    /// Tells this run's players and rooms from those of others.
    var run = ""

    /// In a room.
    var members: Int { players + spectators }
    var connections: Int { rooms * members + idle + seekers }
    var frameIntervalMs: Int64 { frameRate == 0 ? 0 : max(1, 1000 / Int64(frameRate)) }

    /// Of the drops, one in so many leaves the old link half-open.
    static let halfOpenEvery: Int64 = 10
    /// And one in so many stays away long enough to be told as offline.
    static let longEvery: Int64 = 20
    static let longMs: Int64 = 3_000
    /// A gap between two frames counts as a pause when it is longer than so many intervals.
    static let pauseIntervals: Int64 = 2
    /// How long everything may take to be connected, and to end.
    static let patienceMs: Int64 = 30_000
    /// The part of the inputs or messages that may be refused for coming too fast (3, 29), as after a stall.
    static let refusedPart = 0.01
}
