import HoldfastProtocol

/// Steps that concern many entities at once: they are gone through in a set order.
extension ShardMachine {
    /// The players whose links were there are dropped, and members of rooms stop reading.
    mutating func gatewayLost(_ gateway: GatewayID, _ context: inout EntryContext) {
        let isSorted = !limits.mutations.contains(.unsorted)
        let keys = isSorted ? players.keys.sorted(by: PlayerKey.isOrdered) : Array(players.keys)
        for key in keys {
            if players[key]?.replacing.contains(where: { $0.link.gateway == gateway }) == true {
                players[key]?.replacing.removeAll { $0.link.gateway == gateway }
                settle(player: key)
            }
            guard let link = players[key]?.run?.link, link.gateway == gateway else { continue }
            players[key]?.handle(.detach(link), &context)
            settle(player: key)
        }
        for key in rooms.keys { rooms[key]?.gatewayLost(gateway) }
    }

    /// Ends whatever concerns entities that lived in the lost shard (design, rule 12).
    mutating func shardLost(_ home: ShardID, _ context: inout EntryContext) {
        for key in players.keys.sorted(by: PlayerKey.isOrdered) {
            players[key]?.shardLost(home, &context)
            settle(player: key)
        }
        for key in rooms.keys.sorted(by: RoomKey.isOrdered) {
            guard let place = rooms.index(forKey: key) else { continue }
            settle(rooms.values[place].shardLost(home, &context), room: key)
        }
        for key in pools.keys.sorted(by: PoolKey.isOrdered) {
            pools[key]?.shardLost(home, &context)
            settle(pool: key)
        }
        for project in directories.keys.sorted() {
            directories[project]?.shardLost(home, &context)
            if directories[project]?.isIdle == true { directories[project] = nil }
        }
    }
}
