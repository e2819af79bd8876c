public import HoldfastProtocol

/// Keeps the words of two rooms apart on their way to one link. A player's next room may be heard of before the last
/// words of the one before, since they come from different shards; the next room's then wait, so that its stream begins
/// after the other's end.
public struct RoomOrder<Frame: Sendable>: Sendable {
    public enum Word: Sendable {
        case delivery(Delivery)
        /// A message of a room's stream, as it happens.
        case stream(Frame, room: String)
    }

    public enum Verdict: Sendable {
        case pass
        /// Kept until `release`.
        case hold
        /// Of a room that the link has nothing to do with any more.
        case drop
        /// More waits than may: the end of the seat before does not come.
        case giveUp
    }

    /// Words that may wait.
    private static var limit: Int { 1000 }
    private var waiting: [Word] = []

    public init() {}

    /// - Parameters:
    ///   - seat: the link's place, as far as it was told.
    ///   - ended: claims with which the link has nothing more to do.
    public mutating func judge(_ word: Word, seat: SeatView?, ended: [Claim]) -> Verdict {
        let mayPass: Bool
        switch word {
        case .delivery(.joined(_, _, let new)):
            mayPass = seat == nil || seat?.claim == new.claim
            if !mayPass, ended.contains(new.claim) { return .drop }
        case .delivery(.replay(let room, _, _)), .stream(_, let room): mayPass = seat?.room.id == room
        // The end of a seat that is not known yet waits with its beginning.
        case .delivery(.unseated(let claim)): mayPass = waiting.isEmpty || seat?.claim == claim
        case .delivery: mayPass = true
        }
        if mayPass { return .pass }
        // Words of no seat and without a `joined` before them are of a room that was left.
        if case .delivery(.joined) = word {} else if waiting.isEmpty { return .drop }
        guard waiting.count < Self.limit else {
            waiting = []
            return .giveUp
        }
        waiting.append(word)
        return .hold
    }

    /// Whether a seat in a room that lives there waits to be told of.
    public func waits(forRoomIn home: ShardID, of layout: ShardLayout) -> Bool {
        waiting.contains { word in
            if case .delivery(.joined(_, _, let seat)) = word {
                layout.home(of: seat.room.shard) == home
            } else {
                false
            }
        }
    }

    /// The seat has ended: what waited for that, in order.
    public mutating func release() -> [Word] {
        defer { waiting = [] }
        return waiting
    }
}
