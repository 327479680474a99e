// One proxy that delivers to many.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
private protocol Listener: Sendable {
    func hear(_ number: Int)
    func answer() async throws -> Int
}

private final class Ear: Listener {
    private let numbers = Lock<[Int]>([])
    private let whenHeard: @Sendable (Int) -> Void

    init(whenHeard: @escaping @Sendable (Int) -> Void = { _ in }) { self.whenHeard = whenHeard }

    var heard: [Int] { numbers.withLock { $0 } }

    func hear(_ number: Int) {
        numbers.withLock { $0.append(number) }
        whenHeard(number)
    }
    func answer() async throws -> Int { heard.count }
}

private struct Recorder: Listener {
    let ear: Ear

    func hear(_ number: Int) { ear.hear(number) }
    func answer() async throws -> Int { 0 }
}

@Service
private protocol BoundListener: AnyObject, Sendable {
    func hear(_ number: Int)
}

private final class BoundEar: BoundListener {
    let ear = Ear()

    func hear(_ number: Int) { ear.hear(number) }
}

@MainActor @Service
private protocol Screen: Sendable {
    func show(_ number: Int)
}

@MainActor
private final class RealScreen: Screen {
    private(set) var shown: [Int] = []

    func show(_ number: Int) { shown.append(number) }
}

@Suite struct `Multicast proxies` {
    @Test func `a post goes to each, in the order in which they were added`() throws {
        let order = Lock<[String]>([])
        let ears = ["a", "b", "c"].map { name in Ear { _ in order.withLock { $0.append(name) } } }
        let all = Multicast<ListenerProxy>([ears[0], ears[1]])
        let proxy = all.proxy
        all.add(ears[2])
        proxy.hear(1)
        #expect(ears.map(\.heard) == [[1], [1], [1]])
        #expect(order.withLock { $0 } == ["a", "b", "c"])
    }

    @Test func `without receivers a post is heard by nobody`() {
        let all = Multicast<ListenerProxy>()
        let proxy = all.proxy
        proxy.hear(1)
        #expect(all.count == 0)
    }

    @Test func `objects are not kept, and one that is gone is left out and forgotten`() throws {
        let stays = Ear()
        var goes: Ear? = Ear()
        let all = Multicast<ListenerProxy>([try #require(goes), stays])
        let proxy = all.proxy
        proxy.hear(1)
        #expect(goes?.heard == [1])
        goes = nil
        proxy.hear(2)
        #expect(stays.heard == [1, 2])
        #expect(all.count == 1)
    }

    @Test func `values are kept`() {
        let ear = Ear()
        let proxy = ListenerProxy.multicast([Recorder(ear: ear), ListenerProxy(ear)])
        proxy.hear(1)
        #expect(ear.heard == [1, 1])
    }

    @Test func `an object is one receiver however often it is added, until it is removed`() throws {
        let ear = Ear()
        let other = Ear()
        let all = Multicast<ListenerProxy>([ear, ear, other])
        let proxy = all.proxy
        let registration = all.add(ear)
        proxy.hear(1)
        #expect(ear.heard == [1])
        registration.cancel()
        proxy.hear(2)
        #expect(ear.heard == [1])
        #expect(other.heard == [1, 2])
        all.add(ear)
        // It was for the ear that was removed, not for the one that has come since.
        registration.cancel()
        proxy.hear(3)
        #expect(ear.heard == [1, 3])
    }

    @Test func `a value is removed by its registration`() throws {
        let ear = Ear()
        let all = Multicast<ListenerProxy>()
        let proxy = all.proxy
        let first = all.add(Recorder(ear: ear))
        all.add(Recorder(ear: ear))
        proxy.hear(1)
        #expect(ear.heard == [1, 1])
        for _ in 1...2 { first.cancel() }
        proxy.hear(2)
        #expect(ear.heard == [1, 1, 2])
    }

    @Test func `an object at the address of one that is gone is another receiver`() throws {
        let all = Multicast<ListenerProxy>()
        let proxy = all.proxy
        let subject = try #require(proxy.proxySubject as? MulticastSubject<any Listener>)
        let ear = Ear()
        // The memory of the former object was used again.
        let gone = _WeakSubject<any Listener> { throw _ObjectIsGone() }
        subject.add(.init(gone, object: gone.object, identity: .object(ObjectIdentifier(ear))))
        all.add(ear)
        proxy.hear(1)
        #expect(ear.heard == [1] && all.count == 1)
    }

    @Test func `a receiver may leave, and bring others, while it is being told`() throws {
        let all = Multicast<ListenerProxy>()
        let proxy = all.proxy
        let last = Ear()
        let first = Lock<Registration?>(nil)
        let ear = Ear { _ in
            first.withLock { $0 }?.cancel()
            all.add(last)
        }
        let registration = all.add(ear)
        first.withLock { $0 = registration }
        proxy.hear(1)
        proxy.hear(2)
        #expect(ear.heard == [1])
        #expect(last.heard == [2])
        first.withLock { $0 = nil }
    }

    @Test func `a call has no single receiver to answer it`() async throws {
        let proxy = ListenerProxy.multicast([Ear()])
        let error = await #expect(throws: RPCError.self) { try await proxy.answer() }
        #expect(error?.code == .noSuchMethod)
        #expect(error?.outcome == .notExecuted)
        #expect(error?.message.contains("Listener.answer") == true)
    }

    @Test func `proxies of class-bound protocols are kept, their objects are not`() throws {
        var goes: BoundEar? = BoundEar()
        let stays = BoundEar()
        let all = Multicast<BoundListenerProxy>([try #require(goes), BoundListenerProxy(stays)])
        let proxy = all.proxy
        goes = nil
        proxy.hear(1)
        #expect(stays.ear.heard == [1])
        #expect(all.count == 1)
    }

    @MainActor @Test func `receivers on the main actor are told at once`() {
        let screens = [RealScreen(), RealScreen()]
        let proxy = ScreenProxy.multicast(screens)
        proxy.show(1)
        #expect(screens.map(\.shown) == [[1], [1]])
    }

    @Test func `a receiver may be far away, and one that cannot be reached harms nobody`() throws {
        let network = SimulatedNetwork()
        let away = SimulatedNetwork()
        away.isServing = false
        let near = RecordingProbe(network.loop)
        let far = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(far), named: nil)
        let client = network.client()
        let lost = away.client()
        let proxy = ProbeProxy.multicast([ProbeProxy(lost), near, ProbeProxy(client)])
        proxy.note(1)
        #expect(near.noted == [1])
        network.loop.run()
        #expect(far.noted == [1])
        client.close()
        lost.close()
        network.shutDown()
        away.shutDown()
    }

    @Test func `exported, it spreads what comes over the wire`() {
        let network = SimulatedNetwork()
        let probes = [RecordingProbe(network.loop), RecordingProbe(network.loop)]
        network.exports.add(ProbeProxy.multicast(probes), named: nil)
        let client = network.client()
        let proxy = ProbeProxy(client)
        proxy.note(1)
        let call = StartedCall(on: network.loop) { try await proxy.echo(2) }
        network.loop.run()
        #expect(probes.map(\.noted) == [[1], [1]])
        #expect(call.rpcError?.code == .noSuchMethod)
        client.close()
        network.shutDown()
    }

    @Test func `receivers come and go while others post`() async {
        let steady = Ear()
        let all = Multicast<ListenerProxy>([steady])
        let proxy = all.proxy
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<200 {
                        let passing = Ear()
                        let registration = all.add(passing)
                        proxy.hear(number)
                        if number.isMultiple(of: 2) { registration.cancel() }
                    }
                }
            }
        }
        #expect(steady.heard.count == 800)
        proxy.hear(0)
        #expect(all.count == 1)
    }
}
