// Held from the other end of a connection: by a session, under names that are nobody else's.

import JSONCodec
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `An object held from the other end` {
    private let network = SimulatedNetwork()
    private var loop: ManualLoop { network.loop }
    private let workshop: BusyWorkshop
    private let served: WorkshopProxy

    init() {
        workshop = BusyWorkshop(network.loop)
        served = WorkshopProxy(workshop).locked(clock: network.loop)
        network.exports.add(served, named: nil)
        network.exports.add(served, named: "back")
    }

    @Test func `is free when its holder's connection stays lost for longer than the grace time`() throws {
        let (mine, theirs) = (WorkshopProxy(network.client()), WorkshopProxy(network.client()))
        try loop.complete { [loop, network] in
            try await mine.exclusively(lease: .seconds(600)) {
                _ = try await mine.work("one", milliseconds: 1)
                network.isServing = false
                network.cut()
                try await loop.sleep(for: .seconds(120))
                network.isServing = true
                _ = try await theirs.work("other", milliseconds: 1)
                let error = await failure { try await mine.work("late", milliseconds: 1) }
                #expect(error?.outcome == .notExecuted)
            }
        }
        #expect(workshop.log == ["one in", "one out", "other in", "other out"])
    }

    @Test func `is given back in silence when its holder closes its client`() throws {
        let heard = Heard()
        var configuration = RPCClient.Configuration()
        configuration.log = heard.hear
        let client = network.client(configuration)
        let (mine, theirs) = (WorkshopProxy(client), WorkshopProxy(network.client()))
        _ = try loop.complete {
            try await mine.exclusively {
                _ = try await mine.work("one", milliseconds: 1)
                client.close()
            }
            return try await theirs.work("other", milliseconds: 1)
        }
        #expect(heard.all == [])
        #expect(workshop.log == ["one in", "one out", "other in", "other out"])
    }

    @Test func `a name that begins as those of holds says so`() {
        let error = loop.failure { [network] in
            try await WorkshopProxy(network.client(), named: "~mine").work("one", milliseconds: 1)
        }
        #expect(error?.code == .holdEnded && error?.message.contains("a name that begins with '~'") == true)
    }

    @Test func `is one client's for several calls and posts, while another waits`() throws {
        let (first, second) = (network.client(), network.client())
        let (mine, theirs) = (WorkshopProxy(first), WorkshopProxy(second, named: "back"))
        try loop.complete { [loop] in
            let other = loop.other(calls: theirs)
            let sibling = Task(executorPreference: loop) {
                try await loop.sleep(for: .milliseconds(2))
                _ = try await mine.work("sibling", milliseconds: 1)
            }
            try await mine.exclusively {
                _ = try await mine.work("one", milliseconds: 5)
                try await loop.sleep(for: .milliseconds(5))
                _ = try await mine.work("two", milliseconds: 5)
                mine.note("post")
            }
            _ = try await (other.value, sibling.value)
        }
        let order = [
            "one in", "one out", "two in", "two out", "post", "other in", "other out", "sibling in", "sibling out",
        ]
        #expect(workshop.log == order)
    }

    @Test(arguments: [1, 40])
    func `can be held once more by its holder, as often as it likes, beside another`(depth: Int) throws {
        network.exports.add(WorkshopProxy(workshop).locked(clock: loop), named: "two")
        let client = network.client()
        let (one, two) = (WorkshopProxy(client), WorkshopProxy(client, named: "two"))
        @Sendable func held(_ depth: Int) async throws {
            guard depth > 0 else {
                _ = try await one.work("one", milliseconds: 1)
                _ = try await two.work("two", milliseconds: 1)
                return
            }
            try await one.exclusively { try await two.exclusively { try await held(depth - 1) } }
        }
        try loop.complete { try await held(depth) }
        _ = try loop.complete { try await two.work("after", milliseconds: 1) }
        #expect(workshop.log == ["one in", "one out", "two in", "two out", "after in", "after out"])
    }

    @Test func `keeps the other waiting within its deadline only`() throws {
        let (first, second) = (WorkshopProxy(network.client()), WorkshopProxy(network.client()))
        let error = try loop.complete { [loop] in
            try await first.exclusively {
                await loop.within(milliseconds: 10) { await failure { try await second.work("no", milliseconds: 1) } }
            }
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(workshop.log == [])
    }

    @Test func `is free when the lease is over, and the holder is told by the server`() throws {
        let proxy = WorkshopProxy(network.client())
        let error = try loop.complete { [loop] in
            try await proxy.exclusively(lease: .milliseconds(20)) {
                _ = try await proxy.work("one", milliseconds: 5)
                try await loop.sleep(for: .milliseconds(30))
                return await failure { try await proxy.work("late", milliseconds: 5) }
            }
        }
        #expect(error?.code == .holdEnded)
        #expect(error?.outcome == .notExecuted)
        #expect(workshop.log == ["one in", "one out"])
    }

    @Test func `is free when its holder's session is over`() throws {
        let client = network.client()
        let (mine, theirs) = (WorkshopProxy(client), WorkshopProxy(network.client()))
        try loop.complete { [loop] in
            let error = try await mine.exclusively {
                client.close()
                try await loop.sleep(for: .milliseconds(1))
                _ = try await theirs.work("other", milliseconds: 1)
                return await failure { try await mine.work("gone", milliseconds: 1) }
            }
            #expect(error?.outcome == .notExecuted)
        }
        #expect(workshop.log == ["other in", "other out"])
    }

    @Test func `is nobody's when the one that asked for it has given up, whenever that was`() throws {
        let (mine, theirs) = (WorkshopProxy(network.client()), WorkshopProxy(network.client()))
        // One step of the loop later each time: before it was asked for, while it waits, granted, on its way back.
        for steps in 0..<60 {
            let holder = Task(executorPreference: loop) { try await mine.exclusively(lease: .seconds(500)) {} }
            for _ in 0..<steps { loop.step() }
            holder.cancel()
            loop.run()
            let name = try loop.complete { [loop] in
                try await loop.within(milliseconds: 100) { try await theirs.work("other", milliseconds: 1) }
            }
            #expect(name == "other")
        }
    }

    @Test func `is nobody's when the one that asked for it was stopped before its turn came at once`() throws {
        let held = HeldObjects(network.exports, limit: 2)
        let hold = try #require(held.method(named: Bytes("rpc.hold"), for: nil)).1
        let params = Bytes(#"{"object":"Workshop","name":"~a","lease":1000}"#)
        let error = try loop.complete {
            withUnsafeCurrentTask { $0?.cancel() }
            return await failure { try await hold.answer(params) }
        }
        #expect(error?.code == .holdEnded && error?.outcome == .notExecuted)
        let name = try loop.complete { [loop, served] in
            try await loop.within(milliseconds: 100) { try await served.work("other", milliseconds: 1) }
        }
        #expect(name == "other")
        #expect(loop.nextDeadline == nil, "its lease is over")
    }

    @Test func `can be held once more, through a gateway and by its name`() throws {
        let gateway = SimulatedNetwork(loop: loop)
        gateway.exports.add(WorkshopProxy(network.client(), named: "back"), named: "front")
        let proxy = WorkshopProxy(gateway.client(), named: "front")
        try loop.complete {
            try await proxy.exclusively {
                async let one = proxy.exclusively {
                    _ = try await proxy.work("one", milliseconds: 5)
                    return try await proxy.work("one again", milliseconds: 5)
                }
                async let two = proxy.exclusively {
                    _ = try await proxy.work("two", milliseconds: 5)
                    return try await proxy.work("two again", milliseconds: 5)
                }
                _ = try await (one, two)
            }
            _ = try await proxy.work("after", milliseconds: 1)
        }
        let names = workshop.log.filter { $0.hasSuffix(" in") }.map { $0.prefix(3) }
        #expect(names == ["one", "one", "two", "two", "aft"] || names == ["two", "two", "one", "one", "aft"])
    }

    @Test func `leaves alone what another object of the client is called`() throws {
        let other = BusyWorkshop(loop)
        network.exports.add(WorkshopProxy(other), named: "other")
        let client = network.client()
        let (mine, named) = (WorkshopProxy(client), WorkshopProxy(client, named: "other"))
        try loop.complete {
            try await mine.exclusively { _ = try await named.work("elsewhere", milliseconds: 1) }
        }
        #expect(other.log == ["elsewhere in", "elsewhere out"])
    }

    @Test(arguments: [
        (#""object":"Workshop","name":"~a""#, "wrong parameters"),
        (#""object":"Workshop","name":"a","lease":1"#, "'~'"),
        (#""object":"Workshop","name":"~]","lease":1"#, "']'"),
        (#""object":"Workshop","name":"~\#(String(repeating: "a", count: 64))","lease":1"#, "64 bytes"),
        (#""object":"Nothing","name":"~a","lease":1"#, "Nothing"),
        (#""object":"Workshop[~x]","name":"~a","lease":1"#, "over"),
        (#""object":"Workshop[open]","name":"~a","lease":1"#, "locked"),
        (#""object":"Workshop","name":"~a","lease":9223372036854775807"#, "maximumLease"),
    ])
    func `is refused with a reason`(params: String, reason: String) async throws {
        network.exports.add(WorkshopProxy(workshop), named: "open")
        let held = HeldObjects(network.exports, limit: 2)
        let method = try #require(held.method(named: Bytes("rpc.hold"), for: nil)).1
        let error = await failure { try await method.answer(Bytes("{\(params)}")) }
        #expect(error?.outcome == .notExecuted)
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    }

    @Test func `is held a limited number of times by one session, which may give it back twice`() async throws {
        for number in 0..<3 {
            network.exports.add(WorkshopProxy(workshop).locked(clock: loop), named: "\(number)")
        }
        let held = HeldObjects(network.exports, limit: 2)
        let hold = try #require(held.method(named: Bytes("rpc.hold"), for: nil)).1
        func ask(_ number: Int) async -> RPCError? {
            let params = Bytes(#"{"object":"Workshop[\#(number)]","name":"~a\#(number)","lease":1000}"#)
            return await failure { try await hold.answer(params) }
        }
        #expect(await ask(0) == nil)
        #expect(await ask(1) == nil)
        let error = await ask(2)
        #expect(error?.code == .busy)
        #expect(error?.message.contains("maximumHolds") == true)
        let release = try #require(held.method(named: Bytes("rpc.release"), for: nil)).1
        let params = Bytes(#"{"object":"Workshop[1]","name":"~a1"}"#)
        #expect(held.method(named: Bytes("Workshop[~a1].note"), for: nil)?.1.signature.shape == .post)
        #expect(held.method(named: Bytes("Workshop[~a1].nothing"), for: nil) == nil)
        #expect(held.method(named: Bytes("Workshop[~a1"), for: nil) == nil)
        for _ in 0..<2 { try await release.answer(params) }
        #expect(await ask(2) == nil)
    }

    /// The name `~2`, under which `~1` was asked for, comes to stand for `~1` while that is being granted.
    @Test func `never stands for itself, however its names are given back and given anew`() throws {
        for name in ["one", "two"] {
            network.exports.add(WorkshopProxy(workshop).locked(clock: loop), named: name)
        }
        let held = HeldObjects(network.exports, limit: 9)
        @Sendable func say(_ method: String, _ object: String, _ name: String) async throws {
            let lease = method == "hold" ? #","lease":1000"# : ""
            let params = Bytes(#"{"object":"Workshop[\#(object)]","name":"\#(name)"\#(lease)}"#)
            try await held.method(named: Bytes("rpc.\(method)"), for: nil)?.1.answer(params)
        }
        try loop.complete { [loop] in
            try await say("hold", "one", "~2")
            try await say("hold", "~2", "~9")
            let first = Task(executorPreference: loop) { try await say("hold", "~2", "~1") }
            try await loop.sleep(for: .milliseconds(1))
            // Granted now, and told when this task waits.
            try await say("release", "~2", "~9")
            try await say("release", "one", "~2")
            try await say("hold", "two", "~1")
            try await say("hold", "~1", "~2")
            try await say("release", "two", "~1")
            try await first.value
        }
        let (object, method) = try #require(held.method(named: Bytes("Workshop[~1].work"), for: nil))
        let error = try loop.complete { await failure { try await method.answer(Bytes(#"["x",1]"#), object) } }
        #expect(error?.code == .holdEnded)
        #expect(workshop.log == [])
    }
}

extension ExportedMethod {
    fileprivate func answer(_ params: Bytes, _ object: ExportedObject = .ofProtocol) async throws {
        let worker = Worker(of: RequestRunner(loop: ManualLoop()))
        defer { withExtendedLifetime((worker, params)) {} }
        try await run(IncomingCall(to: object, params: params.memory, on: worker))
    }
}
