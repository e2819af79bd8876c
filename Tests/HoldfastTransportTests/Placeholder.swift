import Testing
@testable import HoldfastTransport

@Test func placeholder() {}
