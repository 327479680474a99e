// Every line of code that stands in the articles, as it stands there, with what the articles say of it. `.ci/docs` sees
// to it that none is missing.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Synchronization
import TestSupport
import Testing

@Suite(.waitsForOthers, .hasTime) struct `The article on the family` {
    private let book = Book()
    private let otherBook = Book()
    private let log: @Sendable (CallEvent) -> Void = { _ in }
    private let policy = AccessPolicy.thisProcess

    @Test func `every kind of proxy is the service`() async throws {
        try await withServer(exporting: [LedgerProxy(book)]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            let ledger = LedgerProxy(client)
            let (first, second) = (LedgerProxy(book), LedgerProxy(client))
            let (unbound, binding) = LedgerProxy.unbound()
            try binding.bind(to: book)
            let kinds = [
                LedgerProxy(Book()), LedgerProxy(client), LedgerProxy.lazy { try await Book.open() }, unbound,
                LedgerProxy.weak(book), ledger.guarded(by: policy), LedgerProxy.counted { try await Book.open() },
                ledger.locked(), ledger.cached(in: .memory), ledger.retrying(), ledger.observed { event in log(event) },
                LedgerProxy.failover([first, second]), ledger.with(timeout: .seconds(2)),
            ]
            for proxy in kinds { #expect(try await proxy.balance() == 7) }
            if try await ledger.supports(.audit) { try await ledger.audit() }
            #expect(book.audits == 1)

            LedgerProxy.multicast([book, otherBook]).note("seen")
            #expect(book.notes == ["seen"])
            #expect(otherBook.notes == ["seen"])
        }
    }

    @Test func `a stack is one line`() async throws {
        try await withServer(exporting: [LedgerProxy(book)]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            let ledger = LedgerProxy(client).cached(in: .memory).observed(log).guarded(by: policy)
            let balance = try await ledger.balance()
            #expect(balance == 7)
            let one: any Ledger = LedgerProxy(client, named: "x")
            await #expect(throws: RPCError.self) { try await one.balance() }
        }
    }

    @Test func `every order that the table names is a service`() async throws {
        let ledger = LedgerProxy(book)
        let orders = [
            ledger.cached(in: .memory).guarded(by: policy), ledger.guarded(by: policy).cached(in: .memory),
            ledger.retrying().cached(in: .memory), ledger.cached(in: .memory).retrying(),
            ledger.locked().guarded(by: policy), ledger.guarded(by: policy).locked(),
            ledger.locked().cached(in: .memory), ledger.cached(in: .memory).locked(),
            ledger.guarded(by: policy).observed(log), ledger.observed(log).guarded(by: policy),
            ledger.retrying().observed(log), ledger.observed(log).retrying(),
            ledger.retrying().with(timeout: .seconds(2)), ledger.with(timeout: .seconds(2)).retrying(),
            LedgerProxy.lazy { try await Book.open() }.guarded(by: policy),
            LedgerProxy.counted { try await Book.open() }.guarded(by: policy),
        ]
        for proxy in orders { #expect(try await proxy.balance() == 7) }
    }

    @Test func `a cache around a lock waits for nobody, and what is inside a lock waits for its turn`() async throws {
        let fresh = CachePolicy(freshFor: .seconds(1_000))
        let asked = Tally()
        let asking = AccessPolicy { _ in
            asked.add()
            return .allow
        }
        let around = LedgerProxy(book).locked().cached(in: .memory, fresh)
        let inside = LedgerProxy(book).cached(in: .memory, fresh).locked()
        let judged = LedgerProxy(book).guarded(by: asking).locked()
        for proxy in [around, inside] { #expect(try await proxy.balance() == 7) }
        /// Somebody else, who does not hold it.
        @Sendable func other(_ proxy: LedgerProxy, within timeout: Duration) async -> Int? {
            await Task.detached { try? await withCallTimeout(timeout) { try await proxy.balance() } }.value
        }
        // Who waits for nobody has all the time that a busy machine may take.
        let long = Duration.seconds(600), short = Duration.milliseconds(50)
        try await around.exclusively(lease: long) { #expect(await other(around, within: long) == 7) }
        try await inside.exclusively { #expect(await other(inside, within: short) == nil) }
        try await judged.exclusively { #expect(await other(judged, within: short) == nil) }
        #expect(asked.count == 0)
        #expect(try await judged.balance() == 7)
        #expect(asked.count == 1)
    }

    @Test func `a guard around a cache judges each call, a guard inside it the first`() async throws {
        let denials = Tally()
        let policy = AccessPolicy { _ in denials.count == 0 ? .allow : .deny("no more") }
        let ledger = LedgerProxy(book)
        let (around, inside) = (
            ledger.cached(in: .memory).guarded(by: policy), ledger.guarded(by: policy).cached(in: .memory)
        )
        #expect(try await around.balance() == 7)
        #expect(try await inside.balance() == 7)
        denials.add()
        await #expect(throws: RPCError.self) { try await around.balance() }
        #expect(try await inside.balance() == 7)
    }

    @Test func `an observer around a guard sees what is denied, one inside it does not`() async throws {
        let (outer, inner) = (Tally(), Tally())
        let ledger = LedgerProxy(book)
        let around = ledger.guarded(by: .nobody).observed { _ in outer.add() }
        let inside = ledger.observed { _ in inner.add() }.guarded(by: .nobody)
        await #expect(throws: RPCError.self) { try await around.balance() }
        await #expect(throws: RPCError.self) { try await inside.balance() }
        #expect(outer.count == 1)
        #expect(inner.count == 0)
    }

    @Test func `an observer around a retrying layer sees calls, one inside it attempts`() async throws {
        let (outer, inner) = (Tally(), Tally())
        let around = LedgerProxy(subject: BusyAtFirst(next: LedgerProxy(book).proxySubject)).retrying()
            .observed { _ in outer.add() }
        let inside = LedgerProxy(subject: BusyAtFirst(next: LedgerProxy(book).proxySubject))
            .observed { _ in inner.add() }.retrying()
        #expect(try await around.balance() == 7)
        #expect(try await inside.balance() == 7)
        #expect(outer.count == 1)
        #expect(inner.count == 2)
    }

    @Test func `who holds the object sees it as it is, whatever a cache around the lock has`() async throws {
        let ledger = LedgerProxy(book).locked().cached(in: .memory, CachePolicy(freshFor: .seconds(100)))
        for _ in 0..<3 { _ = try await ledger.balance() }
        #expect(book.questions == 1)
        try await ledger.exclusively {
            for _ in 0..<3 { _ = try await ledger.balance() }
        }
        #expect(book.questions == 4)
    }

    @Test func `a denied call makes no lazy object`() async throws {
        let made = Tally()
        let ledger = LedgerProxy.lazy {
            made.add()
            return try await Book.open()
        }.guarded(by: .nobody)
        await #expect(throws: RPCError.self) { try await ledger.balance() }
        #expect(made.count == 0)
    }

    @Test func `a view shows what the cache has and then what comes in`() async throws {
        try await withServer(exporting: [FeedProxy(CountedFeed())]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            let shown = Lock<[[String]]>([])
            let show = { @Sendable (headlines: [String]) in shown.withLock { $0.append(headlines) } }
            // The file of the article would stay behind.
            let cache = Cache.memory
            let feed = FeedProxy(client).cached(in: cache)
            _ = {
                let ledger = LedgerProxy(client)
                return ledger.cached(in: .file("ledger.cache"))
            }
            _ = {
                let cache = Cache.file("feed.cache")
                return (cache, FeedProxy(client).cached(in: cache))
            }
            let updates = try cache.updates(of: FeedProxy.Methods.headlines)
            let watching = Task {
                for await update in updates { show(update.value) }
            }
            while shown.withLock({ $0.count < 3 }) { show(try await feed.headlines()) }
            watching.cancel()
        }
    }

    @Test func `a subject of one's own sends calls in turn`() async throws {
        let (first, second) = (LedgerProxy(book), LedgerProxy(otherBook))
        let inTurn = LedgerProxy(subject: InTurn([first.proxySubject, second.proxySubject]))
        for _ in 0..<6 { _ = try await inTurn.balance() }
        inTurn.note("odd")
        inTurn.note("even")
        #expect((book.questions, otherBook.questions) == (3, 3))
        #expect((book.notes, otherBook.notes) == (["odd"], ["even"]))
    }

    @Test func `the first program greets`() async throws {
        let greeter: any Greeter = GreeterProxy(RPCClient("tcp://127.0.0.1:7070"))
        _ = { print(try await greeter.greet("world")) }
    }
}

@Service
protocol Ledger: Sendable {
    @ReadOnly func balance() async throws -> Int
    func audit() async throws
    func note(_ text: String)
}

@Service
protocol Feed: Sendable {
    @ReadOnly func headlines() async throws -> [String]
}

private final class Book: Ledger {
    private struct State {
        var questions = 0
        var audits = 0
        var notes: [String] = []
    }

    private let state = Lock(State())

    static func open() async throws -> Book { Book() }

    var questions: Int { state.withLock { $0.questions } }
    var audits: Int { state.withLock { $0.audits } }
    var notes: [String] { state.withLock { $0.notes } }

    func balance() async throws -> Int {
        state.withLock { $0.questions += 1 }
        return 7
    }

    func audit() async throws { state.withLock { $0.audits += 1 } }
    func note(_ text: String) { state.withLock { $0.notes.append(text) } }
}

private final class CountedFeed: Feed {
    private let count = Atomic(0)
    func headlines() async throws -> [String] { ["\(count.add(1, ordering: .relaxed).newValue)"] }
}

final class InTurn<Service: Sendable>: Subject {
    private let subjects: [any Subject<Service>]
    private let turns = Atomic(0)
    init(_ subjects: [any Subject<Service>]) { self.subjects = subjects }
    private var next: any Subject<Service> { subjects[turns.add(1, ordering: .relaxed).oldValue % subjects.count] }

    nonisolated(nonsending) func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await next.call(method, arguments)
    }
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        next.post(post, arguments, now: now)
    }
}

private final class Tally: Sendable {
    private let number = Atomic(0)
    var count: Int { number.load(ordering: .relaxed) }
    func add() { number.add(1, ordering: .relaxed) }
}

/// Refuses its first call as a server over its limits does.
private final class BusyAtFirst<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    private let calls = Atomic(0)

    init(next: any Subject<Service>) { self.next = next }

    nonisolated(nonsending) func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard calls.add(1, ordering: .relaxed).newValue > 1 else {
            throw RPCError(.busy, "later", outcome: .notExecuted)
        }
        return try await next.call(method, arguments)
    }
}
