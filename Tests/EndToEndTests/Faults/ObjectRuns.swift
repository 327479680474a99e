// Objects by reference when something goes wrong between or under their ends: none is kept for a client that is gone, and none goes
// while it can be reached.

import Faults
import Foundation
import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RPCServer
@testable import RemoteProxy

extension FaultRuns {
    @Test func `ten thousand objects are given back when a connection is cut and never made again`() async throws {
        let (many, most, grace) = (10_000, 1_000, Duration.seconds(1))
        let depot = CountingDepot()
        let house = try await DepotHouse(depot) { $0.limits.sessionGrace = grace }
        let proxy = try FaultProxy(to: house.url)
        let client = RPCClient(proxy.url, .eager)
        let (remote, own) = (DepotProxy(client), PieceCount())
        var held: [any Piece] = []
        for _ in 0..<many / most { held += try await remote.handOut(most) }
        try await remote.keep((0..<most).map { NumberedPiece($0, own) })
        #expect(depot.count.alive == many && own.alive == most && depot.pieces.count == most)
        #expect(try await held[many - 1].number() == many - 1)

        let lateness = Lateness()
        proxy.refuse()
        let began = MonotonicClock.now
        proxy.cut()
        await until { depot.count.alive == 0 }
        let took = began.duration(to: MonotonicClock.now)
        let machine = lateness.stop() * 2
        print("\(many) objects were given back after \(took), machine \(machine)")
        #expect(took >= grace && took < grace + .seconds(1) + Self.slack + machine)
        #expect(house.server.driver.sessions.count == 0)
        // The client knows the time as well, and so needs no connection to let go of what the server has.
        await until { own.alive == 0 }
        await expectGone { _ = try await depot.pieces[0].number() }
        await expectGone { _ = try await held[0].number() }
        proxy.serve()
        #expect(try await remote.handOut(1).count == 1)
        withExtendedLifetime(held) {}
        await client.close(grace: .seconds(2))
        await house.server.stop(grace: .zero)
    }

    @Test func `a server lets go of everything of a client that is killed`() async throws {
        let depot = CountingDepot()
        let house = try await DepotHouse(depot) { $0.limits.sessionGrace = .seconds(1) }
        for _ in 0..<Self.size(1, full: 10) {
            let ledgers = try LedgerHouse()
            let (other, url) = try ledgers.start(next: house.url)
            let client = RPCClient(url, .eager)
            try await DepotProxy(client).exchange(200)
            #expect(try await DepotProxy(client).counts() == [200, 200])
            #expect(depot.count.alive == 200 && depot.pieces.count == 200)
            #expect(try await depot.pieces[199].number() == 199)
            client.close()
            other.signal(SIGKILL)
            #expect(other.end().code == -SIGKILL)
            await until { depot.count.alive == 0 }
            #expect(house.server.driver.sessions.count == 0)
            for piece in [depot.pieces[0], depot.pieces[199]] { await expectGone { _ = try await piece.number() } }
            depot.letGo()
        }
        await house.server.stop(grace: .zero)
    }

    @Test func `a client lets go of everything of a server that is killed, and its calls say what became of them`()
        async throws
    {
        let house = try LedgerHouse()
        var server = try house.start().server
        let client = RPCClient(house.url, .eager)
        let (depot, own) = (DepotProxy(client), PieceCount())
        for _ in 0..<Self.size(2, full: 20) {
            let held = try await depot.handOut(200)
            try await depot.keep((0..<200).map { NumberedPiece($0, own) })
            #expect(own.alive == 200)
            let slow = GatedPiece()
            let calling = Task { try await held[0].number(of: slow) }
            await slow.hasBegun()
            server.signal(SIGKILL)
            #expect(server.end().code == -SIGKILL)
            // Made while there is no server, and not sent before there is another one, which does not know the session.
            let waiting = Task { try await held[1].number() }
            server = try house.start().server
            let lost = await #expect(throws: RPCError.self) { try await calling.value }
            #expect(lost?.code == .connectionLost && lost?.outcome == .unknown)
            await expectGone { _ = try await waiting.value }
            await expectGone { _ = try await held[2].number() }
            await expectGone { try await depot.keep([held[3]]) }
            await until { own.alive == 0 }
            #expect(try await depot.counts() == [0, 0])
        }
        await client.close(grace: .seconds(2))
        server.signal(SIGTERM)
        #expect(server.end().code == 0)
    }

    @Test func `objects are exact after a connection was cut over and over while they were handed around`()
        async throws
    {
        let (cuts, workers) = (Self.size(40, full: 1_000), 16)
        let history = ObjectHistory()
        let depot = CountingDepot(counting: PieceCount("theirs", in: history))
        let house = try await DepotHouse(depot) { _ in }
        let proxy = try FaultProxy(to: house.url)
        proxy.cut(CutPlan(seed: 3, times: cuts, every: 1...6_000))
        let client = RPCClient(proxy.url, .eager)
        let (remote, own) = (DepotProxy(client), PieceCount("own", in: history))
        let faults = Lock<[String]>([])
        await withTaskGroup { group in
            for worker in 0..<workers {
                group.addTask {
                    var hands = DepotHands(worker, remote, depot.count, own, history)
                    do {
                        while proxy.counts.cuts < cuts { try await hands.turn() }
                    } catch { faults.withLock { $0.append("worker \(worker): \(error)") } }
                    hands.letGo()
                }
            }
        }
        #expect(faults.withLock { $0 } == [])
        try await remote.drop()
        await until { depot.count.alive == 0 && own.alive == 0 }
        // In one session: nothing of this is owed to its end.
        #expect(house.server.driver.sessions.count == 1)
        let objects = client.requester.link?.objects
        await until { objects?.takenCount == 0 && objects?.givenCount == 0 }
        #expect(objects?.isOver == false)
        expectNone(HistoryCheck.faults(objects: history.events))
        print(
            "cut \(proxy.counts.cuts) times: \(depot.count.made) objects went to the client and \(own.made) to the server"
        )
        #expect(proxy.counts.cuts >= cuts && depot.count.made > cuts && own.made > cuts)
        await client.close(grace: .seconds(2))
        await house.server.stop(grace: .zero)
    }

    @Test(arguments: [true, false])
    func `an answer with objects that is ready while there is no connection`(comesBack: Bool) async throws {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let depot = CountingDepot {
            // Asked for on the loop, before anything can happen to the connection.
            guard let states = Caller.current?.states else { return }
            arrived.continuation.yield()
            for await state in states { if case .lost = state { return } }
        }
        let house = try await DepotHouse(depot) {
            $0.limits.sessionGrace = comesBack ? .seconds(600) : .milliseconds(200)
        }
        let proxy = try FaultProxy(to: house.url)
        let client = RPCClient(proxy.url, .eager)
        let remote = DepotProxy(client)
        var arrivals = arrived.stream.makeAsyncIterator()
        for round in 0..<(comesBack ? Self.size(10, full: 500) : Self.size(2, full: 20)) {
            // A task keeps its result.
            do {
                let calling = Task { try await remote.handOut(3) }
                await arrivals.next()
                proxy.refuse()
                proxy.cut()
                await until { depot.count.made == 3 * (round + 1) }
                if comesBack {
                    proxy.serve()
                    let pieces = try await calling.value
                    #expect(try await pieces[2].number() == 3 * round + 2)
                    #expect(try await remote.numbers(pieces) == (0..<3).map { 3 * round + $0 })
                    #expect(depot.count.alive == 3)
                } else {
                    await until { depot.count.alive == 0 }
                    proxy.serve()
                    let error = await #expect(throws: RPCError.self) { try await calling.value }
                    #expect(error?.code == .connectionLost && error?.outcome == .unknown)
                }
            }
            await until { depot.count.alive == 0 }
            if comesBack { #expect(house.server.driver.sessions.count == 1) }
        }
        if let objects = client.requester.link?.objects {
            await until { objects.takenCount == 0 && objects.givenCount == 0 }
        }
        await client.close(grace: .seconds(2))
        await house.server.stop(grace: .zero)
    }

    /// The object of a session that is over: nothing was executed.
    private func expectGone(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: RPCError.self, sourceLocation: sourceLocation) { try await body() }
        #expect(error?.code == .noSuchObject && error?.outcome == .notExecuted, sourceLocation: sourceLocation)
    }
}
