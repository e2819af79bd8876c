import Testing

@Suite struct ConnectTests {
    @Test func probe() throws {
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
            """)
    }
}
