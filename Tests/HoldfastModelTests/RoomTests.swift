import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Rooms": ownership and the room's end.
@Suite struct OwnershipTests {
    @Test func theCreatorOwnsTheRoom() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        alice.send(.create { $0.frameRate = 0 })
        #expect(alice.lines() == ["#2 roomJoined at 1: alice*"])
        guard case .roomJoined(let joined)? = alice.messages.last?.body, let room = joined.room else { return }
        #expect(room.frameRate == 15 && room.status == 0 && room.createTime == world.wallMs / 1000)
        #expect((5...24).contains(room.id.count))
    }

    @Test func whenTheOwnerLeavesTheLongestSeatedOnlinePlayerOwns() {
        let world = World()
        let all = world.seated("alice", "bob", "carol", "dave")
        all[1].drop()
        world.advance(ms: 2_000)
        all[3].forget()
        all[0].send(.leave)
        #expect(all[3].lines() == ["@6 playerLeft alice, owner carol"])
        all[1].resume()
        #expect(all[3].lines() == ["@7 playerOnline bob, owner carol"], "ownership does not return by itself")
    }

    @Test func whenTheOwnerGoesOfflineTheEventNamesTheNext() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[0].drop()
        world.advance(ms: 2_000)
        #expect(all[1].lines() == ["@3 playerOffline alice, owner bob"])
        all[0].resume()
        #expect(all[1].lines() == ["@4 playerOnline alice, owner bob"])
        #expect(all[0].lines() == ["#3 resumed, on at 4: alice bob*"])
    }

    @Test func whoComesOnlineWhileNoOwnerIsOwns() {
        let world = World()
        let all = world.seated("alice", "bob", "carol")
        for one in all { one.drop() }
        world.advance(ms: 2_000)
        all[2].resume()
        #expect(all[2].lines().first == "#3 resumed, on at 7: alice- bob- carol*")
        all[0].resume()
        #expect(all[2].lines() == ["@8 playerOnline alice, owner carol"])
    }

    @Test func theOwnerHimselfComesBackAsOwnerWhenNobodyWasThere() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 2_000)
        all[0].drop()
        world.advance(ms: 2_000)
        all[0].resume()
        #expect(all[0].lines().last == "#3 resumed, on at 5: alice* bob-")
    }

    @Test func whoJoinsWhileNoOwnerIsOnlineOwns() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.maxSpectatorCount = 1 }
        for one in all { one.drop() }
        world.advance(ms: 2_000)
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        #expect(eve.lines().last == "#2 roomJoined at 4: alice- bob*-")
        let carol = world.client("carol").connect()
        carol.send(.join(all[0].roomID))
        #expect(eve.lines() == ["@5 playerEntered carol, owner carol"])
        #expect(carol.lines().last == "#2 roomJoined at 5: alice- bob- carol*")
    }

    @Test func transferIsForTheOwnerToASeatedOnlinePlayer() {
        let world = World()
        let all = world.seated("alice", "bob", "carol") { $0.maxSpectatorCount = 1 }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        all[2].drop()
        world.advance(ms: 2_000)
        all[1].forget()
        #expect(all[1].refusal(.transfer("alice")) == 22)
        for who in ["eve", "carol", "nobody", ""] { #expect(all[0].refusal(.transfer(who)) == 30, "\(who)") }
        all[0].forget()
        all[0].send(.transfer("alice"))
        #expect(all[0].lines() == ["#7 ok"])
        all[0].send(.transfer("bob"))
        #expect(all[0].lines() == ["#8 ok", "@5 roomOwnerChanged bob"])
        #expect(all[1].lines().last == "@5 roomOwnerChanged bob")
        #expect(all[0].refusal(.start) == 22)
    }

    @Test func aPlayerWhoJustDroppedStillCountsAsOnline() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 1_999)
        all[0].send(.transfer("bob"))
        world.advance(ms: 1)
        #expect(all[0].lines() == ["#3 ok", "@3 roomOwnerChanged bob", "@4 playerOffline bob, owner alice"])
    }

    @Test func theRoomIsGoneWhenItsLastPlayerHasLeft() {
        let world = World()
        let all = world.seated("alice", "bob") { $0.maxSpectatorCount = 1 }
        let room = all[0].roomID
        let eve = world.client("eve").connect()
        eve.send(.join(room, spectating: true))
        eve.forget()
        all[0].send(.leave)
        all[1].send(.leave)
        #expect(
            eve.lines() == ["@3 playerLeft alice, owner bob", "@4 playerLeft bob, owner bob", "@5 roomDismissed 1"])
        #expect(all[0].refusal(.join(room)) == 24)
        #expect(world.rooms().isEmpty)
        #expect(eve.refusal(.create()) == 0)
    }

    @Test func dismissIsForTheOwnerAndTellsAll() {
        let world = World()
        let all = world.seated("alice", "bob")
        #expect(all[1].refusal(.dismiss) == 22)
        all[1].forget()
        all[0].send(.dismiss)
        #expect(all[0].lines() == ["#3 ok", "@3 roomDismissed 0"])
        #expect(all[1].lines() == ["@3 roomDismissed 0"])
        for one in all { #expect(one.refusal(.leave) == 20) }
    }

    @Test func roomPropertiesAreTheOwnersAndAbsentOnesStay() {
        let world = World()
        let all = world.seated("alice", "bob")
        #expect(all[1].refusal(.room(name: "x")) == 22)
        all[1].forget()
        all[0].send(.room(name: "n", properties: "p"))
        all[0].send(.room(name: "n"))
        all[0].send(.room(properties: ""))
        all[0].send(.room())
        #expect(
            all[1].lines() == [
                "@3 roomPropertiesChanged n/p", "@4 roomPropertiesChanged n/p", "@5 roomPropertiesChanged n/",
            ])
        #expect(all[0].lines().last == "#6 ok")
    }

    @Test func aRoomCanBeFullOfTwenty() {
        let world = World()
        let clients = (0..<25).map { world.client("p\($0)").connect() }
        clients[0].send(.create(20))
        for client in clients.dropFirst() { client.send(.join(clients[0].roomID), settling: false) }
        world.settle()
        #expect(clients.count(where: \.isInRoom) == 20)
        for client in clients where !client.isInRoom { #expect(client.lines().last == "#2 error 23") }
    }

    @Test(arguments: 0..<40)
    func joinsAtOnceNeverOverfill(seed: UInt64) {
        let world = World(seed: seed, shuffled: true)
        let clients = (0..<8).map { world.client("p\($0)").connect() }
        clients[0].send(.create(4))
        for client in clients.dropFirst() {
            client.send(.join(clients[0].roomID), settling: false)
            world.deliverOne()
        }
        world.settle()
        #expect(clients.count(where: \.isInRoom) == 4, "seed \(seed)")
        #expect(clients.flatMap { $0.lines() }.count { $0.hasSuffix("error 23") } == 4, "seed \(seed)")
    }

    @Test(arguments: 0..<40)
    func aJoinComesBeforeAStartOrAfterIt(seed: UInt64) {
        let world = World(seed: seed, shuffled: true)
        let all = world.seated("alice", "bob")
        let carol = world.client("carol").connect()
        carol.forget()
        carol.send(.join(all[0].roomID), settling: false)
        all[0].send(.start, settling: false)
        world.settle()
        let started = all[1].messages.compactMap {
            if case .frameSyncStarted(let info)? = $0.body { info } else { nil }
        }
        let isIn = started.first?.roomInfo?.players.contains { $0.id == "carol" } == true
        let expected =
            isIn
            ? ["#2 roomJoined at 3: alice* bob carol", "@4 frameSyncStarted 1: alice* bob carol"] : ["#2 error 26"]
        #expect(carol.lines() == expected, "seed \(seed)")
    }
}

/// What the messages of a room carry.
@Suite struct RoomContentTests {
    @Test func roomInfoSaysWhatTheConfigSaid() throws {
        let world = World()
        let alice = world.client("alice").connect()
        let config = RoomConfig(
            maxPlayerCount: 3, type: "duel", name: "n", customProperties: "p", matchParams: ["a": "b"], frameRate: 7,
            allowLateJoin: true, lockedDuringFrameSync: true, hidden: true, maxSpectatorCount: 4, password: "secret")
        let player = PlayerConfig(customStatus: -3, customProperties: "mine")
        guard
            case .roomJoined(let joined)? = alice.ask(.createRoom(CreateRoom(room: config, player: player))),
            let room = joined.room
        else {
            Issue.record("not joined")
            return
        }
        let me = PlayerInfo(id: "alice", status: 1, customStatus: -3, customProperties: "mine")
        let expected = RoomInfo(
            id: room.id, name: "n", type: "duel", ownerId: "alice", status: 0, customProperties: "p",
            maxPlayerCount: 3, players: [me], createTime: world.wallMs / 1000, frameRate: 7, spectatorCount: 0,
            maxSpectatorCount: 4, allowLateJoin: true, hasPassword: true, hidden: true, matchParams: ["a": "b"],
            lockedDuringFrameSync: true)
        #expect(room == expected)
        #expect(joined.roomSeq == 1 && joined.frameSync == nil && joined.snapshot == nil)
    }

    @Test func changesShowInWhatIsToldLater() {
        let world = World()
        let all = world.seated("alice", "bob") {
            $0.maxSpectatorCount = 3
            $0.allowLateJoin = true
        }
        all[1].send(.status(9))
        all[1].send(.properties("ready"))
        all[0].send(.room(name: "new", properties: "props"))
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        all[0].send(.start)
        all[1].drop()
        world.advance(ms: 2_000)
        let carol = world.client("carol").connect()
        let config = PlayerConfig(customStatus: 4, customProperties: "c")
        guard
            case .roomJoined(let joined)? = carol.ask(.joinRoom(JoinRoom(roomId: all[0].roomID, player: config))),
            let room = joined.room
        else {
            Issue.record("not joined")
            return
        }
        #expect(room.name == "new" && room.customProperties == "props" && room.spectatorCount == 1 && room.status == 1)
        #expect(room.players[1] == PlayerInfo(id: "bob", status: 0, customStatus: 9, customProperties: "ready"))
        #expect(room.players[2] == PlayerInfo(id: "carol", status: 1, customStatus: 4, customProperties: "c"))
        #expect(joined.frameSync?.roomInfo?.players.count == 2, "as it was at the start, for late joiners too")
        let entered = all[0].messages.last { if case .playerEntered? = $0.body { true } else { false } }
        #expect(
            entered?.body
                == .playerEntered(PlayerEntered(roomId: room.id, player: room.players[2], roomOwnerId: "alice")))
    }

    @Test func eventsNameTheirRoom() {
        let world = World()
        let all = world.seated("alice", "bob", "carol") { $0.frameRate = 1 }
        let room = all[0].roomID
        all[0].forget()
        all[1].drop()
        world.advance(ms: 2_000)
        all[1].resume()
        all[0].send(.transfer("bob"))
        all[1].send(.start)
        all[1].send(.stop)
        all[1].send(.room(name: "n"))
        all[1].send(.kick("carol"))
        all[1].send(.leave)
        all[0].send(.dismiss)
        let events = all[0].new().filter { $0.seq != 0 }.compactMap(\.body)
        let started = events.compactMap { if case .frameSyncStarted(let info) = $0 { info } else { nil } }
        #expect(started.first?.roomInfo?.id == room)
        #expect(
            events.filter { if case .frameSyncStarted = $0 { false } else { true } } == [
                .playerOffline(PlayerOffline(roomId: room, roomOwnerId: "alice", playerId: "bob")),
                .playerOnline(PlayerOnline(roomId: room, roomOwnerId: "alice", playerId: "bob")),
                .roomOwnerChanged(RoomOwnerChanged(roomId: room, roomOwnerId: "bob")),
                .frameSyncStopped(FrameSyncStopped(roomId: room, frameSyncId: 1, reason: 0)),
                .roomPropertiesChanged(RoomPropertiesChanged(id: room, name: "n", customProperties: "")),
                .playerKicked(PlayerKicked(roomId: room, playerId: "carol", roomOwnerId: "bob")),
                .playerLeft(PlayerLeft(roomId: room, roomOwnerId: "alice", playerId: "bob")),
                .roomDismissed(RoomDismissed(roomId: room, reason: 0)),
            ])
    }
}
