public import HoldfastModel
public import HoldfastProtocol
public import HoldfastReplication

/// Watches over a simulation.
public protocol Checker: AnyObject {
    /// Called after every step, with the whole world in view and what this step did (`SimWorld.step`).
    func afterStep(_ world: SimWorld) -> Violation?
    func atEnd(_ world: SimWorld) -> Violation?
}

/// What one step did.
public struct SimStep {
    public enum Kind: Int, Sendable {
        case packet, process, store, watch, socket, players, fault, other
    }

    public internal(set) var timeUs: Int64 = 0
    public internal(set) var kind = Kind.other
    /// The slot whose process took a turn in it.
    public internal(set) var slot: Int?
    /// What that process's host ordered, in order.
    public internal(set) var effects: [SimHost.Effect] = []
    /// Whose request the coordinator carried out.
    public internal(set) var asker: NodeID?
    /// What changed at the coordinator.
    public internal(set) var storeEvents: [CoordinatorEvent] = []
    /// Fault begun or ended in it.
    public internal(set) var fault: Fault?
}
