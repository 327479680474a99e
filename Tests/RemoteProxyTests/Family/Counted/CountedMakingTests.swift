// How a counted object is made and let go: once for all that wait, again after a failure.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `Making a counted object` {
    private let loop = ManualLoop()
    private let nursery = Nursery()
    private var child: ChildProxy { nursery.child(on: loop) }

    @Test func `is made once for a thousand first calls`() async throws {
        let child = self.child
        let handle = child.handle()
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<1_000 { group.addTask { try await child.number() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(numbers == [1])
        _ = try await handle.number()
    }

    @Test func `is not made before the former one has been let go`() async throws {
        let child = self.child
        for _ in 0..<100 {
            async let first = child.number()
            async let second = child.number()
            _ = try await (first, second)
        }
        await until { nursery.told == nursery.made }
        #expect(nursery.most == 1)
    }

    @Test(.hasTime) func `fails for all that wait when it cannot be made, and is tried again for the next`()
        async throws
    {
        nursery.fail(1)
        let (began, gate) = (Lock(0), AsyncStream.makeStream(of: Void.self))
        let child = ChildProxy.counted { [nursery] in
            began.withLock { $0 += 1 }
            for await _ in gate.stream { break }
            return try nursery.make()
        } whenLast: { [nursery] _ in
            nursery.letGo()
        }
        let handle = child.handle()
        let waiting = (0..<10).map { _ in Task { try await child.number() } }
        child.hear("lost")
        await until { began.withLock { $0 } == 1 }
        // Ten calls, a post and a handle.
        await until { child.holders == 12 }
        gate.continuation.yield()
        for task in waiting {
            let error = await failure { try await task.value }
            #expect(error?.code == .unavailable)
            #expect(error?.outcome == .notExecuted)
            #expect(error?.underlying is Nursery.Stillborn)
        }
        #expect(child.holders == 1)
        gate.continuation.yield()
        #expect(try await handle.number() == 1)
        #expect(nursery.log == ["asked"])
    }

    @Test func `lets a waiting call go at its deadline or when it is cancelled, and is made for the others`()
        async throws
    {
        let gate = AsyncStream.makeStream(of: Void.self)
        let loop = loop
        let child = ChildProxy.counted(clock: loop) { [nursery] in
            for await _ in gate.stream { break }
            return try nursery.make()
        } whenLast: { [nursery] _ in
            nursery.letGo()
        }
        let patient = Task { try await child.number() }
        let cancelled = Task { try await child.number() }
        let hurried = Task {
            await loop.within(milliseconds: 10) { await failure { try await child.number() } }
        }
        await until { child.holders == 3 && loop.nextDeadline == Instant(nanoseconds: 10_000_000) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        loop.advance(by: .milliseconds(10))
        let error = await hurried.value
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.outcome == .notExecuted)
        #expect(error?.message.contains("the Child was not made") == true)
        #expect(child.holders == 1)
        gate.continuation.yield()
        #expect(try await patient.value == 1)
        await until { nursery.told == 1 }
    }

    @Test func `is let go at once when it was made for nobody any more`() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let child = ChildProxy.counted { [nursery] in
            for await _ in gate.stream { break }
            return try nursery.make()
        } whenLast: { [nursery] _ in
            nursery.letGo()
        }
        _ = child.handle()
        #expect(child.holders == 0)
        gate.continuation.yield()
        await until { nursery.told == 1 }
        #expect(nursery.made == 1)
    }
}
