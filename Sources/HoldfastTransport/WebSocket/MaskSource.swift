import COpenSSL

/// Masks for a client's frames: unpredictable, from OpenSSL's generator, 64 at a time.
struct MaskSource {
    private var pool: [UInt32] = []

    mutating func next() -> UInt32 {
        if pool.isEmpty {
            pool = [UInt32](repeating: 0, count: 64)
            let filled = pool.withUnsafeMutableBytes { bytes in
                RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count))
            }
            if filled != 1 {
                var system = SystemRandomNumberGenerator()
                for index in pool.indices { pool[index] = system.next() }
            }
        }
        return pool.removeLast()
    }
}
