import CUV
import Glibc

/// What a socket has yet to send, in order: references to immutable pieces, so that one piece can wait in many queues.
/// The owner of the socket bounds it by `byteCount`.
struct SendQueue {
    private var pieces: ContiguousArray<PreparedFrame> = []
    /// Pieces before this are sent; they go in one move when all are, or when they are many.
    private var head = 0
    /// Bytes of `pieces[head]` that are sent.
    private var offset = 0
    /// Bytes that are not sent.
    private(set) var byteCount = 0

    var isEmpty: Bool { head == pieces.count }
    var isPartlySent: Bool { offset > 0 }

    mutating func append(_ piece: PreparedFrame) {
        guard piece.byteCount > 0 else { return }
        pieces.append(piece)
        byteCount += piece.byteCount
    }

    /// Fills in what comes next; returns how many entries and how many bytes.
    func fill(_ vectors: UnsafeMutableBufferPointer<iovec>) -> (entries: Int, bytes: Int) {
        var used = 0
        var total = 0
        var skip = offset
        var index = head
        while used < vectors.count, index < pieces.count {
            let bytes = pieces[index].bytes
            // The kernel only reads through an iovec of sendmsg.
            vectors[used].iov_base = UnsafeMutableRawPointer(mutating: bytes.baseAddress).map { $0 + skip }
            vectors[used].iov_len = bytes.count - skip
            total += bytes.count - skip
            skip = 0
            used += 1
            index += 1
        }
        return (used, total)
    }

    /// Copies up to `target.count` bytes; returns how many. They stay until `consume`.
    func copy(into target: UnsafeMutableRawBufferPointer) -> Int {
        guard let base = target.baseAddress else { return 0 }
        var copied = 0
        var skip = offset
        var index = head
        while copied < target.count, index < pieces.count {
            let bytes = pieces[index].bytes
            let count = min(bytes.count - skip, target.count - copied)
            if let source = bytes.baseAddress { (base + copied).copyMemory(from: source + skip, byteCount: count) }
            copied += count
            skip = 0
            index += 1
        }
        return copied
    }

    /// The next `count` bytes are sent.
    mutating func consume(_ count: Int) {
        byteCount -= count
        var left = count + offset
        while head < pieces.count, left >= pieces[head].byteCount {
            left -= pieces[head].byteCount
            head += 1
        }
        offset = left
        if head == pieces.count {
            pieces.removeAll(keepingCapacity: head <= 64)
            head = 0
        } else if head >= 256 {
            pieces.removeFirst(head)
            head = 0
        }
    }

    /// Drops all that has not begun to leave.
    mutating func dropUnsent() {
        let keep = isPartlySent ? 1 : 0
        guard pieces.count > head + keep else { return }
        pieces.removeLast(pieces.count - head - keep)
        byteCount = keep == 1 ? pieces[head].byteCount - offset : 0
        if keep == 0 {
            pieces.removeAll()
            head = 0
        }
    }

    mutating func removeAll() {
        pieces = []
        head = 0
        offset = 0
        byteCount = 0
    }
}
