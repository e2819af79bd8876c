import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// The bytes are a function of the state alone, and what is read is what the machines rely on.
@Suite struct StateOrderTests {
    private let names = (0..<40).map { "p\($0)" } + ["\u{e9}", "e\u{300}", "z", "Z", "\u{1F600}", "\u{ffee}"]

    private func reversed<Value>(_ entries: [String: Value]) -> [String: Value] {
        var other: [String: Value] = [:]
        // Another order of insertion, and another capacity: another order in memory.
        other.reserveCapacity(entries.count * 8)
        for name in entries.keys.sorted().reversed() { other[name] = entries[name] }
        return other
    }

    @Test func aRoomIsWrittenInASetOrder() throws {
        let world = World()
        let ann = world.seated("ann", "bob") { $0.maxSpectatorCount = 100 }[0]
        ann.send(.start)
        var room = try #require(world.room(ann.roomID))
        let member = try #require(room.players.first)
        for (i, name) in names.enumerated() {
            room.spectators[name] = spectator(name, like: member)
            room.memories[name, default: RequestMemory()].remember(UInt32(i + 1), .joined(UInt64(i)), limit: 64)
            room.frameSync?.reports[UInt32(i * 7 % 41)] = .init(hashes: [FrameHash(playerId: name, hash: [1])])
        }
        var other = room
        other.spectators = reversed(room.spectators)
        other.memories = reversed(room.memories)
        other.frameSync?.reports = Dictionary(
            uniqueKeysWithValues: (room.frameSync?.reports ?? [:]).sorted { $0.key > $1.key })
        #expect(Array(room.spectators.keys) != Array(other.spectators.keys))
        let isSame = encoded(room) == encoded(other)
        #expect(isSame)
        _ = copied(room)
    }

    private func spectator(_ name: String, like member: RoomMember) -> RoomMember {
        RoomMember(
            player: name, claim: 7, isSpectator: true, customStatus: -3, customProperties: "", link: Samples.link,
            reading: .past(StreamCursor(seq: 1, frame: 0)), snapshotBudget: member.snapshotBudget,
            hashBudget: member.hashBudget, lastInput: 0)
    }

    @Test func aDirectoryIsWrittenInASetOrderAndListsAsBefore() throws {
        var directory = DirectoryMachine(project: "acme")
        for (i, name) in names.enumerated() {
            let summary = RoomSummary(id: name, type: ["duel", "chess"][i % 2])
            directory.rooms[name] = .some(
                RoomListing(summary: summary, createdMs: Int64(i % 5), joinable: i % 3 > 0, spectatable: i % 4 > 0))
        }
        directory.rooms["z"] = .some(nil)
        var other = directory
        other.rooms = reversed(directory.rooms)
        let isSame = encoded(directory) == encoded(other)
        #expect(isSame)
        let read = copied(directory)
        #expect(read.rooms.count == names.count)
    }

    @Test func equalTimesFireInTheOrderInWhichTheyWereSet() throws {
        var queue = DeadlineQueue<String>()
        for name in names { queue.set(50, for: name) }
        queue.set(40, for: "p7")
        queue.set(nil, for: "p9")
        queue.set(60, for: "p3")
        queue.set(50, for: "p3")
        queue.set(50, for: "p5")
        var read = copied(queue)
        // Set after it was read: behind the others on both.
        queue.set(50, for: "late")
        read.set(50, for: "late")
        var fired = 0
        while let due = queue.take(at: 100) {
            let same = read.take(at: 100)
            #expect(same?.key == due.key)
            #expect(same?.timeMs == due.timeMs)
            fired += 1
        }
        #expect(read.isEmpty)
        #expect(fired == names.count)
    }

    @Test func aLogKeepsItsPositions() throws {
        var log = SegmentedLog<UInt64>()
        for i in 0..<1500 { log.append(UInt64(i)) }
        for _ in 0..<700 { log.removeFirst() }
        var read = copied(log)
        #expect(read.startIndex == 700)
        #expect(read.endIndex == 1500)
        for _ in 0..<650 {
            read.removeFirst()
            log.removeFirst()
            read.append(1)
            log.append(1)
        }
        #expect((read.startIndex..<read.endIndex).map { read[$0] } == (log.startIndex..<log.endIndex).map { log[$0] })
        while !log.isEmpty { log.removeFirst() }
        #expect(copied(log).startIndex == log.startIndex)
        #expect(copied(log).isEmpty)
    }

    @Test func versionsThatAreNotKnownAreNamed() throws {
        var bytes = encoded(PlayerMachine(key: Samples.ann))
        bytes[0] = 9
        #expect(throws: StateError("PlayerMachine: version 9 is not known, 1 is")) {
            try decoded(PlayerMachine.self, bytes)
        }
        var shard = encoded(ShardMachine(configuration: SharedLimits(Limits())))
        shard[0] = 200
        #expect(throws: StateError("ShardMachine: version 200 is not known, 1 is")) {
            try decoded(shard, SharedLimits(Limits()))
        }
    }

    @Test func alternativesThatAreNotKnownAreNamed() {
        #expect(throws: StateError("ShardCommand: no kind 9 is known")) { try decoded(ShardCommand.self, [9]) }
    }

    @Test func whatTheMachinesRelyOnIsChecked() {
        // A pool for rooms of nobody would search for ever.
        var bytes = encoded(Samples.pool)
        let place = bytes.firstIndex(of: 2)
        if let place { bytes[place] = 0 }
        #expect(throws: StateError.self) { try decoded(PoolKey.self, bytes) }
        // Parameters in another order are another key to the eye of `==`.
        var writer = StateWriter()
        writer.put("acme")
        writer.put("duel")
        writer.put(2 as UInt32)
        writer.put(["b", "", "a", ""].count / 2)
        for text in ["b", "", "a", ""] { writer.put(text) }
        #expect(throws: StateError.self) { try decoded(PoolKey.self, writer.bytes) }
    }

    /// Two texts that look alike are one key to a dictionary, and would become one in silence.
    @Test func keysThatLookAlikeAreRefused() {
        var writer = StateWriter()
        writer.put(["e\u{301}", "\u{e9}"])
        var reader = StateReader(writer.bytes)
        #expect(throws: StateError.self) { try reader.sortedSet() }
    }
}
