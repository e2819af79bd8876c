// HoldfastClient
