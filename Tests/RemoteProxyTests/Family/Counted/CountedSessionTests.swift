// A counted object across connections: sessions hold it until they are over.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `A counted object elsewhere` {
    private let loop = ManualLoop()
    private let nursery = Nursery()
    private var child: ChildProxy { nursery.child(on: loop) }

    @Test func `is held by each session that has called it, until that is over`() async throws {
        let network = SimulatedNetwork(loop: loop)
        let child = self.child
        network.exports.add(child, named: nil)
        let (first, second) = (network.client(), network.client())
        let (one, two) = (ChildProxy(first), ChildProxy(second))
        for proxy in [one, two, one] { #expect(try await driven { try await proxy.number() } == 1) }
        #expect(child.holders == 2)
        first.close()
        loop.run()
        #expect(child.holders == 1)
        network.isServing = false
        network.cut()
        loop.advance(by: .seconds(1))
        #expect(child.holders == 1, "a session may come back within its grace time")
        loop.advance(by: .seconds(120))
        await until { nursery.told == 1 }
        #expect(child.holders == 0)
        network.isServing = true
        #expect(try await driven { try await one.number() } == nil, "a closed client makes nobody")
        let three = ChildProxy(network.client())
        #expect(try await driven { try await three.number() } == 2)
    }

    @Test func `is held by a subject's handle, and not by the session that it is used for`() async throws {
        let network = SimulatedNetwork(loop: loop)
        let (child, nanny) = (self.child, Nanny())
        nanny.handle = child.handle()
        network.exports.add(ChildProxy(nanny), named: nil)
        let proxy = ChildProxy(network.client())
        #expect(try await driven { try await proxy.number() } == 1)
        proxy.hear("through the handle")
        await until {
            loop.run()
            return nursery.log.count == 2
        }
        nanny.handle = nil
        await until { nursery.told == 1 }
        #expect(child.holders == 0)
        nanny.handle = child
        #expect(try await driven { try await proxy.number() } == 2)
        #expect(child.holders == 1, "without a handle it is the session that holds")
        nanny.handle = nil
    }

    /// The result of a body on the loop, which is driven until there is one; nil for the library's own errors.
    private func driven<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result?
    {
        let isDone = Lock(false)
        let task = Task(executorPreference: loop) {
            defer { isDone.withLock { $0 = true } }
            return try await body()
        }
        await until {
            loop.run()
            return isDone.withLock { $0 }
        }
        do { return try await task.value } catch is RPCError { return nil }
    }
}
