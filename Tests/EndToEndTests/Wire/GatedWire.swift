// A live server whose counters a test can read, and a list of tokens to keep others out of it.

import Protocols
import RPCServer
import RemoteProxy
import Subjects
import Synchronization
import TestSupport

/// Runs the body against a server of the sample services, on a thread that may block, and hands it the server.
func withGate(
    _ url: Endpoint = "tcp://127.0.0.1:0", exporting proxies: [any ServiceProxy] = samples(),
    _ configure: (inout RPCServer.Configuration) -> Void = { _ in },
    _ body: @escaping @Sendable (_ server: RPCServer, _ url: Endpoint) throws -> Void
) async throws {
    var configuration = RPCServer.Configuration.quiet
    // A loop that is late on a busy machine would be counted among the limits that were met.
    configuration.limits.maximumBlockedThreads = 0
    configure(&configuration)
    let server = RPCServer(configuration)
    for proxy in proxies { server.export(proxy) }
    let bound = try await server.listen(on: url)
    let result = await blocking { try body(server, bound) }
    await server.stop(grace: .zero)
    try result.get()
}

enum Secrets {
    static let alice = "alice-0123456789abcdef"
    static let bob = "bob-fedcba9876543210"
    static let list = "alice admin,audit \(alice)\nbob \(bob)"

    static func authenticate(_ token: String, id: Int = 1) -> String {
        #"{"jsonrpc":"2.0","method":"rpc.authenticate","params":{"token":"\#(token)"},"id":\#(id)}"#
    }
}

/// Says who has called it.
struct WhoIsThere: Greeter {
    func greet(_ name: String) async throws -> String {
        guard let identity = Caller.current?.identity else { return "nobody" }
        return "\(identity.name) \(identity.roles.sorted())"
    }
}

/// What a server has logged.
final class LoggedLines: Sendable {
    private let kept = Mutex<[String]>([])
    var lines: [String] { kept.withLock { $0 } }
    var add: @Sendable (LogRecord) -> Void { { record in self.kept.withLock { $0.append(record.message) } } }
}
