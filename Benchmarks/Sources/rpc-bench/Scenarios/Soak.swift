// L7: everything at once for as long as you like: calls, posts, cancellations, clients that come and go. Nothing may
// grow.

import BenchSystem
import Glibc
import RawEcho
import RemoteProxy
import SampleProtocols
import Synchronization

extension Scenario {
    static let soak = Scenario(
        name: "L7", summary: "mixed calls, posts, cancellations and reconnections",
        claims: [
            .firm("growth_percent", .atMost(5)), .firm("descriptors_more", .atMost(0)),
            // The few that tasks share come and go as they are needed; what is lost with clients is lost a thousand times.
            .firm("threads_more", .atMost(8)),
            .firm("running_at_end", .atMost(1)), .firm("posts_lost", .atMost(0)),
        ], seconds: 120
    ) { site in
        let furnace = FurnaceProxy(RPCClient(site.url))
        let box = LetterBoxProxy(RPCClient(site.url))
        let posted = Atomic(0)
        try await stir(site, seconds: min(3, site.seconds / 4), box, posted)
        let start = try ProcessState(of: site.server)
        // Whatever is made once has been made by then.
        try await stir(site, seconds: site.seconds * 0.5, box, posted)
        var (early, late, calls) = (try ProcessState(of: site.server), start, 0)
        var (growth, halves) = (0.0, 0)
        // A moment busier than all before it leaves memory behind, once. What is lost with each call or each client grows
        // again in the next half, so only growth in three of them on end counts.
        repeat {
            if halves > 0 { early = late }
            calls = try await stir(site, seconds: site.seconds * 0.5, box, posted)
            try await Task.sleep(for: .seconds(1))
            late = try ProcessState(of: site.server)
            growth = 100 * (Double(late.residentBytes) / Double(early.residentBytes) - 1)
            halves += 1
        } while growth > 5 && halves < 3
        var figures = Figures()
        figures["calls_per_s"] = Double(calls) / (site.seconds * 0.5)
        figures["halves"] = Double(halves)
        figures["early_MB"] = Double(early.residentBytes) / 1e6
        figures["late_MB"] = Double(late.residentBytes) / 1e6
        figures["growth_percent"] = growth
        figures["descriptors_more"] = Double(late.descriptors - start.descriptors)
        figures["threads_more"] = Double(late.threads - start.threads)
        figures["running_at_end"] = Double(try await furnace.facts()[1])
        figures["posts_lost"] = Double(posted.load(ordering: .relaxed) - (try await box.count()))
        return figures
    }

    /// Sixteen callers, of whom each closes its client every second and makes another.
    @discardableResult
    private static func stir(
        _ site: Site, seconds: Double, _ box: LetterBoxProxy, _ posted: borrowing Atomic<Int>
    ) async throws -> Int {
        let end = bench_now() + UInt64(seconds * 1e9)
        let done = try await withThrowingTaskGroup(of: (calls: Int, posts: Int).self) { group in
            for caller in 0..<16 {
                group.addTask {
                    var (calls, posts) = (0, 0)
                    while bench_now() < end {
                        let (more, letters) = try await mix(
                            site.url, caller, box, until: min(end, bench_now() + 1_000_000_000))
                        calls += more
                        posts += letters
                    }
                    return (calls, posts)
                }
            }
            return try await group.reduce((0, 0)) { ($0.0 + $1.calls, $0.1 + $1.posts) }
        }
        posted.add(done.1, ordering: .relaxed)
        return done.0
    }

    private static func mix(
        _ url: Endpoint, _ caller: Int, _ box: LetterBoxProxy, until end: UInt64
    ) async throws -> (Int, Int) {
        let client = RPCClient(url)
        let (calculator, echo, furnace) = (CalculatorProxy(client), EchoProxy(client), FurnaceProxy(client))
        var (calls, posts) = (0, 0)
        while bench_now() < end {
            try check(await calculator.add(calls, caller) == calls + caller)
            calls += 1
            switch calls % 16 {
            case 3:
                box.drop(calls)
                posts += 1
                if posts % 64 == 0 { _ = try await box.count() }
            case 7:
                let text = String(repeating: "y", count: 100 * (calls % 300))
                try check(await echo.text(text) == text)
            case 11:
                // Short: what sleeps and is cancelled costs its memory until it would have woken up.
                let nap = Task { try await furnace.nap(500) }
                // Once it is there, or before.
                if calls % 32 < 16 { _ = try await calculator.add(1, 2) }
                nap.cancel()
                _ = await nap.result
            default: break
            }
        }
        _ = try await box.count()
        client.close()
        return (calls, posts)
    }
}
