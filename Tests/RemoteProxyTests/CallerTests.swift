// What a subject is told of its caller, and when the caller is gone.

import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `Callers` {
    private final class Host: Probe {
        let caller = Lock<Caller?>(nil)

        func echo(_ number: Int) async throws -> Int {
            caller.withLock { $0 = Caller.current }
            return number
        }
        func fail(_ number: Int) async throws -> Int { number }
        func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
        func refuse(_ number: Int) async throws -> Int { number }
        func note(_ number: Int) {}
    }

    private let network = SimulatedNetwork()
    private let host = Host()

    init() { network.exports.add(ProbeProxy(host), named: nil) }

    @Test func `a subject is told once that its caller is gone, or at once if it is`() throws {
        let client = network.client()
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        let caller = try #require(host.caller.withLock { $0 })
        #expect(caller.address == "memory:left")
        let told = Lock(0)
        caller.whenGone { told.withLock { $0 += 1 } }
        network.loop.run()
        #expect(told.withLock { $0 } == 0)
        client.close()
        network.loop.advance(by: .seconds(2))
        #expect(told.withLock { $0 } == 1)
        caller.whenGone { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 2)
    }
}
