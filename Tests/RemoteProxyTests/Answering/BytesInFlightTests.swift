// What the calls that run have come with: no more of it than allowed and one message, refused before any work beyond that,
// and given back once, however a call ends.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
protocol Parcels: Sendable {
    /// Keeps the text for that time, and says what became of it.
    func keep(_ text: String, milliseconds: Int) async throws -> String
    /// A text of that length.
    func fetch(_ length: Int) async throws -> String
}

private struct ParcelShelf: Parcels {
    let loop: ManualLoop

    func keep(_ text: String, milliseconds: Int) async throws -> String {
        try await loop.sleep(for: .milliseconds(milliseconds))
        return "kept"
    }

    func fetch(_ length: Int) async throws -> String { String(repeating: "x", count: length) }
}

/// Hands every text back to whoever sent it.
private struct Returned: Parcels {
    func keep(_ text: String, milliseconds: Int) async throws -> String {
        guard let caller = Caller.current else { return "nobody called" }
        do {
            return try await ParcelsProxy(caller).keep(text, milliseconds: milliseconds)
        } catch let error as RPCError {
            return "\(error.code == .busy) \(error.outcome) \(error.message)"
        }
    }

    func fetch(_ length: Int) async throws -> String { "" }
}

@Suite struct `Bytes in flight` {
    enum Ending: CaseIterable { case returned, cancelled, outOfTime, joinedAfterResumption, droppedWithItsSession }

    private static let text = String(repeating: "x", count: 6_000)
    private let traffic = Traffic(loops: 1, maximumRequests: 1_000, maximumBytes: 20_000)

    private func network() -> SimulatedNetwork {
        var settings = LinkSettings()
        settings.limits.maximumBytesInFlight = 10_000
        settings.traffic = traffic
        let network = SimulatedNetwork(settings: settings)
        network.exports.add(ParcelsProxy(ParcelShelf(loop: network.loop)), named: nil)
        return network
    }

    private static func keep(_ id: Int, _ text: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"Parcels.keep","params":["\#(text)",100000]}"#
    }

    private func call(
        _ parcels: ParcelsProxy, on loop: ManualLoop, _ text: String = Self.text, milliseconds: Int = 1_000
    ) -> Task<String, any Error> {
        Task(executorPreference: loop) { try await parcels.keep(text, milliseconds: milliseconds) }
    }

    @Test(arguments: Ending.allCases)
    func `of one connection are given back once, however calls end`(_ ending: Ending) throws {
        let network = network()
        let loop = network.loop
        var configuration = RPCClient.Configuration()
        configuration.timeout = ending == .outOfTime ? .milliseconds(500) : .seconds(600)
        let parcels = ParcelsProxy(network.client(configuration))
        let time = ending == .droppedWithItsSession ? 300_000 : 1_000
        let running = (1...2).map { _ in call(parcels, on: loop, milliseconds: time) }
        loop.advance(by: .milliseconds(10))
        #expect(traffic.running == 2 && traffic.bytes >= 12_000 && traffic.bytes < 13_000)
        // The client knows the limit, and keeps further calls back.
        let waiting = [Self.text, ""].map { call(parcels, on: loop, $0) }
        loop.advance(by: .milliseconds(10))
        #expect(traffic.calls == 2 && traffic.rareEvents.overruns.isEmpty)
        for task in waiting { task.cancel() }
        for task in waiting { #expect(throws: CancellationError.self) { try loop.complete { try await task.value } } }
        switch ending {
        case .returned, .outOfTime: break
        case .cancelled: for task in running { task.cancel() }
        case .joinedAfterResumption: network.cut()
        case .droppedWithItsSession:
            network.cut()
            network.isServing = false
            loop.advance(by: .seconds(90))
            network.isServing = true
        }
        let isKept = ending == .returned || ending == .joinedAfterResumption
        for task in running {
            let answer = try? loop.complete { try await task.value }
            #expect(answer == (isKept ? "kept" : nil))
        }
        loop.advance(by: .milliseconds(10))
        #expect(traffic.running == 0 && traffic.bytes == 0)
        let next = (1...2).map { _ in call(parcels, on: loop, milliseconds: 10) }
        for task in next { #expect(try loop.complete { try await task.value } == "kept") }
        #expect(traffic.calls == 4)
        network.shutDown()
    }

    @Test func `of one connection are refused where the other end does not keep to the limit`() throws {
        let network = network()
        let peer = try HandwrittenEnd(network)
        for id in 1...2 { peer.send(Self.keep(id, Self.text)) }
        for (id, text) in [(3, Self.text), (4, "")] {
            peer.say(Self.keep(id, text))
            let answer = peer.take().joined()
            #expect(answer.contains(#""id":\#(id),"error""#))
            #expect(answer.contains("more than 10000 bytes of arguments of one connection's calls"))
        }
        #expect(traffic.rareEvents.overruns == [.maximumBytesInFlight: 2])
        peer.cut()
        #expect(traffic.running == 0 && traffic.bytes == 0)
        network.shutDown()
    }

    /// Row C15 of "What became of my call".
    @Test func `of all connections together have a limit too`() throws {
        let network = network()
        let loop = network.loop
        let running = (1...4).map { _ in call(ParcelsProxy(network.client()), on: loop) }
        loop.advance(by: .milliseconds(10))
        let late = ParcelsProxy(network.client())
        let refused = call(late, on: loop)
        let error = #expect(throws: RPCError.self) { try loop.complete { try await refused.value } }
        #expect(error?.code == .busy && error?.outcome == .notExecuted)
        #expect(error?.message.contains("bytes kept for all peers") == true)
        #expect(traffic.rareEvents.overruns == [.maximumBytesInAll: 1])
        // However much the others hold, a little may come.
        let small = call(late, on: loop, "", milliseconds: 10)
        #expect(try loop.complete { try await small.value } == "kept")
        for task in running { #expect(try loop.complete { try await task.value } == "kept") }
        #expect(try loop.complete { try await late.keep(Self.text, milliseconds: 1) } == "kept")
        network.shutDown()
    }

    /// More pings than allowed are answered by closing the connection, and so the batch is never complete.
    @Test(arguments: [false, true])
    func `of answers that wait for the rest of their batch are given back with the session`(isFlooded: Bool) throws {
        let network = network()
        let peer = try HandwrittenEnd(network)
        let fetch = #"{"jsonrpc":"2.0","id":1,"method":"Parcels.fetch","params":[6000]}"#
        let keep = #"{"jsonrpc":"2.0","id":2,"method":"Parcels.keep","params":["",100000]}"#
        let ping = #"{"jsonrpc":"2.0","id":3,"method":"rpc.ping"}"#
        peer.say("[\(fetch),\(keep)]")
        #expect(traffic.bytes >= 6_000 && peer.take().isEmpty)
        if isFlooded {
            peer.say("[" + Array(repeating: ping, count: 200).joined(separator: ",") + ",\(fetch)]")
            #expect(peer.hasEnded)
        } else {
            peer.cut()
        }
        network.loop.advance(by: .seconds(1))
        #expect(traffic.running == 0 && traffic.bytes == 0)
        network.shutDown()
    }

    @Test func `are limited at a client that is called back as well`() throws {
        let network = SimulatedNetwork()
        network.exports.add(ParcelsProxy(Returned()), named: nil)
        let loop = network.loop
        var configuration = RPCClient.Configuration()
        configuration.limits.maximumBytesInFlight = 10_000
        let client = network.client(configuration)
        client.export(ParcelsProxy(ParcelShelf(loop: loop)))
        let parcels = ParcelsProxy(client)
        let running = (1...2).map { _ in call(parcels, on: loop) }
        loop.advance(by: .milliseconds(10))
        // The server knows the limit, and keeps its call back.
        let late = call(parcels, on: loop)
        loop.advance(by: .milliseconds(10))
        for task in running + [late] { #expect(try loop.complete { try await task.value } == "kept") }
        #expect(loop.now >= Instant(nanoseconds: 2_000_000_000), "one after the other")
        network.shutDown()
    }

    @Test func `a batch that waits counts for each of its members, however short they are`() {
        let batch = Bytes("[" + Array(repeating: "1", count: 1_000).joined(separator: ",") + "]")
        var waiting = WaitingMessages()
        waiting.append(MessageReader().read(batch), size: batch.count)
        let kept = waiting.bytes
        #expect(kept >= 1_000 * MemoryLayout<Message>.stride)
        let isGone = waiting.popFirst() != nil && waiting.bytes == 0 && waiting.isEmpty
        #expect(isGone)
    }
}
