/// One room, as its bots see it. Confined to their loop.
final class BotRoom {
    enum Stage {
        /// Players come. Next: starting, playing.
        case gathering
        /// `startFrameSync` is asked for. Next: playing.
        case starting
        /// Next: stopping, dismissing.
        case playing
        /// All is answered; `stopFrameSync` is asked for. Next: dismissing.
        case stopping
        /// `dismissRoom` is asked for. Next: ended.
        case dismissing
        case ended
    }

    let ledger: RoomLedger
    /// Indices of its bots.
    var members: [Int] = []
    var players = 0
    var stage = Stage.gathering
    /// The owner was asked for the call that this stage is about, and it was not refused.
    var isCalling = false

    init(ledger: RoomLedger) { self.ledger = ledger }
}
