import Testing
@testable import HoldfastModel

@Test func placeholder() {}
