@_spi(Fuzzing) import HoldfastTransport

/// Bytes of a peer on a WebSocket: the same is found however they are cut, and with pauses. The first byte chooses.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let data, count > 1 else { return 0 }
    let choice = data[0]
    let isServer = choice & 1 == 0
    let limit = choice & 2 == 0 ? 200 : 70_000
    let bytes = UnsafeRawBufferPointer(start: data + 1, count: count - 1)
    func found(_ pieces: [UInt8], pauses: Bool = false) -> [String] {
        ParserProbe.webSocket(bytes, isServer: isServer, limit: limit, pieces: pieces, pauses: pauses)
    }
    let whole = found([])
    precondition(isSame(whole, found([choice | 1, 3])))
    precondition(isSame(whole, found([choice >> 2, 200], pauses: true)))
    if count < 512 { precondition(isSame(whole, found([1]))) }
    return 0
}

/// A close frame's reason is seen at once or in the end, or not at all, as the pieces fall: of the last line only
/// counts that it is the last.
private func isSame(_ one: [String], _ other: [String]) -> Bool {
    if one == other { return true }
    let (short, long) = one.count < other.count ? (one, other) : (other, one)
    guard long.count - short.count <= 1, let last = long.last else { return false }
    guard last == "invalidUTF8" || last == "protocolError" || last.hasPrefix("close ") else { return false }
    return long.dropLast().elementsEqual(short.prefix(long.count - 1))
}
