import HoldfastClient
import Testing

/// Request ids, sending again, outcomes, and the room that they change.
@Suite struct RequestTests {
    static let opening = """
        app connect
          fetch token
        token T1
          open L1 to 0
        link up
          send L1 #2 connect token=T1
        srv connected
          done #1 connected
          tell connected

        """

    @Test func triesAgainWithTheSameIdWhenAsked() throws {
        try Dialogue.check(
            Self.opening + """
                app create duel
                  send L1 #3 createRoom
                srv #3 error 1 retry=500
                app list
                  send L1 #4 getRoomList
                wait 499
                srv #4 list
                  done #4 roomList
                wait 1
                  at 500
                  send L1 #3 createRoom
                srv #3 error 1 retry=500
                // The link breaks before it is time; afterwards the server's wish is still kept.
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 500
                  open L2 to 0
                link up
                  send L2 #5 connect resume=R1
                srv connected resumed
                  tell reconnected
                wait 500
                  at 1000
                  send L2 #3 createRoom
                srv #3 error 1
                  done #3 serverError
                """)
    }

    @Test func joinDoneWhileTheLinkWasBroken() throws {
        try Dialogue.check(
            Self.opening + """
                app join r1
                  send L1 #3 joinRoom
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #4 connect resume=R1
                srv connected resumed restarted room=r1:b,me seq=7 fs=1/2
                  tell reconnected in r1
                  tell started 1
                  send L2 #3 joinRoom
                srv frames 1..2 kept=1 fsid=1
                  tell frame 1 (past)
                  tell frame 2 (past)
                srv #3 joined room=r1:b,me,c seq=9 fs=1/2
                  done #3 joined r1
                  tell joined r1
                // Both were on their way when the answer was built anew: told once, counted once.
                srv [8] entered c
                  tell entered c
                srv [9] said c hi
                  tell said c hi
                srv [9] said c hi
                room
                  r1: b me c owner=b status=0
                """)
    }

    @Test func leaveDoneWhileTheLinkWasBroken() throws {
        try Dialogue.check(
            Self.opening + """
                app join r1
                  send L1 #3 joinRoom
                srv #3 joined room=r1 seq=2
                  done #3 joined r1
                  tell joined r1
                app leave
                  send L1 #4 leaveRoom
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #5 connect resume=R1 room=r1@2
                srv connected resumed
                  tell reconnected
                  send L2 #4 leaveRoom
                srv #4 ok
                  done #4 ok
                  tell left r1
                """)
    }

    @Test func kickedWhileTheLinkWasBroken() throws {
        try Dialogue.check(
            Self.opening + """
                app join r1
                  send L1 #3 joinRoom
                srv #3 joined room=r1:b,me seq=2
                  done #3 joined r1
                  tell joined r1
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #4 connect resume=R1 room=r1@2
                srv connected resumed
                  tell reconnected
                srv kicked me
                  tell kicked me
                room
                  none
                srv [9] said b who
                """)
    }

    @Test func calledTooOften() throws {
        try Dialogue.check(
            Self.opening + """
                app say a
                  send L1 #3 say a
                app say b
                  send L1 #4 say b
                app say c
                  done #5 rateLimited
                srv #3 ok
                  done #3 ok
                app say d
                  send L1 #6 say d
                """
        ) { $0.pendingCalls = 2 }
    }

    @Test func answerNeverComes() throws {
        try Dialogue.check(
            Self.opening + """
                app join r1
                  send L1 #3 joinRoom
                wait 999
                srv [1] said b x
                wait 1
                  at 1000
                  done #3 networkError
                // It is done after all, and so the player is in the room.
                srv #3 joined room=r1 seq=4
                  tell joined r1
                app match 3000
                  send L1 #4 matchRoom
                wait 3999
                wait 1
                  at 5000
                  done #4 networkError
                """
        ) { $0.callTimeoutMs = 1000 }
    }

    @Test func roomIsMirrored() throws {
        try Dialogue.check(
            Self.opening + """
                app join r1
                  send L1 #3 joinRoom
                srv #3 joined room=r1:b,me seq=2
                  done #3 joined r1
                  tell joined r1
                srv [3] entered c
                  tell entered c
                srv [4] status c 5
                  tell playerCustomStatusChanged
                srv [5] properties me red
                  tell playerCustomPropertiesChanged
                srv [6] renamed arena
                  tell roomPropertiesChanged
                srv [7] offline b owner=me
                  tell playerOffline
                room
                  r1: b- me/red c/5 owner=me status=0 name=arena
                srv [8] online b
                  tell playerOnline
                srv [9] owner c
                  tell roomOwnerChanged
                srv [10] started 1
                  tell started 1
                room
                  r1: b me/red c/5 owner=c status=1 name=arena
                srv [11] stopped 1 0
                  tell stopped 1 reason=0
                srv [12] kicked b
                  tell kicked b
                srv [13] left c owner=me
                  tell playerLeft c
                room
                  r1: me/red owner=me status=0 name=arena
                srv [14] dismissed 0
                  tell roomDismissed
                room
                  none
                app join r2
                  send L1 #4 joinRoom
                srv #4 joined room=r2 seq=5
                  done #4 joined r2
                  tell joined r2
                srv serviceError 1
                  tell serviceError
                room
                  none
                """)
    }

    @Test func repeatedEventsAreToldOnce() throws {
        try Dialogue.check(
            Self.opening + """
                app join r1
                  send L1 #3 joinRoom
                srv #3 joined room=r1:b,me seq=2
                  done #3 joined r1
                  tell joined r1
                srv [4] said b one
                  tell said b one
                srv [4] said b one
                srv [2] said b zero
                srv [7] said b two
                  tell said b two
                """)
    }
}
