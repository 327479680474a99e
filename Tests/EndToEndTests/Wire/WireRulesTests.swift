// Guards and optional methods as a stranger on the wire meets them, and the whole stack over a real socket.

import Foundation
import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Rules on the wire` {
    private static func supports(_ params: String, id: Int = 1) -> String {
        #"{"jsonrpc":"2.0","method":"rpc.supports","params":\#(params),"id":\#(id)}"#
    }

    @Test func `whether a method is there can be asked by name or by position`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let questions = [
                (#"{"method":"Calculator.add"}"#, "1=true"), (#"["Calculator.add"]"#, "1=true"),
                (#"["Counter.note"]"#, "1=true"), (#"["Calculator.root"]"#, "1=false"),
                (#"["Calculator[other].add"]"#, "1=false"), (#"["rpc.supports"]"#, "1=false"), (#"[""]"#, "1=false"),
                ("[]", "1!-32602"), ("[7]", "1!-32602"), (#"["Calculator.add", 2]"#, "1!-32602"),
            ]
            for (params, answer) in questions {
                #expect(try brief(client.ask(Self.supports(params))) == answer, "\(params)")
            }
        }
    }

    @Test func `what is denied over the wire is refused with a number of its own and counted`() async throws {
        let counter = CounterProxy(SharedCounter()).guarded(by: .nobody, except: [.value, .note])
        let server = RPCServer()
        server.export(counter)
        let url = try await server.listen(on: "tcp://127.0.0.1:0")
        let answer = try await blocking {
            try brief(RawClient(url).ask(#"{"jsonrpc":"2.0","method":"Counter.next","id":3}"#))
        }.get()
        #expect(answer == "3!-32054")
        let events = AsyncStream.makeStream(of: String.self)
        let remote = CounterProxy(RPCClient(url, .patient)).with(timeout: .seconds(600)).retrying()
            .observed { events.continuation.yield($0.method.name) }
        await #expect(throws: RPCError.self) { try await remote.next() }
        remote.note("allowed")
        #expect(try await remote.value() == 0)
        #expect(try await counter.proxySubject.supports(CounterProxy._methodTable.signatures[0]))
        events.continuation.finish()
        #expect(await events.stream.reduce(into: []) { $0.append($1) } == ["next", "note", "value"])
        await server.stop(grace: .zero)
    }
}
