// Large requests and answers, which are not copied to be kept and sent: when a connection is lost they are there all the
// same, whole, and are let go when they have arrived.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Service
protocol Freight: Sendable {
    func weigh(_ parcel: String) async throws -> Int
    func fetch(_ bytes: Int) async throws -> String
}

private final class LateFreight: Freight {
    private let loop: ManualLoop
    private let count = Lock(0)

    init(_ loop: ManualLoop) { self.loop = loop }

    var calls: Int { count.withLock { $0 } }

    func weigh(_ parcel: String) async throws -> Int {
        count.withLock { $0 += 1 }
        return parcel.utf8.count { $0 == UInt8(ascii: "x") }
    }

    func fetch(_ bytes: Int) async throws -> String {
        count.withLock { $0 += 1 }
        try await loop.sleep(for: .milliseconds(10))
        return String(repeating: "x", count: bytes)
    }
}

@Suite struct `Large messages` {
    private let network = SimulatedNetwork()
    private let subject: LateFreight
    private let large = 200_000

    init() {
        subject = LateFreight(network.loop)
        network.exports.add(FreightProxy(subject), named: nil)
    }

    @Test func `a request that is lost with its connection is sent again, as often as it takes`() throws {
        let proxy = FreightProxy(network.client())
        #expect(try network.loop.complete { try await proxy.weigh("x") } == 1)
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        let parcel = String(repeating: "x", count: large)
        let call = Task(executorPreference: network.loop) { try await proxy.weigh(parcel) }
        network.loop.run()
        for _ in 0..<3 {
            network.cut()
            network.loop.advance(by: .seconds(5))
        }
        network.inject(WireFaults())
        network.cut()
        #expect(try network.loop.complete { try await call.value } == large)
        #expect(subject.calls == 2)
        #expect(try network.loop.complete { try await proxy.weigh(parcel) } == large)
        network.shutDown()
    }

    @Test func `an answer that could not be sent is kept until the client is back`() throws {
        let (proxy, large) = (FreightProxy(network.client()), large)
        let call = Task(executorPreference: network.loop) { try await proxy.fetch(large) }
        network.loop.run()
        network.cut()
        network.isServing = false
        network.loop.advance(by: .seconds(5))
        #expect(subject.calls == 1)
        #expect(network.keptReplies == 1)
        network.isServing = true
        #expect(try network.loop.complete { try await call.value } == String(repeating: "x", count: large))
        #expect(subject.calls == 1)
        network.shutDown()
    }
}
