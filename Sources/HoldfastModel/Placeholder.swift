// HoldfastModel
