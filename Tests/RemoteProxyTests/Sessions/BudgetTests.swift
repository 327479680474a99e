// What a server keeps for its peers: all of it is counted, goes with its session, and the largest debtor pays first.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
protocol Vat: Sendable {
    func fill(_ text: String)
    func stir(_ text: String) async
    func wait(milliseconds: Int) async throws -> Int
    /// Posts so many texts to the caller's own vat.
    func pour(_ count: Int, bytes: Int) async throws -> Int
    @ReadOnly func sample(_ number: Int, bytes: Int) async throws -> String
}

private final class SlowVat: Vat {
    let loop: ManualLoop
    let filled = Lock(0)

    init(_ loop: ManualLoop) { self.loop = loop }

    func fill(_ text: String) { filled.withLock { $0 += 1 } }

    /// Takes a minute for each.
    func stir(_ text: String) async {
        if (try? await loop.sleep(for: .seconds(60))) != nil { filled.withLock { $0 += 1 } }
    }

    func wait(milliseconds: Int) async throws -> Int {
        try await loop.sleep(for: .milliseconds(milliseconds))
        return milliseconds
    }

    func pour(_ count: Int, bytes: Int) async throws -> Int {
        guard let caller = Caller.current else { return 0 }
        for _ in 0..<count { VatProxy(caller).fill(String(repeating: "x", count: bytes)) }
        return count
    }

    func sample(_ number: Int, bytes: Int) async throws -> String { String(repeating: "\(number % 10)", count: bytes) }
}

@Suite struct `The budget of a server` {
    private let loop = ManualLoop()
    private let log = Lock<[String]>([])

    private func network(
        inAll: Int = 10_000_000, inFlight: Int = 1_000_000, maximumSessions: Int = 10_000,
        _ change: (inout LinkSettings) -> Void = { _ in }
    ) -> (SimulatedNetwork, Traffic) {
        let traffic = Traffic(loops: 1, maximumRequests: 100, maximumBytes: inAll)
        var settings = LinkSettings()
        settings.traffic = traffic
        settings.limits.maximumBytesInAll = inAll
        settings.limits.maximumBytesInFlight = inFlight
        change(&settings)
        let network = SimulatedNetwork(
            settings: settings, loop: loop, maximumSessions: maximumSessions,
            log: { [log] line in log.withLock { $0.append(line) } })
        traffic.whenFull { [loop] in
            loop.submit {
                network.sessions.endDebtors(of: traffic.bytes - inAll / 8 * 7, and: [])
                traffic.reliefIsOver()
            }
        }
        return (network, traffic)
    }

    private let text = String(repeating: "x", count: 50_000)

    @Test(arguments: [false, true])
    func `posts that a proxy keeps for its object have a limit for each session, and go with it`(
        isGoodbye: Bool
    ) throws {
        let (network, traffic) = network()
        let vat = SlowVat(loop)
        let late = VatProxy.lazy(on: loop, executor: loop) { [loop] in
            try await loop.sleep(for: .seconds(25))
            return vat
        }
        network.exports.add(late, named: nil)
        var client: RPCClient? = network.client()
        if let client {
            let proxy = VatProxy(client)
            loop.pretend { for _ in 0..<40 { proxy.fill(text) } }
            loop.advance(by: .seconds(2))
        }
        // Twenty fill the limit, and the last of them may go beyond it.
        #expect(traffic.bytes > 1_000_000 && traffic.bytes < 1_100_000)
        if isGoodbye {
            client?.close()
            loop.advance(by: .seconds(2))
            #expect(traffic.bytes > 1_000_000, "they were acknowledged, and still run")
            loop.advance(by: .seconds(30))
            #expect(vat.filled.withLock { $0 } == 20)
        } else {
            network.isServing = false
            network.cut()
            network.sessions.close()
            loop.run()
            #expect(traffic.bytes == 0)
            loop.advance(by: .seconds(30))
            #expect(vat.filled.withLock { $0 } == 0)
        }
        client = nil
        loop.run()
        #expect(traffic.bytes == 0)
        network.shutDown()
    }

    @Test(arguments: [false, true])
    func `objects by reference count while their session has no connection`(isResumed: Bool) throws {
        let (network, traffic) = network()
        network.exports.add(BookshopProxy(CornerBookshop()), named: nil)
        let client = network.client()
        let shop = BookshopProxy(client)
        let parcels = try loop.complete {
            var parcels: [Parcel] = []
            for number in 0..<20 { parcels.append(try await shop.open("\(number)")) }
            return parcels
        }
        loop.advance(by: .seconds(1))
        let before = traffic.bytes
        network.isServing = false
        network.cut()
        loop.run()
        #expect(traffic.bytes == before + 20 * 32)
        if isResumed {
            network.isServing = true
            try loop.complete { try await client.connect() }
            loop.advance(by: .seconds(1))
            #expect(traffic.bytes == before)
            withExtendedLifetime(parcels) {}
        } else {
            loop.advance(by: .seconds(61))
            #expect(traffic.bytes == 0)
        }
        client.close()
        network.shutDown()
        #expect(traffic.bytes == 0)
    }

    @Test func `posts for an object that never comes have the grace of a session after a goodbye`() throws {
        let (network, traffic) = network()
        network.exports.add(VatProxy.unbound(on: loop, executor: loop).proxy, named: nil)
        do {
            let client = network.client()
            let proxy = VatProxy(client)
            loop.pretend { for _ in 0..<10 { proxy.fill(text) } }
            loop.run()
            client.close()
            loop.advance(by: .seconds(2))
        }
        #expect(traffic.bytes > 500_000 && network.sessions.count == 0)
        loop.advance(by: .seconds(60))
        #expect(traffic.bytes == 0)
        network.shutDown()
    }

    @Test func `of too many sessions that finish after a goodbye the oldest loses its posts`() throws {
        let (network, traffic) = network(maximumSessions: 2)
        network.exports.add(VatProxy.unbound(on: loop, executor: loop).proxy, named: nil)
        for count in [1, 2, 3, 3] {
            let before = traffic.bytes
            let client = network.client()
            let proxy = VatProxy(client)
            loop.pretend { proxy.fill(text) }
            loop.run()
            client.close()
            loop.advance(by: .seconds(2))
            #expect(count < 3 ? traffic.bytes > before + 50_000 : abs(traffic.bytes - before) < 1_000)
        }
        #expect(log.withLock { $0.filter { $0.contains("the session of its sender is over") }.count } == 2)
        loop.advance(by: .seconds(60))
        #expect(traffic.bytes == 0)
        network.shutDown()
    }

    @Test func `posts of a session that is over leave their places to those of others`() throws {
        let (network, traffic) = network()
        let late = VatProxy.unbound(maximumKeptPosts: 10, on: loop, executor: loop).proxy
        network.exports.add(late, named: nil)
        for round in 1...2 {
            let client = network.client()
            let proxy = VatProxy(client)
            loop.pretend { for _ in 0..<10 { proxy.fill("x") } }
            loop.run()
            #expect(traffic.rareEvents.droppedPosts == (round - 1) * 10)
            network.isServing = false
            network.cut()
            loop.advance(by: .seconds(61))
            #expect(traffic.bytes == 0)
            network.isServing = true
            client.close()
            loop.advance(by: .seconds(3))
        }
        network.shutDown()
    }

    @Test func `a session that is over has nothing kept for it, also if nothing was kept before`() {
        let traffic = Traffic(loops: 1, maximumRequests: 1)
        let account = SessionAccount(traffic, mostKept: 1_000)
        account.dropKept()
        #expect(throws: NotKept.self) { try account.keeps(ObjectIdentifier(traffic), of: 10) {} }
        #expect(traffic.bytes == 0 && !account.keepsPosts)
    }

    @Test func `calls to a peer that answers none are counted as they are made, and refused when all is used up`()
        throws
    {
        let (network, traffic) = network(inAll: 1_000_000)
        let callers = Lock<[Caller]>([])
        network.exports.add(
            VatProxy(SlowVat(loop)).observed { _ in
                callers.withLock { $0.append(contentsOf: Caller.current.map { [$0] } ?? []) }
            }, named: nil)
        let client = network.client()
        client.export(VatProxy(SlowVat(loop)))
        #expect(try loop.complete { try await VatProxy(client).wait(milliseconds: 1) } == 1)
        let caller = try #require(callers.withLock { $0.first })
        let calls = (0..<1_000).map { _ in
            StartedCall(on: loop) { try await VatProxy(caller).wait(milliseconds: 1_000_000) }
        }
        loop.run()
        #expect(traffic.rareEvents.overruns[.maximumBytesInAll] == 1 && traffic.bytes == 0, "the session is ended")
        #expect(calls.last?.rpcError?.code == .busy && calls.last?.rpcError?.outcome == .notExecuted)
        network.shutDown()
    }

    @Test func `posts that wait take no places of calls`() throws {
        let (network, traffic) = network()
        network.exports.add(VatProxy(SlowVat(loop)), named: nil)
        let clients = (0..<4).map { _ in network.client() }
        for client in clients {
            let proxy = VatProxy(client)
            loop.pretend { for _ in 0..<100 { Task(executorPreference: loop) { await proxy.stir("x") } } }
        }
        loop.run()
        #expect(traffic.running == 4, "one post of each session runs")
        let other = VatProxy(network.client())
        #expect(try loop.complete { try await other.wait(milliseconds: 1) } == 1)
        #expect(traffic.rareEvents.overruns.isEmpty)
        network.shutDown()
    }

    @Test func `posts of a peer that has said goodbye have the grace of a session to run, and then end`() throws {
        let (network, traffic) = network()
        let vat = SlowVat(loop)
        network.exports.add(VatProxy(vat), named: nil)
        let client = network.client()
        let proxy = VatProxy(client)
        loop.pretend { for _ in 0..<10 { Task(executorPreference: loop) { await proxy.stir(text) } } }
        loop.run()
        #expect(traffic.running == 1 && traffic.bytes > 400_000)
        client.close()
        loop.advance(by: .seconds(59))
        #expect(traffic.running == 1 && traffic.bytes > 400_000)
        loop.advance(by: .seconds(3))
        #expect(traffic.running == 0 && traffic.bytes == 0)
        #expect(vat.filled.withLock { $0 } <= 1)
        #expect(log.withLock { $0.contains { $0.contains("posts were received and not run") } })
        network.shutDown()
    }

    /// Row C14 of "What became of my call".
    @Test func `the session that owes most loses its way back when all is used up, and others go on`() throws {
        let (network, traffic) = network(inAll: 2_000_000)
        network.exports.add(VatProxy(SlowVat(loop)), named: nil)
        let clients = (0..<2).map { _ in network.client() }
        for client in clients { client.export(VatProxy(SlowVat(loop))) }
        let proxies = clients.map { VatProxy($0) }
        for proxy in proxies { #expect(try loop.complete { try await proxy.wait(milliseconds: 1) } == 1) }
        var silent = WireFaults()
        silent.isHeld = true
        silent.capacity = 1
        network.injectFromServer(silent)
        let calls = zip(proxies, [6, 26]).map { proxy, count in
            StartedCall(on: loop) { try await proxy.pour(count, bytes: 50_000) }
        }
        loop.run()
        network.isServing = false
        network.cut()
        loop.run()
        #expect(traffic.bytes < 1_750_000)
        #expect(traffic.rareEvents.overruns[.maximumBytesInAll] == 1)
        #expect(log.withLock { $0.filter { $0.hasPrefix("ended the session") }.count } == 1)
        #expect(network.sessions.count == 1, "the smaller debtor keeps its session")
        network.injectFromServer(WireFaults())
        network.isServing = true
        loop.advance(by: .seconds(30))
        #expect(calls[1].rpcError?.code == .connectionLost && calls[1].rpcError?.outcome == .unknown)
        network.shutDown()
    }

    @Test func `answers to a peer that never reads are counted as they are queued, and stop at a limit`() throws {
        let (network, traffic) = network(inAll: 1 << 30)
        var faults = WireFaults()
        (faults.isHeld, faults.capacity) = (true, 1)
        network.injectOnce(faults, fromServer: true)
        let stream = try network.rawStream()
        // None of its members is a request, and each is answered with an error.
        let batch = Bytes("[" + Array(repeating: "1", count: 1_000).joined(separator: ",") + "]")
        batch.withUnsafeBytes { for _ in 0..<200 { stream.append($0, framing: .lines) } }
        stream.flush()
        loop.run()
        #expect(traffic.bytes > 1_000_000 && traffic.bytes < 4_000_000)
        stream.abort()
        loop.run()
        #expect(traffic.bytes == 0)
        network.shutDown()
    }

    @Test(arguments: [400_000, 10_000_000])
    func `what an exported cache has for peers is counted, within its own limit and half of the budget`(
        most: Int
    ) throws {
        let (network, traffic) = network(inAll: 2_000_000)
        var policy = CachePolicy(freshFor: .seconds(1_000))
        policy.maximumBytes = most
        var cache: VatProxy? = VatProxy(SlowVat(loop)).cached(
            in: .memory, methods: nil, policy, .manual(loop))
        let registration = network.exports.add(try #require(cache), named: nil)
        // The wire takes any result at once, so that none of it is counted as output.
        network.injectOnce(WireFaults(), fromServer: true)
        let proxy = VatProxy(network.client())
        for number in 0..<40 {
            let result = try loop.complete { try await proxy.sample(number, bytes: 50_000) }
            #expect(result == String(repeating: "\(number % 10)", count: 50_000))
        }
        loop.run()
        let expected = min(most, 1_000_000)
        #expect(traffic.bytes > expected / 10 * 8 && traffic.bytes < expected + 60_000)
        // One that is too large is not kept, and removes none.
        let before = traffic.bytes
        #expect(try loop.complete { try await proxy.sample(1, bytes: 900_000) }.count == 900_000)
        loop.run()
        #expect(abs(traffic.bytes - before) < 1_000)
        registration.cancel()
        cache = nil
        network.shutDown()
        loop.run()
        #expect(traffic.bytes == 0)
    }

    @Test func `what has not come whole, and what waits, is counted and given back`() throws {
        let (network, traffic) = network()
        network.exports.add(VatProxy(SlowVat(loop)), named: nil)
        let peer = try HandwrittenEnd(network)
        peer.sendRaw(#"{"jsonrpc":"2.0","method":"Vat.fill","params":["# + "\"" + text)
        loop.run()
        #expect(traffic.bytes >= 50_000)
        peer.sendRaw("\"]}\n")
        loop.run()
        #expect(traffic.bytes == 0)
        peer.sendRaw(#"{"jsonrpc":"2.0","method":"Vat.fill","params":["# + "\"" + text)
        loop.run()
        #expect(traffic.bytes >= 50_000)
        peer.cut()
        #expect(traffic.bytes == 0)
        network.shutDown()
    }
}
