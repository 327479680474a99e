// A peer that ends its questions and still listens, as `nc -N` does after its last line: it gets all its answers, and
// then the end.

import Protocols
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Half-closed connections` {
    @Test(arguments: [1, 300, 3_000])
    func `every call that was sent before the end is answered`(_ count: Int) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            for id in 0..<count {
                client.say(#"{"jsonrpc":"2.0","method":"Calculator.add","params":[\#(id),1],"id":\#(id)}"#)
            }
            client.finish()
            // In whatever order: where a thread has been kept from its work another goes on with the rest.
            let heard = try (0..<count).map { _ in try brief(client.hear()) }
            let expected = Set((0..<count).map { "\($0)=\($0 + 1)" })
            #expect(Set(heard) == expected)
            #expect(try client.rest() == "")
        }
    }

    @Test func `calls that waited for their turn when the end came are answered`() async throws {
        try await withGate(exporting: [EchoProxy(SlowEcho())]) {
            $0.limits.maximumRequestsInFlight = 64
        } _: { _, url in
            let client = try RawClient(url)
            client.sendBeside(Array((0..<3_000).map { Said.later(1, id: $0) + "\n" }.joined().utf8), thenFinish: true)
            let heard = try (0..<3_000).map { _ in try brief(client.hear()) }
            #expect(Set(heard).count == 3_000)
            #expect(try client.rest() == "")
        }
    }

    @Test func `a post that was asked for an answer gets one`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            #expect(
                try brief(client.ask(#"{"jsonrpc":"2.0","method":"Counter.note","params":["x"],"id":1}"#)) == "1=null")
        }
    }

    @Test func `a call that has suspended is answered too`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            client.say(#"{"jsonrpc":"2.0","method":"Echo.later","params":["late",50],"id":1}"#)
            client.finish()
            #expect(try brief(client.hear()) == #"1="late""#)
            #expect(try client.rest() == "")
        }
    }

    @Test func `a last line needs no end`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            client.say(#"{"jsonrpc":"2.0","method":"Calculator.add","params":[1,2],"id":1}"#)
            client.send(Said.later(50, id: 2))
            client.finish()
            #expect(try brief(client.hear()) == "1=3")
            #expect(try brief(client.hear()) == #"2="x""#)
            #expect(try client.rest() == "")
        }
    }

    @Test(arguments: WireFraming.allCases)
    func `half a message is told that it is, and the rest is answered`(_ framing: WireFraming) async throws {
        try await withWire { url in
            let client = try RawClient(url, framing)
            client.say(Said.later(50, id: 1))
            client.send(Array(framing.frame(Said.value).dropLast(5)))
            client.finish()
            #expect(try brief(client.hear()) == "null!-32700")
            #expect(try brief(client.hear()) == #"1="x""#)
            #expect(try client.rest() == "")
        }
    }
}
