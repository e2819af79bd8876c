public import HoldfastProtocol

/// Where shards should be.
public enum Placement {
    /// For each shard that has a log the nodes that should hold it, the primary first.
    public static func wanted(layout: ShardLayout, nodes: [NodeInfo], replicas: Int) -> [ShardID: [NodeID]] {
        [:]
    }
}
