import HoldfastProtocol

/// Fills a message with random values, edges more often than chance would have it.
struct RandomMessage: FieldVisitor {
    private var random: SeededGenerator
    /// Of a oneof: which alternative is to be taken, counted in the order in which they are asked for.
    private var alternative = -1

    static func make<M: WireMessage>(_ type: M.Type, seed: UInt64) throws -> M {
        var filler = RandomMessage(random: SeededGenerator(seed: seed))
        var message = M()
        try message.visit(&filler)
        return message
    }

    private init(random: SeededGenerator) { self.random = random }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func integer<I: FixedWidthInteger>() -> I {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: 0
        case 1: 1
        case 2: I.max
        case 3: I.min
        case 4: I.random(in: 0...127, using: &random)
        default: I.random(in: I.min...I.max, using: &random)
        }
    }

    private mutating func text() -> String {
        let letters: [Character] = [
            "a", "Z", "0", " ", "\"", "\\", "/", "\u{0}", "\u{1f}", "\n", "\u{7f}", "é", "\u{301}", "€", "\u{2028}",
            "😀",
            "\u{10ffff}", "<", "漢",
        ]
        return String((0..<length()).map { _ in letters.randomElement(using: &random) ?? "a" })
    }

    private mutating func blob() -> [UInt8] {
        (0..<length()).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private mutating func length() -> Int {
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: 0
        case 3..<9: Int.random(in: 1...20, using: &random)
        default: Int.random(in: 100...300, using: &random)
        }
    }

    private mutating func count() -> Int { chance(40) ? 0 : Int.random(in: 1...4, using: &random) }

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        value = integer()
    }
    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        value = integer()
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        value = integer()
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int32) throws(WireError) {
        value = integer()
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        value = integer()
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int64) throws(WireError) {
        value = integer()
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Bool) throws(WireError) {
        value = chance(50)
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        value = text()
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        value = blob()
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String?) throws(WireError) {
        value = chance(50) ? text() : nil
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String]) throws(WireError) {
        value = []
        for _ in 0..<count() { value.append(text()) }
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: String]) throws(WireError) {
        for _ in 0..<count() { value[text()] = text() }
    }
    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: Int32]) throws(WireError) {
        for _ in 0..<count() { value[text()] = integer() }
    }
    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M?) throws(WireError) {
        guard chance(70) else { return }
        var message = M()
        try message.visit(&self)
        value = message
    }
    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout [M]) throws(WireError) {
        for _ in 0..<count() {
            var message = M()
            try message.visit(&self)
            value.append(message)
        }
    }

    mutating func oneof<O: WireOneof>(_ value: inout O?) throws(WireError) {
        if chance(5) { return }
        repeat {
            alternative = Int.random(in: 0..<45, using: &random)
        } while try !O.read(&self, into: &value)
    }
    mutating func member<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M) throws(WireError) {
        try value.visit(&self)
    }
    mutating func member(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        value = text()
    }
    mutating func member(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        value = blob()
    }
    mutating func matches(_ number: Int, _ name: StaticString) throws(WireError) -> Bool {
        alternative -= 1
        return alternative == -1
    }
}
