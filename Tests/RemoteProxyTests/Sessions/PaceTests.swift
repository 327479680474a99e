// Messages for an end that reads slowly, or runs few calls at a time: they wait in the session, in order, and nothing is lost.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
protocol Depot: Sendable {
    func store(_ text: String)
    func stored() async throws -> [Int]
    func haul(_ count: Int, bytes: Int) async throws -> Int
}

/// Notes the first number of each text, and has the caller's depot filled when it is asked to haul.
private final class NotingDepot: Depot {
    private let texts = Lock<[Int]>([])
    var numbers: [Int] { texts.withLock { $0 } }

    func store(_ text: String) {
        let number = Int(text.prefix { $0 != " " }) ?? -1
        texts.withLock { $0.append(number) }
    }

    func stored() async throws -> [Int] { numbers }

    func haul(_ count: Int, bytes: Int) async throws -> Int {
        guard let caller = Caller.current else { return 0 }
        let depot = DepotProxy(caller)
        for number in 0..<count { depot.store("\(number) " + String(repeating: "x", count: bytes)) }
        return count
    }
}

@Suite struct `The pace of the reader` {
    private let network = SimulatedNetwork()
    private let client: RPCClient
    private let depot = NotingDepot()
    private let log = Lock<[String]>([])

    init() {
        network.exports.add(DepotProxy(NotingDepot()), named: nil)
        var configuration = RPCClient.Configuration()
        configuration.log = { [log] line in log.withLock { $0.append(line.message) } }
        client = network.client(configuration)
        client.export(DepotProxy(depot))
    }

    private var slow: WireFaults {
        var faults = WireFaults()
        faults.capacity = 100_000
        return faults
    }

    @Test func `posts to a client that reads nothing for a while wait in its session, and all arrive`() throws {
        let proxy = DepotProxy(client)
        #expect(try network.loop.complete { try await proxy.stored() } == [])
        var faults = slow
        faults.isHeld = true
        network.injectFromServer(faults)
        let hauled = StartedCall(on: network.loop) { try await proxy.haul(250, bytes: 100_000) }
        network.loop.advance(by: .seconds(3))
        #expect(depot.numbers.isEmpty)
        network.injectFromServer(slow)
        network.loop.run()
        #expect(hauled.value == 250 && depot.numbers == Array(0..<250))
        #expect(network.dials == 1 && log.withLock { $0 }.isEmpty)
        network.loop.advance(by: .seconds(2))
        #expect(network.pendingPosts == 0)
    }

    @Test func `a client that comes back to more posts than a connection takes gets them all`() throws {
        let proxy = DepotProxy(client)
        #expect(try network.loop.complete { try await proxy.stored() } == [])
        var faults = slow
        faults.isHeld = true
        network.injectFromServer(faults)
        let hauled = StartedCall(on: network.loop) { try await proxy.haul(250, bytes: 100_000) }
        network.loop.run()
        network.cut()
        network.loop.run()
        network.injectFromServer(slow)
        network.loop.run()
        #expect(hauled.value == 250 && depot.numbers == Array(0..<250))
        #expect(network.dials == 2)
    }

    /// Row C13 of "What became of my call".
    @Test(arguments: [1, 16, 1_024])
    func `more calls than the server runs at a time wait for a place, and each is answered`(places: Int) throws {
        var settings = LinkSettings()
        settings.limits.maximumRequestsInFlight = places
        let traffic = Traffic(loops: 1, maximumRequests: 8_192)
        settings.traffic = traffic
        let network = SimulatedNetwork(settings: settings)
        let probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        let proxy = ProbeProxy(network.client())
        let calls = (0..<3_000).map { number in
            StartedCall(on: network.loop) { try await proxy.wait(number, milliseconds: 1) }
        }
        network.loop.advance(by: .seconds(5))
        #expect(calls.map(\.value) == Array(0..<3_000))
        #expect(probe.executed == Array(0..<3_000), "in the order in which they were made")
        #expect(traffic.rareEvents.overruns.isEmpty)
        network.shutDown()
    }

    /// Row C13 of "What became of my call".
    @Test func `a call that has no place until its deadline was not executed, and learns what it waited for`() throws {
        var settings = LinkSettings()
        settings.limits.maximumRequestsInFlight = 1
        let network = SimulatedNetwork(settings: settings)
        let probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        let proxy = ProbeProxy(network.client())
        let first = StartedCall(on: network.loop) { try await proxy.wait(1, milliseconds: 10_000) }
        network.loop.run()
        let second = StartedCall(on: network.loop, within: .seconds(2)) { try await proxy.echo(2) }
        network.loop.advance(by: .seconds(3))
        #expect(second.rpcError?.code == .deadlineExceeded && second.rpcError?.outcome == .notExecuted)
        #expect(second.rpcError?.message.contains("maximumRequestsInFlight") == true)
        network.loop.advance(by: .seconds(10))
        #expect(first.value == 1 && probe.executed == [1])
        network.shutDown()
    }

    @Test func `acknowledgements come within a second of quiet, so that no post is said to be lost that has run`()
        throws
    {
        let proxy = DepotProxy(client)
        #expect(try network.loop.complete { try await proxy.haul(3, bytes: 10) } == 3)
        network.loop.run()
        #expect(depot.numbers == [0, 1, 2] && network.pendingPosts == 3)
        network.loop.pretend { proxy.store("1 x") }
        network.loop.run()
        #expect(client.requester.pendingPosts == 1)
        network.loop.advance(by: .seconds(1))
        #expect(
            client.requester.pendingPosts == 0 && network.pendingPosts == 0 && network.keptReplies == 0)
    }

    @Test(arguments: [1, 63, 64, 65, 128]) func `answers are acknowledged within a second, however many they are`(
        count: Int
    ) throws {
        let proxy = DepotProxy(client)
        for _ in 0..<count { #expect(try network.loop.complete { try await proxy.stored() } == []) }
        network.loop.advance(by: .milliseconds(1_100))
        #expect(network.keptReplies == 0)
    }

    @Test func `a reply that no call waits for is counted, and logged once for each session`() throws {
        let traffic = Traffic(loops: 1, maximumRequests: 100)
        var settings = LinkSettings()
        settings.traffic = traffic
        let lines = Lock<[String]>([])
        let network = SimulatedNetwork(settings: settings, log: { line in lines.withLock { $0.append(line) } })
        let peer = try HandwrittenEnd(network)
        for id in ["7", "8", "-2"] { peer.say(#"{"jsonrpc":"2.0","id":\#(id),"result":1}"#) }
        #expect(traffic.rareEvents.strays == 3)
        #expect(lines.withLock { $0.filter { $0.contains("no call had it") } }.count == 1)
    }
}
