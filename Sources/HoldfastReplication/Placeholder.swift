// HoldfastReplication
