// Texts of a peer that are one character of many bytes. Swift compares and hashes characters, and takes the square of such a
// text's length for it. So what a peer has chosen is compared by its bytes, or only if it is short.

import Foundation
import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.computesForLong) struct `One character of many bytes` {
    private final class Deaf: ByteReceiver {
        func received(_ bytes: Bytes) {}
        func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {}
    }

    /// A text of so many bytes, which would take seconds to compare.
    private static func marks(_ bytes: Int) -> String { String(repeating: "\u{0301}\u{0316}", count: bytes / 4) }

    private static func request(_ method: String, _ params: String = "[]", _ other: String = "") -> String {
        #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":\#(params)\#(other)}"#
    }

    /// The processor time that a server takes for these lines, each sent over so many connections.
    private func seconds(
        _ lines: [String], connections: Int = 1, _ change: (inout LinkSettings) throws -> Void = { _ in }
    ) throws -> Double {
        var settings = LinkSettings()
        try change(&settings)
        let network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
        for _ in 0..<connections {
            let stream = try network.rawStream()
            stream.open(Deaf())
            for line in lines { Bytes(line).withUnsafeBytes { _ = stream.append($0, framing: .lines) } }
            stream.flush()
        }
        let start = Self.cpuSeconds()
        network.loop.run()
        let seconds = Self.cpuSeconds() - start
        network.shutDown()
        return seconds
    }

    private static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func `costs little as a method, also while requests wait`() throws {
        let lines =
            [Self.request("Probe.wait", "[1,100000]")] + Array(repeating: Self.request("Probe.echo", "[1]"), count: 100)
            + ["rpc.", "$/", "Probe."].map { Self.request($0 + Self.marks(1 << 19)) }
        #expect(try seconds(lines) { $0.limits.maximumRequestsInFlight = 1 } < 3)
        #expect(try seconds(lines) { $0.traceMessages(true, into: { _ in }) } < 3)
    }

    @Test func `is refused as a key of a dictionary, and as an argument of a cached method`() throws {
        let network = SimulatedNetwork()
        defer { network.shutDown() }
        let (loop, cabinet) = (network.loop, CountingCabinet())
        network.exports.add(
            CabinetProxy(cabinet).cached(
                in: .memory, methods: nil, CachePolicy(freshFor: .seconds(100)), .manual(loop)),
            named: nil)
        let client = network.client()
        let (far, text) = (CabinetProxy(client), Self.marks(1 << 17))
        let calls: [@Sendable () async throws -> Int] = [
            { try await far.compare(text, [], nil) },
            { try await far.compare("", [text], nil) },
            { try await far.look(Folder(text)).name.count },
            { try await far.read(Paper(words: [text: 1]), 1).count },
        ]
        let start = Self.cpuSeconds()
        for call in calls {
            let error = #expect(throws: RPCError.self) { try loop.complete { try await call() } }
            #expect(error?.code == .invalidArguments && error?.outcome == .notExecuted)
            #expect(error?.message.contains("more than 30 combining marks in a row") == true)
        }
        #expect(Self.cpuSeconds() - start < 3)
        #expect(try loop.complete { try await far.compare("a", ["a\u{0301}"], nil) } == 1)
        #expect(try loop.complete { try await far.compare("a", ["a\u{0301}"], nil) } == 1)
        client.close()
    }

    @Test func `costs little before a login`() throws {
        let line = Self.request("rpc." + Self.marks(15_000))
        let tokens = try TokenList(parsing: "ada guest a-secret-for-this-test")
        #expect(try seconds([line], connections: 200) { $0.tokens = Lock(tokens) } < 3)
    }

    @Test func `costs little as a key of metadata, or as an object that shall be held`() throws {
        let metadata = Self.request("Probe.echo", "[1]", #","metadata":{"\#(Self.marks(30_000))":""}"#)
        #expect(try seconds(Array(repeating: metadata, count: 50)) < 3)
        let hold = Self.request("rpc.hold", #"{"object":"\#(Self.marks(15_000))","lease":1}"#)
        #expect(try seconds(Array(repeating: hold, count: 200)) < 3)
    }
}
