// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Generic code that other targets use with one type each: made for that type there, it is several times as fast.
let specialized: [SwiftSetting] =
    strict + [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

let package = Package(
    name: "Holdfast",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "HoldfastClient", targets: ["HoldfastClient", "HoldfastProtocol"]),
        .executable(name: "holdfast", targets: ["holdfast"]),
    ],
    targets: [
        .systemLibrary(name: "CUV"),
        .systemLibrary(name: "CWSlay"),
        .systemLibrary(name: "CHTTPParser"),
        .systemLibrary(name: "COpenSSL"),
        .systemLibrary(name: "CZeroMQ"),
        .systemLibrary(name: "CCurl"),
        .target(name: "HoldfastProtocol", exclude: ["holdfast.proto"], swiftSettings: strict),
        .target(name: "HoldfastModel", dependencies: ["HoldfastProtocol"], swiftSettings: strict),
        .target(name: "HoldfastReplication", dependencies: ["HoldfastProtocol"], swiftSettings: specialized),
        .target(
            name: "HoldfastTransport",
            dependencies: [
                "HoldfastProtocol", "CUV", "CWSlay", "CHTTPParser", "COpenSSL", "CZeroMQ", "CCurl",
            ], swiftSettings: strict),
        .target(
            name: "HoldfastNode",
            dependencies: [
                "HoldfastProtocol", "HoldfastModel", "HoldfastReplication", "HoldfastTransport",
            ], resources: [.copy("Web")], swiftSettings: strict),
        .target(
            name: "HoldfastClient",
            dependencies: [
                "HoldfastProtocol",
                .target(name: "HoldfastTransport", condition: .when(platforms: [.linux])),
            ], swiftSettings: strict),
        .target(
            name: "HoldfastSimulator",
            dependencies: ["HoldfastProtocol", "HoldfastModel", "HoldfastReplication", "HoldfastClient"],
            swiftSettings: strict),
        .executableTarget(
            name: "holdfast",
            dependencies: [
                "HoldfastProtocol", "HoldfastNode", "HoldfastClient", "HoldfastTransport", "HoldfastSimulator",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastProtocolTests", dependencies: ["HoldfastProtocol"], swiftSettings: strict),
        .testTarget(
            name: "HoldfastModelTests", dependencies: ["HoldfastModel", "HoldfastProtocol"], swiftSettings: strict),
        .testTarget(
            name: "HoldfastReplicationTests", dependencies: ["HoldfastReplication", "HoldfastProtocol"],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastSimulatorTests",
            dependencies: [
                "HoldfastSimulator", "HoldfastModel", "HoldfastReplication", "HoldfastClient", "HoldfastProtocol",
            ], swiftSettings: strict),
        .testTarget(
            name: "HoldfastTransportTests", dependencies: ["HoldfastTransport", "HoldfastProtocol"],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastNodeTests",
            dependencies: [
                "HoldfastNode", "HoldfastModel", "HoldfastReplication", "HoldfastTransport", "HoldfastProtocol",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastBotsTests", dependencies: ["holdfast", "HoldfastNode", "HoldfastProtocol"],
            swiftSettings: strict),
        .testTarget(
            name: "HoldfastClientTests",
            dependencies: [
                "HoldfastClient", "HoldfastProtocol",
                .target(name: "HoldfastTransport", condition: .when(platforms: [.linux])),
            ], swiftSettings: strict),
    ]
)
