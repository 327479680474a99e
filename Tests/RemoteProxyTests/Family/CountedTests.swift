// An object that is there while somebody holds it: handles, sessions, calls; races, failures and lost connections.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

/// Keeps the books of what was made and let go.
final class Nursery: Sendable {
    private struct State {
        var made = 0
        var told = 0
        var most = 0
        var failures = 0
        var leaving = 0
        var late = 0
        var log: [String] = []
    }

    private let state = Lock(State())
    var made: Int { state.withLock { $0.made } }
    var told: Int { state.withLock { $0.told } }
    /// How many there were at a time.
    var most: Int { state.withLock { $0.most } }
    var log: [String] { state.withLock { $0.log } }

    /// The next so many that are to be made fail.
    func fail(_ count: Int) { state.withLock { $0.failures = count } }

    func make() throws -> any Child {
        try state.withLock { state in
            if state.failures > 0 {
                state.failures -= 1
                throw Stillborn()
            }
            state.made += 1
            state.most = max(state.most, state.made - state.told)
            return GrowingChild(number: state.made, nursery: self)
        }
    }

    /// Uses of one that was being let go.
    var late: Int { state.withLock { $0.late } }

    func beginLettingGo() { state.withLock { $0.leaving += 1 } }

    func letGo() { state.withLock { $0.told += 1 } }

    func write(_ text: String, by number: Int) {
        state.withLock { state in
            state.log.append(text)
            if number <= state.leaving { state.late += 1 }
        }
    }

    struct Stillborn: Error {}
}

@Service
protocol Child: Sendable {
    /// Which one it is.
    func number() async throws -> Int
    func hear(_ text: String)
}

private struct GrowingChild: Child {
    let number: Int
    let nursery: Nursery

    func number() async throws -> Int {
        nursery.write("asked", by: number)
        return number
    }
    func hear(_ text: String) { nursery.write(text, by: number) }
}

@Suite(.timeLimit(.minutes(1))) struct `A counted object` {
    private let loop = ManualLoop()
    private let nursery = Nursery()

    private var child: ChildProxy {
        .counted(clock: loop) { [nursery] in
            await Task.yield()
            return try nursery.make()
        } whenLast: { [nursery] _ in
            nursery.beginLettingGo()
            await Task.yield()
            nursery.letGo()
        }
    }

    private func until(_ condition: () -> Bool) async {
        while !condition(), !Task.isCancelled { await Task.yield() }
    }

    @Test func `is there for the time of a call that nobody else holds it for`() async throws {
        let child = self.child
        #expect(nursery.made == 0)
        for number in 1...3 {
            #expect(try await child.number() == number)
            await until { nursery.told == number }
        }
    }

    @Test func `is there while there is a copy of a handle, and made again for the next`() async throws {
        let child = self.child
        var handle: ChildProxy? = child.handle()
        await until { nursery.made == 1 }
        var copy = handle
        #expect(try await child.number() == 1)
        #expect(try await copy?.number() == 1)
        handle = nil
        #expect(try await child.number() == 1)
        #expect(nursery.told == 0)
        copy = nil
        await until { nursery.told == 1 }
        #expect(try await child.handle().number() == 2)
        _ = (handle, copy)
    }

    @Test func `is counted exactly when a thousand handles come and go at once`() async throws {
        let child = self.child
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            for round in 0..<1_000 {
                group.addTask {
                    let handle = child.handle()
                    if round.isMultiple(of: 7) { await Task.yield() }
                    let number = try await handle.number()
                    let again = try await handle.number()
                    #expect(number == again, "while it is held it is the same")
                    return number
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        await until { nursery.told == nursery.made }
        #expect(nursery.most == 1)
        #expect(numbers.max() ?? 0 <= nursery.made)
        #expect(try await child.number() == nursery.made)
    }

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
            let first = Task { try await child.number() }
            let second = Task { try await child.number() }
            _ = try await (first.value, second.value)
        }
        await until { nursery.told == nursery.made }
        #expect(nursery.most == 1)
    }

    @Test func `fails for all that wait when it cannot be made, and is tried again for the next`() async throws {
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

    @Test func `gets the posts that were made before it was there, in order, and the call after them`() async throws {
        let child = self.child
        do {
            // Posts hold only until they are delivered, and it is to be the same child for all.
            let handle = child.handle()
            for number in 1...100 { child.hear("\(number)") }
            #expect(try await child.number() == 1)
            #expect(nursery.log == (1...100).map { "\($0)" } + ["asked"])
            withExtendedLifetime(handle) {}
        }
        await until { nursery.told == 1 }
    }

    @Test func `gets every post once, and never when it is being let go`() async throws {
        let child = self.child
        await withTaskGroup { group in
            for number in 0..<2_000 {
                group.addTask {
                    child.hear("post")
                    if number.isMultiple(of: 5) { await Task.yield() }
                    if number.isMultiple(of: 9) { _ = try? await child.number() }
                }
            }
        }
        await until { child.holders == 0 && nursery.told == nursery.made }
        #expect(nursery.log.count { $0 == "post" } == 2_000)
        #expect(nursery.late == 0)
        #expect(nursery.most == 1)
    }

    @Test func `gets a post at once when it is there`() async throws {
        let handle = self.child.handle()
        _ = try await handle.number()
        handle.hear("now")
        #expect(nursery.log == ["asked", "now"])
    }

    @Test func `keeps the layers around it in its handles`() async throws {
        let child = self.child.locked()
        let handle = child.handle()
        let number = try await handle.exclusively { try await handle.number() }
        #expect(number == 1)
        let plain = ChildProxy(try nursery.make())
        #expect(plain.handle().proxySubject is LocalSubject<any Child>)
    }

    // MARK: Sessions

    @Test func `is held by each session that has called it, until that is over`() async throws {
        let network = SimulatedNetwork(loop: loop)
        let child = self.child
        network.exports.add(child, named: nil)
        let (first, second) = (network.client(), network.client())
        let (one, two) = (ChildProxy(first), ChildProxy(second))
        for proxy in [one, two, one] { #expect(try await driven { try await proxy.number() } == 1) }
        #expect(child.holders == 2)
        first.close()
        loop.run()
        #expect(child.holders == 1)
        network.isServing = false
        network.cut()
        loop.advance(by: .seconds(1))
        #expect(child.holders == 1, "a session may come back within its grace time")
        loop.advance(by: .seconds(120))
        await until { nursery.told == 1 }
        #expect(child.holders == 0)
        network.isServing = true
        #expect(try await driven { try await one.number() } == nil, "a closed client makes nobody")
        let three = ChildProxy(network.client())
        #expect(try await driven { try await three.number() } == 2)
    }

    @Test func `is held by a subject's handle, and not by the session that it is used for`() async throws {
        let network = SimulatedNetwork(loop: loop)
        let (child, nanny) = (self.child, Nanny())
        nanny.handle = child.handle()
        network.exports.add(ChildProxy(nanny), named: nil)
        let proxy = ChildProxy(network.client())
        #expect(try await driven { try await proxy.number() } == 1)
        proxy.hear("through the handle")
        await until {
            loop.run()
            return nursery.log.count == 2
        }
        nanny.handle = nil
        await until { nursery.told == 1 }
        #expect(child.holders == 0)
        nanny.handle = child
        #expect(try await driven { try await proxy.number() } == 2)
        #expect(child.holders == 1, "without a handle it is the session that holds")
        nanny.handle = nil
    }

    /// The result of a body on the loop, which is driven until there is one; nil for the library's own errors.
    private func driven<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result?
    {
        let isDone = Lock(false)
        let task = Task(executorPreference: loop) {
            defer { isDone.withLock { $0 = true } }
            return try await body()
        }
        await until {
            loop.run()
            return isDone.withLock { $0 }
        }
        do { return try await task.value } catch is RPCError { return nil }
    }
}

/// Calls on through whatever proxy it was given.
private final class Nanny: Child {
    private let proxy = Lock<ChildProxy?>(nil)
    var handle: ChildProxy? {
        get { proxy.withLock { $0 } }
        set { _ = proxy.withLock { proxy in swap(newValue, &proxy) } }
    }

    func number() async throws -> Int { try await handle?.number() ?? 0 }
    func hear(_ text: String) { handle?.hear(text) }

    private func swap(_ new: ChildProxy?, _ old: inout ChildProxy?) -> ChildProxy? {
        defer { old = new }
        return old
    }
}

extension ServiceProxy {
    /// How many hold the object that is counted in this stack.
    var holders: Int { proxySubject.layer(CountedSubject<ProxiedService>.self)?.counted.holders ?? 0 }
}
