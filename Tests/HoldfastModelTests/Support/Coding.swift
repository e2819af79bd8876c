import HoldfastProtocol
import Testing

@testable import HoldfastModel

func encoded<Value: StateCodable>(_ value: Value) -> [UInt8] {
    var writer = StateWriter()
    writer.put(value)
    return writer.bytes
}

func decoded<Value: StateCodable>(_ type: Value.Type, _ bytes: [UInt8]) throws(StateError) -> Value {
    var reader = StateReader(bytes)
    let value = try reader.value(Value.self)
    try reader.finish()
    return value
}

func encoded(_ machine: ShardMachine) -> [UInt8] {
    var writer = StateWriter()
    machine.encode(into: &writer)
    return writer.bytes
}

func decoded(_ bytes: [UInt8], _ limits: SharedLimits) throws(StateError) -> ShardMachine {
    var reader = StateReader(bytes)
    let machine = try ShardMachine(from: &reader, configuration: limits)
    try reader.finish()
    return machine
}

func digest(_ machine: ShardMachine) -> UInt64 {
    var hash = StableHash()
    machine.digest(into: &hash)
    return hash.value
}

/// The value as it is after it was written and read; what is read is written alike.
func copied<Value: StateCodable>(_ value: Value) -> Value {
    let bytes = encoded(value)
    do {
        let copy = try decoded(Value.self, bytes)
        if encoded(copy) != bytes { Issue.record("another encoding after it was read: \(value)") }
        return copy
    } catch {
        Issue.record("cannot be read: \(error.message): \(value)")
        return value
    }
}

extension ShardEffect {
    /// To be compared.
    var bytes: [UInt8] {
        var writer = StateWriter()
        switch self {
        case .command(let command):
            writer.put(kind: 0)
            writer.put(command)
        case .deliver(let gateway, let item):
            writer.put(kind: 1)
            writer.put(gateway)
            writer.put(item)
        }
        return writer.bytes
    }
}

/// Keeps a copy of each shard that was never written down, and now and then puts a read one in the world's place.
final class Twins {
    private(set) var machines: [ShardID: ShardMachine] = [:]
    private(set) var restored = 0
    private(set) var faults: [String] = []
    /// Of commands and items.
    private(set) var copies = 0
    /// One encoding of each kind that passed, by its name.
    private(set) var samples: [String: [UInt8]] = [:]
    private var random: SeededRandom
    /// One entry in so many.
    private let every: Int

    init(seed: UInt64, every: Int) {
        random = SeededRandom(seed: seed)
        self.every = every
    }

    func watch(_ world: World) {
        let limits = world.limits
        world.onParcel = { [self] parcel in
            copies += 1
            switch parcel {
            case .command(let command):
                samples[name(of: command)] = encoded(command)
                return .command(copied(command))
            case .item(let item):
                samples[name(of: item)] = encoded(item)
                return .item(copied(item))
            case .begun, .gatewayLost: return parcel
            }
        }
        world.onApplied = { [self] applied, machine in take(applied, &machine, limits) }
    }

    /// Compares all that the world has come to with what lived without a break.
    func compare(with world: World) {
        for (shard, machine) in world.machines() {
            guard let twin = machines[shard] else {
                faults.append("\(shard) has no twin")
                continue
            }
            if encoded(machine) != encoded(twin) { faults.append("\(shard) ends otherwise than its twin") }
            if digest(machine) != digest(twin) { faults.append("\(shard) ends with another digest than its twin") }
        }
    }

    private func take(_ applied: World.Applied, _ machine: inout ShardMachine, _ limits: SharedLimits) {
        var twin = machines.removeValue(forKey: applied.shard) ?? ShardMachine(configuration: limits)
        var effects: [ShardEffect] = []
        twin.apply(applied.step, at: applied.place, into: &effects)
        if effects.map(\.bytes) != applied.effects.map(\.bytes) {
            faults.append("\(applied.shard) does other things since it was restored, at \(applied.place.index)")
        }
        if random.below(every) == 0 { restore(applied.shard, &machine, twin, limits) }
        machines[applied.shard] = twin
    }

    private func restore(_ shard: ShardID, _ machine: inout ShardMachine, _ twin: ShardMachine, _ limits: SharedLimits)
    {
        let bytes = encoded(machine)
        if bytes != encoded(twin) { faults.append("\(shard) is written otherwise than its twin") }
        do {
            let copy = try decoded(bytes, limits)
            if encoded(copy) != bytes { faults.append("\(shard) is written otherwise when it was read") }
            if digest(copy) != digest(twin) { faults.append("\(shard) has another digest than its twin") }
            machine = copy
            restored += 1
        } catch {
            faults.append("\(shard) cannot be read: \(error.message)")
        }
    }
}

/// As `room.seat` or `player.call.match`.
func name(of command: ShardCommand) -> String {
    switch command {
    case .player(_, .call(_, _, let call)): "player.call.\(caseName(call))"
    case .player(_, .attach(let request)): "player.attach.\(caseName(request.credential))"
    case .player(_, let command): "player.\(caseName(command))"
    case .room(_, .call(_, _, _, _, let body)): "room.call.\(caseName(body))"
    case .room(_, let command): "room.\(caseName(command))"
    case .pool(_, let command): "pool.\(caseName(command))"
    case .directory(_, let command): "directory.\(caseName(command))"
    }
}

func name(of item: GatewayItem) -> String {
    switch item {
    case .deliver(_, .reply(_, let body, _)): "deliver.reply.\(caseName(body))"
    case .deliver(_, let delivery): "deliver.\(caseName(delivery))"
    case .stream(_, _, _, let message): "stream.\(message.message.body.map { caseName($0) } ?? "")"
    }
}

private func caseName(_ value: some Any) -> String { String(String(describing: value).prefix { $0 != "(" }) }
