@_spi(Fuzzing) import HoldfastTransport

/// Bytes of an HTTP client, and of a server that answers a WebSocket's handshake: the same is found however they are
/// cut.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let data, count > 1 else { return 0 }
    let choice = data[0]
    let bytes = UnsafeRawBufferPointer(start: data + 1, count: count - 1)
    let pieces: [[UInt8]] = count < 512 ? [[1], [choice, 3]] : [[choice | 16, 100]]
    let requests = ParserProbe.http(bytes, pieces: [])
    let answer = ParserProbe.answer(bytes, pieces: [])
    for piece in pieces {
        precondition(requests == ParserProbe.http(bytes, pieces: piece))
        precondition(answer == ParserProbe.answer(bytes, pieces: piece))
    }
    return 0
}
