import HoldfastProtocol

@testable import HoldfastModel

/// Which generation of a shard each place knows, as channels do: what is of one that is gone, or for one, is void.
struct Losses {
    /// Of sender and receiver, as the sender knew them.
    struct Stamp {
        let from: Int
        let to: Int
    }

    private var generations: [ShardID: Int] = [:]
    private var known: [World.Place: [ShardID: Int]] = [:]
    var incarnations: [Int: UInt64] = [:]

    func gateway(_ index: Int) -> GatewayID {
        GatewayID(incarnation: incarnations[index, default: 0], loop: UInt32(index))
    }

    private func generation(_ place: World.Place) -> Int {
        if case .shard(let shard) = place { generations[shard, default: 0] } else { 0 }
    }

    private func known(_ place: World.Place, at other: World.Place) -> Int {
        if case .shard(let shard) = place { known[other]?[shard] ?? 0 } else { 0 }
    }

    func stamp(from: World.Place, to: World.Place) -> Stamp {
        Stamp(from: generation(from), to: from == to ? generation(to) : known(to, at: from))
    }

    func isNews(_ stamp: Stamp, of sender: ShardID, at place: World.Place) -> Bool {
        place != .shard(sender) && stamp.from > known(.shard(sender), at: place)
    }

    /// Whether neither sender nor receiver has begun anew since it was sent.
    func isInForce(_ stamp: Stamp, _ way: World.Way) -> Bool {
        let sender = way.from == way.to ? generation(way.from) : known(way.from, at: way.to)
        return stamp.from == sender && stamp.to == generation(way.to)
    }

    mutating func note(_ sender: ShardID, at place: World.Place) {
        known[place, default: [:]][sender] = generations[sender, default: 0]
    }

    /// Who begins knows how the others stand.
    mutating func note(new shard: ShardID) { known[.shard(shard)] = generations }

    mutating func lose(_ shard: ShardID) {
        generations[shard, default: 0] += 1
        known[.shard(shard)] = generations
    }
}

extension World {
    typealias Stamp = Losses.Stamp
}
