import HoldfastProtocol
import Testing

@testable import HoldfastModel

/// rooms.md, "Connections, runs and resume": what comes before and around `connect`.
@Suite struct ConnectTests {
    @Test func connectComesFirst() {
        let world = World()
        let alice = world.client("alice")
        alice.open()
        alice.send(.create())
        alice.send(.ping(Ping(clientTime: 1)))
        alice.send(nil)
        alice.send(.message(""))
        alice.send(.list(), id: 0)
        #expect(alice.lines() == ["#1 error 13", "#2 error 13", "#3 error 13", "#4 error 13"])
        alice.send(.connect(Connect(token: alice.token)))
        #expect(alice.lines() == ["#5 connected"])
    }

    @Test func withoutConnectTheLinkEndsAfterTenSeconds() {
        let world = World()
        let alice = world.client("alice")
        alice.open()
        world.advance(ms: 9_900)
        #expect(alice.lines() == [])
        world.advance(ms: 200)
        #expect(alice.lines() == ["disconnected 13"])
        #expect(alice.closeCode != nil)
    }

    @Test func connectIsAnsweredAlsoWithoutAnId() {
        let world = World()
        let alice = world.client("alice")
        alice.open()
        alice.send(.connect(Connect(token: alice.token)), id: 0)
        #expect(alice.lines() == ["connected"])
        alice.send(.connect(Connect(token: alice.token)), id: 0)
        #expect(alice.lines() == ["error 14"])
    }

    @Test func aSecondConnectIsRefusedAndChangesNothing() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        #expect(alice.refusal(.connect(Connect(token: alice.token))) == 14)
        #expect(alice.refusal(.create()) == 0)
    }

    @Test(arguments: ["expired:acme/alice", "nonsense", ""])
    func aBadTokenClosesTheLink(token: String) {
        let world = World()
        let alice = world.client("alice")
        alice.open()
        alice.send(.connect(Connect(token: token)))
        #expect(alice.lines() == ["#1 error 12", "disconnected 12"])
        #expect(alice.closeCode != nil)
    }

    @Test func whatIsSentBeforeConnectedIsDoneAfterIt() {
        let world = World()
        let alice = world.client("alice")
        alice.open()
        alice.send(.connect(Connect(token: alice.token)), settling: false)
        alice.send(.create(), settling: false)
        alice.send(.status(3), settling: false)
        world.settle()
        #expect(
            alice.lines() == [
                "#1 connected", "#2 roomJoined at 1: alice*", "#3 ok", "@2 playerCustomStatusChanged alice 3",
            ])
    }

    @Test func connectedSaysWhatTheSpecLists() {
        let world = World()
        let alice = world.client("alice").connect()
        guard case .connected(let connected)? = alice.new().first?.body else {
            Issue.record("no connected")
            return
        }
        #expect(connected.playerId == "alice")
        #expect(!connected.resumeToken.isEmpty)
        #expect(!connected.resumed && !connected.roomRestarted && connected.room == nil)
        #expect(connected.heartbeatMs == 5_000)
        #expect(connected.resumeWindowMs == 60_000)
        #expect(connected.serverTime == world.wallMs)
        #expect(connected.node == "node-1")
    }

    @Test func playersOfTwoProjectsAreNotTheSame() {
        let world = World()
        let one = world.client("alice").connect()
        let other = world.client("alice", project: "zeta").connect()
        one.send(.create())
        #expect(other.refusal(.join(one.roomID)) == 24)
        #expect(one.link != nil && other.link != nil)
    }

    @Test func disconnectIsAnsweredAndEndsAll() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].send(.bye)
        #expect(all[1].lines() == ["#3 ok", "disconnected 0"])
        #expect(all[1].closeCode == 1000)
        #expect(all[0].lines() == ["@3 playerLeft bob, owner alice"])
        all[1].resume()
        #expect(all[1].lines() == ["#4 error 39"])
    }

    @Test func twentyMalformedMessagesInARowCloseTheLink() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.forget()
        func malformed() {
            if let link = alice.link {
                world.receive(DecodedClientMessage(unreadable: WireError("what?")), on: link)
            }
        }
        for _ in 0..<19 { malformed() }
        alice.send(.ping(Ping()))
        for _ in 0..<19 { malformed() }
        #expect(alice.link != nil)
        malformed()
        #expect(alice.lines().suffix(2) == ["error 11", "disconnected 11"])
        #expect(alice.closeCode != nil)
    }

    @Test(arguments: [(ErrorCode.slowConsumer, true), (.draining, true), (.serverError, true)])
    func whatMayReconnectSaysSoAndCountsAsADrop(code: ErrorCode, may: Bool) throws {
        let world = World()
        let all = world.seated("alice", "bob")
        world.end(try #require(all[1].link), code)
        world.settle()
        #expect(all[1].lines() == ["disconnected \(code.rawValue), may reconnect"])
        world.advance(ms: 2_000)
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice"])
        all[1].resume()
        #expect(all[1].lines() == ["#3 resumed, on at 4: alice* bob"])
    }
}

/// rooms.md: a run, its end, and what a drop does.
@Suite struct RunTests {
    @Test func anotherConnectReplacesTheRun() {
        let world = World()
        let alice = world.client("alice").connect()
        let token = alice.resumeToken
        let second = world.client("alice").connect()
        #expect(alice.lines() == ["#1 connected", "disconnected 5"])
        #expect(alice.closeCode != nil)
        alice.resume()
        #expect(alice.lines() == ["#2 error 39"])
        #expect(second.resumeToken != token)
        #expect(second.link != nil)
    }

    @Test func theSeatGoesOnInANewRun() {
        let world = World()
        let all = world.seated("alice", "bob")
        let again = world.client("bob").connect()
        #expect(again.lines() == ["#1 connected, restarted at 2: alice* bob"])
        #expect(all[1].lines() == ["disconnected 5"])
        #expect(all[0].lines() == [])
        again.send(.message("here"))
        #expect(all[0].lines() == ["@3 message bob: here"])
    }

    @Test func aNewRunTellsOnlineIfOfflineWasTold() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 2_000)
        all[1].connect()
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice", "@4 playerOnline bob, owner alice"])
        #expect(all[1].lines() == ["#1 connected, restarted at 4: alice* bob"])
    }

    @Test func aNewRunEndsTheWaitingMatch() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.send(.match(2, timeoutMs: 60_000))
        alice.connect()
        alice.forget()
        let bob = world.client("bob").connect()
        bob.send(.match(2, timeoutMs: 1_000))
        world.advance(ms: 1_000)
        #expect(bob.lines() == ["#1 connected", "#2 error 34"])
        #expect(alice.lines() == [])
        #expect(alice.refusal(.create()) == 0)
    }

    @Test func nobodyIsToldOfADropWithinTwoSeconds() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 1_999)
        all[1].resume()
        world.advance(ms: 10_000)
        #expect(all[0].lines() == [])
        #expect(all[1].lines() == ["#3 resumed, on at 2: alice* bob"])
    }

    @Test func offlineAfterTwoSecondsOnlineAtTheResumeGoneAfterTheWindow() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        world.advance(ms: 2_000)
        #expect(all[0].lines() == ["@3 playerOffline bob, owner alice"])
        all[1].resume()
        #expect(all[0].lines() == ["@4 playerOnline bob, owner alice"])
        #expect(all[1].lines() == ["#3 resumed, on at 4: alice* bob"])
        all[1].drop()
        world.advance(ms: 59_999)
        #expect(all[0].lines() == ["@5 playerOffline bob, owner alice"])
        world.advance(ms: 1)
        #expect(all[0].lines() == ["@6 playerLeft bob, owner alice"])
        all[1].resume()
        #expect(all[1].lines() == ["#4 error 39"])
    }

    @Test func eachDropHasItsOwnTwoSeconds() {
        let world = World()
        let all = world.seated("alice", "bob")
        for _ in 0..<3 {
            all[1].drop()
            world.advance(ms: 1_500)
            all[1].resume()
            world.advance(ms: 100)
        }
        #expect(all[0].lines() == [])
    }

    @Test func theResumeTokenIsTheSameForTheWholeRun() {
        let world = World()
        let alice = world.client("alice").connect()
        let token = alice.resumeToken
        for _ in 0..<3 {
            alice.drop()
            alice.resume()
            #expect(alice.resumeToken == token)
        }
    }

    @Test func aResumeTakesAHalfOpenLinkOverInSilence() throws {
        let world = World()
        let all = world.seated("alice", "bob")
        let old = try #require(all[1].halfOpen())
        all[1].gateway += 1
        all[1].resume()
        #expect(!world.isOpen(old))
        world.socketEnded(old)
        world.advance(ms: 5_000)
        #expect(all[0].lines() == [])
        #expect(all[1].lines() == ["#3 resumed, on at 2: alice* bob"])
    }

    @Test func theLateEndOfAnOldLinkChangesNothing() throws {
        let world = World()
        let all = world.seated("alice", "bob")
        let old = try #require(all[1].halfOpen())
        world.hold { $0.from == .gateway(Int(old.gateway.loop)) }
        world.socketEnded(old)
        all[1].gateway = (Int(old.gateway.loop) + 1) % World.gateways
        all[1].resume()
        world.release()
        world.advance(ms: 5_000)
        #expect(all[0].lines() == [])
        #expect(all[1].lines() == ["#3 resumed, on at 2: alice* bob"])
    }

    @Test func aDeadResumeFallsBackToTheToken() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.send(.bye)
        alice.forget()
        alice.resume(token: alice.token)
        #expect(alice.lines() == ["#3 connected"])
    }

    @Test func aDeadResumeWithoutATokenLeavesTheLinkOpen() {
        let world = World()
        let alice = world.client("alice").connect()
        let second = world.client("alice").connect()
        second.send(.create())
        alice.forget()
        second.forget()
        alice.resume()
        #expect(alice.lines() == ["#2 error 39"])
        #expect(alice.link != nil)
        // Nothing changed for the seat's real holder.
        world.advance(ms: 3_000)
        #expect(second.lines() == [])
        alice.send(.connect(Connect(token: alice.token)))
        #expect(alice.lines() == ["#3 connected, restarted at 1: alice*"])
        #expect(second.lines() == ["disconnected 5"])
    }

    @Test(arguments: ["", "x", "..", "61636d65.616c696365.wrong", "zz.zz.zz", "61636d65.616c696365"])
    func aResumeTokenThatIsNoneOfOursIsDead(token: String) {
        let world = World()
        let alice = world.client("alice").connect()
        let thief = world.client("mallory")
        thief.open()
        thief.send(.connect(Connect(resume: Resume(resumeToken: token))))
        #expect(thief.lines().first == (token.isEmpty ? "#1 error 12" : "#1 error 39"))
        world.advance(ms: 3_000)
        #expect(alice.lines() == ["#1 connected"])
    }

    @Test func besideALiveResumeOnlyTheTokensPlayerCounts() {
        let world = World()
        let alice = world.client("alice").connect()
        alice.drop()
        alice.forget()
        alice.resume(token: "expired:acme/alice")
        #expect(alice.lines() == ["#2 resumed"])
        alice.resume(token: "acme/bob")
        #expect(alice.lines() == ["#3 error 12", "disconnected 12"])
        // The half-open link goes on.
        alice.resume()
        #expect(alice.lines() == ["#4 resumed"])
    }

    @Test func nothingIsKeptOfPlayersWhoAreGone() {
        let world = World()
        let all = world.seated("alice", "bob")
        for one in all { one.drop() }
        world.advance(ms: 61_000)
        #expect(world.counts() == (0, 0))
    }
}

/// rooms.md: a seat that ended while its player was dropped.
@Suite struct EndedSeatTests {
    @Test(arguments: ["kick", "dismiss"])
    func theOneEventThatEndedItIsTold(how: String) {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        all[0].send(.message("missed"))
        all[0].send(how == "kick" ? .kick("bob") : .dismiss)
        all[1].resume()
        let event = how == "kick" ? "playerKicked bob, owner alice" : "roomDismissed 0"
        #expect(all[1].lines() == ["#3 resumed", event])
        all[1].send(.create())
        #expect(all[1].lines() == ["#4 roomJoined at 1: bob*"])
    }

    @Test func aSpectatorHearsThatTheRoomIsGone() {
        let world = World()
        let all = world.seated("alice") { $0.maxSpectatorCount = 1 }
        let eve = world.client("eve").connect()
        eve.send(.join(all[0].roomID, spectating: true))
        eve.drop()
        eve.forget()
        all[0].send(.leave)
        eve.resume()
        #expect(eve.lines() == ["#3 resumed", "roomDismissed 1"])
    }

    @Test func aFreshConnectHearsNothingOfASeatThatIsGone() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].drop()
        all[0].send(.kick("bob"))
        all[1].connect()
        #expect(all[1].lines() == ["#1 connected"])
        all[1].drop()
        all[1].resume()
        #expect(all[1].lines() == ["#2 resumed"])
    }

    @Test func whatWasHeardIsNotToldAgain() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[0].send(.kick("bob"))
        #expect(all[1].lines() == ["@3 playerKicked bob, owner alice"])
        all[1].drop()
        all[1].resume()
        #expect(all[1].lines() == ["#3 resumed"])
    }

    @Test func whatWasSentToAHalfOpenLinkIsToldAtTheResume() {
        let world = World()
        let all = world.seated("alice", "bob")
        all[1].halfOpen()
        all[0].send(.kick("bob"))
        all[1].resume()
        #expect(all[1].lines() == ["#3 resumed", "playerKicked bob, owner alice"])
    }
}
