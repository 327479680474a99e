// A counted object across connections: references hold it until they are given back or their session is over.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `A counted object elsewhere` {
    private let loop = ManualLoop()
    private let nursery = Nursery()
    private var child: ChildProxy { nursery.child(on: loop) }

    /// Who gives it away, and a client that has it.
    private func kindergarten(_ network: SimulatedNetwork, _ child: ChildProxy) {
        network.exports.add(NurserySchoolProxy(OpenSchool(child: child)), named: nil)
        network.exports.add(child, named: nil)
    }

    @Test func `is held by each reference to it, until that is given back or its session is over`() async throws {
        let network = SimulatedNetwork(loop: loop)
        let child = self.child
        kindergarten(network, child)
        let (first, second) = (network.client(), network.client())
        func taken(_ client: RPCClient) async throws -> (any Child)? {
            try await driven { try await NurserySchoolProxy(client).child() }
        }
        var one = try await taken(first)
        let two = try await taken(second)
        for child in [one, two, one] { #expect(try await driven { try await child?.number() } == 1) }
        #expect(child.holders == 2)
        one = nil
        loop.advance(by: .milliseconds(50))
        #expect(child.holders == 1)
        network.isServing = false
        network.cut()
        loop.advance(by: .seconds(1))
        #expect(child.holders == 1, "a session may come back within its grace time")
        loop.advance(by: .seconds(120))
        await until { nursery.told == 1 }
        #expect(child.holders == 0)
        network.isServing = true
        #expect(try await driven { try await two?.number() } == nil, "its session is over")
        let three = try await taken(network.client())
        #expect(try await driven { try await three?.number() } == 2)
        withExtendedLifetime((one, two, three)) {}
    }

    @Test func `is held by a call to its name while that runs`() async throws {
        let network = SimulatedNetwork(loop: loop)
        kindergarten(network, child)
        let proxy = ChildProxy(network.client())
        for number in 1...3 {
            #expect(try await driven { try await proxy.number() } == number)
            await until { nursery.told == number }
        }
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

@Service
protocol NurserySchool: Sendable {
    func child() async throws -> any Child
}

private struct OpenSchool: NurserySchool {
    let child: ChildProxy

    func child() async throws -> any Child { child }
}
