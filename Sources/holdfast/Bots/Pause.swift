internal import Foundation

/// A time in which a bot got nothing of what it waited for.
struct Pause: Equatable, Sendable {
    enum Kind: String, Sendable {
        /// Between two frames.
        case frame
        /// From wanting a match to having one.
        case match
    }

    var kind: Kind
    var who: String
    /// On the clock since boot.
    var endedUs: Int64
    var lengthUs: Int64
    /// The first that come; a bot has one in each two frame intervals at most, and a look is every 200 ms.
    static let kept = 20_000

    var line: String {
        #"{"kind":"\#(kind.rawValue)","at":\#(Self.ms(endedUs)),"ms":\#(Self.ms(lengthUs)),"who":"\#(who)"}"# + "\n"
    }

    static func ms(_ us: Int64) -> Double { Double(us / 100) / 10 }
}

/// Where pauses and counts of frames are written, a JSON object a line.
struct PauseFile: Sendable {
    private let handle: FileHandle

    /// - Throws: when it cannot be written.
    init(path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let handle = FileHandle(forWritingAtPath: path)
        else { throw Failure(message: "cannot write \(path)") }
        self.handle = handle
    }

    func write(_ pauses: [Pause]) throws {
        guard !pauses.isEmpty else { return }
        try handle.write(contentsOf: Data(pauses.map(\.line).joined().utf8))
    }

    func write(frames: Int, atUs: Int64) throws {
        try handle.write(contentsOf: Data("{\"kind\":\"rate\",\"at\":\(Pause.ms(atUs)),\"frames\":\(frames)}\n".utf8))
    }
}
