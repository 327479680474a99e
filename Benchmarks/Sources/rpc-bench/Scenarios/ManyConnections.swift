// L1: a thousand connections in mixed framings, each asked in turn.

import BenchSystem
import Glibc
import RawEcho

extension Scenario {
    static let manyConnections = Scenario(
        name: "L1", summary: "1,000 connections in mixed framings, 5 rounds of calls",
        claims: [
            .firm("answered", .atLeast(5_000)), .firm("server_bytes_each", .atMost(65_536)),
            .timed("seconds", .atMost(5)),
        ]
    ) { site in
        try await onThread {
            let before = try ProcessState(of: site.server)
            let begin = bench_now()
            let connections = try (0..<1_000).map { number in
                try RawConnection(to: site.url, RawConnection.Framing.allCases[number % 3])
            }
            var answered = 0
            for round in 0..<5 {
                for (number, connection) in connections.enumerated() {
                    let call = request("Calculator.add", "[\(number),\(round)]", id: number)
                    try connection.send(connection.frame(call))
                }
                for (number, connection) in connections.enumerated() {
                    let answer = try connection.hear()
                    if identifier(of: answer) == number, answer.hasSuffix("\"result\":\(number + round)}") {
                        answered += 1
                    }
                }
            }
            var figures = Figures()
            figures["answered"] = Double(answered)
            figures["seconds"] = Double(bench_now() - begin) / 1e9
            figures["server_bytes_each"] =
                Double(try ProcessState(of: site.server).residentBytes - before.residentBytes) / 1_000
            withExtendedLifetime(connections) {}
            return figures
        }
    }
}
