// Proxies whose object is made by the first call. Everything runs on the manual loop, the making too.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Lazy proxies` {
    @Test func `the first call makes the object and the others find it`() throws {
        let maker = Maker()
        let proxy = maker.proxy()
        maker.loop.run()
        #expect(maker.count == 0)
        #expect(try maker.loop.complete { try await proxy.echo(1) + proxy.echo(2) } == 3)
        proxy.note(3)
        #expect(maker.count == 1)
        #expect(maker.probes.first?.executed == [1, 2])
        #expect(maker.probes.first?.noted == [3])
    }

    @Test(.hasTime) func `a thousand first calls make one object`() async throws {
        let count = Lock(0)
        let proxy = ProbeProxy.lazy {
            count.withLock { $0 += 1 }
            await Task.yield()
            return RecordingProbe(ManualLoop())
        }
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1_000 { group.addTask { try await proxy.echo(number) } }
            return try await group.reduce(0, +)
        }
        #expect(sum == 499_500)
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `each call waits until its own deadline, or the timeout`() {
        let maker = Maker(taking: .seconds(10))
        let proxy = maker.proxy(timeout: .seconds(5))
        let hasty = maker.start(within: .seconds(1)) { try await proxy.echo(1) }
        let patient = maker.start { try await proxy.echo(2) }
        maker.loop.advance(by: .seconds(1))
        #expect(hasty.rpcError?.code == .deadlineExceeded)
        #expect(hasty.rpcError?.outcome == .notExecuted)
        #expect(hasty.rpcError?.message.contains("Probe") == true)
        #expect(!patient.isOver)
        let late = maker.start { try await proxy.echo(3) }
        maker.loop.advance(by: .seconds(4))
        #expect(patient.rpcError?.code == .deadlineExceeded)
        let last = maker.start { try await proxy.echo(4) }
        maker.loop.advance(by: .seconds(5))
        #expect(late.rpcError?.code == .deadlineExceeded)
        #expect(last.value == 4)
        #expect(maker.count == 1)
        #expect(maker.probes.first?.executed == [4])
    }

    @Test func `a failure reaches all that waited, and the next call tries again`() {
        let maker = Maker(failures: 1, taking: .seconds(1))
        let proxy = maker.proxy()
        let calls = (0..<3).map { number in maker.start { try await proxy.echo(number) } }
        maker.loop.advance(by: .seconds(1))
        for call in calls {
            #expect(call.rpcError?.code == .unavailable)
            #expect(call.rpcError?.outcome == .notExecuted)
            #expect(call.rpcError?.underlying is Maker.Failure)
            #expect(call.rpcError?.message.contains("Failure") == false)
            #expect(call.rpcError?.description.contains("Failure") == true, "who prints it here sees why")
        }
        let next = maker.start { try await proxy.echo(7) }
        maker.loop.advance(by: .seconds(1))
        #expect(next.value == 7)
        #expect(maker.count == 2)
    }

    @Test func `an error of ours that the making threw is passed on, and no call has run`() throws {
        let loop = ManualLoop()
        let proxy = ProbeProxy.lazy(on: loop, executor: loop) {
            throw RPCError(.busy, "no licence is free", outcome: .executed)
        }
        let call = StartedCall(on: loop) { try await proxy.echo(1) }
        loop.run()
        #expect(call.rpcError?.code == .busy)
        #expect(call.rpcError?.outcome == .notExecuted)
    }

    @Test func `one caller that is cancelled cancels nothing for the others`() {
        let maker = Maker(taking: .seconds(1))
        let proxy = maker.proxy()
        let first = maker.start { try await proxy.echo(1) }
        let second = maker.start { try await proxy.echo(2) }
        maker.loop.run()
        first.cancel()
        maker.loop.run()
        #expect(first.error is CancellationError)
        #expect(!second.isOver)
        maker.loop.advance(by: .seconds(1))
        #expect(second.value == 2)
        #expect(maker.probes.first?.executed == [2])
    }

    @Test func `the making goes on when all callers have given up`() {
        let maker = Maker(taking: .seconds(2))
        let proxy = maker.proxy()
        let first = maker.start { try await proxy.echo(1) }
        maker.loop.run()
        first.cancel()
        maker.loop.advance(by: .seconds(2))
        let second = maker.start { try await proxy.echo(2) }
        maker.loop.run()
        #expect(second.value == 2)
        #expect(maker.count == 1)
    }

    @Test func `the making has the deadline and the caller of nobody`() {
        let loop = ManualLoop()
        let scope = Lock<Bool?>(nil)
        let proxy = ProbeProxy.lazy(on: loop, executor: loop) {
            scope.withLock { $0 = CallScope.current == nil }
            return RecordingProbe(loop)
        }
        _ = StartedCall(on: loop, within: .seconds(1)) { try await proxy.echo(1) }
        loop.run()
        #expect(scope.withLock { $0 } == true)
    }

    @Test func `posts have the object made, are kept in order and go before later calls`() {
        let maker = Maker(taking: .seconds(1))
        let proxy = maker.proxy(limit: 3)
        for number in 1...5 { proxy.note(number) }
        let call = maker.start { try await proxy.echo(6) }
        maker.loop.run()
        #expect(maker.count == 1)
        #expect(proxy.refusedPosts == 2)
        maker.loop.advance(by: .seconds(1))
        #expect(maker.probes.first?.noted == [1, 2, 3])
        #expect(call.value == 6)
        proxy.note(7)
        #expect(maker.probes.first?.noted == [1, 2, 3, 7])
    }

    @Test func `posts outlive a failed attempt`() {
        let maker = Maker(failures: 1)
        let proxy = maker.proxy()
        proxy.note(1)
        maker.loop.run()
        #expect(maker.count == 1)
        proxy.note(2)
        maker.loop.run()
        #expect(maker.probes.first?.noted == [1, 2])
    }

    @Test func `a post finds its object though the proxy has gone, and then the object goes`() {
        let maker = Maker(taking: .seconds(1))
        let delivered = Lock<[Int]>([])
        weak var object: AnyObject?
        do {
            let proxy = ProbeProxy.lazy(on: maker.loop, executor: maker.loop) {
                try await maker.loop.sleep(for: .seconds(1))
                return Telling { number in delivered.withLock { $0.append(number) } }
            }
            object = proxy.proxySubject as AnyObject
            proxy.note(1)
        }
        #expect(object != nil)
        maker.loop.advance(by: .seconds(1))
        #expect(delivered.withLock { $0 } == [1])
        #expect(object == nil)
    }

    @Test func `made at a server, by the first call that comes over the wire`() {
        let network = SimulatedNetwork()
        let made = Lock(0)
        let exported = ProbeProxy.lazy(on: network.loop, executor: network.loop) {
            let number = made.withLock { made in
                made += 1
                return made
            }
            guard number > 1 else { throw Maker.Failure() }
            return RecordingProbe(network.loop)
        }
        network.exports.add(exported, named: nil)
        let client = network.client()
        let proxy = ProbeProxy(client)
        let first = StartedCall(on: network.loop) { try await proxy.echo(1) }
        network.loop.run()
        #expect(first.rpcError?.code == .unavailable)
        #expect(first.rpcError?.outcome == .notExecuted)
        let calls = (0..<9).map { number in StartedCall(on: network.loop) { try await proxy.echo(number) } }
        network.loop.run()
        #expect(calls.compactMap(\.value) == Array(0..<9))
        #expect(made.withLock { $0 } == 2)
        client.close()
        network.shutDown()
    }

    @Test func `what is made may be remote`() {
        let network = SimulatedNetwork()
        let probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        let client = network.client()
        let proxy = ProbeProxy.lazy(on: network.loop, executor: network.loop) { ProbeProxy(client) }
        proxy.note(1)
        let call = StartedCall(on: network.loop) { try await proxy.echo(2) }
        proxy.note(3)
        network.loop.run()
        #expect(network.dials == 1)
        #expect(call.value == 2)
        #expect(probe.noted == [1, 3])
        client.close()
        network.shutDown()
    }
}

/// Tells of each post.
private struct Telling: Probe {
    let tell: @Sendable (Int) -> Void

    init(_ tell: @escaping @Sendable (Int) -> Void) { self.tell = tell }
    func echo(_ number: Int) async throws -> Int { number }
    func fail(_ number: Int) async throws -> Int { number }
    func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
    func refuse(_ number: Int) async throws -> Int { number }
    func note(_ number: Int) { tell(number) }
}
