import HoldfastProtocol

/// Gateways and shards that were lost.
extension RoomMachine {
    /// The members whose links were there stop reading, as if each had been detached.
    mutating func gatewayLost(_ gateway: GatewayID) {
        for i in players.indices where players[i].link?.gateway == gateway { players[i].stopReading() }
        for player in spectators.keys where spectators[player]?.link?.gateway == gateway {
            spectators[player].modify { $0.stopReading() }
        }
        listeners = nil
    }

    /// Ends the seats of players who lived in the shard, and tells a pool and a directory that begin anew of this room.
    mutating func shardLost(_ home: ShardID, _ context: inout EntryContext) -> Afterwards {
        let layout = context.limits.layout
        let everyone = spectators.values.sorted { $0.player < $1.player } + players
        for member in everyone where layout.home(of: playerKey(member.player).shard) == home {
            // A claim may be of the new generation, and have come by a pool before the word of the loss did: then the
            // player's shard knows it, and tells the link.
            remove(member, ended: nil, isTold: false, &context)
            if !member.isSpectator { tellLeft(member.player, &context) }
        }
        if let pool, layout.home(of: ShardID(of: pool)) == home { advert = nil }
        if layout.home(of: ShardID(ofDirectory: key.project)) == home { listing = nil }
        advertise(&context)
        return isClosed ? .closed : .deadline(nextDeadlineMs)
    }
}
