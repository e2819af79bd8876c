import HoldfastProtocol
import Testing

@testable import HoldfastClient

/// A machine and a server over links that break at random, from a seed: nothing lost, nothing twice, nothing out of
/// order.
@Suite struct ChanceTests {
    struct World {
        var machine: ClientMachine
        var server = MiniServer()
        var oracle = Oracle()
        var chance: SplitMix
        var nowMs: Int64 = 0
        var link: LinkID?
        var isOpen = false
        var toServer: [ClientMessage] = []
        var armedAtMs: Int64?
        var said: [String] = []
        var frames: [UInt32] = []
        var inputs: [String] = []
        var failed: Set<UInt32> = []
        var failedSays: Set<UInt32> = []
        var outcomes: [UInt32: Bool] = [:]
        var newRuns = 0

        init(seed: UInt64) {
            chance = SplitMix(seed: seed)
            var options = ClientOptions()
            options.endpointCount = 2
            options.giveUpAfterMs = 1_000_000
            machine = ClientMachine(options: options, seed: seed)
        }

        mutating func call(_ body: ClientMessage.Body) throws -> UInt32 {
            var effects: [ClientEffect] = []
            let id = machine.call(body, nowMs: nowMs, into: &effects)
            try oracle.called(id)
            try carryOut(effects)
            return id
        }

        mutating func give(_ input: ClientInput) throws {
            oracle.saw(input)
            try carryOut(machine.handle(input, nowMs: nowMs))
        }

        mutating func carryOut(_ effects: [ClientEffect]) throws {
            for effect in effects {
                try oracle.check(effect)
                switch effect {
                case .fetchToken: try give(.token("T"))
                case .openLink(let opened, _):
                    link = opened
                    isOpen = false
                case .closeLink: cut()
                case .send(_, let message): toServer.append(message)
                case .armDeadline(let atMs): armedAtMs = atMs
                case .complete(let id, .success): outcomes[id] = true
                case .complete(let id, .failure): outcomes[id] = false
                case .deliver(let event): took(event)
                }
            }
        }

        mutating func took(_ event: ClientEvent) {
            switch event {
            case .customMessageReceived(let message): said.append(message.msg)
            case .frame(let frame, _):
                frames.append(frame.id)
                for input in frame.inputs { if case .data(let text)? = input.payload { inputs.append(text) } }
            case .requestFailed(let id, _): failed.insert(id)
            case .connected: newRuns += 1
            default: break
            }
        }

        mutating func cut() {
            link = nil
            isOpen = false
            toServer = []
            server.detach()
        }

        mutating func dropLink() throws {
            guard let broken = link else { return }
            cut()
            try give(.linkClosed(broken, reason: "chance"))
        }

        /// One thing happens.
        mutating func step(isCalm: Bool) throws {
            nowMs += chance.next(upTo: 5)
            if let dueMs = armedAtMs, dueMs <= nowMs {
                armedAtMs = nil
                try give(.deadline)
            }
            if let link, !isOpen {
                if !isCalm, chance.next(upTo: 3) == 0 { return try dropLink() }
                isOpen = true
                return try give(.linkOpened(link))
            }
            if !isCalm, chance.next(upTo: 60) == 0 { return try dropLink() }
            if chance.next(upTo: 1) == 0, !toServer.isEmpty { server.take(toServer.removeFirst()) }
            if let link, isOpen, chance.next(upTo: 1) == 0, !server.outbox.isEmpty {
                try give(.received(link, server.outbox.removeFirst()))
            }
        }
    }

    @Test(arguments: 1...300)
    func nothingLostNothingTwice(seed: Int) throws {
        var world = World(seed: UInt64(seed))
        world.server.refusesEvery = seed.isMultiple(of: 2) ? 5 : 0
        let endsRuns = seed.isMultiple(of: 3)
        _ = try world.call(.connect(Connect()))
        var says: [UInt32: String] = [:]
        var sent: [UInt32: String] = [:]
        for round in 0..<1500 {
            try world.step(isCalm: false)
            switch world.chance.next(upTo: 25) {
            case 0:
                let text = "say \(round)"
                says[try world.call(.sendCustomMessage(SendCustomMessage(msg: text)))] = text
            case 1...2 where world.machine.frameSync != nil:
                let text = "input \(round)"
                let input = SendFrameInput(payload: .data(text))
                sent[try world.call(.sendFrameInput(input))] = text
            case 3: world.server.say()
            case 4...6: world.server.seal()
            case 7 where endsRuns && world.chance.next(upTo: 5) == 0:
                world.server.endRun()
                try world.dropLink()
            default: break
            }
        }
        for _ in 0..<4000 { try world.step(isCalm: true) }
        // Frames of their own, so that inputs sent again (5 a frame) come into one.
        for _ in 0..<60 {
            world.server.seal()
            for _ in 0..<40 { try world.step(isCalm: true) }
        }
        try check(world, says: says, sent: sent, endsRuns: endsRuns)
    }

    private func check(_ world: World, says: [UInt32: String], sent: [UInt32: String], endsRuns: Bool) throws {
        #expect(world.machine.isOnline)
        #expect(world.frames == Array(1...world.server.frameId), "frames: all, once, in order")
        for (id, text) in says {
            let count = world.server.executed[text, default: 0]
            let outcome: Bool = try #require(world.outcomes[id] as Bool?, "\(text) has an outcome")
            #expect(count <= 1, "\(text) is done at most once")
            if outcome { #expect(count == 1, "\(text) succeeded and was done") }
            if !endsRuns { #expect(outcome, "\(text) succeeds while the run lives") }
        }
        #expect(world.inputs == world.server.sealed)
        #expect(Set(world.inputs).count == world.inputs.count, "no input twice")
        for (id, text) in sent {
            let isShown = world.inputs.contains(text)
            #expect(isShown || world.failed.contains(id), "\(text) is shown or failed")
            if !endsRuns { #expect(isShown != world.failed.contains(id), "\(text) is not both") }
        }
        #expect(world.machine.pendingCallCount == 0)
        #expect(world.machine.pendingInputCount == 0)
        if endsRuns {
            #expect(world.said == world.said.sorted { Int($0) ?? 0 < Int($1) ?? 0 })
        } else {
            #expect(world.newRuns == 1)
            // From the position of the first `connected` on.
            let first = Int(world.said.first ?? "") ?? 1
            #expect(world.said.compactMap { Int($0) } == Array(first..<(first + world.said.count)))
            #expect(world.said.isEmpty || world.said.last == "\(world.server.saidCount)")
        }
    }
}
