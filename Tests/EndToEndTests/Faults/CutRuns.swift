// The way between the two is bad: it is cut, over and over, or it changes bytes.

import Faults
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

extension FaultRuns {
    /// The address of the proxy for a client of a server with TLS, or without.
    private static func address(of proxy: FaultProxy, to url: Endpoint) throws -> Endpoint {
        guard let pin = url.description.firstRange(of: "?pin=") else { return proxy.url }
        return try Endpoint(proxy.url.description.replacing("tcp:", with: "tls:") + url.description[pin.lowerBound...])
    }

    /// The address of the socket of a server, without what it says of TLS.
    private static func plain(_ url: Endpoint) throws -> Endpoint { Endpoint(.plain(try url.destination().socket())) }

    private static let seals = Medium.withTLS.contains(.tls) ? [false, true] : [false]

    @Test(arguments: seals)
    func `64 callers notice nothing of a connection that is cut over and over`(isSealed: Bool) async throws {
        let (callers, calls) = (64, Self.size(3_200, full: 100_032))
        let cuts = Self.size(40, full: 1_000)
        let house = try LedgerHouse()
        let (server, url) = try house.start(isSealed: isSealed)
        defer { server.signal(9) }
        let proxy = try FaultProxy(to: Self.plain(url))
        // A call and its answer take some 150 bytes on the wire.
        let mean = calls * 120 / cuts
        proxy.cut(CutPlan(seed: 1, times: cuts, every: 1...2 * mean))
        let crowd = Crowd(RPCClient(try Self.address(of: proxy, to: url), .eager))
        let began = MonotonicClock.now
        await crowd.call(by: callers, times: calls / callers)
        let took = began.duration(to: MonotonicClock.now)

        expectNone(house.faults(crowd, isComplete: true))
        let records = crowd.history.calls
        print(
            "cut \(proxy.counts.cuts) times in \(took): \(records.answered) answered, \(records.count(.unknown)) unknown"
        )
        #expect(proxy.counts.cuts > cuts * 3 / 4)
        #expect(took < .seconds(60) || !Self.isFull)
        #expect(records.answered == calls && records.count == calls)
        #expect(house.entries.executions.count == calls)
    }

    @Test(.enabled(if: seals.count > 1))
    func `under TLS changed bytes change no result, and nothing runs twice`() async throws {
        let house = try LedgerHouse()
        let (server, url) = try house.start(isSealed: true)
        defer { server.signal(9) }
        let proxy = try FaultProxy(to: Self.plain(url))
        // Of a handshake, which has some 2,000 bytes, most arrive as they were.
        proxy.corrupt(.toServer, .toClient, every: 1...20_000, seed: 11)
        let crowd = Crowd(RPCClient(try Self.address(of: proxy, to: url), .eager))
        await crowd.call(by: 16, times: Self.size(100, full: 2_000))
        expectNone(house.faults(crowd))
        #expect(proxy.counts.corrupted > 0)
        print("changed \(proxy.counts.corrupted) bytes: \(crowd.history.calls.answered) answered")
    }

    @Test func `changed bytes end no process, and no call waits beyond its deadline`() async throws {
        let house = try LedgerHouse()
        let (server, url) = try house.start()
        defer { server.signal(9) }
        let proxy = try FaultProxy(to: url)
        let client = RPCClient(proxy.url, .eager)
        let crowd = Crowd(client, timeout: .milliseconds(200))
        proxy.corrupt(.toServer, .toClient, every: 1...3_000, seed: 7)
        // A changed length makes an end wait for bytes that never come, and nothing but the end of the connection ends
        // that: without cuts everything would stand still behind the first.
        proxy.cut(CutPlan(seed: 7, times: .max, every: 500...5_000))
        let calling = Task { await crowd.call(by: 16, isPosting: false) }
        await crowd.proceed(by: Self.size(1_000, full: 20_000))
        crowd.stop()
        await calling.value
        // Without a checksum a changed digit is a wrong answer: nothing is said of the results.
        expectNone(HistoryCheck(crowd.history.calls).faultsInEnding(slack: Self.slack + crowd.machineLateness))
        #expect(proxy.counts.corrupted > 0)
        print(
            "changed \(proxy.counts.corrupted) bytes: \(crowd.history.calls.answered) of \(crowd.history.calls.count) answered"
        )

        proxy.corrupt(every: 1...1, seed: 1)
        proxy.cut(CutPlan(seed: 1, times: 0, every: 1...1))
        proxy.cut()
        // The client may not have heard of the cut yet, and its session may end with a call of which the server counted wrong.
        let ledger = Faults.LedgerProxy(client)
        func add(_ number: Int) async throws -> Int {
            try await withCallTimeout(.seconds(60)) { try await ledger.add(caller: -1, number: number) }
        }
        let last: Int
        do { last = try await add(1) } catch { last = try await add(2) }
        #expect(last == house.entries.executions.count)
    }
}
