// What this program does when its own parent has started it. Not for people: the arguments are the parent's affair.

import BenchSystem
import Glibc
import RemoteProxy

/// A hidden subcommand.
enum Role: String {
    static let flag = "--role"

    /// Hosts the services and prints the URL.
    case serve
    /// Calls a server and prints figures.
    case client
    /// Loads a server as a scenario says and prints figures.
    case scenario
    /// Serves raw frames and prints the port.
    case rawServe
    /// Sends raw frames and prints figures.
    case rawClient
    /// Measures something that needs no server and prints figures.
    case alone
    /// Makes calls under valgrind, which counts their instructions.
    case counted

    func play(_ arguments: [String]) async throws {
        _ = bench_raise_descriptor_limit()
        switch self {
        case .serve:
            let isSealed = arguments.first == SampleServer.sealed
            let scenario =
                try isSealed ? nil : arguments.first.map { name throws(BenchFailure) in try Scenario.named(name) }
            try await SampleServer.serve(for: scenario, isSealed: isSealed)
        case .client:
            let workload = try OverSockets.named(arguments, count: 4)
            let site = Site(
                url: try Endpoint(arguments[1]), server: pid_t(arguments[2]) ?? 0, seconds: Double(arguments[3]) ?? 1)
            say(try await workload.client(site).lines)
        case .scenario:
            guard arguments.count == 4 else { throw BenchFailure("no such scenario") }
            let site = Site(
                url: try Endpoint(arguments[1]), server: pid_t(arguments[2]) ?? 0, seconds: Double(arguments[3]) ?? 1)
            say(try await Scenario.named(arguments[0]).client(site).lines)
        case .rawServe: try RawBaseline.named(arguments, count: 1).serve()
        case .rawClient:
            let baseline = try RawBaseline.named(arguments, count: 4)
            let figures = try baseline.call(
                port: UInt16(arguments[1]) ?? 0, server: pid_t(arguments[2]) ?? 0, seconds: Double(arguments[3]) ?? 1)
            say(figures.lines)
        case .alone:
            guard arguments.count == 2, case .alone(let measure)? = Workload.named(arguments[0])?.kind else {
                throw BenchFailure("no such workload")
            }
            say(try await measure(Double(arguments[1]) ?? 1).lines)
        case .counted: try await CountedCalls.play()
        }
    }

    private func say(_ text: String) {
        print(text, terminator: "")
        fflush(nil)
    }
}
