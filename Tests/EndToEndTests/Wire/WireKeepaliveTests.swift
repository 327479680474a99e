// Who is asked whether it is still there, and what becomes of it.

import Foundation
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Keepalive on the wire` {
    @Test func `a client of our kind that falls silent is asked once and then dropped`() async throws {
        try await withGate {
            $0.limits.keepalive = Keepalive(interval: .milliseconds(200), timeout: .milliseconds(100))
        } _: { server, url in
            let client = try RawClient(url, .lengthPrefixed)
            let start = ContinuousClock.now
            #expect(try client.ask(Said.hello)?.contains("session") == true)
            let ping = #"{"jsonrpc":"2.0","method":"rpc.ping","id":-1}"#
            #expect(try client.hear() == ping)
            #expect(ContinuousClock.now - start >= .milliseconds(200))
            // A server that was kept from running for so long that it cannot know asks again.
            while let again = try client.hear() { #expect(again == ping) }
            #expect(ContinuousClock.now - start >= .milliseconds(300))
            #expect(server.counters.overruns == ["keepaliveTimeout": 1])
        }
    }

    @Test func `a ping is answered each time, and its answer is not kept for who comes back`() async throws {
        try await withGate { _ in
        } _: { _, url in
            let client = try HandwrittenClient(url)
            for _ in 0..<3 {
                let answer = try client.raw.ask(#"{"jsonrpc":"2.0","method":"rpc.ping","id":-1}"#)
                #expect(answer == #"{"jsonrpc":"2.0","id":-1,"result":null}"#)
            }
            let returned = try HandwrittenClient(url, resuming: client.session)
            #expect(returned.hasResumed)
            #expect(try brief(returned.raw.ask(Said.value)) == "1=0")
        }
    }

    @Test func `one that answers stays, and a foreign one is never asked`() async throws {
        try await withGate {
            $0.limits.keepalive = Keepalive(interval: .milliseconds(20), timeout: .seconds(60))
        } _: { server, url in
            let ours = try RawClient(url, .lengthPrefixed)
            let foreign = try RawClient(url)
            #expect(try ours.ask(Said.hello)?.contains("session") == true)
            for _ in 0..<5 {
                #expect(try ours.hear() == #"{"jsonrpc":"2.0","method":"rpc.ping","id":-1}"#)
                ours.say(#"{"jsonrpc":"2.0","id":-1,"result":null}"#)
            }
            #expect(try brief(foreign.ask(Said.later(100, id: 1))) == "1=\"x\"")
            #expect(server.counters.overruns.isEmpty)
        }
    }
}
