import HoldfastClient
import Testing

/// Connecting and coming back: runs, resume, endpoints, the end.
@Suite struct ConnectTests {
    @Test func connectsCallsAndLeaves() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected
              done #1 connected
              tell connected
            app create duel
              send L1 #3 createRoom
            srv #3 joined room=r1 seq=1
              done #3 joined r1
              tell joined r1
            app leave
              send L1 #4 leaveRoom
            srv #4 ok
              done #4 ok
              tell left r1
            app disconnect
              send L1 #5 disconnect
            srv #5 ok
            srv disconnected 0
              close L1
              done #5 ok
              tell disconnected (success)
            app create duel
              done #6 notConnected
            """)
    }

    @Test func resumesWithRequestsInFlight() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected room=r1:me,b seq=10
              done #1 connected
              tell connected in r1
            app say hi
              send L1 #3 say hi
            app say ho
              send L1 #4 say ho
            srv [12] said b yes
              tell said b yes
            srv #3 ok
              done #3 ok
            link down
              tell reconnecting (networkError)
            app say later
            wait 0
              at 0
              open L2 to 0
            link up
              send L2 #6 connect resume=R1 room=r1@12
            srv connected resumed room=r1:me,b,c seq=15
              tell reconnected in r1
              send L2 #4 say ho
              send L2 #5 say later
            // The missed events come, but the room of `connected` counts them already.
            srv [13] entered c
              tell entered c
            room
              r1: me b c owner=me status=0
            srv [15] said c hello
              tell said c hello
            srv #4 ok
              done #4 ok
            srv #5 error 3 retry=70
              done #5 rateLimited retry=70
            srv [16] left c
              tell playerLeft c
            room
              r1: me b owner=me status=0
            """)
    }

    @Test func dropsTwiceInARow() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected room=r1:me seq=1
              done #1 connected
              tell connected in r1
            app join r2
              send L1 #3 joinRoom
            link down
              tell reconnecting (networkError)
            wait 0
              at 0
              open L2 to 0
            link up
              send L2 #4 connect resume=R1 room=r1@1
            link down
            wait 200
              at 115
              open L3 to 0
            link up
              send L3 #5 connect resume=R1 room=r1@1
            srv connected resumed room=r1:me seq=1
              tell reconnected in r1
              send L3 #3 joinRoom
            link down
              tell reconnecting (networkError)
            wait 400
              at 407
              open L4 to 0
            link up
              send L4 #6 connect resume=R1 room=r1@1
            srv connected resumed room=r1:me seq=1
              tell reconnected in r1
              send L4 #3 joinRoom
            srv #3 error 21
              done #3 alreadyInRoom
            """)
    }

    @Test func halfOpenLinkSaysNothingMore() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected room=r1:me,b seq=1
              done #1 connected
              tell connected in r1
            app say hi
              send L1 #3 say hi
            wait 9999
              at 7500
              send L1 #4 ping
            wait 1
              at 10000
              close L1
              tell reconnecting (networkError)
              at 10000
              open L2 to 0
            late [2] said b old
            late #3 ok
            link up
              send L2 #5 connect resume=R1 room=r1@1
            late [2] said b old
            srv connected resumed room=r1:me,b seq=2
              tell reconnected in r1
              send L2 #3 say hi
            srv [2] said b old
              tell said b old
            srv #3 ok
              done #3 ok
            """)
    }

    @Test func pingsOfTheServerAreSigns() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected
              done #1 connected
              tell connected
            wait 5000
            link ping
            wait 5000
            link ping
            wait 7499
            wait 1
              at 17500
              send L1 #3 ping
            srv #3 pong
            wait 7499
            wait 1
              at 25000
              send L1 #4 ping
            wait 2499
            srv #4 pong
            wait 2499
            """)
    }

    @Test func deadResumeFallsBackToTheToken() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected room=r1:me,b seq=4 fs=1/0
              done #1 connected
              tell connected in r1
              tell started 1
            app input a
              done #3 ok
              send L1 #3 input a fs=1
            app say hi
              send L1 #4 say hi
            link down
              tell reconnecting (networkError)
            app say late
            wait 0
              at 0
              open L2 to 0
            link up
              send L2 #6 connect resume=R1 room=r1@4 fs=1@0
            srv #6 error 39
              fetch token
            token T2
              send L2 #7 connect token=T2
            // Nobody knows what became of what was sent; what was not sent is sent now.
            srv connected run=R2 restarted room=r1:me,b seq=90 fs=1/3
              done #4 networkError
              tell failed #3 networkError
              tell connected in r1
              send L2 #5 say late
            srv [90] said b old
            srv frames 1..3 me#3
              tell frame 1 (past)
              tell frame 2 (past)
              tell frame 3 (past)
            srv [92] frame 4
              tell frame 4
            """)
    }

    @Test func tokenMayTakeLongerThanTheServerWaits() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected room=r1 seq=1
              done #1 connected
              tell connected in r1
            link down
              tell reconnecting (networkError)
            wait 0
              at 0
              open L2 to 0
            link up
              send L2 #3 connect resume=R1 room=r1@1
            srv #3 error 39
              fetch token
            srv disconnected 13
              close L2
            token T2
              open L3 to 0
            link up
              send L3 #4 connect token=T2
            srv connected run=R2
              tell connected
              tell left r1
            """)
    }

    @Test func replacedMustNotComeBack() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected
              done #1 connected
              tell connected
            app list
              send L1 #3 getRoomList
            srv disconnected 5
              close L1
              done #3 networkError
              tell disconnected (replaced)
            wait 600000
            """)
    }

    @Test func slowConsumerResumes() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected room=r1 seq=1
              done #1 connected
              tell connected in r1
            srv disconnected 37 may
              close L1
              tell reconnecting (slowConsumer)
            wait 0
              at 0
              open L2 to 0
            link up
              send L2 #3 connect resume=R1 room=r1@1
            srv connected resumed room=r1 seq=1
              tell reconnected in r1
            """)
    }

    @Test func drainingGoesToTheNextAtOnceAndNotForEver() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected
              done #1 connected
              tell connected
            srv disconnected 38 may
              close L1
              tell reconnecting (draining)
              open L2 to 1
            link up
              send L2 #3 connect resume=R1
            srv #3 error 38
              close L2
              open L3 to 0
            link up
              send L3 #4 connect resume=R1
            srv disconnected 38 may
              close L3
            wait 0
              at 0
              open L4 to 1
            link up
              send L4 #5 connect resume=R1
            srv connected resumed
              tell reconnected
            """, endpoints: 2)
    }

    @Test func backsOffOverSeveralEndpoints() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link down
            wait 0
              at 0
              open L2 to 1
            link down
            wait 0
              at 0
              open L3 to 2
            link down
            wait 0
              at 0
              open L4 to 0
            // No answer at all: five seconds, then the next. The second round is slower, the third slower still.
            wait 5200
              at 5000
              close L4
              at 5115
              open L5 to 1
            link up
              send L5 #2 connect token=T1
            // An open link that answers nothing.
            wait 8200
              at 13200
              close L5
              at 13335
              fetch token
            token T2
              open L6 to 2
            link down
            wait 1000
              at 13559
              open L7 to 0
            """, endpoints: 3)
    }

    @Test func givesUpInTheEnd() throws {
        var dialogue = Dialogue(endpoints: 2, jitter: true)
        _ = try dialogue.run("app connect\ntoken T1")
        var text = ""
        for _ in 0..<100 where !dialogue.machine.isIdle { text += try dialogue.run("link down\nwait 1000") }
        #expect(text.contains("done #1 networkError"))
        #expect(dialogue.nowMs == 30_000)
    }

    @Test func refusedTokenEnds() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            app create duel
            token T1
              open L1 to 0
            link up
              send L1 #3 connect token=T1
            srv #3 error 12
              close L1
              done #1 invalidAuthorization
              done #2 networkError
            app connect
              fetch token
            token T2
              open L2 to 0
            """)
    }

    @Test func disconnectWithoutALinkEndsAtOnce() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            app connect
              done #2 alreadyConnected
            token T1
              open L1 to 0
            link up
              send L1 #3 connect token=T1
            srv connected
              done #1 connected
              tell connected
            link down
              tell reconnecting (networkError)
            app say hi
            app disconnect
              done #4 networkError
              tell disconnected (success)
              done #5 ok
            wait 60000
            """)
    }

    @Test func goodbyeIsNotAwaitedForEver() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected
              done #1 connected
              tell connected
            app disconnect
              send L1 #3 disconnect
            app disconnect
            app say hi
              done #5 notConnected
            wait 2000
              at 2000
              close L1
              done #3 ok
              done #4 ok
              tell disconnected (success)
            """)
    }

    @Test func sleepsInTheBackgroundAndComesBack() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected room=r1 seq=3
              done #1 connected
              tell connected in r1
            app sleep
              close L1
              tell reconnecting (networkError)
            wait 30000
            app wake
              open L2 to 0
            link up
              send L2 #3 connect resume=R1 room=r1@3
            srv connected resumed room=r1 seq=3
              tell reconnected in r1
            """)
    }

    @Test func garbageFromTheServerCostsTheLinkOnly() throws {
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected
              done #1 connected
              tell connected
            link garbage
              close L1
              tell reconnecting (networkError)
            wait 0
              at 0
              open L2 to 0
            """)
    }
}
