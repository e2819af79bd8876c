import Testing

@testable import HoldfastNode

@Suite struct ArgumentsTests {
    static let options: [Arguments.Option] = [
        .value("port", "N", "the port"), .flag("dev", "the demo"), .value("drop", "SHARE", "drops"),
    ]

    func parse(_ words: String...) throws(UsageError) -> Arguments { try Arguments(words, options: Self.options) }

    func message(_ body: () throws(UsageError) -> Void) -> String {
        do throws(UsageError) { try body() } catch { return error.message }
        return "no error"
    }

    @Test func bothWaysToWriteAValue() throws {
        #expect(try parse("--port", "7", "--dev").int("port", in: 0...9) == 7)
        let joined = try parse("--dev", "--port=8=9")
        #expect(joined.flag("dev") && joined.string("port") == "8=9")
        #expect(try parse("--port=").string("port") == "")
        #expect(try parse().int("port", in: 0...9) == nil)
        #expect(try !parse().flag("dev"))
    }

    @Test func mistakesAreNamed() {
        #expect(message { () throws(UsageError) in _ = try parse("--prot", "1") } == "unknown option '--prot'")
        #expect(message { () throws(UsageError) in _ = try parse("x") } == "unexpected argument 'x'")
        #expect(message { () throws(UsageError) in _ = try parse("--") } == "unknown option '--'")
        #expect(message { () throws(UsageError) in _ = try parse("--port") }.hasPrefix("--port needs a value"))
        #expect(message { () throws(UsageError) in _ = try parse("--dev=1") } == "--dev takes no value")
        #expect(message { () throws(UsageError) in _ = try parse("--dev", "--dev") } == "--dev is given twice")
        #expect(
            message { () throws(UsageError) in _ = try parse("--port", "x").int("port", in: 0...9) }
                == "--port: a whole number from 0 to 9, got 'x'")
        #expect(
            message { () throws(UsageError) in _ = try parse("--port", "10").int("port", in: 0...9) }.contains("'10'"))
        #expect(message { () throws(UsageError) in _ = try parse().required("port") } == "--port is needed")
    }

    @Test func shares() throws {
        #expect(try parse("--drop", "5%").double("drop", in: 0...1) == 0.05)
        #expect(try parse("--drop", "0.5").double("drop", in: 0...1) == 0.5)
        for bad in ["101%", "-1", "%", "nan", "x"] {
            #expect(throws: UsageError.self) { try parse("--drop", bad).double("drop", in: 0...1) }
        }
    }

    @Test func helpGoesFirst() throws {
        #expect(try parse("--nonsense", "-h").wantsHelp)
        #expect(
            Arguments.help(Self.options) == "  --port N      the port\n  --dev         the demo\n  --drop SHARE  drops")
    }
}
