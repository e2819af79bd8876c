// HoldfastNode
