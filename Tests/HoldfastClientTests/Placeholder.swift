import Testing
@testable import HoldfastClient

@Test func placeholder() {}
