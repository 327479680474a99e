// A great many calls in one write: each is answered exactly once, and a neighbour does not wait for the last of them.

import Protocols
import RPCServer
import RemoteProxy
import Synchronization
import Testing

@Suite struct `Pipelining` {
    @Test(arguments: WireFraming.allCases)
    func `each of many pipelined calls is answered once while a neighbour is served`(framing: WireFraming) async throws
    {
        let count = 20_000
        var configuration = RPCServer.Configuration()
        // A debug build on a busy machine takes its time.
        configuration.maximumWait = .zero
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
                        let value = try neighbour.ask(#"{"jsonrpc":"2.0","method":"Counter.value","id":1}"#)
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

@Suite struct `Overload` {
    private static func call(_ id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"Echo.text","params":["x"],"id":\#(id)}"#
    }

    /// A thousand calls of a millisecond each, where waiting may take five.
    @Test func `what waits too long is refused before any work, and only of those who have something waiting`()
        async throws
    {
        let count = 1_000
        let subject = BusyEcho()
        try await withGate(exporting: [EchoProxy(subject)]) {
            $0.maximumWait = .milliseconds(5)
        } _: { server, url in
            let (busy, neighbour) = (try RawClient(url), try RawClient(url))
            _ = try neighbour.ask(Self.call(0))
            busy.sendBeside(Array((1...count).map { Self.call($0) + "\n" }.joined().utf8))
            var (served, refused) = (Set<Int>(), Set<Int>())
            for heard in 0..<count {
                let reply = try #require(try busy.hear())
                let id = try #require(reply.dropFirst(#"{"jsonrpc":"2.0","id":"#.count).prefix { $0 != "," }.asInt)
                if try brief(reply) == "\(id)=\"x\"" {
                    served.insert(id)
                } else {
                    #expect(reply.contains("-32009") && reply.contains("(maximumWait)"))
                    refused.insert(id)
                }
                // However busy the other is.
                if heard % 100 == 99 { #expect(try brief(neighbour.ask(Self.call(0))) == "0=\"x\"") }
            }
            #expect(served.count + refused.count == count && served.isDisjoint(with: refused))
            // What came within the first tenth of a second is served.
            #expect(served.count > 90 && !refused.isEmpty)
            #expect(subject.count == served.count + 11)
            #expect(server.counters.overruns == ["maximumWait": refused.count])
            // When it is over it is over.
            for id in 1...10 { #expect(try brief(busy.ask(Self.call(id))) == "\(id)=\"x\"") }
        }
    }

    @Test func `without a limit everybody waits`() async throws {
        let count = 300
        try await withGate(exporting: [EchoProxy(BusyEcho())]) {
            $0.maximumWait = .zero
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
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .relaxed) }

    func text(_ text: String) async throws -> String {
        calls.add(1, ordering: .relaxed)
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
