import HoldfastClient
import Testing

/// Frames without a gap, inputs taken once.
@Suite struct FrameTests {
    /// In room r1, frame sync 1 just started, position 5.
    static let opening =
        RequestTests.opening + """
            app join r1
              send L1 #3 joinRoom
            srv #3 joined room=r1:b,me seq=4
              done #3 joined r1
              tell joined r1
            srv [5] started 1
              tell started 1

            """

    @Test func resumesByFrame() throws {
        try Dialogue.check(
            Self.opening + """
                srv [6] frame 1
                  tell frame 1
                srv [7] frame 2
                  tell frame 2
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #4 connect resume=R1 room=r1@7 fs=1@2
                srv connected resumed room=r1:b,me,c seq=12 fs=1/5
                  tell reconnected in r1
                // A batch, an event at its place, the seam to the live frames, one of which was in the batch already.
                srv [9] frames 3..4 kept=1 fsid=1
                  tell frame 3 (past)
                  tell frame 4 (past)
                srv [10] entered c
                  tell entered c
                srv [12] frames 5..5 kept=1 fsid=1
                  tell frame 5 (past)
                srv [12] frame 5
                srv [13] frame 6
                  tell frame 6
                """)
    }

    @Test func joinsLate() throws {
        try Dialogue.check(
            RequestTests.opening + """
                app join r1
                  send L1 #3 joinRoom
                srv #3 joined room=r1:b,me seq=40 fs=2/30 snap=20
                  done #3 joined r1
                  tell joined r1
                  tell started 2 snapshot=20
                srv frames 21..28 kept=1 fsid=2
                  tell frame 21 (past)
                  tell frame 22 (past)
                  tell frame 23 (past)
                  tell frame 24 (past)
                  tell frame 25 (past)
                  tell frame 26 (past)
                  tell frame 27 (past)
                  tell frame 28 (past)
                // The link breaks in the middle of it.
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #4 connect resume=R1 room=r1@40 fs=2@28
                srv connected resumed room=r1:b,me seq=42 fs=2/31
                  tell reconnected in r1
                srv [41] frames 29..31 kept=1 fsid=2
                  tell frame 29 (past)
                  tell frame 30 (past)
                  tell frame 31 (past)
                srv [42] said b hi
                  tell said b hi
                srv [43] frame 32
                  tell frame 32
                """)
    }

    @Test func oldFramesAreNotKept() throws {
        try Dialogue.check(
            RequestTests.opening + """
                app join r1
                  send L1 #3 joinRoom
                srv #3 joined room=r1:b,me seq=40 fs=2/30
                  done #3 joined r1
                  tell joined r1
                  tell started 2
                srv frames 29..30 kept=29 fsid=2
                  tell skipped 1..28
                  tell frame 29 (past)
                  tell frame 30 (past)
                """)
    }

    @Test func holeIsFilledWhileTheRestWaits() throws {
        try Dialogue.check(
            Self.opening + """
                srv [6] frame 1
                  tell frame 1
                srv [9] frame 4
                  send L1 #4 getFrames 2..3 fs=1
                srv [10] said b after4
                srv [11] frame 5
                srv #4 error 3 retry=100
                wait 100
                  at 100
                  send L1 #4 getFrames 2..3 fs=1
                srv #4 frames 2..2 kept=1 fsid=1 partial
                  tell frame 2 (past)
                  send L1 #5 getFrames 3..3 fs=1
                srv #5 frames 3..3 kept=1 fsid=1
                  tell frame 3 (past)
                  tell frame 4
                  tell said b after4
                  tell frame 5
                srv [12] frame 6
                  tell frame 6
                """)
    }

    @Test func holeThatGetFramesCannotFillIsResumedThenSkipped() throws {
        try Dialogue.check(
            Self.opening + """
                srv [6] frame 1
                  tell frame 1
                srv [9] frame 4
                  send L1 #4 getFrames 2..3 fs=1
                srv [10] said b after4
                srv #4 error 33
                  close L1
                  tell reconnecting (framesNotKept)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #5 connect resume=R1 room=r1@6 fs=1@1
                srv connected resumed room=r1:b,me seq=10 fs=1/4
                  tell reconnected in r1
                srv [9] frames 4..4 kept=2 fsid=1
                  tell skipped 2..3
                  tell frame 4 (past)
                srv [10] said b after4
                  tell said b after4
                """)
    }

    @Test func tooMuchWaitsBehindAHole() throws {
        try Dialogue.check(
            Self.opening + """
                srv [8] frame 3
                  send L1 #4 getFrames 1..2 fs=1
                srv [9] frame 4
                srv [10] frame 5
                  close L1
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #5 connect resume=R1 room=r1@5 fs=1@0
                srv connected resumed room=r1:b,me seq=10 fs=1/5
                  tell reconnected in r1
                srv [10] frames 1..5 kept=1 fsid=1
                  tell frame 1 (past)
                  tell frame 2 (past)
                  tell frame 3 (past)
                  tell frame 4 (past)
                  tell frame 5 (past)
                """
        ) { $0.heldMessages = 2 }
    }

    @Test func frameSyncEndedAndAnotherBeganMeanwhile() throws {
        try Dialogue.check(
            Self.opening + """
                srv [6] frame 1
                  tell frame 1
                app input x
                  done #4 ok
                  send L1 #4 input x fs=1
                link down
                  tell reconnecting (networkError)
                app input y
                  done #5 ok
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #6 connect resume=R1 room=r1@6 fs=1@1
                srv connected resumed room=r1:b,me seq=10 fs=2/1
                  tell reconnected in r1
                srv [7] frames 2..2 me#4 kept=1 fsid=1
                  tell frame 2 (past)
                srv [8] stopped 1 0
                  tell failed #5 frameSyncNotRunning
                  tell stopped 1 reason=0
                srv [9] started 2
                  tell started 2
                app input z
                  done #7 ok
                  send L2 #7 input z fs=2
                srv [10] frames 1..1 kept=1 fsid=2
                  tell frame 1 (past)
                """)
    }

    @Test func frameSyncEndedWhereNoEventTells() throws {
        try Dialogue.check(
            Self.opening + """
                srv [6] frame 1
                  tell frame 1
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #4 connect resume=R1 room=r1@6 fs=1@1
                srv connected resumed restarted room=r1:b,me seq=9000 fs=3/10 snap=8
                  tell reconnected in r1
                  tell stopped 1 reason=-1
                  tell started 3 snapshot=8
                srv frames 9..10 kept=1 fsid=3
                  tell frame 9 (past)
                  tell frame 10 (past)
                srv [9001] frame 11
                  tell frame 11
                """)
    }

    @Test func newRunBeginsAtASnapshot() throws {
        try Dialogue.check(
            Self.opening + """
                srv [6] frame 1
                  tell frame 1
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #4 connect resume=R1 room=r1@6 fs=1@1
                srv #4 error 39
                  fetch token
                token T2
                  send L2 #5 connect token=T2
                srv connected run=R2 restarted room=r1:b,me seq=30 fs=1/20 snap=18
                  tell connected in r1
                  tell skipped 2..18 snapshot=18
                srv frames 19..20 kept=1 fsid=1
                  tell frame 19 (past)
                  tell frame 20 (past)
                """)
    }

    @Test func inputsAreTakenOnce() throws {
        try Dialogue.check(
            Self.opening + """
                app input a
                  done #4 ok
                  send L1 #4 input a fs=1
                app input b
                  done #5 ok
                  send L1 #5 input b fs=1
                app input c
                  done #6 ok
                  send L1 #6 input c fs=1
                srv [6] frame 1 b#4 me#4
                  tell frame 1
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #7 connect resume=R1 room=r1@6 fs=1@1
                // Frame 2, which is still to come, shows one of the two; only the other is sent again.
                srv connected resumed room=r1:b,me seq=7 fs=1/2
                  tell reconnected in r1
                srv [7] frames 2..2 me#5 kept=1 fsid=1
                  tell frame 2 (past)
                  send L2 #6 input c fs=1
                app input d
                  done #8 ok
                  send L2 #8 input d fs=1
                srv [8] frame 3 me#6 me#8
                  tell frame 3
                link down
                  tell reconnecting (networkError)
                wait 400
                  at 115
                  open L3 to 0
                link up
                  send L3 #9 connect resume=R1 room=r1@8 fs=1@3
                srv connected resumed room=r1:b,me seq=8 fs=1/3
                  tell reconnected in r1
                """)
    }

    @Test func manyInputsGoAgainAtThePaceOfTheFrames() throws {
        try Dialogue.check(
            Self.opening + """
                srv [6] frame 1
                  tell frame 1
                link down
                  tell reconnecting (networkError)
                app input a
                  done #4 ok
                app input b
                  done #5 ok
                app input c
                  done #6 ok
                app input d
                  done #7 ok
                  tell failed #7 tooManyFrameInputs
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #8 connect resume=R1 room=r1@6 fs=1@1
                srv connected resumed room=r1:b,me seq=6 fs=1/1
                  tell reconnected in r1
                  send L2 #4 input a fs=1
                  send L2 #5 input b fs=1
                srv [7] frame 2 me#4 me#5
                  tell frame 2
                  send L2 #6 input c fs=1
                app input e
                  done #9 ok
                  send L2 #9 input e fs=1
                """
        ) {
            $0.pendingInputs = 3
            $0.inputsPerFrame = 2
        }
    }

    @Test func refusedInputsAreTold() throws {
        try Dialogue.check(
            Self.opening + """
                app input a
                  done #4 ok
                  send L1 #4 input a fs=1
                app input b
                  done #5 ok
                  send L1 #5 input b fs=1
                srv #5 error 29
                  tell failed #5 tooManyFrameInputs
                app hash 7
                  done #6 ok
                  send L1 #6 hash 7 fs=1
                srv #6 error 11
                  tell failed #6 invalidRequest
                // Not now, says the server: the rest goes again, in the old order.
                app input c
                  done #7 ok
                  send L1 #7 input c fs=1
                srv #4 error 1 retry=300
                app input d
                  done #8 ok
                wait 300
                  at 300
                  send L1 #4 input a fs=1
                  send L1 #7 input c fs=1
                  send L1 #8 input d fs=1
                srv [6] frame 1 me#4 me#7 me#8
                  tell frame 1
                """)
    }

    @Test func refusalLostWithTheLinkIsTold() throws {
        try Dialogue.check(
            Self.opening + """
                app input a
                  done #4 ok
                  send L1 #4 input a fs=1
                app input b
                  done #5 ok
                  send L1 #5 input b fs=1
                link down
                  tell reconnecting (networkError)
                wait 0
                  at 0
                  open L2 to 0
                link up
                  send L2 #6 connect resume=R1 room=r1@5 fs=1@0
                srv connected resumed room=r1:b,me seq=6 fs=1/1
                  tell reconnected in r1
                srv [6] frames 1..1 me#5 kept=1 fsid=1
                  tell frame 1 (past)
                  tell failed #4 networkError
                """)
    }

    @Test func inputsOfAnotherRunAreNotOurs() throws {
        // Another process of this player sent inputs with the ids 3 and 4 before.
        try Dialogue.check(
            """
            app connect
              fetch token
            token T1
              open L1 to 0
            link up
              send L1 #2 connect token=T1
            srv connected restarted room=r1:b,me seq=9 fs=1/2
              done #1 connected
              tell connected in r1
              tell started 1
            app input a
              done #3 ok
            srv frames 1..2 me#3 kept=1 fsid=1
              tell frame 1 (past)
              tell frame 2 (past)
              send L1 #3 input a fs=1
            srv [10] frame 3 me#3
              tell frame 3
            """)
    }

    @Test func inputWithoutFrameSyncIsRefusedHere() throws {
        try Dialogue.check(
            RequestTests.opening + """
                app input a
                  done #3 ok
                  tell failed #3 frameSyncNotRunning
                """)
    }
}
