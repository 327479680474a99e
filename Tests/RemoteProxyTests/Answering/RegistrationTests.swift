// What a registration takes back, and what it leaves.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Registrations` {
    private let network = SimulatedNetwork()
    private var exports: Exports { network.exports }

    /// A link of a listening end that no channel serves.
    private func session() -> Link {
        Link(
            LinkContext(
                runner: RequestRunner(loop: network.loop), exports: exports, sessions: SessionTable()))
    }

    private func probe() -> ProbeProxy { ProbeProxy(RecordingProbe(network.loop)) }

    private var isExported: Bool { exports.object("Probe[lamp]") != nil }

    @Test func `of a former export leaves the later one of the same name`() {
        let former = exports.add(probe(), named: "lamp")
        let later = exports.add(probe(), named: "lamp")
        former.cancel()
        #expect(isExported)
        later.cancel()
        #expect(!isExported)
        let last = exports.add(probe(), named: "lamp")
        for registration in [former, later] { registration.cancel() }
        #expect(isExported)
        last.cancel()
        #expect(!isExported)
    }

    @Test func `of an export ends with the caller's session, and not with that of the caller before`() {
        let (former, later) = (session(), session())
        exports.add(probe(), named: "lamp", endingWith: Caller(former))
        exports.add(probe(), named: "lamp", endingWith: Caller(later))
        network.loop.pretend { former.end("gone") }
        #expect(isExported)
        network.loop.pretend { later.end("gone") }
        #expect(!isExported)
        // Its session is over already.
        exports.add(probe(), named: "lamp", endingWith: Caller(later))
        #expect(!isExported)
    }

    @Test func `of exports that end before their caller leave nothing at its session`() {
        let session = session()
        for _ in 0..<1_000 { exports.add(probe(), named: "lamp", endingWith: Caller(session)) }
        #expect(session.watch.count == 1)
        for number in 0..<1_000 { exports.add(probe(), named: "\(number)", endingWith: Caller(session)).cancel() }
        #expect(session.watch.count == 1)
        exports.add(probe(), named: "~", endingWith: Caller(session)).cancel()
        #expect(session.watch.count == 1)
        exports.add(probe(), named: "lamp")
        #expect(session.watch.count == 0)
    }

    @Test func `of an action takes back that action alone`() {
        let session = session()
        let told = Lock<[Int]>([])
        let registrations = (0..<5).map { number in
            Caller(session).whenGone { told.withLock { $0.append(number) } }
        }
        for _ in 1...2 { registrations[2].cancel() }
        network.loop.pretend { session.end("gone") }
        #expect(told.withLock { $0 } == [0, 1, 3, 4])
        registrations[0].cancel()
        for _ in 0..<1_000 { Caller(session).whenGone {}.cancel() }
        #expect(session.watch.count == 0)
    }

    @Test func `that are cancelled by many threads at once take back one export each`() async {
        let exports = exports
        let registrations = (0..<200).map { exports.add(probe(), named: "\($0)") }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask { for registration in registrations.prefix(100) { registration.cancel() } }
            }
        }
        #expect((0..<200).filter { exports.object("Probe[\($0)]") != nil } == Array(100..<200))
    }

    @Test func `do not keep an object that keeps its own`() {
        final class Keeping: Probe {
            let registration = Lock<Registration?>(nil)
            func echo(_ number: Int) async throws -> Int { number }
            func fail(_ number: Int) async throws -> Int { number }
            func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
            func refuse(_ number: Int) async throws -> Int { number }
            func note(_ number: Int) {}
        }
        weak var object: Keeping?
        do {
            let exports = Exports()
            let keeping = Keeping()
            let registration = exports.add(ProbeProxy(keeping), named: nil)
            keeping.registration.withLock { $0 = registration }
            object = keeping
        }
        #expect(object == nil)
    }
}
