/// The place of a node: its name and address, where one process after another may run.
public struct SimSlot {
    public let name: String
    public let host: String
    public internal(set) var process: SimProcess?
    /// Of the process that runs or ran last; 0: none did.
    public internal(set) var serial = 0
    /// Somebody wants it to run: it is started again whenever it is down at the faults' end.
    public internal(set) var isWanted = false
    /// None will ever run here again.
    public internal(set) var isLost = false
    /// After how long it comes back when it has left in good order; nil: at the faults' end.
    var backAfterMs: Int?
    /// Clients do not reach it.
    var isCutFromClients = false

    init(name: String, host: String) {
        self.name = name
        self.host = host
    }

    /// The process, if it still is this one.
    func living(_ serial: Int) -> SimProcess? {
        guard let process, process.serial == serial else { return nil }
        return process
    }
}
