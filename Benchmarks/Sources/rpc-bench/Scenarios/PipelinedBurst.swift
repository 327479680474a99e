// L3: a hundred thousand calls in one write, and a neighbour who asks one thing at a time.

import BenchSystem
import RPCServer
import RawEcho
import RemoteProxy
import Synchronization

extension Scenario {
    static let pipelinedBurst = Scenario(
        name: "L3", summary: "100,000 calls pipelined in one write, a neighbour beside",
        claims: [
            .firm("answered_once", .atLeast(100_000)), .firm("neighbour_wrong", .atMost(0)),
            .timed("seconds", .atMost(3)), .timed("neighbour_worst_ms", .atMost(50)),
        ],
        // On a machine several times as slow the last of them wait for longer than a server lets calls wait.
        configure: { $0.limits.maximumWait = .zero }
    ) { site in
        let burstIsOver = Flag()
        return try await withThrowingTaskGroup(of: Figures.self) { group in
            group.addTask {
                try await onThread {
                    defer { burstIsOver.isSet.store(true, ordering: .releasing) }
                    return try burst(100_000, to: site.url)
                }
            }
            group.addTask { try await onThread { try neighbour(of: site.url, until: burstIsOver) } }
            var figures = Figures()
            for try await part in group {
                for name in part.names { figures[name] = part[name] }
            }
            return figures
        }
    }

    private static func burst(_ count: Int, to url: Endpoint) throws -> Figures {
        let connection = try RawConnection(to: url)
        let bytes = (0..<count).flatMap { connection.frame(request("Calculator.add", "[\($0),1]", id: $0)) }
        let begin = bench_now()
        Task.detached { _ = try await onThread { try connection.send(bytes) } }
        var missing = Set(0..<count)
        for _ in 0..<count {
            let answer = try connection.hear()
            if let id = identifier(of: answer), answer.hasSuffix("\"result\":\(id + 1)}") { missing.remove(id) }
        }
        var figures = Figures()
        figures["answered_once"] = Double(count - missing.count)
        figures["seconds"] = Double(bench_now() - begin) / 1e9
        return figures
    }

    private static func neighbour(of url: Endpoint, until end: Flag) throws -> Figures {
        let connection = try RawConnection(to: url)
        var (worst, wrong) = (UInt64(0), 0)
        while !end.isSet.load(ordering: .acquiring) {
            let begin = bench_now()
            if !(try connection.ask(request("Calculator.add", "[1,2]", id: 1)).hasSuffix("\"result\":3}")) {
                wrong += 1
            }
            worst = max(worst, bench_now() - begin)
        }
        var figures = Figures()
        figures["neighbour_worst_ms"] = Double(worst) / 1e6
        figures["neighbour_wrong"] = Double(wrong)
        return figures
    }
}

private final class Flag: Sendable {
    let isSet = Atomic(false)
}
