public import HoldfastProtocol

extension ShardMachine: ReplicatedMachine {
    public typealias Command = ShardCommand
    public typealias Item = GatewayItem
    public typealias Configuration = SharedLimits

    /// Fires all deadlines up to the entry's time, in order, and then does what the step says.
    public mutating func apply(
        _ step: MachineStep<ShardCommand>, at place: EntryPlace, into effects: inout [ShardEffect]
    ) {
        if firstNumber == 0 { firstNumber = UInt64(clamping: max(1, place.wallMs)) << 20 }
        var context = EntryContext(place, firstNumber: firstNumber, limits: limits)
        // Handed in and out, so that the caller's buffer is used.
        swap(&context.effects, &effects)
        // Before the first entry nobody can have been dropped.
        if case .epochStart = step, place.index > 1 { holdPresence(context) }
        fireDeadlines(&context)
        switch step {
        case .command(let command): handle(command, &context)
        case .tick, .epochStart: break
        case .shardLost(let home): shardLost(home, &context)
        case .gatewayLost(let gateway): gatewayLost(gateway, &context)
        }
        swap(&context.effects, &effects)
    }
}

extension ShardCommand: ReplicatedCommand {
    /// The others are given none, which saves a system call for each.
    public var drawsRandomness: Bool {
        switch self {
        // A waiting call may begin in any entry of its player.
        case .player(_, .detach), .player(_, .disconnect), .player(_, .heardEnd): false
        case .player, .pool: true
        case .room(_, .call(_, _, _, _, .startFrameSync)): true
        case .room, .directory: false
        }
    }

    /// Frame inputs and hash reports.
    public var isPatient: Bool {
        guard case .room(_, .call(_, _, _, _, let body)) = self else { return false }
        switch body {
        case .sendFrameInput, .reportFrameHash: return true
        default: return false
        }
    }
}
