// From the server to an object of its client, by turns with the same from the client to the server: posts as in `posts`,
// calls as in `sequential`. Tells whether an object that was handed over is reached as fast as one that is exported.

import BenchSystem
import RawEcho
import RemoteProxy
public import SampleProtocols
import SampleSubjects

/// Calls the objects that it is handed. Not internal, for the reason that `LetterBox` gives.
@Service
@usableFromInline
protocol Correspondent: Sendable {
    /// Posts to the box for so long, and returns how many letters it has posted.
    func write(to box: any LetterBox, seconds: Double) async throws -> Int
    /// Calls the calculator for so long, one call after the other.
    func ask(_ calculator: any Calculator, seconds: Double) async throws -> CallTimes
}

/// How many calls there were, and the latency that half, and 99 of 100, stayed below, in microseconds.
@usableFromInline
struct CallTimes: Codable, Sendable {
    let calls: Int
    let median: Double
    let high: Double
}

/// Posts and calls in tasks of their own, as a server does that keeps the object. In the task that serves the request, each message
/// would have the deadline of that request.
struct BusyCorrespondent: Correspondent {
    @usableFromInline
    func write(to box: any LetterBox, seconds: Double) async throws -> Int {
        try await Task.detached { try await Workload.post(to: box, seconds: seconds) }.value
    }

    @usableFromInline
    func ask(_ calculator: any Calculator, seconds: Double) async throws -> CallTimes {
        try await Task.detached { try await CallTimes(of: calculator, seconds: seconds) }.value
    }
}

extension CallTimes {
    init(of calculator: any Calculator, seconds: Double) async throws {
        var stint = Stint(until: bench_now() + UInt64(seconds * 1e9), amongOthers: false)
        while stint.goesOn() { try check(await calculator.add(1_000, 24) == 1_024) }
        let latencies = stint.latencies
        self.init(calls: latencies.calls, median: latencies.percentile(0.5), high: latencies.percentile(0.99))
    }
}

extension Workload {
    private static let rounds = 4

    static let callback = Workload(
        name: "callback",
        summary: "posts, and calls one at a time, to an object of the client, beside those to the server",
        goal: Goal("of_posts", .atLeast(0.8)), furtherGoals: [Goal("of_sequential", .atMost(1.1))],
        kind: .overSockets(
            OverSockets(baseline: nil, comparison: .callsPerSecond) { site in
                let ways = try BothWays(site)
                _ = try await ways.round(seconds: min(0.3, site.seconds))
                var found: [Figures] = []
                for _ in 0..<rounds { found.append(try await ways.round(seconds: site.seconds / Double(rounds))) }
                return Figures.medians(of: found)
            }))
}

/// The objects of both ends. Out is from the client to the server, back is from the server to the client.
private struct BothWays {
    private let site: Site
    private let (box, ownBox): (any LetterBox, any LetterBox)
    private let (calculator, ownCalculator): (any Calculator, any Calculator)
    private let correspondent: any Correspondent

    init(_ site: Site) throws {
        self.site = site
        // A connection for each way, as in the workloads with one way.
        let out = RPCClient(site.url)
        (box, ownBox) = (LetterBoxProxy(out), CountingLetterBox())
        (calculator, ownCalculator) = (CalculatorProxy(out), CheckedCalculator())
        var configuration = RPCClient.Configuration()
        configuration.timeout = .seconds(site.seconds + 30)
        correspondent = CorrespondentProxy(RPCClient(site.url, configuration))
    }

    /// Each kind of message each way, for so long, and how the two ways compare.
    func round(seconds: Double) async throws -> Figures {
        var figures = Figures()
        figures.add(
            try await posts(to: ownBox) { try await correspondent.write(to: ownBox, seconds: seconds) }, "post_back_")
        figures.add(try await posts(to: box) { try await Workload.post(to: box, seconds: seconds) }, "post_out_")
        figures.add(try await calls { try await correspondent.ask(ownCalculator, seconds: seconds) }, "call_back_")
        figures.add(try await calls { try await CallTimes(of: calculator, seconds: seconds) }, "call_out_")
        figures.divide("post_back_per_s", by: "post_out_per_s", as: "of_posts")
        figures.divide("call_back_p50_us", by: "call_out_p50_us", as: "of_sequential")
        return figures
    }

    /// The sender asks for the number of letters after its last post. So each letter has arrived by then, or is lost.
    private func posts(to box: any LetterBox, by post: () async throws -> Int) async throws -> Figures {
        let before = try await box.count()
        let window = Window(server: site.server)
        let sent = try await post()
        let arrived = try await box.count() - before
        var figures = window.figures(calls: arrived, latencies: nil)
        figures["lost"] = Double(sent - arrived)
        return figures
    }

    private func calls(by call: () async throws -> CallTimes) async throws -> Figures {
        let window = Window(server: site.server)
        let times = try await call()
        var figures = window.figures(calls: times.calls, latencies: nil)
        figures["p50_us"] = times.median
        figures["p99_us"] = times.high
        return figures
    }
}

extension Figures {
    /// Takes the others in under longer names. `calls_per_s` becomes `per_s`.
    fileprivate mutating func add(_ others: Figures, _ prefix: String) {
        for name in others.names { self[prefix + (name == "calls_per_s" ? "per_s" : name)] = others[name] }
    }

    fileprivate mutating func divide(_ one: String, by other: String, as ratio: String) {
        guard let one = self[one], let other = self[other], other > 0 else { return }
        self[ratio] = one / other
    }
}
