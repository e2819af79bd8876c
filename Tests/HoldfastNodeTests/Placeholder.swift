import Testing
@testable import HoldfastNode

@Test func placeholder() {}
