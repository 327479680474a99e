// One random story about a counted object: handles, callers here and references elsewhere take it and leave it while
// connections are cut, sessions expire, servers restart, and making it fails. The seed decides everything.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

final class CountedStory {
    private var random: SeededGenerator
    private let network: SimulatedNetwork
    private let book: CountedBook
    private let counted: ChildProxy
    private let doorkept: ChildProxy
    private let nanny = HiredNanny()
    private var clients: [RPCClient]
    private var handles: [HeldHandle] = []
    private let references = Lock<[HeldReference]>([])
    private var calls: [Task<Void, Never>] = []
    private(set) var faults: [String] = []

    private var loop: ManualLoop { network.loop }

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let network = SimulatedNetwork()
        let book = CountedBook(network.loop, seed: random.next())
        self.network = network
        self.book = book
        counted = .counted(clock: network.loop, executor: network.loop) {
            try await book.make()
        } whenLast: {
            await book.letGo($0)
        }
        doorkept = ChildProxy(subject: Doorkeeper(next: counted.proxySubject, book: book))
        network.exports.add(doorkept, named: nil)
        network.exports.add(ChildProxy(nanny), named: "nanny")
        network.exports.add(KindergartenProxy(BookedKindergarten(counted: doorkept, book: book)), named: nil)
        clients = (0..<3).map { _ in network.client() }
    }

    /// Plays to the end and tells what was wrong.
    func play() -> [String] {
        for _ in 0..<Int.random(in: 20...60, using: &random) where faults.isEmpty {
            loop.pretend { happen() }
            if Int.random(in: 0..<3, using: &random) > 0 {
                for _ in 0..<Int.random(in: 0...8, using: &random) where !loop.step() { break }
            } else {
                loop.run()
                audit()
            }
        }
        end()
        return faults + book.faults
    }

    /// Everybody leaves. Then nothing is left, and who comes next finds a new one.
    private func end() {
        network.isServing = true
        loop.pretend {
            handles = []
            releaseReferences()
            nanny.handle = nil
            for call in calls { call.cancel() }
            for client in clients { client.close() }
        }
        loop.advance(by: .seconds(600))
        audit()
        if book.exists || counted.holders != 0 { faults.append("\(counted.holders) hold when everybody has left") }
        let made = book.made
        guard faults.isEmpty,
            (try? loop.complete { [doorkept] in try await doorkept.number() }) != nil || book.hasFailed
        else { return faults.append("nobody can have it after the end") }
        loop.advance(by: .seconds(600))
        if book.exists || !book.hasFailed && book.made != made + 1 {
            faults.append("\(book.made) made, not \(made + 1)")
        }
        network.shutDown()
    }

    private func happen() {
        switch Int.random(in: 0..<20, using: &random) {
        case 0, 1: call(ChildProxy(anyClient()))
        case 2: ChildProxy(anyClient()).hear("from afar")
        case 3: call(ChildProxy(anyClient(), named: "nanny"))
        case 4, 5: handles.append(HeldHandle(doorkept, book))
        case 6: if !handles.isEmpty { handles.remove(at: Int.random(in: handles.indices, using: &random)) }
        case 7:
            if let handle = handles.randomElement(using: &random) { call(handle.proxy, keeping: handle, handle.seen) }
        case 8: call(doorkept)
        case 9: doorkept.hear("from here")
        case 10: calls.randomElement(using: &random)?.cancel()
        case 11: network.cut()
        case 12: network.isServing.toggle()
        case 13: nanny.handle = nanny.handle == nil ? HeldHandle(doorkept, book) : nil
        case 14: leave()
        case 15, 16: fetch(KindergartenProxy(anyClient()))
        case 17: if let reference = anyReference() { call(ChildProxy(reference.child), reference.seen) }
        case 18: if let reference = anyReference() { reference.child.hear("by reference") }
        case 19: drop()
        default: pass()
        }
    }

    /// A client takes the child by reference.
    private func fetch(_ kindergarten: KindergartenProxy) {
        calls.append(
            Task(executorPreference: loop) { [references, book] in
                guard let child = try? await kindergarten.child() else { return }
                references.withLock { $0.append(HeldReference(child: child, seen: Sightings(book))) }
            })
    }

    private func anyReference() -> HeldReference? { references.withLock { $0 }.randomElement(using: &random) }

    private func drop() {
        let place = Int.random(in: 0..<8, using: &random)
        let dropped = references.withLock { $0.count > place ? $0.remove(at: place) : nil }
        withExtendedLifetime(dropped) {}
    }

    private func releaseReferences() {
        let all = references.withLock { references in
            defer { references = [] }
            return references
        }
        withExtendedLifetime(all) {}
    }

    private func anyClient() -> RPCClient { clients[Int.random(in: clients.indices, using: &random)] }

    /// A client goes for good and another one comes, or the server restarts.
    private func leave() {
        guard Bool.random(using: &random) else { return network.restart() }
        let place = Int.random(in: clients.indices, using: &random)
        clients[place].close()
        clients[place] = network.client()
    }

    /// Time passes: a little, or more than sessions wait for their clients.
    private func pass() {
        let isLong = Int.random(in: 0..<4, using: &random) == 0
        loop.advance(by: isLong ? .seconds(120) : .milliseconds(Int.random(in: 1...100, using: &random)))
        audit()
    }

    private func call(_ proxy: ChildProxy, keeping handle: HeldHandle? = nil, _ seen: Sightings? = nil) {
        let loop = loop
        let milliseconds = Bool.random(using: &random) ? Int.random(in: 1...60, using: &random) : 10_000
        calls.append(
            Task(executorPreference: loop) {
                let number = await loop.within(milliseconds: milliseconds) { try? await proxy.number() }
                if let number { seen?.saw(number) }
                withExtendedLifetime(handle) {}
            })
    }

    /// With nothing left to do at this moment, those that hold are those that ought to.
    private func audit() {
        loop.run()
        let (expected, holders) = (book.holders, counted.holders)
        if holders < expected || holders > expected + book.leftBehind {
            faults.append("\(holders) hold, not \(expected)")
        }
        if !book.isBusy, !book.hasFailed, book.exists != (holders > 0) {
            faults.append("\(holders) hold, and it is \(book.exists ? "" : "not ")there")
        }
    }
}

/// A handle that the book knows of, for as long as anybody has it or calls through it.
private final class HeldHandle: Sendable {
    let proxy: ChildProxy
    let seen: Sightings
    private let book: CountedBook

    init(_ counted: ChildProxy, _ book: CountedBook) {
        proxy = counted.handle()
        seen = Sightings(book)
        self.book = book
        book.handle(1)
    }

    deinit { book.handle(-1) }
}

/// The child that one handle or reference leads to. It must not change while that handle or reference exists.
private final class Sightings: Sendable {
    private let book: CountedBook
    private let seen = Lock<Int?>(nil)

    init(_ book: CountedBook) { self.book = book }

    func saw(_ number: Int) {
        let before = seen.withLock { seen in
            defer { seen = number }
            return seen
        }
        if let before, before != number { book.complain("a holder saw \(before) and then \(number)") }
    }
}

/// Gives the child away by reference.
@Service
protocol Kindergarten: Sendable {
    func child() async throws -> any Child
}

private struct BookedKindergarten: Kindergarten {
    let counted: ChildProxy
    let book: CountedBook

    func child() async throws -> any Child { ChildProxy(subject: Ticketed(next: counted.proxySubject, book: book)) }
}

/// What the book knows of a child that another end has by reference: there for as long as this end keeps it for the other.
private struct Ticketed<Service: Sendable>: WrappingSubject {
    private final class Ticket: Sendable {
        let book: CountedBook

        init(_ book: CountedBook) {
            self.book = book
            book.handle(1)
        }

        deinit { book.handle(-1) }
    }

    let next: any Subject<Service>
    private let ticket: Ticket

    init(next: any Subject<Service>, book: CountedBook) {
        (self.next, ticket) = (next, Ticket(book))
    }
}

/// A child at another end.
private struct HeldReference: Sendable {
    let child: any Child
    let seen: Sightings
}

/// Does for its callers what it can through a handle of its own.
private final class HiredNanny: Child {
    private let held = Lock<HeldHandle?>(nil)
    var handle: HeldHandle? {
        get { held.withLock { $0 } }
        set {
            // The former one ends outside the lock.
            let former = handle
            held.withLock { $0 = newValue }
            withExtendedLifetime(former) {}
        }
    }

    func number() async throws -> Int {
        guard let handle else { return 0 }
        let number = try await handle.proxy.number()
        handle.seen.saw(number)
        return number
    }
    func hear(_ text: String) { handle?.proxy.hear(text) }
}

/// Stands before the counted object and writes down who comes in.
private struct Doorkeeper<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let book: CountedBook

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        book.enter()
        defer { book.leave() }
        return try await next.call(method, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        book.posted()
        next.post(post, arguments, now: now)
    }
}
