// When a lazy proxy lets its object go: with itself, or when it has been idle. Everything runs on the manual loop.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Objects of lazy proxies` {
    @Test func `the object goes with the proxy`() throws {
        let loop = ManualLoop()
        let reference = Lock<WeakReference<RecordingProbe>?>(nil)
        var proxy: ProbeProxy? = ProbeProxy.lazy(on: loop, executor: loop) {
            let probe = RecordingProbe(loop)
            reference.withLock { $0 = WeakReference(probe) }
            return probe
        }
        let copy = try #require(proxy)
        proxy = nil
        _ = StartedCall(on: loop) { try await copy.echo(1) }
        loop.run()
        #expect(reference.withLock { $0?.object } != nil)
        _ = consume copy
        #expect(reference.withLock { $0?.object } == nil)
    }

    @Test func `an idle object is let go, and made again when it is wanted`() throws {
        let maker = Maker()
        let proxy = maker.proxy(keepingAlive: .seconds(60))
        let first = maker.start { try await proxy.echo(1) }
        maker.loop.advance(by: .seconds(50))
        #expect(first.value == 1)
        proxy.note(2)
        maker.loop.advance(by: .seconds(59))
        _ = maker.start { try await proxy.echo(3) }
        maker.loop.advance(by: .seconds(59))
        #expect(maker.count == 1)
        maker.loop.advance(by: .seconds(2))
        let again = maker.start { try await proxy.echo(4) }
        maker.loop.run()
        #expect(again.value == 4)
        #expect(maker.count == 2)
        #expect(maker.probes.map(\.executed) == [[1, 3], [4]])
        #expect(maker.probes.map(\.noted) == [[2], []])
    }

    @Test func `an object in use is never idle`() {
        let maker = Maker()
        let proxy = maker.proxy(keepingAlive: .seconds(1))
        proxy.note(0)
        maker.loop.advance(by: .milliseconds(500))
        let long = maker.start { try await proxy.wait(1, milliseconds: 10_000) }
        maker.loop.advance(by: .seconds(5))
        let other = maker.start { try await proxy.echo(2) }
        maker.loop.advance(by: .seconds(6))
        #expect(long.value == 1)
        #expect(other.value == 2)
        #expect(maker.count == 1)
        maker.loop.advance(by: .seconds(2))
        _ = maker.start { try await proxy.echo(3) }
        maker.loop.run()
        #expect(maker.count == 2)
    }

    @Test func `an object that is held is never idle`() throws {
        let maker = Maker()
        let loop = maker.loop
        let proxy = ProbeProxy.lazy(keepingAlive: .seconds(1), on: loop, executor: loop) {
            ProbeProxy(try await maker.make()).locked(clock: loop)
        }
        let held = StartedCall(on: loop) {
            try await proxy.exclusively {
                _ = try await proxy.echo(1)
                try await loop.sleep(for: .seconds(5))
                return try await proxy.echo(2)
            }
        }
        loop.advance(by: .seconds(6))
        #expect(held.value == 2)
        #expect(maker.count == 1)
        #expect(maker.probes.first?.executed == [1, 2])
        loop.advance(by: .seconds(1))
        let next = StartedCall(on: loop) { try await proxy.echo(3) }
        loop.run()
        #expect(next.value == 3)
        #expect(maker.count == 2)
    }

    @Test func `what cannot be held says so`() {
        let maker = Maker()
        let proxy = maker.proxy(keepingAlive: .seconds(1))
        let held = maker.start { try await proxy.exclusively { 1 } }
        maker.loop.run()
        #expect(held.rpcError?.code == .noSuchMethod)
        maker.loop.advance(by: .seconds(2))
        _ = maker.start { try await proxy.echo(1) }
        maker.loop.run()
        #expect(maker.count == 2)
    }

    @Test func `an object made for a post alone is let go as well`() {
        let maker = Maker()
        let proxy = maker.proxy(keepingAlive: .seconds(1))
        proxy.note(1)
        maker.loop.advance(by: .seconds(2))
        proxy.note(2)
        maker.loop.run()
        #expect(maker.probes.map(\.noted) == [[1], [2]])
    }
}
