// Several calls with nobody in between, on a subject that is here.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `A subject held exclusively` {
    private let loop: ManualLoop
    private let workshop: BusyWorkshop
    private let proxy: WorkshopProxy

    init() { (loop, workshop, proxy) = BusyWorkshop.locked() }

    @Test func `is its holder's for several calls, while others wait`() throws {
        try loop.complete { [loop, proxy] in
            let other = loop.other(calls: proxy)
            let result = try await proxy.exclusively {
                _ = try await proxy.work("one", milliseconds: 5)
                try await loop.sleep(for: .milliseconds(5))
                return try await proxy.work("two", milliseconds: 5)
            }
            #expect(result == "two")
            try await other.value
        }
        #expect(workshop.log == ["one in", "one out", "two in", "two out", "other in", "other out"])
    }

    @Test func `waits for its turn, within the deadline`() throws {
        let error = try loop.complete { [loop, proxy] in
            async let long = proxy.work("long", milliseconds: 50)
            try await loop.sleep(for: .milliseconds(1))
            let error = await loop.within(milliseconds: 10) {
                await failure { try await proxy.exclusively { Issue.record("it is held by nobody") } }
            }
            _ = try await long
            return error
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.outcome == .notExecuted)
    }

    @Test func `is free again when the body throws`() throws {
        struct Stumbled: Error {}
        try loop.complete { [proxy] in
            await #expect(throws: Stumbled.self) { try await proxy.exclusively { throw Stumbled() } }
            _ = try await proxy.work("next", milliseconds: 1)
        }
        #expect(workshop.log == ["next in", "next out"])
    }

    @Test func `goes to the next in line when the lease is over, and the holder is told`() throws {
        let error = try loop.complete { [loop, proxy] in
            let other = Task(executorPreference: loop) {
                try await loop.sleep(for: .milliseconds(1))
                _ = try await proxy.work("other", milliseconds: 1)
                return loop.now
            }
            let error = try await proxy.exclusively(lease: .milliseconds(20)) {
                _ = try await proxy.work("one", milliseconds: 5)
                try await loop.sleep(for: .milliseconds(30))
                return await failure { try await proxy.work("late", milliseconds: 5) }
            }
            #expect(try await other.value == Instant(nanoseconds: 21_000_000))
            return error
        }
        #expect(error?.code == .holdEnded)
        #expect(error?.outcome == .notExecuted)
        #expect(workshop.log == ["one in", "one out", "other in", "other out"])
    }

    @Test func `is not torn from a call that runs when the lease ends, but those that wait under it are told`() throws {
        try loop.complete { [loop, proxy] in
            let other = loop.other(calls: proxy)
            try await proxy.exclusively(lease: .milliseconds(20)) {
                async let running = proxy.work("running", milliseconds: 50)
                async let waiting = failure { try await proxy.work("waiting", milliseconds: 1) }
                #expect(await waiting?.code == .holdEnded)
                #expect(loop.now == Instant(nanoseconds: 20_000_000))
                _ = try await running
            }
            try await other.value
        }
        #expect(workshop.log == ["running in", "running out", "other in", "other out"])
    }

    @Test func `is shared by the holder's child tasks, one at a time`() throws {
        try loop.complete { [proxy] in
            try await proxy.exclusively {
                async let one = proxy.work("one", milliseconds: 5)
                async let two = proxy.work("two", milliseconds: 5)
                _ = try await (one, two)
            }
        }
        #expect(workshop.log.map { String($0.suffix(3)) } == [" in", "out", " in", "out"])
    }

    @Test func `can be held once more inside, against the holder's other tasks`() throws {
        try loop.complete { [loop, proxy] in
            try await proxy.exclusively {
                try await withThrowingTaskGroup { group in
                    group.addTask {
                        try await proxy.exclusively {
                            _ = try await proxy.work("inner one", milliseconds: 5)
                            try await loop.sleep(for: .milliseconds(5))
                            _ = try await proxy.work("inner two", milliseconds: 5)
                        }
                    }
                    group.addTask { _ = try await proxy.work("sibling", milliseconds: 5) }
                    try await group.waitForAll()
                }
            }
            _ = try await proxy.work("after", milliseconds: 1)
        }
        #expect(
            workshop.log.filter { $0.hasSuffix(" in") } == ["inner one in", "inner two in", "sibling in", "after in"])
    }

    @Test func `ends inside when it ends outside`() throws {
        try loop.complete { [loop, proxy] in
            try await proxy.exclusively(lease: .milliseconds(10)) {
                let inside = try await proxy.exclusively {
                    try await loop.sleep(for: .milliseconds(20))
                    return await failure { try await proxy.work("late", milliseconds: 1) }
                }
                #expect(inside?.code == .holdEnded)
                let outside = await failure { try await proxy.exclusively { true } }
                #expect(outside?.code == .holdEnded)
            }
            _ = try await proxy.work("after", milliseconds: 1)
        }
        #expect(workshop.log == ["after in", "after out"])
    }

    @Test func `still gets the posts that were made under it`() async throws {
        let loop = loop
        try await proxy.exclusively { [proxy] in
            let running = Task { try await proxy.work("call", milliseconds: 5) }
            await until { !workshop.log.isEmpty }
            proxy.note("post")
            loop.advance(by: .milliseconds(5))
            _ = try await running.value
        }
        let after = Task { [proxy] in try await proxy.work("after", milliseconds: 0) }
        await until { workshop.log.contains("after in") }
        loop.advance(by: .milliseconds(1))
        _ = try await after.value
        #expect(workshop.log == ["call in", "call out", "post", "after in", "after out"])
    }

    @Test func `is read past a cache by its holder`() throws {
        let here = CacheEnvironment(loop: loop, executor: loop, wallTime: { 0 }, block: { $0() })
        let cached = proxy.cached(in: .memory, methods: [.look], CachePolicy(), here)
        try loop.complete { [workshop] in
            _ = try await cached.look("before", milliseconds: 0)
            try await cached.exclusively {
                for _ in 0..<2 { _ = try await cached.look("before", milliseconds: 0) }
            }
            #expect(workshop.log.count { $0 == "before in" } == 3)
        }
    }

    @Test func `cannot be held for longer than it may`() throws {
        let error = try loop.complete { [proxy] in
            await failure { try await proxy.exclusively(lease: .seconds(601)) {} }
        }
        #expect(error?.code == .invalidArguments)
        #expect(error?.message.contains("maximumLease") == true)
    }

    @Test func `must have a lock`() throws {
        let error = try loop.complete { [workshop] in
            await failure { try await WorkshopProxy(workshop).exclusively {} }
        }
        #expect(error?.code == .noSuchMethod)
        #expect(error?.outcome == .notExecuted)
    }
}
