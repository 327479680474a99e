// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

/// One set of rules for every target: explicit existentials, imports that leak nothing, and async functions that
/// stay on their caller's executor, so that a call changes threads only where the code says so.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "RemoteProxy",
    products: [
        .library(name: "RemoteProxy", targets: ["RemoteProxy"]),
        .library(name: "RPCServer", targets: ["RPCServer"]),
        .executable(name: "rpc-server", targets: ["rpc-server"]),
        .executable(name: "rpc-demo", targets: ["rpc-demo"]),
    ],
    targets: [
        // What both sides agree on.
        .target(name: "Protocols", dependencies: ["RemoteProxy"], path: "Protocols", swiftSettings: settings),

        // The arrow, from the user's protocol to the socket.
        .macro(name: "RemoteProxyMacros", dependencies: ["JSONCodec"], swiftSettings: settings),
        .target(
            name: "RemoteProxy", dependencies: ["RemoteProxyMacros", "RPCWire", "JSONCodec"], swiftSettings: settings),
        .target(name: "JSONCodec", swiftSettings: settings),
        .target(name: "RPCWire", dependencies: ["JSONCodec", "CSystem"], swiftSettings: settings),
        .target(name: "CSystem"),

        // What a listening end adds.
        .target(name: "RPCServer", dependencies: ["RemoteProxy", "RPCWire", "JSONCodec"], swiftSettings: settings),

        // The programs, and the real subjects that both of them host.
        .target(name: "Subjects", dependencies: ["RemoteProxy", "Protocols"], swiftSettings: settings),
        .executableTarget(
            name: "rpc-server", dependencies: ["RemoteProxy", "RPCServer", "Protocols", "Subjects"],
            swiftSettings: settings),
        .executableTarget(
            name: "rpc-demo", dependencies: ["RemoteProxy", "RPCServer", "RPCWire", "Protocols", "Subjects"],
            swiftSettings: settings),

        // One test folder per target.
        .target(
            name: "TestSupport", dependencies: ["RPCWire", "RemoteProxy", "Surroundings"], path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(name: "Surroundings", path: "Tests/Surroundings"),
        // What breaks things in tests, and a server whose work can be looked up afterwards.
        .target(
            name: "Faults", dependencies: ["CSystem", "RPCWire", "RemoteProxy", "TestSupport"], path: "Tests/Faults",
            swiftSettings: settings),
        .executableTarget(
            name: "ledger-server", dependencies: ["RemoteProxy", "RPCServer", "Faults"], path: "Tests/LedgerServer",
            swiftSettings: settings),
        // One of two programs that have their cache in one file.
        .executableTarget(
            name: "cache-sharer", dependencies: ["RemoteProxy", "Protocols"], path: "Tests/CacheSharer",
            swiftSettings: settings),
        .testTarget(name: "JSONCodecTests", dependencies: ["JSONCodec", "TestSupport"], swiftSettings: settings),
        .testTarget(name: "RPCWireTests", dependencies: ["RPCWire", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "RemoteProxyMacrosTests", dependencies: ["RemoteProxyMacros", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "RemoteProxyTests", dependencies: ["RemoteProxy", "RPCWire", "Protocols", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "RPCServerTests", dependencies: ["RPCServer", "RPCWire", "Protocols", "Subjects", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "RemoteProxy", "RPCServer", "RPCWire", "Protocols", "Subjects", "TestSupport", "Faults",
                "ledger-server", "cache-sharer",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
