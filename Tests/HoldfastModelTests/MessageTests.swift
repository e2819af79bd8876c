import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Messages".
@Suite struct MessageTests {
    @Test func typeZeroIsForEveryoneElse() {
        let world = World()
        let all = world.seated("alice", "bob", "carol") { $0.maxSpectatorCount = 1 }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        for one in all + [eve] { one.forget() }
        all[0].send(.sendCustomMessage(SendCustomMessage(msg: "hi", receivers: ["bob"])))
        #expect(all[0].lines() == ["#3 ok"])
        for one in [all[1], all[2], eve] { #expect(one.lines() == ["@4 message alice: hi"]) }
    }

    @Test func typeOneIsForTheNamed() {
        let world = World()
        let all = world.seated("alice", "bob", "carol") { $0.maxSpectatorCount = 1 }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        for one in all + [eve] { one.forget() }
        all[0].send(.message("psst", to: ["bob", "bob", "alice", "eve", "nobody"]))
        #expect(all[0].lines() == ["#3 ok"])
        #expect(all[1].lines() == ["@4 message alice: psst"])
        #expect(all[2].lines() == [] && eve.lines() == [])
        for nobody in [["alice"], ["eve"], ["x", "y"]] { #expect(all[0].refusal(.message("m", to: nobody)) == 30) }
    }

    @Test func limitsAtTheirEdges() {
        let world = World()
        let all = world.seated("alice", "bob")
        #expect(all[0].refusal(.message(String(repeating: "é", count: 1_024))) == 0)
        #expect(all[0].refusal(.message(String(repeating: "é", count: 1_024) + "x")) == 11)
        #expect(all[0].refusal(.message("")) == 11)
        #expect(all[0].refusal(.message("x", to: [])) == 11)
        #expect(all[0].refusal(.message("x", to: ["bob"] + (1..<20).map { "p\($0)" })) == 0)
        #expect(all[0].refusal(.message("x", to: ["bob"] + (1...20).map { "p\($0)" })) == 11)
        #expect(all[0].refusal(.sendCustomMessage(SendCustomMessage(msg: "x", type: 2))) == 11)
    }
}
