import HoldfastModel
import HoldfastProtocol

/// A client's link at a gateway: what the real shell keeps around a `ConnectionMachine`.
final class SimEndpoint {
    let socket: SimLink
    let link: Link
    var machine: ConnectionMachine
    var order = RoomOrder<StreamMessage>()
    var isOpen = true
    var isDraining = false
    /// The room has more of the past for this link when its socket has taken what it has.
    var wantsMore = false
    var nextPingMs: Int64
    var lastReceivedMs: Int64

    init(socket: SimLink, link: Link, limits: SharedLimits, nowMs: Int64) {
        self.socket = socket
        self.link = link
        machine = ConnectionMachine(link: link, limits: limits, nowMs: nowMs)
        nextPingMs = nowMs + Int64(limits.value.heartbeatMs)
        lastReceivedMs = nowMs
    }
}
