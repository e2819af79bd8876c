import Testing

@testable import HoldfastNode

/// "Replies and what is read from the log follow the socket's pace and do not count."
@Suite struct LiveQueueTests {
    @Test func whatIsLiveCounts() {
        var queue = LiveQueue()
        queue.add(100, isLive: true, queued: 0)
        queue.add(50, isLive: true, queued: 100)
        #expect(queue.liveBytes(queued: 150) == 150)
        #expect(queue.liveBytes(queued: 20) == 20)
    }

    @Test func repliesDoNotCount() {
        var queue = LiveQueue()
        queue.add(1000, isLive: false, queued: 0)
        queue.add(10, isLive: true, queued: 1000)
        #expect(queue.liveBytes(queued: 1010) == 10)
        #expect(queue.otherBytes(queued: 1010) == 1000)
    }

    @Test func whatHasLeftDoesNotCount() {
        var queue = LiveQueue()
        queue.add(100, isLive: true, queued: 0)
        queue.add(1000, isLive: false, queued: 100)
        queue.add(10, isLive: true, queued: 1100)
        // The live 100 and half of the reply have left.
        #expect(queue.otherBytes(queued: 510) == 500)
        #expect(queue.liveBytes(queued: 510) == 10)
        #expect(queue.liveBytes(queued: 5) == 5)
        #expect(queue.otherBytes(queued: 5) == 0)
    }

    @Test func repliesInARowAreOnePiece() {
        var queue = LiveQueue()
        for i in 0..<1000 { queue.add(10, isLive: false, queued: i * 10) }
        #expect(queue.otherBytes(queued: 10_000) == 10_000)
        #expect(queue.liveBytes(queued: 10_000) == 0)
    }
}
