// Peers that are too busy, be it with calls or with the wrong things: each ends at its limit, which is counted and named.

import Foundation
import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `A flood on the wire` {
    @Test func `pings are answered until there are too many, and then the reason is given`() async throws {
        try await withGate {
            $0.limits.maximumPings = 5
        } _: { server, url in
            let pinger = try RawClient(url)
            for id in 1...5 {
                #expect(
                    try pinger.ask(#"{"jsonrpc":"2.0","method":"rpc.ping","id":\#(id)}"#)
                        == #"{"jsonrpc":"2.0","id":\#(id),"result":null}"#)
            }
            let reason = try pinger.ask(#"{"jsonrpc":"2.0","method":"rpc.ping"}"#)
            #expect(try brief(reason) == "null!-32009")
            #expect(reason?.contains("more than 5 pings in ten seconds (maximumPings)") == true)
            #expect(try pinger.hear() == nil)
            #expect(server.counters.overruns == ["maximumPings": 1])
        }
    }

    @Test func `cancellations of nothing are ignored until there are too many`() async throws {
        try await withGate {
            $0.limits.maximumUnknownCancels = 5
        } _: { server, url in
            let client = try RawClient(url)
            let cancel = #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#
            // The answer to this one makes room for one more.
            #expect(try brief(client.ask(Said.value)) == "1=0")
            for _ in 0..<6 { client.say(cancel) }
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"rpc.ping","id":1}"#)) == "1=null")
            let reason = try client.ask(cancel)
            #expect(try brief(reason) == "null!-32009")
            #expect(reason?.contains("(maximumUnknownCancels)") == true)
            #expect(try client.hear() == nil)
            #expect(server.counters.overruns == ["maximumUnknownCancels": 1])
        }
    }

    /// As many subjects at a time as the limit allows, however many calls have been cancelled.
    @Test func `calls and their cancellations without pause never run more than the limit`() async throws {
        let subject = SlowEcho()
        try await withGate(exporting: [EchoProxy(subject)]) {
            $0.limits.maximumRequestsInFlight = 64
        } _: { server, url in
            let count = 20_000
            let client = try RawClient(url)
            // More at a time than may run, so that some have to begin before the server reads of their end.
            let blocks = stride(from: 1, through: count, by: 100).map { first in
                let calls = (first..<first + 100).map { Said.later(10, id: $0) + "\n" }
                let cancellations = (first..<first + 100).map {
                    #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#($0)}}"# + "\n"
                }
                return (calls + cancellations).joined()
            }
            client.sendBeside(Array(blocks.joined().utf8))
            var answered = Set<String>()
            for _ in 0..<count {
                let answer = try brief(client.hear())
                let end = try #require(answer.firstIndex { $0 == "!" || $0 == "=" })
                answered.insert(String(answer[..<end]))
            }
            #expect(answered.count == count)
            #expect(subject.most <= 64 && subject.most > 0)
            #expect(server.counters.overruns["maximumUnknownCancels"] == nil)
        }
    }

    @Test func `calls that cannot begin yet wait, and the sender does when they take too much memory`() async throws {
        let lines = Lock<[String]>([])
        try await withGate(exporting: [EchoProxy(SlowEcho())]) {
            $0.limits.maximumRequestsInFlight = 64
            $0.limits.maximumBytesInFlight = 100_000
            $0.log = { line in lines.withLock { $0.append(line.message) } }
        } _: { server, url in
            let count = 5_000
            let client = try RawClient(url)
            client.sendBeside(Array((1...count).map { Said.later(1, id: $0) + "\n" }.joined().utf8))
            var answered = Set<String>()
            for _ in 0..<count { answered.insert(try brief(client.hear())) }
            #expect(answered.count == count)
            #expect(server.counters.overruns["maximumBytesInFlight"] ?? 0 >= 1)
            let told = lines.withLock {
                $0.filter { $0.contains("paused reading from tcp://127.0.0.1") }
            }
            #expect(told.count == 1)
            #expect(told.first?.contains("(maximumBytesInFlight)") == true)
        }
    }

    @Test func `calls that are sent like posts are no more than calls may be`() async throws {
        try await withGate {
            $0.limits.maximumRequestsInFlight = 3
        } _: { server, url in
            let client = try RawClient(url)
            for _ in 0..<20 { client.say(#"{"jsonrpc":"2.0","method":"Echo.later","params":["x",60000]}"#) }
            // The ping is answered when what came before it has been admitted.
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"rpc.ping","id":2}"#)) == "2=null")
            #expect(server.counters.requestsRunning == 3)
        }
    }

    @Test func `all connections together have a limit too`() async throws {
        try await withGate {
            $0.limits.maximumRequestsInAll = 3
        } _: { server, url in
            let clients = try (0..<3).map { _ in try RawClient(url) }
            for client in clients {
                // The ping is answered when the call before it has been admitted.
                client.say(Said.later(60_000, id: 1))
                #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"rpc.ping","id":2}"#)) == "2=null")
            }
            let late = try RawClient(url)
            // One small one each may always run, and no large one.
            #expect(try brief(late.ask(Said.value)) == "1=0")
            let large = String(repeating: "x", count: 5_000)
            for call in [Said.value, #"{"jsonrpc":"2.0","method":"Echo.text","params":["\#(large)"],"id":1}"#] {
                if call == Said.value { late.say(Said.later(60_000, id: 2)) }
                let refusal = try late.ask(call)
                #expect(try brief(refusal) == "1!-32009")
                #expect(
                    refusal?.contains("more than 3 calls of all connections at a time (maximumRequestsInAll)") == true)
                if call != Said.value { continue }
                #expect(server.counters.requestsRunning == 4)
                late.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"#)
                #expect(try brief(late.hear()) == "2!-32800")
            }
            #expect(server.counters.requestsRunning == 3 && server.counters.overruns == ["maximumRequestsInAll": 2])
            clients[0].say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
            #expect(try brief(clients[0].hear()) == "1!-32800")
            #expect(try brief(late.ask(Said.value)) == "1=0")
            // Many short ones at a time are served in turn and not refused.
            late.send(String(repeating: Said.value + "\n", count: 500))
            for _ in 0..<500 { #expect(try brief(late.hear()) == "1=0") }
            #expect(server.counters.requestsRunning == 2)
        }
    }

    @Test func `a flood of refusals does not flood the log`() async throws {
        let log = LoggedLines()
        try await withGate {
            $0.limits.maximumLogLines = 10
            $0.log = log.add
        } _: { server, url in
            let start = ContinuousClock.now
            for _ in 0..<50 {
                let browser = try RawClient(url)
                browser.send("GET / HTTP/1.1\r\n\r\n")
                _ = try browser.rest()
            }
            let told = log.lines.count { !$0.contains("left out") }
            #expect(server.counters.overruns == ["maximumLogLines": 50 - told])
            // So many in ten seconds, which fifty browsers take only on a very slow machine.
            #expect(told <= 10 * (1 + Int((ContinuousClock.now - start) / .seconds(10))))
        }
    }

    @Test func `what there is can be listed only as far as a frame is large`() async throws {
        try await withGate {
            $0.limits.maximumFrameSize = 2_000
        } _: { _, url in
            let client = try RawClient(url)
            let answer = try client.ask(#"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#)
            #expect(try brief(answer) == "1!-32008")
            #expect(answer?.contains("maximumFrameSize") == true)
        }
    }
}
