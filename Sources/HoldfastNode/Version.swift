/// The version of the program and of what it says of itself.
public let holdfastVersion = "0.1.0"
