// Ten thousand objects of one service: what exporting each of them costs, and what a call costs when each goes to another one.

import BenchSystem
import RPCServer
import RawEcho
import RemoteProxy
import SampleProtocols
import SampleSubjects

extension Workload {
    private static let objects = 10_000
    private static let callers = 64
    private static let rounds = 6

    static let manyObjects = Workload(
        name: "objects", summary: "add, 64 callers, each call to another of 10,000 objects",
        goal: Goal("of_one_object", .atLeast(0.9)),
        kind: .alone { seconds in
            let server = RPCServer()
            server.export(CalculatorProxy(CheckedCalculator()), named: "0")
            // Made beforehand: their memory is not that of the exports.
            let proxies = (1..<objects).map { _ in CalculatorProxy(CheckedCalculator()) }
            let names = (0..<objects).map { "\($0)" }
            let before = bench_held_bytes()
            for (number, proxy) in proxies.enumerated() { server.export(proxy, named: names[number + 1]) }
            var figures = Figures()
            figures["bytes_each"] = Double(bench_held_bytes() - before) / Double(proxies.count)
            let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"))
            let one = [CalculatorProxy(client, named: "0")]
            let all = names.map { CalculatorProxy(client, named: $0) }
            _ = try await call(one + all, until: bench_now() + 300_000_000)
            var ratios: [Double] = []
            for _ in 0..<rounds {
                let alone = try await call(one, until: bench_now() + UInt64(seconds / Double(rounds) / 2 * 1e9))
                let inTurn = try await call(all, until: bench_now() + UInt64(seconds / Double(rounds) / 2 * 1e9))
                ratios.append(inTurn / alone)
                figures["calls_per_s"] = inTurn
            }
            figures["of_one_object"] = ratios.sorted()[rounds / 2]
            client.close()
            await server.stop(grace: .zero)
            return figures
        })

    /// Calls these objects in turn, and returns how many calls there were in a second.
    private static func call(_ calculators: [CalculatorProxy], until end: UInt64) async throws -> Double {
        let began = bench_now()
        let calls = try await withThrowingTaskGroup(of: Int.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    var (next, calls) = (caller * 157 % calculators.count, 0)
                    while bench_now() < end {
                        try check(await calculators[next].add(1_000, 24) == 1_024)
                        next = (next + 1) % calculators.count
                        calls += 1
                    }
                    return calls
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(calls) / (Double(bench_now() - began) / 1e9)
    }
}
