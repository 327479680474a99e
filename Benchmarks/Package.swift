// swift-tools-version: 6.2

import PackageDescription

/// The same rules as in the parent package.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The sample services are no products of the parent package, so their folders are compiled here once more. Target
/// names have to differ from the parent's; the sources keep the names they import.
let samples: [SwiftSetting] = [
    .unsafeFlags(["-module-alias", "Protocols=SampleProtocols", "-module-alias", "Subjects=SampleSubjects"])
]

let remoteProxy = Target.Dependency.product(name: "RemoteProxy", package: "RemoteProxy")
let server = Target.Dependency.product(name: "RPCServer", package: "RemoteProxy")

let package = Package(
    name: "Benchmarks",
    products: [.executable(name: "rpc-bench", targets: ["rpc-bench"])],
    dependencies: [.package(name: "RemoteProxy", path: "..")],
    targets: [
        .executableTarget(
            name: "rpc-bench",
            dependencies: [
                "BenchSystem", "RawEcho", "BenchedJSONCodec", "SampleProtocols", "SampleSubjects", "sample-server",
                remoteProxy, server,
            ],
            swiftSettings: settings),

        // The baseline and the clocks, in C: as little as there can be.
        .target(name: "RawEcho"),
        .target(name: "BenchSystem"),

        // Links to the folders of the parent package.
        .target(
            name: "SampleProtocols", dependencies: [remoteProxy], path: "Sources/Protocols", swiftSettings: settings),
        .target(
            name: "SampleSubjects", dependencies: ["SampleProtocols", remoteProxy], path: "Sources/Subjects",
            swiftSettings: settings + samples),
        .executableTarget(
            name: "sample-server", dependencies: ["SampleProtocols", "SampleSubjects", server],
            path: "Sources/rpc-server", swiftSettings: settings + samples),
        .target(
            name: "BenchedJSONCodec", dependencies: [remoteProxy],
            swiftSettings: settings + [.define("KNOWN_RUNTIME", .when(platforms: [.linux]))]),
    ],
    swiftLanguageModes: [.v6]
)
