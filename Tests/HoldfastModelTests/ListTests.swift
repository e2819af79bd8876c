import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Matching and the list": the list.
@Suite struct ListTests {
    private func rooms(_ client: Client, _ body: ClientMessage.Body) -> RoomList {
        guard case .roomList(let list)? = client.ask(body) else {
            Issue.record("no list")
            return RoomList()
        }
        return list
    }

    private func names(_ client: Client, _ body: ClientMessage.Body) -> [String] {
        rooms(client, body).rooms.map(\.name)
    }

    /// Owners of one room each, a millisecond apart, the oldest first.
    private func owners(_ world: World, _ names: [String], _ change: (inout RoomConfig) -> Void = { _ in }) -> [Client]
    {
        names.map { name in
            let client = world.client(name).connect()
            client.send(
                .create(2) {
                    $0.name = name
                    change(&$0)
                })
            world.advance(ms: 1)
            return client
        }
    }

    @Test func newestFirst() {
        let world = World()
        _ = owners(world, ["a", "b", "c"])
        let reader = world.client("reader").connect()
        #expect(names(reader, .list()) == ["c", "b", "a"])
        #expect(rooms(reader, .list()).hasMore == false)
    }

    @Test func ofATypeOrOfAll() {
        let world = World()
        _ = owners(world, ["a"])
        _ = owners(world, ["b"]) { $0.type = "other" }
        let reader = world.client("reader").connect()
        #expect(names(reader, .list(type: "duel")) == ["a"])
        #expect(names(reader, .list(type: "other")) == ["b"])
        #expect(names(reader, .list(type: "none")) == [])
        #expect(names(reader, .list()) == ["b", "a"])
        let other = world.client("reader", project: "zeta").connect()
        #expect(names(other, .list()) == [])
    }

    @Test(arguments: ["hidden", "full", "running", "offline", "gone"])
    func whatIsNotListed(why: String) {
        let world = World()
        let owner = owners(world, ["a"]) { $0.hidden = why == "hidden" }[0]
        let other = world.client("other").connect()
        switch why {
        case "full": other.send(.join(owner.roomID))
        case "running": owner.send(.start)
        case "offline":
            owner.drop()
            world.advance(ms: 2_000)
        case "gone": owner.send(.leave)
        default: break
        }
        let reader = world.client("reader").connect()
        #expect(names(reader, .list()) == [])
    }

    @Test func whatIsListedThough() {
        let world = World()
        let locked = owners(world, ["password"]) { $0.password = "p" }[0]
        let late = owners(world, ["late"]) { $0.allowLateJoin = true }[0]
        late.send(.start)
        locked.drop()
        world.advance(ms: 1_000)
        let reader = world.client("reader").connect()
        let list = rooms(reader, .list()).rooms
        #expect(list.map(\.name) == ["late", "password"])
        #expect(list.map(\.hasPassword) == [false, true])
        #expect(list.map(\.status) == [1, 0])
    }

    @Test func toSpectateShowsFullAndRunningOnesWithAFreePlace() {
        let world = World()
        let owners = owners(world, ["a", "b"]) { $0.maxSpectatorCount = 1 }
        _ = self.owners(world, ["none"])
        let others = ["x", "y"].map { world.client($0).connect() }
        others[0].send(.join(owners[0].roomID))
        owners[0].send(.start)
        others[1].send(.join(owners[1].roomID, spectating: true))
        world.advance(ms: 1_000)
        let reader = world.client("reader").connect()
        #expect(names(reader, .list(spectate: true)) == ["a"])
        others[1].send(.leave)
        #expect(names(reader, .list(spectate: true)) == ["b", "a"])
    }

    @Test func summariesLagByAtMostASecond() {
        let world = World()
        let owner = owners(world, ["a"]) { $0.maxSpectatorCount = 9 }[0]
        for i in 0..<10 {
            owner.send(.room(name: "name \(i)", properties: "p\(i)"))
            world.client("eve\(i)").connect().send(.join(owner.roomID, spectating: true))
        }
        world.advance(ms: 1_000)
        let reader = world.client("reader").connect()
        let summary = rooms(reader, .list()).rooms.first
        #expect(summary?.name == "name 9")
        #expect(summary?.customProperties == "p9")
        #expect(summary?.spectatorCount == 9)
        #expect(summary?.playerCount == 1 && summary?.maxPlayerCount == 2)
    }

    @Test func alsoWhileFramesAreSealed() {
        let world = World()
        let owner = owners(world, ["a"]) { $0.allowLateJoin = true }[0]
        owner.send(.start)
        owner.send(.room(name: "new"))
        owner.send(.room(name: "newest"))
        world.advance(ms: 1_000)
        #expect(names(world.client("reader").connect(), .list()) == ["newest"])
    }

    @Test func pages() {
        let world = World()
        let all = (0..<45).map { "r\($0)" }
        _ = owners(world, all)
        let reader = world.client("reader").connect()
        let first = rooms(reader, .list())
        #expect(first.rooms.count == 20 && first.hasMore)
        let second = rooms(reader, .list(offset: first.offset, limit: 24))
        #expect(second.rooms.count == 24 && second.hasMore)
        let third = rooms(reader, .list(offset: second.offset))
        #expect(third.rooms.count == 1 && !third.hasMore)
        #expect((first.rooms + second.rooms + third.rooms).map(\.name) == all.reversed())
        #expect(rooms(reader, .list(offset: "0", limit: 100)).rooms.count == 45)
        #expect(reader.refusal(.list(limit: 101)) == 11)
        for bad in ["1", "x", third.offset + "x"] { #expect(reader.refusal(.list(offset: bad)) == 11) }
        let end = rooms(reader, .list(offset: third.offset))
        #expect(end.rooms.isEmpty && !end.hasMore)
    }

    @Test(arguments: 0..<30)
    func pagesEndRepeatNothingAndShowWhatWasThereAllAlong(seed: UInt64) {
        let world = World(seed: seed)
        var changing = owners(world, (0..<15).map { "c\($0)" })
        let staying = owners(world, (0..<15).map { "s\($0)" })
        changing += owners(world, (15..<25).map { "c\($0)" })
        let reader = world.client("reader").connect()
        var seen: [String] = []
        var offset = ""
        var pages = 0
        while pages < 100 {
            pages += 1
            let page = rooms(reader, .list(offset: offset, limit: UInt32(1 + world.random.below(6))))
            seen += page.rooms.map(\.id)
            offset = page.offset
            if !page.hasMore { break }
            for _ in 0..<3 {
                let one = changing[world.random.below(changing.count)]
                one.send(one.isInRoom ? .leave : .create(2))
            }
            world.advance(ms: Int64(world.random.below(3)))
        }
        #expect(pages < 100)
        #expect(Set(seen).count == seen.count, "seed \(seed)")
        for one in staying { #expect(seen.contains(one.roomID), "seed \(seed)") }
    }
}
