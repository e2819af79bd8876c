/// The Protobuf encoding, appended to one array. A field at its default is left out, as proto3 has it.
struct ProtobufWriter: FieldVisitor {
    var bytes: [UInt8] = []

    private enum Wire {
        static let varint: UInt64 = 0
        static let delimited: UInt64 = 2
    }

    // MARK: Pieces

    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    private mutating func key(_ number: Int, _ wire: UInt64) {
        varint(UInt64(number) << 3 | wire)
    }

    private mutating func scalar(_ number: Int, _ value: UInt64) {
        if value == 0 { return }
        key(number, Wire.varint)
        varint(value)
    }

    private mutating func text(_ number: Int, _ value: String) {
        key(number, Wire.delimited)
        varint(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func blob(_ number: Int, _ value: [UInt8]) {
        key(number, Wire.delimited)
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    /// Starts a nested message whose length is not known yet; one byte is kept free for it.
    mutating func open(_ number: Int) -> Int {
        key(number, Wire.delimited)
        return openLength()
    }

    /// Keeps the byte free for a length alone.
    mutating func openLength() -> Int {
        bytes.append(0)
        return bytes.count
    }

    /// Fills in the length. A body moves only when its length needs more than the byte kept free, once for each level,
    /// and the schema has few levels.
    mutating func close(_ start: Int) {
        let length = bytes.count - start
        if length < 0x80 {
            bytes[start - 1] = UInt8(truncatingIfNeeded: length)
            return
        }
        var more = 0
        var rest = length >> 7
        while rest > 0 {
            more += 1
            rest >>= 7
        }
        bytes.insert(contentsOf: repeatElement(0, count: more), at: start)
        rest = length
        for index in (start - 1)..<(start - 1 + more) {
            bytes[index] = UInt8(truncatingIfNeeded: rest) | 0x80
            rest >>= 7
        }
        bytes[start - 1 + more] = UInt8(truncatingIfNeeded: rest)
    }

    // MARK: FieldVisitor

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        scalar(number, UInt64(value))
    }

    mutating func envelope(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        scalar(number, value)
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt32) throws(WireError) {
        scalar(number, UInt64(value))
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int32) throws(WireError) {
        // A negative int32 takes ten bytes: Protobuf extends the sign to 64 bits.
        scalar(number, UInt64(bitPattern: Int64(value)))
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout UInt64) throws(WireError) {
        scalar(number, value)
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Int64) throws(WireError) {
        scalar(number, UInt64(bitPattern: value))
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout Bool) throws(WireError) {
        scalar(number, value ? 1 : 0)
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        if !value.isEmpty { text(number, value) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        if !value.isEmpty { blob(number, value) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout String?) throws(WireError) {
        if let value { text(number, value) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String]) throws(WireError) {
        for element in value { text(number, element) }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: String]) throws(WireError) {
        for (key, element) in value.sortedByUTF8() {
            let start = open(number)
            text(1, key)
            text(2, element)
            close(start)
        }
    }

    mutating func field(_ number: Int, _ name: StaticString, _ value: inout [String: Int32]) throws(WireError) {
        for (key, element) in value.sortedByUTF8() {
            let start = open(number)
            text(1, key)
            self.key(2, Wire.varint)
            varint(UInt64(bitPattern: Int64(element)))
            close(start)
        }
    }

    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M?) throws(WireError) {
        guard var message = value else { return }
        try member(number, name, &message)
    }

    mutating func field<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout [M]) throws(WireError) {
        for var message in value { try member(number, name, &message) }
    }

    mutating func oneof<O: WireOneof>(_ value: inout O?) throws(WireError) {
        if let value { try value.write(&self) }
    }

    mutating func member<M: WireMessage>(_ number: Int, _ name: StaticString, _ value: inout M) throws(WireError) {
        let start = open(number)
        try value.visit(&self)
        close(start)
    }

    mutating func member(_ number: Int, _ name: StaticString, _ value: inout String) throws(WireError) {
        text(number, value)
    }

    mutating func member(_ number: Int, _ name: StaticString, _ value: inout [UInt8]) throws(WireError) {
        blob(number, value)
    }

    mutating func matches(_ number: Int, _ name: StaticString) throws(WireError) -> Bool { false }
}

extension Dictionary where Key == String {
    /// In the order of the keys' bytes, so that equal maps are equal on the wire in every process.
    func sortedByUTF8() -> [(key: String, value: Value)] {
        if count < 2 { return Array(self) }
        return sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
}
