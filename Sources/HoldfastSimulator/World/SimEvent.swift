import HoldfastProtocol
import HoldfastReplication

/// What is on the agenda of a simulation. What is for a process names its slot and its serial, so that it is not taken
/// by the next process there.
enum SimEvent {
    case packet(Packet)
    case input(slot: Int, serial: Int, ProcessInput)
    /// The process has time again.
    case resume(slot: Int, serial: Int)
    case timer(slot: Int, serial: Int, atUs: Int64)
    case boot(slot: Int, serial: Int)
    case store(StoreAsk)
    case leases
    case reconnect(from: Int, to: Int, serial: Int)
    case probe(from: Int, serial: Int, NodeID)
    case toServer(SimLink, ServerWord)
    case toClient(SimLink, ClientWord)
    case players(atMs: Int64)
    case faultBegins(Int)
    case faultEnds(Int)
    case quiet
}

/// What a process is told.
enum ProcessInput {
    case packet(Packet, isReset: Bool)
    case linkReset(NodeID)
    case linkEnded(NodeID)
    case refused(NodeID)
    case answer(id: UInt64, CoordinatorAnswer)
    case unanswered(id: UInt64)
    case watch([CoordinatorEvent])
    case watchEnded
    case opened(SimLink)
    case message(SimLink, ClientMessage)
    case pong(SimLink)
    case closed(SimLink)
    /// The socket has taken what was queued.
    case drained(SimLink)
    /// Its time has come.
    case timer
    case drain
}

enum ServerWord {
    case open
    case message(ClientMessage)
    case pong
    case close
}

enum ClientWord {
    case opened
    case message(ServerMessage)
    case ping
    case closed
    /// The client reads again.
    case readAgain
}
