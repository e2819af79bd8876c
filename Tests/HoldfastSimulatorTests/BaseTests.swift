import Testing

@testable import HoldfastSimulator

@Suite struct BaseTests {
    @Test func theAgendaIsInOrder() {
        var agenda = Agenda<Int>()
        var random = SimRandom(seed: 1)
        var expected: [(Int64, Int)] = []
        for i in 0..<2_000 {
            let atUs = Int64(random.below(300))
            agenda.add(i, atUs: atUs)
            expected.append((atUs, i))
        }
        expected.sort { $0.0 != $1.0 ? $0.0 < $1.0 : $0.1 < $1.1 }
        var taken: [(Int64, Int)] = []
        while let next = agenda.take() { taken.append((next.timeUs, next.event)) }
        #expect(taken.map(\.1) == expected.map(\.1))
        #expect(taken.map(\.0) == expected.map(\.0))
        #expect(agenda.count == 0)
    }

    @Test func theAgendaTakesMoreWhileItGivesOut() {
        var agenda = Agenda<Int>()
        agenda.add(1, atUs: 10)
        agenda.add(2, atUs: 20)
        var taken = [agenda.take()?.event]
        agenda.add(3, atUs: 15)
        agenda.add(4, atUs: 20)
        for _ in 0..<4 { taken.append(agenda.take()?.event) }
        #expect(taken == [1, 3, 2, 4, nil])
    }

    @Test func chanceIsWhatTheSeedSays() {
        var first = SimRandom(seed: 42)
        var second = SimRandom(seed: 42)
        var other = SimRandom(seed: 42, stream: 1)
        let numbers = (0..<100).map { _ in first.next() }
        #expect(numbers == (0..<100).map { _ in second.next() })
        #expect(numbers != (0..<100).map { _ in other.next() })
        // The same on every machine and in every build.
        #expect(numbers.first == SimRandom.first(seed: 42, stream: 0))
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<10_000 { counts[first.below(10)] += 1 }
        #expect(counts.allSatisfy { (800...1_200).contains($0) })
    }

    @Test(arguments: [-500, -200, 0, 1, 200, 500] as [Int64])
    func aClockFindsItsOwnTimes(ppm: Int64) {
        let clock = SimClock(nowUs: 5_000, bootUs: 7_200_000_123, driftPPM: ppm, wallMs: 1_700_000_000_000)
        for ms in stride(from: 7_200_001 as Int64, to: 7_300_000, by: 997) {
            let atUs = clock.timeUs(ofMs: ms)
            #expect(clock.monotonicMs(atUs: atUs) >= ms)
            #expect(clock.monotonicMs(atUs: atUs - 1) < ms)
        }
    }

    @Test func driftAndStepsTakeTheirEffect() {
        var clock = SimClock(nowUs: 0, bootUs: 1_000_000, driftPPM: 0, wallMs: 1_700_000_000_000)
        clock.setDrift(ppm: 1_000, nowUs: 1_000_000)
        #expect(clock.monotonicUs(atUs: 1_000_000) == 2_000_000)
        #expect(clock.monotonicUs(atUs: 2_000_000) == 3_001_000)
        let before = clock.wallMs(atUs: 2_000_000)
        clock.stepWall(byMs: -5_000)
        #expect(clock.wallMs(atUs: 2_000_000) == before - 5_000)
        #expect(clock.monotonicUs(atUs: 2_000_000) == 3_001_000)
    }
}
