import Foundation
import HoldfastProtocol
import HoldfastSimulator
import Testing

/// Whole plays, from one seed each, in a world without faults.
@Suite struct SimClientsTests {
    /// HOLDFAST_SEEDS=100...199 plays others.
    static let seeds: [UInt64] = {
        let bounds = (ProcessInfo.processInfo.environment["HOLDFAST_SEEDS"] ?? "1...20").split(separator: "...")
        guard bounds.count == 2, let first = UInt64(bounds[0]), let last = UInt64(bounds[1]) else { return [] }
        return Array(first...max(first, last))
    }()

    static func play(_ world: MiniWorld, ms: Int64 = 20_000) {
        world.clients.start(nowMs: world.nowMs)
        world.run(ms: ms)
        world.with { $0.beginQuiet(nowMs: $1, into: &$2) }
        world.run(ms: 10_000)
        world.clients.atEnd(nowMs: world.nowMs)
        world.with { $0.beginFinale(nowMs: $1, into: &$2) }
        world.run(ms: SimClients.matchAfterMs + 1_500)
        world.clients.atFinaleEnd(nowMs: world.nowMs)
    }

    @Test(arguments: seeds)
    func nothingIsWrong(seed: UInt64) {
        let world = MiniWorld(seed: seed)
        Self.play(world)
        for violation in world.clients.checker.violations { Issue.record("seed \(seed): \(violation)") }
        if ProcessInfo.processInfo.environment["HOLDFAST_COUNTS"] != nil { print(seed, world.clients.counts) }
    }

    @Test func theSameSeedPlaysTheSame() {
        let counts = [UInt64(7), 7, 8].map { seed in
            let world = MiniWorld(seed: seed)
            Self.play(world)
            return world.clients.counts
        }
        #expect(counts[0] == counts[1])
        #expect(counts[0] != counts[2])
    }
}

/// Worlds in which something is wrong: it must be seen in nearly every play.
@Suite struct SpoiledWorldTests {
    typealias Spoil = (ServerMessage, SimLink) -> [ServerMessage]

    private func expectFound(_ invariants: Set<Int>, least: Int = 5, _ world: (UInt64) -> MiniWorld) {
        var caught = 0
        for seed in UInt64(1)...6 {
            let world = world(seed)
            SimClientsTests.play(world)
            let found = Set(world.clients.checker.violations.map(\.invariant))
            if !found.isDisjoint(with: invariants) { caught += 1 } else if !found.isEmpty { Issue.record("\(found)") }
        }
        #expect(caught >= least)
    }

    /// Spoils every so many of the messages that it is for.
    private func spoiled(
        _ seed: UInt64, every count: Int, _ isMeant: @escaping (ServerMessage) -> Bool,
        _ spoil: @escaping (ServerMessage) -> [ServerMessage]
    ) -> MiniWorld {
        let world = MiniWorld(seed: seed)
        var seen = 0
        world.spoil = { message, _ in
            guard isMeant(message) else { return [message] }
            seen += 1
            return seen % count == 0 ? spoil(message) : [message]
        }
        return world
    }

    private func isReply(_ message: ServerMessage) -> Bool {
        switch message.body {
        case .connected?, .pong?, .error?: false
        default: message.id != 0
        }
    }

    @Test func aLostEvent() {
        expectFound([5]) {
            spoiled($0, every: 50) {
                $0.seq != 0
            } _: { _ in
                []
            }
        }
    }

    @Test func aRepeatedEvent() {
        expectFound([5]) {
            spoiled($0, every: 50) {
                $0.seq != 0
            } _: {
                [$0, $0]
            }
        }
    }

    @Test func aLostReply() {
        expectFound([6, 16]) { spoiled($0, every: 40, isReply) { _ in [] } }
    }

    @Test func aRepeatedReply() {
        expectFound([6]) { spoiled($0, every: 40, isReply) { [$0, $0] } }
    }

    @Test func anotherFrame() {
        expectFound([5]) {
            spoiled($0, every: 60) {
                if case .frame? = $0.body { true } else { false }
            } _: { message in
                guard case .frame(var frame)? = message.body else { return [message] }
                frame.changes.append(SeatChange(playerId: "x", kind: 0))
                return [ServerMessage(seq: message.seq, body: .frame(frame))]
            }
        }
    }

    @Test func eventsInAnotherOrder() {
        expectFound([5, 6]) { seed in
            let world = MiniWorld(seed: seed)
            var seen = 0
            var held: [SimLink: ServerMessage] = [:]
            world.spoil = { message, link in
                if let before = held.removeValue(forKey: link) { return [message, before] }
                guard message.seq != 0 else { return [message] }
                seen += 1
                if seen % 40 != 0 { return [message] }
                held[link] = message
                return []
            }
            return world
        }
    }

    @Test func anInputThatEveryoneLoses() {
        expectFound([7]) { seed in
            let world = MiniWorld(seed: seed)
            let strip = { (frame: Frame) in
                var frame = frame
                frame.inputs.removeAll { $0.id % 10 == 3 }
                return frame
            }
            world.spoil = { message, _ in
                var message = message
                switch message.body {
                case .frame(let frame)?: message.body = .frame(strip(frame))
                case .frames(var batch)?:
                    batch.frames = batch.frames.map(strip)
                    message.body = .frames(batch)
                default: break
                }
                return [message]
            }
            return world
        }
    }

    @Test func aMessageThatNobodyGets() {
        expectFound([1, 5], least: 2) { seed in
            let world = MiniWorld(seed: seed)
            world.spoil = { message, _ in
                if case .customMessageReceived(let told)? = message.body, told.msg.hasSuffix("3") { return [] }
                return [message]
            }
            return world
        }
    }

    @Test func offlineTooSoon() {
        expectFound([11], least: 4) { MiniWorld(seed: $0, secretly: { $0.offlineAfterMs = 1_000 }) }
    }

    @Test func aWindowTooShort() {
        expectFound([6, 11], least: 3) { MiniWorld(seed: $0, secretly: { $0.resumeWindowMs = 1_500 }) }
    }

    @Test func toldTimeThatFalls() {
        expectFound([11]) { seed in
            let world = MiniWorld(seed: seed)
            world.spoil = { message, _ in
                var message = message
                guard case .frame(var frame)? = message.body, frame.id % 20 > 15 else { return [message] }
                for index in frame.inputs.indices { frame.inputs[index].serverTime -= 2_000 }
                message.body = .frame(frame)
                return [message]
            }
            return world
        }
    }
}
