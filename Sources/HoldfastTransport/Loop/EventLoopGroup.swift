import CUV
import Glibc

/// Some loops, usually one a core.
public final class EventLoopGroup: Sendable {
    /// At least one; in a fixed order.
    public let loops: [EventLoop]

    /// Makes `count` loops (at least one) named `name-0`, `name-1`, … They run after `start`.
    public init(count: Int, name: String = "loop") {
        loops = (0..<max(1, count)).map { EventLoop(name: "\(name)-\($0)") }
    }

    /// The number of processors the system has on line.
    public static var processorCount: Int {
        max(1, Int(uv_available_parallelism()))
    }

    /// Starts all.
    public func start() {
        for loop in loops { loop.start() }
    }

    /// Stops all, one after another; see `EventLoop.stop`.
    public func stop() {
        for loop in loops { loop.stop() }
    }

    /// The loop that the calling thread is, if it is one of these.
    public var current: EventLoop? {
        loops.first { $0.isCurrent }
    }

    /// The loop for a number (a shard, a hash): the same one each time.
    public subscript(index: Int) -> EventLoop {
        loops[Int(UInt(bitPattern: index) % UInt(loops.count))]
    }
}
