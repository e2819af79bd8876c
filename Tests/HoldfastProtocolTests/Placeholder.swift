import Testing
@testable import HoldfastProtocol

@Test func placeholder() {}
