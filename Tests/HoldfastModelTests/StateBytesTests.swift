import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// What is read may be cut off or altered anywhere: it is refused or gives a value, and never traps.
@Suite struct StateBytesTests {
    private static func walk(_ seed: UInt64, steps: Int = 120) -> (walk: Walk, twins: Twins) {
        var walk = Walk(seed: seed, shuffled: true, layout: ShardLayout(entityShards: 1, matchShards: 1))
        let twins = Twins(seed: seed, every: 1_000_000)
        twins.watch(walk.world)
        walk.run(steps: steps)
        return (walk, twins)
    }

    private static func read(_ name: String, _ bytes: [UInt8]) throws(StateError) -> [UInt8] {
        if name.hasPrefix("deliver") || name.hasPrefix("stream") {
            return encoded(try decoded(GatewayItem.self, bytes))
        }
        return encoded(try decoded(ShardCommand.self, bytes))
    }

    /// - Returns: whether it was read.
    @discardableResult
    private static func canBeRead(_ read: () throws(StateError) -> Void) -> Bool {
        do {
            try read()
            return true
        } catch {
            return false
        }
    }

    private static func altered(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        for _ in 0...random.below(3) {
            let place = random.below(max(1, bytes.count))
            guard place < bytes.count else { continue }
            switch random.below(5) {
            case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
            case 1: bytes[place] ^= 1 << UInt8(random.below(8))
            case 2: bytes.remove(at: place)
            case 3: bytes.insert([0, 1, 0x7f, 0x80, 0xff][random.below(5)], at: place)
            default: bytes[place] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)]
            }
        }
        return bytes
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func commandsAndItems(seed: UInt64) {
        let samples = Self.walk(seed).twins.samples.sorted { $0.key < $1.key } + Samples.rare
        var random = SeededRandom(seed: seed)
        #expect(samples.count > 40)
        for (name, bytes) in samples {
            for end in bytes.indices {
                let isRead = Self.canBeRead { () throws(StateError) in _ = try Self.read(name, Array(bytes[..<end])) }
                #expect(!isRead, "\(name) was read though it was cut off at \(end)")
            }
            for _ in 0..<300 {
                let other = Self.altered(bytes, &random)
                Self.canBeRead { () throws(StateError) in
                    // Whatever it is, it is written as something that can be read.
                    let again = try Self.read(name, other)
                    let last = try Self.read(name, again)
                    #expect(last == again, "\(name) altered is written otherwise each time")
                }
            }
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func shardsCutOff(seed: UInt64) {
        let world = Self.walk(seed, steps: 40).walk.world
        for (shard, machine) in world.machines() {
            let bytes = encoded(machine)
            for end in stride(from: 0, to: bytes.count, by: bytes.count > 4000 ? 7 : 1) {
                let isRead = Self.canBeRead { () throws(StateError) in
                    _ = try decoded(Array(bytes[..<end]), world.limits)
                }
                #expect(!isRead, "\(shard) was read though it was cut off at \(end)")
            }
        }
    }

    /// A shard that was read from altered bytes can be used: what the machines rely on was checked.
    @Test(arguments: RandomWalkTests.seeds.filter { $0 % 10 == 4 })
    func shardsAltered(seed: UInt64) {
        let (walk, twins) = Self.walk(seed, steps: 60)
        let commands = twins.samples.sorted { $0.key < $1.key }.compactMap { try? decoded(ShardCommand.self, $0.value) }
        var random = SeededRandom(seed: seed)
        var read = 0
        for (_, machine) in walk.world.machines() {
            let bytes = encoded(machine)
            for _ in 0..<400 {
                let other = Self.altered(bytes, &random)
                guard var altered = try? decoded(other, walk.world.limits) else { continue }
                read += 1
                Self.use(&altered, commands, nowMs: walk.world.nowMs)
            }
        }
        #expect(read > 0)
    }

    private static func use(_ machine: inout ShardMachine, _ commands: [ShardCommand], nowMs: Int64) {
        var effects: [ShardEffect] = []
        for (i, command) in commands.enumerated() {
            let time = nowMs + Int64(i) * 40
            let place = EntryPlace(index: 1_000_000 + UInt64(i), timeMs: time, wallMs: time, random: (1, 2))
            machine.apply(.command(command), at: place, into: &effects)
        }
        let end = nowMs + 100_000
        machine.apply(
            .tick, at: EntryPlace(index: 2_000_000, timeMs: end, wallMs: end, random: (0, 0)), into: &effects)
        _ = encoded(machine)
        _ = digest(machine)
    }
}

/// What walks seldom come upon.
enum Samples {
    static let link = Link(gateway: GatewayID(incarnation: 77, loop: 3), number: 300, encoding: .protobuf)
    static let ann = PlayerKey(project: "acme", id: "ann")
    static let pool = PoolKey(project: "acme", type: "duel", maxPlayerCount: 2, params: ["map": "ice", "é": "snow"])

    static let rare: [(key: String, value: [UInt8])] = {
        let position = StreamPosition(roomID: "r", roomSeq: 9, frameSyncID: 1, frameID: 70_000)
        let digest = RequestDigest(executed: [1, 2, 900], open: [.init(id: 901, isSeatCall: true)], forgetful: true)
        let template = AttachTemplate(
            link: link, connection: 5, id: 1, resumed: true, resumeToken: "61.62.s", position: position,
            requests: digest)
        let error = ErrorReply(.roomFull, "full", retryAfterMs: 3)
        let commands: [ShardCommand] = [
            .player(ann, .attachFailed(8, template)), .player(ann, .joinLost(8, link, id: 4)),
            .player(ann, .seated(.max, room: "")), .player(ann, .claimLost(1 << 60, room: "r")),
            .player(ann, .verified(8, number: 9, held: true)),
            .room(RoomKey(project: "acme", id: "r"), .verify(player: "ann", 8, number: 9)),
            .room(RoomKey(project: "acme", id: "r"), .leave(player: "ann", 3, .lost)),
            .pool(pool, .refused(player: "ann", 8, room: "r", error)), .pool(pool, .advert(room: "r", nil)),
            .room(RoomKey(project: "acme", id: "r"), .leave(player: "ann", 3, .windowOver)),
            .room(
                RoomKey(project: "acme", id: "r"),
                .call(player: "ann", 3, link, id: 0, .sendFrameInput(SendFrameInput()))),
            .room(
                RoomKey(project: "acme", id: "r"),
                .call(
                    player: "ann", 3, link, id: .max,
                    .sendFrameInput(SendFrameInput(payload: .dataBytes([0, 255]), frameSyncId: 7)))),
        ]
        let items: [GatewayItem] = [
            .deliver(link, .lagging), .deliver(link, .seatLost(8, calls: [4, 900], error)),
            .deliver(
                link,
                .replay(room: "r", [.event([]), .frames(StoredFrames(frames: [[], [1]], seq: 4))], atHead: false)),
            .deliver(link, .attachRefused(id: 4, .otherPlayer)),
        ]
        return commands.map { (name(of: $0), encoded($0)) } + items.map { (name(of: $0), encoded($0)) }
    }()
}
