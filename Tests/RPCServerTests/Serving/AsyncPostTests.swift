// Posts that their objects run as async functions: an actor's and the main actor's own methods, in order, before later calls.

import Protocols
import RPCServer
import RPCSockets
import RemoteProxy
import TestSupport
import Testing

@Service
private protocol Journal: Sendable {
    func note(_ line: Int) async
    func flush() async
    @ReadOnly func lines() async throws -> [Int]
}

private actor ActorJournal: Journal {
    private var noted: [Int] = []

    func note(_ line: Int) {
        noted.append(line)
    }

    func flush() async {
        let before = noted
        for _ in 0..<10 { await Task.yield() }
        // No other post may have run in between.
        if noted != before { noted = [] }
    }

    func lines() -> [Int] { noted }
}

@MainActor
private final class MainJournal: Journal {
    private var noted: [Int] = []

    func note(_ line: Int) { noted.append(line) }
    @MainActor func flush() async { await Task.yield() }
    func lines() -> [Int] { noted }
}

/// Keeps each post until it may go on.
private final class SlowJournal: Journal {
    private let noted = Lock<[Int]>([])
    private let (passes, door) = AsyncStream<Void>.makeStream()
    let isNoting = Flag()
    /// What came with each post under the key `tag`.
    let tags = Lock<[String?]>([])

    func open(for count: Int = 1) { for _ in 0..<count { door.yield() } }

    func note(_ line: Int) async {
        isNoting.raise()
        for await _ in passes { break }
        tags.withLock { $0.append(Caller.current?.metadata["tag"]) }
        noted.withLock { $0.append(line) }
    }

    func flush() async {}
    func lines() async throws -> [Int] { noted.withLock { $0 } }
}

/// Calls itself through the proxy that it was given.
private final class SelfishJournal: Journal {
    let proxy = Lock<JournalProxy?>(nil)
    let failures = Lock<[RPCError.Code?]>([])

    func note(_ line: Int) async {
        guard let proxy = proxy.withLock({ $0 }) else { return }
        do {
            _ = try await proxy.lines()
        } catch {
            failures.withLock { $0.append((error as? RPCError)?.code) }
        }
    }

    func flush() async {}
    func lines() async throws -> [Int] { [] }
}

@Suite(.waitsForOthers) struct `Async posts` {
    private func remote(_ journal: some Journal, over medium: Medium) async throws -> (RPCServer, JournalProxy) {
        let server = RPCServer()
        server.export(JournalProxy(journal))
        return (server, JournalProxy(RPCClient(try await server.reached(over: medium), .patient)))
    }

    @Test(arguments: ["actor", "main actor"], Medium.allCases)
    func `are run by the object itself, in order, and a call finds all of them`(_ kind: String, over medium: Medium)
        async throws
    {
        let (server, journal) =
            try await kind == "actor" ? remote(ActorJournal(), over: medium) : remote(MainJournal(), over: medium)
        for round in 1...20 {
            for line in 1...50 {
                await journal.note(round * 50 + line)
                if line % 10 == 0 { await journal.flush() }
            }
            #expect(try await journal.lines() == Array(51...(round * 50 + 50)))
        }
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `return to their caller before they have run`(over medium: Medium) async throws {
        let object = SlowJournal()
        let (server, journal) = try await remote(object, over: medium)
        await journal.note(1)
        await journal.note(2)
        await until { object.isNoting.isRaised }
        #expect(try await object.lines() == [])
        async let lines = journal.lines()
        object.open(for: 2)
        #expect(try await lines == [1, 2])
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `keep the calls behind them waiting, but not those of other connections`(over medium: Medium) async throws {
        let object = SlowJournal()
        let server = RPCServer()
        server.export(JournalProxy(object))
        let url = try await server.reached(over: medium)
        let journal = JournalProxy(RPCClient(url, .patient))
        await journal.note(1)
        await until { object.isNoting.isRaised }
        let error = await #expect(throws: RPCError.self) {
            try await withCallTimeout(.milliseconds(20)) { try await journal.lines() }
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(try await JournalProxy(RPCClient(url, .patient)).lines() == [])
        object.open()
        #expect(try await journal.lines() == [1])
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `have the metadata with which they were made, also if they waited`(over medium: Medium) async throws {
        let object = SlowJournal()
        let (server, journal) = try await remote(object, over: medium)
        for (line, tag) in ["a", nil, "b", "b"].enumerated() {
            try await withCallMetadata(Metadata(tag.map { ["tag": MetadataValue($0)] } ?? [:])) {
                await journal.note(line)
            }
        }
        object.open(for: 4)
        #expect(try await journal.lines() == [0, 1, 2, 3])
        #expect(object.tags.withLock { $0 } == ["a", nil, "b", "b"])
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `that wait in number keep their connection's later requests waiting, and cost no other one anything`(
        over medium: Medium
    ) async throws {
        let object = SlowJournal()
        let (server, journal) = try await remote(object, over: medium)
        for line in 0..<1_000 { await journal.note(line) }
        await until { object.isNoting.isRaised }
        async let lines = journal.lines()
        object.open(for: 1_000)
        #expect(try await lines == Array(0..<1_000))
        await server.stop()
    }

    @Test func `are awaited by a local proxy`() async throws {
        for journal in [JournalProxy(ActorJournal()), JournalProxy(MainJournal())] {
            let lazy = JournalProxy.lazy { journal }
            for proxy in [journal, lazy, journal.locked(), journal.guarded(by: .readOnly, except: [.note])] {
                for line in 1...10 { await proxy.note(line) }
                #expect(try await proxy.lines().suffix(10) == Array(1...10))
            }
        }
    }

    @Test func `reach every receiver of a multicast`() async throws {
        let receivers = [ActorJournal(), ActorJournal()]
        await JournalProxy.multicast(receivers).note(7)
        for receiver in receivers { #expect(await receiver.lines() == [7]) }
    }

    @Test func `take their turn at a lock`() async throws {
        let object = SlowJournal()
        let journal = JournalProxy(object).locked()
        await journal.note(1)
        await journal.note(2)
        async let lines = journal.lines()
        object.open(for: 2)
        #expect(try await lines == [1, 2])
    }

    @Test func `cannot call their object through its own lock, and are told so at once`() async throws {
        let object = SelfishJournal()
        let journal = JournalProxy(object).locked()
        object.proxy.withLock { $0 = journal }
        // One that finds the lock free, and one that waits for its turn.
        await journal.note(1)
        await journal.note(2)
        #expect(try await journal.lines() == [])
        #expect(object.failures.withLock { $0 } == [.busy, .busy])
        object.proxy.withLock { $0 = nil }
    }

    @Test func `use a counted object until they have run`() async throws {
        let object = SlowJournal()
        let isLetGo = Flag()
        let counted = JournalProxy.counted(timeout: .seconds(300)) {
            object
        } whenLast: { _ in
            isLetGo.raise()
        }
        let posting: Task<Void, Never>
        do {
            let handle = counted.handle()
            #expect(try await handle.lines() == [])
            posting = Task { await counted.note(1) }
            await until { object.isNoting.isRaised }
            withExtendedLifetime(handle) {}
        }
        // Nothing waits for the post, which is the only user between two calls.
        for _ in 0..<10 { #expect(try await counted.lines() == []) }
        #expect(!isLetGo.isRaised)
        object.open()
        await posting.value
        await until { isLetGo.isRaised }
        #expect(try await object.lines() == [1])
    }
}
