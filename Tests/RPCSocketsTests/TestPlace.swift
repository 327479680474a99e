// Where a test listens.

import RPCSockets
import RPCWire
import Testing

/// A file name in the temporary folder that no other test has.
func temporaryPath(_ purpose: String) -> String {
    "/tmp/rpc-\(purpose)-\(UInt64.random(in: 0 ..< .max)).sock"
}

enum Place: Sendable, CaseIterable {
    case tcp4, tcp6, unix

    var endpoint: SocketEndpoint {
        switch self {
        case .tcp4: .tcp(host: "127.0.0.1", port: 0)
        case .tcp6: .tcp(host: "::1", port: 0)
        case .unix: .unix(path: temporaryPath("echo"))
        }
    }
}

/// Runs the body with a loop that ends with it.
func withLoop<Result>(_ body: (EventLoop) async throws -> Result) async throws -> Result {
    let loop = try EventLoop(name: "test")
    defer { loop.shutdown() }
    return try await body(loop)
}
