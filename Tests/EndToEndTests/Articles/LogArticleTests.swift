// The code of the article "Running it in production" on the log, and what it says that a trace prints.

import Protocols
import RPCServer
import RPCSockets
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `The article on production` {
    @Test func `a log of one's own gets records`() async throws {
        let lines = Lock<[String]>([])
        @Sendable func write(_ line: String) { lines.withLock { $0.append(line) } }
        var configuration = RPCServer.Configuration()
        configuration.log = { record in
            guard record.level >= .warning else { return }
            write("\(record.level) \(record.peer ?? "-") \(record.method ?? "-") \(record.message)")
        }
        configuration.log(LogRecord(.notice, "in order"))
        configuration.log(LogRecord(.error, "it failed", peer: "tcp://127.0.0.1:1", method: "Greeter.greet"))
        #expect(lines.withLock { $0 } == ["error tcp://127.0.0.1:1 Greeter.greet it failed"])
    }

    @Test func `a secret goes to the next end, and no trace shows it`() async throws {
        let lines = Lock<[String]>([])
        var configuration = RPCServer.Configuration.quiet
        configuration.tracesMessages = true
        configuration.log = { record in lines.withLock { $0.append(record.message) } }
        try await withServer("tcp://127.0.0.1:0", configuration) { url in
            let client = RPCClient(url, .patient)
            let greeter: any Greeter = GreeterProxy(client)
            func greet() async throws -> String {
                try await withCallMetadata(["authorization": .secret("Bearer …", reach: .nextEnd)]) {
                    try await greeter.greet("Ann")
                }
            }
            let greeting = try await greet()
            #expect(greeting == "Hello, Ann!")
            client.close()
        }
        let traced = lines.withLock { $0.filter { $0.contains("authorization") } }
        #expect(traced.count == 1 && !traced.joined().contains("Bearer"))
    }

    @Test func `a trace has what the article shows`() async throws {
        let lines = Lock<[String]>([])
        var configuration = RPCServer.Configuration.quiet
        configuration.tracesMessages = true
        configuration.log = { record in
            let peer = record.peer ?? ""
            lines.withLock { $0.append(record.message.replacing(peer, with: "tcp://127.0.0.1:51234")) }
        }
        try await withServer("tcp://127.0.0.1:0", configuration) { url in
            let client = RPCClient(url, .patient)
            let calculator = CalculatorProxy(client)
            // The message of the first call, which waits for the connection, tells how much of its time is left.
            _ = try await calculator.add(1, 1)
            let sum = try await calculator.add(2, 3)
            #expect(sum == 5)
            client.close()
        }
        let traced = lines.withLock { $0 }
        #expect(traced[0] == #"from tcp://127.0.0.1:51234: {"jsonrpc":"2.0","method":"rpc.hello","params":"…","id":0}"#)
        #expect(
            traced.filter { $0.contains(#""id":2"#) } == [
                #"from tcp://127.0.0.1:51234: {"jsonrpc":"2.0","method":"Calculator.add","params":[2,3],"id":2}"#,
                #"to tcp://127.0.0.1:51234: {"jsonrpc":"2.0","id":2,"result":5}"#,
            ])
    }
}
