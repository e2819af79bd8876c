public import HoldfastModel
public import HoldfastReplication

/// The shards of a simulated node.
public typealias SimHost = ShardHost<ShardMachine>
