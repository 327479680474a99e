// A hundred thousand objects by reference: what each takes at both ends, in memory, and in time to be handed out and given back.

import BenchSystem
import RawEcho
import RemoteProxy
import Synchronization

/// One of many. Not internal, for the reason that `LetterBox` gives.
@Service
@usableFromInline
protocol Thing: Sendable {
    func number() async throws -> Int
}

/// Hands things out. Not internal, for the same reason.
@Service
@usableFromInline
protocol Store: Sendable {
    /// So many new things. Only the caller keeps them.
    func things(_ count: Int) async throws -> [any Thing]
    /// How many things are alive.
    func count() async throws -> Int
}

final class NumberedThing: Thing {
    private let place: Int
    private let store: CountingStore

    init(_ place: Int, of store: CountingStore) {
        (self.place, self.store) = (place, store)
        store.kept.wrappingAdd(1, ordering: .relaxed)
    }

    deinit { store.kept.wrappingSubtract(1, ordering: .relaxed) }

    func number() async throws -> Int { place }
}

final class CountingStore: Store {
    let kept = Atomic(0)

    @usableFromInline
    func things(_ count: Int) async throws -> [any Thing] { (0..<count).map { NumberedThing($0, of: self) } }

    @usableFromInline
    func count() async throws -> Int { kept.load(ordering: .relaxed) }
}

extension Workload {
    static let references = Workload(
        name: "references", summary: "100,000 objects by reference: memory and time for each, at both ends",
        goal: Goal("owner_bytes_each", .atMost(300)),
        furtherGoals: [
            Goal("holder_bytes_each", .atMost(400)), Goal("owner_cpu_us", .atMost(3)),
            Goal("holder_cpu_us", .atMost(3)),
        ],
        kind: .overSockets(
            OverSockets(baseline: nil, comparison: .callsPerSecond) { site in
                let customer = StoreCustomer(site)
                // What both ends make once is not counted.
                try await customer.giveBack(try await customer.take(StoreCustomer.batch))
                var figures = try await customer.memory()
                figures.add(try await customer.times())
                return figures
            }))
}

/// The client, which holds the objects. The server owns them.
private struct StoreCustomer {
    static let objects = 100_000
    /// The most that one message names.
    static let batch = 1_000

    private let site: Site
    private let store: any Store
    private let server: any Furnace

    init(_ site: Site) {
        self.site = site
        var configuration = RPCClient.Configuration()
        configuration.maximumReferences = 2 * Self.objects
        store = StoreProxy(RPCClient(site.url, configuration))
        server = FurnaceProxy(RPCClient(site.url))
    }

    func take(_ count: Int) async throws -> [any Thing] {
        var things: [any Thing] = []
        things.reserveCapacity(count)
        for _ in 0..<count / Self.batch { things += try await store.things(Self.batch) }
        return things
    }

    /// Ends when the owner keeps none any more.
    func giveBack(_ things: consuming [any Thing]) async throws {
        _ = consume things
        while try await store.count() > 0 {}
    }

    /// The bytes for each object while it is held, and what is left of them when all have been given back. The object itself
    /// counts at its owner, and its place in an array at its holder.
    func memory() async throws -> Figures {
        let before = try await Memory(of: server, site)
        let things = try await take(Self.objects)
        let held = try await Memory(of: server, site)
        try check(await things[Self.objects - 1].number() == Self.batch - 1)
        try await giveBack(consume things)
        let after = try await Memory(of: server, site)
        var figures = Figures()
        for (suffix, memory) in [("", held), ("_left", after)] {
            let prefixes = ["owner_bytes_each", "holder_bytes_each", "owner_resident_each", "holder_resident_each"]
            for (name, (bytes, old)) in zip(prefixes, zip(memory.all, before.all)) {
                figures[name + suffix] = Double(bytes - old) / Double(Self.objects)
            }
        }
        return figures
    }

    /// The processor time for each object at both ends.
    func times() async throws -> Figures {
        let end = bench_now() + UInt64(site.seconds * 1e9)
        var rounds: [Figures] = []
        repeat {
            let out = Window(server: site.server)
            let things = try await take(Self.objects)
            let handed = out.figures(calls: Self.objects, latencies: nil)
            let back = Window(server: site.server)
            try await giveBack(consume things)
            let given = back.figures(calls: Self.objects, latencies: nil)
            var figures = Figures()
            for (role, name) in [("owner", "server_cpu_us"), ("holder", "client_cpu_us")] {
                guard let out = handed[name], let back = given[name] else { continue }
                figures["\(role)_cpu_us"] = out + back
                figures["\(role)_out_cpu_us"] = out
                figures["\(role)_back_cpu_us"] = back
            }
            rounds.append(figures)
        } while bench_now() < end
        return Figures.medians(of: rounds)
    }
}

/// The memory of the two processes.
private struct Memory {
    /// Held at the owner and at the holder: allocated and not freed. Then the resident memory of both.
    let all: [Int]

    init(of owner: any Furnace, _ site: Site) async throws {
        // What is freed or sent late belongs to what was before.
        try await Task.sleep(for: .seconds(1))
        all = [
            try await owner.heldBytes(), Int(bench_held_bytes()), try ProcessState(of: site.server).residentBytes,
            try ProcessState(of: getpid()).residentBytes,
        ]
    }
}
