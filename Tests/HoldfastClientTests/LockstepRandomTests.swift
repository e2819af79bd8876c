import HoldfastClient
import Testing

@Suite struct LockstepRandomTests {
    @Test func drawsTheNumbersOfTheSpec() {
        var one = LockstepRandom(seed: 1)
        #expect((0..<4).map { _ in one.next() } == [135_184, 33_817_344, 1_323_717_730, 153_799_847])
        var minusOne = LockstepRandom(seed: -1)
        #expect((0..<3).map { _ in minusOne.next() } == [126_991, 2_114_191_103, 979_225_633])
    }

    @Test func zeroIsReplaced() {
        var zero = LockstepRandom(seed: 0)
        var replaced = LockstepRandom(seed: Int32(bitPattern: 0x9E37_79B9))
        #expect(zero.state == 0x9E37_79B9)
        #expect(zero.next() == replaced.next())
    }

    @Test func goesOnFromASavedState() {
        var random = LockstepRandom(seed: 42)
        for _ in 0..<10 { _ = random.next() }
        var again = LockstepRandom(state: random.state)
        #expect((0..<10).map { _ in random.next(below: 6) } == (0..<10).map { _ in again.next(below: 6) })
        #expect(again.next(below: 0) == 0)
    }
}
