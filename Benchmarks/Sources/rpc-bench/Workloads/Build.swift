// A clean debug build of an empty client package that uses @Service: what a user waits for the first time.

import BenchSystem
import Glibc
import RawEcho

extension Workload {
    static let build = Workload(
        name: "build", summary: "clean debug build of an empty client package that uses @Service, once",
        goal: Goal("build_s", .atMost(30)),
        kind: .programs { _ in
            let directory = try Program.makeTemporaryDirectory()
            defer { _ = try? run(["rm", "-rf", directory]) }
            try run(["mkdir", "-p", "\(directory)/Sources/client"])
            try write(manifest, to: "\(directory)/Package.swift")
            try write(source, to: "\(directory)/Sources/client/Client.swift")
            let begin = bench_now()
            try run(["swift", "build", "--package-path", directory])
            var figures = Figures()
            figures["build_s"] = Double(bench_now() - begin) / 1e9
            return figures
        })

    private static var manifest: String {
        """
        // swift-tools-version: 6.2
        import PackageDescription

        let package = Package(
            name: "client",
            dependencies: [.package(name: "RemoteProxy", path: "\(Program.repository)")],
            targets: [
                .executableTarget(
                    name: "client", dependencies: [.product(name: "RemoteProxy", package: "RemoteProxy")])
            ])
        """
    }

    private static let source = """
        import RemoteProxy

        @Service
        protocol Greeter: Sendable {
            func greet(_ name: String) async throws -> String
        }

        @main
        struct Client {
            static func main() async throws {
                let greeter: any Greeter = GreeterProxy(RPCClient("tcp://127.0.0.1:7070"))
                print(try await greeter.greet("world"))
            }
        }
        """

    private static func run(_ arguments: [String]) throws {
        var child = try Child("/usr/bin/env", ["env"] + arguments)
        _ = try child.outputToEnd()
    }

    private static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw BenchFailure("cannot write \(path): error \(errno)") }
        defer { fclose(file) }
        fputs(text, file)
    }
}
