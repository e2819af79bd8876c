import HoldfastProtocol
import Testing

@testable import HoldfastModel

@Suite struct TokenBucketTests {
    @Test(arguments: [1.0, 2, 5, 10, 15, 30, 60, 120, 500])
    func holdsOneSecondsWorthAndStartsFull(rate: Double) {
        var bucket = TokenBucket(perSecond: rate)
        #expect(taken(&bucket, at: 1_000) == Int(rate))
        #expect(!bucket.isFull(nowMs: 1_500))
        #expect(bucket.isFull(nowMs: 2_000))
        #expect(taken(&bucket, at: 2_000) == Int(rate))
    }

    private func taken(_ bucket: inout TokenBucket, at now: Int64) -> Int {
        var count = 0
        while bucket.take(nowMs: now) == nil { count += 1 }
        return count
    }

    @Test(arguments: [1.0, 3, 7, 15, 30, 500])
    func theWaitIsExact(rate: Double) {
        var bucket = TokenBucket(perSecond: rate)
        var now: Int64 = 5_000
        _ = taken(&bucket, at: now)
        for _ in 0..<50 {
            let wait = bucket.take(nowMs: now) ?? 0
            var early = bucket
            let isEarly = early.take(nowMs: now + Int64(wait) - 1) != nil
            #expect(wait > 0 && isEarly)
            now += Int64(wait)
            let late = bucket.take(nowMs: now)
            #expect(late == nil)
            _ = taken(&bucket, at: now)
        }
    }

    @Test func overAMinuteNoMoreThanTheRateComes() {
        var bucket = TokenBucket(perSecond: 15)
        let taken = (0..<60_000).reduce(0) { $0 + (bucket.take(nowMs: Int64($1)) == nil ? 1 : 0) }
        #expect((914...915).contains(taken))
    }

    @Test func aRefusalTakesNothing() {
        var bucket = TokenBucket(perSecond: 2)
        _ = taken(&bucket, at: 0)
        let before = bucket
        let waits = Set((0..<100).map { _ in bucket.take(nowMs: 100) })
        #expect(waits == [400])
        #expect(bucket == before)
    }
}

@Suite struct DeadlineQueueTests {
    @Test func earliestFirstAndEqualOnesInTheOrderOfSetting() {
        var queue = DeadlineQueue<String>()
        queue.set(20, for: "b")
        queue.set(10, for: "a")
        queue.set(20, for: "c")
        queue.set(30, for: "d")
        queue.set(5, for: "d")
        queue.set(nil, for: "a")
        var taken: [String] = []
        while let due = queue.take(at: 20) { taken.append(due.key) }
        #expect(taken == ["d", "b", "c"])
        #expect(queue.isEmpty)
        #expect(queue.take(at: 100) == nil)
    }

    @Test func nothingIsTakenBeforeItsTime() {
        var queue = DeadlineQueue<Int>()
        queue.set(10, for: 1)
        #expect(queue.take(at: 9) == nil)
        #expect(queue.next()?.timeMs == 10)
        #expect(queue.take(at: 10)?.key == 1)
    }

    @Test(arguments: 0..<20)
    func isASortedMap(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = DeadlineQueue<Int>()
        var expected: [Int: Int64] = [:]
        for _ in 0..<2_000 {
            let key = random.below(12)
            switch random.below(4) {
            case 0:
                queue.set(nil, for: key)
                expected[key] = nil
            case 1:
                let now = Int64(random.below(100))
                let least = expected.values.min()
                let due = queue.take(at: now)
                #expect(due?.timeMs == (least.map { $0 <= now } == true ? least : nil))
                if let due {
                    #expect(expected[due.key] == due.timeMs)
                    expected[due.key] = nil
                }
            default:
                let time = Int64(random.below(100))
                queue.set(time, for: key)
                expected[key] = time
            }
            #expect(queue.next()?.timeMs == expected.values.min())
            #expect(queue.isEmpty == expected.isEmpty)
        }
    }
}

@Suite struct SegmentedLogTests {
    @Test(arguments: 0..<10)
    func isAnArrayWhoseFrontGoes(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var log = SegmentedLog<Int>()
        var all: [Int] = []
        var start = 0
        for _ in 0..<40 {
            for _ in 0..<random.below(400) {
                log.append(all.count)
                all.append(all.count)
            }
            for _ in 0..<random.below(500) where start < all.count {
                log.removeFirst()
                start += 1
            }
            if random.below(15) == 0 {
                log.removeAll()
                start = all.count
            }
            #expect(log.startIndex == start && log.endIndex == all.count && log.count == all.count - start)
            #expect(log.isEmpty == (start == all.count))
            #expect(log.first == (start < all.count ? start : nil))
            #expect(log.last == (start < all.count ? all.count - 1 : nil))
            let wanted = start + random.below(all.count - start + 1)
            #expect(log.firstPosition { $0 >= wanted } == wanted)
            for position in stride(from: start, to: all.count, by: 97) { #expect(log[position] == position) }
        }
    }

    @Test func removingFromAnEmptyOneDoesNothing() {
        var log = SegmentedLog<Int>()
        log.removeFirst()
        #expect(log.endIndex == 0)
        log.append(7)
        #expect(log[0] == 7)
    }
}

/// Where everything lives follows from these: a change would send every entity to another shard.
@Suite struct ShardNumberTests {
    @Test func playersRoomsPoolsAndDirectoriesKeepTheirShards() {
        #expect(ShardID(of: PlayerKey(project: "dev", id: "alice")).number == 346)
        #expect(ShardID(of: RoomKey(project: "dev", id: "alice")).number == 137)
        #expect(ShardID(ofDirectory: "dev").number == 1039)
        let pool = PoolKey(project: "dev", type: "duel", maxPlayerCount: 2, params: ["b": "2", "a": "1"])
        #expect(ShardID(of: pool).number == 1034)
    }

    @Test func partsAreToldApart() {
        var hashes: Set<Int> = []
        for parts in [["ab", "c"], ["a", "bc"], ["abc", ""], ["abc"], ["", "abc"]] {
            var hash = StableHash()
            for part in parts { hash.mix(part) }
            hashes.insert(hash.bucket(of: .max))
        }
        #expect(hashes.count == 5)
    }

    @Test func entitiesSpreadEvenly() {
        var counts = Array(repeating: 0, count: ShardID.entityShards)
        for i in 0..<20_480 { counts[ShardID(of: PlayerKey(project: "dev", id: "player-\(i)")).number] += 1 }
        #expect(counts.min() ?? 0 > 2)
        #expect(counts.max() ?? 0 < 60)
    }

    @Test func poolsAndDirectoriesLiveInTheMatchShards() {
        for i in 0..<200 {
            let pool = ShardID(of: PoolKey(project: "p\(i)", type: "t", maxPlayerCount: 2, params: [:]))
            #expect((ShardID.entityShards..<ShardID.count).contains(pool.number))
            #expect((ShardID.entityShards..<ShardID.count).contains(ShardID(ofDirectory: "p\(i)").number))
            #expect((0..<ShardID.entityShards).contains(ShardID(of: RoomKey(project: "p\(i)", id: "r")).number))
        }
    }
}

@Suite struct RoomIndexTests {
    private func key(_ created: Int64, _ id: String) -> RoomIndex.Key { RoomIndex.Key(createdMs: created, id: id) }

    @Test func newestFirstByTheMillisecondEqualOnesById() {
        var index = RoomIndex()
        for key in [key(5, "b"), key(9, "a"), key(5, "a"), key(5, "c"), key(1, "z")] { index.insert(key) }
        #expect(index.page(after: nil, limit: 10).keys.map(\.id) == ["a", "a", "b", "c", "z"])
        #expect(index.page(after: nil, limit: 10).keys.map(\.createdMs) == [9, 5, 5, 5, 1])
    }

    @Test func insertingTwiceIsOnceAndRemovingAStrangerIsNothing() {
        var index = RoomIndex()
        index.insert(key(1, "a"))
        index.insert(key(1, "a"))
        index.remove(key(1, "b"))
        index.remove(key(2, "a"))
        #expect(index.page(after: nil, limit: 10).keys.count == 1)
        index.remove(key(1, "a"))
        #expect(index.isEmpty)
    }

    @Test func hasMoreOnlyWhenThereIsMore() {
        var index = RoomIndex()
        for i in 0..<5 { index.insert(key(Int64(i), "r")) }
        #expect(index.page(after: nil, limit: 5).hasMore == false)
        #expect(index.page(after: nil, limit: 4).hasMore == true)
        #expect(index.page(after: key(1, "r"), limit: 4).keys.map(\.createdMs) == [0])
        #expect(index.page(after: key(0, "r"), limit: 4).keys.isEmpty)
        // The one where the last page ended may be gone; 3/r stands after 3/q.
        #expect(index.page(after: key(3, "q"), limit: 2).keys.map(\.createdMs) == [3, 2])
    }

    @Test func offsetsAreReadBackAndForgedOnesAreNot() {
        let key = key(1_700_000_000_123, "abc123")
        let text = ListOffset.write(key)
        #expect(ListOffset.read(text) == .some(key))
        #expect(ListOffset.read("") == .some(nil))
        #expect(ListOffset.read("0") == .some(nil))
        let forged = [
            "1", "x", "1700000000123.abc123", "1700000000123.abc123.0", text + "0", String(text.dropFirst()),
            text.replacing("abc", with: "abd"), "..", "-1..1", String(repeating: "9", count: 300),
        ]
        for one in forged { #expect(ListOffset.read(one) == nil, "\(one)") }
    }
}

@Suite struct ResumeTokenTests {
    @Test(arguments: ["alice", "a.b", "x", String(repeating: "p", count: 64)])
    func namesThePlayer(id: String) {
        let key = PlayerKey(project: "acme", id: id)
        let token = ResumeToken.make(for: key, secret: "s3cret")
        #expect(ResumeToken.player(of: token) == key)
        #expect(ResumeToken.isEqual(token, token))
        #expect(!ResumeToken.isEqual(token, token + "x"))
        #expect(!ResumeToken.isEqual(token, String(token.dropLast()) + "x"))
    }

    @Test(arguments: ["", ".", "..", "a.b.c", "6.61.x", "zz.61.x", "61.61", "61.61.x.y", "ff.61.x", "61..x"])
    func othersNameNobody(token: String) {
        #expect(ResumeToken.player(of: token) == nil)
    }

    @Test func secretsAndRoomIdsDiffer() {
        var random = SeededRandom(seed: 4)
        var ids: Set<String> = []
        for _ in 0..<1_000 {
            var entry = EntryRandomness(random.next(), random.next())
            ids.formUnion([entry.roomID(), entry.roomID(), entry.secret()])
        }
        #expect(ids.count == 3_000)
        #expect(ids.allSatisfy { $0.count == 15 || $0.count == 25 })
    }
}
