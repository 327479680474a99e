// One-way calls on one connection, counted where they arrive. Four senders post in bursts and then ask how many have
// come: it keeps the connection full without ever having more on its way than the limits allow.

import BenchSystem
import RawEcho
import RemoteProxy
import Synchronization

/// Takes letters and counts them. Not internal: whole-module optimisation takes the one handwritten type that conforms
/// to an internal protocol for the only one, since it does not look at what macros write.
@Service
@usableFromInline
protocol LetterBox: Sendable {
    func drop(_ letter: Int)
    func count() async throws -> Int
}

final class CountingLetterBox: LetterBox {
    private let letters = Atomic(0)

    func drop(_ letter: Int) { letters.wrappingAdd(1, ordering: .relaxed) }
    func count() async throws -> Int { letters.load(ordering: .relaxed) }
}

extension Workload {
    private static let burst = 1_024

    static let posts = Workload(
        name: "posts", summary: "one-way calls, one connection",
        goal: Goal("calls_per_s", .atLeast(1_000_000)),
        kind: .overSockets(
            OverSockets(
                baseline: RawBaseline(way: raw_counting, message: Message.post), comparison: .callsPerSecond
            ) { site in
                let box: any LetterBox = LetterBoxProxy(RPCClient(site.url))
                _ = try await post(to: box, seconds: min(0.3, site.seconds))
                let before = try await box.count()
                let window = Window(server: site.server)
                let sent = try await post(to: box, seconds: site.seconds)
                var arrived = try await box.count() - before
                let patience = bench_now() + 2_000_000_000
                while arrived < sent, bench_now() < patience { arrived = try await box.count() - before }
                var figures = window.figures(calls: arrived, latencies: nil)
                figures["lost"] = Double(sent - arrived)
                return figures
            }))

    /// Four senders post for so long, and return how many letters they have posted.
    static func post(to box: any LetterBox, seconds: Double) async throws -> Int {
        let end = bench_now() + UInt64(seconds * 1e9)
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var sent = 0
                    while bench_now() < end {
                        for letter in 0..<burst { box.drop(letter) }
                        sent += burst
                        _ = try await box.count()
                    }
                    return sent
                }
            }
            return try await group.reduce(0, +)
        }
    }
}
