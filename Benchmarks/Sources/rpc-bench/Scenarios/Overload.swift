// L4: twice as many calls as the server can answer, from clients that do not wait for each other; then half as many. Once
// where a call may wait for two others, and once as a server is that nobody has told anything.

import BenchSystem
import RPCServer
import RawEcho
import RemoteProxy

extension Scenario {
    /// What a call takes the server, in microseconds.
    private static let work = 2_000

    static let overload = Scenario(
        name: "L4", summary: "calls of 2 ms at twice the server's capacity, then at half of it",
        claims: [
            .firm("wrong", .atMost(0)), .firm("refused", .atLeast(1)), .firm("counted", .atLeast(1)),
            // Half of what a machine could do is more than it can when it has become busy since.
            .timed("refused_afterwards", .atMost(0)), .timed("refusal_p50_ms", .atMost(10)),
            .timed("goodput", .atLeast(0.8)), .timed("recovered_p99_ratio", .atMost(1.5)),
            .timed("accepted_p99_ratio", .atMost(5)),
        ],
        seconds: 10,
        configure: {
            $0.maximumWait = .microseconds(2 * work)
            $0.maximumWaitForOthers = .microseconds(2 * work)
        }, client: { site in try await overload(site, clients: 16) })

    static let overloadByFew = Scenario(
        name: "L4-few", summary: "the same from two clients",
        claims: overload.claims, seconds: 10, configure: overload.configure,
        client: { site in try await overload(site, clients: 2) })

    static let overloadByDefault = Scenario(
        name: "L4-default", summary: "the same, by a server that nobody has told anything",
        claims: overload.claims, seconds: 10,
        client: { site in try await overload(site, clients: 16) })

    private static func overload(_ site: Site, clients: Int) async throws -> Figures {
        let furnaces = (0..<clients).map { _ in FurnaceProxy(RPCClient(site.url)) }
        for furnace in furnaces { try check(await furnace.burn(0) == 0) }
        let call: @Sendable (Int) async throws -> Void = { number in
            try check(await furnaces[number % furnaces.count].burn(work) == work)
        }
        let capacity = try await capacity(call)
        let unloaded = try await pace(perSecond: capacity / 2, seconds: 3, leavingOut: 0.5, call)
        // It takes a server a moment to tell an overload from a burst. Twice what a thread can do at best where a neighbour had
        // the processors while that was measured, or there might be no overload at all.
        let most = max(capacity, 1e6 / Double(work))
        let loaded = try await pace(perSecond: most * 2, seconds: site.seconds + 1, leavingOut: 1, call)
        let recovered = try await pace(perSecond: capacity / 2, seconds: 3, leavingOut: 1, call)
        var figures = Figures()
        figures["capacity_per_s"] = capacity
        figures["unloaded_p99_ms"] = unloaded.served.percentile(0.99) / 1_000
        figures["accepted_p99_ms"] = loaded.served.percentile(0.99) / 1_000
        figures["accepted_p99_ratio"] = loaded.served.percentile(0.99) / unloaded.served.percentile(0.99)
        figures["goodput"] = Double(loaded.served.total) / site.seconds / capacity
        figures["refused"] = Double(loaded.refused.total)
        figures["refusal_p50_ms"] = loaded.refused.percentile(0.5) / 1_000
        figures["refusal_p99_ms"] = loaded.refused.percentile(0.99) / 1_000
        figures["recovered_p99_ratio"] = recovered.served.percentile(0.99) / unloaded.served.percentile(0.99)
        figures["refused_afterwards"] = Double(recovered.refused.total)
        figures["wrong"] = Double(unloaded.wrong + loaded.wrong + recovered.wrong)
        figures["counted"] = Double(try await furnaces[0].facts()[2])
        return figures
    }

    /// How many calls a second two callers get, who always wait for their answer.
    private static func capacity(_ call: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
        let begin = bench_now()
        let end = begin + 1_000_000_000
        let calls = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<2 {
                group.addTask {
                    var calls = 0
                    while bench_now() < end {
                        try await call(caller)
                        calls += 1
                    }
                    return calls
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(calls) / (Double(bench_now() - begin) / 1e9)
    }
}
