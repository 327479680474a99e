// Held from the other end of a connection: a hold is a reference to the object, and is over when that is given back.

import RPCSockets
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

    @Test func `is held by no task that goes on when the hold is over`() throws {
        let proxy = WorkshopProxy(network.client())
        let error = try loop.complete { [loop] in
            let outliving = try await proxy.exclusively {
                _ = try await proxy.work("one", milliseconds: 1)
                return Task(executorPreference: loop) {
                    try await loop.sleep(for: .milliseconds(5))
                    proxy.note("dropped")
                    return await failure { try await proxy.work("late", milliseconds: 1) }
                }
            }
            _ = try await loop.within(milliseconds: 2) { try await proxy.work("other", milliseconds: 1) }
            return try await outliving.value
        }
        #expect(error?.code == .holdEnded && error?.outcome == .notExecuted, "\(String(describing: error))")
        #expect(workshop.log == ["one in", "one out", "other in", "other out"])
    }

    @Test func `is held by the next one as soon as the hold is over`() throws {
        let proxies = (0..<3).map { _ in WorkshopProxy(network.client()) }
        try loop.complete { [loop] in
            for round in 0..<20 {
                let proxy = proxies[round % 3]
                try await loop.within(milliseconds: 3) {
                    try await proxy.exclusively { _ = try await proxy.work("\(round)", milliseconds: 1) }
                }
            }
        }
        #expect(workshop.log.count == 40)
    }

    // MARK: on the wire

    private func ask(_ end: HandwrittenEnd, _ params: String, id: Int = 9) -> String? {
        end.say(#"{"jsonrpc":"2.0","method":"rpc.hold","params":{\#(params)},"id":\#(id)}"#)
        return end.take().last
    }

    private func enter() throws -> HandwrittenEnd {
        let end = try HandwrittenEnd(network)
        end.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":4}}"#)
        _ = end.take()
        return end
    }

    @Test(arguments: [
        (#""object":"Workshop""#, "wrong parameters"),
        (#""object":"Workshop","name":"~1","lease":1"#, "takes no name"),
        (#""object":"Nothing","lease":1"#, "there is no object Nothing"),
        (#""object":"Workshop[#1]","lease":1"#, "there is no object Workshop[#1]"),
        (#""object":"Workshop[open]","lease":1"#, "locked"),
        (#""object":"Workshop","lease":9223372036854775807"#, "maximumLease"),
    ])
    func `is refused with a reason`(params: String, reason: String) throws {
        network.exports.add(WorkshopProxy(workshop), named: "open")
        let answer = try #require(ask(try enter(), params))
        #expect(answer.contains(reason) && answer.contains("error"), "\(answer)")
    }

    @Test func `is an object by reference, whose service is that of the object`() throws {
        let end = try enter()
        let token = #"{"__jsonrpc_marshaled":1,"handle":1,"service":"Workshop"}"#
        #expect(
            ask(end, #""object":"Workshop","lease":1000"#, id: 1)
                == #"{"jsonrpc":"2.0","id":1,"result":\#(token),"objects":[1]}"#)
        // Held once more, and by the reference.
        #expect(ask(end, #""object":"Workshop[#1]","lease":500"#, id: 2)?.contains(#""objects":[2]"#) == true)
        #expect(ask(end, #""object":"Ledger[#1]","lease":500"#, id: 3)?.contains("-32001") == true)
        end.say(#"{"jsonrpc":"2.0","method":"Workshop[#2].work","params":["in",1],"id":4}"#)
        loop.advance(by: .milliseconds(1))
        #expect(end.take().last?.contains(#""id":4,"result":"in""#) == true)
        // Given back in the wrong order.
        end.say(#"{"jsonrpc":"2.0","method":"rpc.release","params":[[1,1]],"number":5}"#)
        end.say(#"{"jsonrpc":"2.0","method":"Workshop.work","params":["next",1],"id":6}"#)
        loop.advance(by: .milliseconds(1))
        #expect(end.take().last?.contains(#""id":6,"result":"next""#) == true)
        #expect(workshop.log == ["in in", "in out", "next in", "next out"])
        end.say(#"{"jsonrpc":"2.0","method":"Workshop[#2].work","params":["late",1],"id":7}"#)
        #expect(end.take().last?.contains("-32060") == true, "a hold ends with the one that it was taken under")
    }

    @Test func `is held a thousand deep by one peer, and each call costs little`() throws {
        let end = try enter()
        for depth in 0..<1_000 {
            let object = depth == 0 ? "Workshop" : "Workshop[#\(depth)]"
            #expect(ask(end, #""object":"\#(object)","lease":60000"#, id: depth + 1)?.contains("result") == true)
        }
        end.say(#"{"jsonrpc":"2.0","method":"Workshop[#1000].note","params":["post"],"number":1001}"#)
        #expect(workshop.log == ["post"])
        end.say(#"{"jsonrpc":"2.0","method":"rpc.release","params":[[1,1]],"number":1002}"#)
        end.say(#"{"jsonrpc":"2.0","method":"Workshop[#1000].work","params":["late",1],"id":1003}"#)
        #expect(end.take().last?.contains("-32060") == true, "all holds end with the outermost")
        end.say(#"{"jsonrpc":"2.0","method":"Workshop.work","params":["next",0],"id":1004}"#)
        #expect(workshop.log.last == "next out")
    }

    @Test func `ends with the hold that it was taken under, also around a counted object`() throws {
        let made = Lock(0)
        network.exports.add(
            WorkshopProxy.counted(clock: loop, executor: loop) { [workshop] in
                made.withLock { $0 += 1 }
                return workshop
            }.locked(clock: loop), named: "counted")
        let end = try enter()
        #expect(ask(end, #""object":"Workshop[counted]","lease":60000"#, id: 1)?.contains("result") == true)
        #expect(ask(end, #""object":"Workshop[#1]","lease":60000"#, id: 2)?.contains("result") == true)
        end.say(#"{"jsonrpc":"2.0","method":"rpc.release","params":[[1,1]],"number":3}"#)
        end.say(#"{"jsonrpc":"2.0","method":"Workshop[counted].work","params":["next",0],"id":4}"#)
        #expect(workshop.log == ["next in", "next out"] && made.withLock { $0 } == 1)
    }

    @Test func `is held by a peer that does not run this library, and given back in its way`() throws {
        let end = try HandwrittenEnd(network)
        let answer = ask(end, #""object":"Workshop","lease":1000"#, id: 1)
        #expect(
            answer == #"{"jsonrpc":"2.0","id":1,"result":{"__jsonrpc_marshaled":1,"handle":1,"service":"Workshop"}}"#)
        end.say(#"{"jsonrpc":"2.0","method":"Workshop.work","params":["next",1],"id":2}"#)
        end.say(#"{"jsonrpc":"2.0","method":"$/invokeProxy/1/work","params":["in",1],"id":3}"#)
        loop.advance(by: .milliseconds(1))
        #expect(workshop.log == ["in in", "in out"])
        end.say(
            #"{"jsonrpc":"2.0","method":"$/releaseMarshaledObject","params":{"handle":1,"ownedBySender":false}}"#)
        loop.advance(by: .milliseconds(1))
        #expect(workshop.log == ["in in", "in out", "next in", "next out"])
    }
}
