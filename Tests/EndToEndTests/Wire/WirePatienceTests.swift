// Peers that are slow, silent or too busy with the wrong things: each ends at its limit, which is counted and named.

import Foundation
import Protocols
import RPCServer
import RemoteProxy
import Synchronization
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Patience on the wire` {
    private static let value = #"{"jsonrpc":"2.0","method":"Counter.value","id":1}"#
    private static let hello = #"{"jsonrpc":"2.0","method":"rpc.hello","params":{"protocol":1},"id":0}"#

    private static func later(_ milliseconds: Int, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"Echo.later","params":["x",\#(milliseconds)],"id":\#(id)}"#
    }

    /// A client that has asked something in time, and how many have not: a busy machine may keep them from their first word
    /// for longer than a server with little patience waits for it.
    private static func talker(_ url: String, asking message: String) throws -> (RawClient, answer: String, late: Int) {
        for late in 0..<200 {
            let client = try RawClient(url)
            if let answer = try client.ask(message) { return (client, answer, late) }
        }
        throw WireFault("nobody is heard")
    }

    @Test(arguments: ["", "\n", " \r\n\t"])
    func `who says nothing is closed in time`(nothing: String) async throws {
        let log = LoggedLines()
        try await withGate {
            $0.firstByteTime = .milliseconds(50)
            $0.log = log.add
        } _: { server, url in
            let (talker, answer, late) = try Self.talker(url, asking: Self.value)
            #expect(try brief(answer) == "1=0")
            let silent = try RawClient(url)
            silent.send(nothing)
            #expect(try silent.rest() == "")
            #expect(server.counters.overruns == ["firstByteTime": 1 + late])
            #expect(log.lines.count == 1 + late && log.lines.allSatisfy { $0.hasSuffix("(firstByteTime)") })
            // Who has spoken may be silent.
            #expect(try brief(talker.ask(Self.value)) == "1=0")
        }
    }

    @Test(arguments: ["{", "C", "Content-Length: 99\r\n\r\n{", "\0", "\0\0\0\u{63}{"])
    func `a message that does not come to its end is closed in time`(beginning: String) async throws {
        try await withGate {
            $0.frameTime = .milliseconds(50)
        } _: { server, url in
            let slow = try RawClient(url)
            slow.send(beginning)
            #expect(try slow.rest() == "")
            #expect(server.counters.overruns == ["frameTime": 1])
        }
    }

    @Test func `dribbling does not help, nor does a good message before`() async throws {
        try await withGate {
            $0.frameTime = .milliseconds(100)
        } _: { server, url in
            let dribbler = try RawClient(url)
            #expect(try brief(dribbler.ask(Self.value)) == "1=0")
            let start = ContinuousClock.now
            // A byte at a time for as long as the server takes them, at the pace of another's calls.
            let clock = try RawClient(url)
            dribbler.send("[")
            while server.counters.overruns.isEmpty {
                dribbler.send(" ")
                #expect(try brief(clock.ask(Self.later(5, id: 1))) == "1=\"x\"")
            }
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            #expect(server.counters.overruns == ["frameTime": 1])
            #expect(try dribbler.rest() == "")
        }
    }

    @Test func `a large message has more time, at the least rate that is borne`() async throws {
        try await withGate {
            $0.frameTime = .milliseconds(20)
            $0.minimumRate = 200_000
        } _: { server, url in
            let length = withUnsafeBytes(of: UInt32(9_000_000).bigEndian, Array.init)
            var (met, took) = (Set<String>(), Duration.zero)
            // A busy machine may keep the rest of it back for longer than its first bytes may wait: then once more.
            for _ in 0..<50 where !met.contains("minimumRate") {
                let start = ContinuousClock.now
                let slow = try RawClient(url, .lengthPrefixed)
                slow.send(length + [UInt8](repeating: 0x20, count: 300_000))
                _ = try slow.rest()
                took = ContinuousClock.now - start
                met = Set(server.counters.overruns.keys)
            }
            #expect(server.counters.overruns["minimumRate"] == 1 && met.isSubset(of: ["minimumRate", "frameTime"]))
            #expect(took >= .seconds(1))
        }
    }

    @Test func `who asks nothing may be told to go, but not while a call runs`() async throws {
        try await withGate {
            $0.idleTime = .milliseconds(60)
        } _: { server, url in
            let (idler, answer, late) = try Self.talker(url, asking: Self.later(150, id: 1))
            #expect(try brief(answer) == "1=\"x\"")
            #expect(try idler.hear() == nil)
            #expect(server.counters.overruns == ["idleTime": 1 + late])
        }
    }

    @Test func `pings are answered until there are too many, and then the reason is given`() async throws {
        try await withGate {
            $0.maximumPings = 5
        } _: { server, url in
            let pinger = try RawClient(url)
            for id in 1...5 {
                #expect(
                    try pinger.ask(#"{"jsonrpc":"2.0","method":"rpc.ping","id":\#(id)}"#)
                        == #"{"jsonrpc":"2.0","id":\#(id),"result":null}"#)
            }
            let reason = try pinger.ask(#"{"jsonrpc":"2.0","method":"rpc.ping"}"#)
            #expect(try brief(reason) == "null!-32009")
            #expect(reason?.contains("5 in 10.0 seconds (maximumPings)") == true)
            #expect(try pinger.hear() == nil)
            #expect(server.counters.overruns == ["maximumPings": 1])
        }
    }

    @Test func `cancellations of nothing are ignored until there are too many`() async throws {
        try await withGate {
            $0.maximumUnknownCancels = 5
        } _: { server, url in
            let client = try RawClient(url)
            let cancel = #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#
            // The answer to this one makes room for one more.
            #expect(try brief(client.ask(Self.value)) == "1=0")
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
            $0.maximumRequestsInFlight = 64
        } _: { server, url in
            let count = 20_000
            let client = try RawClient(url)
            // More at a time than may run, so that some have to begin before the server reads of their end.
            let blocks = stride(from: 1, through: count, by: 100).map { first in
                let calls = (first..<first + 100).map { Self.later(10, id: $0) + "\n" }
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

    @Test func `calls that are sent like posts are no more than calls may be`() async throws {
        try await withGate {
            $0.maximumRequestsInFlight = 3
        } _: { server, url in
            let client = try RawClient(url)
            for _ in 0..<20 { client.say(#"{"jsonrpc":"2.0","method":"Echo.later","params":["x",60000]}"#) }
            // The ping is answered when what came before it has been admitted.
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"rpc.ping","id":2}"#)) == "2=null")
            #expect(server.counters.running == 3)
        }
    }

    @Test func `all connections together have a limit too`() async throws {
        try await withGate {
            $0.maximumRequestsInAll = 3
        } _: { server, url in
            let clients = try (0..<3).map { _ in try RawClient(url) }
            for client in clients {
                // The ping is answered when the call before it has been admitted.
                client.say(Self.later(60_000, id: 1))
                #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"rpc.ping","id":2}"#)) == "2=null")
            }
            let late = try RawClient(url)
            let refusal = try late.ask(Self.value)
            #expect(try brief(refusal) == "1!-32009")
            #expect(refusal?.contains("3 requests of all connections are running (maximumRequestsInAll)") == true)
            #expect(server.counters.running == 3 && server.counters.overruns == ["maximumRequestsInAll": 1])
            clients[0].say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
            #expect(try brief(clients[0].hear()) == "1!-32800")
            #expect(try brief(late.ask(Self.value)) == "1=0")
            // Many short ones at a time are served in turn and not refused.
            late.send(String(repeating: Self.value + "\n", count: 500))
            for _ in 0..<500 { #expect(try brief(late.hear()) == "1=0") }
            #expect(server.counters.running == 2)
        }
    }

    @Test func `a flood of refusals does not flood the log`() async throws {
        let log = LoggedLines()
        try await withGate {
            $0.maximumLogLines = 10
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
            $0.maximumFrameSize = 2_000
        } _: { _, url in
            let client = try RawClient(url)
            let answer = try client.ask(#"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#)
            #expect(try brief(answer) == "1!-32008")
            #expect(answer?.contains("maximumFrameSize") == true)
        }
    }

    @Test func `who does not read is not read from, which is counted, and gets all its answers in the end`()
        async throws
    {
        try await withGate {
            $0.pauseReading = 10_000
        } _: { server, url in
            // More than the system takes on the way.
            let text = String(repeating: "x", count: 50_000)
            let call = { (id: Int) in #"{"jsonrpc":"2.0","method":"Echo.text","params":["\#(text)"],"id":\#(id)}"# }
            var count = 200
            let slow = try RawClient(url)
            slow.sendBeside(Array((0..<count).map { call($0) + "\n" }.joined().utf8))
            let clock = try RawClient(url)
            var asked = 0
            // Where the system takes little, it is not read from before it has said all.
            while server.counters.calls < count + asked, server.counters.overruns["pauseReading"] == nil {
                asked += 1
                #expect(try brief(clock.ask(Self.later(5, id: 1))) == "1=\"x\"")
            }
            // What comes now is left where it is.
            while server.counters.overruns["pauseReading"] == nil, count < 1_000 {
                slow.say(Self.later(0, id: count))
                count += 1
                #expect(try brief(clock.ask(Self.later(5, id: 1))) == "1=\"x\"")
            }
            var missing = Set(0..<count)
            while !missing.isEmpty {
                let answer = try #require(try slow.hear()).dropFirst(#"{"jsonrpc":"2.0","id":"#.count)
                #expect(missing.remove(try #require(Int(answer.prefix { $0.isNumber }))) != nil)
            }
            let limits = Set(server.counters.overruns.keys)
            #expect(limits.contains("pauseReading") && limits.isDisjoint(with: ["maximumQueuedOutput", "patience"]))
        }
    }

    @Test func `who has closed its sending side is waited for as long as is said, and no longer`() async throws {
        try await withGate {
            $0.halfCloseGrace = .milliseconds(50)
        } _: { server, url in
            let client = try RawClient(url)
            client.say(Self.later(60_000, id: 1))
            client.finish()
            _ = try client.rest()
            #expect(server.counters.overruns == ["halfCloseGrace": 1])
        }
    }

    // MARK: keepalive

    @Test func `a client of our kind that falls silent is asked once and then dropped`() async throws {
        try await withGate {
            $0.keepaliveInterval = .milliseconds(200)
            $0.keepaliveTimeout = .milliseconds(100)
        } _: { server, url in
            let client = try RawClient(url, .lengthPrefixed)
            let start = ContinuousClock.now
            #expect(try client.ask(Self.hello)?.contains("session") == true)
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
            #expect(try brief(returned.raw.ask(Self.value)) == "1=0")
        }
    }

    @Test func `one that answers stays, and a foreign one is never asked`() async throws {
        try await withGate {
            $0.keepaliveInterval = .milliseconds(20)
            $0.keepaliveTimeout = .seconds(60)
        } _: { server, url in
            let ours = try RawClient(url, .lengthPrefixed)
            let foreign = try RawClient(url)
            #expect(try ours.ask(Self.hello)?.contains("session") == true)
            for _ in 0..<5 {
                #expect(try ours.hear() == #"{"jsonrpc":"2.0","method":"rpc.ping","id":-1}"#)
                ours.say(#"{"jsonrpc":"2.0","id":-1,"result":null}"#)
            }
            #expect(try brief(foreign.ask(Self.later(100, id: 1))) == "1=\"x\"")
            #expect(server.counters.overruns.isEmpty)
        }
    }
}

/// Counts how many calls are in it, and takes its time even after it has been told to stop, as a subject may.
final class SlowEcho: Echo {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func text(_ text: String) async throws -> String { text }
    func record(_ record: Record) async throws -> Record { record }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String {
        counts.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
        }
        defer { counts.withLock { $0.now -= 1 } }
        for _ in 0..<20 { await Task.yield() }
        return text
    }
}
