// Peers that are slow or silent: each ends at its limit, which is counted and named.

import Foundation
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Patience on the wire` {
    /// A client that has asked something in time, and how many have not: a busy machine may keep them from their first word
    /// for longer than a server with little patience waits for it.
    private static func talker(_ url: Endpoint, asking message: String) throws -> (RawClient, answer: String, late: Int)
    {
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
            $0.limits.firstByteTime = .milliseconds(50)
            $0.log = log.add
        } _: { server, url in
            let (talker, answer, late) = try Self.talker(url, asking: Said.value)
            #expect(try brief(answer) == "1=0")
            let silent = try RawClient(url)
            silent.send(nothing)
            #expect(try silent.rest() == "")
            #expect(server.counters.overruns == ["firstByteTime": 1 + late])
            #expect(log.lines.count == 1 + late && log.lines.allSatisfy { $0.hasSuffix("(firstByteTime)") })
            // Who has spoken may be silent.
            #expect(try brief(talker.ask(Said.value)) == "1=0")
        }
    }

    @Test(arguments: ["{", "C", "Content-Length: 99\r\n\r\n{", "\0", "\0\0\0\u{63}{"])
    func `a message that does not come to its end is closed in time`(beginning: String) async throws {
        try await withGate {
            $0.limits.frameTime = .milliseconds(50)
        } _: { server, url in
            let slow = try RawClient(url)
            slow.send(beginning)
            #expect(try slow.rest() == "")
            #expect(server.counters.overruns == ["frameTime": 1])
        }
    }

    @Test func `dribbling does not help, nor does a good message before`() async throws {
        try await withGate {
            $0.limits.frameTime = .milliseconds(100)
        } _: { server, url in
            let dribbler = try RawClient(url)
            #expect(try brief(dribbler.ask(Said.value)) == "1=0")
            let start = ContinuousClock.now
            // A byte at a time for as long as the server takes them, at the pace of another's calls.
            let clock = try RawClient(url)
            dribbler.send("[")
            while server.counters.overruns.isEmpty {
                dribbler.send(" ")
                #expect(try brief(clock.ask(Said.later(5, id: 1))) == "1=\"x\"")
            }
            #expect(ContinuousClock.now - start >= .milliseconds(100))
            #expect(server.counters.overruns == ["frameTime": 1])
            #expect(try dribbler.rest() == "")
        }
    }

    @Test func `a large message has more time, at the least rate that is borne`() async throws {
        try await withGate {
            $0.limits.frameTime = .milliseconds(20)
            $0.limits.minimumRate = 200_000
        } _: { server, url in
            let length = withUnsafeBytes(of: UInt32(9_000_000).bigEndian, Array.init)
            var took = Duration.zero
            // A busy machine may keep the rest of it back for longer than its first bytes may wait: then once more.
            for _ in 0..<50 where took < .seconds(1) {
                let start = ContinuousClock.now
                let slow = try RawClient(url, .lengthPrefixed)
                slow.send(length + [UInt8](repeating: 0x20, count: 300_000))
                _ = try slow.rest()
                took = ContinuousClock.now - start
            }
            #expect(Set(server.counters.overruns.keys) == ["frameTime"])
            #expect(took >= .seconds(1))
        }
    }

    @Test func `who asks nothing may be told to go, but not while a call runs`() async throws {
        try await withGate {
            $0.limits.idleTime = .milliseconds(60)
        } _: { server, url in
            let (idler, answer, late) = try Self.talker(url, asking: Said.later(150, id: 1))
            #expect(try brief(answer) == "1=\"x\"")
            #expect(try idler.hear() == nil)
            #expect(server.counters.overruns == ["idleTime": 1 + late])
        }
    }

    @Test func `who does not read is not read from, which is counted, and gets all its answers in the end`()
        async throws
    {
        try await withGate {
            $0.limits.pauseReading = 10_000
            // On a busy machine calls wait for long, and are not to be turned away for it.
            $0.limits.maximumWait = .zero
        } _: { server, url in
            // More than the system takes on the way.
            let text = String(repeating: "x", count: 50_000)
            let call = { (id: Int) in #"{"jsonrpc":"2.0","method":"Echo.text","params":["\#(text)"],"id":\#(id)}"# }
            var count = 200
            let slow = try RawClient(url)
            slow.sendBeside(Array((0..<count).map { call($0) + "\n" }.joined().utf8))
            let clock = try RawClient(url)
            var asked = 0
            // Where the system takes little, it is not read from before it has said all. It may also have been read to the end
            // before its answers filled the way: then its requests wait, and nothing is left to be read.
            while server.counters.requestsBegun < count + asked, server.counters.overruns["pauseReading"] == nil,
                asked < 1_000
            {
                asked += 1
                #expect(try brief(clock.ask(Said.later(5, id: 1))) == "1=\"x\"")
            }
            // What comes now is left where it is.
            while server.counters.overruns["pauseReading"] == nil, count < 1_000 {
                slow.say(Said.later(0, id: count))
                count += 1
                #expect(try brief(clock.ask(Said.later(5, id: 1))) == "1=\"x\"")
            }
            var missing = Set(0..<count)
            while !missing.isEmpty {
                let answer = try #require(try slow.hear()).dropFirst(#"{"jsonrpc":"2.0","id":"#.count)
                #expect(missing.remove(try #require(Int(answer.prefix { $0.isNumber }))) != nil)
            }
            let limits = Set(server.counters.overruns.keys)
            #expect(limits == ["pauseReading"])
        }
    }

    @Test func `who has closed its sending side is waited for as long as is said, and no longer`() async throws {
        try await withGate {
            $0.limits.halfCloseGrace = .milliseconds(50)
        } _: { server, url in
            let client = try RawClient(url)
            client.say(Said.later(60_000, id: 1))
            client.finish()
            // The call that is stopped is answered before the connection ends.
            let rest = try client.rest()
            #expect(rest.contains(#""id":1,"error":{"code":-32800"#), "\(rest)")
            #expect(server.counters.overruns == ["halfCloseGrace": 1])
        }
    }
}
