import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Who is told": the exact audience of each event, and the order.
@Suite struct AudienceTests {
    /// Alice owns; bob and carol play; eve watches; dave comes.
    private struct Cast {
        let world = World()
        let alice: Client
        let bob: Client
        let carol: Client
        let eve: Client
        let dave: Client
        var all: [Client] { [alice, bob, carol, eve, dave] }

        init() {
            let seated = world.seated("alice", "bob", "carol") {
                $0.maxSpectatorCount = 3
                $0.allowLateJoin = true
                $0.frameRate = 1
            }
            (alice, bob, carol) = (seated[0], seated[1], seated[2])
            eve = world.client("eve").connect()
            eve.send(.join(alice.roomID, spectating: true))
            dave = world.client("dave").connect()
            for one in all { one.forget() }
        }

        /// Who was told this, of those who were told anything.
        func told(_ part: String) -> [String] {
            all.compactMap { client in client.lines().contains { $0.contains(part) } ? client.id : nil }
        }
    }

    @Test func entering() {
        let cast = Cast()
        cast.dave.send(.join(cast.alice.roomID))
        #expect(cast.told("playerEntered dave") == ["alice", "bob", "carol", "eve"])
    }

    @Test(arguments: ["leave", "disconnect"])
    func leaving(how: String) {
        let cast = Cast()
        cast.bob.send(how == "leave" ? .leave : .bye)
        #expect(cast.told("playerLeft bob") == ["alice", "carol", "eve"])
    }

    @Test func offlineAndOnline() {
        let cast = Cast()
        cast.bob.drop()
        cast.world.advance(ms: 2_000)
        #expect(cast.told("playerOffline bob") == ["alice", "carol", "eve"])
        cast.bob.resume()
        #expect(cast.told("playerOnline bob") == ["alice", "carol", "eve"])
    }

    @Test func kicking() {
        let cast = Cast()
        cast.alice.send(.kick("bob"))
        #expect(cast.told("playerKicked bob") == ["alice", "bob", "carol", "eve"])
    }

    @Test(arguments: [
        (ClientMessage.Body.transfer("bob"), "roomOwnerChanged"), (.room(name: "n"), "roomPropertiesChanged"),
        (.status(7), "playerCustomStatusChanged alice 7"), (.properties("p"), "playerCustomPropertiesChanged alice p"),
        (.start, "frameSyncStarted"), (.dismiss, "roomDismissed 0"),
    ])
    func everyoneTheCallerToo(call: ClientMessage.Body, event: String) {
        let cast = Cast()
        cast.alice.send(call)
        #expect(cast.told(event) == ["alice", "bob", "carol", "eve"])
    }

    @Test func framesStopsAndDesyncs() {
        let cast = Cast()
        cast.alice.send(.start)
        cast.world.advance(ms: 1_000)
        #expect(cast.told("frame 1") == ["alice", "bob", "carol", "eve"])
        cast.alice.send(.hash(1, [1]))
        cast.bob.send(.hash(1, [2]))
        #expect(cast.told("desync") == ["alice", "bob", "carol", "eve"])
        cast.alice.send(.stop)
        #expect(cast.told("frameSyncStopped") == ["alice", "bob", "carol", "eve"])
    }

    @Test func whatTheOfflineMissedComesAtTheirResume() {
        let cast = Cast()
        cast.bob.drop()
        cast.eve.drop()
        cast.world.advance(ms: 3_000)
        cast.alice.send(.status(7))
        for one in [cast.bob, cast.eve] { one.resume() }
        #expect(cast.told("playerCustomStatusChanged") == ["alice", "bob", "carol", "eve"])
    }

    @Test func aCallerGetsItsReplyBeforeTheEvent() {
        let cast = Cast()
        let calls: [(ClientMessage.Body, String)] = [
            (.status(1), "playerCustomStatusChanged alice 1"),
            (.properties("p"), "playerCustomPropertiesChanged alice p"),
            (.room(name: "n"), "roomPropertiesChanged n/"), (.kick("carol"), "playerKicked carol, owner alice"),
            (.start, "frameSyncStarted 1: alice* bob"), (.stop, "frameSyncStopped 1, reason 0"),
            (.transfer("bob"), "roomOwnerChanged bob"),
        ]
        for (call, event) in calls {
            let id = cast.alice.send(call)
            let lines = cast.alice.lines()
            #expect(lines.count == 2)
            #expect(lines.first == "#\(id) ok")
            #expect(lines.last?.hasSuffix(event) == true, "\(lines)")
        }
    }

    @Test func afterTheReplyToLeaveRoomNothingOfTheRoomComes() {
        let cast = Cast()
        cast.bob.send(.leave)
        cast.alice.send(.message("m"))
        cast.alice.send(.start)
        cast.world.advance(ms: 2_000)
        #expect(cast.bob.lines() == ["#3 ok"])
    }

    @Test func anAddressedEventLeavesAHoleForTheRest() {
        let cast = Cast()
        cast.alice.send(.message("one"))
        cast.alice.send(.message("two", to: ["bob"]))
        cast.alice.send(.message("three"))
        #expect(cast.bob.lines() == ["@4 message alice: one", "@5 message alice: two", "@6 message alice: three"])
        #expect(cast.carol.lines() == ["@4 message alice: one", "@6 message alice: three"])
    }

    @Test func everyoneSeesTheSameOrder() {
        let world = World(seed: 5, shuffled: true)
        let all = world.seated("alice", "bob", "carol", "dave") { $0.frameRate = 20 }
        all[0].send(.start)
        for i in 0..<60 {
            let client = all[i % 4]
            client.send(i % 3 == 0 ? .status(Int32(i)) : .input("\(i)"), settling: false)
            if i % 7 == 0 { world.pass(ms: 50) }
            for _ in 0..<world.random.below(4) { world.deliverOne() }
        }
        world.settle()
        let streams = all.map { client in client.messages.filter { $0.seq > 5 }.map { line($0) } }
        for stream in streams { #expect(stream == streams[0]) }
        #expect(streams[0].count > 20)
    }
}
