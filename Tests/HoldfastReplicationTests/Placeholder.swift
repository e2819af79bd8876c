import Testing
@testable import HoldfastReplication

@Test func placeholder() {}
