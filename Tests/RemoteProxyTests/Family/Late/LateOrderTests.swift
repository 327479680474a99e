// What must be true of proxies whose object comes later, whatever happens in whichever order: stories made of seeds on
// the manual loop, and one with real threads.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

/// Logs calls and posts in one list.
private struct Diary: Probe {
    let loop: ManualLoop
    let entries: Entries

    final class Entries: Sendable {
        private let list = Lock<[Int]>([])
        var all: [Int] { list.withLock { $0 } }
        func append(_ number: Int) { list.withLock { $0.append(number) } }
    }

    func echo(_ number: Int) async throws -> Int {
        entries.append(-number)
        return number
    }
    func fail(_ number: Int) async throws -> Int { number }
    func wait(_ number: Int, milliseconds: Int) async throws -> Int {
        entries.append(-number)
        try await loop.sleep(for: .milliseconds(milliseconds))
        return number
    }
    func refuse(_ number: Int) async throws -> Int { number }
    func note(_ number: Int) { entries.append(number) }
}

/// One story: what was asked in which order, and what came of it.
private struct Story {
    struct Unmade: Error {}

    let loop = ManualLoop()
    let entries = Diary.Entries()
    var chance: SeededGenerator
    var posts: [Int] = []
    var calls: [(number: Int, ending: StartedCall)] = []

    init(seed: UInt64) { chance = SeededGenerator(seed: seed) }

    var object: Diary { Diary(loop: loop, entries: entries) }

    /// Posts, calls, cancellations and time, one after the other.
    mutating func ask(_ proxy: ProbeProxy, from first: Int, steps: Int) {
        for number in first..<first + steps {
            switch Int.random(in: 0..<10, using: &chance) {
            case 0..<3:
                let refused = proxy.refusedPosts
                proxy.note(number)
                if proxy.refusedPosts == refused { posts.append(number) }
            case 3..<5: call(number) { try await proxy.echo(number) }
            case 5: call(number) { try await proxy.wait(number, milliseconds: 700) }
            case 6: calls.randomElement(using: &chance)?.ending.cancel()
            case 7: loop.advance(by: .milliseconds(Int.random(in: 1..<1_500, using: &chance)))
            default: for _ in 0..<Int.random(in: 1..<6, using: &chance) { loop.step() }
            }
        }
    }

    private mutating func call(_ number: Int, _ body: @escaping @Sendable () async throws -> Int) {
        let limit = Bool.random(using: &chance) ? Duration.milliseconds(Int.random(in: 1..<3_000, using: &chance)) : nil
        calls.append((number, StartedCall(on: loop, within: limit, body)))
        // It asks now, and not when the loop next runs.
        loop.run()
    }

    /// Every call ends one way, every post that was taken is delivered once, and nothing overtakes a post.
    mutating func check(_ seed: UInt64) {
        loop.advance(by: .seconds(60))
        let log = entries.all
        #expect(log.filter { $0 > 0 } == posts, "seed \(seed)")
        #expect(Set(log).count == log.count, "seed \(seed)")
        for (number, ending) in calls {
            #expect(ending.isOver, "seed \(seed): call \(number) has not ended")
            guard let place = log.firstIndex(of: -number) else {
                let isKnown = ending.error is CancellationError || ending.rpcError?.outcome == .notExecuted
                #expect(isKnown, "seed \(seed): call \(number) ended with \(ending.error as Any)")
                continue
            }
            let before = Set(log[..<place])
            #expect(posts.filter { $0 < number }.allSatisfy(before.contains), "seed \(seed): call \(number) overtook")
        }
    }
}

@Suite(.computesForLong, .waitsForOthers) struct `Proxies whose object comes later` {
    @Test func `late-bound, nothing is lost, doubled or overtaken`() throws {
        for seed in 0..<300 as Range<UInt64> {
            var story = Story(seed: seed)
            let (proxy, binding) = ProbeProxy.unbound(
                timeout: .seconds(2), maximumKeptPosts: 5, on: story.loop, executor: story.loop)
            story.ask(proxy, from: 1, steps: 30)
            try binding.bind(to: story.object)
            story.ask(proxy, from: 100, steps: 30)
            story.check(seed)
        }
    }

    @Test func `lazy, nothing is lost, doubled or overtaken, though making takes time and fails`() {
        for seed in 0..<300 as Range<UInt64> {
            var story = Story(seed: seed)
            let keepingAlive = seed.isMultiple(of: 2) ? Duration.milliseconds(400) : nil
            let attempts = Lock(SeededGenerator(seed: seed + 1))
            let (loop, object) = (story.loop, story.object)
            let proxy = ProbeProxy.lazy(
                keepingAlive: keepingAlive, timeout: .seconds(2), maximumKeptPosts: 5, on: loop, executor: loop
            ) {
                let (milliseconds, fails) = attempts.withLock { chance in
                    (Int.random(in: 1..<2_500, using: &chance), Int.random(in: 0..<3, using: &chance) == 0)
                }
                try await loop.sleep(for: .milliseconds(milliseconds))
                if fails { throw Story.Unmade() }
                return object
            }
            story.ask(proxy, from: 1, steps: 60)
            // Posts that no attempt has delivered yet wait for one that does.
            for number in 200..<240 where story.entries.all.filter({ $0 > 0 }) != story.posts {
                story.loop.advance(by: .seconds(10))
                _ = StartedCall(on: loop) { try await proxy.echo(number) }
            }
            story.check(seed)
        }
    }

    @Test func `no thread finds another object than the one in use, and none is let go in use`() async throws {
        let loop = ManualLoop()
        let objects = Objects()
        let proxy = ProbeProxy.lazy(keepingAlive: .seconds(1), timeout: .seconds(1 << 30), on: loop) {
            Counted(objects)
        }
        let isOver = Lock(false)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                // Time flies: the object is let go whenever nobody is in it.
                while !isOver.withLock({ $0 }) {
                    loop.advance(by: .milliseconds(300))
                    await Task.yield()
                }
            }
            await withTaskGroup(of: Void.self) { callers in
                for caller in 0..<4 {
                    callers.addTask {
                        for number in caller * 5..<200 {
                            let answer = try? await proxy.echo(number)
                            #expect(answer == number)
                            if number.isMultiple(of: 3) { for _ in 0..<20 { await Task.yield() } }
                        }
                    }
                }
            }
            isOver.withLock { $0 = true }
        }
        #expect(objects.faults == 0)
        #expect(objects.made >= 1)
    }
}

/// Which objects are in use.
private final class Objects: Sendable {
    private struct State {
        var made = 0
        var used: [Int: Int] = [:]
        var faults = 0
    }

    private let state = Lock(State())
    var made: Int { state.withLock { $0.made } }
    var faults: Int { state.withLock { $0.faults } }

    func next() -> Int {
        state.withLock { state in
            state.made += 1
            return state.made
        }
    }

    func enter(_ object: Int) {
        state.withLock { state in
            if !state.used.isEmpty, state.used[object] == nil { state.faults += 1 }
            state.used[object, default: 0] += 1
        }
    }

    func leave(_ object: Int) {
        state.withLock { state in
            let left = (state.used[object] ?? 0) - 1
            state.used[object] = left == 0 ? nil : left
        }
    }

    func gone(_ object: Int) {
        state.withLock { state in
            if state.used[object] != nil { state.faults += 1 }
        }
    }
}

private final class Counted: Probe {
    private let objects: Objects
    private let number: Int

    init(_ objects: Objects) {
        self.objects = objects
        number = objects.next()
    }

    deinit { objects.gone(number) }

    func echo(_ value: Int) async throws -> Int {
        objects.enter(number)
        defer { objects.leave(number) }
        for _ in 0..<value % 17 + 3 { await Task.yield() }
        return value
    }
    func fail(_ number: Int) async throws -> Int { number }
    func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
    func refuse(_ number: Int) async throws -> Int { number }
    func note(_ number: Int) {}
}
