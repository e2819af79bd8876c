import HoldfastNode
import HoldfastProtocol
import Testing

@testable import holdfast

@Suite struct HistogramTests {
    @Test func smallNumbersAreExact() {
        var histogram = Histogram()
        for value in 1...50 { histogram.add(Int64(value)) }
        #expect(histogram.quantile(0.5) == 25)
        #expect(histogram.quantile(0.99) == 50)
        #expect(histogram.quantile(1) == 50)
        #expect(histogram.largest == 50)
    }

    @Test(arguments: [64, 65, 1_000, 50_000, 123_456_789, Int64.max])
    func largeOnesAreNear(value: Int64) {
        var histogram = Histogram()
        histogram.add(value - 1)
        histogram.add(value)
        histogram.add(Int64.max)
        let median = histogram.quantile(0.5)
        #expect(median >= value - 1)
        #expect(Double(median) <= Double(value) * (1 + 1.0 / 32))
    }

    @Test func emptyAndNegative() {
        var histogram = Histogram()
        #expect(histogram.quantile(0.5) == 0)
        histogram.add(-5)
        #expect(histogram.quantile(0.5) == 0 && histogram.count == 1)
    }

    @Test func merging() {
        var one = Histogram()
        var other = Histogram()
        for _ in 0..<99 { one.add(10) }
        other.add(5_000)
        one.merge(other)
        #expect(one.count == 100 && one.largest == 5_000)
        #expect(one.quantile(0.99) == 10 && one.quantile(1) == 5_000)
    }
}

@Suite struct ContentTests {
    @Test func messagesAreReadBack() throws {
        let text = Content.message(of: 7, number: 12, sentUs: 99, bytes: 64)
        #expect(text.utf8.count == 64)
        let read = try #require(Content.read(message: text, of: 7, bytes: 64))
        #expect(read.number == 12 && read.sentUs == 99)
        #expect(Content.read(message: text, of: 8, bytes: 64) == nil, "of another sender")
        #expect(Content.read(message: text, of: 7, bytes: 63) == nil, "of another length")
        #expect(Content.read(message: String(text.dropLast()) + "y", of: 7, bytes: 64) == nil, "changed")
        #expect(Content.read(message: "", of: 7, bytes: 0) == nil)
    }

    @Test func inputsHaveTheirSizeAndDiffer() {
        for bytes in [0, 1, 7, 8, 32, 1024] {
            #expect(Content.input(of: 1, number: 1, bytes: bytes).count == bytes)
        }
        #expect(Content.input(of: 1, number: 1, bytes: 32) != Content.input(of: 1, number: 2, bytes: 32))
        #expect(Content.input(of: 1, number: 1, bytes: 32) != Content.input(of: 2, number: 1, bytes: 32))
    }

    @Test func everyFieldOfAFrameCounts() {
        let input = FrameInput(playerId: "a", payload: .dataBytes([1, 2]), serverTime: 5, id: 3)
        let frame = Frame(id: 4, inputs: [input], changes: [SeatChange(playerId: "b", kind: 2)])
        var others: [Frame] = []
        func change(_ change: (inout Frame) -> Void) {
            var other = frame
            change(&other)
            others.append(other)
        }
        change { $0.id = 5 }
        change { $0.inputs[0].playerId = "c" }
        change { $0.inputs[0].payload = .dataBytes([1, 3]) }
        change { $0.inputs[0].payload = .dataBytes([1, 2, 0]) }
        change { $0.inputs[0].payload = .data("\u{1}\u{2}") }
        change { $0.inputs[0].serverTime = 6 }
        change { $0.inputs[0].id = 4 }
        change { $0.inputs.append(input) }
        change { $0.inputs = [] }
        change { $0.changes[0].kind = 3 }
        change { $0.changes[0].playerId = "a" }
        change { $0.changes = [] }
        let hashes = Set((others + [frame]).map { ContentHash.of($0) })
        #expect(hashes.count == others.count + 1)
        #expect(ContentHash.of(frame) == ContentHash.of(frame))
    }
}

@Suite struct FaultLogTests {
    @Test func linesAreBoundedAndCountsAreNot() {
        var log = FaultLog()
        for _ in 0..<1000 { log.add(.frameGap, "a", "x") }
        log.add(.runLost, "b", "y")
        #expect(log.total == 1001 && log.counts[.frameGap] == 1000)
        let lines = log.takeLines()
        #expect(lines.count == 9 && lines.last == "runLost b: y")
        #expect(log.takeLines() == [])
        for fault in Fault.allCases { for _ in 0..<8 { log.add(fault, "a", "x") } }
        #expect(lines.count + log.takeLines().count == FaultLog.linesKept)
    }
}

@Suite struct BotsCommandTests {
    func plan(_ words: String...) throws -> BotsPlan {
        try BotsCommand.plan(try Arguments(words, options: BotsCommand.subcommand.options))
    }

    @Test func theAcceptanceRun() throws {
        let plan = try plan("--rooms", "100", "--players", "4", "--frame-rate", "20", "--seconds", "60", "--drop", "5%")
        #expect(plan.connections == 400 && plan.drop == 0.05 && plan.secret == ServerConfig.devProject.secrets.first)
        #expect(plan.urls == ["ws://127.0.0.1:7350/v1/connect"])
    }

    @Test func severalAddresses() throws {
        #expect(try plan("--url", "ws://a/v1/connect,wss://b/v1/connect").urls.count == 2)
    }

    @Test(
        arguments: [
            ["--rooms", "0"], ["--url", "http://a"], ["--project", "acme"], ["--encoding", "xml"],
            ["--players", "21"], ["--drop", "101%"], ["--message-bytes", "39"], ["--seconds", "0"],
            ["--rooms", "100000", "--players", "20"],
        ])
    func wrongOnes(words: [String]) throws {
        let arguments = try Arguments(words, options: BotsCommand.subcommand.options)
        #expect(throws: UsageError.self) { try BotsCommand.plan(arguments) }
    }
}
