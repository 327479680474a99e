// What stays in this process is never put into JSON, whatever is around the object.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

/// What cannot be put into JSON.
struct Opaque: Codable, Sendable, Hashable {
    struct IsOpaque: Error {}

    let number: Int

    init(_ number: Int) { self.number = number }
    init(from decoder: any Decoder) throws { throw IsOpaque() }
    func encode(to encoder: any Encoder) throws { throw IsOpaque() }
}

@Service
protocol Drawer: AnyObject, Sendable {
    @ReadOnly func find(_ thing: Opaque) async throws -> Opaque
    @ReadOnly var top: Opaque { get async throws }
    func put(_ thing: Opaque)
}

final class WoodenDrawer: Drawer {
    private let things = Lock<[Opaque]>([])
    private let count = Lock(0)
    var all: [Opaque] { things.withLock { $0 } }
    /// How often somebody has looked.
    var looks: Int { count.withLock { $0 } }

    func find(_ thing: Opaque) async throws -> Opaque {
        count.withLock { $0 += 1 }
        return thing
    }
    var top: Opaque {
        get async throws {
            count.withLock { $0 += 1 }
            return Opaque(7)
        }
    }
    func put(_ thing: Opaque) { things.withLock { $0.append(thing) } }
}

@Suite(.waitsForOthers, .hasTime) struct `What stays here` {
    @Test func `is not put into JSON by any kind`() async throws {
        let drawer = WoodenDrawer()
        let plain = DrawerProxy(drawer)
        let (unbound, binding) = DrawerProxy.unbound()
        try binding.bind(to: drawer)
        let judging = AccessPolicy.arguments(of: DrawerProxy.Methods.find) { _, thing in
            thing.number == 1 ? .allow : .deny("unknown")
        }
        let kinds: [DrawerProxy] = [
            plain, .weak(drawer), .lazy { drawer }, unbound, plain.guarded(by: judging), .counted { drawer },
            plain.locked(), plain.retrying(), plain.observed { _ in }, plain.with(timeout: .seconds(60)),
            .failover([plain]), plain.cached(in: .memory),
        ]
        for proxy in kinds {
            #expect(try await proxy.find(Opaque(1)) == Opaque(1))
            #expect(try await proxy.top == Opaque(7))
            // Where something has to be waited for it comes later.
            proxy.put(Opaque(2))
        }
        DrawerProxy.multicast([drawer]).put(Opaque(3))
        #expect(drawer.all.contains(Opaque(3)))
    }

    @Test func `is kept by a cache as it is`() async throws {
        let drawer = WoodenDrawer()
        var policy = CachePolicy(freshFor: .seconds(3_600))
        policy.refreshTimeout = .seconds(3_600)
        let cached = DrawerProxy(drawer).cached(in: .memory, policy)
        for _ in 0..<3 {
            #expect(try await cached.find(Opaque(1)) == Opaque(1))
            #expect(try await cached.top == Opaque(7))
        }
        #expect(drawer.looks == 2)
    }
}
