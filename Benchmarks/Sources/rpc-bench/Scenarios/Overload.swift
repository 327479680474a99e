// L4: twice as many calls as the server can answer, from clients that do not wait for each other; then half as many. Calls of
// several lengths, from many clients and from two.

import BenchSystem
import RPCServer
import RawEcho
import RemoteProxy

extension Scenario {
    static let overload = overload(
        "L4", "calls of 2 ms at twice the server's capacity, then at half of it", work: 2_000, clients: 16)

    static let overloadByFew = overload("L4-few", "the same from two clients", work: 2_000, clients: 2)

    static let overloadByLongCalls = overload("L4-long", "the same of 5 ms", work: 5_000, clients: 16)

    static let overloadByShortCalls = overload("L4-short", "the same of 0.5 ms", work: 500, clients: 16)

    static let overloadByShorterCalls = overload("L4-shorter", "the same of 0.2 ms", work: 200, clients: 16)

    /// - Parameters:
    ///   - work: what a call takes the server, in microseconds.
    ///   - clients: how many connections the calls come over.
    private static func overload(_ name: String, _ summary: String, work: Int, clients: Int) -> Scenario {
        Scenario(
            name: name, summary: summary,
            claims: [
                .firm("wrong", .atMost(0)),
                // A busy machine may not be able to make twice as many short calls as it can answer.
                Claim(goal: Goal("refused", .atLeast(1)), isFirm: work >= 2_000),
                Claim(goal: Goal("counted", .atLeast(1)), isFirm: work >= 2_000),
                // Half of what a machine could do is more than it can when it has become busy since.
                .timed("refused_afterwards", .atMost(0)), .timed("refusal_p50_ms", .atMost(10)),
                .timed("goodput", .atLeast(0.8)), .timed("recovered_p99_ratio", .atMost(1.5)),
                .timed("accepted_p99_share", .atMost(1)),
            ],
            seconds: 5,
            client: { site in try await overload(name, site, work: work, clients: clients) })
    }

    private static func overload(_ name: String, _ site: Site, work: Int, clients: Int) async throws -> Figures {
        let furnaces = try await furnaces(at: site.url, clients)
        let call = burning(work, in: furnaces)
        let capacity = try await capacity(call)
        let unloaded = try await pace(perSecond: capacity / 2, seconds: 3, leavingOut: 0.5, call)
        // Twice what a thread can do at best where a neighbour had the processors while that was measured, or there might be
        // no overload at all.
        let most = max(capacity, 0.8 * 1e6 / Double(work))
        let onset = try await pace(perSecond: most * 2, seconds: 2, call)
        let loaded = try await pace(perSecond: most * 2, seconds: site.seconds, call)
        let recovered = try await pace(perSecond: capacity / 2, seconds: 3, leavingOut: 1, call)
        // A machine that has become busy since is slower by itself: another server, never loaded, tells by how much.
        let control = try Child(.serve, [name])
        let idle = try await self.furnaces(at: Endpoint(control.firstLine()), clients)
        let alone = try await pace(perSecond: capacity / 2, seconds: 3, leavingOut: 0.5, burning(work, in: idle))
        _ = consume control
        let reference = max(unloaded.served.percentile(0.99), alone.served.percentile(0.99))
        var figures = Figures()
        figures["capacity_per_s"] = capacity
        figures["unloaded_p99_ms"] = unloaded.served.percentile(0.99) / 1_000
        figures["accepted_p50_ms"] = loaded.served.percentile(0.5) / 1_000
        figures["accepted_p99_ms"] = loaded.served.percentile(0.99) / 1_000
        // Of what is allowed: ten times what it takes without load, or 20 ms.
        figures["accepted_p99_share"] =
            loaded.served.percentile(0.99) / max(10 * unloaded.served.percentile(0.99), 20_000)
        figures["goodput"] = Double(loaded.served.total) / site.seconds / capacity
        figures["refused"] = Double(loaded.refused.total)
        figures["refusal_p50_ms"] = loaded.refused.percentile(0.5) / 1_000
        figures["refusal_p99_ms"] = loaded.refused.percentile(0.99) / 1_000
        figures["recovered_p99_ratio"] = recovered.served.percentile(0.99) / reference
        figures["refused_afterwards"] = Double(recovered.refused.total)
        figures["wrong"] = Double(unloaded.wrong + loaded.wrong + recovered.wrong)
        figures["counted"] = Double(try await furnaces[0].facts()[2])
        figures["onset_p90_ms"] = onset.served.percentile(0.9) / 1_000
        return figures
    }

    private static func furnaces(at url: Endpoint, _ clients: Int) async throws -> [FurnaceProxy] {
        let furnaces = (0..<clients).map { _ in FurnaceProxy(RPCClient(url)) }
        for furnace in furnaces { try check(await furnace.burn(0) == 0) }
        return furnaces
    }

    private static func burning(_ work: Int, in furnaces: [FurnaceProxy]) -> @Sendable (Int) async throws -> Void {
        { number in try check(await furnaces[number % furnaces.count].burn(work) == work) }
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
