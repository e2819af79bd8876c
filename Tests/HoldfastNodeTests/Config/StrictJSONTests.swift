import Testing

@testable import HoldfastNode

@Suite struct StrictJSONTests {
    func read(_ text: String) -> JSONValue? { try? StrictJSON.parse(Array(text.utf8)) }

    @Test func valuesAreRead() {
        #expect(read(" null ") == .null)
        #expect(read("[true,false]") == .array([.bool(true), .bool(false)]))
        #expect(read("-0") == .integer(0))
        #expect(read("9223372036854775807") == .integer(.max))
        #expect(read("9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(read("1.5e3") == .number(1500))
        #expect(read(#""\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\""#) == .string("é😀/\u{8}\u{C}\n\r\t\"\\"))
        #expect(read(#"{"a":{"b":[1]},"c":""}"#)?["a"]?["b"] == .array([.integer(1)]))
        #expect(read(#"{"a":null}"#)?["a"] == nil)
    }

    @Test(arguments: [
        "", " ", "nul", "truex", "[1,]", "[1", "{", #"{"a"}"#, #"{"a":1,}"#, #"{a:1}"#, "01", "-", "1.", ".5", "1e",
        "+1",
        "NaN", "1e999", #"""#, #""\x""#, #""\u12""#, #""\u12g4""#, "\"\n\"", #""\ud800""#, #""\udc00""#,
        #""\ud800\u0041""#,
        "1 2", "[] []", #"{"a":1,"a":1}"#, #"{"a":1,"\u0061":1}"#, "\u{FEFF}1",
    ])
    func whatIsNoUnambiguousJSONIsRefused(text: String) {
        #expect(read(text) == nil)
    }

    @Test func nestingHasItsLimit() {
        func nested(_ depth: Int) -> [UInt8] {
            Array((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(throws: Never.self) { try StrictJSON.parse(nested(16)) }
        #expect(throws: JSONError(reason: "it is nested too deep", offset: 16)) { try StrictJSON.parse(nested(17)) }
    }

    @Test func invalidUTF8IsRefused() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x9F, 0x98]] {
            #expect(throws: JSONError.self) { try StrictJSON.parse([0x22] + bytes + [0x22]) }
        }
    }

    @Test func whatIsWrittenIsReadBack() {
        let text = #"{"a":[1,-2.5,"\u0000\u001f é\"\\",null,true],"":{}}"#
        let value = read(text)
        #expect(value != nil && value == value.flatMap { read($0.text) })
    }

    /// Whatever bytes come, the reader ends with a value or an error.
    @Test func randomChangesNeverTrap() {
        let seed = Array(#"{"a":[1,-2.5e3,"\ud83d\ude00 \n",null,true],"b":{"c":[[],{}]},"d":12}"#.utf8)
        var state: UInt64 = 42
        func next() -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        var read = 0
        for _ in 0..<20_000 {
            var bytes = seed
            for _ in 0...(next() % 4) {
                switch next() % 3 {
                case 0: bytes[next() % bytes.count] = UInt8(next() % 256)
                case 1: bytes.remove(at: next() % bytes.count)
                default: bytes.insert(seed[next() % seed.count], at: next() % bytes.count)
                }
            }
            if (try? StrictJSON.parse(bytes)) != nil { read += 1 }
        }
        #expect(read > 0)
    }
}
