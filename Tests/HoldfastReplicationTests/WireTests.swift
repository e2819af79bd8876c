import HoldfastProtocol
import Testing

@testable import HoldfastReplication

/// What goes between nodes, as bytes.
@Suite struct WireTests {
    private typealias Message = PeerMessage<Diary.Command, Diary.Command>
    private typealias Word = PeerWord<Message>

    private static let node = NodeID(name: "a", incarnation: 7)
    private static let shard = ShardID(number: 1_087)
    private static let gateway = GatewayID(incarnation: 7, loop: 3)
    private static let record = VersionedRecord(
        ShardRecord(
            generation: 2, epoch: 9, primary: node, backups: [NodeID(name: "b", incarnation: 8)],
            handover: NodeID(name: "b", incarnation: 8), rules: 1), revision: 300)

    /// One of each kind.
    private static let words: [Word] = {
        let replica: [ReplicaMessage] = [
            .prepare(first: 5, hashBefore: .max, entries: [[1, 2], []], committed: 4),
            .ack(last: 5, hash: 1, digest: StateDigest(index: 256, value: .max)), .ack(last: 5, hash: 1, digest: nil),
            .start(record), .position(last: 9, hash: 3, tailFirst: 8, tail: [[1], [2]]), .refuse(nil),
            .refuse(record), .invite(record), .offer(last: 0, hash: 0),
            .snapshot(index: 3, hash: 4, part: 0, parts: 2, bytes: [9, 9]), .release(record, last: 12),
        ]
        let messages: [Message] =
            replica.map { .replica(shard, generation: 1, epoch: 2, $0) } + [
                .commands(
                    to: shard, generation: 1, from: .gateway(gateway, session: 2), first: 3, [Diary.Command(4), nil]),
                .commandsTaken(by: shard, generation: 1, from: .shard(shard, generation: 2), through: 3),
                .commandsRefused(by: shard, from: .gateway(gateway, session: 2), .notPrimary(record)),
                .commandsRefused(by: shard, from: .gateway(gateway, session: 2), .generation(4)),
                .commandsRefused(by: shard, from: .gateway(gateway, session: 2), .session(5)),
                .items(
                    from: shard, generation: 1, to: gateway, session: 2, first: 3,
                    [.item(Diary.Command(6)), .emptied(7)]),
                .itemsTaken(by: gateway, session: 1, of: shard, generation: 2, through: 3),
            ]
        let unheard = [Heartbeat.Unheard(node: node, forMs: 1_500)]
        let heartbeats = [Heartbeat(sentAtMs: 1_000, echoMs: 900, unheard: unheard), Heartbeat(sentAtMs: 1)]
        return messages.map { .message($0) } + heartbeats.map { .heartbeat($0) }
    }()

    private func bytes(_ word: Word) -> [UInt8] {
        var writer = StateWriter()
        writer.put(word)
        return writer.bytes
    }

    private func read(_ bytes: [UInt8]) throws(StateError) -> Word {
        var reader = StateReader(bytes)
        let word = try reader.value(Word.self)
        try reader.finish()
        return word
    }

    @Test func everyWordComesBackAsItWas() throws {
        for word in Self.words {
            let sent = bytes(word)
            #expect(bytes(try read(sent)) == sent, "\(word)")
            #expect("\(try read(sent))" == "\(word)")
        }
    }

    @Test func aWordThatIsCutOffIsRefused() {
        for word in Self.words {
            let sent = bytes(word)
            for length in 0..<sent.count {
                #expect(throws: StateError.self, "\(word), \(length) bytes") { try read(Array(sent[..<length])) }
            }
        }
    }

    @Test func whateverComesIsReadOrRefused() {
        var random = ReplicaRandom(seed: 5)
        var refused = 0
        for round in 0..<20_000 {
            var sent = bytes(Self.words[round % Self.words.count])
            for _ in 0...Int.random(in: 0...2, using: &random) {
                sent[Int.random(in: sent.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            do throws(StateError) { _ = try read(sent) } catch { refused += 1 }
        }
        #expect(refused > 1_000)
    }

    @Test func numbersThatCannotBeReckonedWithAreRefused() {
        let huge = UInt64.max
        let bad: [Message] = [
            .commandsTaken(by: Self.shard, generation: huge, from: .shard(Self.shard, generation: 2), through: 3),
            .commandsTaken(by: Self.shard, generation: 1, from: .shard(Self.shard, generation: huge), through: 3),
            .replica(Self.shard, generation: 1, epoch: huge, .release(Self.record, last: 1)),
            .replica(Self.shard, generation: 1, epoch: 1, .release(Self.record, last: huge)),
            .replica(Self.shard, generation: 1, epoch: 1, .snapshot(index: 1, hash: 1, part: -1, parts: 1, bytes: [])),
        ]
        for message in bad {
            #expect(throws: StateError.self, "\(message)") { try read(bytes(.message(message))) }
        }
        #expect(throws: StateError.self) { try read(bytes(.heartbeat(Heartbeat(sentAtMs: 0, echoMs: .min)))) }
    }

    @Test func aBatchOfAnotherVersionIsRefused() throws {
        let batch = PeerBatch(
            from: Self.node, toIncarnation: 9, isBulk: true, session: 1, number: 2, words: bytes(Self.words[0]))
        var writer = StateWriter()
        writer.put(batch)
        var reader = StateReader(writer.bytes)
        #expect(try reader.value(PeerBatch.self) == batch)
        var other = StateReader([PeerBatch.version + 1] + writer.bytes.dropFirst())
        #expect(throws: StateError.self) { try other.value(PeerBatch.self) }
    }

    // MARK: Order

    @Test func batchesAreTakenInOrderAndOnce() {
        var order = LinkOrder()
        func verdict(_ sender: UInt64, _ session: UInt64, _ number: UInt64) -> LinkOrder.Verdict {
            order.judge(sender: sender, session: session, number: number)
        }
        #expect(verdict(7, 1, 1) == .take)
        #expect(verdict(7, 1, 2) == .take)
        #expect(verdict(7, 1, 2) == .drop, "it came before")
        #expect(verdict(7, 1, 4) == .takeAfterReset, "3 was lost")
        #expect(verdict(7, 1, 3) == .drop, "it is told as lost")
        #expect(verdict(7, 2, 1) == .takeAfterReset, "what was on its way in session 1 may be lost")
        #expect(verdict(7, 1, 5) == .drop, "of an older session")
    }

    @Test func aLinkThatIsHeardLateBeginsWithAReset() {
        var order = LinkOrder()
        #expect(order.judge(sender: 7, session: 1, number: 3) == .takeAfterReset)
    }
}
