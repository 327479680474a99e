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

/// Whether to compile only what any processor and any runtime has.
let isPortable = Context.environment["REMOTEPROXY_PORTABLE"] == "1"

/// Whether the library may rely on how the runtime lays out what tasks wait with, which the runtime does not promise
/// (`CSystem/Suspension.c`, `Tasks.c`, `Cancellation.h`): with the compilers with which that has been tested. The sources ask in
/// addition for which system and processor they are compiled; this file does not know. Elsewhere, and with
/// `REMOTEPROXY_PORTABLE=1` in the environment, calls wait by the standard library's functions alone.
#if compiler(>=6.3) && compiler(<6.4)
    let isRuntimeKnown = !isPortable
#else
    let isRuntimeKnown = false
#endif

/// What is compiled for a known runtime only stands behind this condition, in C as in Swift.
let knownRuntime = "KNOWN_RUNTIME"
let settingsForRuntime: [SwiftSetting] =
    settings + (isRuntimeKnown ? [.define(knownRuntime, .when(platforms: [.linux]))] : [])
let cSettingsForRuntime: [CSetting] =
    isRuntimeKnown ? [.define(knownRuntime, .when(platforms: [.linux]))] : []

let package = Package(
    name: "RemoteProxy",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
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
        .target(name: "RemoteProxyMacros", dependencies: ["JSONCodec"], swiftSettings: settings),
        .macro(name: "RemoteProxyPlugin", dependencies: ["RemoteProxyMacros"], swiftSettings: settings),
        .target(
            name: "RemoteProxy", dependencies: ["RemoteProxyPlugin", "RPCSockets", "RPCWire", "JSONCodec"],
            swiftSettings: settingsForRuntime),
        .target(name: "JSONCodec", dependencies: ["CText"], swiftSettings: settingsForRuntime),
        .target(name: "CText", cSettings: isPortable ? [.define("PORTABLE")] : []),
        .target(name: "RPCWire", dependencies: ["JSONCodec"], swiftSettings: settings),
        .target(name: "RPCSockets", dependencies: ["RPCWire", "CSystem"], swiftSettings: settingsForRuntime),
        .target(name: "CSystem", cSettings: cSettingsForRuntime),

        // What a listening end adds.
        .target(
            name: "RPCServer", dependencies: ["RemoteProxy", "RPCSockets", "RPCWire", "JSONCodec"],
            swiftSettings: settings),

        // The programs, and the real subjects that both of them host.
        .target(name: "Subjects", dependencies: ["RemoteProxy", "Protocols"], swiftSettings: settings),
        .executableTarget(
            name: "rpc-server", dependencies: ["RemoteProxy", "RPCServer", "Protocols", "Subjects"],
            swiftSettings: settings),
        .executableTarget(
            name: "rpc-demo",
            dependencies: ["RemoteProxy", "RPCServer", "RPCSockets", "RPCWire", "Protocols", "Subjects"],
            swiftSettings: settings),

        // One test folder per target.
        .target(
            name: "TestSupport", dependencies: ["CSystem", "RPCSockets", "RPCWire", "RemoteProxy", "Surroundings"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(name: "Surroundings", path: "Tests/Surroundings"),
        // What breaks things in tests, and a server whose work can be looked up afterwards.
        .target(
            name: "Faults", dependencies: ["CSystem", "RPCSockets", "RPCWire", "RemoteProxy", "TestSupport"],
            path: "Tests/Faults",
            swiftSettings: settings),
        .executableTarget(
            name: "ledger-server", dependencies: ["RemoteProxy", "RPCServer", "Faults"], path: "Tests/LedgerServer",
            swiftSettings: settings),
        // One of two programs that have their cache in one file.
        .executableTarget(
            name: "cache-sharer", dependencies: ["RemoteProxy", "Protocols"], path: "Tests/CacheSharer",
            swiftSettings: settings),
        // A client that says how its handshake has ended, for `.ci/tls`.
        .executableTarget(
            name: "tls-caller", dependencies: ["RemoteProxy", "Protocols"], path: "Tests/TLSCaller",
            swiftSettings: settings),
        // The same functions as in CText, without the instructions of a processor.
        .target(name: "CPortableText", dependencies: ["CText"], path: "Tests/PortableText"),
        .testTarget(
            name: "JSONCodecTests", dependencies: ["JSONCodec", "CText", "CPortableText", "TestSupport"],
            swiftSettings: settings),
        .testTarget(name: "RPCWireTests", dependencies: ["RPCWire", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "RPCSocketsTests", dependencies: ["RPCSockets", "RPCWire", "TestSupport"],
            swiftSettings: settingsForRuntime),
        .testTarget(
            name: "RemoteProxyMacrosTests", dependencies: ["RemoteProxyMacros", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "RemoteProxyTests",
            dependencies: ["RemoteProxy", "RPCServer", "RPCSockets", "RPCWire", "Protocols", "TestSupport"],
            swiftSettings: settingsForRuntime),
        .testTarget(
            name: "RPCServerTests",
            dependencies: ["RPCServer", "RPCSockets", "RPCWire", "Protocols", "Subjects", "TestSupport"],
            swiftSettings: settingsForRuntime),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "RemoteProxy", "RPCServer", "RPCSockets", "RPCWire", "Protocols", "Subjects", "TestSupport", "Faults",
                "CSystem", "ledger-server", "cache-sharer",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
