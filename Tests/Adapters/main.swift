// Uses the adapters of the articles "Logs, metrics and traces", "Deploying" and "On Apple platforms" as these say, and prints what
// came of it.

import Logging
import Metrics
import Protocols
import RPCServer
import RemoteProxy
import ServiceLifecycle
import Tracing
import os

/// Asks the next greeter, if there is one.
struct Relay: Greeter {
    struct Refusal: Error {}

    var next: (any Greeter)?

    func greet(_ name: String) async throws -> String {
        if name.isEmpty { throw Refusal() }
        return try await next?.greet(name) ?? "Hello, \(name)!"
    }
}

let (listening, isListening) = AsyncStream.makeStream(of: Void.self)
let write: @Sendable (String) -> Void = { line in
    if line.contains("listening on") { return _ = isListening.yield() }
    // Addresses and references differ from run to run.
    print(line.replacing(#/failure( ID |ID=)\w+/#, with: "failure ID").replacing(#/(peer|session)=\S+/#) { "\($0.1)" })
}
let logger = Logging.Logger(write: write)
let systemLogger = os.Logger(write: write)
var configuration = RPCServer.Configuration()
configuration.log = {
    logger.log($0)
    systemLogger.log($0)
}

let back = RPCServer(configuration)
back.export(GreeterProxy(Relay()).timed().traced())
let client = RPCClient(try await back.listen(on: "tcp://127.0.0.1:0"))
let front = RPCServer(configuration)
front.export(GreeterProxy(Relay(next: GreeterProxy(client).traced())).traced())
let greeter = GreeterProxy(RPCClient(try await front.listen(on: "tcp://127.0.0.1:0"))).traced()
print(try await greeter.greet("world"))
for span in endedSpans { print(span) }

_ = try? await GreeterProxy(client).greet("")

let report = Task { try await back.reportCounters() }
while recorded["counter rpc_calls"] != 2 { await Task.yield() }
report.cancel()
for name in recorded.keys.sorted() { print(name) }

let group = ServiceGroup(ServerService(server: back, endpoint: "tcp://127.0.0.1:0"))
let running = Task { try await group.run() }
// A group that shut down before would stop a server that has still to begin.
for await _ in listening { break }
group.triggerGracefulShutdown()
try await running.value
print("the group has ended")
