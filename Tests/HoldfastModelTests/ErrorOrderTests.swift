import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// errors.md: "When several apply, the first of these answers".
@Suite struct ErrorOrderTests {
    @Test func thirteenGoesBeforeAll() {
        let world = World()
        let alice = world.client("alice")
        alice.open()
        for body: ClientMessage.Body in [.message(""), .kick("alice"), .requestBattle(RequestBattle())] {
            #expect(alice.refusal(body) == 13)
        }
    }

    @Test func elevenGoesBefore15And3And20() {
        let world = World(budgets: true)
        let alice = world.client("alice").connect()
        alice.send(.match(2, timeoutMs: 60_000))
        for body: ClientMessage.Body in [.create(0), .create(21), .join(""), .match(2) { $0.hidden = true }] {
            #expect(alice.refusal(body) == 11, "\(body)")
        }
        for body: ClientMessage.Body in [.message(""), .kick("alice"), .frames(0, 0), .snapshot(1, bytes(65_537))] {
            #expect(alice.refusal(body) == 11, "\(body)")
        }
        for _ in 0..<20 { alice.send(.list()) }
        #expect(alice.refusal(.create()) == 15, "15 before 3")
        #expect(alice.refusal(.kick("alice")) == 11, "11 before 3")
        #expect(alice.refusal(.kick("bob")) == 3, "3 before 20")
    }

    private func bytes(_ count: Int) -> [UInt8] { Array(repeating: 0, count: count) }

    @Test func twentyGoesBeforeWhatOnlyARoomCanTell() {
        let alice = World().client("alice").connect()
        for body: ClientMessage.Body in [
            .leave, .message("m"), .status(1), .properties("p"), .room(), .kick("x"), .transfer("x"), .dismiss, .start,
            .stop, .input(String(repeating: "x", count: 2_000)), .frames(1, 1), .hash(1, [1]), .snapshot(1),
        ] { #expect(alice.refusal(body) == 20, "\(body)") }
    }

    @Test func twentyOneGoesBeforeWhatTheRoomWouldSay() {
        let world = World()
        let all = world.seated("alice", "bob")
        for body: ClientMessage.Body in [.join("nowhere"), .join(all[0].roomID), .create(), .match()] {
            #expect(all[0].refusal(body) == 21, "\(body)")
        }
    }

    @Test func thirtySixGoesBefore22And26And25() {
        let world = World()
        let alice = world.seated("alice") {
            $0.maxSpectatorCount = 1
            $0.lockedDuringFrameSync = true
        }[0]
        let eve = world.client("eve").connect()
        eve.send(.join(alice.roomID, spectating: true))
        let calls: [ClientMessage.Body] = [
            .kick("nobody"), .transfer("nobody"), .start, .stop, .status(1), .message("m", to: ["nobody"]),
            .input(String(repeating: "x", count: 2_000)), .hash(99, [1]), .snapshot(99),
        ]
        for body in calls { #expect(eve.refusal(body) == 36, "\(body)") }
        alice.send(.start)
        for body in calls { #expect(eve.refusal(body) == 36, "\(body) while running") }
        #expect(eve.refusal(.kick("eve")) == 11)
    }

    @Test func twentyTwoGoesBefore26And25And30() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.lockedDuringFrameSync = true }
        #expect(all[1].refusal(.stop) == 22)
        all[0].send(.start)
        for body: ClientMessage.Body in [.start, .kick("nobody"), .transfer("nobody"), .room()] {
            #expect(all[1].refusal(body) == 22, "\(body)")
        }
        #expect(all[0].refusal(.kick("nobody")) == 26, "26 before 30")
        #expect(all[0].refusal(.transfer("nobody")) == 30)
    }

    @Test func theCodesOfAJoinInTheirOrder() {
        let world = World()
        let all = ["alice", "bob"].map { world.client($0).connect() }
        all[0].send(
            .create(2) {
                $0.password = "p"
                $0.maxSpectatorCount = 1
            })
        all[1].send(.join(all[0].roomID, password: "p"))
        let carol = world.client("carol").connect()
        let room = all[0].roomID
        #expect(carol.refusal(.join("nowhere", password: "x")) == 24)
        #expect(carol.refusal(.join(room)) == 31, "31 before 23")
        #expect(carol.refusal(.join(room, password: "p")) == 23)
        all[0].send(.start)
        #expect(carol.refusal(.join(room)) == 31, "31 before 26")
        #expect(carol.refusal(.join(room, password: "p")) == 26, "26 before 23")
        all[0].send(.kick("bob", ban: true))
        #expect(all[1].refusal(.join(room)) == 32, "32 before 31")
        #expect(all[1].refusal(.join(room, spectating: true)) == 32)
    }

    @Test func theCodesOfInputsAndReportsInTheirOrder() {
        let world = World()
        let alice = world.seated("alice")[0]
        let large = ClientMessage.Body.input(String(repeating: "x", count: 1_025))
        #expect(alice.refusal(large) == 25, "25 before 28")
        alice.send(.start)
        for _ in 0..<5 { alice.send(.input("x")) }
        #expect(alice.refusal(large) == 28, "28 before 29")
        #expect(alice.refusal(.input("x")) == 29)
        #expect(alice.refusal(.input("x", sync: 9)) == 25, "25 before 29")
        #expect(alice.refusal(.hash(9, [1], sync: 9)) == 25, "25 before 11 of an unsealed frame")
        #expect(alice.refusal(.snapshot(9, sync: 9)) == 25)
        #expect(alice.refusal(.hash(9, [])) == 11)
    }

    @Test func sizesAtTheirEdges() {
        let world = World()
        let alice = world.client("alice").connect()
        func text(_ count: Int) -> String { String(repeating: "x", count: count) }
        func create(_ change: (inout RoomConfig) -> Void) -> Int32 {
            let code = alice.refusal(.create(2, change))
            if code == 0 { alice.send(.leave) }
            return code
        }
        #expect(create { $0.type = text(32) } == 0)
        #expect(create { $0.type = text(33) } == 11)
        #expect(create { $0.type = "" } == 11)
        #expect(create { $0.name = text(64) } == 0)
        #expect(create { $0.name = text(65) } == 11)
        #expect(create { $0.customProperties = text(2_048) } == 0)
        #expect(create { $0.customProperties = text(2_049) } == 11)
        #expect(create { $0.password = text(65) } == 11)
        #expect(create { $0.frameRate = 60 } == 0)
        #expect(create { $0.frameRate = 61 } == 11)
        #expect(create { $0.maxSpectatorCount = 100_000 } == 0)
        #expect(create { $0.maxSpectatorCount = 100_001 } == 11)
        #expect(create { $0.matchParams = ["a": "", "b": "", "c": text(64)] } == 0)
        #expect(create { $0.matchParams = ["a": "", "b": "", "c": "", "d": ""] } == 11)
        #expect(create { $0.matchParams = [text(33): ""] } == 11)
        #expect(create { $0.matchParams = ["a": text(65)] } == 11)
        #expect(create { $0.maxPlayerCount = 20 } == 0)
        #expect(alice.refusal(.createRoom(CreateRoom())) == 11)
        alice.send(.create())
        #expect(alice.refusal(.properties(text(2_048))) == 0)
        #expect(alice.refusal(.properties(text(2_049))) == 11)
        for status in [Int32.min, .max, 0] { #expect(alice.refusal(.status(status)) == 0) }
    }
}
