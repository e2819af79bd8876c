import HoldfastProtocol

/// The rooms of one project: how many there are, and the list that clients page through.
struct DirectoryMachine: Sendable {
    let project: String
    /// All rooms, hidden ones too; nil until the room has told of itself.
    var rooms: [String: RoomListing?] = [:]
    /// The claims of rooms that have not told of themselves.
    var making: [String: [Seating]] = [:]
    private var indices: [IndexKey: RoomIndex] = [:]

    private struct IndexKey: Hashable, Sendable {
        /// Empty: all types.
        let type: ExactText
        let toSpectate: Bool
    }

    init(project: String) { self.project = project }

    var isIdle: Bool { rooms.isEmpty }

    mutating func handle(_ command: DirectoryCommand, _ context: inout EntryContext) {
        switch command {
        case .admit(let room, let config, let seatings): admit(room, config, seatings, &context)
        case .update(let room, let listing): update(room, listing)
        case .list(let link, let id, let request): list(link, id, request, &context)
        }
    }

    private mutating func admit(
        _ room: String, _ config: RoomConfig, _ seatings: [Seating], _ context: inout EntryContext
    ) {
        let limit = context.limits.rooms(of: project)
        guard rooms.count < limit else {
            let error = ErrorReply(.roomLimit, "the project has \(limit) rooms, which is its limit")
            for seating in seatings { RoomMachine.refuse(seating, room, error, &context) }
            return
        }
        rooms[room] = .some(nil)
        making[room] = seatings
        context.send(.room(RoomKey(project: project, id: room), .create(config, seatings)))
    }

    private mutating func update(_ room: String, _ listing: RoomListing?) {
        making[room] = nil
        if let old = rooms[room], let old { reindex(old, nil) }
        if let listing {
            rooms[room] = listing
            reindex(nil, listing)
        } else {
            rooms[room] = nil
        }
    }

    /// Forgets the rooms that lived there. Who waits for one that was to be made is told: the order went to a
    /// generation that is gone, and the loss may have been known to those who wait before it was known here.
    mutating func shardLost(_ home: ShardID, _ context: inout EntryContext) {
        let layout = context.limits.layout
        let lost = rooms.keys.filter { layout.home(of: RoomKey(project: project, id: $0).shard) == home }
        for room in lost.sorted(by: { ExactText($0) < ExactText($1) }) {
            for seating in making[room] ?? [] {
                if let pool = seating.pool {
                    context.send(.pool(pool, .claimLost(player: seating.player.id, seating.claim, room: room)))
                } else {
                    context.send(.player(seating.player, .claimLost(seating.claim, room: room)))
                }
            }
            update(room, nil)
        }
    }

    mutating func reindex(_ old: RoomListing?, _ new: RoomListing?) {
        for toSpectate in [false, true] {
            for type in Set([old?.summary.type, new?.summary.type, ""].compactMap { $0 }.map(ExactText.init)) {
                let key = IndexKey(type: type, toSpectate: toSpectate)
                if let old, toSpectate ? old.spectatable : old.joinable { indices[key]?.remove(RoomIndex.Key(old)) }
                if let new, toSpectate ? new.spectatable : new.joinable {
                    indices[key, default: RoomIndex()].insert(RoomIndex.Key(new))
                }
                if indices[key]?.isEmpty == true { indices[key] = nil }
            }
        }
    }

    private func list(_ link: Link, _ id: UInt32, _ request: GetRoomList, _ context: inout EntryContext) {
        let limits = context.limits.value
        guard let start = ListOffset.read(request.offset) else {
            let error = ErrorReply(.invalidRequest, "getRoomList.offset: not one that this server gave")
            context.deliver(link, .reply(id: id, .error(error), .nowhere))
            return
        }
        let limit = Int(request.limit == 0 ? limits.listPageDefault : request.limit)
        let index = indices[IndexKey(type: ExactText(request.roomType), toSpectate: request.toSpectate)] ?? RoomIndex()
        let (keys, hasMore) = index.page(after: start, limit: limit)
        var reply = RoomList(offset: request.offset, hasMore: hasMore)
        reply.rooms = keys.compactMap { key in rooms[key.id].flatMap { $0?.summary } }
        if let last = keys.last { reply.offset = ListOffset.write(last) }
        context.deliver(link, .reply(id: id, .roomList(reply), .nowhere))
    }
}

/// Rooms, newest first by the millisecond, equal ones by id. Kept oldest first, so that a new room is appended.
struct RoomIndex: Sendable {
    struct Key: Comparable, Sendable {
        let createdMs: Int64
        let id: String

        init(_ listing: RoomListing) {
            createdMs = listing.createdMs
            id = listing.summary.id
        }

        init(createdMs: Int64, id: String) {
            self.createdMs = createdMs
            self.id = id
        }

        /// Listed later.
        static func < (a: Key, b: Key) -> Bool {
            a.createdMs != b.createdMs ? a.createdMs < b.createdMs : a.id > b.id
        }
    }

    private var keys: [Key] = []

    var isEmpty: Bool { keys.isEmpty }

    mutating func insert(_ key: Key) {
        let i = position(of: key)
        if i < keys.count, keys[i] == key { return }
        keys.insert(key, at: i)
    }

    mutating func remove(_ key: Key) {
        let i = position(of: key)
        if i < keys.count, keys[i] == key { keys.remove(at: i) }
    }

    /// - Parameter start: the last one of the page before; nil begins.
    func page(after start: Key??, limit: Int) -> (keys: [Key], hasMore: Bool) {
        let end: Int
        if let start, let start { end = position(of: start) } else { end = keys.count }
        let first = max(0, end - limit)
        return (keys[first..<end].reversed(), first > 0)
    }

    /// Of the first that is not less.
    private func position(of key: Key) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = low + (high - low) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// The offset of a page: where the last one ended, with a sum that no typed-in text has by chance.
enum ListOffset {
    static func write(_ key: RoomIndex.Key) -> String {
        let body = "\(key.createdMs).\(key.id)"
        return "\(body).\(sum(body))"
    }

    /// - Returns: nil when the server made no such offset; `.some(nil)` for the beginning.
    static func read(_ text: String) -> RoomIndex.Key?? {
        if text.isEmpty || text == "0" { return .some(nil) }
        guard text.utf8.count <= 128 else { return nil }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let created = Int64(parts[0]), parts[2] == sum("\(parts[0]).\(parts[1])") else {
            return nil
        }
        return RoomIndex.Key(createdMs: created, id: String(parts[1]))
    }

    private static func sum(_ text: String) -> String {
        var hash = StableHash()
        hash.mix("offset")
        hash.mix(text)
        return String(hash.bucket(of: 1 << 30), radix: 32)
    }
}
