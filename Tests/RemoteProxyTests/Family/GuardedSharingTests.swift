// A guard together with a lock, and with a count, in both orders, from the other end of a connection.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A guarded object that is locked` {
    private let network = SimulatedNetwork()
    private var loop: ManualLoop { network.loop }
    private let workshop: BusyWorkshop
    private let locked: WorkshopProxy

    init() {
        workshop = BusyWorkshop(network.loop)
        locked = WorkshopProxy(workshop).locked(clock: network.loop)
    }

    private func serve(_ proxy: WorkshopProxy, named name: String? = nil) -> WorkshopProxy {
        network.exports.add(proxy, named: name)
        return WorkshopProxy(network.client(), named: name)
    }

    @Test func `is held through its guard, and others wait`() throws {
        let policy = AccessPolicy { $0.method.name == "delegate" ? .deny("no") : .allow }
        let (mine, theirs) = (serve(locked.guarded(by: policy)), serve(locked, named: "back"))
        try loop.complete { [loop] in
            let other = loop.other(calls: theirs)
            try await mine.exclusively {
                _ = try await mine.work("one", milliseconds: 5)
                let error = await failure { try await mine.delegate("denied") }
                #expect(error?.code == .denied, "each call under the hold is judged")
                #expect(error?.outcome == .notExecuted)
                _ = try await mine.work("two", milliseconds: 5)
            }
            try await other.value
        }
        #expect(workshop.log == ["one in", "one out", "two in", "two out", "other in", "other out"])
    }

    @Test(arguments: [false, true])
    func `is not held by a caller that is denied, and keeps nobody waiting`(silently: Bool) throws {
        let readers: AccessPolicy = silently ? .readOnly.silently : .readOnly
        let (mine, theirs) = (serve(locked.guarded(by: readers)), serve(locked, named: "back"))
        try loop.complete { [loop] in
            let error = await failure { try await mine.exclusively { Issue.record("it is held by nobody") } }
            #expect(error?.code == (silently ? .noSuchMethod : .denied))
            #expect(error?.outcome == .notExecuted)
            #expect(error?.message.contains(silently ? "no subject in it is locked" : "holding the Workshop") == true)
            _ = try await loop.within(milliseconds: 10) { try await theirs.work("other", milliseconds: 1) }
            _ = try await mine.look("mine", milliseconds: 1)
        }
        #expect(workshop.log == ["other in", "other out", "mine in", "mine out"])
    }

    @Test func `is not held by one who is denied after the policy has asked, nor while it asks`() throws {
        let asking = AccessPolicy.asking { [loop] request in
            try await loop.sleep(for: .milliseconds(20))
            return request.method.name == "rpc.hold" ? .deny("no") : .allow
        }
        let (mine, theirs) = (serve(locked.guarded(by: asking, clock: loop)), serve(locked, named: "back"))
        try loop.complete { [loop] in
            let denied = Task(executorPreference: loop) { await failure { try await mine.exclusively {} } }
            try await loop.sleep(for: .milliseconds(1))
            _ = try await loop.within(milliseconds: 10) { try await theirs.work("other", milliseconds: 1) }
            #expect(await denied.value?.code == .denied)
        }
    }

    @Test func `is not asked for at the other end when this end's guard denies it`() throws {
        let proxy = serve(locked).guarded(by: .nobody)
        let error = try loop.complete { await failure { try await proxy.exclusively {} } }
        #expect(error?.code == .denied)
        #expect(network.dials == 0)
    }

    @Test func `can be held, but not called, by one who is denied inside the lock`() throws {
        let proxy = serve(WorkshopProxy(workshop).guarded(by: .readOnly).locked(clock: loop))
        try loop.complete {
            try await proxy.exclusively {
                let error = await failure { try await proxy.work("denied", milliseconds: 1) }
                #expect(error?.code == .denied)
                #expect(error?.outcome == .notExecuted)
                _ = try await proxy.look("allowed", milliseconds: 1)
            }
        }
        #expect(workshop.log == ["allowed in", "allowed out"])
    }
}

@Suite struct `A guarded object that is counted` {
    private let network = SimulatedNetwork()
    private var loop: ManualLoop { network.loop }
    private let workshop: BusyWorkshop
    private let log = Lock<[String]>([])

    init() { workshop = BusyWorkshop(network.loop) }

    /// Counted, with what is put around the object inside.
    private func counted(_ inside: @escaping @Sendable (WorkshopProxy) -> WorkshopProxy = { $0 }) -> WorkshopProxy {
        .counted(clock: loop, executor: loop) { [workshop, log] in
            log.withLock { $0.append("made") }
            return inside(WorkshopProxy(workshop))
        } whenLast: { [log] _ in
            log.withLock { $0.append("let go") }
        }
    }

    private var events: [String] { log.withLock { $0 } }

    /// A client of the exported proxy that has been denied a call and a post.
    private func deniedClient(of exported: WorkshopProxy) throws -> (RPCClient, WorkshopProxy) {
        network.exports.add(exported, named: nil)
        let client = network.client()
        let proxy = WorkshopProxy(client)
        let error = try #require(loop.failure { try await proxy.work("denied", milliseconds: 1) })
        #expect(error.code == .denied)
        #expect(error.outcome == .notExecuted)
        proxy.note("denied")
        loop.run()
        return (client, proxy)
    }

    @Test func `is neither made nor held for a caller that is denied`() throws {
        let counted = counted()
        let (client, proxy) = try deniedClient(of: counted.guarded(by: .readOnly))
        #expect(counted.holders == 0)
        #expect(events == [])
        _ = try loop.complete { try await proxy.look("allowed", milliseconds: 1) }
        loop.run()
        #expect(events == ["made", "let go"])
        #expect(workshop.log == ["allowed in", "allowed out"])
        client.close()
    }

    @Test func `is made and held before a guard inside it denies, which says that nothing ran`() throws {
        let counted = counted { $0.guarded(by: .readOnly) }
        let (client, _) = try deniedClient(of: counted)
        #expect(events.suffix(2) == ["made", "let go"])
        #expect(workshop.log == [])
        client.close()
    }

    @Test func `is guarded through a handle too, whichever was written first`() throws {
        for handle in [counted().guarded(by: .readOnly).handle(), counted().handle().guarded(by: .readOnly)] {
            #expect(loop.failure { try await handle.work("denied", milliseconds: 1) }?.code == .denied)
            _ = try loop.complete { try await handle.look("allowed", milliseconds: 1) }
        }
        loop.run()
        #expect(events.sorted() == ["let go", "let go", "made", "made"])
    }

    @Test func `is one holder's when it is locked inside, and stays for as long as it is held`() throws {
        let counted = counted { [loop] in $0.locked(clock: loop) }
        network.exports.add(counted.guarded(by: AccessPolicy { _ in .allow }), named: nil)
        let (first, second) = (network.client(), network.client())
        let (mine, theirs) = (WorkshopProxy(first), WorkshopProxy(second))
        try loop.complete { [loop] in
            let other = loop.other(calls: theirs)
            try await mine.exclusively {
                _ = try await mine.work("one", milliseconds: 5)
                _ = try await mine.work("two", milliseconds: 5)
            }
            try await other.value
        }
        #expect(workshop.log == ["one in", "one out", "two in", "two out", "other in", "other out"])
        loop.run()
        #expect(counted.holders == 0)
        #expect(events == ["made", "let go"] || events == ["made", "let go", "made", "let go"])
        first.close()
        second.close()
    }

    @Test func `stays for as long as it is held here, without a handle`() throws {
        let counted = counted { [loop] in $0.locked(clock: loop) }
        try loop.complete { [log] in
            try await counted.exclusively {
                _ = try await counted.work("one", milliseconds: 5)
                _ = try await counted.work("two", milliseconds: 5)
                #expect(log.withLock { $0 } == ["made"])
            }
        }
        loop.run()
        #expect(events == ["made", "let go"])
        #expect(counted.holders == 0)
    }
}
