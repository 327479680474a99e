// A great many calls in one write: each is answered exactly once, and a neighbour does not wait for the last of them.

import Protocols
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Pipelining` {
    @Test(arguments: WireFraming.allCases)
    func `each of many pipelined calls is answered once while a neighbour is served`(framing: WireFraming) async throws
    {
        let count = 20_000
        var configuration = RPCServer.Configuration.quiet
        // A debug build on a busy machine takes its time.
        configuration.limits.maximumWait = .zero
        try await withWire(configuration) { url in
            let (busy, neighbour) = (try RawClient(url, framing), try RawClient(url))
            // Who says nothing at all for long is taken for nobody.
            _ = try neighbour.ask(#"{"jsonrpc":"2.0","method":"Counter.value","id":0}"#)
            var bytes: [UInt8] = []
            for id in 0..<count {
                bytes += framing.frame(
                    #"{"jsonrpc":"2.0","method":"Calculator.add","params":[\#(id),1],"id":\#(id)}"#)
            }
            busy.sendBeside(bytes)
            var missing = Set(0..<count)
            for heard in 0..<count {
                let reply = try #require(try busy.hear())
                let id = try #require(reply.dropFirst(#"{"jsonrpc":"2.0","id":"#.count).prefix { $0 != "," }.asInt)
                #expect(missing.remove(id) != nil && reply.hasSuffix(#""result":\#(id + 1)}"#))
                if heard == count / 100 {
                    for _ in 0..<10 {
                        let value = try neighbour.ask(Said.value)
                        #expect(try brief(value) == "1=0")
                    }
                }
            }
            #expect(missing.isEmpty)
            busy.finish()
            #expect(try busy.rest() == "")
        }
    }
}

@Suite(.waitsForOthers) struct `Overload` {
    private static func call(_ id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"Echo.text","params":["x"],"id":\#(id)}"#
    }

    /// Row C15 of "What became of my call".
    @Test func `what waits too long is refused before any work, and only of those who ask for much`() async throws {
        try await withGate(exporting: [EchoProxy(BusyEcho())]) {
            $0.limits.maximumWait = .milliseconds(5)
        } _: { server, url in
            let alone = try Self.hear(300, from: [RawClient(url)])
            #expect(alone.served == 300 && alone.refused == 0 && server.counters.overruns == [:])
            let neighbour = try RawClient(url)
            var (served, refused, asked) = (300, 0, 0)
            // Unless a busy machine lets one of them speak only when the other has been served.
            for _ in 0..<20 where refused == 0 {
                let both = try Self.hear(500, from: [RawClient(url), RawClient(url)]) { () throws in
                    // However busy the others are.
                    #expect(try brief(neighbour.ask(Self.call(0))) == "0=\"x\"")
                    asked += 1
                }
                served += both.served
                refused = both.refused
                #expect(both.served > 0 && both.patience >= .milliseconds(100))
            }
            #expect(refused > 0)
            #expect(server.counters.requestsBegun == served + asked)
            #expect(server.counters.overruns == ["maximumWait": refused])
            // When it is over it is over.
            for id in 1...10 { #expect(try brief(neighbour.ask(Self.call(id))) == "\(id)=\"x\"") }
        }
    }

    /// Has each client make so many calls at once.
    /// - Returns: how many were served and how many refused, for that limit, and after how long the first.
    private static func hear(
        _ count: Int, from clients: [RawClient], meanwhile: () throws -> Void = {}
    ) throws -> (served: Int, refused: Int, patience: Duration) {
        let calls = Array((1...count).map { Self.call($0) + "\n" }.joined().utf8)
        let start = ContinuousClock.now
        for client in clients { client.sendBeside(calls) }
        var (served, refused, patience) = (0, 0, Duration.seconds(3_600))
        for client in clients {
            var ids = Set<Int>()
            for heard in 0..<count {
                let reply = try #require(try client.hear())
                let id = try #require(reply.dropFirst(#"{"jsonrpc":"2.0","id":"#.count).prefix { $0 != "," }.asInt)
                #expect(ids.insert(id).inserted)
                if try brief(reply) == "\(id)=\"x\"" {
                    served += 1
                } else {
                    #expect(reply.contains("-32009") && reply.contains("(maximumWait)"))
                    if refused == 0 { patience = ContinuousClock.now - start }
                    refused += 1
                }
                if heard % 100 == 99 { try meanwhile() }
            }
        }
        return (served, refused, patience)
    }

    @Test func `without a limit everybody waits`() async throws {
        let count = 300
        try await withGate(exporting: [EchoProxy(BusyEcho())]) {
            $0.limits.maximumWait = .zero
        } _: { server, url in
            let busy = try RawClient(url)
            busy.sendBeside(Array((1...count).map { Self.call($0) + "\n" }.joined().utf8))
            for _ in 1...count { #expect(try brief(busy.hear()).hasSuffix("=\"x\"")) }
            #expect(server.counters.overruns.isEmpty)
        }
    }
}

/// Keeps its thread for a millisecond, as computing does.
private final class BusyEcho: Echo {
    func text(_ text: String) async throws -> String {
        let end = ContinuousClock.now + .milliseconds(1)
        while ContinuousClock.now < end {}
        return text
    }
    func record(_ record: Record) async throws -> Record { record }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String { text }
}

extension Substring {
    fileprivate var asInt: Int? { Int(self) }
}
