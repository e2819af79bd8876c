/// How simulated clients behave. Chances are thousandths of the calls that a client makes, times milliseconds.
public struct SimClientSettings: Sendable {
    public var project = "sim"
    public var players = 6
    /// So many of the players have a second device that now and then takes over.
    public var secondDevices = 1
    /// Gateways that clients know.
    public var endpoints = 1
    /// Between two calls of a client.
    public var leastGapMs: Int64 = 60
    public var mostGapMs: Int64 = 600
    /// Of frames that bring an input of each player with them.
    public var inputChance = 350
    public var leastFrames = 20
    public var mostFrames = 80
    public var dropChance = 25
    public var crashChance = 8
    public var goodbyeChance = 6
    public var slowChance = 8
    /// Of requests that are sent twice on one link; on the next link it is ten times as many.
    public var repeatChance = 30
    /// How long the server holds a dropped client's seat, so that some stay away longer.
    public var resumeWindowMs: Int64 = 60_000

    public init() {}
}
