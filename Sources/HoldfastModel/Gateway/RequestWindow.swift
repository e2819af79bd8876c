/// What a gateway knows of a run's requests: which are open, and which outcomes are remembered and where. The outcomes
/// themselves are kept in the shards; this decides whether a request is new, a repeat, or one that was forgotten.
struct RequestWindow: Sendable {
    enum Standing: Equatable {
        case new
        case open
        case remembered(ReplyPlace)
        /// Its outcome has been forgotten, or may have been: it must not be done again.
        case forgotten
    }

    struct Open: Sendable {
        let isSeatCall: Bool
        /// Whether calls to the room wait for it.
        let holdsRoomCalls: Bool
        /// Whether it is `leaveRoom`, whose answer nothing of the room may follow.
        var isLeave = false
        /// Whether it goes to the room that the player is in.
        var isRoomCall = false
        /// How many answers this link is owed.
        var awaited: Int
        /// How many are on their way; more than are owed after an answer that came too late.
        var outstanding = 1
        /// When an answer that did not come is made up for by 1; nil for a waiting match.
        var deadlineMs: Int64?
    }

    private(set) var open: [UInt32: Open] = [:]
    private var executed: [(id: UInt32, place: ReplyPlace)] = []
    private var forgetful: Bool
    /// Answers on their way to requests that have been answered: one for each time that 1 was said in between.
    private var surplus: [UInt32: Int] = [:]
    private let limit: Int

    init(player: RequestDigest, seat: [UInt32], isSeatForgetful: Bool, limit: Int) {
        self.limit = limit
        forgetful = player.forgetful || isSeatForgetful
        executed = player.executed.map { ($0, .player) } + seat.map { ($0, .seat) }
        // Ids grow within a run, so their order is that of their sending.
        executed.sort { $0.id < $1.id }
        trim()
        for request in player.open {
            open[request.id] = Open(isSeatCall: request.isSeatCall, holdsRoomCalls: false, awaited: 0, outstanding: 0)
        }
    }

    /// Where an outcome is remembered; nil when it is not.
    func place(of id: UInt32) -> ReplyPlace? {
        id == 0 ? nil : executed.last { $0.id == id }?.place
    }

    func standing(of id: UInt32) -> Standing {
        if id == 0 { return .new }
        if open[id] != nil { return .open }
        if let place = place(of: id) { return .remembered(place) }
        if forgetful, let least = executed.min(by: { $0.id < $1.id }), id < least.id { return .forgotten }
        return .new
    }

    /// Whether no answer is owed for any of the open ones: all were made up for by 1.
    var isStalled: Bool { open.values.allSatisfy { $0.awaited == 0 } }

    var hasOpenSeatCall: Bool { open.values.contains(where: \.isSeatCall) }
    var holdsRoomCalls: Bool { open.values.contains(where: \.holdsRoomCalls) }
    var hasOpenLeave: Bool { open.values.contains(where: \.isLeave) }
    var openRoomCalls: [UInt32] { open.filter(\.value.isRoomCall).keys.sorted() }

    mutating func begin(_ id: UInt32, _ request: Open) {
        if id != 0 { open[id] = request }
    }

    /// The request was sent again on this link while it is open.
    mutating func await(_ id: UInt32, deadlineMs: Int64) {
        guard var request = open[id] else { return }
        request.awaited += 1
        request.outstanding += 1
        if request.deadlineMs != nil || !request.isSeatCall { request.deadlineMs = deadlineMs }
        open[id] = request
    }

    /// An open request of an earlier link was decided; nobody here is owed the answer, unless it was sent again.
    mutating func take(_ id: UInt32) {
        guard let request = open[id], request.awaited == 0 else { return }
        open[id] = nil
        if place(of: id) == nil {
            executed.append((id, .player))
            trim()
        }
    }

    /// An outcome came.
    /// - Returns: whether this link is owed it.
    mutating func settle(_ id: UInt32, _ place: ReplyPlace) -> Bool {
        let owed: Bool
        if var request = open[id] {
            request.outstanding -= 1
            owed = request.awaited > 0
            if owed { request.awaited -= 1 }
            open[id] = request.awaited > 0 ? request : nil
            if request.awaited == 0, request.outstanding > 0, surplus.count < limit {
                surplus[id] = request.outstanding
            }
        } else if let more = surplus[id] {
            owed = false
            surplus[id] = more > 1 ? more - 1 : nil
        } else {
            // What was answered by a seat that was lost may have been asked for again in the player's stead.
            owed = self.place(of: id) == nil
        }
        if place != .nowhere, !executed.contains(where: { $0.id == id }) {
            executed.append((id, place))
            trim()
        }
        return owed
    }

    /// No outcome will come, or none that counts: what comes all the same is passed over.
    /// - Parameter isKept: whether the request must not be done again.
    /// - Returns: how many answers this link is owed.
    mutating func close(_ id: UInt32, isKept: Bool) -> Int {
        guard let request = open.removeValue(forKey: id) else { return 0 }
        if request.outstanding > 0, surplus.count < limit { surplus[id] = request.outstanding }
        if isKept, place(of: id) == nil {
            executed.append((id, .player))
            trim()
        }
        return request.awaited
    }

    /// The requests whose answer is overdue, as often as it is owed; they stay open.
    mutating func overdue(nowMs: Int64) -> [UInt32] {
        let late = open.filter { $0.value.awaited > 0 && $0.value.deadlineMs.map { $0 <= nowMs } ?? false }
        for id in late.keys { open[id]?.awaited = 0 }
        return late.sorted { $0.key < $1.key }.flatMap { Array(repeating: $0.key, count: $0.value.awaited) }
    }

    /// The seat gave its memory back to the player.
    mutating func unseat() {
        for i in executed.indices where executed[i].place == .seat { executed[i].place = .player }
    }

    private mutating func trim() {
        if executed.count > limit {
            executed.removeFirst(executed.count - limit)
            forgetful = true
        }
    }
}
